//! The lives of entities as the player sees them: spawned, confirmed or withdrawn, despawned (DESIGN: things that
//! appear).
//!
//! Of each entity the events are `Spawned Confirmed Despawned` or `Spawned Withdrawn`, each at most once, whatever is
//! simulated again; between `Confirmed` and `Despawned` any number of times `Hidden Shown`, or once more `Hidden`.

use crate::motion::Pose;
use crate::session::client::snapshots::{Snapshot, Snapshots};
use crate::session::client::update_report::ClientEvent;
use crate::session::step_events::StepEventKind;
use crate::time::{Tick, TickTime};
use crate::world::EntityMap;
use crate::world::{Entity, PlayerId, PredictionSet, Row, Rows};
use alloc::vec::Vec;

/// How many entities that prediction has removed wait for the authority's word; the newest.
const GONE_MAX: usize = 1024;
/// How many entities that are hidden may be shown again; the newest.
const HIDDEN_MAX: usize = 1024;

/// By what an entity is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// It is in the newest predicted state.
    Predicted,
    /// It was, and the authority has not said yet that it is gone.
    Gone,
    /// It is in the authority's newest state that the cursor has passed.
    Shown,
    /// It was, and is out of this client's view.
    Hidden,
}

/// From the first to the last event of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    /// Where it was shown last.
    pub pose: Pose,
    held: Held,
    /// Where it is [`Shown`](Held::Shown): which time that was that all were looked for when it was found last.
    found: u32,
    /// Where it is [`Hidden`](Held::Hidden): since which state.
    since: Tick,
    /// Whether the authority has had it in any state.
    confirmed: bool,
}

impl Life {
    /// It leaves the view in the state of `tick`. What it is told as.
    fn hide(&mut self, entity: Entity, tick: Tick) -> ClientEvent {
        (self.held, self.since) = (Held::Hidden, tick);
        ClientEvent::Hidden { entity, pose: self.pose }
    }

    /// What is told when it is over.
    fn ended(self, entity: Entity) -> ClientEvent {
        let pose = self.pose;
        if self.confirmed { ClientEvent::Despawned { entity, pose } } else { ClientEvent::Withdrawn { entity, pose } }
    }
}

/// The lives that have begun and not ended. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct Lifecycles {
    lives: EntityMap<Life>,
    /// The entities of the newest predicted state, and of the one before.
    predicted: EntityMap<()>,
    before: EntityMap<()>,
    /// Whether any life may wait for the authority's word: it has not been confirmed, or prediction has removed it.
    may_wait: bool,
    /// What has not been taken, in order.
    events: Vec<ClientEvent>,
    /// The state up to which all others were looked for last, how many times they were, and what was predicted then.
    passed: Tick,
    times: u32,
    passed_by: PredictionSet,
}

impl Lifecycles {
    pub(crate) fn new(player: PlayerId) -> Lifecycles {
        Lifecycles {
            lives: EntityMap::with_capacity(4 * crate::session::client::initial_capacity::FEW),
            predicted: EntityMap::with_capacity(crate::session::client::initial_capacity::FEW),
            before: EntityMap::with_capacity(crate::session::client::initial_capacity::FEW),
            may_wait: false,
            events: Vec::with_capacity(crate::session::client::initial_capacity::FEW),
            passed: Tick::ZERO,
            times: 0,
            passed_by: PredictionSet::own(player),
        }
    }

    /// Hands over what has happened since the last call.
    pub(crate) fn take_events(&mut self, into: &mut Vec<ClientEvent>) {
        into.append(&mut self.events);
    }

    /// Takes in the newest predicted state. `pose` is of an entity that begins.
    pub(crate) fn note_predicted(&mut self, rows: &Rows, pose: impl Fn(Row<'_>) -> Option<Pose>) {
        core::mem::swap(&mut self.predicted, &mut self.before);
        self.predicted.clear();
        let (mut next, mut next_life) = (0, 0);
        for row in rows.iter() {
            self.predicted.get_or_insert_near(row.entity, &mut next, || ());
            self.entry(row.entity, &mut next_life, || pose(row)).held = Held::Predicted;
        }
        if self.predicted == self.before {
            return;
        }
        self.may_wait = true;
        let Lifecycles { lives, predicted, before, .. } = self;
        for entity in before.entities().iter().filter(|entity| predicted.get(**entity).is_none()) {
            if let Some(life) = lives.get_mut(*entity).filter(|life| life.held == Held::Predicted) {
                life.held = Held::Gone;
            }
        }
    }

    /// Whether another's entity was reported as spawned, has not ended and is not hidden: a cursor that jumps back does not show it
    /// again. `next` is where it mostly is.
    pub(crate) fn is_shown(&self, entity: Entity, next: &mut usize) -> bool {
        self.lives.find_near(entity, next).is_some_and(|life| life.held != Held::Hidden)
    }

    /// Takes in where the predicted entities that are there are shown, where that is known.
    pub(crate) fn note_poses(&mut self, mut pose: impl FnMut(Entity) -> Option<Pose>) {
        let mut next = 0;
        for entity in self.predicted.entities() {
            if let Some(life) = self.lives.find_near_mut(*entity, &mut next).filter(|life| life.held == Held::Predicted)
            {
                life.pose = pose(*entity).unwrap_or(life.pose);
            }
        }
    }

    /// Takes in which entities the authority has or has had by the state of a snapshot that prediction has reached.
    pub(crate) fn confirm(&mut self, snapshot: &Snapshot, snapshots: &Snapshots) {
        if !self.may_wait {
            return;
        }
        for (entity, life) in self.lives.iter_mut().filter(|(_, life)| !life.confirmed) {
            let ended = |what| matches!(what, StepEventKind::Ended | StepEventKind::Removed);
            let named = || snapshot.lists.news.iter().any(|news| news.entity == entity && ended(news.what));
            life.confirmed = snapshot.rows.has(entity) || snapshots.has(entity) || named();
            if life.confirmed {
                self.events.push(ClientEvent::Confirmed(entity));
            }
        }
    }

    /// All that is there is the authority's: it is simulated where the authority is.
    pub(in crate::session) fn confirm_all(&mut self) {
        for (entity, life) in self.lives.iter_mut().filter(|(_, life)| !life.confirmed) {
            life.confirmed = true;
            self.events.push(ClientEvent::Confirmed(entity));
        }
    }

    /// Ends what prediction has removed and the authority's state of `tick` does not have either. Returns how many had
    /// never been confirmed.
    pub(crate) fn end(
        &mut self,
        tick: Tick,
        is_there: impl Fn(Entity) -> bool,
        is_hidden: impl Fn(Entity) -> bool,
    ) -> u64 {
        if !self.may_wait {
            return 0;
        }
        let gone = self.lives.values().iter().filter(|life| life.held == Held::Gone).count();
        let mut surplus = gone.saturating_sub(GONE_MAX);
        let mut withdrawn = 0;
        let Lifecycles { lives, events, .. } = self;
        lives.retain(|entity, life| {
            if life.held != Held::Gone {
                return true;
            }
            let decided = entity.tick() < tick && !is_there(entity);
            if !decided && surplus == 0 {
                return true;
            }
            surplus = surplus.saturating_sub(1);
            if life.confirmed && is_hidden(entity) {
                events.push(life.hide(entity, tick));
                return true;
            }
            withdrawn += u64::from(!life.confirmed);
            events.push(life.ended(entity));
            false
        });
        self.may_wait = lives.values().iter().any(|life| life.held == Held::Gone || !life.confirmed);
        self.forget_hidden();
        withdrawn
    }

    /// Of too many that are hidden those are over that have been for longest.
    fn forget_hidden(&mut self) {
        let Lifecycles { lives, events, .. } = self;
        let hidden = |life: &&Life| life.held == Held::Hidden;
        let mut surplus = lives.values().iter().filter(hidden).count().saturating_sub(HIDDEN_MAX);
        while surplus > 0 {
            let Some(first) = lives.values().iter().filter(hidden).map(|life| life.since).min() else { return };
            lives.retain(|entity, life| {
                let is_over = surplus > 0 && hidden(&&*life) && life.since == first;
                surplus -= usize::from(is_over);
                events.extend(is_over.then(|| life.ended(entity)));
                !is_over
            });
        }
    }

    /// The session is over, and with it everything that was there. Returns how many had never been confirmed.
    pub(crate) fn end_all(&mut self) -> u64 {
        let withdrawn = self.lives.values().iter().filter(|life| !life.confirmed).count() as u64;
        self.events.extend(self.lives.drain().map(|(entity, life)| life.ended(entity)));
        withdrawn
    }

    /// Takes in the states that the cursor has passed: which other entities are in them for the first time, and which no longer.
    /// `last` is where an entity was shown before the cursor moved that was there up to this state.
    pub(crate) fn pass(
        &mut self,
        snapshots: &Snapshots,
        cursor: TickTime,
        predicted: &PredictionSet,
        last: impl Fn(Entity, Tick) -> Option<Pose>,
    ) {
        let are_others_predicted = self.passed_by != *predicted;
        let turns =
            snapshots.tracks().turns(cursor).iter().copied().chain(are_others_predicted.then_some(cursor.tick()));
        let (mut passed, since) = (None, snapshots.tracks().since().min(cursor.tick()));
        for tick in turns {
            // What comes late is seen when it has come; what is not remembered any more never is.
            let tick = tick.max(self.passed).max(since);
            if passed < Some(tick) {
                self.pass_one(tick, snapshots, predicted, &last);
                passed = Some(tick);
            }
        }
        self.passed_by.clone_from(predicted);
    }

    /// Takes in one of them.
    fn pass_one(
        &mut self,
        tick: Tick,
        snapshots: &Snapshots,
        predicted: &PredictionSet,
        last: &impl Fn(Entity, Tick) -> Option<Pose>,
    ) {
        self.times = self.times.wrapping_add(1);
        let (times, tracks, look) = (self.times, snapshots.tracks(), snapshots.tracks().in_state(tick));
        let mut next = 0;
        for of in tracks.first_components(&look).filter(|of| !predicted.contains(*of)) {
            let life = self.entry(of.entity, &mut next, || None);
            (life.held, life.found) = (Held::Shown, times);
            if !core::mem::replace(&mut life.confirmed, true) {
                self.events.push(ClientEvent::Confirmed(of.entity));
            }
        }
        self.may_wait = true;
        let Lifecycles { lives, events, passed, .. } = self;
        lives.retain(|entity, life| {
            if life.held != Held::Shown || life.found == times {
                return true;
            }
            if tracks.owner(entity, &look).is_some() {
                // It is predicted from now on.
                life.held = Held::Gone;
                return true;
            }
            life.pose = last(entity, tick).unwrap_or(life.pose);
            let is_hidden = snapshots.is_hidden(entity, tick);
            events.push(if is_hidden { life.hide(entity, tick) } else { life.ended(entity) });
            is_hidden
        });
        *passed = tick;
        self.forget_hidden();
    }

    /// Where an entity is shown that may be shown as gone next.
    pub(crate) fn note_pose(&mut self, entity: Entity, pose: Pose) {
        self.lives.get_mut(entity).into_iter().for_each(|life| life.pose = pose);
    }

    /// The life of an entity, which is mostly at `next`; where there is none it begins.
    fn entry(&mut self, entity: Entity, next: &mut usize, pose: impl FnOnce() -> Option<Pose>) -> &mut Life {
        let Lifecycles { lives, events, may_wait, .. } = self;
        let mut is_new = false;
        let life = lives.get_or_insert_near(entity, next, || {
            is_new = true;
            let pose = pose().unwrap_or(Pose::IDENTITY);
            Life { pose, held: Held::Gone, found: 0, since: Tick::ZERO, confirmed: false }
        });
        if is_new {
            *may_wait = true;
            events.push(ClientEvent::Spawned(entity));
        } else if life.held == Held::Hidden {
            events.push(ClientEvent::Shown(entity));
        }
        life
    }
}
