//! What crowd is measured, and over which network.

use anyhow::ensure;
use core::time::Duration;
use foretell_sim::netsim::{Conditions, DELAY_MAX, Loss};

/// The most entities: the names that a server gives in one tick have 16 bits, and players need some of what a client shows.
pub const ENTITIES_MAX: u16 = 60_000;
/// The most clients.
pub const CLIENTS_MAX: u16 = 1_000;
/// The longest session, in seconds.
pub const SECONDS_MAX: u32 = 3_600;

/// A crowd, and the network over which its players see it.
#[derive(Clone, PartialEq, Debug)]
pub struct CrowdOptions {
    /// How many entities the server has besides those of its players, 1 to 60,000.
    pub entities: u16,
    /// How many of them move all the time, 0 to `entities`. With 0 the players stand, too: the world is at rest.
    pub moving: u16,
    /// How many play from the start, 1 to 1,000. One more comes after half of the time.
    pub clients: u16,
    /// The round trip without what it waits in queues, in ms, 0 to 20,000.
    pub rtt_ms: u32,
    /// The share of datagrams that is lost on each way, 0 to 1.
    pub loss: f64,
    /// How many bytes per second each client is sent at most, at least 1: [`foretell::ServerConfig::budget`].
    pub budget: u32,
    /// How long the session lasts, in virtual seconds, 1 to 3,600: a quarter until it has settled, a quarter that is measured,
    /// and half of it for the one who comes late.
    pub seconds: u32,
    /// What losses and names are drawn from.
    pub seed: u64,
}

impl CrowdOptions {
    /// Whether such a crowd can be measured.
    ///
    /// # Errors
    /// A sentence that says which option can't be, and what is accepted.
    pub fn check(&self) -> anyhow::Result<()> {
        let CrowdOptions { entities, moving, clients, rtt_ms, loss, budget, seconds, seed: _ } = *self;
        let rtt_ms_max = 2 * DELAY_MAX.as_millis();
        ensure!((1..=ENTITIES_MAX).contains(&entities), "entities is {entities}; accepted is 1 to {ENTITIES_MAX}");
        ensure!(moving <= entities, "moving is {moving}; there are only {entities} entities that can move");
        ensure!((1..=CLIENTS_MAX).contains(&clients), "clients is {clients}; accepted is 1 to {CLIENTS_MAX}");
        ensure!(u128::from(rtt_ms) <= rtt_ms_max, "rtt is {rtt_ms} ms; accepted is 0 to {rtt_ms_max}");
        ensure!((0.0..=1.0).contains(&loss), "loss is {loss}; it must be a number from 0 to 1");
        ensure!(budget > 0, "budget is 0; accepted is a number of bytes per second from 1 on, or none for no limit");
        ensure!((1..=SECONDS_MAX).contains(&seconds), "seconds is {seconds}; accepted is 1 to {SECONDS_MAX}");
        Ok(())
    }

    /// What each way of a player's link does.
    pub fn conditions(&self) -> Conditions {
        let latency = Duration::from_micros(u64::from(self.rtt_ms) * 1_000 / 2);
        Conditions { latency, loss: Loss::Uniform(self.loss), ..Conditions::default() }
    }
}
