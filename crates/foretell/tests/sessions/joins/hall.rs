//! A world in which players have as much of their own as a test likes, and a network that a test can bend.

use crate::common::Buttons;
use foretell::session::Refusal;
use foretell::session::client::ClientEvent;
use foretell::session::server::{JoinTotals, ServerEvent};
use foretell::{
    Client, ClientConfig, ClientState, Instant, Outbox, PeerId, PlayerId, Rules, Server, ServerConfig, Simulate, State,
    Step, Table, World,
};
use foretell_sim::netsim::SplitMix64;
use std::collections::VecDeque;

pub const FRAME_MICROS: u64 = 15_625;
/// How long a datagram is under way, in frames.
const DELAY: u64 = 3;

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walker {
    #[state(position)]
    position: [f64; 2],
}

/// 240 bytes of a player's own.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Bag {
    things: [u32; 60],
}

/// 240 bytes without a position, of the server's own.
#[derive(State, Clone, Copy, PartialEq, Debug)]
pub struct Board {
    lines: [u32; 60],
}

/// A walker and bags for each player, and boards.
#[derive(World, Default)]
pub struct Hall {
    pub walkers: Table<Walker>,
    pub bags: Table<Bag>,
    pub boards: Table<Board>,
    /// How many bags everybody is to have.
    #[world(constant)]
    pub bags_each: u32,
    /// Whether each of them changes in each tick.
    #[world(constant)]
    pub bags_change: bool,
    #[world(constant)]
    pub boards_to_come: u32,
}

impl Hall {
    fn fill_bags(&mut self, step: &mut Step<'_, Buttons>) {
        let owners: Vec<_> = self.walkers.iter().map(|walker| walker.owner()).collect();
        for owner in owners {
            let has = self.bags.iter().filter(|bag| bag.owner() == owner).count() as u32;
            for nth in has..self.bags_each {
                let seed = u64::from(nth) << 16 | u64::from(owner.get());
                let mut random = SplitMix64::new(seed);
                let things = core::array::from_fn(|_| random.next_u64() as u32);
                self.bags.spawn(step, owner, Bag { things });
            }
        }
    }
}

impl Simulate for Hall {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.walkers.remove_left(step);
        self.bags.remove_left(step);
        for joined in step.joined() {
            self.walkers.spawn(step, joined.player, Walker::default());
        }
        for mut walker in self.walkers.simulated(step) {
            let Some(input) = step.input(walker.owner()) else { continue };
            walker.position[0] += f64::from(i8::from(input.input.right)) * 0.05;
        }
        if !step.is_authority() {
            return;
        }
        self.fill_bags(step);
        if self.bags_change {
            let tick = step.tick().get();
            self.bags.iter_mut().for_each(|mut bag| bag.things.iter_mut().for_each(|word| *word ^= tick * 0x9E37));
        }
        while self.boards_to_come > 0 {
            self.boards_to_come -= 1;
            let mut random = SplitMix64::new(u64::from(self.boards_to_come));
            let lines = core::array::from_fn(|_| random.next_u64() as u32);
            self.boards.spawn(step, PlayerId::SERVER, Board { lines });
        }
    }
}

/// What becomes of a datagram, which may be changed.
pub type Way = fn(&mut [u8]) -> bool;

pub fn passes(_: &mut [u8]) -> bool {
    true
}

pub fn is_lost(_: &mut [u8]) -> bool {
    false
}

/// A player's program, and its link.
pub struct Program {
    pub address: PeerId,
    pub client: Client<Hall>,
    pub world: Hall,
    pub up: Way,
    pub down: Way,
    pub events: Vec<ClientEvent>,
    on_way_up: VecDeque<(u64, Vec<u8>)>,
    on_way_down: VecDeque<(u64, Vec<u8>)>,
}

pub struct Net {
    pub server: Server<Hall>,
    pub world: Hall,
    pub events: Vec<ServerEvent>,
    pub programs: Vec<Program>,
    /// The share of datagrams that are lost, each way.
    pub loss: f64,
    random: SplitMix64,
    frame: u64,
}

pub fn rules() -> Rules {
    Rules::new(Hall::schema())
}

impl Net {
    pub fn new(config: ServerConfig, world: Hall) -> Net {
        let server = Server::new(rules(), config, 7, Instant::ZERO);
        let (events, programs, random) = (Vec::new(), Vec::new(), SplitMix64::new(5));
        Net { server, world, events, programs, loss: 0.0, random, frame: 0 }
    }

    /// Over a link that loses a third.
    pub fn lossy(config: ServerConfig, world: Hall, seed: u64) -> Net {
        Net { loss: 0.33, random: SplitMix64::new(seed), ..Net::new(config, world) }
    }

    pub fn now(&self) -> Instant {
        Instant::from_micros(self.frame * FRAME_MICROS + 3000)
    }

    pub fn start(&mut self) -> usize {
        self.start_with(rules(), ClientConfig::default())
    }

    /// Its address and nonce are those of nobody else.
    pub fn start_with(&mut self, rules: Rules, config: ClientConfig) -> usize {
        let nonce = self.programs.len() as u64 + 100;
        self.programs.push(Program {
            address: PeerId(nonce),
            client: Client::new(rules, config, nonce),
            world: Hall::default(),
            up: passes,
            down: passes,
            events: Vec::new(),
            on_way_up: VecDeque::new(),
            on_way_down: VecDeque::new(),
        });
        self.programs.len() - 1
    }

    pub fn run(&mut self, seconds: f64) {
        for _ in 0..(seconds * 64.0) as u64 {
            self.run_frame();
        }
    }

    /// The server runs for so long, and this program does not.
    pub fn pause(&mut self, index: usize, seconds: f64) {
        let program = self.programs.remove(index);
        self.run(seconds);
        self.programs.insert(index, program);
    }

    pub fn run_frame(&mut self) {
        self.frame += 1;
        self.run_server();
        (0..self.programs.len()).for_each(|index| self.run_program(index));
    }

    fn run_server(&mut self) {
        let (now, frame) = (self.now(), self.frame);
        for program in &mut self.programs {
            while let Some((_, datagram)) = program.on_way_up.pop_front_if(|(due, _)| *due <= frame) {
                let _ = self.server.receive(now, program.address, &datagram);
            }
        }
        let mut outbox = Outbox::new();
        let told = self.server.update(now, &mut self.world, &mut outbox);
        self.events.extend(told.events);
        for (to, datagram) in outbox.iter() {
            let is_lost = self.random.chance(self.loss);
            let Some(program) = self.programs.iter_mut().find(|program| program.address == to) else { continue };
            let mut datagram = datagram.to_vec();
            if !is_lost && (program.down)(&mut datagram) {
                program.on_way_down.push_back((frame + DELAY, datagram));
            }
        }
    }

    fn run_program(&mut self, index: usize) {
        let (now, frame) = (self.now(), self.frame);
        let program = &mut self.programs[index];
        while let Some((_, datagram)) = program.on_way_down.pop_front_if(|(due, _)| *due <= frame) {
            let _ = program.client.receive(now, &datagram);
        }
        let mut outbox = Outbox::new();
        let told = program.client.update(now, &mut program.world, &mut |_| Buttons::default(), &mut outbox);
        program.events.extend(told.events.iter().filter(|event| is_about_joining(event)));
        for (_, datagram) in outbox.iter() {
            let mut datagram = datagram.to_vec();
            if !self.random.chance(self.loss) && (program.up)(&mut datagram) {
                program.on_way_up.push_back((frame + DELAY, datagram));
            }
        }
    }

    pub fn state(&self, index: usize) -> ClientState {
        self.programs[index].client.state(self.now())
    }

    pub fn joins(&self) -> JoinTotals {
        self.server.totals().joins
    }

    /// How often somebody was refused for this reason, as the server has reported it.
    pub fn reported(&self, why: Refusal) -> usize {
        let is_it = |event: &&ServerEvent| matches!(event, ServerEvent::Refused { why: of, .. } if *of == why);
        self.events.iter().filter(is_it).count()
    }

    pub fn joined(&self) -> usize {
        self.events.iter().filter(|event| matches!(event, ServerEvent::Joined(_))).count()
    }

    /// Whose bodies are in the server's world, ascending.
    pub fn bodies(&self) -> Vec<PlayerId> {
        let mut owners: Vec<_> = self.world.walkers.iter().map(|walker| walker.owner()).collect();
        owners.sort();
        owners
    }

    /// The program was refused for this reason, was told so once, and so was the server.
    pub fn assert_refused(&self, index: usize, why: Refusal) {
        assert_eq!(self.state(index), ClientState::Refused(why));
        assert_eq!(self.programs[index].events, [ClientEvent::Refused(why)]);
        assert_eq!((self.reported(why), self.joins().refused(why)), (1, 1), "{:?}", self.events);
    }
}

fn is_about_joining(event: &ClientEvent) -> bool {
    matches!(event, ClientEvent::Joined(_) | ClientEvent::Rejoined(_) | ClientEvent::Refused(_))
}
