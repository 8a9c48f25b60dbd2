//! The reliable stream of a browser: bytes in pieces of any size, in which each message comes after its length, u16.

use crate::control::MESSAGE_MAX;
use crate::transport::Closed;

/// A stream that comes in pieces of any size, as messages.
#[derive(Debug, Default)]
pub(crate) struct Pieces {
    /// What has come and is no whole message yet.
    bytes: Vec<u8>,
}

impl Pieces {
    /// The next piece has come.
    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
    }

    /// The next message that is complete, without its length.
    ///
    /// # Errors
    /// When one claims to be longer than any is.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Closed> {
        let Some((length, rest)) = self.bytes.split_first_chunk() else { return Ok(None) };
        let length = usize::from(u16::from_le_bytes(*length));
        if length > MESSAGE_MAX {
            return Err(Closed::Violation);
        }
        let message = rest.get(..length).map(<[u8]>::to_vec);
        if message.is_some() {
            self.bytes.drain(..2 + length);
        }
        Ok(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::Control;

    #[test]
    fn a_stream_is_the_same_messages_in_whatever_pieces_it_comes() {
        let messages = [Control::Draining { seconds: 30 }.framed(), Control::ResumeTicket(b"a ticket").framed()];
        let stream = messages.concat();
        for size in 1..=stream.len() {
            let (mut pieces, mut found) = (Pieces::default(), Vec::new());
            for piece in stream.chunks(size) {
                pieces.push(piece);
                while let Some(message) = pieces.next().expect("short messages") {
                    found.push(message);
                }
            }
            assert_eq!(found, messages.each_ref().map(|framed| framed[2..].to_vec()), "in pieces of {size}");
        }
    }

    #[test]
    fn a_message_that_claims_to_be_longer_than_any_is_an_error_at_once() {
        let mut pieces = Pieces::default();
        pieces.push(&[0x01, 0x02]);
        assert_eq!(pieces.next(), Err(Closed::Violation));
    }
}
