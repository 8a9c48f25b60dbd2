//! The machine that rolls back: what it simulates again is what it simulated before, but for what the authority changed.

use foretell::rollback::{RelayedInput, Timeline};
use foretell::world::{InputStatus, PlayerInput, PredictionSet};
use foretell::{Entity, Input, Owned, PlayerId, Rows, Simulate, State, Step, Table, Tick, TickRate, World};

#[derive(Input, Clone, Copy, PartialEq, Default)]
pub(crate) struct Push {
    force: i16,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub(crate) struct Mass {
    #[state(position)]
    pub(crate) at: [f64; 1],
    #[state(velocity)]
    pub(crate) speed: [f64; 1],
}

pub(crate) const ME: PlayerId = PlayerId::new(1);
pub(crate) const THEM: PlayerId = PlayerId::new(2);
pub(crate) const MINE: Entity = Entity::new(ME, Tick::ZERO, 0);
pub(crate) const THEIRS: Entity = Entity::new(THEM, Tick::ZERO, 0);

/// My masses are drawn towards all others, wherever they come from; a strong push spawns a spark, and
/// one the other way puts them out.
#[derive(World, Clone, Default)]
pub(crate) struct Masses {
    pub(crate) masses: Table<Mass>,
    /// No part of the state.
    #[world(constant)]
    first_times: u32,
}

impl Masses {
    /// With this one, which is mine.
    pub(crate) fn with_mine(mass: Mass) -> Masses {
        let mut masses = Masses::default();
        masses.masses.insert(first(MINE), mass);
        masses
    }
}

/// An entity and the player for whom it was spawned.
pub(crate) fn first(entity: Entity) -> Owned {
    Owned { entity, owner: entity.spawned_for() }
}

impl Simulate for Masses {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        self.first_times += u32::from(step.first_time());
        let others = self.masses.iter().filter(|mass| mass.owner() != ME);
        let drawn: f64 = others.map(|mass| mass.at[0]).sum();
        for mut mass in self.masses.simulated(step) {
            mass.speed[0] *= if step.canonical() { 0.5 } else { 1.0 };
            let force = step.input(mass.owner()).map_or(0, |input| input.input.force);
            let drawn = if mass.owner() == ME { drawn - mass.at[0] } else { 0.0 };
            mass.speed[0] += f64::from(force) * 0.01 + 0.001 * drawn;
            mass.at[0] += mass.speed[0];
        }
        for input in step.inputs().iter().filter(|input| input.input.force < -90) {
            self.masses.retain(|mass| mass.owner() != input.player || mass.entity().tick() == Tick::ZERO);
        }
        for input in step.inputs().iter().filter(|input| input.input.force > 90) {
            self.masses.spawn(step, input.player, Mass::default());
        }
    }
}

fn others(at: f64) -> Rows {
    let mut rows = Rows::new(&Masses::schema());
    rows.set(first(THEIRS), &Mass { at: [at], speed: [0.0] });
    rows
}

pub(crate) fn push(force: i16) -> PlayerInput<Push> {
    PlayerInput { player: ME, input: Push { force }, status: InputStatus::Received, presented: None }
}

/// A hundred ticks with changing inputs and others that move.
fn played() -> (Timeline<Masses>, Masses) {
    let mut world = Masses::with_mine(Mass::default());
    let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), 64, 1);
    timeline.begin(&mut world, Tick::ZERO);
    for tick in 0..100 {
        timeline.give(timeline.present(), push((tick * 37 % 100) as i16));
        timeline.advance(&mut world, &others(f64::from(tick) * 0.3));
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
        authority.set(first(MINE), &Mass { at: [5.0], speed: [0.5] });
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
        whole.give(whole.present(), push(tick as i16));
        whole.advance(&mut whole_world, &proxies);
        spread.resimulate(&mut spread_world, 3);
        spread.give(spread.present(), push(tick as i16));
        spread.advance(&mut spread_world, &proxies);
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
    let mut authority = Rows::new(&Masses::schema());
    authority.set(first(MINE), &Mass::default());
    let unpredicted = Entity::new(ME, Tick::new(7), 3);
    authority.set(first(unpredicted), &Mass { at: [1.0], speed: [0.0] });
    timeline.rewrite(&mut world, Tick::new(100), &authority);
    authority.settle();
    assert_eq!(rows(&timeline, 100), authority);
    assert!(world.masses.get(unpredicted).is_some() && world.masses.get(THEIRS).is_some());
    assert_eq!(world.masses.len(), 3);
}

/// What the authority tells of their inputs.
pub(crate) fn tell<W: World<Input = Push>>(timeline: &mut Timeline<W>, told: impl IntoIterator<Item = (u32, i16)>) {
    let received = |force| RelayedInput { input: Some(Push { force }), status: InputStatus::Received };
    let told = told.into_iter().map(|(tick, force)| (Tick::new(tick), received(force)));
    timeline.tell(THEM, Tick::new(1000), told);
}

/// The authority's full state of `tick`: mine as predicted, theirs at 7.
fn full(timeline: &Timeline<Masses>, tick: u32) -> Rows {
    let mut full = Rows::new(&Masses::schema());
    let mine = rows(timeline, tick);
    mine.states::<Mass>().for_each(|(of, mass)| full.set(of, &mass));
    full.set(first(THEIRS), &Mass { at: [7.0], speed: [0.1] });
    full
}

pub(crate) fn both() -> PredictionSet {
    let mut predicted = PredictionSet::own(ME);
    predicted.insert(THEM);
    predicted
}

/// A session in which they are predicted from tick 80 on, and their inputs are known up to tick 90.
fn both_played() -> (Timeline<Masses>, Masses) {
    let (mut timeline, mut world) = played();
    tell(&mut timeline, (75..=90).map(|tick| (tick, 10)));
    let state = full(&timeline, 80);
    assert_eq!(timeline.switch(&mut world, Tick::new(80), &both(), &state), 20);
    (timeline, world)
}

#[test]
fn others_are_simulated_with_the_inputs_that_are_known_and_then_with_the_last_one() {
    let (timeline, world) = both_played();
    let theirs = rows(&timeline, 100).state::<Mass>(THEIRS).expect("predicted");
    assert_eq!(Some(theirs), world.masses.get(THEIRS).map(|mass| *mass));
    let mut expected = Mass { at: [7.0], speed: [0.1] };
    for _ in 80..100 {
        expected.speed[0] += 10.0 * 0.01;
        expected.at[0] += expected.speed[0];
    }
    assert_eq!(theirs, expected);
}

#[test]
fn an_input_that_is_told_late_leads_to_the_same_state_as_one_that_was_known() {
    let force = |tick: u32| if tick < 95 { 10 } else { -40 };
    let (mut early, mut early_world) = both_played();
    let (mut late, mut late_world) = both_played();
    assert_eq!(early.outdated(Tick::new(80)), None, "the guess is what it was");
    tell(&mut early, (91..115).map(|tick| (tick, force(tick))));
    assert_eq!(early.outdated(Tick::new(80)), Some(Tick::new(95)));
    assert_eq!(early.outdated(Tick::new(96)), Some(Tick::new(96)), "a state that is confirmed says where to look");
    early.revisit(Tick::new(95));
    assert_eq!(early.resimulate(&mut early_world, 100), 5);
    for tick in 100..110 {
        early.give(early.present(), push(3));
        early.advance(&mut early_world, &others(0.0));
        late.give(late.present(), push(3));
        late.advance(&mut late_world, &others(0.0));
        assert_eq!(early.outdated(Tick::new(80)), None, "tick {tick} was simulated with what is known");
    }
    assert_ne!(rows(&early, 110), rows(&late, 110));
    tell(&mut late, (91..115).map(|tick| (tick, force(tick))));
    let wrong = late.outdated(Tick::new(80)).expect("guessed wrong");
    late.revisit(wrong);
    assert_eq!(late.resimulate(&mut late_world, 100), 15);
    assert_eq!(rows(&early, 110), rows(&late, 110));
    assert_eq!(early_world.masses, late_world.masses);
}

#[test]
fn who_is_predicted_no_more_goes_on_as_a_proxy_where_they_were() {
    let (mut timeline, mut world) = both_played();
    // Strong pushes of theirs have spawned two sparks that the authority does not know, and put out the first.
    tell(&mut timeline, [(87, 95), (88, 0), (89, -95), (91, 95), (92, 0)]);
    timeline.revisit(Tick::new(87));
    timeline.resimulate(&mut world, 100);
    let before = rows(&timeline, 100);
    assert!(before.iter().filter(|row| row.owner == THEM).count() == 2);
    let (state, everything) = (rows(&timeline, 85), world.masses.clone());
    timeline.switch(&mut world, Tick::new(85), &PredictionSet::own(ME), &state);
    let after = rows(&timeline, 100);
    assert!(after.iter().all(|row| row.owner == ME));
    for row in after.iter() {
        assert_eq!(before.get(row.key()), Some(row), "what they did to mine stays");
    }
    let names = |masses: &Table<Mass>| -> Vec<Owned> { masses.iter().map(|mass| mass.owned()).collect() };
    assert_eq!(names(&world.masses), names(&everything), "all of them are there still");
}

#[test]
fn what_the_authority_does_not_have_is_gone_when_its_player_is_predicted() {
    let (mut timeline, mut world) = played();
    tell(&mut timeline, [(79, 0)]);
    let mut state = full(&timeline, 80);
    state.remove_entity(THEIRS);
    state.settle();
    timeline.switch(&mut world, Tick::new(80), &both(), &state);
    assert!(world.masses.get(THEIRS).is_none(), "they were a proxy, and are gone");
    assert!(!rows(&timeline, 100).has(THEIRS));
}

#[test]
fn what_a_switch_has_taken_away_does_not_come_back_with_the_rollbacks_after_it() {
    let mut world = Masses::with_mine(Mass::default());
    let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), 16, 4);
    timeline.begin(&mut world, Tick::ZERO);
    let state = full(&timeline, 0);
    timeline.switch(&mut world, Tick::ZERO, &both(), &state);
    let rewrite = |timeline: &mut Timeline<Masses>, world: &mut Masses, tick: u32| {
        let state = rows(timeline, tick);
        timeline.rewrite(world, Tick::new(tick), &state);
        timeline.resimulate(world, 100);
    };
    // A strong push of theirs spawns a spark that the authority does not know.
    tell(&mut timeline, [(21, 95), (22, 0)]);
    for tick in 0..28 {
        timeline.give(Tick::new(tick), push(1));
        timeline.advance(&mut world, &Rows::new(&Masses::schema()));
        if tick == 8 || tick == 16 {
            rewrite(&mut timeline, &mut world, tick);
        }
    }
    let spark = Entity::new(THEM, Tick::new(21), 0);
    assert!(world.masses.get(spark).is_some());
    let mut state = rows(&timeline, 24);
    state.remove_entity(spark);
    timeline.switch(&mut world, Tick::new(24), &PredictionSet::own(ME), &state);
    // Told late: the state of this tick is saved where that of the switch is.
    timeline.announce(Tick::new(26));
    timeline.revisit(Tick::new(26));
    timeline.resimulate(&mut world, 100);
    assert!(world.masses.get(spark).is_none());
    rewrite(&mut timeline, &mut world, 25);
    assert!(world.masses.get(spark).is_none(), "it was there before the switch alone");
}

#[test]
fn the_present_stays_the_old_one_when_fewer_ticks_are_allowed_than_ever_before() {
    let mut world = Masses::with_mine(Mass::default());
    let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), 128, 8);
    timeline.begin(&mut world, Tick::ZERO);
    for tick in 0..46 {
        timeline.give(timeline.present(), push(tick));
        timeline.advance(&mut world, &Rows::new(&Masses::schema()));
        timeline.resimulate(&mut world, 100);
    }
    // After the last saved state.
    let mut authority = rows(&timeline, 41);
    authority.set(first(MINE), &Mass { at: [7.0], speed: [0.5] });
    let before = world.masses.clone();
    timeline.allow(2);
    timeline.rewrite(&mut world, Tick::new(41), &authority);
    assert_eq!(timeline.resimulate(&mut world, 2), 2);
    timeline.seek_present(&mut world);
    assert_eq!(world.masses, before, "until the new one is there");
    (0..2).for_each(|_| assert!(timeline.resimulate(&mut world, 2) > 0));
    assert_eq!(timeline.settled(), timeline.present());
    assert_ne!(world.masses, before);
}

#[test]
fn a_canonical_tick_is_one_also_for_who_starts_again_from_before_all_that_is_remembered() {
    let restarted = |announced_at: u32| {
        let mut world = Masses::with_mine(Mass { at: [0.0], speed: [1.0] });
        let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), 32, 24);
        timeline.begin(&mut world, Tick::ZERO);
        let mut full = Rows::new(&Masses::schema());
        for tick in 0..60 {
            if tick == announced_at {
                timeline.announce(Tick::new(25));
            }
            timeline.give(Tick::new(tick), push(1));
            timeline.advance(&mut world, &Rows::new(&Masses::schema()));
            if tick == 20 {
                full = rows(&timeline, 20);
            }
        }
        timeline.restart(&mut world, Tick::new(20), &full, Tick::new(60));
        world.masses
    };
    assert_eq!(restarted(59), restarted(22));
    assert_ne!(restarted(59), restarted(60), "it makes a difference");
}
