//! A server that lets in anybody.

use crate::development::{AUDIENCE, SEED};
use crate::native::admission::Access;
use crate::token::Issuer;

impl Access {
    /// Access for anybody in anybody's name: [`Token::insecure`](crate::Token::insecure) makes their tokens. The server says so loudly when it is
    /// started. For a program on the own machine; with everything else as it is in earnest.
    pub fn insecure_development() -> Access {
        Access { insecure: true, ..Access::new(AUDIENCE, Issuer::new(&SEED, AUDIENCE).public_key()) }
    }
}
