//! The visual offsets that hide corrections: what was shown before, and how far from there it is simulated (R23, R24).

use super::visual_state::{Motion, VisualState};
use crate::motion::{Pose, VisualOffset, vector};
use crate::session::client::config::ClientConfig;
use crate::session::client::update_report::Landed;
use crate::time::Instant;
use crate::world::EntityMap;
use crate::world::{Entity, PredictionSet, Row, World};
use alloc::vec::Vec;

/// The offset of an entity that is not predicted decays the same way in all directions.
pub(crate) const STANDING: [f64; 3] = [0.0; 3];

/// What was shown of an entity before a correction.
#[derive(Clone, Copy, Debug)]
struct Captured {
    entity: Entity,
    /// Without the offset.
    simulated: Pose,
    shown: Pose,
    is_predicted: bool,
    /// How far it is simulated from where it was, if it was and is predicted.
    simulated_m: f64,
    /// How far it is simulated from where it was shown.
    moved_m: f64,
    teleport: bool,
}

/// The visual offsets of all entities that have one: predicted ones, and those that were predicted until a moment ago.
#[derive(Clone, Debug)]
pub(crate) struct ErrorOffsets {
    offsets: EntityMap<VisualOffset>,
    /// The instant that they stand for.
    at: Instant,
    captured: Vec<Captured>,
}

impl ErrorOffsets {
    pub(crate) fn new(now: Instant) -> ErrorOffsets {
        let few = crate::session::client::initial_capacity::FEW;
        ErrorOffsets { offsets: EntityMap::with_capacity(few), at: now, captured: Vec::with_capacity(few) }
    }

    /// The offset of an entity at `now`, when it moves with `velocity`.
    pub(crate) fn at(&self, entity: Entity, now: Instant, velocity: [f64; 3], config: &ClientConfig) -> VisualOffset {
        let (Some(offset), Some(config)) = (self.offsets.get(entity), &config.correction) else {
            return VisualOffset::NONE;
        };
        offset.decayed(now.since(self.at), velocity, config)
    }

    /// Lets the offsets decay to `now`, and remembers what is shown of every predicted entity.
    pub(crate) fn capture<W: World>(&mut self, visual: &VisualState<'_, W>) {
        self.captured.clear();
        let Some(newest) = visual.newest() else { return };
        let (sources, at) = (visual.sources, self.at);
        let decayed = |offset: &VisualOffset| {
            let config = sources.config.correction.as_ref();
            config.map_or(VisualOffset::NONE, |config| offset.decayed(sources.now.since(at), STANDING, config))
        };
        for (_, offset) in self.offsets.iter_mut().filter(|(entity, _)| !newest.has(*entity)) {
            *offset = decayed(offset);
        }
        for row in newest.iter().filter(|row| sources.schema.component(row.component).has_pose()) {
            self.capture_one(row.entity, visual);
        }
        let is_shown = |entity: Entity| visual.remote.as_ref().is_some_and(|remote| remote.has(entity));
        let is_there = |entity: Entity| newest.has(entity) || is_shown(entity);
        self.offsets.retain(|entity, offset| !offset.is_none() && is_there(entity));
        self.at = sources.now;
    }

    /// Remembers what is shown of entities that are not predicted and will be: those of `players`. After
    /// [`capture`](ErrorOffsets::capture).
    pub(crate) fn capture_others<W: World>(&mut self, visual: &VisualState<'_, W>, players: &PredictionSet) {
        let has_pose = |row: &Row<'_>| visual.sources.schema.component(row.component).has_pose();
        for row in visual.others().filter(has_pose).filter(|row| players.contains(row.owned())) {
            self.capture_one(row.entity, visual);
        }
    }

    fn capture_one<W: World>(&mut self, entity: Entity, visual: &VisualState<'_, W>) {
        let Some(Motion { pose: simulated, velocity, is_predicted }) = visual.motion(entity) else { return };
        let velocity = if is_predicted { velocity } else { STANDING };
        let offset = self.at(entity, visual.sources.now, velocity, visual.sources.config);
        let shown = offset.shown(simulated);
        let (simulated_m, moved_m, teleport) = (0.0, 0.0, false);
        self.captured.push(Captured { entity, simulated, shown, is_predicted, simulated_m, moved_m, teleport });
        self.set(entity, offset);
    }

    /// Nothing was corrected since the capture.
    pub(crate) fn keep(&mut self) {
        self.captured.clear();
    }

    /// Gives every entity whose pose a correction has moved the offset that hides it.
    pub(crate) fn land<W: World>(&mut self, visual: &VisualState<'_, W>) {
        self.at = visual.sources.now;
        let mut captured = core::mem::take(&mut self.captured);
        for before in &mut captured {
            let Some(Motion { pose: simulated, velocity, is_predicted }) = visual.motion(before.entity) else {
                continue;
            };
            before.moved_m = vector::length(vector::sub(before.shown.position, simulated.position));
            if before.is_predicted && is_predicted {
                before.simulated_m = vector::length(vector::sub(before.simulated.position, simulated.position));
            }
            if simulated == before.simulated {
                continue;
            }
            let Some(config) = &visual.sources.config.correction else { continue };
            let (offset, snapped) = VisualOffset::capture(before.shown, simulated, vector::length(velocity), config);
            before.teleport = snapped;
            self.set(before.entity, offset);
        }
        self.captured = captured;
    }

    /// What the correction that has just landed did to an entity.
    pub(crate) fn landed(&self, entity: Entity) -> Landed {
        let found = self.captured.iter().find(|captured| captured.entity == entity);
        found.map_or(Landed::default(), |found| Landed { moved_m: found.moved_m, teleport: found.teleport })
    }

    /// The entities that are simulated elsewhere since something has landed, and how far, in metres.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (Entity, f64)> {
        let moved = self.captured.iter().filter(|captured| captured.simulated_m > 0.0);
        moved.map(|captured| (captured.entity, captured.simulated_m))
    }

    /// Replaces the offset of an entity, as of the instant that all stand for.
    pub(crate) fn set(&mut self, entity: Entity, offset: VisualOffset) {
        if !offset.is_none() || self.offsets.contains(entity) {
            self.offsets.insert(entity, offset);
        }
    }
}
