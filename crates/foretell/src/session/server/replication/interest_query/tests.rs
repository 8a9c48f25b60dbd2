//! Whatever is there, a client sees what a look at everything finds.

use super::*;
use crate::time::TickRate;
use crate::world::{ComponentId, Group, InterestRules, Schema, Visibility};
use alloc::collections::{BTreeMap, BTreeSet};
use foretell::State;
use proptest::prelude::*;

const ME: PlayerId = PlayerId::new(1);

#[derive(State, Clone, Copy)]
struct Rock {
    #[state(position)]
    at: [f32; 2],
}

#[derive(State, Clone, Copy)]
struct Below {
    #[state(parent)]
    of: Entity,
}

/// Where a rock is and whether it is the viewer's own; `None` for an own one whose place is not a number.
type Place = (Option<[i8; 2]>, bool);

/// What the game's own rules say.
#[derive(Clone, Debug)]
struct Sights {
    always: BTreeSet<u16>,
    hidden: BTreeSet<u16>,
    /// From where the viewer looks besides.
    towers: Vec<Option<[i8; 2]>>,
}

impl InterestRules for Sights {
    fn look(&self, _: PlayerId, look: &mut Look) {
        self.always.iter().for_each(|nth| look.always(entity(*nth)));
        self.towers.iter().for_each(|tower| look.eye(metres(*tower)));
    }

    fn visibility(&self, _: PlayerId, of: Entity) -> Visibility {
        if self.hidden.contains(&of.counter()) { Visibility::Hidden } else { Visibility::SHOWN }
    }
}

fn entity(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

fn metres(place: Option<[i8; 2]>) -> [f64; 3] {
    let [x, y] = place.map_or([f64::NAN; 2], |at| at.map(f64::from));
    [x, y, 0.0]
}

fn set(state: &mut AuthoritativeState, rocks: &[Place]) {
    for (nth, (place, is_own)) in (0..).zip(rocks) {
        let owner = if *is_own { ME } else { PlayerId::SERVER };
        let at = place.map_or([f32::NAN; 2], |at| at.map(f32::from));
        state.rows_mut().set(Owned { entity: entity(nth), owner }, &Rock { at });
    }
}

/// What is seen of these rocks by a look at each, where `had` was in view, with the square of how far it is.
fn expected(rocks: &[Place], sights: &Sights, interest: Interest, had: &BTreeSet<u16>) -> BTreeMap<u16, f32> {
    let all = || (0_u16..).zip(rocks);
    let own = all().filter(|(_, (_, is_own))| *is_own).map(|(_, (place, _))| *place);
    let eyes: Vec<_> = own.chain(sights.towers.clone()).flatten().map(|at| metres(Some(at))).collect();
    let others = all().filter(|(_, (_, is_own))| !is_own);
    let far: Vec<_> = others.map(|(nth, (place, _))| (nth, nearest_of(&eyes, metres(*place)))).collect();
    let in_reach: BTreeSet<u16> = match interest {
        Interest::Everything => far.iter().map(|(nth, _)| *nth).collect(),
        Interest::Nearest(most) => {
            let stays = |nth: &u16| if had.contains(nth) { single(STAYS) } else { 1.0 };
            let mut ranks: Vec<_> = far.iter().collect();
            ranks.sort_by(|(a, one), (b, other)| (one * stays(a)).total_cmp(&(other * stays(b))).then(a.cmp(b)));
            ranks.into_iter().take(most.into()).map(|(nth, _)| *nth).collect()
        }
        Interest::Within { radius_m, leaves_at_m } => {
            let reach = |nth: &u16| if had.contains(nth) { leaves_at_m.max(radius_m) } else { radius_m };
            let near = far.iter().filter(|(nth, far)| !eyes.is_empty() && *far <= reach(nth) * reach(nth));
            near.map(|(nth, _)| *nth).collect()
        }
    };
    let is_seen = |nth: &u16| in_reach.contains(nth) || sights.always.contains(nth);
    far.into_iter().filter(|(nth, _)| is_seen(nth) && !sights.hidden.contains(nth)).collect()
}

fn interests() -> impl Strategy<Value = Interest> {
    prop_oneof![
        Just(Interest::Everything),
        (0_u16..6).prop_map(Interest::Nearest),
        (0_u8..40, 0_u8..60)
            .prop_map(|(radius, leaves)| Interest::Within { radius_m: radius.into(), leaves_at_m: leaves.into() }),
    ]
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    let at = || [-50_i8..50, -50_i8..50];
    let own = prop::option::weighted(0.8, at()).prop_map(|place| (place, true));
    prop::collection::vec(prop_oneof![6 => at().prop_map(|at| (Some(at), false)), 1 => own], 20)
}

fn sights() -> impl Strategy<Value = Sights> {
    let some = || prop::collection::btree_set(0_u16..20, 0..4);
    let towers = prop::collection::vec(prop::option::weighted(0.8, [-50_i8..50, -50_i8..50]), 0..3);
    (some(), some(), towers).prop_map(|(always, hidden, towers)| Sights { always, hidden, towers })
}

proptest! {
    #[test]
    fn it_finds_what_a_look_at_everything_finds_each_once_and_as_far_as_it_is_from_the_nearest_eye(
        states in prop::collection::vec((places(), sights(), interests()), 1..5),
    ) {
        let mut state = AuthoritativeState::new(&Schema::of::<Rock>());
        let authority = AuthorityArbiter::new(state.schema(), TickRate::default());
        let (mut grid, mut query, mut view) =
            (EntityGrid::default(), InterestQuery::default(), InterestSet::of_nothing());
        let (mut had, mut before) = (BTreeSet::new(), Tick::ZERO);
        for (tick, (rocks, sights, interest)) in (1..).map(Tick::new).zip(states) {
            set(&mut state, &rocks);
            state.settle(tick);
            let changed = state.versions().versions().iter().enumerate().filter(|(_, of)| of.changed > before);
            grid.update(&state, tick, before, changed.map(|(place, _)| place));
            let settings = InterestSettings { interest, rules: Some(&sights) };
            let viewer = Viewer { player: ME, seat: Seat::Player, state: &state, authority: &authority, settings, view: &view };
            query.look(viewer, &mut grid);
            let nth = |slot: u32| state.versions().versions()[state.versions().place(slot)].key.entity.counter();
            let seen: BTreeSet<u16> = query.rows().iter().map(nth).collect();
            let expected = expected(&rocks, &sights, interest, &had);
            prop_assert_eq!(&seen, &expected.keys().copied().collect(), "{:?} {:?}", interest, sights);
            let reached: Vec<u16> = query.reached().map(|(anchor, ..)| nth(anchor)).collect();
            prop_assert_eq!(reached.len(), reached.iter().collect::<BTreeSet<_>>().len(), "each once");
            for (anchor, squared, is_somewhere) in query.reached() {
                let matters = query.importance(anchor - anchor % BLOCK)[(anchor % BLOCK) as usize];
                // What stays in view counts as nearer.
                let stays = matches!(interest, Interest::Nearest(_)) && had.contains(&nth(anchor));
                let as_far = |far: f32| squared == far || stays && squared == far * single(STAYS);
                prop_assert!(is_somewhere && as_far(expected[&nth(anchor)]), "{} m²", squared);
                prop_assert_eq!(matters, importance(squared));
            }
            query.note_told(&mut view, tick);
            let versions = state.versions().versions().iter();
            let has: BTreeSet<u16> = versions.filter(|of| view.has(of)).map(|of| of.key.entity.counter()).collect();
            prop_assert_eq!(&has, &seen);
            (had, before) = (seen, tick);
        }
    }
}

#[test]
fn a_row_that_has_the_number_of_one_that_was_in_view_was_not() {
    let mut state = AuthoritativeState::new(&Schema::of::<Rock>());
    let key = |nth| RowKey { component: ComponentId(0), entity: entity(nth) };
    let owned = |nth| Owned { entity: entity(nth), owner: PlayerId::SERVER };
    state.rows_mut().set(owned(0), &Rock { at: [0.0; 2] });
    state.settle(Tick::new(1));
    let view = InterestSet::of_all(&state, ME, Tick::new(1));
    assert!(view.has(state.versions().get(key(0)).expect("it is there")));
    for tick in [2, 3] {
        let (gone, here) = (key(tick - 2), owned(tick - 1));
        state.rows_mut().remove(gone);
        state.rows_mut().set(here, &Rock { at: [0.0; 2] });
        state.settle(Tick::new(tick.into()));
    }
    let there = *state.versions().get(key(2)).expect("it is there");
    assert!(view.has_number(there.slot), "it has the number of the first");
    assert!(!view.has(&there));
}

/// One at a time.
#[derive(State, Clone, Copy)]
enum Mob {
    Idle {
        #[state(position)]
        at: [f32; 2],
    },
    Chase {
        #[state(position)]
        at: [f32; 2],
    },
}

#[test]
fn an_entity_in_view_that_becomes_another_variant_was_in_view_and_what_gets_its_number_was_not() {
    let mut state = AuthoritativeState::new(&Schema::of::<Mob>());
    let owned = |nth| Owned { entity: entity(nth), owner: PlayerId::SERVER };
    let key = |component, nth| RowKey { component: ComponentId(component), entity: entity(nth) };
    let at = [0.0; 2];
    state.rows_mut().set(owned(0), &Mob::Idle { at });
    state.rows_mut().set(owned(1), &Mob::Chase { at });
    state.settle(Tick::new(1));
    // The second comes into being where it is not seen.
    let mut view = InterestSet::of_all(&state, ME, Tick::new(1));
    state.rows_mut().set(owned(2), &Mob::Idle { at });
    state.settle(Tick::new(2));
    // There and back, and others at the same time.
    for (tick, of_first) in [(3, 1), (4, 0), (5, 1)] {
        for nth in 0..3 {
            let is_chasing = (nth == 1) != (of_first == 1);
            let mob = if is_chasing { Mob::Chase { at } } else { Mob::Idle { at } };
            state.rows_mut().set(owned(nth), &mob);
        }
        state.settle(Tick::new(tick));
        view.follow(&state, ME);
        let had = |nth| {
            let there = [0, 1].into_iter().find_map(|component| state.versions().get(key(component, nth)));
            view.has_number(there.expect("it is there").slot)
        };
        assert_eq!([0, 1, 2].map(had), [true, true, false], "in state {tick}");
    }
}

/// Looks at everything, by no rules, for one who has seen nothing.
fn look_at_all(state: &AuthoritativeState) -> InterestQuery {
    let authority = AuthorityArbiter::new(state.schema(), TickRate::default());
    let (mut grid, mut query, view) = (EntityGrid::default(), InterestQuery::default(), InterestSet::of_nothing());
    grid.update(state, Tick::new(1), Tick::ZERO, 0..state.rows().len());
    let settings = InterestSettings { interest: Interest::Everything, rules: None };
    query.look(
        Viewer { player: ME, seat: Seat::Player, state, authority: &authority, settings, view: &view },
        &mut grid,
    );
    query
}

#[test]
fn what_is_below_an_own_entity_with_several_components_is_reached_once() {
    let mut state = AuthoritativeState::new(&Schema::of::<Rock>().with::<Below>());
    let of = |nth, owner| Owned { entity: entity(nth), owner };
    for (nth, owner, parent) in [(0, ME, 2), (1, PlayerId::SERVER, 0), (2, ME, 9)] {
        state.rows_mut().set(of(nth, owner), &Rock { at: [0.0; 2] });
        state.rows_mut().set(of(nth, owner), &Below { of: entity(parent) });
    }
    state.settle(Tick::new(1));
    let query = look_at_all(&state);
    assert_eq!((query.reached().count(), query.rows().len()), (1, 2), "the one that is not the viewer's");
}

#[test]
fn what_is_nowhere_matters_as_what_is_near() {
    let mut state = AuthoritativeState::new(&Schema::of::<Rock>());
    set(&mut state, &[(Some([0, 0]), true), (None, false), (Some([50, 0]), false)]);
    state.settle(Tick::new(1));
    let query = look_at_all(&state);
    let matters = |nth| {
        query.importance(0)[state
            .versions()
            .get(RowKey { component: ComponentId(0), entity: entity(nth) })
            .expect("it is there")
            .slot as usize]
    };
    assert_eq!([1, 2].map(matters), [0.0, 2500.0].map(importance));
}

/// Where its team knows it to be; that is asked first.
#[derive(State, Clone, Copy)]
#[state(audience = group(Group(1)))]
struct Beacon {
    #[state(position)]
    at: [f32; 2],
}

/// Whether a rock is seen from state to state that goes away and comes back, beside another at 10 m, where only its team is told what
/// says where it is; that it has from this state on.
fn seen_with_beacon(interest: Interest, beacon_from: u32) -> Vec<bool> {
    let mut state = AuthoritativeState::new(&Schema::of::<Beacon>().with::<Rock>());
    let authority = AuthorityArbiter::new(state.schema(), TickRate::default());
    let (mut grid, mut query, mut view) = (EntityGrid::default(), InterestQuery::default(), InterestSet::of_nothing());
    let mut seen = Vec::new();
    for (tick, x) in (1..).zip([9.0, 11.0, 13.0, 11.0]) {
        for (nth, x, owner) in [(0, 0.0, ME), (1, x, PlayerId::SERVER), (2, -10.0, PlayerId::SERVER)] {
            state.rows_mut().set(Owned { entity: entity(nth), owner }, &Rock { at: [x, 0.0] });
        }
        if tick >= beacon_from {
            state.rows_mut().set(Owned { entity: entity(1), owner: PlayerId::SERVER }, &Beacon { at: [x, 0.0] });
        }
        state.settle(Tick::new(tick));
        view.follow(&state, ME);
        grid.update(&state, Tick::new(tick), Tick::new(tick - 1), 0..state.rows().len());
        let settings = InterestSettings { interest, rules: None };
        query.look(
            Viewer { player: ME, seat: Seat::Player, state: &state, authority: &authority, settings, view: &view },
            &mut grid,
        );
        query.note_told(&mut view, Tick::new(tick));
        let rock = state.versions().get(RowKey { component: ComponentId(1), entity: entity(1) }).expect("it is there");
        seen.push(query.rows().contains(rock.slot));
    }
    seen
}

#[test]
fn what_is_in_view_stays_as_long_though_only_its_team_is_told_what_says_where_it_is() {
    for interest in [Interest::Within { radius_m: 10.0, leaves_at_m: 12.0 }, Interest::Nearest(1)] {
        for beacon_from in [1, 2] {
            let seen = seen_with_beacon(interest, beacon_from);
            assert_eq!(seen, [true, true, false, false], "{interest:?}, from state {beacon_from}");
        }
    }
}
