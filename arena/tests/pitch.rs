//! Whole sessions with a ball, as the dedicated server runs them.

use core::time::Duration;
use foretell::session::client::{Causes, PoseSource, Predict};
use foretell::{ClientConfig, PlayerId, Rows, Views};
use foretell_arena::{Ball, Buttons, Cube, Game, Pitch};
use foretell_sim::harness::check::{Check, ClientSeen};
use foretell_sim::harness::{BotView, Scenario};
use foretell_sim::netsim::SplitMix64;
use std::cell::Cell;
use std::rc::Rc;

/// Where the ball is.
fn ball_of(rows: &Rows) -> Option<[f32; 3]> {
    rows.states::<Ball>().next().map(|(_, ball)| ball.position)
}

fn apart(a: [f32; 3], b: [f32; 3]) -> f32 {
    (a[0] - b[0]).abs().max((a[2] - b[2]).abs())
}

/// What the players saw of the ball.
#[derive(Default)]
struct Seen {
    /// How far ahead of the server's word it was shown at most, in metres.
    ahead_m: Cell<f32>,
    /// How often it was corrected.
    corrections: Cell<u32>,
    /// How often of these another's cube had touched it.
    explained: Cell<u32>,
}

struct Look(Rc<Seen>);

impl Check<Pitch> for Look {
    fn name(&self) -> &'static str {
        "look"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, Pitch>) -> Result<(), String> {
        let Some(told) = seen.client.newest_snapshot().and_then(|(_, rows)| ball_of(rows)) else { return Ok(()) };
        let Seen { ahead_m, corrections, explained } = &*self.0;
        let mut views = Views::new();
        seen.client.present(seen.local, &mut views);
        for view in &views {
            if let (Some(ball), PoseSource::Predicted) = (view.get::<Ball>(), view.source) {
                ahead_m.set(ahead_m.get().max(apart(ball.position, told)));
            }
        }
        for corrected in seen.frame.corrections.iter().filter(|corrected| corrected.owner == PlayerId::SERVER) {
            corrections.set(corrections.get() + 1);
            explained.set(explained.get() + u32::from(corrected.causes.contains(Causes::OTHERS)));
        }
        Ok(())
    }
}

/// `players` of them drive at the ball wherever they see it, 100 ms from the server each way: what they saw of it, and how
/// often their own cubes were corrected.
fn pushed_by(players: u8, client: ClientConfig) -> (Seen, u64) {
    let bot = |view: &BotView<'_>, _: &mut SplitMix64| {
        let own = view.rows.states::<Cube>().find(|(of, _)| of.owner == view.player).map(|(_, cube)| cube.position);
        let (Some(ball), Some(own)) = (ball_of(view.rows), own) else { return Buttons::default() };
        let [x, _, z] = [0, 1, 2].map(|axis| ball[axis] - own[axis]);
        Buttons { right: x > 0.2, left: x < -0.2, up: z > 0.2, down: z < -0.2, jump: false }
    };
    let seen = Rc::new(Seen::default());
    let look = Rc::clone(&seen);
    let scenario =
        Scenario::new(Pitch::rules(), Pitch::default).players(players).length(Duration::from_secs(8)).bot(bot);
    let scenario = scenario.client(client).server(Pitch::server()).check(move || Look(Rc::clone(&look)));
    // Where none can foresee the others there is always something to correct.
    let scenario = if players > 1 { scenario.without("calm") } else { scenario };
    let latency: Vec<_> = (0..players).map(|player| format!("0:p{player}:latency:both:100")).collect();
    let figures = scenario.schedule(&latency.join(",")).search(0).run(1).expect("no check complains").figures;
    (Rc::try_unwrap(seen).unwrap_or_default(), figures.corrections)
}

#[test]
fn who_pushes_the_ball_sees_it_roll_before_the_server_has_heard_of_it_and_alone_is_never_corrected() {
    let (seen, corrections) = pushed_by(1, Pitch::client());
    assert!(seen.ahead_m.get() > 1.0, "shown {} m ahead of the server's word", seen.ahead_m.get());
    assert_eq!((corrections, seen.corrections.get()), (0, 0));
    let (seen, _) = pushed_by(1, ClientConfig { predict: Predict::Own, ..Pitch::client() });
    assert_eq!(seen.ahead_m.get(), 0.0, "who does not predict it waits");
}

#[test]
fn three_who_push_one_ball_are_corrected_about_it_and_never_about_themselves() {
    let (seen, corrections) = pushed_by(3, Pitch::client());
    let [all, explained] = [&seen.corrections, &seen.explained].map(Cell::get);
    assert!(all > 10 && explained > all * 9 / 10, "of {all} corrections {explained} by others' cubes");
    assert_eq!(corrections, 0);
}
