//! The visual offsets that hide corrections: what was shown before, and how far from there it is simulated (R23, R24).

use super::unsmoothed_state::{Motion, UnsmoothedState};
use crate::motion::{Correction, VisualOffset, vector};
use crate::session::client::update_report::Landed;
use crate::time::Instant;
use crate::world::EntityMap;
use crate::world::{Entity, PredictionSet, Row, Teleports};
use alloc::vec::Vec;
use core::time::Duration;

/// After this time it is looked whether anything is left of an offset.
const LOOKED_AT_AGAIN: Duration = Duration::from_millis(250);

/// The offset of an entity that is not predicted decays the same way in all directions.
pub(crate) const STANDING: [f64; 3] = [0.0; 3];

/// What was shown of an entity before a correction.
#[derive(Clone, Copy, Debug)]
struct Captured {
    entity: Entity,
    /// Without the offset, and with it.
    simulated: Motion,
    shown: Motion,
    /// How far it is simulated from where it was, if it was and is predicted.
    simulated_m: f64,
    /// How far it is simulated from where it was shown.
    moved_m: f64,
    teleport: bool,
}

/// An offset as it was at an instant.
#[derive(Clone, Copy, Debug)]
struct Dated {
    offset: VisualOffset,
    at: Instant,
    /// How often the entity had been put elsewhere: with the next time it is gone.
    teleports: Teleports,
}

impl Dated {
    /// What is left of it at `now`, when the entity has moved with `velocity` since; nothing where corrections are not hidden.
    fn at(&self, now: Instant, velocity: [f64; 3], law: Option<&Correction>) -> VisualOffset {
        law.map_or(VisualOffset::NONE, |law| self.offset.decayed(now.since(self.at), velocity, law))
    }
}

/// The visual offsets of all entities that have one.
#[derive(Clone, Debug)]
pub(crate) struct ErrorOffsets {
    offsets: EntityMap<Dated>,
    /// How they decay: as the configuration said in the last update.
    law: Option<Correction>,
    /// Ascending by entity, each once.
    captured: Vec<Captured>,
}

impl ErrorOffsets {
    pub(crate) fn new() -> ErrorOffsets {
        let few = crate::session::client::initial_capacity::FEW;
        ErrorOffsets { offsets: EntityMap::with_capacity(few), law: None, captured: Vec::with_capacity(few) }
    }

    /// The offset of an entity at `now`, when it moves with `velocity` and says that it has been put elsewhere so often.
    pub(crate) fn at(&self, entity: Entity, now: Instant, velocity: [f64; 3], teleports: Teleports) -> VisualOffset {
        let dated = self.offsets.get(entity).filter(|dated| !dated.teleports.differ(teleports));
        dated.map_or(VisualOffset::NONE, |dated| dated.at(now, velocity, self.law.as_ref()))
    }

    /// Remembers what is shown of every predicted entity.
    pub(crate) fn capture(&mut self, visual: &UnsmoothedState<'_>) {
        self.captured.clear();
        self.follow_law(visual.sources.now, visual.sources.config.correction.as_ref());
        let Some(newest) = visual.sources.predicted.newest else { return };
        for row in newest.iter().filter(|row| visual.sources.schema.component(row.component).has_pose()) {
            self.capture_one(row.entity, visual);
        }
        self.sort_captured();
    }

    /// They decay by this law from now on; until now they have by the one before.
    fn follow_law(&mut self, now: Instant, law: Option<&Correction>) {
        if self.law.as_ref() == law {
            return;
        }
        for dated in self.offsets.values_mut() {
            *dated = Dated { offset: dated.at(now, STANDING, self.law.as_ref()), at: now, ..*dated };
        }
        self.law = law.copied();
    }

    /// Drops the offsets of which nothing is left, or whose entities are not shown any more; `is_shown` is asked with where the entity
    /// mostly is among those that are.
    pub(crate) fn drop_ended(&mut self, now: Instant, is_shown: impl Fn(Entity, &mut usize) -> bool) {
        let ErrorOffsets { offsets, law, .. } = self;
        let mut next = 0;
        offsets.retain(|entity, dated| {
            if now.since(dated.at) >= LOOKED_AT_AGAIN {
                *dated = Dated { offset: dated.at(now, STANDING, law.as_ref()), at: now, ..*dated };
            }
            !dated.offset.is_none() && is_shown(entity, &mut next)
        });
    }

    /// Remembers what is shown of entities that are not predicted and will be: those of `players`. After
    /// [`capture`](ErrorOffsets::capture).
    pub(crate) fn capture_others(&mut self, visual: &UnsmoothedState<'_>, players: &PredictionSet) {
        let has_pose = |row: &Row<'_>| visual.sources.schema.component(row.component).has_pose();
        for row in visual.others().filter(has_pose).filter(|row| players.contains(row.owned())) {
            self.capture_one(row.entity, visual);
        }
        self.sort_captured();
    }

    /// An entity with a pose in two components was captured twice.
    fn sort_captured(&mut self) {
        self.captured.sort_unstable_by_key(|captured| captured.entity);
        self.captured.dedup_by_key(|captured| captured.entity);
    }

    fn capture_one(&mut self, entity: Entity, visual: &UnsmoothedState<'_>) {
        let Some(simulated) = visual.motion(entity) else { return };
        let velocity = if simulated.is_predicted { simulated.velocity } else { STANDING };
        let offset = self.at(entity, visual.sources.now, velocity, simulated.teleports);
        let shown = Motion { pose: offset.shown(simulated.pose), ..simulated };
        let (simulated_m, moved_m, teleport) = (0.0, 0.0, false);
        self.captured.push(Captured { entity, simulated, shown, simulated_m, moved_m, teleport });
        self.set(entity, offset, simulated.teleports, visual.sources.now);
    }

    /// Nothing was corrected since the capture.
    pub(crate) fn keep(&mut self) {
        self.captured.clear();
    }

    /// Gives every entity whose pose a correction has moved the offset that hides it.
    pub(crate) fn land(&mut self, visual: &UnsmoothedState<'_>) {
        let mut captured = core::mem::take(&mut self.captured);
        for before in &mut captured {
            let Some(after) = visual.motion(before.entity) else { continue };
            let way = |from: &Motion| vector::length(vector::sub(from.pose.position, after.pose.position));
            before.moved_m = way(&before.shown);
            if before.simulated.is_predicted && after.is_predicted {
                before.simulated_m = way(&before.simulated);
            }
            if before.simulated.pose != after.pose {
                let speed = vector::length(after.velocity);
                before.teleport = self.hide(before.entity, [&before.shown, &after], speed, visual.sources.now);
            }
        }
        self.captured = captured;
    }

    /// What the correction that has just landed did to an entity.
    pub(crate) fn landed(&self, entity: Entity) -> Landed {
        let found = self.captured.binary_search_by_key(&entity, |captured| captured.entity);
        let landed = |Captured { moved_m, teleport, .. }| Landed { moved_m, teleport };
        found.map_or(Landed::default(), |at| landed(self.captured[at]))
    }

    /// The entities that are simulated elsewhere since something has landed, ascending, and how far, in metres.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (Entity, f64)> {
        let moved = self.captured.iter().filter(|captured| captured.simulated_m > 0.0);
        moved.map(|captured| (captured.entity, captured.simulated_m))
    }

    /// An entity is shown as it is.
    pub(crate) fn clear(&mut self, entity: Entity) {
        if let Some(dated) = self.offsets.get_mut(entity) {
            dated.offset = VisualOffset::NONE;
        }
    }

    /// Leaves an entity where it was shown, which is at `speed` (m/s) elsewhere by now: over the way goes an offset, where corrections are
    /// hidden. Whether the way is too far for one, or none, as it was put elsewhere: then it is there at once.
    pub(crate) fn hide(&mut self, entity: Entity, [from, to]: [&Motion; 2], speed: f64, now: Instant) -> bool {
        let Some(law) = &self.law else { return false };
        let (offset, snapped) = match from.teleports.differ(to.teleports) {
            true => (VisualOffset::NONE, true),
            false => VisualOffset::capture(from.pose, to.pose, speed, law),
        };
        self.set(entity, offset, to.teleports, now);
        snapped
    }

    /// Replaces the offset of an entity by one that it has at `now`, when it has been put elsewhere so often.
    fn set(&mut self, entity: Entity, offset: VisualOffset, teleports: Teleports, now: Instant) {
        if offset.is_none() {
            self.clear(entity);
        } else {
            self.offsets.insert(entity, Dated { offset, at: now, teleports });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::Pose;
    use crate::time::Tick;
    use crate::world::PlayerId;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1_000)
    }

    fn entity(nth: u16) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
    }

    /// Two entities have an offset of half a metre.
    fn two(law: Correction) -> ErrorOffsets {
        let mut offsets = ErrorOffsets::new();
        offsets.follow_law(at(0), Some(&law));
        let way = [motion(0.5, None), motion(0.0, None)];
        [1, 2].into_iter().for_each(|nth| assert!(!offsets.hide(entity(nth), way.each_ref(), 0.0, at(0))));
        offsets
    }

    /// Predicted at `x` m, and at rest.
    fn motion(x: f64, teleports: Option<u32>) -> Motion {
        Motion {
            pose: Pose::at([x, 0.0, 0.0]),
            velocity: [0.0; 3],
            teleports: Teleports(teleports),
            is_predicted: true,
        }
    }

    fn left(offsets: &ErrorOffsets, nth: u16, ms: u64) -> f64 {
        offsets.at(entity(nth), at(ms), STANDING, Teleports::default()).distance()
    }

    #[test]
    fn no_offset_goes_over_the_way_of_a_teleport_nor_outlives_one() {
        let shown = |from: Option<u32>, to: Option<u32>, later: Option<u32>| {
            let mut offsets = two(Correction::default());
            let snapped = offsets.hide(entity(1), [&motion(1.0, from), &motion(0.0, to)], 0.0, at(0));
            (snapped, offsets.at(entity(1), at(0), STANDING, Teleports(later)).distance())
        };
        assert_eq!(shown(Some(3), Some(3), Some(3)), (false, 1.0), "it has gone there");
        assert_eq!(shown(Some(3), Some(4), Some(4)), (true, 0.0), "it was put there");
        assert_eq!(shown(Some(3), Some(3), Some(4)), (false, 0.0), "it was put elsewhere since");
        assert_eq!(shown(Some(3), None, Some(4)), (false, 1.0), "another sort does not say it");
    }

    #[test]
    fn an_offset_is_dropped_when_nothing_is_left_of_it_or_its_entity_is_not_shown() {
        let mut offsets = two(Correction::default());
        offsets.drop_ended(at(16), |of, _| of == entity(1));
        assert!(left(&offsets, 2, 16) == 0.0);
        let before = left(&offsets, 1, 400);
        offsets.drop_ended(at(300), |_, _| true);
        assert!(before > 0.0 && (left(&offsets, 1, 400) - before).abs() < 1e-12, "that it was looked at does not show");
        offsets.drop_ended(at(10_000), |_, _| true);
        assert!(offsets.offsets.is_empty());
    }

    #[test]
    fn an_entity_with_a_pose_in_two_components_has_moved_once() {
        let mut offsets = ErrorOffsets::new();
        let (simulated, shown) = (motion(0.0, None), motion(1.0, None));
        for nth in [1, 2, 3, 2, 3] {
            let (entity, simulated_m, moved_m) = (entity(nth), f64::from(nth), 1.0);
            offsets.captured.push(Captured { entity, simulated, shown, simulated_m, moved_m, teleport: false });
        }
        offsets.sort_captured();
        assert_eq!(offsets.moved().collect::<Vec<_>>(), [1, 2, 3].map(|nth| (entity(nth), f64::from(nth))));
        assert_eq!([2, 4].map(|nth| offsets.landed(entity(nth)).moved_m), [1.0, 0.0]);
    }

    #[test]
    fn another_law_of_decay_counts_from_when_it_holds_and_what_was_not_hidden_does_not_come_back() {
        let mut offsets = two(Correction::default());
        let before = left(&offsets, 1, 200);
        offsets.follow_law(at(200), Some(&Correction::article()));
        assert_eq!(left(&offsets, 1, 200), before);
        assert!(left(&offsets, 1, 300) < left(&two(Correction::default()), 1, 300), "it is the faster one");
        offsets.follow_law(at(300), None);
        offsets.follow_law(at(400), Some(&Correction::default()));
        assert_eq!(left(&offsets, 1, 400), 0.0);
    }
}
