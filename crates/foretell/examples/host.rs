//! The README's game, started as it is played: alone, as a host with others, or as a client of a server elsewhere. One loop,
//! [`Session`], and nothing in it asks which it is.
//!
//! `cargo run -p foretell --example host` plays the three one after the other, each for five seconds of virtual time: the
//! one who is looked at walks to the right, and where there is another machine it lies 50 ms away.

use core::time::Duration;
use foretell::{
    Input, Instant, Outbox, PeerId, Rules, Session, SessionConfig, Simulate, Start, State, Step, Table, Views, World,
};
use foretell_sim::netsim::{Conditions, Link};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    left: bool,
    right: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Cube {
    #[state(position)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
}

#[derive(World, Default)]
struct Arena {
    cubes: Table<Cube>,
}

impl Simulate for Arena {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.cubes.remove_left(step);
        for joined in step.joined() {
            self.cubes.spawn(step, joined.player, Cube::default());
        }
        for mut cube in self.cubes.simulated(step) {
            let Some(player) = step.input(cube.owner()) else { continue };
            let push = f32::from(i8::from(player.input.right) - i8::from(player.input.left));
            cube.speed[0] = 0.9 * cube.speed[0] + 0.5 * push;
            cube.x[0] += cube.speed[0] * step.seconds() as f32;
        }
    }
}

/// A program that plays the game, however it was started.
struct Game {
    session: Session<Arena>,
    world: Arena,
    outbox: Outbox,
    views: Views,
    corrections: usize,
}

impl Game {
    fn new(start: Start) -> Game {
        let session = Session::start(start, SessionConfig::new(Rules::new(Arena::schema())), Instant::ZERO);
        Game { session, world: Arena::default(), outbox: Outbox::new(), views: Views::new(), corrections: 0 }
    }

    /// One frame, and the same whatever it is. What comes in and goes out is up to who calls it.
    fn frame(&mut self, now: Instant, keys: Buttons) {
        let Game { session, world, outbox, views, corrections } = self;
        *corrections += session.update(now, world, &mut |_tick| keys, outbox).corrections.len();
        session.present(now, views);
    }

    /// Where the own cube is drawn.
    fn x(&self) -> Option<f64> {
        let own = self.session.player()?;
        self.views.iter().find(|view| view.owner == own).map(|view| view.pose().position[0])
    }
}

/// Two programs, and the network between them: the second one is a client of the first.
fn play(first: Start, second: Option<Start>) -> (Game, Option<Game>) {
    let (mut near, mut far) = (Game::new(first), second.map(Game::new));
    let (mut up, mut down) = (Link::new(1, 2), Link::new(3, 4));
    let conditions = Conditions { latency: Duration::from_millis(50), ..Conditions::default() };
    for now in (0..5 * 64).map(|tick: u64| Instant::from_micros(tick * 15_625)) {
        while let Some(delivery) = up.receive(now) {
            near.session.receive(now, PeerId(1), delivery.bytes).expect("well-formed");
        }
        near.frame(now, Buttons { left: false, right: true });
        for (_, datagram) in near.outbox.iter() {
            down.send(now, datagram, &conditions);
        }
        near.outbox.clear();
        let Some(far) = &mut far else { continue };
        while let Some(delivery) = down.receive(now) {
            far.session.receive(now, PeerId(0), delivery.bytes).expect("well-formed");
        }
        far.frame(now, Buttons { left: true, right: false });
        for (_, datagram) in far.outbox.iter() {
            up.send(now, datagram, &conditions);
        }
        far.outbox.clear();
    }
    (near, far)
}

/// Plays all three.
pub fn main() {
    let client = Start::Client { nonce: 5 };
    for (name, first, second) in [
        ("alone", Start::Single, None),
        ("a host and a client", Start::Host { epoch: 1 }, Some(client)),
        ("a dedicated server and a client", Start::Dedicated { epoch: 1 }, Some(client)),
    ] {
        let (near, far) = play(first, second);
        println!("{name}:");
        // Who sits at the server is never corrected; whoever plays over a perfect link is not either.
        assert_eq!((near.corrections, far.as_ref().map_or(0, |far| far.corrections)), (0, 0));
        assert_eq!(near.x().is_some_and(|x| x > 10.0), first != Start::Dedicated { epoch: 1 });
        assert!(far.as_ref().is_none_or(|far| far.x().is_some_and(|x| x < -10.0)));
        for (who, game) in [("the first program", Some(&near)), ("the second", far.as_ref())] {
            let Some((game, x)) = game.and_then(|game| Some((game, game.x()?))) else { continue };
            println!(
                "  {who} draws {} cubes, its own at {x:+.2} m, after {} corrections",
                game.views.len(),
                game.corrections
            );
        }
    }
}
