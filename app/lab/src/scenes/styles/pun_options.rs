//! What can be chosen of PUN's views.

/// What can be chosen of the classic and the rigidbody view.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PunOptions {
    pub extrapolation: PunExtrapolation,
    /// Of "fixed speed", in m/s, and of "lerp", per second.
    pub speed: f64,
    /// They jump where they are farther off, in metres; infinite for never.
    pub teleport_m: f64,
}

/// The classic view's way beyond the newest update, by its age and half as much again: the round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PunExtrapolation {
    Disabled,
    /// By the velocity that was sent.
    Synchronized,
    /// By the way between the last two updates.
    Estimated,
    /// Along that way, at the fixed speed.
    Fixed,
}

impl PunExtrapolation {
    /// All, by code.
    pub const ALL: [PunExtrapolation; 4] = [
        PunExtrapolation::Disabled,
        PunExtrapolation::Synchronized,
        PunExtrapolation::Estimated,
        PunExtrapolation::Fixed,
    ];
}
