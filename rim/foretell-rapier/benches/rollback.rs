//! A rollback of 16 ticks through the timeline that clients use, which saves now and then and keeps rows of every tick,
//! against 16 bare steps and one restored world. The tick that is gone back to is the worst: halfway between two saved ones.

#[path = "../tests/session/pile.rs"]
mod pile;

use criterion::{Criterion, criterion_group, criterion_main};
use foretell::rollback::{InputStatus, PlayerInput, Predicted, Side, Timeline};
use foretell::{PlayerId, Rows, State, Step, Tick, TickRate, World};
use foretell_rapier::Physics;
use pile::{Keys, Pile, Thing};
use std::time::{Duration, Instant};

const ME: PlayerId = PlayerId::new(1);
const DEPTH: u32 = 16;

fn keys(tick: Tick) -> PlayerInput<Keys> {
    let input = Keys { d: tick.get() % 128 < 96, a: tick.get() % 128 >= 96, ..Keys::default() };
    PlayerInput { player: ME, input, status: InputStatus::Received, presented: None }
}

fn step(world: &mut Pile, tick: Tick, side: Side) {
    let inputs = [keys(tick)];
    let joined: &[PlayerId] = if tick == Tick::ZERO { &[ME] } else { &[] };
    let predicted = Step::new(tick, TickRate::default(), side, &inputs).with_players(joined, &[]);
    world.step(&predicted);
}

/// A client in the heap.
struct Driven {
    world: Pile,
    timeline: Timeline<Pile>,
    interval: u32,
}

impl Driven {
    fn new(cubes: u16, awake: bool, interval: u32) -> Driven {
        let mut world = Pile::new(cubes, awake);
        step(&mut world, Tick::ZERO, Side::Server);
        let mut full = Rows::new(&Thing::schema());
        world.publish(&mut full);
        let mut predicted = Predicted::own(ME);
        predicted.insert(PlayerId::SERVER);
        let mut timeline = Timeline::new(&Thing::schema(), ME, TickRate::default(), 128, interval);
        timeline.begin(&world, Tick::new(1));
        timeline.switch(&mut world, Tick::new(1), &predicted, &full);
        let mut driven = Driven { world, timeline, interval };
        driven.play_to(Tick::new(16 * 25 + interval / 2));
        driven
    }

    fn play_to(&mut self, until: Tick) {
        for tick in self.timeline.present().until(until) {
            self.timeline.give(tick, keys(tick));
            self.timeline.advance(&mut self.world, &Rows::new(&Thing::schema()));
        }
    }

    /// Plays until no state around the one to go back to was saved but by its number. Returns that one.
    fn play_on(&mut self) -> Tick {
        let until = self.timeline.present() + 2 * self.interval;
        self.play_to(until);
        until.back(DEPTH).expect("later than that")
    }

    fn roll_back(&mut self, start: Tick) -> Duration {
        let authority = self.timeline.rows(start).expect("remembered").clone();
        let began = Instant::now();
        self.timeline.rewrite(&mut self.world, start, &authority);
        self.timeline.resimulate(&mut self.world, u32::MAX);
        began.elapsed()
    }

    /// The same without anything around the steps.
    fn step_bare(&mut self, start: Tick, saved: &mut Physics) -> Duration {
        let authority = self.timeline.rows(start).expect("remembered").clone();
        self.timeline.rewrite(&mut self.world, start, &authority);
        self.world.save(saved);
        self.timeline.resimulate(&mut self.world, u32::MAX);
        // The pipeline is as warm as in a game.
        let began = Instant::now();
        self.world.load(saved);
        start.until(start + DEPTH).for_each(|tick| step(&mut self.world, tick, Side::Client(ME)));
        let took = began.elapsed();
        self.roll_back(start);
        took
    }
}

fn bench(c: &mut Criterion) {
    for (cubes, awake, interval, name) in [
        (100, false, 8, "100 cubes, some asleep"),
        (100, true, 8, "100 cubes, all awake"),
        (901, false, 16, "901 cubes, some asleep"),
        (901, true, 16, "901 cubes, all awake"),
    ] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
        let mut saved = Physics::default();
        let mut driven = Driven::new(cubes, awake, interval);
        group.bench_function("16 bare steps and one restore", |b| {
            b.iter_custom(|times| {
                (0..times)
                    .map(|_| {
                        let start = driven.play_on();
                        driven.step_bare(start, &mut saved)
                    })
                    .sum()
            });
        });
        let mut driven = Driven::new(cubes, awake, interval);
        group.bench_function("rollback of 16 ticks", |b| {
            b.iter_custom(|times| {
                (0..times)
                    .map(|_| {
                        let start = driven.play_on();
                        driven.roll_back(start)
                    })
                    .sum()
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
