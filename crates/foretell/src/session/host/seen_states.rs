//! What the player who sits at the server sees: the last two states as far as they may, and the lives of what is in them.

use crate::session::Rules;
use crate::session::client::{ClientEvent, Lifecycles, Show, StatePair, Views};
use crate::session::server::{HostView, LocalStep};
use crate::time::{Tick, TickTime};
use crate::world::{Effect, PlayerId, Rows};
use alloc::vec::Vec;

/// Lives as long as the player has their place.
pub(super) struct SeenStates {
    last: LastStates,
    sight: HostView,
    lives: Lifecycles,
    /// The effects of the update under way.
    effects: Vec<Effect>,
}

/// The last two states, as far as they are seen.
struct LastStates {
    rules: Rules,
    show: Show,
    /// The newest state, and its rows.
    present: Tick,
    newest: Rows,
    /// The rows of the state before it.
    before: Rows,
}

impl LastStates {
    fn pair(&self) -> StatePair<'_> {
        let LastStates { rules, show, present, newest, before } = self;
        let (schema, rate) = (&rules.schema, rules.tick_rate);
        StatePair { schema, rate, present: *present, newest, before: Some(before), show: *show }
    }
}

impl SeenStates {
    pub fn new(rules: &Rules, player: PlayerId, show: Show) -> SeenStates {
        let rows = || Rows::new(&rules.schema);
        SeenStates {
            last: LastStates { rules: rules.clone(), show, present: Tick::ZERO, newest: rows(), before: rows() },
            sight: HostView::new(),
            lives: Lifecycles::new(player),
            effects: Vec::new(),
        }
    }

    /// A step is over.
    pub fn note_step(&mut self, step: &LocalStep<'_>) {
        let SeenStates { last, sight, lives, effects } = self;
        core::mem::swap(&mut last.before, &mut last.newest);
        step.look(sight, &mut last.newest);
        last.present = step.tick();
        let pair = last.pair();
        lives.note_predicted(&last.newest, |row| pair.pose(row.entity, TickTime::start_of(last.present)));
        lives.confirm_all();
        lives.end(step.tick(), |_| false, |entity| step.has(entity));
        let is_seen = |effect: &&Effect| last.newest.has(effect.entity) || last.before.has(effect.entity);
        effects.extend(step.effects().iter().filter(is_seen));
    }

    /// The update is over, with the clock at this point: hands over what has happened, and remembers where everything is shown, for
    /// when it ends.
    pub fn finish(&mut self, at: TickTime, events: &mut Vec<ClientEvent>) {
        let SeenStates { last, lives, effects, .. } = self;
        lives.take_events(events);
        let pair = last.pair();
        lives.note_poses(|entity| pair.pose(entity, at));
        for effect in effects.drain(..) {
            let late = last.present.since(effect.tick.next());
            events.extend([ClientEvent::Effect { effect, late }, ClientEvent::EffectConfirmed(effect)]);
        }
    }

    /// Fills `views` with what is shown when the clock stands `at`.
    pub fn show(&self, at: TickTime, views: &mut Views) {
        self.last.pair().show(at, views);
    }

    /// At which point among the states the player looks when the clock stands `at`.
    pub fn shown_at(&self, at: TickTime) -> TickTime {
        let newest = TickTime::start_of(self.last.present);
        if self.last.show == Show::Between { at.min(newest) } else { newest }
    }
}
