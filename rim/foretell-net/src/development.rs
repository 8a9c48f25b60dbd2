//! Development mode: everybody knows the key that tokens are signed with. One call on either side, and no more of it.

use crate::account::{Account, UnixTime};
use crate::credential::Token;
use crate::token::Issuer;
use std::time::Duration;

/// Known to everybody.
pub(crate) const SEED: [u8; 32] = *b"foretell: INSECURE DEVELOPMENT!!";
/// Clocks may be apart by so much, either way; twice that is the longest lifetime that servers take.
const SKEW: Duration = Duration::from_secs(300);
pub(crate) const AUDIENCE: &str = "insecure development";

impl Token {
    /// A token that servers with `Access::insecure_development` take, from 5 minutes before `now` to 5 minutes after it:
    /// nobody has set the clocks of machines at hand.
    pub fn insecure(account: &Account, now: UnixTime) -> Token {
        Issuer::new(&SEED, AUDIENCE).issue(account, UnixTime(now.0.saturating_sub(SKEW.as_secs() * 1000)), 2 * SKEW)
    }
}
