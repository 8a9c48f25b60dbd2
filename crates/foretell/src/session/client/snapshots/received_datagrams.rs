//! Which datagrams of states have come, and so which states have come whole: of a row that was not told in one of them it is known that it
//! was as before.

use crate::session::ack_bits::AckBits;
use crate::time::Tick;
use alloc::vec::Vec;

/// Which datagrams of states have come.
#[derive(Debug)]
pub(super) struct ReceivedDatagrams {
    /// `None` before the first.
    received: Option<AckBits>,
    /// How many states are remembered.
    most: usize,
    /// The first datagram of each of the last states of which that has come, ascending.
    begins: Vec<(Tick, u16)>,
}

impl ReceivedDatagrams {
    /// Remembers up to `most` states, at least one.
    pub(super) fn new(most: usize) -> ReceivedDatagrams {
        ReceivedDatagrams { received: None, most, begins: Vec::with_capacity(most + 1) }
    }

    /// Forgets all, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.received = None;
        self.begins.clear();
    }

    /// Tells which have come.
    pub(super) fn tell(&mut self) -> Option<AckBits> {
        let received = self.received;
        self.received.iter_mut().for_each(AckBits::note_told);
        received
    }

    /// One of the state of `tick` has come, the first of it or another. Returns how many ticks before that state the last one is of which
    /// all has come; where none is known, the first of which anything is known; 0 where nothing is. A datagram that has not come may have
    /// been of the state before it or of the one after it.
    pub(super) fn note(&mut self, tick: Tick, number: u16, is_first: bool) -> u32 {
        let received = self.received.map_or(AckBits::first(number), |before| before.with(number));
        self.received = Some(received);
        if is_first {
            self.note_begin(tick, number);
        }
        let before = self.begins.partition_point(|(known, _)| *known < tick);
        let this = self.begins.get(before).filter(|(known, _)| *known == tick);
        let mut end = this.map_or(number, |(_, begin)| *begin);
        let have_all_come =
            |from: u16, until: u16| (0..until.wrapping_sub(from)).all(|nth| received.has(from.wrapping_add(nth)));
        let mut earlier = self.begins[..before].iter().rev();
        let whole = earlier.find(|(_, begin)| have_all_come(*begin, core::mem::replace(&mut end, *begin)));
        whole.or(self.begins[..before].first()).map_or(0, |(whole, _)| tick.since(*whole))
    }

    /// Of a state that was sent again that counts which came first.
    fn note_begin(&mut self, tick: Tick, number: u16) {
        let Err(at) = self.begins.binary_search_by_key(&tick, |(known, _)| *known) else { return };
        self.begins.insert(at, (tick, number));
        if self.begins.len() > self.most {
            self.begins.remove(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of states 3 ticks apart, from tick 30 on, these datagrams of the first, second and so on have come; numbers go round.
    fn gap(come: &[&[u16]], lost: &[u16]) -> u32 {
        let mut received = ReceivedDatagrams::new(8);
        let (mut number, mut gap) = (65_533_u16, 0);
        for (tick, count) in (30..).step_by(3).map(Tick::new).zip(come) {
            for nth in *count {
                if !lost.contains(&number) {
                    gap = received.note(tick, number, *nth == 0);
                }
                number = number.wrapping_add(1);
            }
        }
        gap
    }

    #[test]
    fn a_gap_goes_back_to_the_last_state_of_which_every_datagram_has_come() {
        let one: &[u16] = &[0];
        let two: &[u16] = &[0, 1];
        assert_eq!(gap(&[one, one, one, one], &[]), 3);
        assert_eq!(gap(&[two, two, two, two], &[]), 3);
        assert_eq!(gap(&[one], &[]), 0, "nothing is known before the first");
        // What is lost is of the state after it, or the second datagram of the one before.
        assert_eq!(gap(&[one, one, one, one], &[65_535]), 9);
        // The first datagrams of two states are lost, their second ones have come.
        assert_eq!(gap(&[two, two, two, two], &[65_535, 1]), 9);
        // The second one of the state before is lost.
        assert_eq!(gap(&[two, two, two], &[0]), 6);
        // The first one of the newest state is lost, and the second has come.
        assert_eq!(gap(&[two, two, two], &[1]), 6);
        // The second one of it is lost.
        assert_eq!(gap(&[two, two, two], &[2]), 3);
    }
}
