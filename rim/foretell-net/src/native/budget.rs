//! Budgets that refill: so much at once, and so much in a minute in the long run.

use crate::native::account::UnixTime;
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
    full_at: BTreeMap<K, UnixTime>,
}

impl<K: Ord> Budgets<K> {
    /// `at_once` and `per_minute` count as 1 at least.
    pub(crate) fn new(at_once: usize, per_minute: u32) -> Budgets<K> {
        let cost = Duration::from_secs(60) / per_minute.max(1);
        let all = cost * u32::try_from(at_once.max(1)).unwrap_or(u32::MAX);
        Budgets { all, cost, full_at: BTreeMap::new() }
    }

    /// Whether once more is possible. Who asks after the clock was set back owes all of it from then on, and no more.
    pub(crate) fn allows(&mut self, now: UnixTime, key: &K) -> bool {
        let owed = self.owed(now, key);
        if let Some(full_at) = self.full_at.get_mut(key) {
            *full_at = now.after(owed);
        }
        owed + self.cost <= self.all
    }

    /// Once more.
    pub(crate) fn spend(&mut self, now: UnixTime, key: K) {
        let full_at = now.after(self.owed(now, &key) + self.cost);
        self.full_at.retain(|_, at| *at > now);
        self.full_at.insert(key, full_at);
    }

    /// No more than all of it, also when the clock was set back.
    fn owed(&self, now: UnixTime, key: &K) -> Duration {
        self.full_at.get(key).map_or(Duration::ZERO, |at| at.since(now)).min(self.all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_is_possible_at_once_and_so_much_in_a_minute_for_each_key() {
        let mut budgets = Budgets::new(5, 12);
        let spent = |budgets: &mut Budgets<u8>, key: u8, now: u64| {
            let all = (0..100).filter(|_| {
                let allowed = budgets.allows(UnixTime(now), &key);
                allowed.then(|| budgets.spend(UnixTime(now), key));
                allowed
            });
            all.count()
        };
        assert_eq!((spent(&mut budgets, 1, 0), spent(&mut budgets, 2, 0)), (5, 5));
        assert_eq!(spent(&mut budgets, 1, 4_999), 0);
        assert_eq!((1..=12).map(|step| spent(&mut budgets, 1, step * 5_000)).sum::<usize>(), 12, "in a minute");
        assert_eq!(spent(&mut budgets, 1, 10_000_000), 5);
        assert_eq!(budgets.full_at.len(), 1, "the other is full again");
        assert_eq!(spent(&mut budgets, 1, 1), 0);
        assert_eq!(spent(&mut budgets, 1, 5_001), 1, "a clock that was set back costs no more than all of it");
        assert_eq!(spent(&mut budgets, 1, 25_001), 4);
    }
}
