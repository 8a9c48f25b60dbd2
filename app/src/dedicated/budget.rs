//! What is given to who asks in a minute: so much to each address, and so much to all.

use foretell_net::network;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

/// How long it lasts.
const MINUTE: Duration = Duration::from_secs(60);

/// How much is given in a minute.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// To one address, or one IPv6 network of 64 bits.
    pub per_address: u32,
    /// To all of them together.
    pub in_all: u32,
}

/// What was given in the running minute.
#[derive(Debug)]
pub struct Budget {
    shares: Shares,
    since: Instant,
    given: u32,
    /// At most `shares.in_all` addresses.
    by_address: BTreeMap<IpAddr, u32>,
}

impl Budget {
    pub fn new(shares: Shares, now: Instant) -> Budget {
        Budget { shares, since: now, given: 0, by_address: BTreeMap::new() }
    }

    /// Whether so much more, at least 1, may be given to `who`; if so it counts.
    pub fn allows(&mut self, now: Instant, who: IpAddr, much: u32) -> bool {
        if now.duration_since(self.since) >= MINUTE {
            (self.since, self.given) = (now, 0);
            self.by_address.clear();
        }
        let who = network(who);
        let had = self.by_address.get(&who).copied().unwrap_or(0);
        let allowed = fits(had, much, self.shares.per_address) && fits(self.given, much, self.shares.in_all);
        if allowed {
            self.by_address.insert(who, had + much);
            self.given += much;
        }
        allowed
    }
}

fn fits(had: u32, much: u32, most: u32) -> bool {
    had.checked_add(much).is_some_and(|has| has <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARES: Shares = Shares { per_address: 30, in_all: 1000 };

    #[test]
    fn one_address_is_given_so_much_in_a_minute_and_all_together_so_much() {
        let start = Instant::now();
        let mut budget = Budget::new(SHARES, start);
        let address = |number: u32| IpAddr::from(number.to_be_bytes());
        let count =
            |budget: &mut Budget, now, to, much| (0..100).filter(|_| budget.allows(now, address(to), much)).count();
        assert_eq!((count(&mut budget, start, 1, 1), count(&mut budget, start, 2, 7)), (30, 4));
        assert!(budget.allows(start, address(2), 2), "what was refused does not count");
        let others = (3..2000).filter(|number| budget.allows(start, address(*number), 1)).count();
        assert_eq!(others, 1000 - 2 * 30);
        assert_eq!(count(&mut budget, start + Duration::from_secs(60), 1, 1), 30);
        assert!(!budget.allows(start, address(9), u32::MAX));
    }

    #[test]
    fn all_of_an_ipv6_network_are_one_who_asks() {
        let start = Instant::now();
        let mut budget = Budget::new(SHARES, start);
        let mut allowed =
            |network: u16, host| budget.allows(start, IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host]), 1);
        assert_eq!((0..100).filter(|host| allowed(0, *host)).count(), 30);
        assert!(allowed(1, 0));
    }
}
