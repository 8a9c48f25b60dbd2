//! What is given to who asks in a minute: so much to each address, and so much to all. Who has had a lot is refused long before
//! who has had little.

use super::usage::Usage;
use std::net::IpAddr;
use std::time::Instant;

/// How much is given in a minute.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    /// To one address.
    pub per_address: u64,
    /// To one address when half of what there is for all is given: the other half is kept for those who have had less than
    /// this, so to leave nothing for a newcomer takes `in_all / 2 / reserved` addresses.
    pub reserved: u64,
    /// To all of them together.
    pub in_all: u64,
}

/// What was given in the last minute.
#[derive(Debug)]
pub struct RequestBudget {
    shares: Shares,
    usage: Usage,
}

impl RequestBudget {
    pub fn new(shares: Shares, now: Instant) -> RequestBudget {
        RequestBudget { shares, usage: Usage::new(now) }
    }

    /// Whether once more is given to `who`; if so it counts.
    pub fn allows(&mut self, now: Instant, who: IpAddr) -> bool {
        self.usage.advance(now);
        let Shares { per_address, reserved, in_all } = self.shares;
        let given = self.usage.in_all();
        let share = if given < in_all / 2 { per_address } else { reserved };
        let allowed = given < in_all && self.usage.of(who, 1) <= share;
        if allowed {
            self.usage.give(who, 1);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SHARES: Shares = Shares { per_address: 30, reserved: 3, in_all: 1000 };

    fn address(number: u32) -> IpAddr {
        IpAddr::from(number.to_be_bytes())
    }

    /// How many of a hundred wishes are granted.
    fn count(budget: &mut RequestBudget, now: Instant, who: IpAddr) -> usize {
        (0..100).filter(|_| budget.allows(now, who)).count()
    }

    #[test]
    fn one_address_is_given_so_much_in_a_minute_and_again_in_the_next() {
        let start = Instant::now();
        let mut budget = RequestBudget::new(SHARES, start);
        assert_eq!((count(&mut budget, start, address(1)), count(&mut budget, start, address(2))), (30, 30));
        assert_eq!(count(&mut budget, start + Duration::from_secs(59), address(1)), 0);
        assert_eq!(count(&mut budget, start + Duration::from_secs(90), address(1)), 30);
    }

    #[test]
    fn addresses_that_take_all_they_get_leave_half_of_it_for_who_has_had_little() {
        let start = Instant::now();
        let mut budget = RequestBudget::new(SHARES, start);
        let taken: usize = (0..34).map(|number| count(&mut budget, start, address(number))).sum();
        assert_eq!(taken, 500 + 17 * 3);
        assert_eq!(count(&mut budget, start, address(99)), 3, "a newcomer");
        let more: usize = (100..1000).map(|number| count(&mut budget, start, address(number))).sum();
        assert_eq!(taken + 3 + more, 1000, "there is an end");
    }

    #[test]
    fn all_of_an_ipv6_network_are_one_who_asks_and_wide_ones_can_not_take_it_all() {
        let start = Instant::now();
        let mut budget = RequestBudget::new(Shares { in_all: 2000, ..SHARES }, start);
        let host = |network: u16, host| IpAddr::from([0x2001, 0xdb8, 0, network, 0, 0, 0, host]);
        let of_one: usize = (0..100).map(|number| count(&mut budget, start, host(0, number))).sum();
        let of_56_bits: usize = (1..256).map(|number| count(&mut budget, start, host(number, 0))).sum();
        assert_eq!((of_one, of_one + of_56_bits), (30, 4 * 30));
        let of_48_bits: usize = (256..u16::MAX).map(|number| count(&mut budget, start, host(number, 0))).sum();
        assert_eq!(of_one + of_56_bits + of_48_bits, 16 * 30);
        assert_eq!(count(&mut budget, start, address(1)), 30);
    }
}
