//! What the three architectures of the first article have in common (Q2).

use super::cheats::ActiveCheats;
use crate::scenes::remote_screen::RemoteScreen;
use crate::scenes::timer::Timer;
use core::time::Duration;
use foretell::Instant;
use foretell_sim::netsim::Conditions;

/// One frame of everybody's.
#[derive(Clone, Copy, Debug)]
pub struct FrameInput<'a> {
    pub now: Instant,
    /// On the lab's time axis, for sentences.
    pub time_s: f64,
    /// How long the frame was.
    pub length: Duration,
    /// What the player holds: one long, or none.
    pub direction: [f64; 3],
    pub doing: ActiveCheats,
    pub conditions: &'a Conditions,
    /// Of both directions (D26).
    pub interval: Duration,
    /// Whether the server believes everything, as in the article.
    pub article: bool,
}

impl FrameInput<'_> {
    /// How long the frame was by the client's clock.
    pub fn claimed(&self) -> Duration {
        if self.doing.clock { self.length * 2 } else { self.length }
    }

    /// What the client says that the player holds.
    pub fn pressed(&self) -> [f64; 3] {
        if self.doing.direction { self.direction.map(|lane| lane * 3.0) } else { self.direction }
    }

    /// How far behind a screen shows what comes over the network once per interval.
    pub fn delay(&self) -> Duration {
        self.conditions.latency + self.conditions.jitter + self.interval + self.length * 2
    }

    /// How much later than others a position may come by the network alone (D27).
    pub fn lateness(&self) -> Duration {
        self.conditions.jitter + self.length * 2
    }
}

/// 3 m to the side, and into the room.
pub fn elsewhere([x, y, z]: [f64; 3]) -> [f64; 3] {
    [if x > 0.0 { x - 3.0 } else { x + 3.0 }, y, z]
}

/// 2 m to the front or back, and into the room.
pub fn pushed([x, y, z]: [f64; 3]) -> [f64; 3] {
    [x, y, if z > 0.0 { z - 2.0 } else { z + 2.0 }]
}

/// What there is to see of a frame.
#[derive(Clone, Debug, Default)]
pub struct FrameView {
    /// What the player sees of themselves.
    pub client: [f64; 3],
    /// What the server has.
    pub server: [f64; 3],
    /// What another player sees of them.
    pub other: Option<[f64; 3]>,
    pub resyncs: u64,
    /// What was clamped or refused.
    pub refused: u64,
    pub steps: Vec<String>,
}

/// One architecture with one player, and another who looks on.
pub trait Architecture: Send {
    /// The server's part of a frame, then the client's.
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView;
}

/// Another player, who is told by the server.
#[derive(Debug)]
pub struct OtherPlayer {
    screen: RemoteScreen,
    tells: Timer,
}

impl OtherPlayer {
    pub fn new(seed: u64) -> OtherPlayer {
        OtherPlayer { screen: RemoteScreen::new(seed), tells: Timer::default() }
    }

    /// What they see, where the server has the player there.
    pub fn see(&mut self, input: &FrameInput<'_>, server: [f64; 3]) -> Option<[f64; 3]> {
        if self.tells.is_due(input.now, input.interval) {
            self.screen.send(input.now, input.now, server, input.conditions);
        }
        self.screen.receive(input.now);
        self.screen.show(input.now, input.length, input.delay())
    }
}
