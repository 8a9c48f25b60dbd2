//! Resume tickets: what a client comes back with after a broken connection, also to a server that was started again.
//!
//! A ticket is `nonce [12], sealed`, where `sealed` is ChaCha20-Poly1305 by the server's key of `version u8 = 1, account,
//! session u64, expires u64, number u64`, bound to the server's audience. Nobody but the server can read it.

use crate::account::{Account, UnixTime};
use crate::bytes::{Reader, put_text};
use crate::credential::{ResumeTicket, TICKET_MAX};
use crate::native::random;
use crate::native::text::read_text;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

const VERSION: u8 = 1;

/// What a ticket says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Resumption {
    pub account: Account,
    /// Whose place it is: [`Admission`](crate::native::admission::Admission).
    pub session: u64,
    pub expires: UnixTime,
    /// Counts tickets: [`Tickets`](crate::native::tickets::Tickets).
    pub number: u64,
}

/// The key of a server's tickets.
pub(crate) struct TicketKey {
    key: LessSafeKey,
    audience: Box<str>,
}

impl TicketKey {
    pub(crate) fn new(key: &[u8; 32], audience: &str) -> TicketKey {
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).expect("a key of 32 bytes");
        TicketKey { key: LessSafeKey::new(key), audience: audience.into() }
    }

    pub(crate) fn seal(&self, says: &Resumption) -> ResumeTicket {
        let mut sealed = vec![VERSION];
        put_text(&mut sealed, says.account.as_str());
        for number in [says.session, says.expires.0, says.number] {
            sealed.extend_from_slice(&number.to_le_bytes());
        }
        // 96 random bits: after 2^32 tickets of one key the chance of a repetition is 2^-33.
        let nonce = random::<NONCE_LEN>();
        self.key
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), self.bound(), &mut sealed)
            .expect("a short text is sealed");
        ResumeTicket::from_bytes(&[&nonce[..], &sealed].concat()).expect("names are at most 64 bytes long")
    }

    pub(crate) fn open(&self, ticket: &[u8]) -> Option<Resumption> {
        if ticket.len() > TICKET_MAX {
            return None;
        }
        let mut reader = Reader(ticket);
        let nonce = Nonce::assume_unique_for_key(reader.array()?);
        let mut sealed = reader.0.to_vec();
        let mut reader = Reader(self.key.open_in_place(nonce, self.bound(), &mut sealed).ok()?);
        (reader.u8()? == VERSION).then_some(())?;
        let account = Account::new(read_text(&mut reader)?)?;
        let (session, expires, number) = (reader.u64()?, UnixTime(reader.u64()?), reader.u64()?);
        reader.0.is_empty().then_some(Resumption { account, session, expires, number })
    }

    fn bound(&self) -> Aad<Vec<u8>> {
        Aad::from([b"foretell resume ticket\n", self.audience.as_bytes()].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says() -> Resumption {
        let account = Account::new("alice").expect("a name");
        Resumption { account, session: 9, expires: UnixTime(60_000), number: 1 }
    }

    #[test]
    fn a_ticket_opens_with_its_key_and_audience_alone() {
        let ticket = TicketKey::new(&[1; 32], "arena").seal(&says());
        assert_eq!(TicketKey::new(&[1; 32], "arena").open(ticket.as_bytes()), Some(says()));
        assert_eq!(TicketKey::new(&[2; 32], "arena").open(ticket.as_bytes()), None);
        assert_eq!(TicketKey::new(&[1; 32], "other").open(ticket.as_bytes()), None);
        assert_eq!(ResumeTicket::parse(&ticket.reveal()), Some(ticket));
    }

    #[test]
    fn with_any_bit_flipped_or_any_byte_cut_it_does_not_open() {
        let key = TicketKey::new(&[1; 32], "arena");
        let ticket = key.seal(&says());
        let bytes = ticket.as_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut bent = bytes.to_vec();
            bent[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(key.open(&bent), None, "bit {bit}");
        }
        assert!((0..bytes.len()).all(|length| key.open(&bytes[..length]).is_none()));
    }

    #[test]
    fn two_tickets_of_the_same_are_not_alike_and_neither_is_printed() {
        let key = TicketKey::new(&[1; 32], "arena");
        assert_ne!(key.seal(&says()), key.seal(&says()));
        assert_eq!(format!("{:?}", key.seal(&says())), "ResumeTicket(..)");
    }
}
