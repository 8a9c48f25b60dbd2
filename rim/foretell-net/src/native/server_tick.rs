//! What the game may look at and do after each update of a running server.

use crate::account::Account;
use crate::native::gateway::Gateway;
use foretell::session::server::ServerEvent;
use foretell::{Instant, PlayerId, Reason, Server, World};
use std::time::Duration;

/// A running server between two updates, as the hook of [`serve_with`](crate::serve_with) gets it: its world, its session, and
/// who plays.
///
/// What the hook changes in the world counts as changed before the next step: clients are told of it, and correct what they
/// had predicted otherwise.
pub struct ServerTick<'a, W: World> {
    /// The time of the update, on the clock of the session.
    pub now: Instant,
    /// How many ticks the update has stepped: mostly 1; 0 where it came early, several after a pause.
    pub steps: u32,
    /// The world, after its last step.
    pub world: &'a mut W,
    /// The session: what it has done in the update is in [`Server::frame`].
    pub server: &'a mut Server<W>,
    pub(super) gateway: &'a mut Gateway,
}

impl<W: World> ServerTick<'_, W> {
    /// What has happened in the update: who has joined, is lost, has left.
    pub fn events(&self) -> &[ServerEvent] {
        self.server.frame().events
    }

    /// Whose account a player plays for: from the update in which they have joined to the one in which they have left.
    pub fn account(&self, player: PlayerId) -> Option<&Account> {
        self.gateway.account(player)
    }

    /// As which player an account plays; `None` while it does not.
    pub fn player(&self, account: &Account) -> Option<PlayerId> {
        self.gateway.player(account)
    }

    /// Everybody who plays, ascending by player; lost players too.
    pub fn players(&self) -> impl Iterator<Item = (PlayerId, &Account)> {
        self.gateway.players()
    }

    /// Removes a player, who is told why; who comes back needs a new token. They have left in the next update.
    pub fn remove(&mut self, account: &Account, reason: impl Into<Reason>) {
        self.gateway.remove(self.server, account, reason);
    }

    /// As [`Running::drain`](crate::Running::drain).
    pub fn drain(&mut self, limit: Duration) {
        self.server.config_mut().draining = true;
        self.gateway.begin_to_drain(self.now, limit);
    }
}
