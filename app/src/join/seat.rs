//! Where a player sits: at a server elsewhere, at their own, or alone. What the loop of `foretell join` drives is the same.

use super::connection_status::ConnectionStatus;
use crate::disconnect;
use anyhow::Result;
use foretell::{Frame, PlayerId, Views};
use foretell_arena::{Buttons, Game};
use foretell_net::{Hosting, Player};

/// The session of one player.
pub enum Seat<G: Game> {
    /// On a server elsewhere.
    Elsewhere(Box<Player<G>>),
    /// At the server in this program.
    Here(Box<Hosting<G>>),
}

impl<G: Game> Seat<G> {
    /// One frame, with these buttons held.
    pub fn update(&mut self, world: &mut G, buttons: Buttons) -> Frame<'_> {
        match self {
            Seat::Elsewhere(player) => player.update(world, &mut |_| buttons),
            Seat::Here(hosting) => hosting.update(world, &mut |_| buttons),
        }
    }

    /// What there is to be seen now.
    pub fn present(&self, views: &mut Views) {
        match self {
            Seat::Elsewhere(player) => player.present(views),
            Seat::Here(hosting) => hosting.present(views),
        }
    }

    /// Who plays.
    pub fn player(&self) -> Option<PlayerId> {
        match self {
            Seat::Elsewhere(player) => player.client().player(),
            Seat::Here(hosting) => hosting.player(),
        }
    }

    /// The figures of now, `seconds` after those before.
    pub fn tell(&self, status: &mut ConnectionStatus, seconds: f64) {
        match self {
            Seat::Elsewhere(player) => status.take(player, seconds),
            Seat::Here(hosting) => {
                status.address =
                    hosting.gateway().and_then(|gateway| hosting.url(&gateway.local_addr().ok()?.ip().to_string()));
                status.take_here(hosting, seconds);
            }
        }
    }

    /// Nothing while the player plays, or may again.
    ///
    /// # Errors
    /// Why not, in a sentence.
    pub fn check(&self) -> Result<()> {
        match self {
            Seat::Elsewhere(player) => disconnect::check(player),
            Seat::Here(_) => Ok(()),
        }
    }

    /// Says good-bye.
    pub async fn leave(self) {
        match self {
            Seat::Elsewhere(player) => player.leave().await,
            Seat::Here(hosting) => hosting.close().await,
        }
    }
}
