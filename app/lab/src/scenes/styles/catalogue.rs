//! The methods that stand in lanes, and which of them at once.

use super::buffered::{Between, Buffered};
use super::method::Method;
use super::pun::{ClassicView, Interpolate, RigidbodyView, TransformView};
use foretell::motion::trajectory::{Follower, Following, Thresholds};
use foretell_articles::avatar::{Avatar, Style};

/// In how many seconds the article's scripts come to an update, whatever the rate of updates is.
const ARTICLE_PERIOD_S: f64 = 0.1;

/// A method and what is said of it.
pub struct Entry {
    /// A word or two.
    pub name: &'static str,
    /// One sentence, with its number in SOURCES.md.
    pub explain: &'static str,
    /// One that starts here.
    pub make: fn([f64; 3]) -> Box<dyn Method>,
}

/// With the thresholds that the article speaks of (P3): its extrapolation has no end, and without them each update at 2 Hz
/// starts four times as far off as the one before.
fn avatar(style: Style, start: [f64; 3]) -> Box<dyn Method> {
    let mut avatar = Avatar::new(style, ARTICLE_PERIOD_S, start);
    avatar.thresholds = Some(Thresholds::default());
    Box::new(avatar)
}

fn classic(interpolate: Interpolate, start: [f64; 3]) -> Box<dyn Method> {
    Box::new(ClassicView::new(interpolate, start))
}

const HOLD: Entry = Entry {
    name: "hold",
    explain: "The received position at once, and nothing between (P1).",
    make: |start| avatar(Style::Minimal, start),
};
const LINEAR: Entry = Entry {
    name: "linear",
    explain: "A straight line from where it is shown to what came, in 0.1 s (P2).",
    make: |start| avatar(Style::Lerp, start),
};
const EXTRAPOLATED: Entry = Entry {
    name: "linear, beyond",
    explain: "The same line, and on beyond its end until the next update comes (P4).",
    make: |start| avatar(Style::Extrapolate, start),
};
const MOVE_TOWARDS: Entry = Entry {
    name: "move towards",
    explain: "Steps of constant length towards where the owner should be by now (P2, P5).",
    make: |start| avatar(Style::MoveTowards, start),
};
const RECKONED: Entry = Entry {
    name: "dead reckoning",
    explain: "A line to where the owner should be by now, by the sent velocity and the update's age, and beyond (P5).",
    make: |start| avatar(Style::DeadReckoning, start),
};
const COMBINED: Entry = Entry {
    name: "combined",
    explain: "The article's combined script as it is: a cubic to the reckoned place, then a line; its velocity jumps (P10, E22).",
    make: |start| avatar(Style::Combined, start),
};
const CORRECTED: Entry = Entry {
    name: "corrected",
    explain: "The combined script corrected: no jump in velocity, the measured period, extrapolation that fades out (P10, D18).",
    make: |start| Box::new(Follower::new(Following::Combined, start)),
};
const BLENDING: Entry = Entry {
    name: "blending",
    explain: "Velocity blending: from the path it is on to the path that was told, not late at all (P6, D18).",
    make: |start| Box::new(Follower::new(Following::VelocityBlending, start)),
};
const BUFFERED_HOLD: Entry = Entry {
    name: "held, later",
    explain: "Shown so late that the next update has come, each update until the next one (P1).",
    make: |start| Box::new(Buffered::new(Between::Hold, start)),
};
const BUFFERED_LINE: Entry = Entry {
    name: "line, later",
    explain: "Straight lines between updates, shown so late that the next one has come (P2).",
    make: |start| Box::new(Buffered::new(Between::Line, start)),
};
const HERMITE: Entry = Entry {
    name: "Hermite, later",
    explain: "A cubic with the sent velocities between updates, shown so late that the next one has come (P8).",
    make: |start| Box::new(Buffered::new(Between::Hermite, start)),
};
const CATMULL_ROM: Entry = Entry {
    name: "Catmull-Rom",
    explain: "A cubic through four updates, as if they were equally far apart; an interval later still (P9).",
    make: |start| Box::new(Buffered::new(Between::CatmullRom, start)),
};
const SPACED: Entry = Entry {
    name: "C.-R., spaced",
    explain: "The same by the distances that the updates have, which losses make unequal (P9, D19).",
    make: |start| Box::new(Buffered::new(Between::Spaced, start)),
};
const TRANSFORM: Entry = Entry {
    name: "PUN transform",
    explain: "PUN's transform view: towards the update at the distance per interval; its extrapolation is off by a unit (P2).",
    make: |start| Box::new(TransformView::new(start)),
};
const RIGIDBODY: Entry = Entry {
    name: "PUN rigidbody",
    explain: "PUN's rigidbody view with velocity: it flies on by itself and is pulled to where the update was (P5).",
    make: |start| Box::new(RigidbodyView::new(start)),
};
const CLASSIC_DISABLED: Entry = Entry {
    name: "classic: none",
    explain: "PUN's classic view that does not interpolate; it extrapolates only as far as an update comes (P1).",
    make: |start| classic(Interpolate::Disabled, start),
};
const CLASSIC_FIXED: Entry = Entry {
    name: "classic: fixed",
    explain: "PUN's classic view at a fixed speed: never faster, however far it is behind (P2).",
    make: |start| classic(Interpolate::FixedSpeed, start),
};
const CLASSIC_ESTIMATED: Entry = Entry {
    name: "classic: estimated",
    explain: "PUN's classic view at the speed between the last two updates: its default (P2).",
    make: |start| classic(Interpolate::EstimatedSpeed, start),
};
const CLASSIC_SYNCHRONIZED: Entry = Entry {
    name: "classic: synchronized",
    explain: "PUN's classic view at the speed that the owner sends; at rest it is there at once (P2).",
    make: |start| classic(Interpolate::Synchronized, start),
};
const CLASSIC_LERP: Entry = Entry {
    name: "classic: lerp",
    explain: "PUN's classic view that goes a share of the rest in each frame: smooth, late, and another at each frame rate (P2).",
    make: |start| classic(Interpolate::Lerp, start),
};

/// The choices of the control, by code. The page shows the first four of each at first: those that differ most.
pub const CHOICES: [&[Entry]; 4] = [
    &[HOLD, LINEAR, HERMITE, CORRECTED, RECKONED, COMBINED, BLENDING, TRANSFORM],
    &[HOLD, LINEAR, RECKONED, CORRECTED, EXTRAPOLATED, MOVE_TOWARDS, COMBINED, BLENDING],
    &[BUFFERED_HOLD, BUFFERED_LINE, HERMITE, CATMULL_ROM, SPACED, CORRECTED],
    &[
        TRANSFORM,
        RIGIDBODY,
        CLASSIC_ESTIMATED,
        CORRECTED,
        CLASSIC_DISABLED,
        CLASSIC_FIXED,
        CLASSIC_SYNCHRONIZED,
        CLASSIC_LERP,
    ],
];
