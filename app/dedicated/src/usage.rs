//! How much each of those who ask was given in the last minute.

use foretell_net::network_of;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// What was given is known in portions of so long, and the running and the last portion count.
const PORTION: Duration = Duration::from_secs(30);
/// How many bits of an IPv6 address are one network, and for how many addresses it counts: who has a wide one has many narrow
/// ones, and may be a whole town, too. Of IPv4 an address is all of these.
const NETWORKS: [(u32, u64); 4] = [(64, 1), (56, 4), (48, 16), (32, 64)];
/// How many networks are known in a portion; with more it ends early.
const NETWORKS_MAX: usize = 65_536;

/// A network, by the number of its bits.
type Network = (u32, IpAddr);

/// What was given to whom, in the caller's unit.
#[derive(Debug)]
pub struct Usage {
    since: Instant,
    running: Given,
    last: Given,
}

#[derive(Debug, Default)]
struct Given {
    in_all: u64,
    by_network: BTreeMap<Network, u64>,
}

impl Usage {
    pub fn new(now: Instant) -> Usage {
        Usage { since: now, running: Given::default(), last: Given::default() }
    }

    /// It is `now`. What was given long ago is forgotten.
    pub fn advance(&mut self, now: Instant) {
        let portions = now.duration_since(self.since).as_secs() / PORTION.as_secs();
        if portions >= 1 || self.running.by_network.len() >= NETWORKS_MAX {
            self.since = now;
            let ended = std::mem::take(&mut self.running);
            self.last = if portions < 2 { ended } else { Given::default() };
        }
    }

    /// So much more is given to `who`.
    pub fn give(&mut self, who: IpAddr, much: u64) {
        self.running.in_all += much;
        for network in networks(who).map(|(network, _)| network) {
            *self.running.by_network.entry(network).or_default() += much;
        }
    }

    /// So much of it was not taken.
    pub fn take_back(&mut self, who: IpAddr, much: u64) {
        self.running.in_all = self.running.in_all.saturating_sub(much);
        for network in networks(who).map(|(network, _)| network) {
            if let Some(given) = self.running.by_network.get_mut(&network) {
                *given = given.saturating_sub(much);
            }
        }
    }

    /// What `who` would have been given with so much more, of all networks around them the one that has had the most for
    /// what it is. Rounded up.
    pub fn of(&self, who: IpAddr, more: u64) -> u64 {
        let shares = networks(who).map(|(network, counts_for)| {
            let given = self.portions().filter_map(|given| given.by_network.get(&network)).sum::<u64>();
            given.saturating_add(more).div_ceil(counts_for)
        });
        shares.into_iter().max().unwrap_or(0)
    }

    /// What was given to all together.
    pub fn in_all(&self) -> u64 {
        self.portions().map(|given| given.in_all).sum()
    }

    fn portions(&self) -> impl Iterator<Item = &Given> {
        [&self.running, &self.last].into_iter()
    }
}

/// The networks around an address, and for how many addresses each counts.
fn networks(who: IpAddr) -> [(Network, u64); 4] {
    NETWORKS.map(|(bits, counts_for)| ((bits, network_of(who, bits)), counts_for))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn what_was_given_counts_for_half_a_minute_at_least_and_a_minute_at_most() {
        let (start, one) = (Instant::now(), address("10.0.0.1"));
        let mut usage = Usage::new(start);
        usage.give(one, 5);
        usage.take_back(one, 2);
        let mut later = |seconds| {
            usage.advance(start + Duration::from_secs(seconds));
            (usage.of(one, 0), usage.of(one, 4), usage.of(address("10.0.0.2"), 0), usage.in_all())
        };
        assert_eq!([later(0), later(29), later(59)], [(3, 7, 0, 3); 3]);
        assert_eq!(later(89), (0, 4, 0, 0));
        usage.give(one, 5);
        usage.advance(start + Duration::from_secs(1000));
        assert_eq!(usage.in_all(), 0);
    }

    #[test]
    fn a_wide_network_counts_for_more_addresses_but_for_fewer_than_it_has() {
        let mut usage = Usage::new(Instant::now());
        // One each from 256 networks of 64 bits, in one of 56 bits.
        for number in 0..256 {
            usage.give(IpAddr::from([0x2001, 0xdb8, 0, number, 0, 0, 0, 1]), 1);
        }
        assert_eq!(usage.of(address("2001:db8:0:1::2"), 0), 256 / 4);
        assert_eq!(usage.of(address("2001:db8:0:100::2"), 0), 256 / 16);
        assert_eq!(usage.of(address("2001:db8:1::2"), 0), 256 / 64);
        assert_eq!((usage.of(address("2001:db9::2"), 0), usage.of(address("10.0.0.1"), 0)), (0, 0));
        assert_eq!(usage.in_all(), 256);
    }

    #[test]
    fn so_many_networks_are_known_at_most() {
        let (now, mut usage) = (Instant::now(), Usage::new(Instant::now()));
        for number in 0..400_000_u32 {
            usage.advance(now);
            usage.give(IpAddr::from(number.to_be_bytes()), 1);
        }
        assert!(usage.portions().all(|given| given.by_network.len() <= NETWORKS_MAX + 4));
        assert_eq!(usage.of(IpAddr::from(399_999_u32.to_be_bytes()), 0), 1);
    }
}
