//! Whole sessions of a physics game: what its players see, and every check of the harness.

mod ends;
mod lockstep;
pub(crate) mod pile;

use core::time::Duration;
use foretell::session::client::Predict;
use foretell::world::Tolerance;
use foretell::{ClientConfig, Interest, Rules, ServerConfig, World};
use foretell_sim::harness::{FaultMix, Figures, Scenario};
use foretell_sim::netsim::SplitMix64;
use pile::{Keys, Pile};

/// Whether everybody predicts everything, bit by bit, and what both ends decide.
pub(crate) type Config = (bool, ClientConfig, ServerConfig);

pub(crate) fn of_exact(relay_inputs: bool) -> Config {
    let tolerance = Tolerance::of_contacts();
    let client = ClientConfig { checkpoint_interval: 8, tolerance, ..ClientConfig::default() };
    (true, client, ServerConfig { relay_inputs, ..ServerConfig::default() })
}

/// Every client predicts what is near, and is told of the nearest.
pub(crate) fn of_near() -> Config {
    let predict = Predict::Near { within_m: 4.0, until_m: 5.0 };
    let tolerance = Tolerance::of_contacts();
    let client = ClientConfig { predict, checkpoint_interval: 8, tolerance, ..ClientConfig::default() };
    (false, client, ServerConfig { relay_inputs: true, interest: Interest::Nearest(96), ..ServerConfig::default() })
}

/// So many players in a world, of whom each drives again and again into what is in the middle.
fn scenario(players: u8, world: impl Fn() -> Pile + 'static, (exact, client, server): Config) -> Scenario<Pile> {
    let rules = Rules { exact, ..Rules::new(Pile::schema()) };
    Scenario::new(rules, world)
        .players(players)
        .client(client)
        .server(server)
        .bot(|view, random| drive(view.index, view.tick, random))
}

/// A hundred cubes in one heap.
fn heap(players: u8, relay_inputs: bool) -> Scenario<Pile> {
    scenario(players, || Pile::heap(100, true), of_exact(relay_inputs)).length(Duration::from_secs(12))
}

/// Mostly towards the middle from where each begins.
pub(crate) fn drive(player: usize, tick: foretell::Tick, random: &mut SplitMix64) -> Keys {
    let [ahead, aside] = [random.next_u64() % 4, random.next_u64() % 4];
    let back = tick.get() % 256 >= 160;
    let right = player.is_multiple_of(2) != back;
    Keys { d: ahead > 0 && right, a: ahead > 0 && !right, w: aside == 0, s: aside == 1 }
}

/// The same network for everybody.
fn network(players: u8, rtt_ms: u32, loss: u32) -> String {
    let of = |player: u8| format!("0:p{player}:latency:both:{},0:p{player}:loss:both:{loss}", rtt_ms / 2);
    (0..players).map(of).collect::<Vec<_>>().join(",")
}

/// The figures of a heap on this network, of several seeds the worst of each.
pub(crate) fn figures(players: u8, relay_inputs: bool, (rtt_ms, loss): (u32, u32), seeds: u64) -> Figures {
    let heap = heap(players, relay_inputs).schedule(&network(players, rtt_ms, loss)).search(0);
    heap.seeds(0..seeds).expect("no check complains").figures
}

#[test]
fn a_player_alone_in_a_heap_is_never_corrected() {
    for rtt_ms in [0, 150, 600] {
        let seen = figures(1, true, (rtt_ms, 0), 1);
        assert_eq!((seen.corrections, seen.asked, seen.input_miss_share), (0, 0, 0.0), "{rtt_ms} ms: {seen:?}");
        assert!(seen.minutes > 0.14 && seen.down_bytes_per_s < 3000.0, "{seen:?}");
    }
}

#[test]
fn what_is_lost_of_the_own_inputs_is_told_and_asks_for_no_state() {
    let seen = figures(1, true, (150, 10), 1);
    assert!(seen.input_miss_share > 0.0005 && seen.asked == 0, "{seen:?}");
}

#[test]
fn two_players_in_one_heap_hardly_notice_each_others_latency() {
    for relays in [true, false] {
        let seen = figures(2, relays, (150, 5), 1);
        assert!(seen.corrections > 0 && seen.correction_m.p99 <= 0.1 && seen.correction_m.max <= 0.5, "{seen:?}");
        assert!(seen.step_excess_m.p99 <= 0.02 && seen.down_bytes_per_s <= 60_000.0, "{seen:?}");
        assert_eq!(seen.asked == 0, relays, "{seen:?}");
    }
}

#[test]
fn a_state_that_is_lost_again_and_again_arrives_in_the_end() {
    // Every second whole state is lost, as one of its datagrams is. The harness asks for one in 2 s.
    figures(2, false, (300, 10), 1);
}

#[test]
fn whatever_goes_wrong_every_check_holds() {
    // Guesses about others are corrected in calm, too.
    heap(3, true).without("calm").faults(FaultMix::default()).search(0).seeds(0..1).expect("no check complains");
    heap(3, false).without("calm").faults(FaultMix::default()).search(0).seeds(2..3).expect("no check complains");
}

/// A field of cubes.
fn field(players: u8, cubes: u16) -> Scenario<Pile> {
    let scenario = scenario(players, move || Pile::field(cubes), of_near());
    scenario.length(Duration::from_secs(10)).without("calm")
}

#[test]
fn of_nine_hundred_cubes_each_player_predicts_the_near_ones() {
    let seen = field(2, 901).schedule(&network(2, 150, 5)).search(0).run(0).expect("no check complains").figures;
    println!("{seen:?}");
    assert!(seen.correction_m.p99 < 0.03 && seen.step_excess_m.p99 < 0.025, "{seen:?}");
    assert!(seen.down_bytes_per_s < 150_000.0, "{seen:?}");
}
