//! A parcel that lies there, is carried, and flies: the client of who grabs it shows it once, always, and as one thing after the other.

use crate::budgets::link;
use core::time::Duration;
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, PlayerId, Rules, ServerConfig, Simulate, State, Step, Table,
    Tick, TickRate, Views, World,
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

/// What is held in it follows its pawn.
#[derive(World, Clone, Default)]
struct Store {
    pawns: Table<Pawn>,
    parcels: Table<Parcel>,
    /// Whether who grabs the parcel owns it, too.
    #[world(constant)]
    gives: bool,
    /// In which tick the server knocks it out of whose hand it is in.
    #[world(constant)]
    knocked: u32,
}

fn parcel() -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, 0)
}

impl Store {
    fn of(gives: bool, knocked: u32) -> Store {
        let mut store = Store { gives, knocked, ..Store::default() };
        store
            .parcels
            .insert(foretell::Owned { entity: parcel(), owner: PlayerId::SERVER }, Parcel::Resting { x: [0.0] });
        store
    }

    /// What a pawn does with the parcel.
    fn handle(&mut self, step: &mut Step<'_, Keys>, pawn: foretell::Owned, x: [f32; 1], keys: Keys) {
        let Some(state) = self.parcels.get(parcel()).map(|one| *one) else { return };
        match state {
            Parcel::Resting { .. } if keys.grab => {
                let Some(mut one) = self.parcels.change(step, pawn, parcel()) else { return };
                *one = Parcel::Held { x };
                if self.gives {
                    self.parcels.set_owner(parcel(), pawn.owner);
                }
            }
            Parcel::Held { .. } if keys.throw => {
                let Some(mut one) = self.parcels.change(step, pawn, parcel()) else { return };
                *one = Parcel::Flying { x, v: [10.0], left: 15 };
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
        if has_landed {
            self.parcels.set_owner(parcel(), PlayerId::SERVER);
        }
    }
}

/// What the player sees of the parcel.
struct Watch {
    grabs: u32,
    throws: u32,
    /// What it was, without what it was in the frame before.
    seen: String,
    ended: usize,
}

impl Driver<Store> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { grab: tick.get() == self.grabs, throw: tick.get() == self.throws }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Store>, frame: &Frame<'_>) {
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

#[test]
fn what_is_grabbed_and_thrown_is_one_thing_after_the_other_however_soon_it_is_thrown() {
    let knocked = [(0, 200), (0, 101), (0, 103), (0, 107), (100, 0), (102, 0)];
    for ((knocked, throws), gives) in knocked.into_iter().flat_map(|case| [(case, true), (case, false)]) {
        for loss in [0.0, 0.05] {
            let rules = Rules { tick_rate: TickRate::hz(32), ..Rules::new(Store::schema()) };
            let world = || Store::of(gives, knocked);
            let mut simulation = Simulation::new(rules, ServerConfig::default(), world(), 3);
            let conditions = Conditions { loss: Loss::Uniform(loss), ..link(80) };
            let (client, host) = (ClientConfig::default(), HostOptions::at(60));
            let world = Store { gives, ..Store::default() };
            simulation.add_player(PlayerOptions { client, host, conditions, world });
            let mut watch = Watch { grabs: 100, throws, seen: String::new(), ended: 0 };
            simulation.run_until(Instant::from_micros(9_000_000), &mut watch);
            let case = format!("knocked {knocked}, thrown {throws}, {gives}, {loss}");
            assert_eq!((watch.seen.as_str(), watch.ended), (" R H F R", 0), "{case}");
        }
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
