//! Whole sessions of a physics game: what its players see, and every check of the harness.

mod pile;

use core::time::Duration;
use foretell::harness::{Scenario, Summary};
use foretell::netsim::SplitMix64;
use foretell::rollback::Tolerance;
use foretell::{ClientConfig, Rules, ServerConfig, State};
use pile::{Keys, Pile, Thing};

/// A hundred cubes in one heap, into which every player drives again and again, in an exact session.
fn heap(players: u8, relay_inputs: bool) -> Scenario<Pile> {
    let rules = Rules { exact: true, ..Rules::new(Thing::schema()) };
    let tolerance = Tolerance::of_contacts();
    let client = ClientConfig { checkpoint_interval: 8, tolerance, ..ClientConfig::default() };
    let server = ServerConfig { relay_inputs, ..ServerConfig::default() };
    let seconds = Duration::from_secs(20);
    Scenario::new(rules, || Pile::new(100)).players(players).client(client).server(server).length(seconds).bot(drive)
}

/// Mostly towards the middle from where each begins.
fn drive(player: usize, tick: foretell::Tick, random: &mut SplitMix64) -> Keys {
    let [ahead, aside] = [random.next_u64() % 4, random.next_u64() % 4];
    let back = tick.get() % 256 >= 160;
    let right = (player % 2 == 0) != back;
    Keys { d: ahead > 0 && right, a: ahead > 0 && !right, w: aside == 0, s: aside == 1 }
}

/// The same network for everybody.
fn network(players: u8, rtt_ms: u32, loss: u32) -> String {
    let of = |player: u8| format!("0:p{player}:latency:both:{},0:p{player}:loss:both:{loss}", rtt_ms / 2);
    (0..players).map(of).collect::<Vec<_>>().join(",")
}

fn show(what: &str, seen: &Summary) {
    let f = &seen.figures;
    println!(
        "{what}: {} corrections of own, p99 {:.3} max {:.3} m; step excess p99 {:.4} max {:.3} m; {:.1} kB/s; {} asked; {:.2} % missed; lead {:.0} ms",
        f.corrections,
        f.correction_m.p99,
        f.correction_m.max,
        f.step_excess_m.p99,
        f.step_excess_m.max,
        f.down_bytes_per_s / 1000.0,
        f.asked,
        f.input_miss_share * 100.0,
        f.lead_ms.p50,
    );
}

#[test]
fn figures() {
    for (players, relays) in [(1, true), (2, true), (2, false)] {
        let seen = heap(players, relays).schedule(&network(players, 150, 5)).search(0).seeds(0..2);
        match seen {
            Ok(seen) => show(&format!("{players} players, relays {relays}"), &seen),
            Err(failure) => println!("{players} {relays}: {failure}"),
        }
    }
}
