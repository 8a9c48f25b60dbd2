//! Whole sessions of the pile as the dedicated server runs them.

use core::time::Duration;
use foretell::session::server::ServerEvent;
use foretell_arena::{Buttons, Game};
use foretell_pile::{CUBES_MAX, PLAYERS_MAX, Pile};
use foretell_sim::harness::check::{Check, ServerSeen};
use foretell_sim::harness::{BotView, Scenario};
use foretell_sim::netsim::SplitMix64;

/// Complains when a client can't be told a state.
struct Fits;

impl Check<Pile> for Fits {
    fn name(&self) -> &'static str {
        "fits"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, Pile>) -> Result<(), String> {
        let is_too_large = |event: &&ServerEvent| matches!(event, ServerEvent::SnapshotTooLarge(_));
        seen.frame.events.iter().find(is_too_large).map_or(Ok(()), |event| Err(format!("{event:?}")))
    }
}

/// So many players in it, who drive into it from their side three times of four.
fn pile(players: u8, length: Duration) -> Scenario<Pile> {
    let bot = |view: &BotView<'_>, random: &mut SplitMix64| {
        let [ahead, aside] = [random.next_u64() % 4, random.next_u64() % 4];
        let up = view.index.is_multiple_of(2);
        let down = !up;
        Buttons { up: up && ahead > 0, down: down && ahead > 0, left: aside == 1, right: aside == 2, jump: false }
    };
    let scenario = Scenario::new(Pile::rules(), || Pile::new(CUBES_MAX)).players(players).length(length).bot(bot);
    scenario.client(Pile::client()).server(Pile::server()).check(|| Fits).search(0)
}

#[test]
fn a_player_alone_in_the_pile_is_never_corrected() {
    let seen = pile(1, Duration::from_secs(10)).schedule("0:p0:latency:both:75").run(1).expect("no check complains");
    assert_eq!((seen.figures.corrections, seen.figures.asked), (0, 0));
    assert!(seen.figures.minutes > 0.1 && seen.figures.down_bytes_per_s < 3000.0, "{:?}", seen.figures);
}

#[test]
fn as_many_cubes_and_players_as_there_may_be_fit_into_what_each_is_told() {
    let players = u8::try_from(PLAYERS_MAX).expect("few");
    // What the others press can't be foreseen, so that something is corrected all the time.
    let seen = pile(players, Duration::from_secs(4)).without("calm").run(2).expect("no check complains");
    assert!(seen.figures.minutes > 0.3, "all of them play: {:?}", seen.figures);
}
