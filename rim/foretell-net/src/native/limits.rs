//! How much of a server one address, one account, or all together may have.

use crate::native::budget::Budgets;
use std::net::IpAddr;

/// How many connections a server holds at once, and how fast they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections that are not admitted yet, of each kind by itself: WebTransport, WebSocket, and from addresses whose
    /// players the server knows. Beyond them the oldest from wherever most come makes room. Default 128.
    pub handshakes_max: usize,
    /// With more of WebTransport than this, or than half of what one address may have, newcomers have to prove first that
    /// their address is theirs (QUIC's retry: a round trip more). Default 32.
    pub handshakes_unproven_max: usize,
    /// Of each kind from one address: beyond them further ones are turned away. Where this or
    /// [`per_address_max`](Limits::per_address_max) is greater, half as many as that may begin in a second from one address,
    /// in the long run, and twice as many at once. Default 16: players behind one router who all come at once.
    pub handshakes_per_address_max: usize,
    /// Places of one address, those of lost players too. Beyond them the oldest lost one of the address makes room, or
    /// nobody comes. Default 16: players behind one router.
    pub per_address_max: usize,
    /// How many new players come in a second, in the long run; as many as there are places may come at once, and 16 at
    /// least, 8 of them from networks of which nobody has come in the last ten minutes. Each costs everybody something. Who
    /// comes back to their place is not new. Default 4.
    pub joins_per_second: u32,
    /// How many of them from one address in a minute, in the long run; [`per_address_max`](Limits::per_address_max) may
    /// come at once, and 16 at least. Default 12.
    pub joins_per_address_per_minute: u32,
    /// How often one account is admitted in a minute, in the long run, with a token or a ticket; 10 times at once.
    /// Default 20: a bad path, with a break every 3 s.
    pub admissions_per_account_per_minute: u32,
}

impl Limits {
    /// How fast handshakes with one address may follow each other.
    pub(crate) fn pace(&self) -> Budgets<(IpAddr, u32)> {
        let at_once = self.handshakes_per_address_max.max(self.per_address_max);
        Budgets::new(2 * at_once, u32::try_from(at_once).unwrap_or(u32::MAX).saturating_mul(30))
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            handshakes_max: 128,
            handshakes_unproven_max: 32,
            handshakes_per_address_max: 16,
            per_address_max: 16,
            joins_per_second: 4,
            joins_per_address_per_minute: 12,
            admissions_per_account_per_minute: 20,
        }
    }
}
