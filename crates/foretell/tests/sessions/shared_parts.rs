//! Shared mode: a state of several components, of which an owner writes another than the first.

use crate::common::toys::ms;
use core::time::Duration;
use foretell::session::Claim;
use foretell::session::client::{AuthorityChange, ClientEvent};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Owned, PlayerId, Role, Rules, ServerConfig, Simulate, State, Step,
    Table, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;

const DRONE: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Nothing;

/// Everybody is told its name and its charge; its place, everybody but its owner.
#[derive(State, Clone, Copy, PartialEq, Debug, Default)]
struct Drone {
    name: u32,
    #[state(position, writer = owner, audience = others)]
    place: [f64; 3],
    charge: u16,
}

#[derive(World, Clone, Default)]
struct Drones {
    all: Table<Drone>,
}

impl Simulate for Drones {
    type Input = Nothing;

    fn step(&mut self, step: &mut Step<'_, Nothing>) {
        for mut drone in self.all.iter_mut().filter(|drone| step.role(drone.owned()) != Role::Proxy) {
            drone.charge = drone.charge.wrapping_add(1);
        }
    }
}

/// Asks for the drone, and lifts it while it is held.
#[derive(Default)]
struct Lift {
    has_begun: bool,
    held: Vec<Drone>,
}

impl Driver<Drones> for Lift {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing
    }

    fn before_client(&mut self, _player: usize, at: Moment, client: &mut Client<Drones>) {
        if !self.has_begun && at.now > ms(1000) {
            client.request(DRONE, Claim::Ownership);
        }
        if let Some(mut drone) = client.held::<Drone>(at.local, DRONE) {
            self.held.push(drone);
            drone.place[1] = self.held.len() as f64 * 0.01;
            client.capture(DRONE, client.tick(), &drone);
        }
    }

    fn after_client(&mut self, _player: usize, _at: Moment, _client: &Client<Drones>, frame: &Frame<'_>) {
        let began = ClientEvent::Authority { entity: DRONE, what: AuthorityChange::Began };
        self.has_begun |= frame.events.contains(&began);
    }
}

#[test]
fn what_is_held_is_all_of_its_state_whichever_component_its_owner_writes() {
    let mut world = Drones::default();
    let of = Owned { entity: DRONE, owner: PlayerId::SERVER };
    world.all.insert(of, Drone { name: 7, ..Drone::default() });
    let mut simulation = Simulation::new(Rules::new(Drones::schema()), ServerConfig::default(), world, 1);
    let conditions = Conditions { latency: Duration::from_millis(40), ..Conditions::default() };
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Drones::default() });
    let mut lift = Lift::default();
    simulation.run_until(ms(3000), &mut lift);
    assert!(lift.has_begun);
    let [first, last] = [lift.held.first(), lift.held.last()].map(|held| *held.expect("it is held"));
    assert_eq!([first.name, last.name], [7, 7]);
    assert!(
        first.charge > 30 && last.charge > first.charge,
        "what the server writes of it goes on: {first:?}, {last:?}"
    );
    assert!(last.place[1] > 0.5, "and it is where the player says: {last:?}");
    let told = simulation.server.server.rows().state::<Drone>(DRONE).expect("it is there");
    assert!(told.place[1] > 0.5, "on the server, too: {told:?}");
}
