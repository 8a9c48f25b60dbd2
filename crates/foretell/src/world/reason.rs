//! The words of a refusal, a removal and a good-bye.

use super::Text;

/// Why somebody is not let in, was removed or has left, in a few words of the game's, for people to read: at most 120 bytes of
/// UTF-8; what is longer is cut at a character.
pub type Reason = Text<120>;
