//! A server and its clients over simulated links, tick by tick on virtual time, with the work of each end timed.
//!
//! It is what the harness does, but that datagrams are taken off the links before the clock runs and put on them after it
//! has stopped, so that what is timed is what an end does and not what the simulated network does.

use crate::cpu::Spent;
use crate::options::CrowdOptions;
use crate::timed::TimedCrowd;
use foretell::{Client, ClientConfig, Instant, Outbox, PeerId, Server, ServerConfig, Views};
use foretell_crowd::{Crowd, TICK_HZ, Walk};
use foretell_sim::netsim::{Conditions, Link, SplitMix64};
use std::hint::black_box;

/// What the ends have taken of the processor, and what has gone down.
#[derive(Clone, Copy, Default, Debug)]
pub struct Costs {
    /// The server's ticks: what has come, the step and what it sends.
    pub server: Spent,
    /// The clients' frames, each one of one client: what has come, and the update.
    pub client: Spent,
    /// Frames of one client, presented: every entity with its pose.
    pub present: Spent,
    /// The server's datagrams, all clients together.
    pub bytes_down: u64,
}

/// A player's machine, and the link between it and the server.
pub struct Player {
    pub client: Client<TimedCrowd>,
    world: TimedCrowd,
    up: Link,
    down: Link,
}

/// A session.
pub struct Session {
    pub server: Server<TimedCrowd>,
    /// In the order of their coming.
    pub players: Vec<Player>,
    pub costs: Costs,
    /// The virtual time.
    pub now: Instant,
    world: TimedCrowd,
    conditions: Conditions,
    /// Whether players walk.
    walks: bool,
    seeds: SplitMix64,
    /// How many ticks there were.
    ticks: u64,
    inbox: Inbox,
    outbox: Outbox,
    views: Views,
}

impl Session {
    /// A session without players.
    pub fn new(options: &CrowdOptions) -> Session {
        let players_max = options.clients + 1;
        let config = ServerConfig { budget: options.budget, players_max, ..ServerConfig::default() };
        Session {
            server: Server::new(Crowd::rules(), config, 0, Instant::ZERO),
            players: Vec::new(),
            costs: Costs::default(),
            now: Instant::ZERO,
            world: Crowd::new(options.entities, options.moving).into(),
            conditions: options.conditions(),
            walks: options.moving > 0,
            seeds: SplitMix64::new(options.seed),
            ticks: 0,
            inbox: Inbox::default(),
            outbox: Outbox::new(),
            views: Views::new(),
        }
    }

    /// Lets one more player say hello, in the next tick.
    pub fn add_player(&mut self) {
        let mut link = || Link::new(self.seeds.next_u64(), self.seeds.next_u64());
        let (up, down) = (link(), link());
        let client = Client::new(Crowd::rules(), ClientConfig::default(), self.seeds.next_u64());
        self.players.push(Player { client, world: TimedCrowd::default(), up, down });
    }

    /// Everything costs nothing so far.
    pub fn reset_costs(&mut self) {
        self.costs = Costs::default();
        self.world.stepping = Some(Spent::default());
    }

    /// What the game's own steps have taken on the server, since the costs were reset.
    pub fn stepping(&self) -> Spent {
        self.world.stepping.unwrap_or_default()
    }

    /// A tick of the server, then a frame of each client, of which one is presented.
    pub fn tick(&mut self) {
        // Rounded up, so that the tick has begun.
        self.now = Instant::from_micros((self.ticks * 1_000_000).div_ceil(u64::from(TICK_HZ)));
        self.run_server();
        let presented = usize::try_from(self.ticks).unwrap_or(0) % self.players.len().max(1);
        for index in 0..self.players.len() {
            self.run_client(index);
            if index == presented {
                self.present(index);
            }
        }
        self.ticks += 1;
    }

    fn run_server(&mut self) {
        let Session { server, players, costs, now, world, inbox, outbox, .. } = self;
        for (peer, player) in (0..).map(PeerId).zip(&mut *players) {
            inbox.take(&mut player.up, *now, peer);
        }
        costs.server.time(|| {
            for Arrival { due, from, datagram } in inbox.iter() {
                server.receive(due, from, datagram).expect("a client's datagrams are well-formed");
            }
            server.update(*now, world, outbox);
        });
        inbox.clear();
        for (PeerId(peer), datagram) in outbox.iter() {
            let Some(player) = usize::try_from(peer).ok().and_then(|index| players.get_mut(index)) else { continue };
            costs.bytes_down += datagram.len() as u64;
            player.down.send(*now, datagram, &self.conditions);
        }
        outbox.clear();
    }

    fn run_client(&mut self, index: usize) {
        let Session { players, costs, now, walks, inbox, outbox, .. } = self;
        let Player { client, world, up, down } = &mut players[index];
        inbox.take(down, *now, PeerId(0));
        costs.client.time(|| {
            for Arrival { due, datagram, .. } in inbox.iter() {
                client.receive(due, datagram).expect("the server's datagrams are well-formed");
            }
            let mut input = |tick| if *walks { Walk::of(index, tick) } else { Walk::default() };
            client.update(*now, world, &mut input, outbox);
        });
        inbox.clear();
        for (_, datagram) in outbox.iter() {
            up.send(*now, datagram, &self.conditions);
        }
        outbox.clear();
    }

    fn present(&mut self, index: usize) {
        let Session { players, costs, now, views, .. } = self;
        costs.present.time(|| {
            players[index].client.present(*now, views);
            for view in views.iter() {
                black_box(view.pose());
            }
        });
    }
}

/// Datagrams that were taken off links. Its memory is used again.
#[derive(Default)]
struct Inbox {
    bytes: Vec<u8>,
    came: Vec<Came>,
}

/// One of them: when it came, from whom, and where it ends in the bytes of all.
struct Came {
    due: Instant,
    from: PeerId,
    end: usize,
}

/// The same to be read.
struct Arrival<'a> {
    due: Instant,
    from: PeerId,
    datagram: &'a [u8],
}

impl Inbox {
    /// Takes what has come by now.
    fn take(&mut self, link: &mut Link, now: Instant, from: PeerId) {
        while let Some(delivery) = link.receive(now) {
            self.bytes.extend_from_slice(delivery.bytes);
            self.came.push(Came { due: delivery.due, from, end: self.bytes.len() });
        }
    }

    fn iter(&self) -> impl Iterator<Item = Arrival<'_>> {
        let starts = core::iter::once(0).chain(self.came.iter().map(|came| came.end));
        starts.zip(&self.came).map(|(start, &Came { due, from, end })| {
            let datagram = &self.bytes[start..end];
            Arrival { due, from, datagram }
        })
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.came.clear();
    }
}
