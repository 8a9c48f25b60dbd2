//! What a replay came to, and whether that is what was recorded.

use super::{Ending, RecordingError};
use alloc::vec::Vec;
use foretell::session::client::{ClientEvent, ClientStats, Corrected};
use foretell::session::server::{LateInput, PeerStats, ServerEvent};
use foretell::time::{Instant, Tick};
use foretell::world::PlayerId;

/// What a client's recording came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ClientReplay {
    /// What was corrected, with the instant of the update, in order.
    pub corrections: Vec<(Instant, Corrected)>,
    /// What happened, with the instant of the update, in order.
    pub events: Vec<(Instant, ClientEvent)>,
    /// The counters at the end.
    pub stats: ClientStats,
    /// The instants of the first update and of the last; `None` when there was none.
    pub span: Option<(Instant, Instant)>,
    /// Whether it came to the same.
    pub agreement: Agreement,
}

/// What a server's recording came to.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ServerReplay {
    /// What happened, with the instant of the update, in order.
    pub events: Vec<(Instant, ServerEvent)>,
    /// Inputs that came too late, with the instant of the update, in order.
    pub late: Vec<(Instant, LateInput)>,
    /// The counters of the players that are there at the end.
    pub players: Vec<(PlayerId, PeerStats)>,
    /// The instants of the first update and of the last; `None` when there was none.
    pub span: Option<(Instant, Instant)>,
    /// Whether it came to the same.
    pub agreement: Agreement,
}

/// Where a replay first came to something else than was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// The digests differ.
    Digest {
        /// The instant of the last update before, on the endpoint's clock.
        at: Instant,
        /// The next tick to run, as recorded.
        tick: Tick,
        /// The next tick to run, as it came.
        came_to: Tick,
    },
    /// An update asked for the inputs of other ticks than were recorded.
    Inputs {
        /// Its instant, on the endpoint's clock.
        at: Instant,
        /// The first tick of which there is an input on one side only.
        tick: Tick,
    },
}

/// Whether a replay came to what was recorded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreement {
    /// How many digests were the same.
    pub digests: u64,
    /// The first difference.
    pub divergence: Option<Divergence>,
    /// Why the recording could not be read to its end; what comes before was replayed.
    pub broken: Option<RecordingError>,
    /// How the recording ends.
    pub ending: Ending,
}

impl Agreement {
    /// Whether everything that is recorded was read, and came to the same.
    pub fn holds(&self) -> bool {
        self.divergence.is_none() && self.broken.is_none()
    }

    pub(super) fn note(&mut self, divergence: Divergence) {
        self.divergence = self.divergence.or(Some(divergence));
    }
}
