//! The message by which a server says why a client does not get into a session or not on with it.

use super::reason_codec::stream_reason;
use crate::wire::{Malformed, Stream};
use crate::world::Refusal;

/// Server to client: "you may not".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Refused {
    pub nonce: u64,
    pub why: Refusal,
    /// Which part of the rules differs, where they do; else 0.
    pub part: u8,
}

impl Refused {
    /// One that is not for a part of the rules.
    pub(crate) fn new(nonce: u64, why: Refusal) -> Refused {
        Refused { nonce, why, part: 0 }
    }

    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.bits(&mut self.nonce, 64)?;
        let mut why = self.why.number() as u64;
        stream.bits(&mut why, 4)?;
        let known = usize::try_from(why).ok().and_then(|why| Refusal::ALL.get(why));
        let sent = known.filter(|why| **why != Refusal::Unanswered);
        let sent = *sent.ok_or(Malformed::OutOfRange("reason of a refusal"))?;
        let mut part = u64::from(self.part);
        stream.bits(&mut part, 4)?;
        self.part = u8::try_from(part).unwrap_or_default();
        let mut words = self.why.words();
        if !matches!(sent, Refusal::ByGame(_) | Refusal::Removed(_)) {
            self.why = sent;
            return Ok(());
        }
        stream_reason(stream, &mut words)?;
        self.why = if let Refusal::ByGame(_) = sent { Refusal::ByGame(words) } else { Refusal::Removed(words) };
        Ok(())
    }
}
