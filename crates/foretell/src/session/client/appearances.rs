//! The lives of entities as the player sees them: spawned, confirmed or withdrawn, despawned (DESIGN: things that
//! appear).
//!
//! Of each entity the events are `Spawned Confirmed Despawned` or `Spawned Withdrawn`, each at most once, whatever is
//! simulated again.

use super::ClientEvent;
use super::snapshots::{Snapshot, Snapshots};
use crate::motion::Pose;
use crate::rollback::{Entity, Rows};
use crate::session::news::What;
use crate::time::{Tick, TickTime};

/// How many entities that prediction has removed wait for the authority's word; the newest.
const GONE_MAX: usize = 1024;

/// By what an entity is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Held {
    /// It is in the newest predicted state.
    Predicted,
    /// It was, and the authority has not said yet that it is gone.
    Gone,
    /// It was in the authority's state of this tick, the newest that the cursor has passed.
    Shown(Tick),
}

/// From the first to the last event of an entity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
    pub entity: Entity,
    /// Where it was shown last.
    pub pose: Pose,
    held: Held,
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
pub(crate) struct Appearances {
    /// Ascending by entity.
    lives: Vec<Life>,
    /// The newest snapshot that the cursor has passed.
    passed: Option<Tick>,
}

impl Appearances {
    pub(crate) fn new() -> Appearances {
        Appearances { lives: Vec::with_capacity(4 * super::FEW), passed: None }
    }

    /// Takes in the newest predicted state. `pose` is of an entity that begins.
    pub(crate) fn note_predicted(
        &mut self,
        rows: &Rows,
        pose: impl Fn(Entity, &[u32]) -> Pose,
        events: &mut Vec<ClientEvent>,
    ) {
        for life in self.lives.iter_mut().filter(|life| life.held == Held::Predicted) {
            life.held = Held::Gone;
        }
        for (entity, words) in rows.iter() {
            let at = self.entry(entity, || pose(entity, words), events);
            self.lives[at].held = Held::Predicted;
        }
    }

    /// Whether another's entity has been told of and has not ended: a cursor that jumps back does not show it again.
    pub(crate) fn is_shown(&self, entity: Entity) -> bool {
        self.lives.binary_search_by_key(&entity, |life| life.entity).is_ok()
    }

    /// The predicted entities that are there.
    pub(crate) fn predicted(&mut self) -> impl Iterator<Item = &mut Life> {
        self.lives.iter_mut().filter(|life| life.held == Held::Predicted)
    }

    /// Takes in which entities the authority has or has had by the state of a snapshot that prediction has reached.
    pub(crate) fn confirm(&mut self, snapshot: &Snapshot, events: &mut Vec<ClientEvent>) {
        for life in self.lives.iter_mut().filter(|life| !life.confirmed) {
            let ended = |what| matches!(what, What::Ended | What::Removed);
            let named = || snapshot.news.iter().any(|news| news.entity == life.entity && ended(news.what));
            life.confirmed = snapshot.rows.words(life.entity).is_some() || named();
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
            let decided = life.entity.tick() < tick && authority.words(life.entity).is_none();
            if life.held != Held::Gone || !decided && surplus == 0 {
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
    /// longer. `pose` is of a row; `last` is where an entity, whose last state is of the given tick, was shown before the cursor moved.
    pub(crate) fn pass(
        &mut self,
        (snapshots, cursor): (&Snapshots, TickTime),
        predicts: impl Fn(Entity) -> bool,
        (pose, last): (impl Fn(Entity, &[u32]) -> Pose, impl Fn(Entity, Tick) -> Option<Pose>),
        events: &mut Vec<ClientEvent>,
    ) {
        let passed = self.passed;
        let newly = |snapshot: &&Snapshot| Some(snapshot.tick) > passed && TickTime::start_of(snapshot.tick) <= cursor;
        for snapshot in snapshots.complete().filter(newly) {
            self.passed = Some(snapshot.tick);
            for (entity, words) in snapshot.rows.iter().filter(|(entity, _)| !predicts(*entity)) {
                let at = self.entry(entity, || pose(entity, words), events);
                let life = &mut self.lives[at];
                (life.held, life.pose) = (Held::Shown(snapshot.tick), pose(entity, words));
                if !life.confirmed {
                    life.confirmed = true;
                    events.push(ClientEvent::Confirmed(entity));
                }
            }
            self.lives.retain(|life| {
                let Held::Shown(tick) = life.held else { return true };
                if tick < snapshot.tick {
                    let pose = last(life.entity, tick).unwrap_or(life.pose);
                    events.push(ClientEvent::Despawned { entity: life.entity, pose });
                }
                tick >= snapshot.tick
            });
        }
    }

    /// The index of an entity's life; where there is none it begins.
    fn entry(&mut self, entity: Entity, pose: impl FnOnce() -> Pose, events: &mut Vec<ClientEvent>) -> usize {
        self.lives.binary_search_by_key(&entity, |life| life.entity).unwrap_or_else(|at| {
            events.push(ClientEvent::Spawned(entity));
            self.lives.insert(at, Life { entity, pose: pose(), held: Held::Gone, confirmed: false });
            at
        })
    }
}
