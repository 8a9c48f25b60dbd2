//! Texts in tokens and tickets: a length, u8, and so many bytes of UTF-8.

use crate::bytes::Reader;

/// A text of at most 255 bytes, after its length.
pub(crate) fn read_text<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let length = reader.u8()?;
    std::str::from_utf8(reader.take(usize::from(length))?).ok()
}
