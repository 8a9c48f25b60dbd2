//! What counts as one address.

use std::net::{IpAddr, Ipv6Addr};

/// What counts as one address: of IPv6 the network of 64 bits, as a customer has one at least; of IPv4 the address, also
/// where it is written as one of IPv6.
pub fn network(address: IpAddr) -> IpAddr {
    network_of(address, 64)
}

/// The same with the first `bits` bits of an IPv6 address, 1 to 64.
pub(crate) fn network_of(address: IpAddr, bits: u32) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> (128 - bits) << (128 - bits))),
        address @ IpAddr::V4(_) => address,
    }
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
}
