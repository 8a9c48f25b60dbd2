//! The cryptography of tokens in a page, which only [`Token::insecure`](crate::Token::insecure) needs: who has a secret key to sign with
//! is elsewhere.

use crate::browser::bindings::get_random_values;
use ed25519_dalek::Signer;

/// A private key of Ed25519.
pub(crate) struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    pub fn from_seed(seed: &[u8; 32]) -> SigningKey {
        SigningKey(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    pub fn public_key(&self) -> [u8; 32] {
        self.0.verifying_key().to_bytes()
    }

    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        self.0.sign(bytes).to_bytes()
    }
}

/// Random bytes of the browser.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    get_random_values(&mut bytes);
    bytes
}
