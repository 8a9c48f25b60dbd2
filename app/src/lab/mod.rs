//! The lab: a session on bad links that a person plays in the browser, and sees into.
//!
//! Pure parts, functions of what they are given: [`control`], [`controls`], [`presets`] and [`settings`] (what can be
//! chosen), [`recording`] (what was done, as a link), [`run`] (the engine: settings and keys in, frames out) with its
//! helpers, [`lanes`] and [`beside`] (methods side by side, in engines of their own: [`styles`],
//! [`qiita`], [`shared`], [`physics`]), [`dialogue`]
//! (messages in, messages out). The only part that does I/O is [`server`].

mod beside;
mod bytes;
mod control;
mod controls;
mod dialogue;
mod driver;
mod event;
mod explain;
mod faults;
mod frame;
mod gauges;
mod key;
mod lane_controls;
mod lanes;
mod local;
mod marks;
mod newcomers;
mod numbers;
mod others;
mod packets;
mod page;
mod physics;
mod presets;
mod qiita;
mod rates;
mod recording;
mod replaced;
mod run;
mod script;
mod server;
mod settings;
mod shared;
mod styles;
mod watcher;

pub use server::{LabOptions, serve};

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_lanes;
#[cfg(test)]
mod tests_opening;
#[cfg(test)]
mod tests_remote;
