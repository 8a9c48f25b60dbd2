//! What a server reads of player tokens, and the cryptography of native programs.

use crate::account::{Account, UnixTime};
use crate::bytes::Reader;
use crate::credential::TOKEN_MAX;
use crate::native::text::read_text;
use crate::token::{VERSION, signed};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

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

/// A private key of Ed25519.
pub(crate) struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    pub fn from_seed(seed: &[u8; 32]) -> SigningKey {
        SigningKey(Ed25519KeyPair::from_seed_unchecked(seed).expect("every 32 bytes are a seed"))
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.0.public_key().as_ref().try_into().expect("a public key of Ed25519 has 32 bytes")
    }

    pub fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE] {
        self.0.sign(bytes).as_ref().try_into().expect("a signature of Ed25519 has 64 bytes")
    }
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
    use crate::credential::Token;
    use crate::token::Issuer;
    use std::time::Duration;

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
    fn what_a_page_signs_with_the_same_seed_has_the_same_key_and_signature() {
        use ed25519_dalek::Signer;
        for seed in [[7; 32], *b"foretell: INSECURE DEVELOPMENT!!"] {
            let (here, page) = (SigningKey::from_seed(&seed), ed25519_dalek::SigningKey::from_bytes(&seed));
            assert_eq!(here.public_key(), page.verifying_key().to_bytes());
            assert_eq!(here.sign(b"a token"), page.sign(b"a token").to_bytes());
        }
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
