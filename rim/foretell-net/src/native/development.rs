//! Development mode: everybody knows the key that tokens are signed with. One call on either side, and no more of it.

use crate::credential::Token;
use crate::native::account::{Account, UnixTime};
use crate::native::admission::Access;
use crate::native::token::Issuer;
use std::time::Duration;

/// Known to everybody.
const SEED: [u8; 32] = *b"foretell: INSECURE DEVELOPMENT!!";
/// Clocks may be apart by so much, either way; twice that is the longest lifetime that servers take.
const SKEW: Duration = Duration::from_secs(300);
const AUDIENCE: &str = "insecure development";

impl Access {
    /// Access for anybody in anybody's name: [`Token::insecure`] makes their tokens. The server says so loudly when it is
    /// started. For a program on the own machine; with everything else as it is in earnest.
    pub fn insecure_development() -> Access {
        Access { insecure: true, ..Access::new(AUDIENCE, Issuer::new(&SEED, AUDIENCE).public_key()) }
    }
}

impl Token {
    /// A token that servers with [`Access::insecure_development`] take, from 5 minutes before `now` to 5 minutes after it:
    /// nobody has set the clocks of machines at hand.
    pub fn insecure(account: &Account, now: UnixTime) -> Token {
        Issuer::new(&SEED, AUDIENCE).issue(account, UnixTime(now.0.saturating_sub(SKEW.as_secs() * 1000)), 2 * SKEW)
    }
}
