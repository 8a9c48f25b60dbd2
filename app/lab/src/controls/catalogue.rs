//! The catalogue: every control, and the one of a key or a name.

use super::control::Control;
use super::key::{CONTROLS_LEN, Key};
use super::{network_controls, peek_controls, scene_controls, session_controls};

/// The control of a key.
pub fn control(key: Key) -> &'static Control {
    &CONTROLS[key as usize]
}

/// The key of the control of this name.
///
/// # Errors
/// A sentence that names those there are.
pub fn key_named(name: &str) -> Result<Key, String> {
    let known = CONTROLS.iter().find(|control| control.name == name);
    known.map(|control| control.key).ok_or_else(|| {
        let names: Vec<_> = CONTROLS.iter().map(|control| control.name).collect();
        format!("there is no control of this name; accepted are {}", names.join(", "))
    })
}

/// All controls, in the order of [`Key`].
pub const CONTROLS: [Control; CONTROLS_LEN] = [
    network_controls::LATENCY,
    network_controls::JITTER,
    network_controls::ORDERING,
    network_controls::LOSS,
    network_controls::BURST_LENGTH,
    network_controls::DUPLICATES,
    network_controls::REORDERING,
    network_controls::RATE,
    session_controls::TICK_RATE,
    session_controls::SEND_RATE,
    session_controls::SNAPSHOT_RATE,
    session_controls::REDUNDANCY,
    session_controls::REDUNDANCY_CAP,
    session_controls::GAP,
    session_controls::TOLERANCE,
    session_controls::CORRECTION,
    session_controls::DECAY,
    session_controls::SHOW,
    session_controls::OTHER,
    session_controls::BOTS,
    session_controls::SCENE,
    session_controls::OTHERS,
    scene_controls::MOTION,
    scene_controls::UPDATE_RATE,
    scene_controls::CURVES,
    scene_controls::PUN_EXTRAPOLATION,
    scene_controls::PUN_SPEED,
    scene_controls::PUN_TELEPORT,
    scene_controls::SYNC_RATE,
    scene_controls::BELIEVES,
    scene_controls::DETECT,
    scene_controls::CLOCK,
    scene_controls::AGE,
    scene_controls::OWNER_FRAMES,
    session_controls::CURVE,
    scene_controls::FIELD,
    scene_controls::SECOND,
    scene_controls::RELAY,
    scene_controls::PREDICTED,
    session_controls::PREDICTION,
    scene_controls::STEPPING_LANES,
    scene_controls::RECONCILIATION,
    network_controls::CELLULAR,
    scene_controls::BUDGET,
    scene_controls::ENTITIES,
    scene_controls::INTEREST,
    peek_controls::OTHER_PLAYS,
    peek_controls::OTHER_LATENCY,
    peek_controls::REWIND_MAX,
    peek_controls::GRACE,
];
