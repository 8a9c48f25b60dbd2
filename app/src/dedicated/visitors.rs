//! Who is connected to a site, by address, and who gives way when one more comes.

use foretell_net::network;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// How many connections a site has at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In all.
    pub connections_max: usize,
    /// From one address, or one IPv6 network of 64 bits.
    pub per_address_max: usize,
}

/// The connections of a site; `T` is what one of them is known by.
#[derive(Debug)]
pub struct Visitors<T> {
    limits: Limits,
    /// By network, and under none those of a proxy, which stands for many. Each oldest first, and none of them empty.
    connections: BTreeMap<Option<IpAddr>, Vec<T>>,
}

/// What becomes of one more.
#[derive(Debug, PartialEq, Eq)]
pub enum Room<T> {
    /// There is a place.
    Free,
    /// There is one as soon as this one has given way.
    Of(T),
    /// There is none.
    None,
}

impl<T> Visitors<T> {
    pub fn new(limits: Limits) -> Visitors<T> {
        Visitors { limits, connections: BTreeMap::new() }
    }

    /// Whether one more has a place. Where all are taken the oldest of the address that has the most gives way, if that has
    /// more than the newcomer's would have: so however many an address holds, who comes from another is let in.
    pub fn make_room(&mut self, from: Option<IpAddr>) -> Room<T> {
        let from = from.map(network);
        let here = self.connections.get(&from).map_or(0, Vec::len);
        if from.is_some() && here >= self.limits.per_address_max {
            return Room::None;
        }
        if self.connections.values().map(Vec::len).sum::<usize>() < self.limits.connections_max {
            return Room::Free;
        }
        let limited = self.connections.iter_mut().filter(|(address, _)| address.is_some());
        match limited.map(|(_, held)| held).max_by_key(|held| held.len()) {
            Some(most) if most.len() > here + 1 => Room::Of(most.remove(0)),
            _ => Room::None,
        }
    }

    /// One more is there.
    pub fn enter(&mut self, from: Option<IpAddr>, one: T) {
        self.connections.entry(from.map(network)).or_default().push(one);
    }

    /// The one of which `is` says so is gone, if it was still counted.
    pub fn leave(&mut self, is: impl Fn(&T) -> bool) {
        self.connections.retain(|_, held| {
            held.retain(|one| !is(one));
            !held.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { connections_max: 10, per_address_max: 4 };

    fn address(number: u8) -> Option<IpAddr> {
        Some(IpAddr::from([10, 0, 0, number]))
    }

    /// How many of `count` more connections are let in; they are known by numbers from `first` on.
    fn come(visitors: &mut Visitors<u32>, from: Option<IpAddr>, (first, count): (u32, u32)) -> usize {
        let entered = (first..first + count).filter(|one| {
            let room = visitors.make_room(from);
            let entered = room != Room::None;
            if entered {
                visitors.enter(from, *one);
            }
            entered
        });
        entered.count()
    }

    #[test]
    fn an_address_has_so_many_places_and_again_when_some_are_left() {
        let mut visitors = Visitors::new(LIMITS);
        assert_eq!(come(&mut visitors, address(1), (0, 9)), 4);
        visitors.leave(|one| *one == 2);
        assert_eq!(come(&mut visitors, address(1), (10, 9)), 1);
        let host = |host| Some(IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, host]));
        assert_eq!((0..9).map(|number| come(&mut visitors, host(number), (20, 1))).sum::<usize>(), 4, "one network");
    }

    #[test]
    fn where_all_places_are_taken_the_oldest_of_who_holds_the_most_gives_way_to_who_holds_less() {
        let mut visitors = Visitors::new(LIMITS);
        for number in 1..=3 {
            come(&mut visitors, address(number), (u32::from(number) * 10, 4));
        }
        // Ten places: of the third's four connections one finds one of the second's, and the last finds no address with more.
        assert_eq!(visitors.connections.values().map(Vec::len).collect::<Vec<_>>(), [4, 3, 3]);
        assert_eq!(visitors.make_room(address(4)), Room::Of(10));
        visitors.enter(address(4), 40);
        assert_eq!(visitors.connections[&address(1)], [11, 12, 13]);
    }

    #[test]
    fn who_comes_by_a_proxy_has_no_limit_of_an_address_and_gives_way_to_nobody() {
        let mut visitors = Visitors::new(LIMITS);
        assert_eq!(come(&mut visitors, None, (0, 20)), 10);
        assert_eq!(visitors.make_room(address(1)), Room::None);
    }
}
