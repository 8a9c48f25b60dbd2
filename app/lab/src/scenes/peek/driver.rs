//! What the lab does in the session of the duel: plays for the person and for the bots, and observes.

use super::bots::{self, Plan};
use super::cards::{CardTerms, Cards};
use super::duel::{Duel, Keys, Shot};
use super::screen::Screen;
use crate::frame::duel::ShotCard;
use core::time::Duration;
use foretell::{Client, Frame, Instant, Server, ServerFrame, Tick};
use foretell_sim::harness::{Driver, Moment};

/// Who comes into view for both within this time does so at one corner.
const ONE_PEEK: Duration = Duration::from_millis(1000);

/// Everything between the harness and the lanes of the scene.
#[derive(Debug)]
pub struct PeekDriver {
    /// The person's, and the other's; by machine.
    pub screens: [Screen; 2],
    /// How many shots of each have counted.
    pub hits: [u32; 2],
    pub cards: Cards,
    /// How much earlier the person saw the other than the other saw them, when they last came into view, in ms.
    pub seen_first_ms: Option<f64>,
    /// Since when each had the other in view when that was told.
    told_first: [Option<Instant>; 2],
    /// For how many frames the bots have gone by their plans.
    age: u32,
}

impl PeekDriver {
    /// The other does this.
    pub fn new(plan: Plan) -> PeekDriver {
        PeekDriver {
            screens: [plan.answer(), plan].map(Screen::new),
            hits: [0; 2],
            cards: Cards::default(),
            seen_first_ms: None,
            told_first: [None; 2],
            age: 0,
        }
    }

    /// The other does this from now on.
    pub fn turn_to(&mut self, plan: Plan) {
        if self.screens[1].plan != plan {
            [self.screens[0].plan, self.screens[1].plan] = [plan.answer(), plan];
            self.age = 0;
        }
    }

    /// The keys that the person's bot holds.
    pub fn opening(&self, age: u32) -> u8 {
        self.keys_of(0, age)
    }

    fn keys_of(&self, nth: usize, age: u32) -> u8 {
        let (screen, other) = (&self.screens[nth], &self.screens[1 - nth]);
        let side = if nth == 0 { 1.0 } else { -1.0 };
        screen.seen().map_or(0, |seen| bots::keys(screen.plan, other.plan, age, side, &seen))
    }

    /// The person holds these keys in the next frame, and the other what its bot does.
    pub fn begin_frame(&mut self, keys: u8) {
        self.screens[1].keys = self.keys_of(1, self.age);
        self.screens[0].keys = keys;
        self.age += 1;
    }

    /// The card of a shot that the server has judged.
    pub fn card(&mut self, shot: &Shot, terms: CardTerms) -> ShotCard {
        let by = usize::from(self.screens[0].player() != Some(shot.by));
        let card = self.cards.card(shot, by, terms);
        self.hits[by] += u32::from(card.outcome == "hit");
        card
    }

    /// Where both have each other in view now: who had the other first, unless it was told.
    fn note_first(&mut self) {
        let since = [0, 1].map(|nth: usize| self.screens[nth].open_since());
        let [Some(yours), Some(theirs)] = since else { return };
        let apart = yours.max(theirs).since(yours.min(theirs));
        if since != self.told_first && apart < ONE_PEEK {
            let ms = apart.as_secs_f64() * 1000.0;
            self.seen_first_ms = Some(if yours <= theirs { ms } else { -ms });
            self.told_first = since;
        }
    }
}

impl Driver<Duel> for PeekDriver {
    fn input(&mut self, machine: usize, _tick: Tick) -> Keys {
        let screen = &self.screens[machine];
        let holds = |key: u8| i8::from(screen.keys & key != 0);
        let aim = screen.aim();
        Keys {
            walk: [holds(bots::RIGHT) - holds(bots::LEFT), holds(bots::UP) - holds(bots::DOWN)],
            fires: screen.keys & bots::FIRE != 0 && aim.is_some(),
            aim: aim.map_or([0.0; 2], |[x, _, z]| [x, z].map(narrow)),
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Duel>, frame: &ServerFrame<'_>) {
        self.cards.note(frame.receipts);
    }

    fn after_client(&mut self, machine: usize, at: Moment, client: &Client<Duel>, frame: &Frame<'_>) {
        self.screens[machine].look(at, client, frame);
        self.note_first();
    }
}

#[expect(clippy::cast_possible_truncation, reason = "places in a room")]
fn narrow(metres: f64) -> f32 {
    metres as f32
}
