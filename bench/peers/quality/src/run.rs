//! One run: a server, two clients and the links between them, on virtual time.
//!
//! The server has an update at each of its ticks, a client one in each of its frames, of which there are 125 per second,
//! so that they fall anywhere between ticks. What has come by then is handed over, as a loop with a socket does it.

use crate::case::Case;
use crate::past::Past;
use crate::peer::{Counts, Datagram, Frame, Peer, Shown};
use crate::scene::{PLAYERS, TICK_US};
use crate::script::Script;
use foretell::Instant;
use foretell_bench::Spent;
use foretell_sim::netsim::{Conditions, Link};

/// From frame to frame, in microseconds.
pub const FRAME_US: u64 = 8_000;
/// Clients begin one after the other, in microseconds.
const BEGIN_US: u64 = 2_700;
/// What comes with the beginning is over by then: nothing is measured before, in microseconds.
pub const QUIET_US: u64 = 10_000_000;

/// What a run has come to.
pub struct Recorded {
    /// Where the server had everybody.
    pub past: Past,
    /// What happened.
    pub script: Script,
    /// What each client has drawn, from [`QUIET_US`] on.
    pub drawn: [Vec<Drawn>; PLAYERS],
    /// What the measured part has cost.
    pub costs: Costs,
    /// How long it was, in microseconds.
    pub measured_us: u64,
}

/// A frame that a client has drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawn {
    /// When.
    pub at_us: u64,
    /// What; `None` where it did not have both bodies.
    pub shown: Option<Shown>,
}

/// What the measured part of a run has cost, and what clients have counted in it.
#[derive(Clone, Copy, Default, Debug)]
pub struct Costs {
    /// Bytes from all clients.
    pub up: u64,
    /// Bytes to all clients.
    pub down: u64,
    /// The server's updates.
    pub server: Spent,
    /// The clients' frames.
    pub client: Spent,
    /// By all clients.
    pub counts: Counts,
}

/// Both directions of a client's link.
struct Links {
    up: Link,
    down: Link,
}

/// A run that goes on.
struct Run {
    peer: Box<dyn Peer>,
    conditions: Conditions,
    links: [Links; PLAYERS],
    recorded: Recorded,
}

/// Plays a case for so long beyond what comes with the beginning.
pub fn run(case: Case, seed: u64, seconds: u32, peer: Box<dyn Peer>) -> Recorded {
    let measured_us = u64::from(seconds) * 1_000_000;
    let end_us = QUIET_US + measured_us;
    let script = Script::new(seed, QUIET_US, end_us);
    let drawn = core::array::from_fn(|_| Vec::new());
    let recorded = Recorded { past: Past::default(), script, drawn, costs: Costs::default(), measured_us };
    let links = core::array::from_fn(|player| Links::new(seed, player as u64));
    let mut run = Run { peer, conditions: case.conditions(), links, recorded };
    let mut serve_us = 0;
    let mut frame_us: [u64; PLAYERS] = core::array::from_fn(|player| (player as u64 + 1) * BEGIN_US);
    let mut before = None;
    while serve_us < end_us {
        if before.is_none() && serve_us >= QUIET_US {
            before = Some(run.counts());
            run.recorded.costs = Costs::default();
        }
        run.serve(serve_us);
        serve_us += TICK_US;
        // In the order of time, as a library's clock may be the same for all of them.
        while let Some((player, at_us)) = next_frame(&mut frame_us).filter(|(_, at_us)| **at_us < serve_us) {
            run.frame(player, *at_us);
            *at_us += FRAME_US;
        }
    }
    let (before, after) = (before.unwrap_or_default(), run.counts());
    let Run { mut recorded, .. } = run;
    let [rollbacks, resimulated] = [after.rollbacks - before.rollbacks, after.resimulated - before.resimulated];
    recorded.costs.counts = Counts { rollbacks, resimulated };
    recorded
}

/// Whose frame is next, and when.
fn next_frame(frames: &mut [u64; PLAYERS]) -> Option<(usize, &mut u64)> {
    frames.iter_mut().enumerate().min_by_key(|(_, at_us)| **at_us)
}

impl Links {
    fn new(seed: u64, player: u64) -> Links {
        let seed = |direction: u64, of: u64| seed.wrapping_mul(1_000) + 10 * player + 2 * direction + of;
        Links { up: Link::new(seed(0, 0), seed(0, 1)), down: Link::new(seed(1, 0), seed(1, 1)) }
    }
}

impl Run {
    fn come_up(&mut self, now: Instant) -> Vec<Datagram> {
        let links = self.links.iter_mut().enumerate();
        links.flat_map(|(player, links)| come(&mut links.up, player, now)).collect()
    }

    fn serve(&mut self, at_us: u64) {
        let now = Instant::from_micros(at_us);
        let come = self.come_up(now);
        let pushes = &self.recorded.script.pushes;
        let due = |from: u64| pushes.partition_point(|push| push.at_us <= from);
        let since = at_us.checked_sub(TICK_US).map_or(0, due);
        let sent = self.peer.serve(now, &come, &pushes[since..due(at_us)], &mut self.recorded.costs.server);
        for (player, datagram) in sent {
            self.recorded.costs.down += datagram.len() as u64;
            self.links[player].down.send(now, &datagram, &self.conditions);
        }
        if let Some((number, bodies)) = self.peer.state() {
            self.recorded.past.push(number, at_us, bodies);
        }
    }

    fn frame(&mut self, player: usize, at_us: u64) {
        let now = Instant::from_micros(at_us);
        let come: Vec<_> = come(&mut self.links[player].down, player, now).collect();
        let keys = self.recorded.script.keys(player, at_us);
        let frame = Frame { player, now, come: &come, keys };
        for (_, datagram) in self.peer.frame(frame, &mut self.recorded.costs.client) {
            self.recorded.costs.up += datagram.len() as u64;
            self.links[player].up.send(now, &datagram, &self.conditions);
        }
        if at_us >= QUIET_US {
            let shown = self.peer.shown(player);
            self.recorded.drawn[player].push(Drawn { at_us, shown });
        }
    }

    fn counts(&mut self) -> Counts {
        let add = |sum: Counts, one: Counts| Counts {
            rollbacks: sum.rollbacks + one.rollbacks,
            resimulated: sum.resimulated + one.resimulated,
        };
        (0..PLAYERS).map(|player| self.peer.counts(player)).fold(Counts::default(), add)
    }
}

/// What a link has for who looks now.
fn come(link: &mut Link, player: usize, now: Instant) -> impl Iterator<Item = Datagram> {
    core::iter::from_fn(move || link.receive(now).map(|delivery| (player, delivery.bytes.to_vec())))
}
