//! Foretell: a server and two clients, all by default. The blows are changes of the server's world outside of a step.

use super::settings::Settings;
use crate::peer::{At, Counts, Datagram, Frame, Peer, Shown};
use crate::scene::{Body, Keys, PLAYERS, TICK_HZ};
use crate::script::Push;
use core::time::Duration;
use foretell::session::client::{INPUT_DELAY_MAX, InputDelay};
use foretell::{
    Client, ClientConfig, Input, Instant, Outbox, PeerId, PlayerId, Rules, SendRate, Server, ServerConfig, Simulate,
    State, Step, Table, Tick, TickRate, Views, World,
};
use foretell_bench::Spent;

/// Beyond this round trip inputs wait, where they are to wait: what is left is predicted, about what lightyear's 7 ticks are.
const FREE_RTT: Duration = Duration::from_millis(100);

/// What a player presses.
#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Buttons {
    up: bool,
    down: bool,
    left: bool,
    right: bool,
}

/// A body, told to the last bit.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Walker {
    #[state(position)]
    position: [f32; 2],
    #[state(velocity)]
    velocity: [f32; 2],
}

/// The plane.
#[derive(World, Default)]
pub struct Plane {
    walkers: Table<Walker>,
}

impl Simulate for Plane {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.walkers.remove_left(step);
        for joined in step.joined() {
            let player = self.walkers.len();
            self.walkers.spawn(step, joined.player, Walker::from(Body::at_start(player)));
        }
        for mut walker in self.walkers.simulated(step) {
            let Some(player) = step.input(walker.owner()) else { continue };
            let mut body = Body::from(*walker);
            body.step(Keys::from(player.input));
            *walker = Walker::from(body);
        }
    }
}

/// A server and its clients.
pub struct Session {
    server: Server<Plane>,
    world: Plane,
    outbox: Outbox,
    players: [Player; PLAYERS],
}

struct Player {
    client: Client<Plane>,
    world: Plane,
    views: Views,
    /// When its last frame was.
    now: Instant,
    /// For how many ticks the newest input waits.
    input_delay: u32,
}

impl Session {
    /// Nobody has said hello yet.
    pub fn new(settings: Settings) -> Session {
        let rules = || Rules { tick_rate: TickRate::hz(TICK_HZ), ..Rules::new(Plane::schema()) };
        let snapshot_rate = if settings.is_sparse { SendRate::Hz(10) } else { SendRate::EveryTick };
        let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
        let waits = InputDelay::AboveRtt { rtt: FREE_RTT, ticks_max: INPUT_DELAY_MAX };
        let input_delay = if settings.is_delayed { waits } else { InputDelay::default() };
        let client_config = ClientConfig { input_delay, ..ClientConfig::default() };
        let player = |nth: usize| Player {
            client: Client::new(rules(), client_config, nth as u64 + 1),
            world: Plane::default(),
            views: Views::new(),
            now: Instant::ZERO,
            input_delay: 0,
        };
        Session {
            server: Server::new(rules(), config, 0, Instant::ZERO),
            world: Plane::default(),
            outbox: Outbox::new(),
            players: core::array::from_fn(player),
        }
    }

    fn push(&mut self, push: &Push) {
        let Some(player) = self.players[push.player].client.player() else { return };
        let of = self.walkers_of(player);
        let Some(mut walker) = of.and_then(|entity| self.world.walkers.get_mut(entity)) else { return };
        let mut body = Body::from(*walker);
        body.push(push.by);
        *walker = Walker::from(body);
    }

    fn walkers_of(&self, player: PlayerId) -> Option<foretell::Entity> {
        self.world.walkers.owned_by(player).next().map(|walker| walker.entity())
    }

    fn sent(&mut self, from: Option<usize>) -> Vec<Datagram> {
        let to = |peer: PeerId| from.unwrap_or(peer.0 as usize);
        let sent = self.outbox.iter().map(|(peer, datagram)| (to(peer), datagram.to_vec())).collect();
        self.outbox.clear();
        sent
    }
}

impl Peer for Session {
    fn serve(&mut self, now: Instant, come: &[Datagram], pushes: &[Push], spent: &mut Spent) -> Vec<Datagram> {
        pushes.iter().for_each(|push| self.push(push));
        let Session { server, world, outbox, .. } = self;
        spent.time(|| {
            for (player, datagram) in come {
                server.receive(now, PeerId(*player as _), datagram).expect("a client's datagrams are well-formed");
            }
            server.update(now, world, outbox);
        });
        self.sent(None)
    }

    fn state(&mut self) -> Option<(u32, [Body; PLAYERS])> {
        let mut bodies = [Body::default(); PLAYERS];
        for (body, player) in bodies.iter_mut().zip(&self.players) {
            let entity = self.walkers_of(player.client.player()?)?;
            *body = self.world.walkers.get(entity).map(|walker| Body::from(*walker))?;
        }
        Some((self.server.tick().get(), bodies))
    }

    fn frame(&mut self, at: Frame<'_>, spent: &mut Spent) -> Vec<Datagram> {
        let Session { players, outbox, .. } = self;
        let Player { client, world, views, now, input_delay } = &mut players[at.player];
        *now = at.now;
        let mut counts_in = None;
        spent.time(|| {
            for (_, datagram) in at.come {
                client.receive(at.now, datagram).expect("the server's datagrams are well-formed");
            }
            let mut input = |tick| {
                counts_in = Some(tick);
                Buttons::from(at.keys)
            };
            client.update(at.now, world, &mut input, outbox);
            client.present(at.now, views);
        });
        // Of the tick that has just run where nothing waits.
        let waits = counts_in.map(|tick: Tick| (tick.get() + 1).saturating_sub(client.tick().get()));
        *input_delay = waits.unwrap_or(*input_delay);
        self.sent(Some(at.player))
    }

    fn shown(&mut self, player: usize) -> Option<Shown> {
        let Player { client, views, now, input_delay, .. } = &self.players[player];
        let place = |position: [f64; 3]| [position[0], position[1]];
        let own = views.iter().find(|view| Some(view.owner) == client.player())?;
        let other = views.iter().find(|view| Some(view.owner) != client.player())?;
        let newest = client.tick();
        let simulated = client.predicted(newest)?.state::<Walker>(own.entity)?;
        let newest = f64::from(newest.get());
        Some(Shown {
            // The next tick to run begins with the newest state; the one before it is running.
            own: At { state: newest - 1.0 + client.tick_fraction(*now), position: place(own.pose().position) },
            simulated: At { state: newest, position: simulated.position.map(f64::from) },
            other: At { state: client.playout_cursor(*now)?.as_ticks(), position: place(other.pose().position) },
            input_delay_ticks: f64::from(*input_delay),
        })
    }

    fn counts(&mut self, player: usize) -> Counts {
        let stats = self.players[player].client.stats().prediction;
        Counts { rollbacks: stats.rollbacks, resimulated: stats.resimulated }
    }
}

impl From<Body> for Walker {
    fn from(Body { position, velocity }: Body) -> Walker {
        Walker { position, velocity }
    }
}

impl From<Walker> for Body {
    fn from(Walker { position, velocity }: Walker) -> Body {
        Body { position, velocity }
    }
}

impl From<Keys> for Buttons {
    fn from(Keys { up, down, left, right }: Keys) -> Buttons {
        Buttons { up, down, left, right }
    }
}

impl From<Buttons> for Keys {
    fn from(Buttons { up, down, left, right }: Buttons) -> Keys {
        Keys { up, down, left, right }
    }
}
