//! How many connections there are, in total and from each address.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many connections a server holds at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Connections that are not admitted yet: beyond them further ones are turned away. Default 256.
    pub handshakes_max: usize,
    /// Beyond so many of them, and beyond half of what one address may have, who comes has to show first that their address
    /// is theirs (QUIC's retry: a round trip more). Default 32.
    pub handshakes_unproven_max: usize,
    /// Connections from one address, or from one IPv6 network of 64 bits, admitted ones too. Default 16: players behind
    /// one router.
    pub per_address_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { handshakes_max: 256, handshakes_unproven_max: 32, per_address_max: 16 }
    }
}

#[derive(Debug, Default)]
struct Counts {
    handshakes: usize,
    /// Entries of zero are removed.
    by_address: HashMap<IpAddr, usize>,
}

/// The connections of a server, counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd(Arc<Mutex<Counts>>);

/// One counted connection, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    crowd: Crowd,
    address: IpAddr,
    handshake: bool,
}

impl Crowd {
    /// Connections that are not admitted yet.
    pub(crate) fn handshakes(&self) -> usize {
        self.lock().handshakes
    }

    /// Whether one more from `address` is so much that it has to show first that the address is its own. Else whoever
    /// writes a player's address into packets would take the places of that address.
    pub(crate) fn is_crowded(&self, address: IpAddr, limits: &Limits) -> bool {
        let counts = self.lock();
        let here = counts.by_address.get(&network(address)).copied().unwrap_or(0);
        counts.handshakes >= limits.handshakes_unproven_max || here >= limits.per_address_max / 2
    }

    /// Counts a connection from `address`, which is to be admitted; `None` when it is one too many.
    pub(crate) fn enter(&self, address: IpAddr, limits: &Limits) -> Option<Seat> {
        let address = network(address);
        let mut counts = self.lock();
        let here = counts.by_address.get(&address).copied().unwrap_or(0);
        if counts.handshakes >= limits.handshakes_max || here >= limits.per_address_max {
            return None;
        }
        counts.handshakes += 1;
        counts.by_address.insert(address, here + 1);
        drop(counts);
        Some(Seat { crowd: self.clone(), address, handshake: true })
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// The connection was admitted.
    pub(crate) fn admitted(&mut self) {
        if std::mem::take(&mut self.handshake) {
            self.crowd.lock().handshakes -= 1;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.admitted();
        let mut counts = self.crowd.lock();
        let here = counts.by_address.get(&self.address).copied().unwrap_or(0);
        if here > 1 {
            counts.by_address.insert(self.address, here - 1);
        } else {
            counts.by_address.remove(&self.address);
        }
    }
}

/// What counts as one address: of IPv6 the network of 64 bits, as a customer has one at least; of IPv4 the address, also
/// where it is written as one of IPv6.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(handshakes_max: usize, per_address_max: usize) -> Limits {
        Limits { handshakes_max, per_address_max, ..Limits::default() }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn an_address_has_so_many_connections_and_gets_one_back_when_one_ends() {
        let (crowd, limits) = (Crowd::default(), limits(10, 2));
        let mut first = crowd.enter(address("10.0.0.1"), &limits).expect("room");
        let second = crowd.enter(address("::ffff:10.0.0.1"), &limits);
        first.admitted();
        assert!(second.is_some() && crowd.enter(address("10.0.0.1"), &limits).is_none());
        assert!(crowd.enter(address("10.0.0.2"), &limits).is_some());
        drop(second);
        assert!(crowd.enter(address("10.0.0.1"), &limits).is_some());
        drop(first);
        assert!(crowd.lock().by_address.is_empty() && crowd.handshakes() == 0);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let (crowd, limits) = (Crowd::default(), limits(10, 1));
        let _held = crowd.enter(address("2001:db8::1"), &limits).expect("room");
        assert!(crowd.enter(address("2001:db8::ffff:1"), &limits).is_none());
        assert!(crowd.enter(address("2001:db8:0:1::1"), &limits).is_some());
    }

    #[test]
    fn half_of_an_address_is_for_those_who_have_shown_that_it_is_theirs() {
        let (crowd, limits) = (Crowd::default(), limits(10, 4));
        let held = [(); 2].map(|()| {
            assert!(!crowd.is_crowded(address("10.0.0.1"), &limits));
            crowd.enter(address("10.0.0.1"), &limits).expect("room")
        });
        assert!(crowd.is_crowded(address("10.0.0.1"), &limits) && !crowd.is_crowded(address("10.0.0.2"), &limits));
        assert!(crowd.enter(address("10.0.0.1"), &limits).is_some(), "who has shown it gets in");
        drop(held);
        assert!(!crowd.is_crowded(address("10.0.0.1"), &limits));
        assert!(crowd.is_crowded(address("10.0.0.1"), &Limits { handshakes_unproven_max: 0, ..limits }));
    }

    #[test]
    fn only_connections_that_wait_count_as_handshakes() {
        let (crowd, limits) = (Crowd::default(), limits(1, 10));
        let mut first = crowd.enter(address("10.0.0.1"), &limits).expect("room");
        assert!(crowd.enter(address("10.0.0.2"), &limits).is_none());
        first.admitted();
        assert!(crowd.enter(address("10.0.0.2"), &limits).is_some());
    }
}
