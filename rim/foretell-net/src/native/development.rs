//! Development mode: everybody knows the key that tokens are signed with. One call on either side, and no more of it.

use crate::credential::Token;
use crate::native::account::{Account, UnixTime};
use crate::native::admission::Access;
use crate::native::token::Issuer;
use std::time::Duration;

/// Known to everybody.
const SEED: [u8; 32] = *b"foretell: INSECURE DEVELOPMENT!!";
const AUDIENCE: &str = "insecure development";

impl Access {
    /// Access for anybody in anybody's name: [`Token::insecure`] makes their tokens. The server says so loudly when it is
    /// started. For a program on the own machine; with everything else as it is in earnest.
    pub fn insecure_development() -> Access {
        Access { insecure: true, ..Access::new(AUDIENCE, Issuer::new(&SEED, AUDIENCE).public_key()) }
    }
}

impl Token {
    /// A token that servers with [`Access::insecure_development`] take, for a minute from `now` on.
    pub fn insecure(account: &Account, now: UnixTime) -> Token {
        Issuer::new(&SEED, AUDIENCE).issue(account, now, Duration::from_secs(60))
    }
}
