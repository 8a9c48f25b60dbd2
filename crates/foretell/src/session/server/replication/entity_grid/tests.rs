//! Whatever comes, moves, changes its components and goes, the grid has what a look at everything finds.

use super::*;
use crate::motion::vector::squared_distance;
use crate::world::{ComponentId, PlayerId};
use alloc::collections::BTreeSet;
use foretell::State;
use proptest::prelude::*;

#[derive(State, Clone, Copy)]
struct Name(u8);

#[derive(State, Clone, Copy)]
struct Place {
    #[state(position)]
    at: [f32; 3],
}

#[derive(State, Clone, Copy)]
#[state(audience = owner)]
struct Plan {
    #[state(position)]
    to: [f32; 3],
}

const NAME: ComponentId = ComponentId(0);
const PLACE: ComponentId = ComponentId(1);
const PLAN: ComponentId = ComponentId(2);

/// Something happens to one component of one entity.
#[derive(Clone, Debug)]
struct Change {
    entity: u16,
    component: u8,
    /// Where to; `None` where it is removed.
    at: Option<[i16; 3]>,
}

fn change() -> impl Strategy<Value = Change> {
    let at = prop::option::weighted(0.8, [-60_i16..60, -3_i16..3, -60_i16..60]);
    (0_u16..12, 0_u8..3, at).prop_map(|(entity, component, at)| Change { entity, component, at })
}

fn entity(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

fn apply(state: &mut AuthoritativeState, change: &Change) {
    let key = RowKey { component: ComponentId(change.component), entity: entity(change.entity) };
    let Some(at) = change.at else { return state.rows_mut().remove(key) };
    let place = at.map(|metres| f32::from(metres).to_bits());
    let words = if key.component == NAME { &[7][..] } else { &place[..] };
    state.rows_mut().set_words(Row { component: key.component, entity: key.entity, owner: PlayerId::SERVER, words });
}

/// All entities that anybody else may see with where they are, by a look at all rows.
fn expected(state: &AuthoritativeState) -> Vec<(Entity, Option<[f64; 3]>)> {
    let entities: BTreeSet<Entity> =
        state.rows().iter().filter(|row| row.component != PLAN).map(|row| row.entity).collect();
    let at = |of| position(state.schema(), state.rows().get(RowKey { component: PLACE, entity: of })?);
    entities.into_iter().map(|entity| (entity, at(entity))).collect()
}

fn entity_of(grid: &EntityGrid, anchor: u32) -> Entity {
    grid.rows[anchor as usize].key.expect("there").entity
}

/// Each entity once, with all of its rows.
fn check_rows(grid: &EntityGrid, state: &AuthoritativeState) {
    let somewhere = grid.somewhere().map(|(anchor, at)| (anchor, Some(at)));
    let all = somewhere.chain(grid.nowhere().iter().map(|anchor| (*anchor, None)));
    let mut found: Vec<_> = all.map(|(anchor, at)| (entity_of(grid, anchor), at)).collect();
    found.sort_by_key(|(entity, _)| *entity);
    assert_eq!(found, expected(state));
    for row in state.rows().iter() {
        let slot = state.versions().get(row.key()).expect("settled").slot;
        let shown = found.binary_search_by_key(&row.entity, |(entity, _)| *entity).is_ok();
        let anchor = grid.anchor(slot);
        assert_eq!(anchor.is_some(), shown);
        assert!(anchor.is_none_or(|anchor| grid.rows_of(anchor).filter(|of| *of == slot).count() == 1));
    }
}

fn check_near(grid: &mut EntityGrid, state: &AuthoritativeState, eye: [f64; 3], radius_m: f64) {
    let mut found = Vec::new();
    grid.note_look(radius_m);
    grid.near(eye, radius_m, |anchor, _| found.push(anchor));
    let mut found: Vec<Entity> = found.into_iter().map(|anchor| entity_of(grid, anchor)).collect();
    found.sort_unstable();
    let is_near = |at: [f64; 3]| squared_distance(eye, at) <= radius_m * radius_m;
    let near = expected(state).into_iter().filter(|(_, at)| at.is_some_and(is_near));
    assert_eq!(found, near.map(|(entity, _)| entity).collect::<Vec<_>>(), "{radius_m} m around {eye:?}");
}

proptest! {
    #[test]
    fn what_is_near_is_what_a_look_at_everything_finds_whatever_has_changed(
        ticks in prop::collection::vec((prop::collection::vec(change(), 0..5), any::<bool>(), 0.1..150.0_f64), 1..40),
        crowd in prop::sample::select(vec![0_u16, 0, 0, 200]),
    ) {
        let mut state = AuthoritativeState::new(&Schema::of::<Name>().with::<Place>().with::<Plan>());
        let mut grid = EntityGrid::default();
        for nth in 0..crowd {
            let spread = |nth: u16, by: u16| i16::try_from(nth.wrapping_mul(by) % 120).expect("small") - 60;
            apply(&mut state, &Change { entity: 100 + nth, component: 1, at: Some([spread(nth, 7), 0, spread(nth, 31)]) });
        }
        let mut sent = [Tick::ZERO; 2];
        for (tick, (changes, is_sent, radius_m)) in (1..).map(Tick::new).zip(ticks) {
            changes.iter().for_each(|change| apply(&mut state, change));
            state.settle(tick);
            if !is_sent {
                continue;
            }
            let changed = state.versions().versions().iter().zip(0..).filter(|(version, _)| version.changed > sent[0]);
            let places: Vec<u32> = changed.map(|(_, place)| place).collect();
            grid.update(&state, tick, sent[0], places.iter().map(|place| *place as usize));
            sent = [sent[1], tick];
            check_rows(&grid, &state);
            for eye in [[0.0; 3], [30.5, 0.0, -7.0], [-60.0, 2.0, 60.0]] {
                check_near(&mut grid, &state, eye, radius_m);
            }
        }
    }
}

#[test]
fn what_is_where_no_number_is_or_farther_than_any_is_nowhere_near_and_does_no_harm() {
    let mut state = AuthoritativeState::new(&Schema::of::<Place>());
    for (nth, at) in (0..).zip([f32::NAN, f32::INFINITY, f32::MAX, 1e12, 1.0]) {
        let place = [at.to_bits(), 0, 0];
        let row = Row { component: NAME, entity: entity(nth), owner: PlayerId::SERVER, words: &place };
        state.rows_mut().set_words(row);
    }
    state.settle(Tick::new(1));
    let mut grid = EntityGrid::default();
    grid.update(&state, Tick::new(1), Tick::ZERO, core::iter::empty());
    let mut near = |radius_m: f64| {
        let mut found = Vec::new();
        grid.note_look(radius_m);
        grid.near([0.0; 3], radius_m, |anchor, _| found.push(anchor));
        found.into_iter().map(|anchor| entity_of(&grid, anchor).counter()).collect::<BTreeSet<_>>()
    };
    let expected: [(f64, &[u16]); 4] = [(2.0, &[4]), (f64::NAN, &[]), (1e13, &[3, 4]), (f64::INFINITY, &[1, 2, 3, 4])];
    for (radius_m, expected) in expected {
        assert_eq!(near(radius_m), expected.iter().copied().collect(), "{radius_m} m");
    }
}
