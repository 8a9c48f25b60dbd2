//! A session with ticks and a player in it who does not play by the rules: what the others see of them, and what the
//! one beside them feels of it (E4).

use core::time::Duration;
use foretell::session::Offence;
use foretell::session::client::Joined;
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Outbox, Owned, PeerId, PlayerId, Rules, Server, ServerConfig,
    Simulate, State, Step, Tick, World,
};
use foretell_sim::netsim::{Conditions, Link, SplitMix64};
use proptest::prelude::*;

const SPEED: f32 = 5.0;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Push {
    direction: [f32; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Body {
    #[state(position)]
    position: [f32; 2],
}

/// Everybody walks in the direction of their input. A game holds it to length one itself, on both ends.
#[derive(World, Default)]
struct Walkers(foretell::Table<Body>);

impl Walkers {
    fn of(player: PlayerId) -> Walkers {
        let mut walkers = Walkers::default();
        let entity = Entity::new(player, Tick::ZERO, 0);
        walkers.0.insert(Owned { entity, owner: player }, Body::default());
        walkers
    }
}

/// A direction that is no longer than one.
fn at_most_one(direction: [f32; 2]) -> [f32; 2] {
    let length = direction[0].hypot(direction[1]).max(1.0);
    direction.map(|lane| lane / length)
}

impl Simulate for Walkers {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        self.0.remove_left(step);
        for joined in step.joined() {
            self.0.spawn(step, joined.player, Body::default());
        }
        for mut body in self.0.simulated(step) {
            let Some(input) = step.input(body.owner()) else { continue };
            let direction = at_most_one(input.input.direction);
            for (position, direction) in body.position.iter_mut().zip(direction) {
                *position += direction * SPEED / 64.0;
            }
        }
    }
}

/// What somebody does to win.
#[derive(Clone, Copy, Debug)]
enum Trick {
    /// Lets their clock run so many times as fast.
    Clock(f64),
    /// Walks so many times as far.
    Longer(f32),
    /// A direction that is no number.
    NoNumber,
    /// Is elsewhere, in their own world.
    Teleport(f32),
    /// Sends again what they sent so many datagrams ago, perhaps with a bit changed.
    Again(usize, Option<usize>),
    /// Sends what the other player has sent so many datagrams ago.
    OfTheOther(usize, Option<usize>),
    /// Does not hear the server.
    Deaf,
    /// Is silent.
    Silent,
}

fn any_trick() -> impl Strategy<Value = Trick> {
    let bit = || proptest::option::of(0_usize..600);
    prop_oneof![
        (0.0..20.0).prop_map(Trick::Clock),
        (1.0..100.0_f32).prop_map(Trick::Longer),
        Just(Trick::NoNumber),
        (-20.0..20.0_f32).prop_map(Trick::Teleport),
        (0_usize..64, bit()).prop_map(|(back, bit)| Trick::Again(back, bit)),
        (0_usize..64, bit()).prop_map(|(back, bit)| Trick::OfTheOther(back, bit)),
        Just(Trick::Deaf),
        Just(Trick::Silent),
    ]
}

struct Seat {
    client: Client<Walkers>,
    world: Walkers,
    player: PlayerId,
    up: Link,
    down: Link,
    /// What their clock shows, in microseconds.
    clock: f64,
    sent: Vec<Vec<u8>>,
    pushed: Push,
}

struct Table {
    server: Server<Walkers>,
    world: Walkers,
    /// The one who cheats, and the one who doesn't.
    seats: [Seat; 2],
    now: u64,
    random: SplitMix64,
    conditions: Conditions,
}

impl Table {
    fn new(seed: u64, latency: Duration) -> Table {
        let rules = Rules::new(Walkers::schema());
        let mut server = Server::new(rules.clone(), ServerConfig::default(), 1, Instant::ZERO);
        let seats = [0, 1].map(|nth| {
            let player = server.join(PeerId(nth));
            let mut world = Walkers::of(player);
            let client = Client::joined(
                rules.clone(),
                ClientConfig::default(),
                Joined { player, epoch: 1, now: Instant::ZERO },
                &mut world,
            );
            let (up, down) = (Link::new(seed ^ nth, nth), Link::new(seed ^ nth ^ 8, nth ^ 8));
            Seat { client, world, player, up, down, clock: 0.0, sent: Vec::new(), pushed: Push::default() }
        });
        let conditions = Conditions { latency, ..Conditions::default() };
        Table { server, world: Walkers::default(), seats, now: 0, random: SplitMix64::new(seed), conditions }
    }

    /// A frame of everybody's, with a trick of the first. Returns how many ticks the server has stepped.
    fn frame(&mut self, trick: Option<Trick>) -> u32 {
        self.now += 15_625;
        let now = Instant::from_micros(self.now);
        let mut outbox = Outbox::new();
        for nth in 0..2 {
            while let Some(delivery) = self.seats[nth].up.receive(now) {
                let _ = self.server.receive(now, PeerId(nth as u64), delivery.bytes);
            }
        }
        let steps = self.server.update(now, &mut self.world, &mut outbox).steps;
        for (to, datagram) in outbox.iter() {
            self.seats[to.0 as usize].down.send(now, datagram, &self.conditions);
        }
        for nth in 0..2 {
            self.play(nth, trick.filter(|_| nth == 0));
        }
        steps
    }

    fn play(&mut self, nth: usize, trick: Option<Trick>) {
        let now = Instant::from_micros(self.now);
        let other = match trick {
            Some(Trick::OfTheOther(back, bit)) => self.forged(1, back, bit),
            Some(Trick::Again(back, bit)) => self.forged(0, back, bit),
            _ => None,
        };
        let seat = &mut self.seats[nth];
        if let Some(datagram) = other {
            seat.up.send(now, &datagram, &self.conditions);
        }
        let faster = if let Some(Trick::Clock(times)) = trick { times } else { 1.0 };
        seat.clock += 15_625.0 * faster;
        let own = Instant::from_micros(seat.clock as u64);
        while let Some(delivery) = seat.down.receive(now) {
            if !matches!(trick, Some(Trick::Deaf)) {
                let _ = seat.client.receive(own, delivery.bytes);
            }
        }
        if self.random.chance(0.1) {
            let mut axis = || (self.random.next_u64() % 3) as f32 - 1.0;
            seat.pushed.direction = at_most_one([axis(), axis()]);
        }
        let mut input = seat.pushed;
        match trick {
            Some(Trick::Longer(times)) => input.direction = input.direction.map(|lane| lane * times),
            Some(Trick::NoNumber) => input.direction[0] = f32::NAN,
            Some(Trick::Teleport(by)) => seat.world.0.iter_mut().for_each(|mut body| body.position[0] += by),
            _ => {}
        }
        let mut outbox = Outbox::new();
        seat.client.update(own, &mut seat.world, &mut |_| input, &mut outbox);
        if matches!(trick, Some(Trick::Silent)) {
            return;
        }
        for (_, datagram) in outbox.iter() {
            seat.up.send(now, datagram, &self.conditions);
            seat.sent.push(datagram.to_vec());
        }
        let surplus = seat.sent.len().saturating_sub(64);
        seat.sent.drain(..surplus);
    }

    fn forged(&self, of: usize, back: usize, bit: Option<usize>) -> Option<Vec<u8>> {
        let sent = &self.seats[of].sent;
        let mut datagram = sent.len().checked_sub(back + 1).map(|index| sent[index].clone())?;
        if let Some(bit) = bit {
            let bit = bit % (datagram.len() * 8);
            datagram[bit / 8] ^= 1 << (bit % 8);
        }
        Some(datagram)
    }

    /// Where the server says that a player is.
    fn truth(&self, nth: usize) -> Option<[f32; 2]> {
        let player = self.seats[nth].player;
        let mut bodies = self.server.rows().states::<Body>();
        bodies.find(|(of, _)| of.owner == player).map(|(_, body)| body.position)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None, cases: 64, ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_a_player_does_the_others_see_them_walk_and_feel_nothing_of_it(
        seed: u64,
        latency in 0_u64..80,
        tricks in proptest::collection::vec((any_trick(), 1_usize..30), 1..30),
    ) {
        let mut table = Table::new(seed, Duration::from_millis(latency));
        for _ in 0..200 {
            table.frame(None);
        }
        let (honest, begun) = (table.seats[1].player, table.seats[1].client.stats());
        prop_assert_eq!(table.server.offences(table.seats[0].player).expect("it is there").total(), 0);
        for (trick, frames) in tricks {
            for _ in 0..frames {
                let before = table.truth(0);
                let steps = table.frame(Some(trick));
                if let (Some(before), Some(after)) = (before, table.truth(0)) {
                    let way = foretell::motion::vector::length([after[0] - before[0], after[1] - before[1]]);
                    let allowed = SPEED / 64.0 * steps as f32;
                    prop_assert!(way <= allowed + 1e-4, "{way} m in {steps} ticks with {trick:?}");
                }
            }
        }
        for _ in 0..200 {
            table.frame(None);
        }
        let stats = table.seats[1].client.stats();
        let felt = [
            stats.prediction.corrections - begun.prediction.corrections, stats.prediction.resyncs - begun.prediction.resyncs, stats.inputs.substituted - begun.inputs.substituted,
        ];
        prop_assert_eq!(felt, [0; 3]);
        prop_assert!(stats.prediction.outcomes.agreed > 300 && stats.prediction.outcomes.add_up(), "{:?}", stats.prediction.outcomes);
        prop_assert_eq!(table.server.offences(honest).expect("it is there").total(), 0);
    }
}

/// Which offences are noted of who has done nothing but this for four seconds.
fn noted(trick: impl Fn(usize) -> Trick) -> (foretell::session::Offences, Table) {
    let mut table = Table::new(7, Duration::from_millis(30));
    for _ in 0..100 {
        table.frame(None);
    }
    for nth in 0..256 {
        table.frame(Some(trick(nth)));
    }
    (*table.server.offences(table.seats[0].player).expect("it is there"), table)
}

#[test]
fn the_ledger_says_what_was_tried() {
    let (offences, _) = noted(|_| Trick::Clock(10.0));
    assert!(offences.count(Offence::Time) > 100, "{offences:?}");
    let (offences, _) = noted(|_| Trick::NoNumber);
    assert!(offences.count(Offence::NotFinite) > 100, "{offences:?}");
    // Bits 27 to 44 of a datagram of inputs say whether and what it acknowledges.
    let (offences, table) = noted(|nth| Trick::Again(0, Some(28 + nth % 16)));
    assert!(offences.count(Offence::Acknowledgement) > 10, "{offences:?}");
    assert_eq!(table.server.offences(table.seats[1].player).expect("it is there").total(), 0);
}
