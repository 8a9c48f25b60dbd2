//! What the messages of a WebSocket carry: a byte 0 and a datagram, or a byte 1 and a message of the reliable stream with
//! its length.

use crate::control::Control;
use crate::inbox::Inbox;
use crate::transport::Closed;
use foretell::Instant;

const DATAGRAM: u8 = 0;
const CONTROL: u8 = 1;

/// A datagram as a message of a WebSocket.
pub(crate) fn datagram(bytes: &[u8]) -> Vec<u8> {
    [&[DATAGRAM], bytes].concat()
}

/// A message with its length, as one of a WebSocket.
pub(crate) fn control(framed: &[u8]) -> Vec<u8> {
    [&[CONTROL], framed].concat()
}

/// The message, without its length, that one of a WebSocket carries; `None` when that is something else.
pub(crate) fn read_control(bytes: &[u8]) -> Option<&[u8]> {
    unframed(bytes.strip_prefix(&[CONTROL])?)
}

/// Takes in one message of a WebSocket that was admitted.
pub(crate) fn take(inbox: &Inbox, at: Instant, bytes: &[u8]) -> Result<(), Closed> {
    if let Some(datagram) = bytes.strip_prefix(&[DATAGRAM]) {
        inbox.datagram(at, datagram);
        return Ok(());
    }
    take_message(inbox, read_control(bytes).ok_or(Closed::Violation)?)
}

/// Takes in one message of the stream.
pub(crate) fn take_message(inbox: &Inbox, message: &[u8]) -> Result<(), Closed> {
    match Control::read(message) {
        Some(Control::Closing(why)) => Err(why),
        _ if inbox.message(message.to_vec()) => Ok(()),
        _ => Err(Closed::Violation),
    }
}

/// The message after its length, when that is its length.
fn unframed(framed: &[u8]) -> Option<&[u8]> {
    let (length, message) = framed.split_first_chunk()?;
    (usize::from(u16::from_le_bytes(*length)) == message.len()).then_some(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_websocket_carries_is_told_by_its_first_byte() {
        let inbox = Inbox::new(crate::inbox::Quota::FROM_SERVER);
        let at = Instant::ZERO;
        assert_eq!(take(&inbox, at, &datagram(b"d")), Ok(()));
        assert_eq!(take(&inbox, at, &control(&Control::Draining { seconds: 1 }.framed())), Ok(()));
        assert_eq!(take(&inbox, at, &control(&Control::Closing(Closed::Removed).framed())), Err(Closed::Removed));
        for odd in [&b""[..], b"\x01", b"\x01\x05\0\x01", b"\x02d"] {
            assert_eq!(take(&inbox, at, odd), Err(Closed::Violation), "{odd:?}");
        }
        let mut came = Vec::new();
        inbox.drain(&mut |one| came.push(matches!(one, crate::transport::Came::Datagram(..))));
        assert_eq!(came, [false, true]);
    }
}
