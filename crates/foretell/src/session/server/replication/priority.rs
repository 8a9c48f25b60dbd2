//! In which order rows are told to a client where there is more to tell than fits.

use super::acked_rows::AckedRows;
use super::own_bounding_boxes::{OwnArea, cover};
use super::ranking::{Cutoffs, Ranking, Waiting};
use super::ranking_key::{RankingKey, importance, single};
use super::shown_context::ShownContext;
use super::slot_positions::SlotPositions;
use super::slot_set::{BLOCK, SlotSet};
use crate::world::{Meaning, PlayerId, Row};
use alloc::vec::Vec;

/// From this age on it counts more and more how old something is, and less how near.
const OLD_TICKS: f32 = 40.0;

/// What belongs to a player and was never told matters as if it were sixteen times as near, but no more than what is near: or who joins sees
/// nobody before the last block of a level that is nearer.
const NEW_PLAYER: f32 = 256.0;

/// What is reckoned for the rows of a block at once.
type Block<T> = [T; BLOCK as usize];

/// Where the own entities of a client are, and the order that follows. Its memory is used again.
#[derive(Default)]
pub(super) struct Prioritizer {
    positions: SlotPositions,
    own: Vec<[f64; 3]>,
    /// The same, in a few boxes.
    areas: Vec<OwnArea>,
    waiting: Waiting,
}

/// The rows that wait.
#[derive(Clone, Copy)]
pub(super) struct Claims<'a> {
    pub waiting: &'a SlotSet,
    pub rows: &'a AckedRows,
    /// Those of them that were the client's own until lately, and come first until they are there.
    pub given: &'a SlotSet,
}

impl Claims<'_> {
    /// For how many ticks those of a block have not been told.
    #[inline]
    fn ages(&self, first: u32, of: &ShownContext<'_>) -> Block<f32> {
        let mut ages = self.rows.ages(first, of.tick);
        let given = self.given.block(first) & self.rows.unknown().block(first);
        of_block(given).for_each(|nth| ages[nth as usize] = f32::INFINITY);
        ages
    }

    /// Those of a block of which the client was never told, or what it was told is lost; but of what was its own.
    #[inline]
    fn untold(&self, first: u32) -> u16 {
        let unknown = self.waiting.block(first) & self.rows.unknown().block(first) & !self.given.block(first);
        let new = of_block(unknown).filter(|nth| self.rows.told(first + nth).is_none());
        new.fold(0, |new, nth| new | 1 << nth)
    }

    fn is_of_player(&self, slot: u32) -> bool {
        self.rows.name(slot).is_some_and(|name| name.owner != PlayerId::SERVER)
    }
}

impl Prioritizer {
    /// Writes the rows that wait, the most urgent at the end: at least the `most` most urgent, which are in order, where there are as
    /// many. They are by for how many ticks each has not been told, and by how near it is: what is four times as far is told a sixteenth
    /// as often; but half as often, where all are old as there is so much to tell. What has twice the weight, twice as often. What
    /// belongs to players and was never told comes before most of what is nearer. What is known comes in turn with what is new: or what
    /// moves would stand until all of a level is told that is nearer.
    pub(super) fn rank(&mut self, of: &ShownContext<'_>, claims: Claims<'_>, most: usize, into: &mut Ranking) {
        let (most, cutoffs) = (most.max(1), into.cutoffs());
        self.look(of);
        self.collect(of, &claims, cutoffs);
        if !self.waiting.suffice(most, cutoffs) {
            self.collect(of, &claims, Cutoffs::default());
        }
        into.order(&mut self.waiting, most);
    }

    /// Takes in the rows that wait and are at least so urgent.
    fn collect(&mut self, of: &ShownContext<'_>, claims: &Claims<'_>, from: Cutoffs) {
        self.waiting.clear();
        for (first, waiting) in claims.waiting.blocks() {
            let ages = claims.ages(first, of);
            let mut matter = match of.limits {
                Some(limits) => *limits.interest.importance(first),
                None => self.importance(first),
            };
            let new = claims.untold(first);
            let of_players = of_block(new).filter(|nth| claims.is_of_player(first + nth)).map(|nth| nth as usize);
            of_players.for_each(|nth| matter[nth] = of_new(matter[nth]));
            let priority = priority(&ages, &matter);
            // What is not a number is as urgent as anything.
            let urgent = |from: f32| !which(&priority, |priority| priority < from);
            let rank = |nth: u32| RankingKey::new(single(priority[nth as usize].into()), !(first + nth));
            self.waiting.known.extend(of_block(waiting & !new & urgent(from.known)).map(rank));
            if new != 0 {
                self.waiting.new.extend(of_block(new & urgent(from.new)).map(rank));
            }
        }
    }

    /// Finds out where the client's own entities are, unless it is known how near everything is. One that is nowhere sees nothing.
    fn look(&mut self, of: &ShownContext<'_>) {
        if of.limits.is_some() {
            return;
        }
        let Prioritizer { positions, own, areas, .. } = self;
        positions.update(of.state, of.tick);
        own.clear();
        let versions = of.state.versions();
        // A component without a position is where another of its entity is, or the root of that.
        let is_eye = |row: Row<'_>| {
            let has_position = of.state.schema().component(row.component).nth(Meaning::Position, 0).is_some();
            has_position || of.state.hierarchy().root(row.entity).is_some()
        };
        let eyes = versions.of_owner(of.player).filter(|place| is_eye(of.state.rows().nth(*place)));
        own.extend(eyes.map(|place| positions.at(versions.versions()[place].slot)));
        own.retain(|own| own.iter().all(|axis| axis.is_finite()));
        cover(own, areas);
    }

    /// How much the rows of a block matter. What is nowhere matters as what is near, and so does what is among many own entities.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "to compare by")]
    fn importance(&self, first: u32) -> Block<f32> {
        let axes = self.positions.block(first);
        let mut nearest = [if self.areas.is_empty() { 0.0 } else { f64::INFINITY }; BLOCK as usize];
        for area in &self.areas {
            for (nth, nearest) in nearest.iter_mut().enumerate() {
                let [x, y, z] = [0, 1, 2].map(|axis| axes[axis][nth] - area.nearest(axis, axes[axis][nth]));
                let squared = x * x + y * y + z * z;
                // What is not a number stays so.
                *nearest = if *nearest < squared { *nearest } else { squared };
            }
        }
        let mut matter = [0.0; BLOCK as usize];
        matter.iter_mut().zip(nearest).for_each(|(matter, squared)| *matter = importance(squared as f32));
        matter
    }
}

/// How much what belongs to a player matters that was never told, by how much it will.
fn of_new(matters: f32) -> f32 {
    matters.max((matters * NEW_PLAYER).min(importance(0.0)))
}

/// How urgent the rows of a block are, by for how many ticks each has not been told, and how much it matters.
#[inline]
fn priority(ages: &Block<f32>, importance: &Block<f32>) -> Block<f32> {
    let mut priority = [0.0; BLOCK as usize];
    for (priority, (age, importance)) in priority.iter_mut().zip(ages.iter().zip(importance)) {
        let old = age * (1.0 / OLD_TICKS);
        *priority = age * (1.0 + old * old * old * old) * importance;
    }
    priority
}

/// Of which values of a block something is so; the lowest bit is the first.
#[inline]
fn which(block: &Block<f32>, is_so: impl Fn(f32) -> bool) -> u16 {
    let mut are_so = [0; BLOCK as usize];
    are_so.iter_mut().zip(block).for_each(|(so, value)| *so = u8::from(is_so(*value)));
    // Takes the lowest bits of eight bytes to the highest byte.
    let (halves, _) = are_so.as_chunks();
    let bits = |half: [u8; 8]| (u64::from_le_bytes(half).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16;
    bits(halves[0]) | bits(halves[1]) << 8
}

/// The places of the bits that are set, ascending.
fn of_block(slots: u16) -> impl Iterator<Item = u32> {
    let rest = |slots: u16| (slots != 0).then_some(slots);
    core::iter::successors(rest(slots), move |slots| rest(slots & (slots - 1))).map(u16::trailing_zeros)
}

#[cfg(test)]
mod tests {
    use super::super::acked_rows::RowName;
    use super::super::recent_changes::RecentChanges;
    use super::super::slot_set::ChunkSlots;
    use super::*;
    use crate::session::row_send_rates::RowSendRates;
    use crate::session::server::authoritative_state::AuthoritativeState;
    use crate::time::Tick;
    use crate::world::{ComponentId, Entity, Group, Owned, RowKey, Schema};
    use foretell::State;
    use proptest::prelude::*;

    const ME: PlayerId = PlayerId::new(1);
    const NOW: Tick = Tick::new(900);

    #[derive(State, Clone, Copy)]
    struct Rock {
        #[state(position)]
        at: [f32; 2],
    }

    fn key(nth: u16) -> RowKey {
        RowKey { component: ComponentId(0), entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth) }
    }

    /// Rocks at these places, of which the first is the client's own, and since when the others wait.
    fn scene(rocks: &[([f32; 2], u32)]) -> (AuthoritativeState, AckedRows, SlotSet) {
        let mut state = AuthoritativeState::new(&Schema::of::<Rock>());
        let (mut rows, mut waiting) = (AckedRows::default(), SlotSet::default());
        for (nth, (at, _)) in (0..).zip(rocks) {
            let owner = if nth == 0 { ME } else { PlayerId::SERVER };
            state.rows_mut().set(Owned { entity: key(nth).entity, owner }, &Rock { at: *at });
        }
        state.settle(Tick::new(1));
        rows.resize(state.versions().slots());
        for (nth, (_, since)) in (0..).zip(rocks).skip(1) {
            let slot = state.versions().get(key(nth)).expect("it is there").slot;
            rows.insert(slot, RowName { key: key(nth), owner: PlayerId::SERVER }, Tick::new(*since), false);
            waiting.insert(slot);
        }
        (state, rows, waiting)
    }

    /// All of a state is to be seen.
    fn context<'a>(
        state: &'a AuthoritativeState,
        changes: &'a RecentChanges,
        row_send_rates: &'a RowSendRates,
    ) -> ShownContext<'a> {
        ShownContext { player: ME, tick: NOW, state, changes, row_send_rates, limits: None }
    }

    /// Which rocks come first, the most urgent at the end.
    fn ranked(scene: &(AuthoritativeState, AckedRows, SlotSet), most: usize, cutoff: f32) -> Vec<u16> {
        ranked_of(scene, most, cutoff, &SlotSet::default())
    }

    /// The same, where some were the client's own until lately.
    fn ranked_of(
        (state, rows, waiting): &(AuthoritativeState, AckedRows, SlotSet),
        most: usize,
        cutoff: f32,
        given: &SlotSet,
    ) -> Vec<u16> {
        let (changes, row_send_rates) = (RecentChanges::new(), RowSendRates::every(1));
        let of = context(state, &changes, &row_send_rates);
        let mut ranking = Ranking::after(Cutoffs { known: cutoff, new: cutoff });
        let claims = Claims { waiting, rows, given };
        Prioritizer::default().rank(&of, claims, most, &mut ranking);
        let slots = ranking.slots;
        let first = slots.len() - most.min(slots.len());
        slots[first..].iter().filter_map(|slot| Some(rows.name(*slot)?.key.entity.counter())).collect()
    }

    proptest! {
        #[test]
        fn the_most_urgent_are_the_same_whatever_was_urgent_enough_before(
            rocks in prop::collection::vec((prop::array::uniform2(-300.0_f32..300.0), 1_u32..900), 2..60),
            most in 1_usize..70, cutoff in prop_oneof![Just(0.0_f32), 1e-6_f32..10.0, Just(f32::INFINITY)],
        ) {
            let scene = scene(&rocks);
            prop_assert_eq!(ranked(&scene, most, cutoff), ranked(&scene, most, 0.0));
        }
    }

    #[test]
    fn what_is_four_times_as_far_waits_sixteen_times_as_long_and_what_is_nowhere_is_near() {
        let since = |ticks: u32| NOW.get() - ticks;
        // As old ones count more, all are young.
        let rocks = [
            ([0.0, 0.0], 1),
            ([8.0, 0.0], since(1)),
            ([0.0, 32.0], since(15)),
            ([0.0, -32.0], since(17)),
            ([f32::NAN, 0.0], since(1)),
            ([500.0, f32::NAN], since(1)),
            ([1.0, 1.0], since(1)),
        ];
        assert_eq!(ranked(&scene(&rocks), 6, 0.0), [2, 1, 3, 6, 5, 4]);
    }

    /// How it is after a look at where everything is.
    fn look_at(state: &AuthoritativeState) -> Prioritizer {
        let (changes, row_send_rates) = (RecentChanges::new(), RowSendRates::every(1));
        let of = context(state, &changes, &row_send_rates);
        let mut prioritizer = Prioritizer::default();
        prioritizer.look(&of);
        prioritizer
    }

    #[derive(State, Clone, Copy)]
    struct Below {
        #[state(parent)]
        of: Entity,
    }

    #[test]
    fn what_is_below_another_is_as_near_as_that_with_all_its_components() {
        let mut state = AuthoritativeState::new(&Schema::of::<Rock>().with::<Below>());
        let of = |nth: u16, owner| Owned { entity: key(nth).entity, owner };
        // The own one sits on what is at 100 m, and so sees what is there, and what sits on it.
        let rows = state.rows_mut();
        for (nth, at, owner) in [(0, 0.0, ME), (1, 100.0, PlayerId::SERVER), (2, 10.0, PlayerId::SERVER)] {
            rows.set(of(nth, owner), &Rock { at: [at, 0.0] });
        }
        let on = Below { of: key(1).entity };
        [(0, ME), (2, PlayerId::SERVER)].into_iter().for_each(|(nth, owner)| rows.set(of(nth, owner), &on));
        state.settle(Tick::new(1));
        let prioritizer = look_at(&state);
        let slots = [1, 2].map(|nth| state.rows().of(key(nth).entity)).into_iter().flatten();
        let slots = slots.map(|row| state.versions().get(row.key()).expect("it is there").slot);
        assert_eq!(
            slots.map(|slot| prioritizer.importance(0)[slot as usize]).collect::<Vec<_>>(),
            [importance(0.0); 3]
        );
    }

    #[test]
    fn what_is_beside_any_of_a_thousand_own_comes_first_and_each_is_compared_with_a_few_areas_of_them() {
        let mut state = AuthoritativeState::new(&Schema::of::<Rock>());
        let rows = state.rows_mut();
        for nth in 0..1000_u16 {
            let at = [f32::from(nth % 40) * 2.0, f32::from(nth / 40) * 2.0];
            rows.set(Owned { entity: key(nth).entity, owner: ME }, &Rock { at });
        }
        let others = [[40.0, 25.0], [-3.0, 20.0], [-60.0, 20.0], [-600.0, 20.0]];
        for (nth, at) in (1000..).zip(others) {
            rows.set(Owned { entity: key(nth).entity, owner: PlayerId::SERVER }, &Rock { at });
        }
        state.settle(Tick::new(1));
        let prioritizer = look_at(&state);
        let slot = |nth: u16| state.versions().get(key(nth)).expect("it is there").slot;
        let matters = |nth: u16| prioritizer.importance(slot(nth) - slot(nth) % BLOCK)[(slot(nth) % BLOCK) as usize];
        assert_eq!([1000, 1001, 1002, 1003].map(matters), [0.0, 9.0, 3600.0, 360_000.0].map(importance));
        assert!(prioritizer.areas.len() <= 32);
    }

    #[derive(State, Clone, Copy)]
    struct Health {
        left: u8,
    }

    #[derive(State, Clone, Copy)]
    #[state(audience = group(Group(1)))]
    struct Camp {
        #[state(position)]
        at: [f32; 2],
    }

    #[test]
    fn all_components_of_an_entity_matter_by_where_it_is_if_all_may_know_that() {
        let mut state = AuthoritativeState::new(&Schema::of::<Health>().with::<Rock>().with::<Camp>());
        let rows = state.rows_mut();
        for (nth, at, owner) in [(0, 0.0, ME), (1, 8.0, PlayerId::SERVER), (2, 80.0, PlayerId::SERVER)] {
            let of = Owned { entity: key(nth).entity, owner };
            rows.set(of, &Rock { at: [at, 0.0] });
            rows.set(of, &Health { left: 1 });
        }
        let hidden = Owned { entity: key(3).entity, owner: PlayerId::SERVER };
        rows.set(hidden, &Camp { at: [500.0, 0.0] });
        rows.set(hidden, &Health { left: 1 });
        state.settle(Tick::new(1));
        let prioritizer = look_at(&state);
        assert_eq!(prioritizer.own, [[0.0; 3]]);
        let of_row = |row: Row<'_>| prioritizer.importance(0)[state.versions().get(row.key()).unwrap().slot as usize];
        let of_entity = |nth: u16| state.rows().of(key(nth).entity).map(of_row).collect::<Vec<_>>();
        for (nth, away) in [(1, 8.0_f32), (2, 80.0)] {
            assert_eq!(of_entity(nth), [importance(away * away); 2]);
        }
        assert_eq!(of_entity(3).first(), Some(&importance(0.0)));
    }

    #[test]
    fn a_player_who_was_never_told_is_as_urgent_as_what_is_sixteen_times_as_near_but_no_more_than_what_is_near() {
        let (state, mut rows, waiting) =
            scene(&[([0.0, 0.0], 1), ([1.0, 0.0], 800), ([10.0, 0.0], 800), ([0.0, 70.0], 800), ([61.0, 0.0], 800)]);
        let slots = [2, 3].map(|nth| state.versions().get(key(nth)).expect("it is there").slot);
        for (nth, slot) in [2, 3].into_iter().zip(slots) {
            rows.remove(slot);
            rows.insert(slot, RowName { key: key(nth), owner: PlayerId::new(2) }, Tick::new(800), false);
        }
        let scene = (state, rows, waiting);
        assert_eq!(ranked(&scene, 4, 0.0), [4, 3, 2, 1]);
        // Once it is told it is as urgent as anything.
        let (state, mut rows, waiting) = scene;
        rows.note_told(ChunkSlots::one(slots[0]), Tick::new(800), 0);
        assert_eq!(ranked(&(state, rows, waiting), 4, 0.0), [4, 2, 3, 1]);
    }

    #[test]
    fn what_was_the_clients_own_until_lately_comes_first_however_far_it_is() {
        let scene = scene(&[([0.0, 0.0], 1), ([1.0, 0.0], 1), ([300.0, 0.0], 899), ([2.0, 0.0], 1)]);
        assert_eq!(ranked(&scene, 3, 0.0).first(), Some(&2), "it is far, and was told a moment ago");
        let mut given = SlotSet::default();
        given.insert(scene.0.versions().get(key(2)).expect("it is there").slot);
        assert_eq!(ranked_of(&scene, 3, 0.0, &given).last(), Some(&2));
    }
}
