//! What counts as one address, and from which of them somebody makes room when there is none.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// What counts as one address: of IPv6 the network of 64 bits, as a customer has one at least; of IPv4 the address, also
/// where it is written as one of IPv6.
pub fn network(address: IpAddr) -> IpAddr {
    network_of(address, 64)
}

/// The same with the first `bits` bits of an IPv6 address, 1 to 64.
///
/// # Panics
/// With no bits, or more than 128.
pub fn network_of(address: IpAddr, bits: u32) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> (128 - bits) << (128 - bits))),
        address @ IpAddr::V4(_) => address,
    }
}

/// By how many bits IPv6 counts as one address where `count` places of `max` are taken: 64, 56, 48 or 32. The more are taken,
/// the fewer, as who has one wide network has many narrow ones.
pub fn network_bits(count: usize, max: usize) -> u32 {
    match count * 4 {
        quarters if quarters < max => 64,
        quarters if quarters < 2 * max => 56,
        quarters if quarters < 3 * max => 48,
        _ => 32,
    }
}

/// Which of all makes room for one more: of those from the network of `bits` bits where most are, the one with the greatest
/// `K`, and of equal ones the first. Networks with at most `few` count as equal. So who fills all places from some addresses
/// takes room from themselves alone. `None` where nobody is.
pub fn first_to_go<K: Ord + Copy>(
    all: impl DoubleEndedIterator<Item = (IpAddr, K)> + ExactSizeIterator + Clone,
    bits: u32,
    few: usize,
) -> Option<usize> {
    let mut from = BTreeMap::<IpAddr, usize>::new();
    for (address, _) in all.clone() {
        *from.entry(network_of(address, bits)).or_default() += 1;
    }
    let crowded = |address| from.get(&network_of(address, bits)).copied().max(Some(few));
    // Of equal ones the last of an iterator is its maximum.
    let last = all.enumerate().rev().max_by_key(|(_, (address, key))| (crowded(*address), *key));
    last.map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_ipv6_a_network_is_an_address_and_of_ipv4_the_address_itself() {
        let of = |text: &str, bits| network_of(text.parse().expect("an address"), bits).to_string();
        assert_eq!(of("2001:db8:1:2345::1", 64), "2001:db8:1:2345::");
        assert_eq!(of("2001:db8:1:2345::1", 56), "2001:db8:1:2300::");
        assert_eq!(of("2001:db8:1:2345::1", 48), "2001:db8:1::");
        assert_eq!((of("10.1.2.3", 48), of("::ffff:10.1.2.3", 64)), ("10.1.2.3".to_owned(), "10.1.2.3".to_owned()));
    }

    #[test]
    fn who_makes_room_is_from_where_most_are_and_has_waited_longest() {
        let all = |all: &[(&str, u32)], bits, few| {
            let all: Vec<_> = all.iter().map(|(text, key)| (text.parse().expect("an address"), *key)).collect();
            first_to_go(all.iter().copied(), bits, few)
        };
        let there = [("10.0.0.1", 9), ("2001:db8:1:1::1", 1), ("2001:db8:1:2::1", 3), ("2001:db8:1:2::2", 2)];
        assert_eq!(all(&there, 64, 0), Some(2), "two of one network");
        assert_eq!(all(&there, 64, 2), Some(0), "two are as good as one");
        assert_eq!(all(&there, 48, 2), Some(2), "three of one wide network");
        assert_eq!(all(&[("10.0.0.1", 5), ("10.0.0.2", 5)], 64, 0), Some(0), "the first");
        assert_eq!(all(&[], 64, 0), None);
    }
}
