//! Budgets that refill: so much at once, and so much in a minute in the long run.

use foretell::Instant;
use std::collections::BTreeMap;
use std::time::Duration;

/// A budget for each key. Whose budget is full is not kept.
#[derive(Debug)]
pub(crate) struct Budgets<K> {
    /// What may be owed at most.
    all: Duration,
    /// In which time what was spent once comes back.
    cost: Duration,
    /// When each is full again, if nothing is spent meanwhile.
    full_at: BTreeMap<K, Instant>,
}

impl<K: Ord> Budgets<K> {
    /// `at_once` and `per_minute` count as 1 at least.
    pub(crate) fn new(at_once: usize, per_minute: u32) -> Budgets<K> {
        let cost = Duration::from_secs(60) / per_minute.max(1);
        let all = cost * u32::try_from(at_once.max(1)).unwrap_or(u32::MAX);
        Budgets { all, cost, full_at: BTreeMap::new() }
    }

    /// Whether once more is possible.
    pub(crate) fn allows(&self, now: Instant, key: &K) -> bool {
        self.allows_beside(0, now, key)
    }

    /// Whether once more is possible when so much has to be left for others.
    pub(crate) fn allows_beside(&self, left: u32, now: Instant, key: &K) -> bool {
        self.owed(now, key) + self.cost * (left + 1) <= self.all
    }

    /// Once more.
    pub(crate) fn spend(&mut self, now: Instant, key: K) {
        let full_at = now + self.owed(now, &key) + self.cost;
        self.full_at.retain(|_, at| *at > now);
        self.full_at.insert(key, full_at);
    }

    fn owed(&self, now: Instant, key: &K) -> Duration {
        self.full_at.get(key).map_or(Duration::ZERO, |at| at.since(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_is_possible_at_once_and_so_much_in_a_minute_for_each_key() {
        let mut budgets = Budgets::new(5, 12);
        let millis = |now: u64| Instant::from_micros(now * 1000);
        let spent = |budgets: &mut Budgets<u8>, key: u8, now: u64| {
            let all = (0..100).filter(|_| {
                let allowed = budgets.allows(millis(now), &key);
                allowed.then(|| budgets.spend(millis(now), key));
                allowed
            });
            all.count()
        };
        assert_eq!((spent(&mut budgets, 1, 0), spent(&mut budgets, 2, 0)), (5, 5));
        assert_eq!(spent(&mut budgets, 1, 4_999), 0);
        assert_eq!((1..=12).map(|step| spent(&mut budgets, 1, step * 5_000)).sum::<usize>(), 12, "in a minute");
        assert_eq!(spent(&mut budgets, 1, 10_000_000), 5);
        assert_eq!(budgets.full_at.len(), 1, "the other is full again");
        let left = |budgets: &Budgets<u8>, left| budgets.allows_beside(left, millis(10_000_000), &2);
        assert_eq!([left(&budgets, 4), left(&budgets, 5)], [true, false]);
    }
}
