//! The lives of entities as the player sees them: spawned, confirmed or withdrawn, despawned (DESIGN: things that
//! appear).
//!
//! Of each entity the events are `Spawned Confirmed Despawned` or `Spawned Withdrawn`, each at most once, whatever is
//! simulated again.

use super::ClientEvent;
use super::snapshots::{Snapshot, Snapshots};
use crate::motion::Pose;
use crate::session::step_events::StepEventKind;
use crate::time::{Tick, TickTime};
use crate::world::{Entity, PlayerId, Predicted, Row, Rows, Schema};
use alloc::vec::Vec;

/// How many entities that prediction has removed wait for the authority's word; the newest.
const GONE_MAX: usize = 1024;

/// By what an entity is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// It is in the newest predicted state.
    Predicted,
    /// It was, and the authority has not said yet that it is gone.
    Gone,
    /// It is in the authority's newest state that the cursor has passed.
    Shown,
}

/// From the first to the last event of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub entity: Entity,
    /// Where it was shown last.
    pub pose: Pose,
    held: Held,
    /// Where it is [`Shown`](Held::Shown): in which of the authority's states it was found last.
    found: Tick,
    /// Whether the authority has had it in any state.
    confirmed: bool,
}

impl Life {
    /// What is told when it is over.
    fn ended(self) -> ClientEvent {
        let Life { entity, pose, .. } = self;
        if self.confirmed { ClientEvent::Despawned { entity, pose } } else { ClientEvent::Withdrawn { entity, pose } }
    }
}

/// The lives that have begun and not ended. Lives as long as the session.
#[derive(Clone, Debug)]
pub(crate) struct Lifecycles {
    /// Ascending by entity.
    lives: Vec<Life>,
    /// The newest snapshot that the cursor has passed, and its rows.
    passed: Option<Tick>,
    passed_rows: Rows,
    /// What was predicted then.
    passed_by: Predicted,
}

impl Lifecycles {
    pub(crate) fn new(schema: &Schema, player: PlayerId) -> Lifecycles {
        let lives = Vec::with_capacity(4 * super::FEW);
        Lifecycles { lives, passed: None, passed_rows: Rows::new(schema), passed_by: Predicted::own(player) }
    }

    /// Takes in the newest predicted state. `pose` is of an entity that begins.
    pub(crate) fn note_predicted(
        &mut self,
        rows: &Rows,
        pose: impl Fn(Row<'_>) -> Option<Pose>,
        events: &mut Vec<ClientEvent>,
    ) {
        for life in self.lives.iter_mut().filter(|life| life.held == Held::Predicted) {
            life.held = Held::Gone;
        }
        let mut next = 0;
        for row in rows.iter() {
            let at = self.entry(row.entity, &mut next, || pose(row), events);
            self.lives[at].held = Held::Predicted;
        }
    }

    /// Whether another's entity has been told of and has not ended: a cursor that jumps back does not show it again. `next` is
    /// where it mostly is.
    pub(crate) fn is_shown(&self, entity: Entity, next: &mut usize) -> bool {
        self.find_from(next, entity).is_ok()
    }

    /// Where the life of an entity is, or would be: mostly at `next`, which becomes where the next one is.
    fn find_from(&self, next: &mut usize, entity: Entity) -> Result<usize, usize> {
        let is_next = self.lives.get(*next).is_some_and(|life| life.entity == entity);
        let found = if is_next { Ok(*next) } else { self.lives.binary_search_by_key(&entity, |life| life.entity) };
        let (Ok(at) | Err(at)) = found;
        *next = at + 1;
        found
    }

    /// The predicted entities that are there.
    pub(crate) fn predicted(&mut self) -> impl Iterator<Item = &mut Life> {
        self.lives.iter_mut().filter(|life| life.held == Held::Predicted)
    }

    /// Takes in which entities the authority has or has had by the state of a snapshot that prediction has reached.
    pub(crate) fn confirm(&mut self, snapshot: &Snapshot, events: &mut Vec<ClientEvent>) {
        for life in self.lives.iter_mut().filter(|life| !life.confirmed) {
            let ended = |what| matches!(what, StepEventKind::Ended | StepEventKind::Removed);
            let named = || snapshot.news.iter().any(|news| news.entity == life.entity && ended(news.what));
            life.confirmed = snapshot.rows.has(life.entity) || named();
            if life.confirmed {
                events.push(ClientEvent::Confirmed(life.entity));
            }
        }
    }

    /// Ends what prediction has removed and the authority's state of `tick` does not have either. Returns how many had
    /// never been confirmed.
    pub(crate) fn end(&mut self, tick: Tick, authority: &Rows, events: &mut Vec<ClientEvent>) -> u64 {
        let gone = self.lives.iter().filter(|life| life.held == Held::Gone).count();
        let mut surplus = gone.saturating_sub(GONE_MAX);
        let mut withdrawn = 0;
        self.lives.retain(|life| {
            if life.held != Held::Gone {
                return true;
            }
            let decided = life.entity.tick() < tick && !authority.has(life.entity);
            if !decided && surplus == 0 {
                return true;
            }
            surplus = surplus.saturating_sub(1);
            withdrawn += u64::from(!life.confirmed);
            events.push(life.ended());
            false
        });
        withdrawn
    }

    /// The session is over, and with it everything that was there. Returns how many had never been confirmed.
    pub(crate) fn end_all(&mut self, events: &mut Vec<ClientEvent>) -> u64 {
        let withdrawn = self.lives.iter().filter(|life| !life.confirmed).count() as u64;
        events.extend(self.lives.drain(..).map(Life::ended));
        withdrawn
    }

    /// Takes in the snapshots that the cursor has passed: which other entities they show for the first time, and which no
    /// longer. `last` is where an entity was shown before the cursor moved, whose last state is of the given tick and among these
    /// rows.
    pub(crate) fn pass(
        &mut self,
        (snapshots, cursor): (&Snapshots, TickTime),
        predicted: &Predicted,
        last: impl Fn(Entity, Tick, &Rows) -> Option<Pose>,
        events: &mut Vec<ClientEvent>,
    ) {
        let passed = self.passed;
        let newly = |snapshot: &&Snapshot| Some(snapshot.tick) > passed && TickTime::start_of(snapshot.tick) <= cursor;
        for snapshot in snapshots.complete().filter(newly) {
            let is_as_before = self.passed_by == *predicted && snapshot.rows.has_same_keys(&self.passed_rows);
            if !is_as_before {
                self.pass_one(snapshot, predicted, &last, events);
                self.passed_by.clone_from(predicted);
            }
            self.passed = Some(snapshot.tick);
            self.passed_rows.copy_rows(&snapshot.rows);
        }
    }

    /// Takes in one of them, which has other entities than the one before, or of which others are predicted.
    fn pass_one(
        &mut self,
        snapshot: &Snapshot,
        predicted: &Predicted,
        last: &impl Fn(Entity, Tick, &Rows) -> Option<Pose>,
        events: &mut Vec<ClientEvent>,
    ) {
        let mut next = 0;
        for row in snapshot.rows.iter().filter(|row| !predicted.contains(row.owned())) {
            let at = self.entry(row.entity, &mut next, || None, events);
            let life = &mut self.lives[at];
            (life.held, life.found) = (Held::Shown, snapshot.tick);
            if !life.confirmed {
                life.confirmed = true;
                events.push(ClientEvent::Confirmed(row.entity));
            }
        }
        let (before, passed) = (&self.passed_rows, self.passed.unwrap_or_default());
        self.lives.retain_mut(|life| {
            let is_gone = life.held == Held::Shown && life.found < snapshot.tick;
            if is_gone && snapshot.rows.has(life.entity) {
                // It is predicted from now on.
                life.held = Held::Gone;
                return true;
            }
            if is_gone {
                let pose = last(life.entity, passed, before).unwrap_or(life.pose);
                events.push(ClientEvent::Despawned { entity: life.entity, pose });
            }
            !is_gone
        });
    }

    /// The index of an entity's life, which is mostly `next`; where there is none it begins.
    fn entry(
        &mut self,
        entity: Entity,
        next: &mut usize,
        pose: impl FnOnce() -> Option<Pose>,
        events: &mut Vec<ClientEvent>,
    ) -> usize {
        self.find_from(next, entity).unwrap_or_else(|at| {
            events.push(ClientEvent::Spawned(entity));
            self.lives.insert(
                at,
                Life {
                    entity,
                    pose: pose().unwrap_or(Pose::IDENTITY),
                    held: Held::Gone,
                    found: Tick::ZERO,
                    confirmed: false,
                },
            );
            at
        })
    }
}
