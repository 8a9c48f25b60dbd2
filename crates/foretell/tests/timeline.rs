//! The machine that rolls back: what it simulates again is what it simulated before, but for what the authority changed.

use foretell::rollback::{InputStatus, PlayerInput, Timeline};
use foretell::{Entity, Input, Kind, PlayerId, Role, Rows, State, Step, Tick, TickRate, World};
use std::collections::BTreeMap;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Push {
    force: i16,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Mass {
    #[state(position)]
    at: [f64; 1],
    #[state(velocity)]
    speed: [f64; 1],
}

const ME: PlayerId = PlayerId::new(1);
const MINE: Entity = Entity::new(Kind(0), ME, Tick::ZERO, 0);
const THEIRS: Entity = Entity::new(Kind(0), PlayerId::new(2), Tick::ZERO, 0);

/// My mass is drawn towards all others; a strong push spawns a spark of mine.
#[derive(Clone, Default)]
struct Masses {
    masses: BTreeMap<Entity, Mass>,
    first_times: u32,
}

impl World for Masses {
    type Input = Push;
    type Saved = BTreeMap<Entity, Mass>;

    fn step(&mut self, step: &Step<'_, Push>) {
        self.first_times += u32::from(step.first_time());
        let force = step.input(ME).map_or(0, |input| input.input.force);
        let drawn: f64 = self
            .masses
            .iter()
            .filter(|(entity, _)| step.role(**entity) == Role::Proxy)
            .map(|(_, mass)| mass.at[0])
            .sum();
        for (entity, mass) in &mut self.masses {
            if step.role(*entity) == Role::Predicted {
                mass.speed[0] += f64::from(force) * 0.01 + 0.001 * (drawn - mass.at[0]);
                mass.at[0] += mass.speed[0];
            }
        }
        if force > 90 {
            self.masses.insert(step.spawn(Kind(0), ME), Mass::default());
        }
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.masses);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.masses.clone_from(from);
    }

    fn publish(&self, rows: &mut Rows) {
        rows.retain(|entity| self.masses.contains_key(&entity));
        self.masses.iter().for_each(|(entity, mass)| rows.set(*entity, mass));
    }

    fn adopt(&mut self, rows: &Rows) {
        self.masses.retain(|entity, _| !rows.removed().contains(entity));
        self.masses.extend(rows.states::<Mass>());
    }
}

fn others(at: f64) -> Rows {
    let mut rows = Rows::new(&Mass::schema());
    rows.set(THEIRS, &Mass { at: [at], speed: [0.0] });
    rows
}

fn push(force: i16) -> PlayerInput<Push> {
    PlayerInput { player: ME, input: Push { force }, status: InputStatus::Received, presented: None }
}

/// A hundred ticks with changing inputs and others that move.
fn played() -> (Timeline<Masses>, Masses) {
    let mut world = Masses::default();
    world.masses.insert(MINE, Mass::default());
    let mut timeline = Timeline::new(&Mass::schema(), ME, TickRate::default(), 64);
    timeline.begin(&world, Tick::ZERO);
    for tick in 0..100 {
        timeline.advance(&mut world, push((tick * 37 % 100) as i16), &others(f64::from(tick) * 0.3));
    }
    (timeline, world)
}

fn rows(timeline: &Timeline<Masses>, tick: u32) -> Rows {
    timeline.rows(Tick::new(tick)).expect("remembered").clone()
}

#[test]
fn a_rollback_to_what_was_predicted_changes_no_bit_whatever_the_budget() {
    for (back, budget) in [(1, 100), (16, 100), (64, 100), (64, 1), (40, 7)] {
        let (mut timeline, mut world) = played();
        let before: Vec<_> = (100 - back..=100).map(|tick| rows(&timeline, tick)).collect();
        let authority = rows(&timeline, 100 - back);
        timeline.rewrite(&mut world, Tick::new(100 - back), &authority);
        let mut ran = 0;
        while timeline.settled() < timeline.present() {
            ran += timeline.resimulate(&mut world, budget);
        }
        assert_eq!(ran, back);
        let after: Vec<_> = (100 - back..=100).map(|tick| rows(&timeline, tick)).collect();
        assert_eq!(before, after, "{back} ticks, {budget} at a time");
        assert_eq!(world.first_times, 100, "what is simulated again is not for the first time");
    }
}

#[test]
fn the_present_goes_on_while_a_rollback_is_under_way_and_both_end_in_the_same_state() {
    let change = |timeline: &Timeline<Masses>| {
        let mut authority = rows(timeline, 60);
        authority.set(MINE, &Mass { at: [5.0], speed: [0.5] });
        authority
    };
    let (mut whole, mut whole_world) = played();
    let authority = change(&whole);
    whole.rewrite(&mut whole_world, Tick::new(60), &authority);
    whole.resimulate(&mut whole_world, 1000);
    let (mut spread, mut spread_world) = played();
    spread.rewrite(&mut spread_world, Tick::new(60), &authority);
    for tick in 100..130 {
        let proxies = others(f64::from(tick));
        whole.advance(&mut whole_world, push(tick as i16), &proxies);
        spread.resimulate(&mut spread_world, 3);
        spread.advance(&mut spread_world, push(tick as i16), &proxies);
    }
    assert_eq!(spread.settled(), spread.present(), "it has caught up");
    assert_eq!(rows(&whole, 130), rows(&spread, 130));
    assert_eq!(whole_world.masses, spread_world.masses);
}

#[test]
fn a_spawn_that_the_authority_does_not_name_is_withdrawn_and_one_that_it_names_is_created() {
    let (mut timeline, mut world) = played();
    let predicted = rows(&timeline, 100);
    assert!(predicted.len() > 2, "sparks were spawned");
    let mut authority = Rows::new(&Mass::schema());
    authority.set(MINE, &Mass::default());
    let unpredicted = Entity::new(Kind(0), ME, Tick::new(7), 3);
    authority.set(unpredicted, &Mass { at: [1.0], speed: [0.0] });
    timeline.rewrite(&mut world, Tick::new(100), &authority);
    authority.settle();
    assert_eq!(rows(&timeline, 100), authority);
    assert!(world.masses.contains_key(&unpredicted) && world.masses.contains_key(&THEIRS));
    assert_eq!(world.masses.len(), 3);
}
