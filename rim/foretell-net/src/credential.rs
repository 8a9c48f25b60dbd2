//! What a client shows to be admitted: a token or a resume ticket. To it both are bytes; servers can read them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::fmt;

/// The longest token, in bytes: version, audience, account, id, two times, signature.
pub(crate) const TOKEN_MAX: usize = 1 + 65 + 65 + 16 + 8 + 8 + 64;
/// The longest ticket, in bytes: nonce, version, account, session, time, number, tag.
pub(crate) const TICKET_MAX: usize = 12 + 1 + 65 + 3 * 8 + 16;

/// A signed player token. It is a secret of its bearer until it is used: neither `Debug` nor anything else prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<[u8]>);

impl Token {
    /// The token as text for a form, a file or a message to the player: base64 for URLs. Not for a log.
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// A token from its text; `None` when it can't be one. Whether it is valid is up to the server.
    pub fn parse(text: &str) -> Option<Token> {
        Token::from_bytes(&URL_SAFE_NO_PAD.decode(text.trim()).ok()?)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Token> {
        (bytes.len() <= TOKEN_MAX).then(|| Token(bytes.into()))
    }

    /// Its bytes, as they travel.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Token(..)")
    }
}

/// A sealed resume ticket. Whoever has it plays in the player's place until it expires: neither `Debug` nor anything else
/// prints it.
#[derive(Clone, PartialEq, Eq)]
pub struct ResumeTicket(Box<[u8]>);

impl ResumeTicket {
    /// The ticket as text, for a file of the player's. Not for a log.
    pub fn reveal(&self) -> String {
        URL_SAFE_NO_PAD.encode(&self.0)
    }

    /// A ticket from its text; `None` when it can't be one.
    pub fn parse(text: &str) -> Option<ResumeTicket> {
        ResumeTicket::from_bytes(&URL_SAFE_NO_PAD.decode(text.trim()).ok()?)
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<ResumeTicket> {
        (bytes.len() <= TICKET_MAX).then(|| ResumeTicket(bytes.into()))
    }

    /// Its bytes, as they travel.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for ResumeTicket {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ResumeTicket(..)")
    }
}

/// What a client shows to be admitted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Credential {
    /// A token, for the first time.
    Token(Token),
    /// A resume ticket of an earlier connection.
    ResumeTicket(ResumeTicket),
}

impl From<Token> for Credential {
    fn from(token: Token) -> Credential {
        Credential::Token(token)
    }
}

impl From<ResumeTicket> for Credential {
    fn from(ticket: ResumeTicket) -> Credential {
        Credential::ResumeTicket(ticket)
    }
}
