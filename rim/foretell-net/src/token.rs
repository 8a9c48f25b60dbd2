//! Player tokens: a login service or a matchmaker signs them, and servers that know the public key admit their bearers, once.
//!
//! A token is `version u8 = 1, audience, account, id [16], issued u64, expires u64, signature [64]`: Ed25519 over all before
//! it with a prefix of its own. Texts are a length in bytes and these, times are milliseconds since 1970.

use crate::account::{Account, UnixTime, is_name};
use crate::bytes::put_text;
use crate::credential::Token;
use crate::platform::{SigningKey, random};
use std::fmt;
use std::time::Duration;

/// So that a signature of something else by the same key is not one of a token.
const PREFIX: &[u8] = b"foretell player token\n";
pub(crate) const VERSION: u8 = 1;

/// What signs tokens: a login service, a matchmaker. A server needs its public key alone; a page is no place for the private one.
pub struct Issuer {
    key: SigningKey,
    audience: Box<str>,
}

impl Issuer {
    /// An issuer for the servers of an audience. `seed` is the private key: 32 bytes from a good random generator.
    ///
    /// # Panics
    /// When the audience is empty, longer than 64 bytes, or has control characters.
    pub fn new(seed: &[u8; 32], audience: &str) -> Issuer {
        assert!(is_name(audience), "an audience has 1 to 64 bytes and no control characters");
        Issuer { key: SigningKey::from_seed(seed), audience: audience.into() }
    }

    /// What servers check tokens with.
    pub fn public_key(&self) -> [u8; 32] {
        self.key.public_key()
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
        bytes.extend_from_slice(&signature);
        Token::from_bytes(&bytes).expect("names are at most 64 bytes long")
    }
}

impl fmt::Debug for Issuer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Issuer({:?})", self.audience)
    }
}

/// A new secret, for [`Issuer::new`].
///
/// # Panics
/// When the system has no random numbers.
pub fn random_key() -> [u8; 32] {
    random()
}

/// What a signature is of.
pub(crate) fn signed(body: &[u8]) -> Vec<u8> {
    [PREFIX, body].concat()
}
