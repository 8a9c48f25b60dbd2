//! Who joins beside a level, and with the other players behind it.

use crate::budgets::link;
use foretell::{
    Client, ClientConfig, Frame, Input, Instant, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table, Tick,
    Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
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
    }
}

/// When the last player plays, sees all others, and has the level.
#[derive(Default)]
struct Watch {
    /// How many blocks there are.
    blocks: usize,
    views: Views,
    plays: Option<Instant>,
    sees_all: Option<Instant>,
    is_complete: Option<Instant>,
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

#[test]
fn who_joins_sees_the_other_players_before_the_last_block_of_a_level_that_is_nearer() {
    for (count, latency_ms) in [(200, 20), (200, 150), (800, 20), (800, 80), (800, 150)] {
        let level = Level { count, ..Level::default() };
        let mut simulation = Simulation::new(Rules::new(Level::schema()), ServerConfig::default(), level.clone(), 1);
        let mut watch = Watch { blocks: count.into(), ..Watch::default() };
        for seconds in [3, 8] {
            for _ in 0..if seconds == 3 { OTHERS } else { 1 } {
                let (client, world) = (ClientConfig::default(), level.clone());
                let (host, conditions) = (HostOptions::at(60), link(latency_ms));
                simulation.add_player(PlayerOptions { client, host, conditions, world });
            }
            simulation.run_until(Instant::ZERO + Duration::from_secs(seconds), &mut watch);
        }
        let plays = watch.plays.expect("they have joined");
        let after_ms = |when: Option<Instant>| when.expect("it has come").since(plays).as_millis();
        let (sees_ms, complete_ms) = (after_ms(watch.sees_all), after_ms(watch.is_complete));
        assert!(sees_ms < complete_ms && sees_ms < 100, "{count} blocks, {latency_ms} ms: {sees_ms} ms");
        assert!(complete_ms < 2000, "{count} blocks, {latency_ms} ms: {complete_ms} ms");
    }
}
