//! Who hears all that a client is given.

use super::Client;
use crate::session::client::recordable_calls::{ClientCall, ClientOrigin};
use crate::time::{Instant, Tick};
use crate::world::World;

/// Hears all that a client is given: a flight recorder. It is told before the client takes it in, and can ask the client for
/// whatever it wants to know; it changes nothing. A client is a function of how it was made, of the calls that it gets and of
/// their instants; so is what a run again comes to that gets the same.
pub trait ClientTap<W: World>: Send + Sync {
    /// From here on it hears everything. Nothing has come or happened yet.
    fn begin(&mut self, client: &Client<W>, origin: ClientOrigin);

    /// A datagram has come, at `now` on the caller's clock.
    fn receive(&mut self, client: &Client<W>, now: Instant, datagram: &[u8]);

    /// The game calls something about an entity or a player.
    fn call(&mut self, client: &Client<W>, call: &ClientCall);

    /// The game sends a message, of a kind by its number in the rules.
    fn send(&mut self, client: &Client<W>, kind: usize, bytes: &[u8]);

    /// An update begins.
    fn begin_update(&mut self, client: &Client<W>);

    /// The update has asked the game for the input of a tick.
    fn input(&mut self, tick: Tick, input: &W::Input);

    /// The update is over, which was at `now` on the caller's clock.
    fn end_update(&mut self, client: &Client<W>, now: Instant);
}
