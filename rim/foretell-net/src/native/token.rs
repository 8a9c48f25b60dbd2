//! Player tokens: whoever knows the players signs them, and servers that know the public key admit their bearers, once.
//!
//! A token is `version u8 = 1, audience, account, id [16], issued u64, expires u64, signature [64]`: Ed25519 over all before
//! it with a prefix of its own. Texts are a length and so many bytes, times are milliseconds since 1970.

use crate::bytes::Reader;
use crate::credential::{TOKEN_MAX, Token};
use crate::native::account::{Account, UnixTime, is_name};
use crate::native::text::{put_text, read_text};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use std::fmt;
use std::time::Duration;

/// So that a signature of something else by the same key is not one of a token.
const PREFIX: &[u8] = b"foretell player token\n";
const VERSION: u8 = 1;
const SIGNATURE: usize = 64;

/// What a token says, once its signature holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Claims {
    pub account: Account,
    pub audience: Box<str>,
    pub id: [u8; 16],
    pub issued: UnixTime,
    pub expires: UnixTime,
}

/// Whoever signs tokens: a login service, a matchmaker. A server needs its public key alone.
pub struct Issuer {
    key: Ed25519KeyPair,
    audience: Box<str>,
}

impl Issuer {
    /// An issuer for the servers of an audience. `seed` is the private key: 32 bytes from a good random generator.
    ///
    /// # Panics
    /// When the audience is empty, longer than 64 bytes, or has control characters.
    pub fn new(seed: &[u8; 32], audience: &str) -> Issuer {
        assert!(is_name(audience), "an audience has 1 to 64 bytes and no control characters");
        let key = Ed25519KeyPair::from_seed_unchecked(seed).expect("every 32 bytes are a seed");
        Issuer { key, audience: audience.into() }
    }

    /// What servers check tokens with.
    pub fn public_key(&self) -> [u8; 32] {
        self.key.public_key().as_ref().try_into().expect("a public key of Ed25519 has 32 bytes")
    }

    /// A token that admits a player once, from `now` on for a `lifetime`: as long as it takes to get from here to the
    /// server, a minute or two.
    ///
    /// # Panics
    /// When the system has no random numbers.
    pub fn issue(&self, account: &Account, now: UnixTime, lifetime: Duration) -> Token {
        let mut bytes = vec![VERSION];
        put_text(&mut bytes, &self.audience);
        put_text(&mut bytes, account.as_str());
        bytes.extend_from_slice(&random::<16>());
        bytes.extend_from_slice(&now.0.to_le_bytes());
        bytes.extend_from_slice(&now.after(lifetime).0.to_le_bytes());
        let signature = self.key.sign(&signed(&bytes));
        bytes.extend_from_slice(signature.as_ref());
        Token::from_bytes(&bytes).expect("names are at most 64 bytes long")
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Issuer({:?})", self.audience)
    }
}

/// Reads a token and checks its signature; nothing of it is believed before.
pub(crate) fn verify(public_key: &[u8; 32], token: &[u8]) -> Option<Claims> {
    let length = token.len().checked_sub(SIGNATURE).filter(|_| token.len() <= TOKEN_MAX)?;
    let (body, signature) = token.split_at(length);
    UnparsedPublicKey::new(&ED25519, public_key).verify(&signed(body), signature).ok()?;
    let mut reader = Reader(body);
    (reader.u8()? == VERSION).then_some(())?;
    let audience = read_text(&mut reader)?.into();
    let account = Account::new(read_text(&mut reader)?)?;
    let (id, issued, expires) = (reader.array()?, UnixTime(reader.u64()?), UnixTime(reader.u64()?));
    reader.0.is_empty().then_some(Claims { account, audience, id, issued, expires })
}

fn signed(body: &[u8]) -> Vec<u8> {
    [PREFIX, body].concat()
}

/// A new secret, for [`Issuer::new`].
///
/// # Panics
/// When the system has no random numbers.
pub fn random_key() -> [u8; 32] {
    random()
}

/// Random bytes of the system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).expect("the system has random numbers");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice() -> Account {
        Account::new("alice").expect("a name")
    }

    #[test]
    fn a_token_says_what_it_was_issued_for() {
        let issuer = Issuer::new(&[7; 32], "arena");
        let token = issuer.issue(&alice(), UnixTime(1000), Duration::from_secs(60));
        let claims = verify(&issuer.public_key(), token.as_bytes()).expect("valid");
        assert_eq!((claims.account, &*claims.audience), (alice(), "arena"));
        assert_eq!((claims.issued, claims.expires), (UnixTime(1000), UnixTime(61_000)));
        assert_eq!(Token::parse(&token.reveal()), Some(token));
    }

    #[test]
    fn with_any_bit_flipped_or_any_byte_cut_it_is_none() {
        let issuer = Issuer::new(&[7; 32], "arena");
        let token = issuer.issue(&alice(), UnixTime(1000), Duration::from_secs(60));
        let bytes = token.as_bytes();
        for bit in 0..bytes.len() * 8 {
            let mut bent = bytes.to_vec();
            bent[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&issuer.public_key(), &bent), None, "bit {bit}");
        }
        for length in 0..bytes.len() {
            assert_eq!(verify(&issuer.public_key(), &bytes[..length]), None, "{length} bytes");
        }
        assert_eq!(verify(&Issuer::new(&[8; 32], "arena").public_key(), bytes), None);
    }

    #[test]
    fn nothing_prints_a_token_or_a_key() {
        let issuer = Issuer::new(&[7; 32], "arena");
        let token = issuer.issue(&alice(), UnixTime(1000), Duration::from_secs(60));
        assert_eq!(format!("{token:?} {issuer:?}"), "Token(..) Issuer(\"arena\")");
    }
}
