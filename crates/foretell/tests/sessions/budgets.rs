//! What a client shows where there is more to tell than may be sent, or than the link takes.

use crate::common::Buttons;
use core::time::Duration;
use foretell::{
    Client, ClientConfig, ClientState, Entity, Frame, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate, State,
    Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use std::collections::BTreeMap;

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Walker {
    #[state(position)]
    place: [f32; 3],
}

/// 24 bytes.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Mote {
    #[state(position)]
    place: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

/// 132 bytes.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Boulder {
    #[state(position)]
    place: [f32; 3],
    much: [u32; 30],
}

/// It is nowhere.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Tally {
    ticks: u32,
}

fn owned(nth: u16, since: Tick) -> Owned {
    Owned { entity: Entity::new(PlayerId::SERVER, since, nth), owner: PlayerId::SERVER }
}

/// Motes on a square of 100 by 100 m, of which the first so many wander, and a walker for each player in the middle.
#[derive(World, Default)]
pub(crate) struct Swarm {
    walkers: Table<Walker>,
    motes: Table<Mote>,
    boulders: Table<Boulder>,
    tallies: Table<Tally>,
    #[world(constant)]
    moving: usize,
    /// How many motes come ten times a second, while those that came before go.
    #[world(constant)]
    churn: u16,
}

impl Swarm {
    pub(crate) fn of(count: u16, moving: usize) -> Swarm {
        let mut swarm = Swarm { moving, ..Swarm::default() };
        let mut random = SplitMix64::new(1);
        for nth in 0..count {
            let mut metres = |most: f32| (random.next_u64() % 10_000) as f32 / 10_000.0 * most - most / 2.0;
            let mote = Mote { place: [metres(100.0), 0.0, metres(100.0)], velocity: [metres(4.0), 0.0, metres(4.0)] };
            let velocity = if usize::from(nth) < moving { mote.velocity } else { [0.0; 3] };
            swarm.motes.insert(owned(nth, Tick::ZERO), Mote { velocity, ..mote });
        }
        swarm
    }
}

impl Simulate for Swarm {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker::default());
        }
        if self.churn > 0 && step.is_authority() && step.tick().get().is_multiple_of(6) {
            self.motes.retain(|mote| mote.entity().tick() == Tick::ZERO);
            for nth in 0..self.churn {
                self.motes.insert(owned(nth, step.tick()), Mote::default());
            }
        }
        for mut mote in self.motes.simulated(step).take(self.moving) {
            for axis in 0..3 {
                mote.place[axis] += mote.velocity[axis] / 64.0;
                if mote.place[axis].abs() > 50.0 {
                    mote.velocity[axis] = -mote.velocity[axis];
                }
            }
        }
        for mut tally in self.tallies.simulated(step) {
            tally.ticks += 1;
        }
        for mut walker in self.walkers.simulated(step) {
            let Some(player) = step.input(walker.owner()) else { continue };
            walker.place[0] += f32::from(i8::from(player.input.right) - i8::from(player.input.left)) / 64.0;
        }
    }
}

/// What the last player to come sees.
#[derive(Default)]
pub struct Looker {
    /// When that player plays, and when everything was there, in ms from their start.
    pub plays_ms: Option<u64>,
    pub has_all_ms: Option<u64>,
    pub began_ms: u64,
    pub who: usize,
    pub all: usize,
    /// Whether ages are looked at.
    pub looks: bool,
    /// Of all states that were shown, how old they were: the oldest, and the oldest of the nearest twenty; in ticks.
    pub oldest: u32,
    pub oldest_near: u32,
}

impl Driver<Swarm> for Looker {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(u64::from(tick.get() / 32) * 5 + player as u64)
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Swarm>, frame: &Frame<'_>) {
        let Some((tick, rows)) = client.newest_snapshot().filter(|_| player == self.who) else { return };
        let since = at.now.micros() / 1000 - self.began_ms;
        if frame.state == ClientState::Playing {
            self.plays_ms.get_or_insert(since);
        }
        let motes: Vec<_> = rows.states::<Mote>().collect();
        if motes.len() == self.all {
            self.has_all_ms.get_or_insert(since);
        }
        if !self.looks {
            return;
        }
        let mut ages: Vec<(f32, u32)> = rows
            .iter()
            .filter(|row| row.owner == PlayerId::SERVER)
            .filter_map(|row| {
                let mote: Mote = rows.state(row.entity)?;
                let moves = mote.velocity != [0.0; 3];
                Some((
                    mote.place[0].hypot(mote.place[2]),
                    if moves { tick.since(client.told_in(row.key())?) } else { 0 },
                ))
            })
            .collect();
        ages.sort_by(|a, b| a.0.total_cmp(&b.0));
        let oldest = |ages: &[(f32, u32)]| ages.iter().map(|(_, age)| *age).max().unwrap_or(0);
        self.oldest = self.oldest.max(oldest(&ages));
        self.oldest_near = self.oldest_near.max(oldest(&ages[..20]));
    }
}

fn session(count: u16, moving: usize, budget: u32) -> Simulation<Swarm> {
    let config = ServerConfig { budget, ..ServerConfig::default() };
    Simulation::new(Rules::new(Swarm::schema()), config, Swarm::of(count, moving), 7)
}

fn add(simulation: &mut Simulation<Swarm>, conditions: Conditions) -> usize {
    let client = ClientConfig::default();
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Swarm::default() })
}

fn seconds(simulation: &mut Simulation<Swarm>, seconds: f64, looker: &mut Looker) {
    simulation.run_until(simulation.now() + Duration::from_secs_f64(seconds), looker);
}

pub fn link(latency_ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() }
}

#[test]
fn of_a_thousand_that_move_each_is_shown_within_a_second_and_the_nearest_within_a_tenth() {
    let mut simulation = session(1000, 1000, 64_000);
    let mut looker = Looker { all: 1000, ..Looker::default() };
    looker.who = add(&mut simulation, link(50));
    seconds(&mut simulation, 3.0, &mut looker);
    looker.looks = true;
    seconds(&mut simulation, 4.0, &mut looker);
    assert!(looker.oldest <= 64 && looker.oldest_near * 1000 / 64 <= 100, "{} {}", looker.oldest, looker.oldest_near);
    // Another comes late, while all of them move.
    let mut late = Looker { all: 1000, began_ms: simulation.now().micros() / 1000, ..Looker::default() };
    late.who = add(&mut simulation, link(50));
    seconds(&mut simulation, 3.0, &mut late);

    assert!(late.plays_ms.is_some_and(|ms| ms <= 300 + 2 * 100), "{:?}", late.plays_ms);
    assert!(late.has_all_ms.is_some_and(|ms| ms <= 2000), "{:?}", late.has_all_ms);
}

#[test]
fn of_ten_thousand_of_which_300_move_everything_comes_and_who_joins_plays_at_once() {
    let mut simulation = session(10_000, 300, 64_000);
    let mut looker = Looker { all: 10_000, ..Looker::default() };
    looker.who = add(&mut simulation, link(50));
    seconds(&mut simulation, 6.0, &mut looker);

    assert!(looker.plays_ms.is_some_and(|ms| ms <= 300 + 2 * 100), "{:?}", looker.plays_ms);
    assert!(looker.has_all_ms.is_some(), "{:?}", looker.has_all_ms);
    looker.looks = true;
    seconds(&mut simulation, 3.0, &mut looker);

    assert!(looker.oldest <= 64 && looker.oldest_near * 1000 / 64 <= 100, "{} {}", looker.oldest, looker.oldest_near);
}

/// How many bytes a player is sent in each second, in bytes per second.
fn rate(simulation: &mut Simulation<Swarm>, who: usize, for_s: f64) -> f64 {
    let received =
        |simulation: &Simulation<Swarm>| simulation.players[who].client.stats().network.bytes_received as f64;
    let before = received(simulation);
    seconds(simulation, for_s, &mut Looker::default());
    (received(simulation) - before) / for_s
}

#[test]
fn a_link_without_a_bottleneck_takes_the_whole_budget_whatever_its_jitter_and_its_losses() {
    for (budget, latency_ms, jitter_ms, loss) in
        [(64_000, 50, 0, 0.0), (128_000, 50, 100, 0.02), (128_000, 300, 0, 0.1), (2_000_000, 50, 100, 0.05)]
    {
        let count = if budget > 200_000 { 2500 } else { 500 };
        let mut simulation = session(count, count.into(), budget);
        let (jitter, loss) = (Duration::from_millis(jitter_ms), Loss::Uniform(loss));
        let who = add(&mut simulation, Conditions { jitter, loss, ..link(latency_ms) });
        seconds(&mut simulation, 7.0, &mut Looker::default());
        let used = rate(&mut simulation, who, 1.0) / f64::from(budget);
        assert!(used > 0.85, "{budget} B/s, {latency_ms} ms, {jitter_ms} ms, {loss:?}: {used:.2} of it");
    }
}

#[test]
fn a_short_way_takes_the_whole_budget_however_rarely_states_are_sent() {
    for (budget, snapshot_hz) in [(128_000, 20), (32_000, 2), (24_000, 2)] {
        let mut simulation = session(1000, 1000, budget);
        simulation.server.server.config_mut().snapshot_rate = SendRate::Hz(snapshot_hz);
        let who = add(&mut simulation, link(2));
        seconds(&mut simulation, 8.0, &mut Looker::default());
        let used = rate(&mut simulation, who, 2.0) / f64::from(budget);
        let client = &simulation.players[who].client;
        let (newest, rows) = client.newest_snapshot().expect("a state");
        let older = rows.iter().filter(|row| client.told_in(row.key()) < Some(newest)).count();
        // Where less is enough, everything has been told of the newest state.
        assert!(used > 0.85 || older == 0, "{budget} B/s, {snapshot_hz} Hz: {used:.2} of it, {older} rows are older");
        assert_eq!(older == 0, budget == 32_000, "{budget} B/s, {snapshot_hz} Hz: {older} rows are older");
    }
}

#[test]
fn one_large_row_and_a_budget_of_next_to_nothing_let_nothing_starve() {
    for budget in [0, 2000] {
        let mut simulation = session(50, 0, budget);
        let boulder = Boulder { much: [0x9e37_79b9; 30], ..Boulder::default() };
        simulation.server.world.boulders.insert(owned(1000, Tick::ZERO), boulder);
        let mut looker = Looker { all: 50, ..Looker::default() };
        looker.who = add(&mut simulation, link(50));
        seconds(&mut simulation, 10.0, &mut looker);
        let (_, rows) = simulation.players[looker.who].client.newest_snapshot().expect("a state");
        assert_eq!(rows.states::<Boulder>().count(), 1, "{budget} B/s");
        assert!(looker.has_all_ms.is_some(), "{budget} B/s");
    }
}

/// Of the server's rows that a player has, how old the oldest state was that was had of any; in ticks.
struct Oldest {
    who: usize,
    nowhere: u32,
    somewhere: u32,
}

impl Driver<Swarm> for Oldest {
    fn input(&mut self, _: usize, _: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, player: usize, _: Moment, client: &Client<Swarm>, _: &Frame<'_>) {
        let Some((tick, rows)) = client.newest_snapshot().filter(|_| player == self.who) else { return };
        for row in rows.iter().filter(|row| row.owner == PlayerId::SERVER) {
            let of = if rows.state::<Tally>(row.entity).is_some() { &mut self.nowhere } else { &mut self.somewhere };
            *of = (*of).max(tick.since(client.told_in(row.key()).expect("it was told")));
        }
    }
}

#[test]
fn what_is_nowhere_takes_its_turns_among_what_is_somewhere() {
    let mut simulation = session(500, 500, 24_000);
    for nth in 0..200 {
        simulation.server.world.tallies.insert(owned(2000 + nth, Tick::ZERO), Tally::default());
    }
    let who = add(&mut simulation, link(50));
    seconds(&mut simulation, 4.0, &mut Looker::default());
    let mut oldest = Oldest { who, nowhere: 0, somewhere: 0 };
    simulation.run_until(simulation.now() + Duration::from_secs(4), &mut oldest);
    let (_, rows) = simulation.players[who].client.newest_snapshot().expect("a state");
    assert_eq!((rows.states::<Tally>().count(), rows.states::<Mote>().count()), (200, 500));
    let Oldest { nowhere, somewhere, .. } = oldest;
    // What is nowhere counts as near; what is far waits for two seconds at most.
    assert!((2..=64).contains(&nowhere) && (2..=128).contains(&somewhere), "{nowhere} and {somewhere} ticks");
}

#[test]
fn what_comes_and_goes_on_a_long_way_is_told_and_forgotten() {
    for latency_ms in [50, 600] {
        let mut world = Swarm::of(20, 0);
        world.churn = 20;
        let config = ServerConfig { budget: 64_000, ..ServerConfig::default() };
        let mut simulation = Simulation::new(Rules::new(Swarm::schema()), config, world, 7);
        let who = add(&mut simulation, link(latency_ms));
        seconds(&mut simulation, 8.0, &mut Looker::default());
        let early = rate(&mut simulation, who, 2.0);
        seconds(&mut simulation, 6.0, &mut Looker::default());
        let late = rate(&mut simulation, who, 2.0);
        assert!(late < early * 1.2, "{latency_ms} ms: {early} B/s, then {late} B/s");
        simulation.server.world.churn = 0;
        seconds(&mut simulation, 3.0, &mut Looker::default());
        let (_, rows) = simulation.players[who].client.newest_snapshot().expect("a state");
        let there = simulation.server.server.rows();
        assert!(rows.states::<Mote>().count() == there.states::<Mote>().count(), "{latency_ms} ms");
    }
}

#[test]
fn a_small_budget_is_no_debt_for_later() {
    let mut simulation = session(200, 200, 1000);
    let who = add(&mut simulation, link(50));
    seconds(&mut simulation, 20.0, &mut Looker::default());
    simulation.server.server.config_mut().budget = 64_000;
    seconds(&mut simulation, 1.0, &mut Looker::default());
    let rate = rate(&mut simulation, who, 1.0);
    assert!(rate > 50_000.0, "{rate} B/s");
}

/// By how much what is shown of the server's moves from frame to frame at most, in metres.
#[derive(Default)]
struct Steps {
    last: BTreeMap<Entity, [f64; 3]>,
    largest: f64,
}

impl Driver<Swarm> for Steps {
    fn input(&mut self, _: usize, _: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _: usize, at: Moment, client: &Client<Swarm>, _: &Frame<'_>) {
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in views.iter().filter(|view| view.owner == PlayerId::SERVER) {
            let place = view.pose().position;
            let last = self.last.insert(view.entity, place).unwrap_or(place);
            self.largest = self.largest.max((place[0] - last[0]).hypot(place[2] - last[2]));
        }
    }
}

#[test]
fn what_was_told_too_long_ago_to_go_on_does_not_jump_when_it_is_told_again() {
    let mut simulation = session(300, 300, 24_000);
    add(&mut simulation, link(50));
    simulation.run_until(simulation.now() + Duration::from_secs(3), &mut Steps::default());
    let mut steps = Steps::default();
    simulation.run_until(simulation.now() + Duration::from_secs(5), &mut steps);
    // The fastest make 5 cm in a frame, and what is hidden vanishes besides; a jump would be one of more than a metre.
    assert!(steps.last.len() == 300 && steps.largest < 0.3, "{}", steps.largest);
}

#[test]
fn what_rested_for_long_and_moves_again_is_shown_in_time_though_the_way_is_long_and_uneven() {
    for seed in [3, 4] {
        let mut simulation =
            Simulation::new(Rules::new(Swarm::schema()), ServerConfig::default(), Swarm::of(32, 32), seed);
        let (jitter, loss) = (Duration::from_millis(40), Loss::Uniform(0.05));
        let who = add(&mut simulation, Conditions { jitter, loss, duplicates: 0.02, ..link(120) });
        for _ in 0..3 {
            simulation.server.world.moving = 0;
            seconds(&mut simulation, 12.0, &mut Looker::default());
            simulation.server.world.moving = 32;
            // The first time it is not known yet how much the way takes.
            seconds(&mut simulation, 2.0, &mut Looker::default());
            let mut oldest = Oldest { who, nowhere: 0, somewhere: 0 };
            simulation.run_until(simulation.now() + Duration::from_secs(10), &mut oldest);
            assert!(oldest.somewhere <= 4, "seed {seed}: {} ticks", oldest.somewhere);
        }
    }
}
