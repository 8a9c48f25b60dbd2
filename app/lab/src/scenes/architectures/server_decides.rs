//! The second architecture: a dumb client with a smart server.

use super::architecture::{Architecture, FrameInput, FrameView, OtherPlayer, pushed};
use super::movement::walk;
use super::numbered_link::NumberedLink;
use crate::scenes::timer::Timer;
use foretell::session::{Offence, Offences};
use foretell_articles::timestamped::clamped_direction;
use std::collections::VecDeque;

/// The server decides: the client sends what is held in each of its frames, the server plays that by its own clock, and
/// the client shows what comes back.
pub struct ServerDecides {
    /// What was held in the frames since the last datagram.
    held: Vec<[f64; 3]>,
    sends: Timer,
    up: NumberedLink,
    server: [f64; 3],
    /// What it has to play, the oldest first.
    waiting: VecDeque<[f64; 3]>,
    offences: Offences,
    down: OtherPlayer,
    shown: [f64; 3],
    other: OtherPlayer,
}

impl ServerDecides {
    pub fn new(seed: u64, spawn: [f64; 3]) -> ServerDecides {
        ServerDecides {
            held: Vec::new(),
            sends: Timer::default(),
            up: NumberedLink::new(seed),
            server: spawn,
            waiting: VecDeque::new(),
            offences: Offences::default(),
            down: OtherPlayer::new(seed ^ 2),
            shown: spawn,
            other: OtherPlayer::new(seed ^ 4),
        }
    }

    fn serve(&mut self, input: &FrameInput<'_>) {
        if input.doing.push {
            self.server = pushed(self.server);
        }
        while let Some(numbers) = self.up.receive(input.now) {
            let (directions, _) = numbers.as_chunks::<3>();
            self.waiting.extend(directions);
        }
        // Two datagrams, and as many frames as jitter may hold one back: more than this comes of a clock that is too fast.
        let frame = input.length.as_secs_f64().max(1e-3);
        let most = (input.interval * 2 + input.conditions.jitter).as_secs_f64() / frame + 6.0;
        while count(self.waiting.len()) > most {
            self.waiting.pop_front();
            self.offences.note(Offence::Time);
        }
        let mut direction = self.waiting.pop_front().unwrap_or_default();
        if !input.article {
            let (clamped, offence) = clamped_direction(direction);
            direction = clamped;
            if offence {
                self.offences.note(Offence::Direction);
            }
        }
        walk(&mut self.server, direction, input.length.as_secs_f64());
    }
}

impl Architecture for ServerDecides {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        self.serve(input);
        let other = self.other.see(input, self.server);
        let shown = self.down.see(input, self.server);
        if !input.doing.deaf {
            self.shown = shown.unwrap_or(self.shown);
        }
        self.held.push(input.pressed());
        if input.doing.clock {
            self.held.push(input.pressed());
        }
        if self.sends.is_due(input.now, input.interval) {
            self.up.send(input, self.held.drain(..).flatten());
        }
        let refused = self.offences.total();
        FrameView { client: self.shown, server: self.server, other, resyncs: 0, refused, steps: Vec::new() }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a few dozen")]
fn count(len: usize) -> f64 {
    len as f64
}
