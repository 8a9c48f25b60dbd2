//! Texts in tokens and tickets: a length, u8, and so many bytes of UTF-8.

use crate::bytes::Reader;

/// A text of at most 255 bytes, after its length.
pub(crate) fn read_text<'a>(reader: &mut Reader<'a>) -> Option<&'a str> {
    let length = reader.u8()?;
    std::str::from_utf8(reader.take(usize::from(length))?).ok()
}

/// Appends a text after its length.
///
/// # Panics
/// When it is longer than 255 bytes.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.push(u8::try_from(text.len()).expect("names are at most 64 bytes long"));
    bytes.extend_from_slice(text.as_bytes());
}
