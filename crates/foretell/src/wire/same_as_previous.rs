//! Change coding of inputs: one bit says "the same as the one before" (R20, FIELD: delta compression of inputs).

use super::{BitReader, BitWriter, Malformed, Stream};

/// Writes `words`, whose widths in bits are `widths`: whole when nothing comes before, else `0` for the same as
/// `before`, or `1` and the whole.
///
/// # Panics
/// When the three are not equally long.
pub fn write_change(writer: &mut BitWriter<'_>, widths: &[u8], before: Option<&[u32]>, words: &[u32]) {
    assert!(words.len() == widths.len(), "one width for each word");
    if let Some(before) = before {
        let changed = before != words;
        writer.put(u64::from(changed), 1);
        if !changed {
            return;
        }
    }
    for (word, width) in words.iter().zip(widths) {
        writer.put(u64::from(*word), u32::from(*width));
    }
}

/// The inverse of [`write_change`]: replaces `words`, which hold what came before (when `first` is false).
///
/// # Errors
/// [`Malformed::TooShort`].
#[expect(clippy::cast_possible_truncation, reason = "a word's width is at most 32 bits")]
pub fn read_change(reader: &mut BitReader<'_>, widths: &[u8], first: bool, words: &mut [u32]) -> Result<(), Malformed> {
    if !first && reader.take(1)? == 0 {
        return Ok(());
    }
    for (word, width) in words.iter_mut().zip(widths) {
        *word = reader.take(u32::from(*width))? as u32;
    }
    Ok(())
}

/// Writes or reads `words`, whose widths in bits are `widths`, after `before`: `0` for the same, or `1` and the whole.
///
/// # Errors
/// As [`Stream::bits`].
#[expect(clippy::cast_possible_truncation, reason = "a word's width is at most 32 bits")]
pub fn stream_change(
    stream: &mut impl Stream,
    widths: &[u8],
    before: &[u32],
    words: &mut [u32],
) -> Result<(), Malformed> {
    let mut changed = words != before;
    stream.bool(&mut changed)?;
    if !changed {
        words.copy_from_slice(before);
        return Ok(());
    }
    for (word, width) in words.iter_mut().zip(widths) {
        let mut bits = u64::from(*word);
        stream.bits(&mut bits, u32::from(*width))?;
        *word = bits as u32;
    }
    Ok(())
}
