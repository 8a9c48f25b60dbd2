//! What stands behind the shown rows of a datagram: that what was told of an earlier state, and is not told again, has stopped.
//!
//! So what changes now and then takes few bytes, as it need not be told once more that it rests. It is said only where all has room
//! in one datagram that has changed: who has that knows what is not in it.

use super::shown_bases::BASE_AGE_MAX;
use crate::wire::{BitReader, BitWriter, Malformed};

const AGE_BITS: u32 = BASE_AGE_MAX.ilog2() + 1;
/// How many bits it takes at most.
pub(crate) const STOPPED_BITS: usize = 1 + AGE_BITS as usize;

/// Writes how many ticks older that state is, 1 to 63, if there is one.
pub(crate) fn write_stopped(writer: &mut BitWriter<'_>, age_ticks: Option<u32>) {
    writer.put(u64::from(age_ticks.is_some()), 1);
    age_ticks.into_iter().for_each(|age_ticks| writer.put(u64::from(age_ticks), AGE_BITS));
}

/// Reads the same.
pub(crate) fn read_stopped(reader: &mut BitReader<'_>) -> Result<Option<u32>, Malformed> {
    if reader.take(1)? == 0 {
        return Ok(None);
    }
    match u32::try_from(reader.take(AGE_BITS)?) {
        Ok(age_ticks) if age_ticks > 0 => Ok(Some(age_ticks)),
        _ => Err(Malformed::OutOfRange("stopped")),
    }
}
