//! What a lane does with the owner's updates: one method, fed by what arrives and asked in each frame.

use super::pun_options::PunOptions;
use crate::clock::FRAME_S;
use foretell::motion::trajectory::Follower;
use foretell_articles::avatar::Avatar;

/// What the owner has sent.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Update {
    /// The frame in which it was sent; grows from each to the next.
    pub sent: u32,
    /// In metres.
    pub position: [f64; 3],
    /// In m/s.
    pub velocity: [f64; 3],
    /// The way since the update before, in metres: what PUN's transform view sends for a velocity.
    pub way: [f64; 3],
}

/// What a receiver knows besides.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Receiver {
    /// The time, in seconds; both ends' clocks agree, as P5 has it.
    pub now_s: f64,
    /// From one update to the next, as was agreed, in seconds.
    pub interval_s: f64,
    /// The round trip, in seconds.
    pub ping_s: f64,
    /// The options of PUN's views.
    pub pun: PunOptions,
}

impl Receiver {
    /// How old an update is, in seconds.
    pub fn age_s(&self, update: &Update) -> f64 {
        (self.now_s - f64::from(update.sent) * FRAME_S).max(0.0)
    }
}

/// Where the owner is shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ShownPosition {
    pub position: [f64; 3],
    /// How far beyond the newest update, in ms; 0 for a method that does not know.
    pub beyond_ms: f64,
}

impl ShownPosition {
    /// There.
    pub fn at(position: [f64; 3]) -> ShownPosition {
        ShownPosition { position, beyond_ms: 0.0 }
    }
}

/// One method. In each frame first [`advance`](Method::advance), then [`receive`](Method::receive) for each update that
/// has come, in the order of arrival, then [`show`](Method::show).
pub trait Method: Send {
    /// A frame has passed.
    fn advance(&mut self) {}
    /// An update has come.
    fn receive(&mut self, update: &Update, receiver: &Receiver);
    /// Where it is shown in this frame.
    fn show(&mut self, receiver: &Receiver) -> ShownPosition;
}

/// The article's scripts: they hear of an update before they move on.
impl Method for Avatar<f64, 3> {
    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        Avatar::receive(self, update.position, update.velocity, receiver.age_s(update));
    }

    fn show(&mut self, _receiver: &Receiver) -> ShownPosition {
        ShownPosition::at(self.update(FRAME_S))
    }
}

impl Method for Follower<3> {
    fn advance(&mut self) {
        self.update(FRAME_S);
    }

    fn receive(&mut self, update: &Update, receiver: &Receiver) {
        Follower::receive(self, update.sent, update.position, update.velocity, receiver.age_s(update));
    }

    fn show(&mut self, _receiver: &Receiver) -> ShownPosition {
        ShownPosition::at(self.after(0.0).0)
    }
}
