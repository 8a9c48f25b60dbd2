//! What one player's screen shows of the duel, and what is measured of it.

use super::bots::{Plan, Seen};
use super::duel::Duel;
use super::ground;
use crate::frame::cube::ShownCube;
use foretell::motion::vector::{length, sub};
use foretell::session::client::{ClientEvent, PoseSource};
use foretell::{Client, Frame, Instant, PlayerId, Views};
use foretell_sim::harness::Moment;

/// A player's screen.
#[derive(Debug)]
pub struct Screen {
    /// What they do who play on it, as long as they are a bot.
    pub plan: Plan,
    /// The keys of the frame.
    pub keys: u8,
    player: Option<PlayerId>,
    views: Views,
    own: Option<[f64; 3]>,
    other: Option<ShownCube>,
    /// For how many frames a part of the other has been seen on it.
    open_for: Option<u32>,
    /// Since when the other stands in the open, from middle to middle.
    open_since: Option<Instant>,
    /// How many hits the client has told and taken back.
    pub taken_back: usize,
}

impl Screen {
    pub fn new(plan: Plan) -> Screen {
        Screen {
            plan,
            keys: 0,
            player: None,
            views: Views::new(),
            own: None,
            other: None,
            open_for: None,
            open_since: None,
            taken_back: 0,
        }
    }

    /// Whose it is, once they have joined.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// Since when the other stands in the open on it.
    pub fn open_since(&self) -> Option<Instant> {
        self.open_since
    }

    /// Where it has both of them.
    pub fn seen(&self) -> Option<Seen> {
        let (own, other) = (self.own?, self.other.as_ref()?.position);
        Some(Seen { own, other, open_for: self.open_for })
    }

    /// At which place a shot is aimed: at what is seen of the other, else to where they are behind the wall.
    pub fn aim(&self) -> Option<[f64; 3]> {
        let Seen { own, other, .. } = self.seen()?;
        Some(ground::seen_part(own, other).unwrap_or(other))
    }

    /// Looks at the client after its update.
    pub fn look(&mut self, at: Moment, client: &Client<Duel>, frame: &Frame<'_>) {
        // Hits are the only effects that there are.
        let is_back = |event: &&ClientEvent| matches!(event, ClientEvent::EffectCancelled(_));
        self.taken_back += frame.events.iter().filter(is_back).count();
        self.player = client.player();
        client.present(at.local, &mut self.views);
        (self.own, self.other) = (None, None);
        for view in &self.views {
            let position = view.pose().position;
            if Some(view.owner) == self.player {
                self.own = Some(position);
            } else {
                self.other = Some(ShownCube::at("other", view.owner.get(), position, source(view.source)));
            }
        }
        let is_seen = self.seen().is_some_and(|seen| ground::seen_part(seen.own, seen.other).is_some());
        self.open_for = is_seen.then(|| self.open_for.map_or(0, |frames| frames + 1));
        let is_open = self.seen().is_some_and(|seen| ground::is_open(seen.own, seen.other));
        self.open_since = is_open.then(|| self.open_since.unwrap_or(at.now));
    }

    /// What is drawn of it, with where the server has both by now.
    pub fn cubes(&self, server: &Duel) -> Vec<ShownCube> {
        let own = self.player.zip(self.own);
        let own = own.map(|(player, at)| ShownCube::at("client", player.get(), at, "predicted"));
        let truth = server.places().map(|(player, at)| ShownCube::at("server", player.get(), at, "confirmed"));
        own.into_iter().chain(self.other.clone()).chain(truth).collect()
    }

    /// How far the other is by now from where it is shown, in metres.
    pub fn other_off_m(&self, server: &Duel) -> Option<f64> {
        let shown = self.other.as_ref()?;
        let (_, now) = server.places().find(|(player, _)| Some(*player) != self.player)?;
        Some(length(sub(shown.position, now)))
    }
}

fn source(source: PoseSource) -> &'static str {
    match source {
        PoseSource::Authority => "authority",
        PoseSource::Predicted => "predicted",
        PoseSource::Interpolated => "interpolated",
        PoseSource::Held => "held",
        PoseSource::Extrapolated(_) => "extrapolated",
    }
}
