//! The inputs of a recorded update, handed out again.

use alloc::vec::{IntoIter, Vec};
use foretell::time::Tick;
use foretell::wire::{BitReader, Malformed, Stream, read_change};
use foretell::world::{Input, ROW_WORDS_MAX};

/// What is left of them, in order.
pub(super) struct GivenInputs<I> {
    /// Of which tick the next one is.
    next: Tick,
    left: IntoIter<I>,
    /// The first tick that was asked for and has none here.
    lacking: Option<Tick>,
}

impl<I: Input> GivenInputs<I> {
    /// Reads all that is left in a reader; the words of an input have these widths.
    pub(super) fn read(widths: &[u8], mut reader: BitReader<'_>) -> Result<GivenInputs<I>, Malformed> {
        let (mut count, mut first) = (0, 0);
        reader.small(&mut count)?;
        if count > 0 {
            reader.u32(&mut first)?;
        }
        let (mut words, mut inputs) = ([0; ROW_WORDS_MAX], Vec::new());
        for nth in 0..count {
            read_change(&mut reader, widths, nth == 0, &mut words[..widths.len()])?;
            inputs.push(I::read(&words[..widths.len()]));
        }
        reader.finish()?;
        Ok(GivenInputs { next: Tick::new(first), left: inputs.into_iter(), lacking: None })
    }

    /// The input of a tick; the neutral one where another was recorded next.
    pub(super) fn take(&mut self, tick: Tick) -> I {
        let given = self.left.next().filter(|_| tick == self.next);
        self.lacking = self.lacking.or(Some(tick).filter(|_| given.is_none()));
        self.next = tick.next();
        given.unwrap_or_default()
    }

    /// For which tick there was an input on one side only.
    pub(super) fn differs(mut self) -> Option<Tick> {
        self.lacking.or_else(|| self.left.next().map(|_| self.next))
    }
}
