//! The datagrams between sending and arrival: a queue by due time over buffers that are used again.
//!
//! Invariants: `queued + free = buffers <= IN_FLIGHT_MAX`; datagrams leave in the order of (due, number, copy). Once as
//! many datagrams have been in flight as ever will be, and as long ones, nothing is allocated.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use foretell::time::Instant;

/// How many datagrams, copies included, are in flight on one link at most: those of 400 a second over 10 s, far beyond
/// what a session sends. More are dropped, and counted as such.
pub const IN_FLIGHT_MAX: usize = 4096;

/// The least that a buffer holds, in bytes, so that buffers need not grow one by one to the size of the largest of a
/// session's datagrams (1150 bytes).
const BUFFER_BYTES_MIN: usize = 1200;

/// When a datagram arrives, and which one it is; ordered by the fields in this order, of which the first three differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Passage {
    pub(super) due: Instant,
    /// Its place in the order of sending, from 0; a copy has that of its original.
    pub(super) number: u64,
    pub(super) copy: bool,
    pub(super) sent: Instant,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Flight {
    /// Earliest first, each with the index of its buffer.
    queue: BinaryHeap<Reverse<(Passage, usize)>>,
    buffers: Vec<Vec<u8>>,
    /// Indices of the buffers that no queued datagram uses.
    free: Vec<usize>,
}

impl Flight {
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        self.queue.peek().map(|Reverse((passage, _))| passage.due)
    }

    /// Adds a datagram; false if there is no room.
    pub(super) fn push(&mut self, passage: Passage, bytes: &[u8]) -> bool {
        if self.queue.len() == IN_FLIGHT_MAX {
            return false;
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.buffers.push(Vec::with_capacity(BUFFER_BYTES_MIN.max(bytes.len())));
            self.buffers.len() - 1
        });
        let buffer = &mut self.buffers[index];
        buffer.clear();
        buffer.extend_from_slice(bytes);
        self.queue.push(Reverse((passage, index)));
        true
    }

    /// Takes the next datagram out if it is due. Its buffer counts as free from now on; the borrow keeps it until the
    /// caller has read it.
    pub(super) fn pop(&mut self, now: Instant) -> Option<(Passage, &[u8])> {
        if self.next_due()? > now {
            return None;
        }
        let Reverse((passage, index)) = self.queue.pop()?;
        self.free.push(index);
        Some((passage, &self.buffers[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(due: u64, number: u64) -> Passage {
        Passage { due: Instant::from_micros(due), number, copy: false, sent: Instant::ZERO }
    }

    #[test]
    fn datagrams_leave_by_due_time_and_then_by_number() {
        let mut flight = Flight::default();
        for (due, number) in [(30, 0), (10, 1), (20, 2), (10, 3)] {
            assert!(flight.push(passage(due, number), &u64::to_le_bytes(number)));
        }
        let mut left = Vec::new();
        while let Some((passage, bytes)) = flight.pop(Instant::from_micros(25)) {
            assert_eq!(bytes, passage.number.to_le_bytes());
            left.push(passage.number);
        }
        assert_eq!(left, [1, 3, 2]);
        assert_eq!((flight.len(), flight.next_due()), (1, Some(Instant::from_micros(30))));
    }

    #[test]
    fn what_is_beyond_the_bound_is_refused() {
        let mut flight = Flight::default();
        for number in 0..IN_FLIGHT_MAX as u64 {
            assert!(flight.push(passage(0, number), b""));
        }
        assert!(!flight.push(passage(0, 0), b""));
        assert!(flight.pop(Instant::ZERO).is_some());
        assert!(flight.push(passage(0, 0), b""));
    }

    #[test]
    fn a_flight_at_its_high_water_mark_allocates_nothing() {
        /// Everything that an allocation would change.
        fn memory(flight: &Flight) -> (usize, usize, Vec<(*const u8, usize)>) {
            let buffers = flight.buffers.iter().map(|buffer| (buffer.as_ptr(), buffer.capacity())).collect();
            (flight.queue.capacity(), flight.free.capacity(), buffers)
        }
        /// Fills the flight up to 100 datagrams and empties it again.
        fn fill_and_empty(flight: &mut Flight, bytes: &[u8]) {
            for number in 0..100 {
                flight.push(passage(number % 7, number), bytes);
            }
            while flight.pop(Instant::from_micros(7)).is_some() {}
        }
        let mut flight = Flight::default();
        fill_and_empty(&mut flight, &[1; 10]);
        let before = memory(&flight);
        assert_eq!(before.2.len(), 100);
        for length in [0, 1, 100, BUFFER_BYTES_MIN] {
            fill_and_empty(&mut flight, &vec![2; length]);
        }
        assert_eq!(memory(&flight), before);
    }
}
