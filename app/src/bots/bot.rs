//! One bot: a player as any, whose keys are a function of its number and the tick.

use crate::disconnect;
use anyhow::{Context, Result};
use core::ops::Range;
use foretell::session::client::ClientStats;
use foretell::{ClientConfig, ClientState, SendRate};
use foretell_arena::{Buttons, Game};
use foretell_net::{Account, ConnectError, JoinConfig, PathFacts, Player, Refused, Token, UnixTime};
use foretell_plan::bots::scripted;
use foretell_sim::netsim::Pcg32;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// What a bot has figures while it was measured.
pub struct BotFigures {
    /// Counters at the beginning and at the end.
    pub stats: [ClientStats; 2],
    /// Frames.
    pub drawn: u32,
    /// What the connection knows of its path in the end.
    pub path: PathFacts,
    /// The share of frames without a running session.
    pub frames_lost: f64,
}

/// A frame of a screen with 60 Hz.
const FRAME: Duration = Duration::from_micros(16_667);

/// After so long a bot asks again.
const PAUSE: Duration = Duration::from_secs(1);

/// A minute, over and over.
const SCRIPT_TICKS: u32 = 3600;

/// What a bot plays.
pub struct Orders {
    /// The address of the server.
    pub url: String,
    /// The other bots of this program: those of another have accounts of their own.
    pub crowd: u32,
    /// Which of them it is.
    pub number: u16,
    /// How often datagrams of inputs go out.
    pub send_rate: SendRate,
    /// When it is measured.
    pub measured: Range<Instant>,
}

/// Joins. A server limits how many join at once: where it is busy the bot asks again until measuring begins.
async fn join<G: Game>(orders: &Orders) -> Result<Player<G>, ConnectError> {
    let Orders { url, crowd, number, send_rate, measured } = orders;
    let account = Account::new(&format!("bot {crowd:08x} {number}")).expect("a short name");
    let client = ClientConfig { send_rate: *send_rate, ..G::client() };
    let config = JoinConfig { client, ..JoinConfig::new(G::rules()) };
    loop {
        let token = Token::insecure(&account, UnixTime::now());
        let tried = foretell_net::connect(url, token, config.clone()).await;
        let is_busy = matches!(tried, Err(ConnectError::Refused(Refused::Busy)));
        if !is_busy || Instant::now() + PAUSE >= measured.start {
            return tried;
        }
        sleep(PAUSE).await;
    }
}

/// Joins, plays, and leaves when it has been measured.
pub async fn play<G: Game>(orders: Orders) -> Result<BotFigures> {
    let mut player: Player<G> = join(&orders).await.context("not admitted")?;
    let Orders { number, measured, .. } = orders;
    let script = scripted(u32::from(G::rules().tick_rate.get()), SCRIPT_TICKS, Pcg32::new(0, number.into()));
    let mut world = G::default();
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let (mut start, mut drawn, mut lost) = (None, 0_u32, 0_u32);
    while Instant::now() < measured.end {
        frames.tick().await;
        let state =
            player.update(&mut world, &mut |tick| Buttons::from_bits(script[tick.get() as usize % script.len()])).state;
        disconnect::check(&player)?;
        if Instant::now() >= measured.start {
            start.get_or_insert_with(|| player.client().stats());
            drawn += 1;
            lost += u32::from(matches!(state, ClientState::Joining | ClientState::Lost | ClientState::Resyncing));
        }
    }
    let before = start.context("not in time")?;
    let figures = BotFigures {
        stats: [before, player.client().stats()],
        path: player.path().unwrap_or_default(),
        frames_lost: f64::from(lost) / f64::from(drawn.max(1)),
        drawn,
    };
    player.leave().await;
    Ok(figures)
}
