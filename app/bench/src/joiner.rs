//! How soon one who comes late plays, and has everything.

use crate::session::{Player, Session};
use foretell::{ClientState, Instant};

/// One who comes late.
pub struct Joiner {
    /// Which of the session's players.
    index: usize,
    /// When they said hello.
    began: Option<Instant>,
    /// After so many ms their own entity was predicted.
    pub plays_ms: Option<f64>,
    /// After so many ms they had every entity.
    pub complete_ms: Option<f64>,
}

impl Joiner {
    /// Comes now, in the next tick.
    pub fn come(session: &mut Session) -> Joiner {
        session.add_player();
        Joiner { index: session.players.len() - 1, began: None, plays_ms: None, complete_ms: None }
    }

    /// Looks whether they have what they lack, after a tick.
    pub fn look(&mut self, session: &Session) {
        let Session { now, players, .. } = session;
        let player = &players[self.index];
        let began = *self.began.get_or_insert(*now);
        let since_ms = || (now.micros() - began.micros()) as f64 / 1_000.0;
        if self.plays_ms.is_none() && is_predicted(player, *now) {
            self.plays_ms = Some(since_ms());
        }
        if self.complete_ms.is_none() && has_all(player, session) {
            self.complete_ms = Some(since_ms());
        }
    }
}

/// Whether a player plays, with an own entity that is ahead of the server.
fn is_predicted(Player { client, .. }: &Player, now: Instant) -> bool {
    let predicted = client.predicted(client.tick());
    let has_own = predicted.is_some_and(|rows| rows.iter().any(|row| Some(row.owner) == client.player()));
    has_own && client.state(now) == ClientState::Playing
}

fn has_all(Player { client, .. }: &Player, Session { server, .. }: &Session) -> bool {
    let count = client.newest_snapshot().map_or(0, |(_, rows)| rows.len());
    count == server.rows().len() && server.rows().iter().all(|row| client.told_in(row.key()).is_some())
}
