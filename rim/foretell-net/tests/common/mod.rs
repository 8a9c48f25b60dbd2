//! A small game, a server and players for it over loopback, and a relay that does what networks do.
#![allow(dead_code, reason = "each test uses a part of it")]

pub mod by_hand;
pub mod raw;
pub mod relay;

use foretell::{ClientState, Input, Newcomer, Reason, Rules, Simulate, State, Step, Table, World};
use foretell_net::{
    Access, Account, ConnectError, Credential, Issuer, JoinConfig, Player, Running, ServeConfig, Token, UnixTime,
    connect, serve,
};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

#[derive(Input, Clone, Copy, PartialEq, Default)]
pub struct Buttons {
    pub left: bool,
    pub right: bool,
}

#[derive(State, Clone, Copy, Default)]
pub struct Cube {
    #[state(position)]
    pub x: [f32; 1],
    #[state(velocity)]
    pub speed: [f32; 1],
}

/// A line, and a cube on it for each player.
#[derive(World, Clone, Default)]
pub struct Arena {
    pub cubes: Table<Cube>,
}

impl Simulate for Arena {
    type Input = Buttons;

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        let account = newcomer.account.as_deref().unwrap_or_default();
        if newcomer.data == b"nobody" { Err(Reason::new(&format!("not you, {account}"))) } else { Ok(()) }
    }

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.cubes.remove_left(step);
        for joined in step.joined() {
            self.cubes.spawn(step, joined.player, Cube::default());
        }
        for mut cube in self.cubes.simulated(step) {
            let Some(player) = step.input(cube.owner()) else { continue };
            let push = f32::from(i8::from(player.input.right) - i8::from(player.input.left));
            cube.speed[0] = 0.9 * cube.speed[0] + 0.5 * push;
            #[allow(clippy::cast_possible_truncation, reason = "a fraction of a second")]
            let seconds = step.seconds() as f32;
            cube.x[0] += cube.speed[0] * seconds;
        }
    }
}

pub fn rules() -> Rules {
    Rules::new(Arena::schema())
}

pub const SEED: [u8; 32] = [7; 32];

pub fn issuer() -> Issuer {
    Issuer::new(&SEED, "arena")
}

pub fn account(name: &str) -> Account {
    Account::new(name).expect("a name")
}

/// A good token for `name`, issued now.
pub fn token(name: &str) -> Token {
    issuer().issue(&account(name), UnixTime::now(), Duration::from_secs(60))
}

pub fn serve_config() -> ServeConfig {
    ServeConfig::new(rules(), Access::new("arena", issuer().public_key()))
}

pub async fn start(config: ServeConfig) -> Running {
    start_at("127.0.0.1:0".parse().expect("an address"), config).await
}

pub async fn start_at(address: SocketAddr, config: ServeConfig) -> Running {
    serve(address, Arena::default(), config).await.expect("a server")
}

/// A player who holds the right button, and the world that they see.
pub struct Guest {
    pub player: Player<Arena>,
    pub world: Arena,
}

pub async fn join(url: &str, credential: impl Into<Credential>) -> Result<Guest, ConnectError> {
    join_with(url, credential, JoinConfig::new(rules())).await
}

pub async fn join_with(
    url: &str,
    credential: impl Into<Credential>,
    config: JoinConfig,
) -> Result<Guest, ConnectError> {
    Ok(Guest { player: connect(url, credential, config).await?, world: Arena::default() })
}

impl Guest {
    pub fn frame(&mut self) -> ClientState {
        self.player.update(&mut self.world, &mut |_tick| Buttons { left: false, right: true }).state
    }

    /// The own cube's place, as predicted.
    pub fn x(&self) -> Option<f32> {
        let own = self.player.client().player()?;
        self.world.cubes.owned_by(own).next().map(|cube| cube.x[0])
    }

    pub fn agreed(&self) -> u64 {
        self.player.client().stats().prediction.outcomes.agreed
    }
}

/// Runs frames of all guests until `done`; the limit is for machines that are very busy.
pub async fn play(guests: &mut [Guest], what: &str, mut done: impl FnMut(&mut [Guest]) -> bool) {
    let began = Instant::now();
    while !done(guests) {
        for guest in guests.iter_mut() {
            guest.frame();
        }
        assert!(began.elapsed() < Duration::from_secs(40), "not within 40 s: {what}");
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
}

/// Whether every guest plays, and has been told by the server that it predicted right, so many times.
pub fn all_agree(guests: &mut [Guest], times: u64) -> bool {
    guests.iter_mut().all(|guest| guest.frame() == ClientState::Playing && guest.agreed() >= times)
}
