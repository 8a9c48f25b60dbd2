//! Which moment a player is judged by in a step: what its client says that it was looking at, and what of that counts.

use super::{Owned, PlayerId};
use crate::time::{Tick, TickTime};
use serde::{Deserialize, Serialize};

/// Why a player is judged by another moment than its client has said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum RewindBound {
    /// It is judged by that moment.
    Claim,
    /// Nothing was said, as no others were shown or the input is none of the client's; or a moment that is yet to come. It is judged
    /// by the present.
    Present,
    /// No client on its link can have shown what is so long ago: it is judged by the oldest that it can.
    Measured,
    /// It is longer ago than the server goes back for anybody ([`ServerConfig::rewind_max`](crate::ServerConfig::rewind_max)).
    Cap,
    /// The server does not remember so long.
    History,
}

/// Which moment a player is judged by in a step.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct RewindMoment {
    /// Whom.
    pub player: PlayerId,
    /// What the client was showing of others when the input was made, as it says, in ticks of the server.
    pub claimed: Option<TickTime>,
    /// The moment that counts.
    pub used: TickTime,
    /// Why that one.
    pub bound: RewindBound,
}

impl RewindMoment {
    /// As it is claimed, and the present where nothing is: where nobody has to be distrusted.
    pub(crate) fn trusted(player: PlayerId, claimed: Option<TickTime>, tick: Tick) -> RewindMoment {
        let bound = if claimed.is_some() { RewindBound::Claim } else { RewindBound::Present };
        RewindMoment { player, claimed, used: claimed.unwrap_or(TickTime::start_of(tick)), bound }
    }

    /// How far back it is from the step of `tick`, in ticks; not below 0.
    #[must_use]
    pub fn ticks_before(&self, tick: Tick) -> f64 {
        (TickTime::start_of(tick) - self.used).as_ticks().max(0.0)
    }
}

/// That a player has hit something, as a step says it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Hit {
    /// Which moment the player was judged by.
    pub rewind: RewindMoment,
    pub victim: Owned,
    /// How far from where it was judged the player may have been shown it, in metres.
    pub error_m: f64,
}
