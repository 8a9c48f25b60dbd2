//! One run: until all is there, until it has settled, while it is measured, and until it is at rest.

use crate::case::Case;
use crate::crowd::Crowd;
use crate::peer::{Costs, Peer};
use core::time::Duration;
use cpu_time::ThreadTime;

/// After so many ticks everybody must have everything.
const COMPLETE_TICKS_MAX: u32 = 6_000;
/// What comes with the beginning has gone after so many ticks.
const SETTLE: Phase = Phase { ticks_max: 120, time_max: Duration::from_secs(5) };
/// What is measured.
const MEASURE: Phase = Phase { ticks_max: 240, time_max: Duration::from_secs(10) };
/// However slow a library is, so many ticks are played in a phase.
const TICKS_MIN: u32 = 20;
/// For so many ticks nothing moves before it is looked at what clients have.
const REST_TICKS: u32 = 120;

/// A part of a run: so many ticks, fewer where they would take more of the processor than this.
struct Phase {
    ticks_max: u32,
    time_max: Duration,
}

/// What a run has come to.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// A tick of the server, in microseconds.
    pub server_us: f64,
    /// A tick of one client, in microseconds.
    pub client_us: f64,
    /// What a client is sent in a tick.
    pub bytes_per_client_per_tick: f64,
    /// Whether a client has something else than the server, once everything rests.
    pub diverges: bool,
}

/// Plays a case.
///
/// # Panics
/// When the clients don't get to see everything.
pub fn measure(case: &Case, mut peer: Box<dyn Peer>) -> Measured {
    let mut crowd = Crowd::new(case);
    let mut before = Costs::default();
    let complete = (0..COMPLETE_TICKS_MAX).any(|_| {
        peer.tick(&mut before);
        peer.all_have(usize::from(case.entities))
    });
    assert!(complete, "{case}: everybody has everything after {COMPLETE_TICKS_MAX} ticks");
    play(&SETTLE, &mut crowd, &mut *peer, &mut before);
    let mut costs = Costs::default();
    let ticks = play(&MEASURE, &mut crowd, &mut *peer, &mut costs);
    (0..REST_TICKS).for_each(|_| peer.tick(&mut before));
    Measured {
        server_us: costs.server.mean_us(),
        client_us: costs.client.mean_us(),
        bytes_per_client_per_tick: costs.bytes_down as f64 / f64::from(case.clients) / f64::from(ticks),
        diverges: peer.diverges(&crowd.bodies),
    }
}

/// How many ticks it has played.
fn play(phase: &Phase, crowd: &mut Crowd, peer: &mut dyn Peer, costs: &mut Costs) -> u32 {
    let began = ThreadTime::now();
    for ticks in 0..phase.ticks_max {
        if ticks >= TICKS_MIN && began.elapsed() > phase.time_max {
            return ticks;
        }
        peer.write(crowd.advance());
        peer.tick(costs);
    }
    phase.ticks_max
}
