//! The order in which rows are told to a client where there is more to tell than fits.

use super::ranking_key::RankingKey;
use alloc::vec::Vec;

/// What was as urgent as this part of what just had room in one state is looked at in the next.
const CUTOFF_PART: f32 = 0.75;

/// Of three rows that are told one is known, where as many are: what a client knows moves while it is told much that is new, and it has all
/// of that half as late again at the latest.
const NEW_IN_A_ROW: u32 = 2;

/// From which priority on rows are looked at, so that mostly most need not be: they were not urgent enough for the last state, and are not
/// yet. Where too few are as urgent, all are looked at.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Cutoffs {
    pub known: f32,
    pub new: f32,
}

/// The numbers of rows in the order in which they are told. Kept from state to state.
#[derive(Clone, Default, Debug)]
pub(super) struct Ranking {
    /// What is told first stands last.
    pub slots: Vec<u32>,
    cutoffs: Cutoffs,
    /// As how many in a row counts what the next state comes after: in turn, so that what is known has its turn where a state has room for one.
    new_in_a_row: u32,
}

/// The rows that wait and are urgent enough, in no order.
#[derive(Default)]
pub(super) struct Waiting {
    /// What was told before, or was the client's own.
    pub known: Vec<RankingKey>,
    /// What was never told, or is lost.
    pub new: Vec<RankingKey>,
}

impl Waiting {
    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.new.clear();
    }

    /// Whether there are enough for a state that tells `most`, of what is known too, which were looked at from there on.
    pub(super) fn suffice(&self, most: usize, from: Cutoffs) -> bool {
        let are_few = |known: usize| from.known > 0.0 && known < most.div_ceil(NEW_IN_A_ROW as usize + 1);
        self.known.len() + self.new.len() >= most && (self.new.is_empty() || !are_few(self.known.len()))
    }
}

impl Ranking {
    /// One after a state for which rows were looked at from there on.
    #[cfg(test)]
    pub(super) fn after(cutoffs: Cutoffs) -> Ranking {
        Ranking { cutoffs, ..Ranking::default() }
    }

    pub(super) fn cutoffs(&self) -> Cutoffs {
        self.cutoffs
    }

    /// Takes in the `most` most urgent of those that wait.
    pub(super) fn order(&mut self, waiting: &mut Waiting, most: usize) {
        let Waiting { known, new } = waiting;
        self.cutoffs = Cutoffs { known: sort_most(known, most) * CUTOFF_PART, new: sort_most(new, most) * CUTOFF_PART };
        self.slots.clear();
        self.slots.extend(in_turn(known, new, self.new_in_a_row).take(most).map(|rank| !rank.number()));
        self.slots.reverse();
        self.new_in_a_row = (self.new_in_a_row + 1) % (NEW_IN_A_ROW + 1);
    }
}

/// Takes the `most` most urgent to the end, in order; returns how urgent the least of them is, and zero where there are no others.
fn sort_most(ranked: &mut [RankingKey], most: usize) -> f32 {
    let rest = ranked.len().saturating_sub(most);
    if rest > 0 && rest < ranked.len() {
        ranked.select_nth_unstable(rest);
    }
    ranked[rest..].sort_unstable();
    ranked.get(rest).filter(|_| rest > 0).map_or(0.0, |least| least.value())
}

/// All of both, of which each has the most urgent at its end: the most urgent first, but of what is new no more than [`NEW_IN_A_ROW`] while
/// anything known is left, of which `in_a_row` were told before.
fn in_turn<'a>(
    mut known: &'a [RankingKey],
    mut new: &'a [RankingKey],
    mut in_a_row: u32,
) -> impl Iterator<Item = RankingKey> + 'a {
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
        values.iter().zip(0..).map(|(value, number)| RankingKey::new(*value, number)).collect()
    }

    fn told(known: &[f32], new: &[f32]) -> Vec<f32> {
        in_turn(&ranked(known), &ranked(new), 0).map(RankingKey::value).collect()
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
    fn what_is_known_has_its_turn_where_a_state_has_room_for_one_row() {
        let mut ranking = Ranking::default();
        let told = (0..6).map(|_| {
            let mut waiting = Waiting { known: ranked(&[1.0]), new: ranked(&[2.0, 7.0, 8.0]) };
            ranking.order(&mut waiting, 1);
            assert_eq!(ranking.slots.len(), 1);
            !ranking.slots[0] == 0
        });
        assert_eq!(told.collect::<Vec<_>>(), [false, false, true, false, false, true]);
    }

    #[test]
    fn as_many_as_are_told_are_in_order_at_the_end() {
        let mut all = [4.0, 1.0, 5.0, 3.0, 2.0].map(|value| RankingKey::new(value, 0));
        assert_eq!([1, 2, 4, 5, 6].map(|most| sort_most(&mut all, most)), [5.0, 4.0, 2.0, 0.0, 0.0]);
        assert_eq!(all.map(RankingKey::value), [1.0, 2.0, 3.0, 4.0, 5.0]);
    }

    #[test]
    fn all_that_is_known_is_looked_at_again_where_too_little_of_it_was_urgent_to_have_its_turn() {
        let waiting = Waiting { known: ranked(&[5.0]), new: ranked(&[9.0; 5]) };
        let suffice = |most, known| waiting.suffice(most, Cutoffs { known, new: 3.0 });
        assert_eq!(
            [(3, 1.0), (4, 1.0), (6, 0.0), (7, 0.0)].map(|(most, known)| suffice(most, known)),
            [true, false, true, false]
        );
        let known = Waiting { known: ranked(&[5.0, 6.0]), new: Vec::new() };
        assert!(known.suffice(2, Cutoffs { known: 1.0, new: 0.0 }));
    }
}
