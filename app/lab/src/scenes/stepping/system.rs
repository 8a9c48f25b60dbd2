//! What the systems of the scene have in common: what they are given in a frame, and what there is to see of it.

use crate::frame::cube::ShownCube;
use core::time::Duration;
use foretell::Instant;
use foretell::session::client::Corrected;
use foretell_arena::Cube;
use foretell_articles::csp;
use foretell_sim::netsim::Conditions;

/// How long a machine stands still.
pub const STALL: Duration = Duration::from_secs(2);

/// How both systems decide.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SystemConfig {
    pub article_client: csp::ClientConfig,
    pub article_server: csp::ServerConfig,
    pub client: foretell::ClientConfig,
    pub server: foretell::ServerConfig,
}

/// What is done to a player in a frame, besides keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FrameEvents {
    /// The server pushes the cube by 3 m/s.
    pub push: bool,
    /// The server moves the cube by 4 m.
    pub teleport: bool,
    /// The player's machine stands still from this frame on.
    pub stall: bool,
    /// The local cube begins anew where the client is.
    pub realign: bool,
    /// The player's clock runs twice as fast in this frame.
    pub double_clock: bool,
}

impl FrameEvents {
    /// What the server does to the cube by these it does by `more`, too.
    pub fn add(&mut self, more: &FrameEvents) {
        self.push |= more.push;
        self.teleport |= more.teleport;
    }

    /// The server does it to the cube, once.
    pub fn do_to(&mut self, cube: &mut Cube) {
        let FrameEvents { push, teleport, .. } = core::mem::take(self);
        if push {
            cube.velocity[0] += 3.0;
        }
        if teleport {
            // Into the room.
            cube.position[0] += if cube.position[0] > 6.0 { -4.0 } else { 4.0 };
        }
    }
}

/// One frame of everybody's.
#[derive(Clone, Copy, Debug)]
pub struct FrameInput<'a> {
    /// The frame's beginning and its end, since the lanes have begun.
    pub before: Instant,
    pub now: Instant,
    pub keys: u8,
    pub events: FrameEvents,
    pub conditions: &'a Conditions,
    pub config: &'a SystemConfig,
}

/// What a system has counted since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Steps of the server.
    pub steps: u64,
    /// Ticks that it has come to, stepped or not.
    pub ticks: u64,
    /// Those of them that it had no input for.
    pub missed: u64,
    /// Ticks that the client has simulated again.
    pub resimulated: u64,
    /// Bytes that the client has sent.
    pub up: u64,
    /// Bytes that the server has sent.
    pub down: u64,
}

/// A correction of the player's cube.
#[derive(Clone, PartialEq, Debug)]
pub struct OwnCorrection {
    /// How far it goes elsewhere by it, in metres: at once, or hidden.
    pub moved_m: f64,
    /// What of it is worth saying.
    pub sentence: String,
}

impl OwnCorrection {
    /// One of a session that has moved the simulated cube by so much.
    pub fn new(corrected: &Corrected, moved_m: f64) -> OwnCorrection {
        let causes = corrected.causes.names().collect::<Vec<_>>().join(", ");
        let causes = if causes.is_empty() { "unexplained" } else { &causes };
        let sentence = format!("corrected by {:.0} cm: {causes}", moved_m * 100.0);
        OwnCorrection { moved_m, sentence }
    }
}

/// What there is to see of a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameView {
    pub cubes: Vec<ShownCube>,
    pub counters: Counters,
    pub corrections: Vec<OwnCorrection>,
    /// Of each tick that the server has come to: how far off was what the player had been shown at it, in metres.
    pub off_m: Vec<f64>,
    /// How far the client is ahead of the server, in ticks.
    pub apart_ticks: Option<f64>,
}

/// One system with one player.
pub trait System: Send {
    /// Runs both ends up to the end of a frame.
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView;
}
