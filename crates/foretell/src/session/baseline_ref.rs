//! Baselines: a snapshot may tell its rows as they differ from those of an earlier one, which the client has acknowledged.

use crate::time::TickRate;
use crate::wire::{Malformed, Stream};
use crate::world::{Row, Rows};

/// How many of the last snapshots may be a baseline: those of two seconds, where there is one per tick.
pub(crate) fn baselines_max(rate: TickRate) -> usize {
    2 * usize::from(rate.get())
}

/// The snapshot that another is told against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BaselineRef {
    /// How many ticks before, from 1.
    pub back: u32,
    /// [`check_of`] all rows of the snapshot, told or not: a baseline that is not the one that was meant is found out.
    pub check: u32,
}

impl BaselineRef {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.small(&mut self.back)?;
        stream.u32(&mut self.check)?;
        if self.back == 0 { Err(Malformed::OutOfRange("baseline")) } else { Ok(()) }
    }
}

/// A hash of one row: FNV-1a over 32-bit words instead of bytes, the upper half of it.
pub(crate) fn row_hash(row: Row<'_>) -> u32 {
    let mix = |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01b3);
    (row.name_words().iter().chain(row.words).fold(0xcbf2_9ce4_8422_2325, mix) >> 32) as u32
}

/// The sum of the hashes of all rows, modulo 2^32: a server keeps the hash of each row, and adds up those that a client may
/// see.
pub(crate) fn check_of(rows: &Rows) -> u32 {
    rows.iter().fold(0, |sum, row| sum.wrapping_add(row_hash(row)))
}
