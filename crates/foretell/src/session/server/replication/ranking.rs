//! The order in which rows are told to a client where there is more to tell than fits.

use super::ranking_key::RankingKey;
use alloc::vec::Vec;

/// What was as urgent as this part of what just had room in one state is looked at in the next.
const CUTOFF_PART: f32 = 0.75;

/// Of three rows that are told one is known, where as many are: what a client knows moves while it is told much that is new, and it has all
/// of that half as late again at the latest.
const NEW_IN_A_ROW: u32 = 2;

/// The numbers of rows in the order in which they are told. Kept from state to state.
#[derive(Clone, Default, Debug)]
pub(super) struct Ranking {
    /// What is told first stands last.
    pub slots: Vec<u32>,
    /// From which priority on rows are looked at, so that mostly most need not be: they were not urgent enough for the last state, and
    /// are not yet. Where too few are as urgent, all are looked at.
    cutoff: f32,
}

impl Ranking {
    /// One after a state for which rows were looked at from this priority on.
    #[cfg(test)]
    pub(super) fn after(cutoff: f32) -> Ranking {
        Ranking { slots: Vec::new(), cutoff }
    }

    pub(super) fn cutoff(&self) -> f32 {
        self.cutoff
    }

    /// Takes in what is known to the client and what is new, the `most` most urgent of each in order.
    pub(super) fn order(&mut self, known: &mut [RankingKey], new: &mut [RankingKey], most: usize) {
        let least = sort_most(known, most);
        sort_most(new, most);
        // Of what is known enough is to be found to take turns, however urgent what is new.
        self.cutoff = if new.is_empty() { least * CUTOFF_PART } else { 0.0 };
        self.slots.clear();
        self.slots.extend(in_turn(known, new).map(|rank| !rank.number()));
        self.slots.reverse();
    }
}

/// Takes the `most` most urgent to the end, in order; returns how urgent the least of them is.
fn sort_most(ranked: &mut [RankingKey], most: usize) -> f32 {
    let rest = ranked.len().saturating_sub(most);
    if rest > 0 && rest < ranked.len() {
        ranked.select_nth_unstable(rest);
    }
    ranked[rest..].sort_unstable();
    ranked.get(rest).map_or(0.0, |least| least.value())
}

/// All of both, of which each has the most urgent at its end: the most urgent first, but of what is new no more than [`NEW_IN_A_ROW`] while
/// anything known is left.
fn in_turn<'a>(mut known: &'a [RankingKey], mut new: &'a [RankingKey]) -> impl Iterator<Item = RankingKey> + 'a {
    let mut in_a_row = 0;
    core::iter::from_fn(move || {
        let is_new = known.is_empty() || in_a_row < NEW_IN_A_ROW && new.last() > known.last();
        in_a_row = if is_new { in_a_row + 1 } else { 0 };
        let next = if is_new { &mut new } else { &mut known };
        next.split_off_last().copied()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(values: &[f32]) -> Vec<RankingKey> {
        values.iter().map(|value| RankingKey::new(*value, 0)).collect()
    }

    fn told(known: &[f32], new: &[f32]) -> Vec<f32> {
        in_turn(&ranked(known), &ranked(new)).map(RankingKey::value).collect()
    }

    #[test]
    fn what_is_known_comes_after_two_that_are_new_at_the_latest_and_before_them_where_it_is_as_urgent() {
        assert_eq!(told(&[1.0, 2.0, 3.0], &[6.0, 7.0, 8.0, 9.0]), [9.0, 8.0, 3.0, 7.0, 6.0, 2.0, 1.0]);
        assert_eq!(told(&[2.0, 7.0, 8.0], &[1.0, 7.0, 9.0]), [9.0, 8.0, 7.0, 7.0, 2.0, 1.0]);
        assert_eq!(told(&[9.0], &[1.0, 2.0, 3.0]), [9.0, 3.0, 2.0, 1.0]);
        assert_eq!([told(&[], &[1.0, 2.0]), told(&[1.0, 2.0], &[])], [[2.0, 1.0]; 2]);
        assert!(told(&[], &[]).is_empty());
    }

    #[test]
    fn as_many_as_are_told_are_in_order_at_the_end() {
        let mut all = ranked(&[4.0, 1.0, 5.0, 3.0, 2.0]);
        assert_eq!([1, 2, 5, 6].map(|most| sort_most(&mut all, most)), [5.0, 4.0, 1.0, 1.0]);
        assert_eq!(all, ranked(&[1.0, 2.0, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn all_that_is_known_is_looked_at_again_while_anything_is_new() {
        let (mut known, mut ranking) = (ranked(&[1.0, 4.0, 2.0]), Ranking::default());
        ranking.order(&mut known, &mut ranked(&[9.0]), 2);
        assert_eq!(ranking.cutoff(), 0.0);
        ranking.order(&mut known, &mut [], 2);
        assert_eq!(ranking.cutoff(), 2.0 * CUTOFF_PART);
    }
}
