//! The reference's session of timestamped inputs, over a link of whole frames: a client, a server, and who tampers.

use foretell::motion::vector;
use foretell::{Input, Instant, State};
use foretell_articles::timestamped::{
    Client, ClientConfig, Direction, Mover, Server, ServerConfig, Time, Walk, Walker,
};
use std::collections::VecDeque;

/// The reference in one precision: its clock, and its walker at a constant speed.
pub trait Precision {
    type Time: Time;
    type Mover: Mover + Clone;
    /// The length of a frame, so many times.
    fn frame(times: f64) -> <Self::Time as Time>::Span;
    fn start(seconds: f64) -> <Self::Time as Time>::Span;
    fn walk(speed: f64) -> Self::Mover;
    fn at(position: [f64; 3]) -> <Self::Mover as Mover>::State;
    /// The direction of two axes, so many times too long.
    fn direction(axes: [f64; 2], times: f64) -> <Self::Mover as Mover>::Input;
    fn set_speed(mover: &mut Self::Mover, speed: f64);
}

pub struct Double;
pub struct Single;
/// Positions in f64, and a clock of whole microseconds.
pub struct Product;

impl Precision for Double {
    type Time = f64;
    type Mover = Walk;

    fn frame(times: f64) -> f64 {
        1.0 / 60.0 * times
    }

    fn start(seconds: f64) -> f64 {
        seconds
    }

    fn walk(speed: f64) -> Walk {
        Walk { speed }
    }

    fn at(position: [f64; 3]) -> Walker {
        Walker { position }
    }

    fn direction([x, z]: [f64; 2], times: f64) -> Direction {
        let unit = Direction::of_axes(x, z);
        Direction { vector: unit.vector.map(|lane| lane * times) }
    }

    fn set_speed(mover: &mut Walk, speed: f64) {
        mover.speed = speed;
    }
}

impl Precision for Product {
    type Time = Instant;
    type Mover = Walk;

    fn frame(times: f64) -> core::time::Duration {
        core::time::Duration::from_micros((1e6 / 60.0 * times).round() as u64)
    }

    fn start(seconds: f64) -> core::time::Duration {
        core::time::Duration::from_secs_f64(seconds)
    }

    fn walk(speed: f64) -> Walk {
        Walk { speed }
    }

    fn at(position: [f64; 3]) -> Walker {
        Walker { position }
    }

    fn direction(axes: [f64; 2], times: f64) -> Direction {
        Double::direction(axes, times)
    }

    fn set_speed(mover: &mut Walk, speed: f64) {
        mover.speed = speed;
    }
}

/// The article's numbers are f32: a game's own mover.
#[derive(Clone)]
pub struct Walk32 {
    speed: f32,
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Direction32 {
    pub vector: [f32; 3],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Walker32 {
    #[state(position)]
    pub position: [f32; 3],
}

impl Mover for Walk32 {
    type Input = Direction32;
    type State = Walker32;

    fn advance(&self, state: &mut Walker32, input: Direction32, seconds: f64) {
        for (position, direction) in state.position.iter_mut().zip(input.vector) {
            *position += direction * self.speed * seconds as f32;
        }
    }

    fn position(&self, state: &Walker32) -> [f64; 3] {
        state.position.map(f64::from)
    }

    fn limit(&self, input: &mut Direction32) -> Option<foretell::session::Offence> {
        foretell_articles::timestamped::limit_direction(&mut input.vector)
    }
}

impl Precision for Single {
    type Time = f32;
    type Mover = Walk32;

    fn frame(times: f64) -> f32 {
        (1.0 / 60.0) as f32 * times as f32
    }

    fn start(seconds: f64) -> f32 {
        seconds as f32
    }

    fn walk(speed: f64) -> Walk32 {
        Walk32 { speed: speed as f32 }
    }

    fn at(position: [f64; 3]) -> Walker32 {
        Walker32 { position: position.map(|lane| lane as f32) }
    }

    fn direction([x, z]: [f64; 2], times: f64) -> Direction32 {
        let (x, z) = (x as f32, z as f32);
        let length = vector::length([x, 0.0, z]);
        let unit = if length == 0.0 { [0.0; 3] } else { [x / length, 0.0, z / length] };
        Direction32 { vector: unit.map(|lane| lane * times as f32) }
    }

    fn set_speed(mover: &mut Walk32, speed: f64) {
        mover.speed = speed as f32;
    }
}

/// What a datagram is, by its first three bits.
pub const INPUTS: u8 = 0;
pub const STATE: u8 = 4;

/// One way of the link: in order, a fixed number of frames.
#[derive(Default)]
pub struct Way {
    queue: VecDeque<(u64, Vec<u8>)>,
    /// How many datagrams of inputs or states were sent.
    pub data: u64,
    /// Which of them vanish.
    pub lost: Vec<u64>,
}

impl Way {
    /// Says the number of a datagram that vanished.
    pub fn send(&mut self, due: u64, datagram: &[u8]) -> Option<u64> {
        if [INPUTS, STATE].contains(&(datagram[0] & 7)) {
            self.data += 1;
            if self.lost.contains(&(self.data - 1)) {
                return Some(self.data - 1);
            }
        }
        self.queue.push_back((due, datagram.to_vec()));
        None
    }

    pub fn due(&mut self, frame: u64) -> Option<Vec<u8>> {
        self.queue.pop_front_if(|(due, _)| *due <= frame).map(|(_, datagram)| datagram)
    }
}

pub fn instant_of(frame: u64) -> Instant {
    Instant::from_micros((frame * 1_000_000 + 30) / 60)
}

/// What was seen in a run: an event with its frame, its side, and where or when it says that it was.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    pub frame: u64,
    pub side: &'static str,
    pub kind: &'static str,
    pub position: Option<[f64; 3]>,
    pub seconds: Option<f64>,
}

pub fn seen(frame: u64, side: &'static str, kind: &'static str) -> Seen {
    Seen { frame, side, kind, position: None, seconds: None }
}

/// Both ends and the link between them.
pub struct Pair<P: Precision> {
    pub client: Client<P::Mover, P::Time>,
    pub server: Server<P::Mover, P::Time>,
    pub up: Way,
    pub down: Way,
    pub latency: u64,
    pub events: Vec<Seen>,
}

impl<P: Precision> Pair<P> {
    pub fn new(spawn: [f64; 3], latency: u64, configs: (ClientConfig, ServerConfig)) -> Pair<P> {
        let client = Client::new(P::walk(5.0), P::at(spawn), configs.0, 0, Instant::ZERO);
        let server = Server::new(P::walk(5.0), P::at(spawn), configs.1, 0, Instant::ZERO);
        Pair { client, server, up: Way::default(), down: Way::default(), latency, events: Vec::new() }
    }

    /// The server's part of a frame: what is due, in order, then what is to be sent.
    pub fn serve(&mut self, frame: u64) {
        let now = instant_of(frame);
        while let Some(datagram) = self.up.due(frame) {
            let before = *self.server.stats();
            self.server.receive(now, &datagram).expect("well-formed");
            let stats = *self.server.stats();
            if stats.requests > before.requests {
                self.events.push(seen(frame, "server", "recv_RequestResync"));
            }
            if stats.resyncs > before.resyncs {
                let position = Some(self.server.position());
                self.events.push(Seen { position, ..seen(frame, "server", "send_Resync") });
            }
            if stats.finished > before.finished {
                let seconds = Some(self.server.path().at.seconds_since(P::Time::default()));
                self.events.push(Seen { seconds, ..seen(frame, "server", "recv_FinishResync") });
            }
        }
        let (down, due) = (&mut self.down, frame + self.latency);
        self.server.update(now, &mut |datagram| {
            down.send(due, datagram);
        });
    }

    /// The first half of the client's part: what is due.
    pub fn hear(&mut self, frame: u64) {
        while let Some(datagram) = self.down.due(frame) {
            let before = *self.client.stats();
            self.client.receive(instant_of(frame), &datagram).expect("well-formed");
            let stats = *self.client.stats();
            if stats.requests > before.requests {
                self.events.push(seen(frame, "client", "send_RequestResync"));
            }
            if stats.resyncs > before.resyncs {
                let position = Some(self.client.position());
                self.events.push(Seen { position, ..seen(frame, "client", "recv_Resync") });
                let seconds = Some(self.client.time().seconds_since(P::Time::default()));
                self.events.push(Seen { seconds, ..seen(frame, "client", "send_FinishResync") });
            }
        }
    }

    /// The other half: it moves, and sends.
    pub fn play(&mut self, frame: u64, length: <P::Time as Time>::Span, input: <P::Mover as Mover>::Input) {
        let (up, due, events) = (&mut self.up, frame + self.latency, &mut self.events);
        self.client.frame(instant_of(frame), length, input, &mut |datagram| {
            if up.send(due, datagram).is_some() {
                events.push(seen(frame, "client", "data_dropped"));
            }
        });
    }
}
