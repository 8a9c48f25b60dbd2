//! What players may see of the world: limits that are ready to use, and the rules of the game's own.

use super::{Entity, Group, Owned, PlayerId, Seat};
use alloc::vec::Vec;

/// Which entities of others a player is told about, by where they are. An entity is where the first of its components is that
/// has a position and is not for its owner alone, whoever may see that; with it all of its components are in reach or not. What is nowhere is always
/// in reach, and a player's own entities are told always.
///
/// An entity that says that it is [below](crate::Meaning::Parent) another is where that is, or the uppermost of those that it is below
/// and that are somewhere: it counts for nothing by itself, and is in reach with it, at its distance. A parent that is not there, or is
/// below its own child, is none.
///
/// Whatever is in reach, of others nobody is told more than the first 65,536 rows of the world: each component of each entity is one,
/// and those that come when there are that many already are shown to nobody but their owners.
///
/// Distances are from the player's *eyes*: its own entities, also those that only it is told about, those that its client has
/// authority over, and what the game [adds](Look::eye). A [spectator](Seat::Spectator) has none but those that it adds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Interest {
    /// All.
    #[default]
    Everything,
    /// This many of those that have ever moved, the nearest to any eye, and as many of those that have been where they are since
    /// they are there. What is in reach stays until something else is nearer by a fifth; of what is equally near, to single
    /// precision, some are in reach, whichever. Without an eye everything is equally near.
    ///
    /// It saves bytes, and keeps nothing secret: where few are around, those who are far are told. Each state costs a look at all
    /// entities.
    Nearest(u16),
    /// Those within a distance of any eye. Without an eye none. Each state costs a look at what is near.
    Within {
        /// What comes so near is in reach, in metres.
        radius_m: f32,
        /// And what is in reach stays until it is farther than this, in metres. Less than the radius is the radius. A tenth more
        /// than the radius is enough for what walks along the edge not to come and go.
        leaves_at_m: f32,
    },
}

/// What one player looks at when a state is sent: filled in by [`InterestRules::look`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Look {
    /// As what the viewer looks: rules may show [spectators](Seat::Spectator) more or less than players. Given, not to be changed.
    pub seat: Seat,
    /// What is in reach. From [`ServerConfig::interest`](crate::ServerConfig::interest), where the rules leave it as it is.
    pub interest: Interest,
    pub(crate) always: Vec<Entity>,
    pub(crate) eyes: Vec<[f64; 3]>,
}

impl Look {
    /// An entity is in reach wherever it is: a team mate, the flag.
    pub fn always(&mut self, entity: Entity) {
        self.always.push(entity);
    }

    /// The player looks from here too, in metres: the camera of a spectator, a watchtower.
    pub fn eye(&mut self, at: [f64; 3]) {
        self.eyes.push(at);
    }

    /// As of a player of whom nothing is said.
    pub(crate) fn begin(&mut self, interest: Interest, seat: Seat) {
        (self.interest, self.seat) = (interest, seat);
        self.always.clear();
        self.eyes.clear();
    }
}

/// Whether a player sees an entity that is in reach.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Visibility {
    /// Not at all: nothing of it is sent.
    Hidden,
    /// It does.
    Shown {
        /// Where there is more to tell than fits, it is told as often as if the last time were `weight` times as long ago: 2 for
        /// twice as often as another at its distance. From 0.01 to 100, else the nearest of these; 1 for what is not a number.
        weight: f32,
    },
}

impl Visibility {
    /// It does, with a weight of 1.
    pub const SHOWN: Visibility = Visibility::Shown { weight: 1.0 };

    /// The weight of what is shown, in its range.
    pub(crate) fn weight(self) -> Option<f32> {
        match self {
            Visibility::Hidden => None,
            Visibility::Shown { weight } if weight.is_nan() => Some(1.0),
            Visibility::Shown { weight } => Some(weight.clamp(0.01, 100.0)),
        }
    }
}

/// A game's own rules of what each player sees, read from the server's world whenever a state is sent.
///
/// They also say who is in which [`Group`]: to whom a component with `#[state(audience = group(...))]` is told.
///
/// What a rule keeps from a player never leaves the server: neither rows nor effects nor ends nor relayed inputs nor
/// [receipts of hits](crate::session::HitReceipt). Where an
/// entity comes out of sight, the client is told that it is
/// [hidden](crate::session::client::ClientEvent::Hidden), not that it is gone. Whose client has authority over it is told that
/// they have it still, until it rests or is given back. What a client can guess is about how many
/// entities there are: by the counters in the names of those that it sees, and by the numbers of their rows.
///
/// ```
/// use foretell::{Entity, Interest, InterestRules, Look, PlayerId, Seat, Visibility};
/// # use foretell::{Group, Owned};
/// # #[derive(Default)]
/// # struct Arena { flag: Option<Entity>, cloaked: Vec<Entity>, team: [u8; 16] }
/// # impl Arena { fn team(&self, player: PlayerId) -> Option<u8> { self.team.get(usize::from(player.get())).copied() } }
/// const TEAM: Group = Group(0);
///
/// impl InterestRules for Arena {
///     fn look(&self, _viewer: PlayerId, look: &mut Look) {
///         if look.seat == Seat::Spectator {
///             look.interest = Interest::Everything;
///         }
///         self.flag.into_iter().for_each(|flag| look.always(flag));
///     }
///
///     fn visibility(&self, _viewer: PlayerId, entity: Entity) -> Visibility {
///         if self.cloaked.contains(&entity) { Visibility::Hidden } else { Visibility::SHOWN }
///     }
///
///     fn is_in_group(&self, viewer: PlayerId, group: Group, of: Owned) -> bool {
///         group == TEAM && self.team(viewer) == self.team(of.owner)
///     }
/// }
/// ```
pub trait InterestRules {
    /// What is in reach of `viewer`, asked once for each state that is sent to them. By default
    /// [`ServerConfig::interest`](crate::ServerConfig::interest).
    fn look(&self, viewer: PlayerId, look: &mut Look) {
        let _ = (viewer, look);
    }

    /// Whether `viewer` sees an entity of another's or of the server's, asked for each that is in reach. By default they do.
    fn visibility(&self, viewer: PlayerId, entity: Entity) -> Visibility {
        let _ = (viewer, entity);
        Visibility::SHOWN
    }

    /// Whether `viewer`, who is not its owner, is in this group with an entity that it sees: told the components of it that are
    /// for the group. Asked for each of these and for each state that is sent, so that who changes sides, or whose entity does, is
    /// told from the next state on what they see now, and what they don't any more is gone. By default nobody is.
    fn is_in_group(&self, viewer: PlayerId, group: Group, of: Owned) -> bool {
        let _ = (viewer, group, of);
        false
    }
}
