//! The first architecture: a smart client with a dumb server.

use super::architecture::{Architecture, FrameInput, FrameView, OtherPlayer, elsewhere};
use super::movement::{SPEED, walk};
use super::numbered_link::NumberedLink;
use crate::scenes::timer::Timer;
use foretell::Instant;
use foretell::session::Offences;
use foretell_articles::distance::{DistanceCheck, DistanceGuard};

/// The client decides where it is, and the server passes it on; or looks first how far that is (Q5).
pub struct ClientDecides {
    client: [f64; 3],
    sends: Timer,
    up: NumberedLink,
    server: [f64; 3],
    guard: DistanceGuard,
    offences: Offences,
    other: OtherPlayer,
}

impl ClientDecides {
    pub fn new(seed: u64, spawn: [f64; 3], start: Instant) -> ClientDecides {
        ClientDecides {
            client: spawn,
            sends: Timer::default(),
            up: NumberedLink::new(seed),
            server: spawn,
            guard: DistanceGuard::new(DistanceCheck::new(SPEED), spawn, start),
            offences: Offences::default(),
            other: OtherPlayer::new(seed ^ 4),
        }
    }

    fn serve(&mut self, input: &FrameInput<'_>) {
        self.guard.carry = input.lateness();
        while let Some(numbers) = self.up.receive(input.now) {
            let Ok(sent) = <[f64; 3]>::try_from(numbers) else { continue };
            self.server = match input.article {
                true => sent,
                false => self.guard.take(input.now, sent, &mut self.offences).position,
            };
        }
    }
}

impl Architecture for ClientDecides {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        self.serve(input);
        let other = self.other.see(input, self.server);
        if input.doing.teleport {
            self.client = elsewhere(self.client);
        }
        walk(&mut self.client, input.pressed(), input.claimed().as_secs_f64());
        if self.sends.is_due(input.now, input.interval) {
            self.up.send(input, self.client);
        }
        let refused = self.offences.total();
        FrameView { client: self.client, server: self.server, other, resyncs: 0, refused, steps: Vec::new() }
    }
}
