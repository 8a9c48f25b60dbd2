//! What either end decides by itself.

use super::TimeBudget;
use core::time::Duration;
use foretell::motion::Correction;

/// Who finds out that the two ends differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Detect {
    /// The client, by the states that come back (Q10). The default.
    #[default]
    Client,
    /// The server, by the states that the client sends with its inputs: half a round trip sooner, and a state more in each
    /// datagram (Q13).
    Server,
}

/// What a client decides by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClientConfig {
    /// How often it sends. Default 50 ms; the article shows 50 and 200 (Q18).
    pub send_interval: Duration,
    /// Who finds out that the two ends differ. Default the client. With the server, each datagram carries the client's
    /// state, and the client compares and counts, but does not ask (Q13, D8). The server's has to be the same.
    pub detect: Detect,
    /// From which squared distance on two positions differ, in m². Default 0.0001: 1 cm (Q10).
    pub sqr_tolerance: f64,
    /// Whether inputs are repeated until the server has them. Default true. Without it a lost datagram is a resync, as in
    /// the article (E6).
    pub repeat_inputs: bool,
    /// How the jump of a resync is hidden.
    pub correction: Correction,
}

impl Default for ClientConfig {
    fn default() -> ClientConfig {
        ClientConfig {
            send_interval: Duration::from_millis(50),
            detect: Detect::Client,
            sqr_tolerance: 0.0001,
            repeat_inputs: true,
            correction: Correction::default(),
        }
    }
}

/// What the server believes of a client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trust {
    /// Nothing that it could gain by: time runs forwards and no faster than the server's, inputs are held to what the
    /// mover allows (D3, E4). Whoever breaks it starts anew from the server's state. Of the requests of a second at most
    /// four begin a resync.
    Bounded {
        /// How far a client's clock may be ahead.
        budget: TimeBudget,
        /// From when on the time counts that passes in an epoch.
        since: Since,
    },
    /// Everything, as in the article: who doubles his clock is twice as fast, and whoever asks begins a resync. For
    /// comparison only.
    Blind,
}

/// From when on the server's time counts against the client's, after a resync.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Since {
    /// From when the state was frozen. The default: the client's epoch can't have begun before, however long its word of
    /// it was under way, so that no honest client is ever too early.
    #[default]
    Resync,
    /// From when the client's word came, as in the reference runs. If that was slower than usual by more than the budget,
    /// an honest client is taken for a fast one.
    Finish,
}

impl Default for Trust {
    fn default() -> Trust {
        Trust::Bounded { budget: TimeBudget::default(), since: Since::default() }
    }
}

/// What a server decides by itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ServerConfig {
    /// How often it sends. Default 50 ms; the article shows 50 and 200 (Q18).
    pub send_interval: Duration,
    /// Who finds out that the two ends differ. Default the client. The clients' has to be the same.
    pub detect: Detect,
    /// From which squared distance on two positions differ, in m², where the server finds out. Default 0.0001 (Q10).
    pub sqr_tolerance: f64,
    /// What it believes. Default nothing.
    pub trust: Trust,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            send_interval: Duration::from_millis(50),
            detect: Detect::Client,
            sqr_tolerance: 0.0001,
            trust: Trust::default(),
        }
    }
}
