//! The messages of the reliable stream: admission at its beginning, then tickets and farewells.
//!
//! Each is a length u16 of what follows, a kind u8, and its fields. The client opens the stream and speaks first.

use crate::bytes::Reader;
use crate::credential::{TICKET_MAX, TOKEN_MAX};
use crate::transport::Closed;

/// The version of admission and of these messages.
pub(crate) const VERSION: u8 = 1;
/// The longest message after its length, in bytes.
pub(crate) const MESSAGE_MAX: usize = 512;

const _: () = assert!(TOKEN_MAX + 3 <= MESSAGE_MAX && TICKET_MAX + 9 <= MESSAGE_MAX);

/// Why a server does not admit a client. The numbers are those on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, thiserror::Error)]
pub enum Refused {
    /// What it sent first is not what a client sends first.
    #[error("malformed request")]
    Malformed = 0,
    /// It speaks another version of admission.
    #[error("another version of the protocol")]
    Version = 1,
    /// The token or ticket was not made with the key that the server knows, or was changed.
    #[error("the token or ticket is not genuine")]
    Forged = 2,
    /// The token is for other servers.
    #[error("the token is for another server")]
    Foreign = 3,
    /// The token or ticket has expired.
    #[error("the token or ticket has expired")]
    Expired = 4,
    /// The token is from the future, or lives for longer than the server takes: the issuer's clock is wrong, or its rules.
    #[error("the token's times can't be right")]
    Untimely = 5,
    /// The token was issued before the server was started: it may have been used.
    #[error("the token is older than the server")]
    BeforeStart = 6,
    /// The token has been used.
    #[error("the token has been used")]
    Used = 7,
    /// The session of the ticket was ended by a good-bye, by the server, or by a newer one of the same player, or the player has come
    /// with a newer token.
    #[error("the session of the ticket has ended")]
    Ended = 8,
    /// All places are taken.
    #[error("the server is full")]
    Full = 9,
    /// Too many connections from the same address, or too much at once.
    #[error("too many connections")]
    Busy = 10,
    /// The server takes no new players, and ends soon.
    #[error("the server is about to end")]
    Draining = 11,
}

impl Refused {
    const ALL: [Refused; 12] = [
        Refused::Malformed,
        Refused::Version,
        Refused::Forged,
        Refused::Foreign,
        Refused::Expired,
        Refused::Untimely,
        Refused::BeforeStart,
        Refused::Used,
        Refused::Ended,
        Refused::Full,
        Refused::Busy,
        Refused::Draining,
    ];
}

/// What a client is admitted with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown<'a> {
    Token(&'a [u8]),
    ResumeTicket(&'a [u8]),
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control<'a> {
    /// Client to server, first: "admit me".
    Admit { version: u8, shown: Shown<'a> },
    /// Server to client: the number of the session, to say hello with, and the first ticket.
    Admitted { session: u64, ticket: &'a [u8] },
    /// Server to client: "no"; nothing follows.
    Refused(Refused),
    /// Server to client, every minute: a newer ticket.
    ResumeTicket(&'a [u8]),
    /// Server to client: it takes nobody new any more, and ends after so many seconds at the latest.
    Draining { seconds: u32 },
    /// Server to client: the session's last datagram, which says in words why it ends: it is not to be lost.
    LastDatagram(&'a [u8]),
    /// Either end: the connection ends now, and why. Browsers can't read the codes of QUIC.
    Closing(Closed),
}

impl<'a> Control<'a> {
    /// The message with its length before it.
    pub(crate) fn framed(&self) -> Vec<u8> {
        let mut bytes = vec![0, 0];
        match *self {
            Control::Admit { version, shown: Shown::Token(token) } => {
                bytes.extend_from_slice(&[1, version, 0]);
                bytes.extend_from_slice(token);
            }
            Control::Admit { version, shown: Shown::ResumeTicket(ticket) } => {
                bytes.extend_from_slice(&[1, version, 1]);
                bytes.extend_from_slice(ticket);
            }
            Control::Admitted { session, ticket } => {
                bytes.push(2);
                bytes.extend_from_slice(&session.to_le_bytes());
                bytes.extend_from_slice(ticket);
            }
            Control::Refused(why) => bytes.extend_from_slice(&[3, why as u8]),
            Control::ResumeTicket(ticket) => {
                bytes.push(4);
                bytes.extend_from_slice(ticket);
            }
            Control::Draining { seconds } => {
                bytes.push(5);
                bytes.extend_from_slice(&seconds.to_le_bytes());
            }
            Control::LastDatagram(datagram) => {
                bytes.push(7);
                bytes.extend_from_slice(datagram);
            }
            Control::Closing(why) => bytes.extend_from_slice(&[6, why as u8]),
        }
        let length = u16::try_from(bytes.len() - 2).expect("messages are short");
        bytes[..2].copy_from_slice(&length.to_le_bytes());
        bytes
    }

    /// Reads a message without its length; `None` for what is none of this version.
    pub(crate) fn read(message: &'a [u8]) -> Option<Control<'a>> {
        let mut reader = Reader(message);
        Some(match reader.u8()? {
            1 => {
                let (version, credential) = (reader.u8()?, reader.u8()?);
                match credential {
                    0 => Control::Admit { version, shown: Shown::Token(reader.0) },
                    1 => Control::Admit { version, shown: Shown::ResumeTicket(reader.0) },
                    _ => return None,
                }
            }
            2 => Control::Admitted { session: reader.u64()?, ticket: reader.0 },
            3 => {
                let why = reader.u8()?;
                Control::Refused(Refused::ALL.into_iter().find(|refused| *refused as u8 == why)?)
            }
            4 => Control::ResumeTicket(reader.0),
            5 => Control::Draining { seconds: reader.u32()? },
            7 => Control::LastDatagram(reader.0),
            6 => Control::Closing(Closed::from_code(u64::from(reader.u8()?))),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(message: Control<'_>) {
        let framed = message.framed();
        let (length, body) = framed.split_at(2);
        assert_eq!(usize::from(u16::from_le_bytes([length[0], length[1]])), body.len());
        assert!(Control::read(body) == Some(message));
    }

    #[test]
    fn every_message_is_read_as_it_was_written() {
        round_trip(Control::Admit { version: VERSION, shown: Shown::Token(b"token") });
        round_trip(Control::Admit { version: 9, shown: Shown::ResumeTicket(b"") });
        round_trip(Control::Admitted { session: u64::MAX - 1, ticket: b"ticket" });
        Refused::ALL.into_iter().for_each(|why| round_trip(Control::Refused(why)));
        round_trip(Control::ResumeTicket(b"ticket"));
        round_trip(Control::Draining { seconds: 30 });
        round_trip(Control::LastDatagram(b"datagram"));
        (0..=12).for_each(|code| round_trip(Control::Closing(Closed::from_code(code))));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Control::read(&bytes);
        }
    }
}
