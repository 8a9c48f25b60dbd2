//! An admitted connection, as the gateway has it.

use crate::account::Account;
use crate::control::Control;
use crate::native::door::Newcomer;
use crate::rate_limit::RateLimit;
use crate::transport::{Closed, Transport};
use foretell::session::{Inspected, Refusal, inspect};
use foretell::{Instant, PlayerId, Tick};
use std::time::Duration;

/// For so long a connection may be admitted without its player joining the session.
const UNUSED: Duration = Duration::from_secs(10);
/// How often tickets are renewed.
const RENEWAL: Duration = Duration::from_secs(60);

pub(crate) struct Link {
    pub account: Account,
    /// Counts admissions.
    pub number: u64,
    pub transport: Box<dyn Transport>,
    pub rate_limit: RateLimit,
    /// When its ticket was made.
    pub renewed: Instant,
    /// Who plays over it, once the session has admitted them.
    pub player: Option<PlayerId>,
    /// Since when it waits for that.
    pub since: Instant,
    /// Why it was over before it was drained last: what has come together with its end is taken in first.
    pub over: Option<Closed>,
    /// Whether it has said hello since the last tick, or the session has reported that it refuses it: then it is looked whether
    /// what is sent says so.
    pub asked: bool,
}

impl Link {
    pub(crate) fn new(newcomer: Newcomer, player: Option<PlayerId>, rate_limit: RateLimit, now: Instant) -> Link {
        let Newcomer { account, number, transport, .. } = newcomer;
        Link { account, number, transport, rate_limit, renewed: now, player, since: now, over: None, asked: false }
    }

    /// Who shows a token and never plays holds a place that somebody else could have.
    pub(crate) fn is_unused(&self, now: Instant) -> bool {
        self.player.is_none() && now.since(self.since) >= UNUSED
    }

    /// Whether its ticket is old by now; then it counts as renewed.
    pub(crate) fn takes_ticket(&mut self, now: Instant) -> bool {
        let due = now.since(self.renewed) >= RENEWAL;
        if due {
            self.renewed = now;
        }
        due
    }

    /// Says that the server ends after `limit` at the latest.
    pub(crate) fn tell_end(&mut self, limit: Duration) {
        let seconds = u32::try_from(limit.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
        // Who takes in nothing is told by the end itself.
        let _ = self.transport.tell(&Control::Draining { seconds }.framed());
    }
}

/// The nonce of a datagram that is a hello.
pub(crate) fn hello(datagram: &[u8]) -> Option<u64> {
    match inspect(datagram, Tick::ZERO) {
        Ok(Inspected::Hello { nonce }) => Some(nonce),
        _ => None,
    }
}

/// Why a datagram refuses a client, if it does: the session says nothing else from now on.
pub(crate) fn refusal(datagram: &[u8]) -> Option<Refusal> {
    match inspect(datagram, Tick::ZERO) {
        Ok(Inspected::Refused { why }) => Some(why),
        _ => None,
    }
}
