//! Datagrams on their way out.

use alloc::vec::Vec;

/// A transport's name for who is at the other end of a connection. Chosen by the caller; the server never looks into it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct PeerId(pub u64);

/// Datagrams to be sent, in order, with who is to get them. Owned by the caller and reused: clear it after sending.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    ends: Vec<(PeerId, usize)>,
}

impl Outbox {
    /// An empty one, with room for one datagram of the largest size.
    pub fn new() -> Outbox {
        Outbox { bytes: Vec::with_capacity(super::DATAGRAM_MAX), ends: Vec::with_capacity(16) }
    }

    /// The datagrams in the order of sending, each with its receiver (on a client always the same one).
    pub fn iter(&self) -> impl Iterator<Item = (PeerId, &[u8])> {
        let mut start = 0;
        self.ends.iter().map(move |(peer, end)| {
            let datagram = &self.bytes[start..*end];
            start = *end;
            (*peer, datagram)
        })
    }

    /// How many datagrams there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Forgets the datagrams, and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Edits all datagrams from the `first` on.
    pub(crate) fn edit_from(&mut self, first: usize, mut edit: impl FnMut(&mut [u8])) {
        let mut start = first.checked_sub(1).map_or(0, |before| self.ends[before].1);
        for (_, end) in &self.ends[first..] {
            edit(&mut self.bytes[start..*end]);
            start = *end;
        }
    }

    /// Takes back all datagrams from the `first` on.
    pub(crate) fn truncate(&mut self, first: usize) {
        self.ends.truncate(first);
        self.bytes.truncate(self.ends.last().map_or(0, |(_, end)| *end));
    }

    /// Appends a datagram that `write` writes. Returns its length in bytes.
    pub(crate) fn push(&mut self, to: PeerId, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        let start = self.bytes.len();
        write(&mut self.bytes);
        self.ends.push((to, self.bytes.len()));
        self.bytes.len() - start
    }
}
