//! What is sent: a state, and what of it a snapshot tells.

use crate::session::server::authoritative_state::AuthoritativeState;
use crate::session::server::authority::SharedMode;
use crate::time::{Tick, TickRate};
use crate::world::Rows;

/// What a snapshot tells of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// What has changed; where that does not fit, without the farthest entities of others.
    Changes,
    /// What has changed, all of it or nothing.
    AllChanges,
    /// All rows of an earlier state: nothing else is told against it, nor it against anything.
    Image,
    /// This digest of the rows in their place: the client is believed to have them.
    Digest(u32),
}

/// A state that is sent.
pub(crate) struct Snapshot<'a> {
    pub tick: Tick,
    /// Those of the state, or of an image.
    pub rows: &'a Rows,
    pub state: &'a AuthoritativeState,
    pub authority: &'a SharedMode,
    pub form: Form,
    /// How many entities of others a client is told of; `None` for all.
    pub nearest: Option<u16>,
    pub rate: TickRate,
}
