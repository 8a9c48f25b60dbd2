//! Entities of different players that push each other: what a client can't foresee of it is explained as such.

use crate::common::Buttons;
use crate::common::f64_mass::Body;
use core::time::Duration;
use foretell::session::client::{Causes, Corrected, Predict};
use foretell::{
    Client, ClientConfig, Entity, Frame, PlayerId, Rules, ServerConfig, Simulate, Step, Table, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};

/// How near bodies come before they push each other away, in metres.
const REACH_M: f64 = 2.0;

/// So many bodies a player has at most.
const DROPPED_MAX: usize = 4;

/// Bodies that push each other away. Whoever jumps drops another one, and loses the oldest dropped one when there are too
/// many.
#[derive(World, Default)]
struct Brawl {
    bodies: Table<Body>,
}

impl Simulate for Brawl {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for (nth, joined) in step.joined().iter().enumerate() {
            let body = Body { position: [2.5 * nth as f64, 0.0, f64::from(joined.player.get())], ..Body::default() };
            self.bodies.spawn(step, joined.player, body);
        }
        self.bodies.remove_left(step);
        for input in step.inputs().iter().filter(|input| input.input.jump) {
            let dropped: Vec<Entity> = self.bodies.owned_by(input.player).map(|body| body.entity()).collect();
            let Some(place) = dropped.first().and_then(|first| self.bodies.get(*first)).map(|body| *body) else {
                continue;
            };
            if let Some(oldest) = dropped.get(1).filter(|_| dropped.len() == DROPPED_MAX) {
                self.bodies.remove(*oldest);
            }
            self.bodies.spawn(step, input.player, place);
        }
        let before = self.bodies.clone();
        for mut body in self.bodies.simulated(step) {
            let entity = body.entity();
            for other in before.iter().filter(|other| other.entity() != entity) {
                let [x, z] = [0, 2].map(|axis| body.position[axis] - other.position[axis]);
                if x * x + z * z < REACH_M * REACH_M {
                    step.touch(body.owned(), other.owned());
                    body.velocity[0] += x.signum() * 0.4;
                    body.velocity[2] += z.signum() * 0.4;
                }
            }
            if let Some(input) = step.input(body.owner()) {
                body.step(input.input, step.seconds());
            }
        }
    }
}

#[derive(Default)]
struct Play {
    seed: u64,
    /// Whether players jump.
    jumps: bool,
    quiet_from: Option<Tick>,
    own: Vec<Corrected>,
    others: Vec<Corrected>,
}

impl Driver<Brawl> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        if self.quiet_from.is_some_and(|quiet| tick >= quiet) {
            return Buttons::default();
        }
        let part = u64::from(tick.get() / 24);
        Buttons::from_bits(
            SplitMix64::new(self.seed ^ part ^ (player as u64) << 32).next_u64() & if self.jumps { 31 } else { 15 },
        )
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Brawl>, frame: &Frame<'_>) {
        for one in frame.corrections {
            assert!(!one.causes.is_unexplained(), "{one:?}");
            let mine = Some(one.owner) == client.player();
            if mine { &mut self.own } else { &mut self.others }.push(*one);
        }
        let outcomes = client.stats().prediction.outcomes;
        assert!(outcomes.add_up(), "{outcomes:?}");
    }
}

fn session(predict: Predict, loss: f64, seed: u64) -> Simulation<Brawl> {
    let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Brawl::schema()), config, Brawl::default(), seed);
    for _ in 0..4 {
        let client = ClientConfig { predict, ..ClientConfig::default() };
        let conditions =
            Conditions { latency: Duration::from_millis(50), loss: Loss::Uniform(loss), ..Conditions::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Brawl::default() });
    }
    simulation
}

fn run(simulation: &mut Simulation<Brawl>, seconds: u64, play: &mut Play) {
    let until = simulation.now() + Duration::from_secs(seconds);
    simulation.run_until(until, play);
}

#[test]
fn what_bodies_of_others_do_to_the_own_one_is_a_cause() {
    for predict in [Predict::Own, Predict::Everyone] {
        let mut pushed = 0;
        for seed in 0..6 {
            let mut simulation = session(predict, 0.0, seed);
            let mut play = Play { seed, ..Play::default() };
            run(&mut simulation, 3, &mut play);
            play.own.clear();
            run(&mut simulation, 20, &mut play);
            pushed += play.own.len();
            let named = Causes::OTHERS.with(Causes::RELAYED_INPUT);
            assert!(play.own.iter().all(|one| named.contains(one.causes)), "nothing else happened");
        }
        assert!(pushed > 10, "{predict:?}: they push each other: {pushed}");
    }
}

#[test]
fn everybody_predicted_agrees_with_the_server_when_all_are_calm() {
    for seed in 0..6 {
        let mut simulation = session(Predict::Everyone, 0.1, seed);
        let mut play = Play { seed, ..Play::default() };
        run(&mut simulation, 10, &mut play);
        play.quiet_from = Some(Tick::ZERO);
        run(&mut simulation, 5, &mut play);
        let tick = simulation.server.server.tick();
        for host in &simulation.players {
            let predicted = host.client.predicted(tick).expect("remembered");
            assert_eq!((predicted.len(), predicted.digest()), (4, simulation.server.server.rows().digest()));
        }
    }
}

#[test]
fn predicting_everybody_makes_pushes_agree_more_often() {
    let own = |predict: Predict| {
        let mut simulation = session(predict, 0.0, 1);
        let mut play = Play { seed: 1, ..Play::default() };
        run(&mut simulation, 60, &mut play);
        play.own.iter().map(|one| one.shown_m).sum::<f64>()
    };
    let (proxies, predicted) = (own(Predict::Own), own(Predict::Everyone));
    assert!(predicted < proxies, "{predicted} m of corrections of the own body, and {proxies} m among proxies");
}

#[test]
fn what_others_drop_is_predicted_and_nothing_is_left_behind() {
    for seed in 0..4 {
        let mut simulation = session(Predict::Everyone, 0.05, seed);
        let mut play = Play { seed, jumps: true, ..Play::default() };
        run(&mut simulation, 4, &mut play);
        let mut random = SplitMix64::new(seed);
        for _ in 0..60 {
            let (looker, other) = (random.next_u64() as usize % 4, random.next_u64() as u16 % 4 + 1);
            simulation.players[looker].client.predict(PlayerId::new(other), random.chance(0.5));
            let until = simulation.now() + Duration::from_millis(130);
            simulation.run_until(until, &mut play);
        }
        play.quiet_from = Some(Tick::ZERO);
        run(&mut simulation, 3, &mut play);
        assert!(simulation.server.world.bodies.len() > 8, "they drop things");
        for host in &simulation.players {
            let names = |world: &Brawl| world.bodies.iter().map(|body| body.owned()).collect::<Vec<_>>();
            assert_eq!(names(&host.world), names(&simulation.server.world));
        }
    }
}
