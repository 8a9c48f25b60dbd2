//! The first two columns: a smart client with a dumb server, and a dumb client with a smart server.

use super::column::{Column, Onlooker, Seen, Turn, elsewhere, pushed};
use super::walk::{SPEED, walk};
use crate::lab::watcher::Every;
use foretell::Instant;
use foretell::netsim::Link;
use foretell::validation::{DistanceCheck, DistanceGuard, Ledger, Offence, clamped_direction};
use std::collections::VecDeque;

/// Numbered datagrams of numbers; those that come after a newer one are not read.
struct Numbered {
    link: Link,
    sent: u64,
    newest: Option<u64>,
}

impl Numbered {
    fn new(seed: u64) -> Numbered {
        Numbered { link: Link::new(seed, !seed), sent: 0, newest: None }
    }

    fn send(&mut self, turn: &Turn<'_>, numbers: impl IntoIterator<Item = f64>) {
        let mut bytes = self.sent.to_le_bytes().to_vec();
        numbers.into_iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        self.link.send(turn.now, &bytes, turn.conditions);
        self.sent += 1;
    }

    fn receive(&mut self, now: Instant) -> Option<Vec<f64>> {
        loop {
            let delivery = self.link.receive(now)?;
            let (words, _) = delivery.bytes.as_chunks::<8>();
            let number = u64::from_le_bytes(words[0]);
            if self.newest < Some(number) {
                self.newest = Some(number);
                return Some(words[1..].iter().map(|word| f64::from_le_bytes(*word)).collect());
            }
        }
    }
}

/// The client decides where it is, and the server passes it on; or looks first how far that is (Q5).
pub struct ClientDecides {
    client: [f64; 3],
    sends: Every,
    up: Numbered,
    server: [f64; 3],
    guard: DistanceGuard,
    ledger: Ledger,
    onlooker: Onlooker,
}

impl ClientDecides {
    pub fn new(seed: u64, spawn: [f64; 3], start: Instant) -> ClientDecides {
        ClientDecides {
            client: spawn,
            sends: Every::default(),
            up: Numbered::new(seed),
            server: spawn,
            guard: DistanceGuard::new(DistanceCheck::new(SPEED), spawn, start),
            ledger: Ledger::default(),
            onlooker: Onlooker::new(seed ^ 4),
        }
    }

    fn serve(&mut self, turn: &Turn<'_>) {
        self.guard.carry = turn.lateness();
        while let Some(numbers) = self.up.receive(turn.now) {
            let Ok(sent) = <[f64; 3]>::try_from(numbers) else { continue };
            self.server = match turn.article {
                true => sent,
                false => self.guard.take(turn.now, sent, &mut self.ledger).position,
            };
        }
    }
}

impl Column for ClientDecides {
    fn frame(&mut self, turn: &Turn<'_>) -> Seen {
        self.serve(turn);
        let other = self.onlooker.see(turn, self.server);
        if turn.doing.teleport {
            self.client = elsewhere(self.client);
        }
        walk(&mut self.client, turn.pressed(), turn.claimed().as_secs_f64());
        if self.sends.is_due(turn.now, turn.interval) {
            self.up.send(turn, self.client);
        }
        let refused = self.ledger.total();
        Seen { client: self.client, server: self.server, other, resyncs: 0, refused, steps: Vec::new() }
    }
}

/// The server decides: the client sends what is held in each of its frames, the server plays that by its own clock, and
/// the client shows what comes back.
pub struct ServerDecides {
    /// What was held in the frames since the last datagram.
    held: Vec<[f64; 3]>,
    sends: Every,
    up: Numbered,
    server: [f64; 3],
    /// What it has to play, the oldest first.
    waiting: VecDeque<[f64; 3]>,
    ledger: Ledger,
    down: Onlooker,
    shown: [f64; 3],
    onlooker: Onlooker,
}

impl ServerDecides {
    pub fn new(seed: u64, spawn: [f64; 3]) -> ServerDecides {
        ServerDecides {
            held: Vec::new(),
            sends: Every::default(),
            up: Numbered::new(seed),
            server: spawn,
            waiting: VecDeque::new(),
            ledger: Ledger::default(),
            down: Onlooker::new(seed ^ 2),
            shown: spawn,
            onlooker: Onlooker::new(seed ^ 4),
        }
    }

    fn serve(&mut self, turn: &Turn<'_>) {
        if turn.doing.push {
            self.server = pushed(self.server);
        }
        while let Some(numbers) = self.up.receive(turn.now) {
            let (directions, _) = numbers.as_chunks::<3>();
            self.waiting.extend(directions);
        }
        // Two datagrams, and as many frames as jitter may hold one back: more than this comes of a clock that is too fast.
        let frame = turn.length.as_secs_f64().max(1e-3);
        let most = (turn.interval * 2 + turn.conditions.jitter).as_secs_f64() / frame + 6.0;
        while count(self.waiting.len()) > most {
            self.waiting.pop_front();
            self.ledger.note(Offence::Time);
        }
        let mut direction = self.waiting.pop_front().unwrap_or_default();
        if !turn.article {
            let (clamped, offence) = clamped_direction(direction);
            direction = clamped;
            if offence {
                self.ledger.note(Offence::Direction);
            }
        }
        walk(&mut self.server, direction, turn.length.as_secs_f64());
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few dozen")]
fn count(len: usize) -> f64 {
    len as f64
}

impl Column for ServerDecides {
    fn frame(&mut self, turn: &Turn<'_>) -> Seen {
        self.serve(turn);
        let other = self.onlooker.see(turn, self.server);
        let shown = self.down.see(turn, self.server);
        if !turn.doing.deaf {
            self.shown = shown.unwrap_or(self.shown);
        }
        self.held.push(turn.pressed());
        if turn.doing.clock {
            self.held.push(turn.pressed());
        }
        if self.sends.is_due(turn.now, turn.interval) {
            self.up.send(turn, self.held.drain(..).flatten());
        }
        let refused = self.ledger.total();
        Seen { client: self.shown, server: self.server, other, resyncs: 0, refused, steps: Vec::new() }
    }
}
