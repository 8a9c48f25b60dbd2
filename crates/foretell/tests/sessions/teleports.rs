//! Who is put elsewhere by a step that says so is shown to nobody on the way, by any curve: not in the past, not
//! where a prediction was wrong, and not where it goes over from predicted to told.

use core::time::Duration;
use foretell::session::client::{EntityMode, PoseSource, Predict, Show};
use foretell::session::host::LocalPlayer;
use foretell::{
    Client, ClientConfig, Curve, Entity, Frame, Input, Instant, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, Host, HostOptions, LocalSeat, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeMap;

const DRIVES_MPS: f64 = 14.0;
/// So far it is put aside: no farther than what drives so fast may be hidden to be.
const ASIDE_M: f64 = 8.0;

/// On one side of the road or on the other.
#[derive(State, Clone, Copy, Default, Debug)]
struct Car {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
    #[state(teleports)]
    teleports: u8,
}

impl Car {
    fn beside(lane: u16) -> Car {
        Car { at: [0.0, 10.0 * f64::from(lane), 0.0], velocity: [DRIVES_MPS, 0.0, 0.0], teleports: 0 }
    }

    fn put_aside(&mut self) {
        self.at[2] = ASIDE_M - self.at[2];
        self.teleports = self.teleports.wrapping_add(1);
    }
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    hops: bool,
}

/// A car for each player, and one of the server's for each curve.
#[derive(World, Default)]
struct Road(Table<Car>);

const fn of_server(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

impl Simulate for Road {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        if step.is_authority() && step.tick() == Tick::ZERO {
            for nth in 0..8 {
                self.0.spawn(step, PlayerId::SERVER, Car::beside(10 + nth));
            }
        }
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Car::beside(joined.player.get()));
        }
        for mut car in self.0.simulated(step) {
            let (owner, tick) = (car.owner(), step.tick().get());
            let input = step.input(owner);
            for (of, pose) in input.iter().flat_map(|_| step.rewound(owner).poses()) {
                look_at(of.entity, pose.position);
            }
            car.at[0] += DRIVES_MPS * step.seconds();
            // As everybody foresees, as the server alone knows, and as its player wants it.
            let lane = (car.at[1] / 10.0) as u32;
            let is_foreseen = (tick + 13 * lane).is_multiple_of(90);
            let is_not = step.is_authority() && (tick + 29 * lane).is_multiple_of(70);
            if is_foreseen || is_not || input.is_some_and(|input| input.input.hops) {
                car.put_aside();
            }
        }
    }
}

/// On which side it is.
fn look_at(entity: Entity, position: [f64; 3]) -> bool {
    let [_, _, aside] = position;
    assert!(aside == 0.0 || aside == ASIDE_M, "{entity} is shown {aside} m aside");
    aside != 0.0
}

/// Who looks, at whom, and whether what is seen is predicted.
type Look = (Option<usize>, Entity, bool);

#[derive(Default)]
struct Watch {
    /// In how many frames it was on each side.
    sides: BTreeMap<Look, [u32; 2]>,
    /// How many corrections were shown at once, and how many were hidden.
    at_once: u32,
    hidden: u32,
}

impl Watch {
    fn see(&mut self, player: Option<usize>, views: &Views) {
        for view in views.iter() {
            let side = look_at(view.entity, view.pose().position);
            let car: Car = view.get().expect("a car");
            let source = view.source;
            assert_eq!(
                side,
                car.teleports % 2 == 1,
                "{} is where it was put, to {player:?}: {car:?} {source:?}",
                view.entity
            );
            let look = (player, view.entity, view.source == PoseSource::Predicted);
            self.sides.entry(look).or_default()[usize::from(side)] += 1;
        }
    }
}

const CURVES: usize = 0;
const EVERYONE: usize = 1;
const CHANGES: usize = 2;

impl Driver<Road> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        Keys { hops: (tick.get() + 17 * player as u32).is_multiple_of(53) }
    }

    fn local_input(&mut self, tick: Tick) -> Keys {
        Keys { hops: tick.get().is_multiple_of(47) }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Road>) {
        let is_predicted = (at.now.micros() / 700_000).is_multiple_of(2);
        let mode = if is_predicted { EntityMode::Predicted } else { EntityMode::Interpolated };
        if player == CHANGES {
            (0..8).for_each(|nth| client.set_mode(of_server(nth), Some(mode)));
        }
    }

    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, Road>, _frame: &Frame<'_>) {
        let mut views = Views::new();
        seat.present(at.local, &mut views);
        self.see(None, &views);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Road>, frame: &Frame<'_>) {
        for one in frame.corrections {
            (self.at_once, self.hidden) =
                (self.at_once + u32::from(one.teleport), self.hidden + u32::from(!one.teleport));
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        self.see(Some(player), &views);
    }
}

#[test]
fn a_car_at_14_mps_that_is_put_8_m_aside_is_shown_on_the_way_to_nobody_in_no_frame() {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(16), relay_inputs: true, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Road::schema()), config, Road::default(), 5);
    simulation.server.host = Host::new(HostOptions::at(144), Instant::ZERO);
    simulation.seat_player(LocalPlayer::new(Show::Between));
    let conditions = Conditions {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        loss: Loss::Uniform(0.1),
        ..Conditions::default()
    };
    for predict in [Predict::Own, Predict::Everyone, Predict::Own] {
        let client = ClientConfig { predict, ..ClientConfig::default() };
        let (host, world) = (HostOptions::at(144), Road::default());
        simulation.add_player(PlayerOptions { client, host, conditions: conditions.clone(), world });
    }
    for (nth, curve) in (0..).zip(Curve::ALL) {
        for player in [CURVES, CHANGES] {
            simulation.players[player].client.show_with(of_server(nth), curve);
        }
    }
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(24_000_000), &mut watch);
    let sides = |player, nth, is_predicted| {
        let [one, other] = watch.sides.get(&(player, of_server(nth), is_predicted)).copied().unwrap_or_default();
        one.min(other)
    };
    for nth in 0..8 {
        let often = [
            sides(None, nth, false),
            sides(Some(CURVES), nth, false),
            sides(Some(EVERYONE), nth, true),
            sides(Some(CHANGES), nth, true),
            sides(Some(CHANGES), nth, false),
        ];
        assert!(often.iter().all(|frames| *frames > 200), "{nth}: {often:?}");
    }
    assert!(watch.at_once > 100 && watch.hidden > 5, "{} and {}", watch.at_once, watch.hidden);
}
