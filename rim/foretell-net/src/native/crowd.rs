//! The connections that are not admitted yet: how many there are of each kind and from each address, and which of them makes
//! room for who comes.

use crate::native::limits::Limits;
use crate::native::network::{first_to_go, network_bits, network_of};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The kinds of handshakes. One kind takes no room from another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    WebTransport,
    WebSocket,
    /// Of either, from an address that is proven and that players have tickets of.
    Known,
}

#[derive(Debug)]
struct Handshake {
    /// Counts handshakes.
    number: u64,
    kind: Kind,
    from: IpAddr,
    /// Whether anything has come that only comes from that address.
    has_spoken: bool,
    /// Ends it.
    make_room: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct UnderWay {
    begun: u64,
    /// Oldest first.
    all: Vec<Handshake>,
}

/// The handshakes of a server.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd(Arc<Mutex<UnderWay>>);

/// One handshake, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    crowd: Crowd,
    number: u64,
}

/// Who is let in to shake hands: a seat, and what tells that it is somebody else's now.
pub(crate) struct Entered {
    pub seat: Seat,
    pub made_room: oneshot::Receiver<()>,
}

impl Crowd {
    /// How many there are.
    pub(crate) fn handshakes(&self) -> usize {
        self.lock().all.len()
    }

    /// Whether one more of WebTransport from `address` is so much that it has to show first that the address is its own.
    /// Else whoever writes a player's address into packets would take what that address may have.
    pub(crate) fn is_crowded(&self, address: IpAddr, limits: &Limits) -> bool {
        let under_way = self.lock();
        let all = || under_way.all.iter().filter(|one| one.kind == Kind::WebTransport);
        all().count() >= limits.handshakes_unproven_max
            || near(all(), address, 64) >= limits.handshakes_per_address_max / 2
    }

    /// Begins a handshake with `address`, for which another may have to end; `None` when the address has enough of them.
    pub(crate) fn enter(&self, kind: Kind, address: IpAddr, limits: &Limits) -> Option<Entered> {
        let mut under_way = self.lock();
        let of_kind = under_way.all.iter().filter(|one| one.kind == kind);
        let count = of_kind.clone().count();
        let bits = network_bits(count, limits.handshakes_max);
        if near(of_kind, address, bits) >= limits.handshakes_per_address_max {
            return None;
        }
        if count >= limits.handshakes_max {
            let gone = under_way.first_to_go(kind, bits)?;
            // Who has ended meanwhile hears nothing.
            let _ = under_way.all.remove(gone).make_room.send(());
        }
        under_way.begun += 1;
        let number = under_way.begun;
        let (make_room, made_room) = oneshot::channel();
        under_way.all.push(Handshake { number, kind, from: address, has_spoken: false, make_room });
        drop(under_way);
        Some(Entered { seat: Seat { crowd: self.clone(), number }, made_room })
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl UnderWay {
    /// Who ends when there is no room: from where most of a kind come; of them who has said nothing; of them the oldest.
    fn first_to_go(&self, kind: Kind, bits: u32) -> Option<usize> {
        let of_kind: Vec<_> = self.all.iter().enumerate().filter(|(_, one)| one.kind == kind).collect();
        let gone = first_to_go(of_kind.iter().map(|(_, one)| (one.from, !one.has_spoken)), bits, 0)?;
        Some(of_kind[gone].0)
    }
}

fn near<'a>(all: impl Iterator<Item = &'a Handshake>, address: IpAddr, bits: u32) -> usize {
    let network = network_of(address, bits);
    all.filter(|one| network_of(one.from, bits) == network).count()
}

impl Seat {
    /// Something has come that only comes from its address.
    pub(crate) fn note_spoken(&self) {
        let mut under_way = self.crowd.lock();
        under_way.all.iter_mut().filter(|one| one.number == self.number).for_each(|one| one.has_spoken = true);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.crowd.lock().all.retain(|one| one.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Known, WebSocket, WebTransport};

    fn limits(handshakes_max: usize, handshakes_per_address_max: usize) -> Limits {
        Limits { handshakes_max, handshakes_per_address_max, ..Limits::default() }
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    /// Handshakes from these addresses, all let in.
    fn enter(crowd: &Crowd, kind: Kind, limits: &Limits, from: &[&str]) -> Vec<Entered> {
        from.iter().map(|from| crowd.enter(kind, address(from), limits).expect("room")).collect()
    }

    /// Which of them had to make room.
    fn gone(entered: &mut [Entered]) -> Vec<usize> {
        let all = entered.iter_mut().enumerate();
        all.filter_map(|(index, entered)| entered.made_room.try_recv().is_ok().then_some(index)).collect()
    }

    #[test]
    fn an_address_has_so_many_handshakes_of_a_kind_and_gets_one_back_when_one_ends() {
        let (crowd, limits) = (Crowd::default(), limits(100, 2));
        let mut held = enter(&crowd, WebSocket, &limits, &["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2"]);
        assert!(crowd.enter(WebSocket, address("10.0.0.1"), &limits).is_none());
        assert!(crowd.enter(WebTransport, address("10.0.0.1"), &limits).is_some());
        held.remove(0);
        assert!(crowd.enter(WebSocket, address("10.0.0.1"), &limits).is_some());
        drop(held);
        assert_eq!(crowd.handshakes(), 0);
    }

    #[test]
    fn a_kind_that_is_full_takes_nothing_from_another() {
        let (crowd, limits) = (Crowd::default(), limits(2, 9));
        let mut sockets = enter(&crowd, WebSocket, &limits, &["10.0.0.1", "10.0.0.2"]);
        let _others = enter(&crowd, WebTransport, &limits, &["10.0.0.3", "10.0.0.4"]);
        let _known = enter(&crowd, Known, &limits, &["10.0.0.1", "10.0.0.2"]);
        assert_eq!((gone(&mut sockets), crowd.handshakes()), (vec![], 6));
        let _one_more = enter(&crowd, WebSocket, &limits, &["10.0.0.5"]);
        assert_eq!((gone(&mut sockets), crowd.handshakes()), (vec![0], 6));
    }

    #[test]
    fn who_makes_room_is_from_where_most_come_and_has_said_nothing_and_is_the_oldest() {
        let (crowd, limits) = (Crowd::default(), limits(6, 3));
        let from = ["10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3", "10.0.0.2", "10.0.0.3"];
        let mut held = enter(&crowd, WebTransport, &limits, &from);
        held[1].seat.note_spoken();
        let mut later = Vec::new();
        for (comes, goes) in [("10.0.0.4", 2), ("10.0.0.5", 3), ("10.0.0.6", 4), ("10.0.0.7", 0)] {
            later.extend(crowd.enter(WebTransport, address(comes), &limits));
            assert_eq!(gone(&mut held), [goes], "for {comes}");
        }
        assert_eq!((gone(&mut later).len(), crowd.handshakes()), (0, 6));
    }

    #[test]
    fn the_more_there_are_the_wider_the_networks_that_count_as_one_address() {
        let (crowd, limits) = (Crowd::default(), limits(8, 1));
        let comes = |from: &str| crowd.enter(WebSocket, address(from), &limits);
        let mut held: Vec<_> = [comes("2001:db8:0:1::1"), comes("2001:db8:0:2::1")].into_iter().flatten().collect();
        assert_eq!(held.len(), 2, "networks of 64 bits");
        assert!(comes("2001:db8:0:3::1").is_none(), "a quarter is taken: 56 bits");
        held.extend([comes("2001:db8:0:100::1"), comes("10.0.0.1")].into_iter().flatten());
        assert_eq!(held.len(), 4);
        assert!(comes("2001:db8:0:200::1").is_none(), "half: 48 bits");
        held.extend([comes("2001:db8:1::1"), comes("10.0.0.2")].into_iter().flatten());
        assert_eq!(held.len(), 6);
        assert!(comes("2001:db8:2::1").is_none() && comes("2001:db9::1").is_some(), "three quarters: 32 bits");
    }

    #[test]
    fn half_of_an_address_is_for_those_who_have_shown_that_it_is_theirs() {
        let (crowd, limits) = (Crowd::default(), limits(10, 4));
        let held = [(); 2].map(|()| {
            assert!(!crowd.is_crowded(address("10.0.0.1"), &limits));
            crowd.enter(WebTransport, address("10.0.0.1"), &limits).expect("room")
        });
        let _of_another_kind = enter(&crowd, WebSocket, &limits, &["10.0.0.2", "10.0.0.2"]);
        assert!(crowd.is_crowded(address("10.0.0.1"), &limits) && !crowd.is_crowded(address("10.0.0.2"), &limits));
        assert!(crowd.enter(WebTransport, address("10.0.0.1"), &limits).is_some(), "who has shown it gets in");
        drop(held);
        assert!(!crowd.is_crowded(address("10.0.0.1"), &limits));
        assert!(crowd.is_crowded(address("10.0.0.1"), &Limits { handshakes_unproven_max: 0, ..limits }));
    }
}
