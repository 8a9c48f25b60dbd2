//! What is asked of a library: a server and its clients, which play the scene over links that they are handed.

use crate::scene::{Body, Keys, PLAYERS};
use crate::script::Push;
use foretell::Instant;
use foretell_bench::Spent;

/// A datagram, and from whom or to whom it is.
pub type Datagram = (usize, Vec<u8>);

/// A server and its clients. States are counted as the library counts them, on both ends alike: state n is the one that
/// the server's tick n has made, or begins with.
pub trait Peer {
    /// An update of the server: what has come is taken in, blows are given, what is due is stepped. What it sends.
    fn serve(&mut self, now: Instant, come: &[Datagram], pushes: &[Push], spent: &mut Spent) -> Vec<Datagram>;

    /// The number of the server's newest state, and where everybody is in it; `None` until all are there.
    fn state(&mut self) -> Option<(u32, [Body; PLAYERS])>;

    /// A frame of a client, up to what is to be drawn. What it sends.
    fn frame(&mut self, at: Frame<'_>, spent: &mut Spent) -> Vec<Datagram>;

    /// What the client's last frame shows; `None` while it does not show both bodies.
    fn shown(&mut self, player: usize) -> Option<Shown>;

    /// What a client has counted.
    fn counts(&mut self, player: usize) -> Counts;
}

/// A client's frame.
pub struct Frame<'a> {
    /// Whose.
    pub player: usize,
    /// When.
    pub now: Instant,
    /// What has come.
    pub come: &'a [Datagram],
    /// What is pressed.
    pub keys: Keys,
}

/// What a frame shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shown {
    /// The own body as it is drawn.
    pub own: At,
    /// The own body as it is simulated, at the newest state: without what hides corrections.
    pub simulated: At,
    /// The other's body as it is drawn.
    pub other: At,
    /// For how many ticks an input waits before it counts.
    pub input_delay_ticks: f64,
}

/// Where a body is said to be in a state of the server.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct At {
    /// The number of the state; between two of them the fraction says where.
    pub state: f64,
    /// In metres.
    pub position: [f64; 2],
}

/// What a client has counted since its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// How often it has gone back to a state of the server and stepped again.
    pub rollbacks: u64,
    /// How many ticks were stepped again.
    pub resimulated: u64,
}
