//! A parcel that lies there, is carried, and flies: the client of who grabs it shows it once, always, and as one thing after the other.

use crate::budgets::link;
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, ServerConfig, Simulate, State, Step,
    Table, Tick, TickRate, Views, World,
};
use foretell_sim::harness::{BotView, Driver, FaultMix, HostOptions, Moment, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    grab: bool,
    throw: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    x: [f32; 1],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Parcel {
    Held {
        #[state(position)]
        x: [f32; 1],
    },
    /// The server alone moves it.
    #[state(predict = never)]
    Flying {
        #[state(position)]
        x: [f32; 1],
        #[state(velocity)]
        v: [f32; 1],
        left: u8,
    },
    Resting {
        #[state(position)]
        x: [f32; 1],
    },
}

impl Parcel {
    fn name(&self) -> char {
        match self {
            Parcel::Held { .. } => 'H',
            Parcel::Flying { .. } => 'F',
            Parcel::Resting { .. } => 'R',
        }
    }
}

/// One of many that go around, so that states are large.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Mote {
    #[state(position)]
    x: [f64; 3],
}

/// What is held in it follows its pawn.
#[derive(World, Clone, Default)]
struct Store {
    pawns: Table<Pawn>,
    parcels: Table<Parcel>,
    motes: Table<Mote>,
    /// Whether who grabs the parcel owns it, too.
    #[world(constant)]
    gives: bool,
    /// For how many ticks it flies, and whether it bursts then.
    #[world(constant)]
    flight: u8,
    #[world(constant)]
    bursts: bool,
    /// In which tick the server knocks it out of whose hand it is in.
    #[world(constant)]
    knocked: u32,
}

fn parcel() -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, 0)
}

impl Store {
    fn of(gives: bool, knocked: u32) -> Store {
        let mut store = Store { gives, knocked, flight: 15, ..Store::default() };
        store.parcels.insert(Owned { entity: parcel(), owner: PlayerId::SERVER }, Parcel::Resting { x: [0.0] });
        store
    }

    /// What a pawn does with the parcel.
    fn handle(&mut self, step: &mut Step<'_, Keys>, pawn: Owned, x: [f32; 1], keys: Keys) {
        let Some(state) = self.parcels.get(parcel()).map(|one| *one) else { return };
        match state {
            Parcel::Resting { .. } if keys.grab => {
                let Some(mut one) = self.parcels.change(step, pawn, parcel()) else { return };
                *one = Parcel::Held { x };
                if self.gives {
                    self.parcels.set_owner(parcel(), pawn.owner);
                }
            }
            Parcel::Flying { .. } if keys.grab => {
                let Some(mut one) = self.parcels.change(step, pawn, parcel()) else { return };
                *one = Parcel::Held { x };
            }
            Parcel::Held { .. } if keys.throw => {
                let Some(mut one) = self.parcels.change(step, pawn, parcel()) else { return };
                *one = Parcel::Flying { x, v: [10.0], left: self.flight };
            }
            _ => {}
        }
    }
}

impl Simulate for Store {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
        }
        let dt = step.seconds() as f32;
        let motes = self.motes.iter_mut().filter(|_| step.is_authority());
        motes.for_each(|mut mote| mote.x[0] += f64::from(step.tick().get() % 7) * 0.01);
        let pawns: Vec<_> =
            self.pawns.simulated(step).map(|mut pawn| (pawn.x[0] += 2.0 * dt, pawn.owned(), pawn.x)).collect();
        for (_, pawn, x) in pawns {
            let Some(keys) = step.input(pawn.owner).map(|player| player.input) else { continue };
            self.handle(step, pawn, x, keys);
        }
        let mut has_landed = false;
        let knocks = step.is_authority() && step.tick().get() == self.knocked;
        for mut one in self.parcels.simulated(step) {
            let owner = one.owner();
            match *one {
                Parcel::Held { x } if knocks => *one = Parcel::Flying { x, v: [0.0], left: 90 },
                Parcel::Held { .. } => {
                    let Some(x) = self.pawns.owned_by(owner).next().map(|pawn| pawn.x) else { continue };
                    *one = Parcel::Held { x };
                }
                Parcel::Flying { x, left: 0, .. } => (*one, has_landed) = (Parcel::Resting { x }, true),
                Parcel::Flying { x, v, left } => *one = Parcel::Flying { x: [x[0] + v[0] * dt], v, left: left - 1 },
                Parcel::Resting { .. } => {}
            }
        }
        if has_landed && self.bursts {
            self.parcels.remove(parcel());
        } else if has_landed {
            self.parcels.set_owner(parcel(), PlayerId::SERVER);
        }
    }
}

/// What the player sees of the parcel.
struct Watch {
    grabs: [u32; 2],
    throws: u32,
    /// What it was, without what it was in the frame before.
    seen: String,
    ended: usize,
}

impl Driver<Store> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        let is_in = |ticks: &[u32]| player == 0 && ticks.contains(&tick.get());
        Keys { grab: is_in(&self.grabs), throw: is_in(&[self.throws]) }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Store>, frame: &Frame<'_>) {
        if player != 0 {
            return;
        }
        let has_ended = |event: &&ClientEvent| !matches!(event, ClientEvent::Spawned(_) | ClientEvent::Confirmed(_));
        let of_parcel = |event: &&ClientEvent| format!("{event:?}").contains(&format!("{}", parcel()));
        let is_change = |event: &&ClientEvent| matches!(event, ClientEvent::ChangeConfirmed { .. });
        let events = frame.events.iter().filter(of_parcel).filter(has_ended).filter(|event| !is_change(event));
        self.ended += events.count();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        let parcels: String = views.iter().filter_map(|view| Some(view.get::<Parcel>()?.name())).collect();
        let is_new = !self.seen.ends_with(&format!(" {parcels}")) && (!parcels.is_empty() || !self.seen.is_empty());
        if is_new {
            self.seen += &format!(" {parcels}");
        }
    }
}

/// What a player sees of the parcel who grabs it in tick 100, throws it in another and catches it in a third; one of two where all is predicted.
fn watch(world: &Store, [throws, catches]: [u32; 2], loss: f64, predicts_all: bool) -> Watch {
    let rules = Rules { tick_rate: TickRate::hz(32), ..Rules::new(Store::schema()) };
    let config = ServerConfig { relay_inputs: predicts_all, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, world.clone(), 3);
    for _ in 0..if predicts_all { 2 } else { 1 } {
        let conditions = Conditions { loss: Loss::Uniform(loss), ..link(80) };
        let predict = if predicts_all { Predict::Everyone } else { Predict::Own };
        let (client, host) = (ClientConfig { predict, ..ClientConfig::default() }, HostOptions::at(60));
        let world = Store { parcels: Table::default(), ..world.clone() };
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    let mut watch = Watch { grabs: [100, catches], throws, seen: String::new(), ended: 0 };
    simulation.run_until(Instant::from_micros(9_000_000), &mut watch);
    watch
}

#[test]
fn what_is_grabbed_and_thrown_is_one_thing_after_the_other_however_soon_it_is_thrown() {
    let cases = [(0, 200), (0, 101), (0, 103), (0, 107), (100, 0), (102, 0)];
    for ((knocked, throws), gives) in cases.into_iter().flat_map(|case| [(case, true), (case, false)]) {
        for loss in [0.0, 0.05] {
            let watch = watch(&Store::of(gives, knocked), [throws, 0], loss, false);
            let case = format!("knocked {knocked}, thrown {throws}, {gives}, {loss}");
            assert_eq!((watch.seen.as_str(), watch.ended), (" R H F R", 0), "{case}");
        }
    }
}

#[test]
fn however_short_it_flies_and_whatever_it_becomes_it_is_shown_as_that_once() {
    for (flight, throws) in [0, 1, 3, 8].into_iter().flat_map(|flight| [(flight, 200), (flight, 103)]) {
        for (gives, bursts) in [(true, false), (false, false), (true, true), (false, true)] {
            let world = Store { flight, bursts, ..Store::of(gives, 0) };
            let watch = watch(&world, [throws, 0], 0.0, false);
            let seen = if bursts { " R H F " } else { " R H F R" };
            let case = format!("thrown {throws}, flies {flight}, given {gives}");
            assert_eq!((watch.seen.as_str(), watch.ended), (seen, usize::from(bursts)), "{case}");
        }
    }
}

#[test]
fn what_is_the_players_own_and_flies_is_caught_again() {
    let world = Store { flight: 200, ..Store::of(true, 0) };
    let watch = watch(&world, [200, 240], 0.0, false);
    assert_eq!((watch.seen.as_str(), watch.ended), (" R H F H", 0));
}

#[test]
fn what_is_thrown_while_no_state_comes_is_not_told_as_gone() {
    for (outage_ms, motes) in [(200, 0), (400, 0), (400, 300), (900, 300)] {
        let rules = Rules { tick_rate: TickRate::hz(32), ..Rules::new(Store::schema()) };
        let mut world = Store::of(true, 0);
        for nth in 1..=motes {
            let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
            world.motes.insert(of, Mote::default());
        }
        let mut simulation = Simulation::new(rules, ServerConfig::default(), world, 3);
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        let conditions = Conditions { loss: Loss::Uniform(0.0), ..link(80) };
        let world = Store { gives: true, flight: 60, ..Store::default() };
        simulation.add_player(PlayerOptions { client, host, conditions, world });
        let mut watch = Watch { grabs: [100, 0], throws: 200, seen: String::new(), ended: 0 };
        simulation.run_until(Instant::from_micros(6_200_000), &mut watch);
        simulation.players[0].down_conditions.loss = Loss::Uniform(1.0);
        simulation.run_until(Instant::from_micros(6_200_000 + outage_ms * 1000), &mut watch);
        simulation.players[0].down_conditions.loss = Loss::Uniform(0.0);
        simulation.run_until(Instant::from_micros(12_000_000), &mut watch);
        assert_eq!((watch.seen.as_str(), watch.ended), (" R H F R", 0), "{outage_ms} ms, {motes} motes");
    }
}

#[test]
fn where_everybody_is_predicted_it_is_so_too() {
    for throws in [200, 103] {
        let watch = watch(&Store::of(true, 0), [throws, 0], 0.0, true);
        assert_eq!((watch.seen.as_str(), watch.ended), (" R H F R", 0), "thrown {throws}");
    }
}

#[test]
fn no_check_misses_what_is_grabbed_and_thrown_at_any_time() {
    for gives in [true, false] {
        let rules = Rules { tick_rate: TickRate::hz(32), ..Rules::new(Store::schema()) };
        Scenario::new(rules, move || Store::of(gives, 0))
            .players(1)
            .bot(|_: &BotView<'_>, random| Keys { grab: random.chance(0.5), throw: random.chance(0.3) })
            .faults(FaultMix::default())
            .without("calm")
            .length(Duration::from_secs(8))
            .seeds(0..20)
            .expect("no check complains");
    }
}
