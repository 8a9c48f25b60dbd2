//! Who joins beside a level, and with the other players behind it.

use crate::budgets::link;
use foretell::{
    Client, ClientConfig, Frame, Input, Instant, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table, Tick,
    Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    at: [f32; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Block {
    #[state(position)]
    at: [f32; 2],
    round: u8,
}

#[derive(World, Clone, Default)]
struct Level {
    pawns: Table<Pawn>,
    blocks: Table<Block>,
    #[world(constant)]
    count: u16,
}

/// Everybody but who joins last.
const OTHERS: u16 = 4;
const WALKS_MPS: f32 = 3.0;
const FRAME_HZ: u32 = 60;

impl Simulate for Level {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        if step.is_authority() && step.tick() == Tick::new(1) {
            for nth in 0..self.count {
                let at = [f32::from(nth % 20), 2.0 + f32::from(nth / 20)];
                self.blocks.spawn(step, PlayerId::SERVER, Block { at, round: 1 });
            }
        }
        for joined in step.joined() {
            let at = if joined.player.get() <= OTHERS { [0.0, 45.0] } else { [0.0; 2] };
            self.pawns.spawn(step, joined.player, Pawn { at });
        }
        for mut pawn in self.pawns.simulated(step) {
            pawn.at[0] += WALKS_MPS * step.seconds() as f32;
        }
    }
}

/// When the last player plays, sees all others, and has the level; and how the others walk meanwhile.
#[derive(Default)]
struct Watch {
    /// How many blocks there are.
    blocks: usize,
    views: Views,
    plays: Option<Instant>,
    sees_all: Option<Instant>,
    is_complete: Option<Instant>,
    /// Where each other player was shown last, and how far from its speed one was shown to go at most, in metres a frame.
    shown: BTreeMap<PlayerId, f32>,
    unsteady_m: f32,
}

impl Driver<Level> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Keys {
        Keys {}
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Level>, _: &Frame<'_>) {
        if player != usize::from(OTHERS) || client.player().is_none() {
            return;
        }
        client.present(at.local, &mut self.views);
        let pawns = self.views.iter().filter(|view| view.get::<Pawn>().is_some());
        let (others, own): (Vec<_>, Vec<_>) = pawns.partition(|view| Some(view.owner) != client.player());
        for view in &others {
            let [x, _] = view.get::<Pawn>().expect("it is one").at;
            if let Some(before) = self.shown.insert(view.owner, x) {
                let steady_m = WALKS_MPS / FRAME_HZ as f32;
                self.unsteady_m = self.unsteady_m.max((x - before - steady_m).abs());
            }
        }
        let blocks = self.views.iter().filter(|view| view.get::<Block>().is_some()).count();
        let note = |when: &mut Option<Instant>, is_so: bool| {
            if is_so {
                when.get_or_insert(at.now);
            }
        };
        note(&mut self.plays, !own.is_empty());
        note(&mut self.sees_all, others.len() == usize::from(OTHERS));
        note(&mut self.is_complete, blocks == self.blocks);
    }
}

/// A level of so many blocks, which somebody joins who is so far away, when all others play.
fn join_level(count: u16, latency_ms: u64) -> Watch {
    let level = Level { count, ..Level::default() };
    let mut simulation = Simulation::new(Rules::new(Level::schema()), ServerConfig::default(), level.clone(), 1);
    let mut watch = Watch { blocks: count.into(), ..Watch::default() };
    for seconds in [3, 8] {
        for _ in 0..if seconds == 3 { OTHERS } else { 1 } {
            let (client, world) = (ClientConfig::default(), level.clone());
            let (host, conditions) = (HostOptions::at(FRAME_HZ), link(latency_ms));
            simulation.add_player(PlayerOptions { client, host, conditions, world });
        }
        simulation.run_until(Instant::ZERO + Duration::from_secs(seconds), &mut watch);
    }
    watch
}

const LEVELS: [(u16, u64); 5] = [(200, 20), (200, 150), (800, 20), (800, 80), (800, 150)];

#[test]
fn who_joins_sees_the_other_players_before_the_last_block_of_a_level_that_is_nearer() {
    for (count, latency_ms) in LEVELS {
        let watch = join_level(count, latency_ms);
        let plays = watch.plays.expect("they have joined");
        let after_ms = |when: Option<Instant>| when.expect("it has come").since(plays).as_millis();
        let (sees_ms, complete_ms) = (after_ms(watch.sees_all), after_ms(watch.is_complete));
        assert!(sees_ms < complete_ms && sees_ms < 100, "{count} blocks, {latency_ms} ms: {sees_ms} ms");
        assert!(complete_ms < 2000, "{count} blocks, {latency_ms} ms: {complete_ms} ms");
    }
}

#[test]
fn who_joins_sees_the_other_players_walk_while_a_level_comes_that_is_nearer() {
    for (count, latency_ms) in LEVELS {
        let watch = join_level(count, latency_ms);
        assert!(watch.is_complete.is_some() && watch.shown.len() == usize::from(OTHERS));
        // As far as they go in a frame.
        assert!(watch.unsteady_m < 0.055, "{count} blocks, {latency_ms} ms: {} m", watch.unsteady_m);
    }
}
