//! Shared mode: each of two clients in turn takes a crate, carries it by frame, and lets it go. The server decides who
//! has it, and holds back who is too fast.

use foretell::motion::{AntiAliasing, FrameMover};
use foretell::session::Claim;
use foretell::session::client::{AuthorityChange, ClientEvent};
use foretell::{Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, ServerConfig};
use foretell::{Simulate, State, Step, Table, Tick, TickRate, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::time::Duration;

/// Players press nothing here: what they do, they do with what they hold.
#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Nothing(bool);

/// Its holder writes where it is; how worn it is, and what it is worth, are the server's alone. Others see it wear off
/// evenly, and its worth step.
#[derive(State, Clone, Copy, Default)]
struct Crate {
    #[state(position, writer = owner)]
    x: [f32; 1],
    #[state(velocity, writer = owner)]
    speed: [f32; 1],
    #[state(blended)]
    wear: f32,
    worth: u32,
}

const CRATE: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

#[derive(World, Default)]
struct Store {
    crates: Table<Crate>,
}

impl Simulate for Store {
    type Input = Nothing;

    fn step(&mut self, step: &mut Step<'_, Nothing>) {
        if step.is_authority() {
            self.crates.iter_mut().for_each(|mut it| it.wear += 0.01 * step.seconds() as f32);
        }
        // What a client carries, or this machine does not simulate, is a proxy: its row is there already.
        for mut it in self.crates.simulated(step) {
            it.speed[0] *= 0.95;
            it.x[0] += it.speed[0] * step.seconds() as f32;
        }
    }
}

/// What the game of each player keeps of the crate while it moves it.
#[derive(Default)]
struct Game([Option<(FrameMover<f32, 1>, Crate)>; 2]);

impl Driver<Store> for Game {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(true)
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Store>) {
        // For a second of four each.
        let turn = at.now.micros() / 1_000_000;
        let mine = turn % 2 == 1 && (turn / 2) % 2 == player as u64;
        match &mut self.0[player] {
            None if mine => client.request(CRATE, Claim::Ownership),
            Some((mover, it)) => {
                it.speed = [if player == 0 { 2.0 } else { -2.0 }];
                let until = client.tick_time(at.local);
                let captured = |tick, x| client.capture(CRATE, tick, &Crate { x, ..*it });
                let x = mover.frame(it.speed, until, captured);
                client.show(CRATE, &Crate { x, ..*it });
                if !mine {
                    client.release(CRATE);
                }
            }
            None => {}
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Store>, frame: &Frame<'_>) {
        for event in frame.events {
            let ClientEvent::Authority { entity: CRATE, what } = event else { continue };
            println!("{:.2} s: player {}: {what:?}", at.local.micros() as f64 / 1e6, player + 1);
            if *what == AuthorityChange::Began {
                let it: Crate = client.held(at.local, CRATE).expect("it has just begun");
                let from = client.tick_time(at.local);
                self.0[player] = Some((FrameMover::new(AntiAliasing::Exact, TickRate::default(), 5.0, it.x, from), it));
            } else if client.held::<Crate>(at.local, CRATE).is_none() {
                self.0[player] = None;
            }
        }
    }
}

/// Ten seconds of it.
pub fn main() {
    let schema = Store::schema().with_speed_max::<Crate>(5.0);
    let mut store = Store::default();
    let of = Owned { entity: CRATE, owner: PlayerId::SERVER };
    store.crates.insert(of, Crate { worth: 100, ..Crate::default() });
    let mut session = Simulation::new(Rules::new(schema), ServerConfig::default(), store, 42);
    for latency in [30, 80] {
        let latency = Duration::from_millis(latency);
        let conditions = Conditions { latency, loss: Loss::Uniform(0.05), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        session.add_player(PlayerOptions { client, host, conditions, world: Store::default() });
    }
    let mut game = Game::default();
    for second in 1..=10 {
        session.run_until(Instant::from_micros(second * 1_000_000), &mut game);
        let it: Crate = session.server.server.rows().state(CRATE).expect("it is there");
        println!(
            "{second} s: the server has it at {:.2} m, {:.0} % worn, worth {}",
            it.x[0],
            it.wear * 100.0,
            it.worth
        );
    }
    assert!(session.server.server.holder(CRATE).is_some(), "the second player carries it again in the tenth second");
}
