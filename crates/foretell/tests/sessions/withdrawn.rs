//! What a player has used as they predicted it, and then has not, as they were put elsewhere: it is shown as it is told last.

use crate::budgets::link;
use foretell::session::client::ClientEvent;
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use std::time::Duration;

/// In which tick the server puts the player elsewhere, and when the player takes the coin and switches the lamp.
const PUT: Tick = Tick::new(300);
const TAKES: Tick = Tick::new(302);

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    takes: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    at: [f64; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Coin {
    #[state(position)]
    at: [f64; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Lamp {
    lit_by: Option<PlayerId>,
}

const fn thing(nth: u16) -> Owned {
    Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER }
}

const COIN: Owned = thing(0);
const LAMP: Owned = thing(1);

#[derive(World, Clone, Default)]
struct Room {
    pawns: Table<Pawn>,
    coins: Table<Coin>,
    lamps: Table<Lamp>,
    /// How far the server puts the player, and whether the coin and the lamp stay as they were.
    #[world(constant)]
    put_m: f64,
    #[world(constant)]
    stays: bool,
}

impl Simulate for Room {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
        }
        let is_put = step.is_authority() && step.tick() == PUT;
        for mut pawn in self.pawns.simulated(step) {
            let takes = step.input(pawn.owner()).is_some_and(|player| player.input.takes);
            if is_put {
                pawn.at[0] += self.put_m;
            }
            // It takes a tick for each metre.
            let has_come = pawn.at[0] <= f64::from(step.tick().since(TAKES).min(10));
            if !takes || !has_come {
                continue;
            }
            if self.coins.get(COIN.entity).is_some() && step.change(pawn.owned(), COIN) {
                self.coins.remove(COIN.entity);
            }
            if let Some(mut lamp) = self.lamps.change(step, pawn.owned(), LAMP.entity) {
                lamp.lit_by = Some(pawn.owner());
            }
        }
        if is_put && !self.stays {
            self.coins.remove(COIN.entity);
            self.lamps.insert(LAMP, Lamp { lit_by: Some(PlayerId::SERVER) });
        }
    }
}

/// What is seen of the coin and of the lamp, one letter for each way in which it is shown after another.
#[derive(Default)]
struct Watch {
    seen: [String; 2],
    answers: [usize; 2],
    /// For how many ticks the player takes the coin.
    for_ticks: u32,
    views: Views,
}

impl Driver<Room> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { takes: tick >= TAKES && tick.since(TAKES) < self.for_ticks }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Room>, frame: &Frame<'_>) {
        if frame.tick < Tick::new(PUT.get() - 60) {
            return;
        }
        for event in frame.events {
            self.answers[0] += usize::from(matches!(event, ClientEvent::ChangeConfirmed { .. }));
            self.answers[1] += usize::from(matches!(event, ClientEvent::ChangeRefused { .. }));
        }
        client.present(at.local, &mut self.views);
        let lamp = self.views.get(LAMP.entity).and_then(|view| view.get::<Lamp>()).expect("it is there");
        let now = [
            if self.views.get(COIN.entity).is_some() { 'c' } else { '-' },
            match lamp.lit_by {
                None => 'd',
                Some(PlayerId::SERVER) => 'S',
                Some(_) => 'L',
            },
        ];
        for (seen, now) in self.seen.iter_mut().zip(now) {
            if !seen.ends_with(now) {
                seen.push(now);
            }
        }
    }
}

const LINKS: [(u64, SendRate); 4] =
    [(50, SendRate::EveryTick), (80, SendRate::Hz(20)), (120, SendRate::EveryTick), (150, SendRate::Hz(30))];

fn watch(room: &Room, for_ticks: u32, latency_ms: u64, snapshot_rate: SendRate) -> Watch {
    let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
    let mut server = room.clone();
    server.coins.insert(COIN, Coin { at: [1.0, 0.0] });
    server.lamps.insert(LAMP, Lamp::default());
    let mut simulation = Simulation::new(Rules::new(Room::schema()), config, server, 1);
    let (client, host, conditions) = (ClientConfig::default(), HostOptions::at(60), link(latency_ms));
    simulation.add_player(PlayerOptions { client, host, conditions, world: room.clone() });
    let mut watch = Watch { for_ticks, ..Watch::default() };
    simulation.run_until(Instant::ZERO + Duration::from_secs(8), &mut watch);
    watch
}

#[test]
fn what_was_never_used_after_all_and_is_another_by_now_is_not_shown_as_it_was_before() {
    for (latency_ms, rate) in LINKS {
        for for_ticks in [1, 4] {
            let watch = watch(&Room { put_m: 50.0, ..Room::default() }, for_ticks, latency_ms, rate);
            assert_eq!(watch.seen, ["c-", "dLS"], "{for_ticks} ticks, {latency_ms} ms, {rate:?}");
            // A state that says both that the player was put elsewhere and that nothing was used refuses that; otherwise nobody does.
            let refused = if rate == SendRate::EveryTick { 0 } else { watch.answers[1] };
            assert_eq!(watch.answers, [0, refused], "{for_ticks} ticks, {latency_ms} ms, {rate:?}");
        }
    }
}

#[test]
fn what_was_never_used_after_all_and_is_as_it_was_is_shown_so_again() {
    for (latency_ms, rate) in LINKS {
        let watch = watch(&Room { put_m: 50.0, stays: true, ..Room::default() }, 1, latency_ms, rate);
        assert_eq!(watch.seen, ["c-c", "dLd"], "{latency_ms} ms, {rate:?}");
    }
}

#[test]
fn what_is_used_later_than_it_was_predicted_stays_so() {
    // In other states the player is put elsewhere and the coin is refused at once.
    for (latency_ms, rate) in LINKS.into_iter().filter(|(_, rate)| *rate == SendRate::EveryTick) {
        let watch = watch(&Room { put_m: 3.0, stays: true, ..Room::default() }, 8, latency_ms, rate);
        assert_eq!(watch.seen, ["c-", "dL"], "{latency_ms} ms, {rate:?}");
    }
}
