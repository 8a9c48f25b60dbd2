//! How others are shown between the states that are known of them, and beyond.

use crate::motion::trajectory::Following;
use crate::world::ComponentSchema;
use core::time::Duration;

/// How an entity that is not predicted is shown between and beyond the states that have come.
///
/// The first five show it at the playout cursor: with the delay that the network asks for, so that there is mostly a state
/// on each side, and all that is seen together happened together. Where no state has come in time they go on for a while
/// (those that do) and slow down to a stop within 250 ms ([`Extrapolation::default`](crate::motion::trajectory::Extrapolation)).
/// The last three show it ahead of the cursor, where it would be on the server by now (the combined one a period later):
/// without the delay, and wrong by whatever it does that nobody could know. A server that judges what a player aimed at by
/// [`PlayerInput::presented`](crate::PlayerInput::presented) judges by the cursor.
///
/// None shows anybody on the way of a teleport: where the schema counts [`Teleports`](crate::Meaning::Teleports) and two states differ in
/// them, the entity stays as in the first until it is as in the second. Where it does not count them, so it is where two states are
/// farther apart than a correction that snaps ([`snap_m`](crate::motion::Correction)) and than the entity can have gone, by its velocities and
/// its ways before and after.
///
/// Where a velocity is needed, it is the column of the schema that means it, and where there is none, that of finite
/// differences (D19). Fields that are no motion are held, or, where the schema says
/// [`Blended`](crate::Meaning::Blended), shown at the cursor on the line between two states by all but `Hold`; those who are
/// shown ahead of the cursor have them as they were told last. Which one is best for which motion, and what each costs, is measured in `docs/CURVES.md`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Curve {
    /// The last state that the cursor has passed: choppy wherever snapshots are rarer than frames (P1).
    Hold,
    /// Straight from state to state; beyond the newest it stands (P2). The article's other way, steps towards the newest
    /// state at a speed, is the same where the speed is such that it comes there in time; with any other it is late, or
    /// waits.
    Linear,
    /// Straight from state to state, and beyond the newest along its velocity (P4).
    Extrapolated,
    /// A cubic from state to state that has the velocities of both (P8), and beyond the newest along its velocity. The
    /// default.
    #[default]
    Hermite,
    /// A cubic whose velocities are those of the neighbouring states (P9, D19), in which a short way beside a long one counts once at most, so
    /// that it does not swing out beside a push; where the state after has not come yet, its place is taken by the velocity, or by nothing.
    CatmullRom,
    /// Where it is by now by its newest state and velocity (P5): each new state moves it, which is hidden as a correction
    /// is.
    DeadReckoning,
    /// On a cubic to where it is by now, without a jump in its velocity ([`Following::Combined`], P10, D18).
    Combined,
    /// Where it is by now, over from where it was shown without a jump in its velocity ([`Following::VelocityBlending`]).
    VelocityBlending,
}

impl Curve {
    /// All of them.
    pub const ALL: [Curve; 8] = [
        Curve::Hold,
        Curve::Linear,
        Curve::Extrapolated,
        Curve::Hermite,
        Curve::CatmullRom,
        Curve::DeadReckoning,
        Curve::Combined,
        Curve::VelocityBlending,
    ];

    /// Whether it shows an entity ahead of the playout cursor.
    pub const fn leads(self) -> bool {
        matches!(self, Curve::DeadReckoning | Curve::Combined | Curve::VelocityBlending)
    }

    /// Whether where it shows a row with these columns between two states hangs on those beside them.
    pub(crate) fn goes_by_neighbours(self, component: &ComponentSchema) -> bool {
        self == Curve::CatmullRom || self == Curve::Hermite && !component.has_all_velocities()
    }

    /// How a follower goes by it; `None` where there is none.
    pub(crate) const fn following(self) -> Option<Following> {
        match self {
            Curve::Combined => Some(Following::Combined),
            Curve::VelocityBlending => Some(Following::VelocityBlending),
            _ => None,
        }
    }
}

/// Where a shown pose comes from.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum PoseSource {
    /// Simulated here, and the truth: its player sits at the server, or plays alone.
    Authority,
    /// Simulated here, ahead of the authority.
    Predicted,
    /// Between two of the authority's states.
    Interpolated,
    /// Moved here by the game: this client has authority over it, or has had it until just now.
    Held,
    /// Beyond the newest of the authority's states, by so long; also of who is shown ahead of the playout cursor.
    Extrapolated(Duration),
}
