//! Whole sessions of a game without sockets or windows: an app that serves, apps that play, simulated links between them, virtual time.

use crate::driver::{hand_over, take_out};
use crate::play::Play;
use bevy_app::App;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use core::time::Duration;
use foretell::{Instant, PeerId, Start};
use foretell_sim::netsim::{Conditions, Link};

/// An app that plays, and its link to the one that serves.
struct Seat {
    app: App,
    up: Link,
    down: Link,
}

/// A server and its players in one program, all in step: each [`frame`](Rig::frame) updates every app once and lets 15.625 ms of virtual
/// time pass. A run is a function of the game, the seed, the conditions and what is done between frames.
pub struct Rig {
    server: App,
    seats: Vec<Seat>,
    /// What the links do from the next datagram on, up and down.
    pub conditions: Conditions,
    now: Instant,
}

/// How long a frame is: a tick at 64 Hz.
const FRAME: Duration = Duration::from_micros(15_625);

/// An app without a window, whose time is virtual, with this game in it.
pub(crate) fn headless(game: fn(&mut App), play: Play) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(FRAME));
    game(&mut app);
    app.insert_resource(play);
    app
}

impl Rig {
    /// A server of this game and so many players, over links of these conditions. `game` adds the
    /// [plugin](crate::ForetellPlugin) and what the game is, as it does in a program.
    pub fn new(game: fn(&mut App), players: u8, seed: u64, conditions: Conditions) -> Rig {
        Rig::of(headless(game, Play::ByHand(Start::Dedicated { epoch: 1 })), game, players, seed, conditions)
    }

    /// The same with a host in the place of the server, whose player is one more.
    pub fn hosted(game: fn(&mut App), players: u8, seed: u64, conditions: Conditions) -> Rig {
        Rig::of(headless(game, Play::ByHand(Start::Host { epoch: 1 })), game, players, seed, conditions)
    }

    fn of(server: App, game: fn(&mut App), players: u8, seed: u64, conditions: Conditions) -> Rig {
        let seat = |number: u8| {
            let link = |way| Link::new(seed.wrapping_mul(1_000).wrapping_add(u64::from(number) * 2 + way), way + 1);
            let nonce = u64::from(number) + 1;
            Seat { app: headless(game, Play::ByHand(Start::Client { nonce })), up: link(0), down: link(1) }
        };
        Rig { server, seats: (0..players).map(seat).collect(), conditions, now: Instant::ZERO }
    }

    /// The app that serves.
    pub fn server(&mut self) -> &mut App {
        &mut self.server
    }

    /// The app of a player, from 0.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn player(&mut self, nth: usize) -> &mut App {
        &mut self.seats[nth].app
    }

    /// How many frames have run.
    pub fn frames(&self) -> u64 {
        self.now.micros() / FRAME.as_micros() as u64
    }

    /// Runs a frame: what has arrived is handed over, every app is updated, and what they say is sent.
    pub fn frame(&mut self) {
        let Rig { server, seats, conditions, now } = self;
        for (peer, seat) in (1..).map(PeerId).zip(&mut *seats) {
            hand_over(server, peer, &mut seat.up, *now);
        }
        server.update();
        for (peer, datagram) in take_out(server) {
            let seat = usize::try_from(peer.0).ok().and_then(|peer| seats.get_mut(peer.checked_sub(1)?));
            if let Some(seat) = seat {
                seat.down.send(*now, &datagram, conditions);
            }
        }
        for seat in seats {
            hand_over(&mut seat.app, PeerId(0), &mut seat.down, *now);
            seat.app.update();
            for (_, datagram) in take_out(&mut seat.app) {
                seat.up.send(*now, &datagram, conditions);
            }
        }
        *now = *now + FRAME;
    }

    /// Runs so many frames.
    pub fn run(&mut self, frames: u32) {
        (0..frames).for_each(|_| self.frame());
    }
}
