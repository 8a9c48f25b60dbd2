//! What is sent: a state, and what of it a snapshot tells.

use super::interest_settings::InterestSettings;
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::AuthorityArbiter;
use crate::time::{Instant, Tick, TickRate};
use crate::world::Rows;

/// What a snapshot tells of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// What has changed of what the client predicts, and row by row what it shows.
    Changes,
    /// What has changed of everything, in an exact session: all of it or nothing.
    AllChanges,
    /// All rows of an earlier state: nothing else is told against it, nor it against anything.
    Image,
    /// This digest of the rows in their place: the client is believed to have them.
    Digest(u32),
}

/// A state that is sent.
pub(crate) struct SnapshotSource<'a> {
    pub tick: Tick,
    /// Those of the state, or of an image.
    pub rows: &'a Rows,
    pub state: &'a AuthoritativeState,
    pub authority: &'a AuthorityArbiter,
    pub form: Form,
    /// By what it is decided what each client sees.
    pub interest_settings: InterestSettings<'a>,
    pub rate: TickRate,
    /// When it is sent.
    pub now: Instant,
}
