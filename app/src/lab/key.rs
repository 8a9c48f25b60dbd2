//! Which controls and scenes there are, and which control counts where.

use super::control::{Control, Group};
use super::controls::CONTROLS;

/// Every control, in the order of [`CONTROLS`]. The order is part of a link's format.
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
    Stepping,
    Redundancy,
    RedundancyCap,
    Gap,
    Reconciliation,
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
}

/// How many controls there are.
pub const CONTROLS_LEN: usize = 42;

/// What the page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scene {
    /// Of the session: the person's own cube, and what becomes of its predictions.
    Prediction,
    /// Of the session: the others, as the person's client shows them.
    Remote,
    /// Beside it: one owner, shown by every curve in a lane of its own.
    Styles,
    /// Beside it: the first article's three architectures.
    Qiita,
    /// Beside it: an owner that moves by frame, by every strategy.
    Shared,
    /// Beside it: rigid bodies in an exact session, in 3D.
    Physics,
}

impl Scene {
    /// All, in the order of their codes.
    pub const ALL: [Scene; 6] =
        [Scene::Prediction, Scene::Remote, Scene::Styles, Scene::Qiita, Scene::Shared, Scene::Physics];
    /// Those of the session.
    const OF_SESSION: [Scene; 2] = [Scene::Prediction, Scene::Remote];
    /// Those of a session with a person in it, whichever engine runs it.
    const OF_SESSIONS: [Scene; 3] = [Scene::Prediction, Scene::Remote, Scene::Physics];

    /// Whether it shows the session itself, and not an engine beside it.
    pub fn is_of_session(self) -> bool {
        Scene::OF_SESSION.contains(&self)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Scene::Prediction => "prediction",
            Scene::Remote => "remote",
            Scene::Styles => "styles",
            Scene::Qiita => "qiita",
            Scene::Shared => "shared",
            Scene::Physics => "physics",
        }
    }

    /// What it is about, in a line, where the own cube is predicted or not.
    pub fn title(self, predicted: bool) -> &'static str {
        match self {
            Scene::Prediction if predicted => "You play ahead of the server",
            Scene::Prediction => "You wait for the server",
            Scene::Remote => "The others are shown in the past",
            Scene::Styles => "One path, drawn by different methods",
            Scene::Qiita => "Who decides where you are?",
            Scene::Shared => "Moved in frames, sent in ticks",
            Scene::Physics => "A whole pile is predicted",
        }
    }

    /// What to look at in it, in a sentence or two.
    pub fn look(self, predicted: bool) -> &'static str {
        match self {
            Scene::Prediction if predicted => {
                "Your cube answers at once; the server's comes after it. Where they come apart, yours slides back, and a \
                 mark says why."
            }
            Scene::Prediction => {
                "A key travels there, and what comes of it back, before your cube moves. The green outline is where it would \
                 be without a network."
            }
            Scene::Remote => {
                "A line joins where you see another player to where they are by now. Smooth and late, or in time and \
                 guessed: that is the choice."
            }
            Scene::Styles => {
                "Each lane gets the same few updates. Compare the path it draws with the true one, faint below it, and how \
                 late it is."
            }
            Scene::Qiita => {
                "One key in three architectures: look on whose screen your cube moves at once, and who waits for a round \
                 trip."
            }
            Scene::Shared => {
                "The player who holds the cube moves it in frames; ticks capture it for the others. Hold a direction, and \
                 see whose steps are uneven."
            }
            Scene::Physics => {
                "Your cube drives into the pile, and all that it pushes moves at once on your screen. The outlines are the \
                 server's bodies, which come after."
            }
        }
    }
}

impl Key {
    /// Its control.
    pub fn control(self) -> &'static Control {
        &CONTROLS[self as usize]
    }

    /// The key of this name.
    pub fn named(name: &str) -> Result<Key, String> {
        let known = CONTROLS.iter().find(|control| control.name == name);
        known.map(|control| control.key).ok_or_else(|| {
            let names: Vec<_> = CONTROLS.iter().map(|control| control.name).collect();
            format!("there is no control of this name; accepted are {}", names.join(", "))
        })
    }

    /// Whether a change of it needs a new session: both ends must agree on it from the start.
    pub fn restarts(self) -> bool {
        matches!(self, Key::TickRate | Key::Stepping)
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
            Key::OwnerFrames => &[Scene::Shared],
            Key::Field | Key::Second | Key::Relay | Key::Predicted => &[Scene::Physics],
            Key::TickRate => &[Scene::Prediction, Scene::Remote, Scene::Shared, Scene::Physics],
            Key::SnapshotRate | Key::Redundancy | Key::RedundancyCap | Key::Gap | Key::Correction | Key::Decay => {
                &Scene::OF_SESSIONS
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
                | Key::OwnerFrames
                | Key::Field
                | Key::Second
        )
    }

    /// Whether it is one of those that a preset sets.
    pub fn is_network(self) -> bool {
        self.control().group == Group::Network
    }
}
