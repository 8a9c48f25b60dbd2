//! A rollback of 16 ticks through the timeline that clients use, which saves now and then and keeps rows of every tick,
//! against 16 bare steps and one restored world, in CPU time: where one state after the other is corrected, as it comes, and
//! where it is one now and then.

#[path = "../tests/session/pile.rs"]
mod pile;

use cpu_time::ThreadTime;
use foretell::rollback::Timeline;
use foretell::world::{InputStatus, PlayerInput, Side};
use foretell::{Rows, Simulate, Step, Tick, TickRate, World};
use foretell_rapier::Physics;
use pile::{Keys, ME, Pile, predicted};
use std::time::Duration;

const DEPTH: u32 = 16;
const ROUNDS: usize = 40;
/// How many ticks lie between one correction and the next, in turn: always as many; as where some of 16 snapshots per second
/// are lost, or agree; and without any order.
const PATTERNS: [&[u32]; 7] = [&[1], &[4], &[7], &[16], &[37], &[4, 4, 8, 4, 12, 4, 4, 4], &[3, 11, 6, 25, 1, 14, 8]];

fn keys(tick: Tick) -> PlayerInput<Keys> {
    let input = Keys { d: tick.get() % 128 < 96, a: tick.get() % 128 >= 96, ..Keys::default() };
    PlayerInput { player: ME, input, status: InputStatus::Received, presented: None }
}

/// As the server steps: everything moves.
fn step(world: &mut Pile, tick: Tick) {
    let inputs = [keys(tick)];
    world.step(&mut Step::new(tick, TickRate::default(), Side::Server, &inputs));
}

/// A client in the heap.
struct Driven {
    world: Pile,
    timeline: Timeline<Pile>,
}

impl Driven {
    fn new(mut world: Pile, interval: u32) -> Driven {
        let timeline = predicted(&mut world, interval);
        let mut driven = Driven { world, timeline };
        driven.play_to(Tick::new(DEPTH * 25));
        driven
    }

    fn play_to(&mut self, until: Tick) {
        for tick in self.timeline.present().until(until) {
            self.timeline.give(tick, keys(tick));
            self.timeline.advance(&mut self.world, &Rows::new(&Pile::schema()));
        }
    }

    /// Plays so many ticks on, and goes back.
    fn play_and_roll_back(&mut self, ticks: u32) -> Duration {
        let until = self.timeline.present() + ticks;
        self.play_to(until);
        let start = until.back(DEPTH).expect("later than that");
        let authority = self.timeline.rows(start).expect("remembered").clone();
        let began = ThreadTime::now();
        self.timeline.rewrite(&mut self.world, start, &authority);
        self.timeline.resimulate(&mut self.world, u32::MAX);
        began.elapsed()
    }
}

/// The same world without anything around its steps, so many ticks before the present.
struct Bare {
    world: Pile,
    at: Tick,
    saved: Physics,
}

impl Bare {
    /// As `driven` has it.
    fn new(driven: &mut Driven) -> Bare {
        let present = driven.timeline.present();
        let at = present.back(DEPTH).expect("later than that");
        let authority = driven.timeline.rows(at).expect("remembered").clone();
        driven.timeline.rewrite(&mut driven.world, at, &authority);
        let world = driven.world.clone();
        driven.timeline.resimulate(&mut driven.world, u32::MAX);
        Bare { world, at, saved: Physics::default() }
    }

    fn digest(&mut self) -> Option<u64> {
        let mut rows = Rows::new(&Pile::schema());
        self.world.publish(&mut rows);
        Some(rows.digest())
    }

    fn step_to(&mut self, tick: Tick) {
        self.at.until(tick).for_each(|tick| step(&mut self.world, tick));
        self.at = tick;
    }

    /// Plays so many ticks on, and from there as far as the present, restored and stepped.
    fn play_and_repeat(&mut self, ticks: u32) -> Duration {
        let start = self.at + ticks;
        self.step_to(start);
        self.world.save(&mut self.saved);
        self.step_to(start + DEPTH);
        let began = ThreadTime::now();
        self.world.load(&self.saved);
        self.at = start;
        self.step_to(start + DEPTH);
        let took = began.elapsed();
        self.world.load(&self.saved);
        self.at = start;
        took
    }
}

/// The median, in milliseconds.
fn median(mut of: Vec<f64>) -> f64 {
    of.sort_unstable_by(f64::total_cmp);
    of[of.len() / 2]
}

fn main() {
    println!(
        "16 ticks back, CPU time; {ROUNDS} pairs that were measured in turns: the medians, that of their ratios, and the ratio of all"
    );
    println!("| cubes | saved every | corrected every | 16 bare steps and a restore | rollback | ratio | of all |");
    println!("|---|---|---|---:|---:|---:|---:|");
    let cases: [(&str, Pile, u32); 6] = [
        ("100 in a heap, some asleep", Pile::heap(100, false), 4),
        ("100 in a heap, all awake", Pile::heap(100, true), 4),
        ("901 in a heap, some asleep", Pile::heap(901, false), 4),
        ("901 in a heap, all awake", Pile::heap(901, true), 4),
        ("901 in a field, most asleep", Pile::field(901), 24),
        ("the 96 of a field that a client is told of, most asleep", Pile::field(96), 24),
    ];
    // As with other benches: those whose name has what is asked for.
    let asked = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for (name, world, interval) in cases.into_iter().filter(|(name, ..)| name.contains(&asked)) {
        for apart in PATTERNS {
            let mut driven = Driven::new(world.clone(), interval);
            let mut bare = Bare::new(&mut driven);
            let turns = apart.iter().cycle().take(ROUNDS);
            let pairs: Vec<[f64; 2]> = turns
                .map(|apart| [bare.play_and_repeat(*apart), driven.play_and_roll_back(*apart)])
                .map(|pair| pair.map(|took| took.as_secs_f64() * 1000.0))
                .collect();
            assert_eq!(bare.digest(), driven.timeline.rows(bare.at).map(Rows::digest), "both have come to the same");
            let [bare, rolled] = [0, 1].map(|nth| median(pairs.iter().map(|pair| pair[nth]).collect()));
            let ratio = median(pairs.iter().map(|[bare, rolled]| rolled / bare).collect());
            let [all_bare, all_rolled] = [0, 1].map(|nth| pairs.iter().map(|pair| pair[nth]).sum::<f64>());
            let of_all = all_rolled / all_bare;
            println!(
                "| {name} | {interval} ticks | {apart:?} | {bare:.2} ms | {rolled:.2} ms | {ratio:.2} | {of_all:.2} |"
            );
        }
    }
}
