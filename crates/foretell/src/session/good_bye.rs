//! The message by which a client says good-bye.

use super::reason_codec::stream_reason;
use crate::wire::{Malformed, Stream};
use crate::world::Reason;

/// Client to server: "good-bye".
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct GoodBye {
    pub ticket: u8,
    pub player: u16,
    pub reason: Reason,
}

impl GoodBye {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u8(&mut self.ticket)?;
        stream.u16(&mut self.player)?;
        stream_reason(stream, &mut self.reason)
    }
}
