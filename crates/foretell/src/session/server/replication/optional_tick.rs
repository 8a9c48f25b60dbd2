//! The state in which a client was told a row, or has it, in four bytes.

use crate::time::Tick;

/// A state, or none, which is before all states; or that in which a row was told last, where it has rested since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(super) struct OptionalTick(pub u32);

impl OptionalTick {
    pub const NONE: OptionalTick = OptionalTick(0);
    /// The one in which a row was told last, whichever that is, where it has rested since.
    pub const RESTED: OptionalTick = OptionalTick(u32::MAX);

    /// The last two ticks of all are taken for the one before them.
    pub fn some(tick: Tick) -> OptionalTick {
        OptionalTick(tick.get().saturating_add(1).min(u32::MAX - 1))
    }

    pub fn get(self) -> Option<Tick> {
        self.0.checked_sub(1).map(Tick::new)
    }
}
