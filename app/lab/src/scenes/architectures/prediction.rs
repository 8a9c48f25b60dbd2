//! The third architecture: both ends are smart. The client moves at once, the server follows its path and has the final word.

use super::architecture::{Architecture, FrameInput, FrameView, OtherPlayer, elsewhere, pushed};
use super::movement::Precision;
use super::options::Options;
use core::time::Duration;
use foretell::Instant;
use foretell::motion::vector::{length, sub};
use foretell_articles::timestamped::{Client, ClientConfig, Server, ServerConfig, Trust};
use foretell_sim::netsim::Link;

/// Timestamped mode, and the links between its ends.
pub struct Prediction<P: Precision> {
    client: Client<P::Mover, P::Time>,
    server: Server<P::Mover, P::Time>,
    up: Link,
    down: Link,
    other: OtherPlayer,
    /// When the resync that goes on was begun, on the lab's time axis.
    begun_s: Option<f64>,
    steps: Vec<String>,
}

impl<P: Precision> Prediction<P> {
    /// Both begin at `start`; their session is as old as the time since zero.
    pub fn new(seed: u64, options: &Options, spawn: [f64; 3], start: Instant) -> Prediction<P> {
        let send_interval = options.interval;
        let client = ClientConfig {
            send_interval,
            detect: options.detect,
            repeat_inputs: !options.article,
            ..ClientConfig::default()
        };
        let trust = if options.article { Trust::Blind } else { Trust::default() };
        let server = ServerConfig { send_interval, detect: options.detect, trust, ..ServerConfig::default() };
        let mut client = Client::new(P::Mover::default(), P::at(spawn), client, 0, Instant::ZERO);
        let server = Server::new(P::Mover::default(), P::at(spawn), server, 0, Instant::ZERO);
        // They have stood there until now.
        client.frame(Instant::ZERO, P::span(start.since(Instant::ZERO)), P::input([0.0; 3]), &mut |_| {});
        Prediction {
            client,
            server,
            up: Link::new(seed, seed ^ 1),
            down: Link::new(seed ^ 2, seed ^ 3),
            other: OtherPlayer::new(seed ^ 4),
            begun_s: None,
            steps: Vec::new(),
        }
    }

    fn tell(&mut self, input: &FrameInput<'_>, sentence: &str) {
        self.begun_s.get_or_insert(input.time_s);
        self.steps.push(sentence.to_owned());
    }

    fn serve(&mut self, input: &FrameInput<'_>) {
        if input.doing.push {
            *self.server.state_mut() = P::at(pushed(self.server.position()));
        }
        while let Some(delivery) = self.up.receive(input.now) {
            let before = *self.server.stats();
            // What is malformed is counted; the lab sends nothing of the kind.
            let _ = self.server.receive(input.now, delivery.bytes);
            let after = *self.server.stats();
            if after.mismatched > before.mismatched {
                self.tell(input, "server: the position that came with the inputs is another");
            }
            if after.rejected > before.rejected {
                self.tell(input, "server: refuses inputs whose time runs too fast");
            }
            if after.requests > before.requests {
                self.tell(input, "server: RequestResync has come");
            }
            if after.resyncs > before.resyncs {
                self.tell(input, "server: stands still and sends Resync with its position");
            }
            if after.finished > before.finished {
                let took = input.time_s - self.begun_s.take().unwrap_or(input.time_s);
                let sentence =
                    format!("server: FinishResync has come, it follows again, {took:.2} s after the first step");
                self.tell(input, &sentence);
                self.begun_s = None;
            }
        }
        let (down, now) = (&mut self.down, input.now);
        self.server.update(now, &mut |bytes| {
            down.send(now, bytes, input.conditions);
        });
    }

    fn hear(&mut self, input: &FrameInput<'_>) {
        while let Some(delivery) = self.down.receive(input.now) {
            if input.doing.deaf {
                continue;
            }
            let before = *self.client.stats();
            let was_at = self.client.position();
            // As above.
            let _ = self.client.receive(input.now, delivery.bytes);
            let after = *self.client.stats();
            if after.requests > before.requests {
                self.tell(input, "client: the server's position for the same time is another; sends RequestResync");
            }
            if after.resyncs > before.resyncs {
                let way = length(sub(self.client.position(), was_at));
                let sentence =
                    format!("client: Resync has come, goes {way:.2} m to the server's position, sends FinishResync");
                self.tell(input, &sentence);
            }
        }
    }

    fn play(&mut self, input: &FrameInput<'_>) {
        if input.doing.teleport {
            *self.client.state_mut() = P::at(elsewhere(self.client.position()));
        }
        let (up, now) = (&mut self.up, input.now);
        let (span, pressed) = (P::span(input.claimed()), P::input(input.pressed()));
        self.client.frame(now, span, pressed, &mut |bytes| {
            up.send(now, bytes, input.conditions);
        });
    }
}

impl<P: Precision> Architecture for Prediction<P> {
    fn frame(&mut self, input: &FrameInput<'_>) -> FrameView {
        self.serve(input);
        let server = self.server.position();
        let other = self.other.see(input, server);
        self.hear(input);
        self.play(input);
        FrameView {
            // The article does not hide the jump of a resync (E10).
            client: if input.article { self.client.position() } else { self.client.shown() },
            server,
            other,
            resyncs: self.client.stats().resyncs,
            refused: self.server.offences().total(),
            steps: core::mem::take(&mut self.steps),
        }
    }
}

/// What a session of this age begins at.
pub fn start_of(age_s: u32) -> Instant {
    Instant::ZERO + Duration::from_secs(u64::from(age_s))
}
