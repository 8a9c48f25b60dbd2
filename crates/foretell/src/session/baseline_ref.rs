//! Baselines: a snapshot may tell its state as it differs from that of an earlier one, which the client has acknowledged.

use super::authority_codec::{Claim, Holder};
use crate::time::TickRate;
use crate::wire::{Malformed, Stream};
use crate::world::{Entity, EntityMap, Row, Rows};

/// How many of the last snapshots may be a baseline: those of two seconds, where there is one per tick.
pub(crate) fn baselines_max(rate: TickRate) -> usize {
    2 * usize::from(rate.get())
}

/// The snapshot that another is told against.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct BaselineRef {
    /// How many ticks before, from 1.
    pub back: u32,
    /// [`check_of`] all rows and holders of the snapshot, told or not: a baseline that is not the one that was meant is found out.
    pub check: u32,
}

impl BaselineRef {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.small(&mut self.back)?;
        stream.u32(&mut self.check)?;
        if self.back == 0 { Err(Malformed::OutOfRange("baseline")) } else { Ok(()) }
    }
}

/// FNV-1a over 32-bit words instead of bytes, the upper half of it.
fn hash_of<'a>(words: impl Iterator<Item = &'a u32>) -> u32 {
    let mix = |hash: u64, word: &u32| (hash ^ u64::from(*word)).wrapping_mul(0x0100_0000_01b3);
    (words.fold(0xcbf2_9ce4_8422_2325, mix) >> 32) as u32
}

/// A hash of one row.
pub(crate) fn row_hash(row: Row<'_>) -> u32 {
    hash_of(row.name_words().iter().chain(row.words))
}

/// A hash of who holds an entity.
#[expect(clippy::cast_possible_truncation, reason = "both halves")]
fn holder_hash(entity: Entity, Holder { player, claim, authority, ownership }: Holder) -> u32 {
    let (low, high) = (entity.bits() as u32, (entity.bits() >> 32) as u32);
    let by = u32::from(player.get()) << 1 | u32::from(claim == Claim::Ownership);
    hash_of([low, high, by, u32::from(authority) << 16 | u32::from(ownership)].iter())
}

/// The sum of the hashes of all who hold something, modulo 2^32.
pub(crate) fn check_of_holders(holders: impl Iterator<Item = (Entity, Holder)>) -> u32 {
    holders.fold(0, |sum, (entity, holder)| sum.wrapping_add(holder_hash(entity, holder)))
}

/// The sum of the hashes of all rows, and of all who hold something, modulo 2^32: a server keeps the hash of each row, and
/// adds up those that a client may see.
pub(crate) fn check_of(rows: &Rows, holders: &EntityMap<Holder>) -> u32 {
    let check = check_of_holders(holders.iter().map(|(entity, holder)| (entity, *holder)));
    rows.iter().fold(check, |sum, row| sum.wrapping_add(row_hash(row)))
}
