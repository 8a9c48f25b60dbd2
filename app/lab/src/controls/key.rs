//! Which controls there are, and where each counts.

use super::scene::Scene;

/// Every control, in the order of the catalogue. The order is part of a link's format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Key {
    Latency,
    Jitter,
    Ordering,
    Loss,
    BurstLength,
    Duplicates,
    Reordering,
    Rate,
    TickRate,
    SendRate,
    SnapshotRate,
    Redundancy,
    RedundancyCap,
    Gap,
    Tolerance,
    Correction,
    Decay,
    Show,
    Other,
    Bots,
    Scene,
    Others,
    Motion,
    UpdateRate,
    Curves,
    PunExtrapolation,
    PunSpeed,
    PunTeleport,
    SyncRate,
    Believes,
    Detect,
    Clock,
    Age,
    OwnerFrames,
    Curve,
    Field,
    Second,
    Relay,
    Predicted,
    Prediction,
    SteppingLanes,
    Reconciliation,
    Cellular,
    Budget,
    Entities,
    Interest,
    OtherPlays,
    OtherLatency,
    RewindMax,
    Grace,
}

/// How many controls there are.
pub const CONTROLS_LEN: usize = 50;

impl Key {
    /// Whether a change of it needs a new session: both ends must agree on it from the start.
    pub fn restarts(self) -> bool {
        self == Key::TickRate
    }

    /// The scenes that it counts in.
    pub fn scenes(self) -> &'static [Scene] {
        match self {
            Key::Other => &[Scene::Prediction],
            Key::Bots | Key::Others | Key::Curve => &[Scene::Remote],
            Key::Motion | Key::UpdateRate | Key::Curves | Key::PunExtrapolation | Key::PunSpeed | Key::PunTeleport => {
                &[Scene::Styles]
            }
            Key::SyncRate | Key::Believes | Key::Detect | Key::Clock | Key::Age => &[Scene::Qiita],
            Key::SteppingLanes | Key::Reconciliation => &[Scene::Stepping],
            Key::OwnerFrames => &[Scene::Shared],
            Key::Field | Key::Second | Key::Relay | Key::Predicted => &[Scene::Physics],
            Key::Budget | Key::Entities | Key::Interest => &[Scene::Crowd],
            Key::OtherPlays | Key::OtherLatency | Key::RewindMax | Key::Grace => &[Scene::Peek],
            Key::TickRate => &[Scene::Prediction, Scene::Remote, Scene::Shared, Scene::Physics, Scene::Peek],
            Key::SnapshotRate | Key::Redundancy | Key::RedundancyCap | Key::Gap | Key::Correction | Key::Decay => {
                &Scene::WITH_PERSON
            }
            Key::Scene => &Scene::ALL,
            key if key.is_network() => &Scene::ALL,
            _ => &Scene::OF_SESSION,
        }
    }

    /// Whether the page shows it without being asked: what a newcomer tries first, and what a scene is about.
    pub fn is_in_sight(self) -> bool {
        matches!(
            self,
            Key::Latency
                | Key::Loss
                | Key::Prediction
                | Key::Correction
                | Key::Curve
                | Key::Others
                | Key::Motion
                | Key::Curves
                | Key::Believes
                | Key::SteppingLanes
                | Key::OwnerFrames
                | Key::Field
                | Key::Second
                | Key::Budget
                | Key::Entities
                | Key::Interest
                | Key::OtherPlays
                | Key::OtherLatency
                | Key::RewindMax
                | Key::Grace
        )
    }

    /// Whether it is one of those that a preset sets.
    pub fn is_network(self) -> bool {
        matches!(
            self,
            Key::Latency
                | Key::Jitter
                | Key::Ordering
                | Key::Loss
                | Key::BurstLength
                | Key::Duplicates
                | Key::Reordering
                | Key::Rate
                | Key::Cellular
        )
    }
}
