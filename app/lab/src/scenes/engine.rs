//! The engine of a scene that runs beside the session.

use crate::controls::Settings;
use crate::frame::lane::{Lanes, Question};

/// What runs in a scene of lanes, besides the session: a function of seed, settings, keys and events by frame.
pub trait SceneEngine: Send {
    /// What its charts ask.
    fn questions(&self) -> &'static [Question];
    /// Lets something happen in the next frame, by its name; whether it knows it.
    fn event(&mut self, name: &str) -> bool;
    /// The keys that it opens with by itself in the frame of this number, counted from its beginning, until the person presses one.
    fn opening(&self, _age: u32) -> Option<u8> {
        None
    }
    /// A second person holds these keys from the next frame on, and plays from now on.
    fn second(&mut self, _keys: u8) {}
    /// Runs the next frame of 1/60 s with these keys held.
    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes;
}
