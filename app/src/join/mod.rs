//! `foretell join`: a player in a terminal, with a live view of the connection.

mod keyboard;
mod screen;
mod vitals;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use foretell::ClientState;
use foretell_arena::Arena;
use foretell_net::{Account, Connected, Credential, JoinConfig, Player, Token, UnixTime, Via};
use keyboard::Keyboard;
use screen::Screen;
use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};
use vitals::Vitals;

#[derive(Args)]
pub struct JoinArgs {
    /// The address that the server has printed.
    url: String,
    /// The player's name, for a server that was started with --insecure. With any other the token says who plays: it is
    /// read from the environment, FORETELL_TOKEN, where no list of processes shows it.
    #[arg(long, value_name = "NAME")]
    insecure: Option<String>,
    /// Leaves after so many seconds; otherwise with Esc or Ctrl-C.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Connects by WebSocket, as where no UDP passes.
    #[arg(long)]
    websocket: bool,
}

/// A frame of a screen with 60 Hz.
const FRAME: Duration = Duration::from_micros(16_667);
/// How often the vitals are told anew.
const TELLING: Duration = Duration::from_millis(250);

/// Plays until it is told to leave.
pub fn run(args: &JoinArgs) -> Result<()> {
    let runtime = foretell_net::runtime().context("the runtime can't start")?;
    runtime.block_on(play(args))
}

async fn play(args: &JoinArgs) -> Result<()> {
    let via = if args.websocket { Via::WebSocket } else { Via::Either };
    let config = JoinConfig { via, ..JoinConfig::new(foretell_arena::rules()) };
    let mut player: Player<Arena> = foretell_net::connect(&args.url, credential(args)?, config).await?;
    let mut world = Arena::default();
    let mut vitals = Vitals::default();
    let began = Instant::now();
    let (mut told, lasts) = (began, args.seconds.map(|seconds| Duration::from_secs(seconds.into())));
    vitals.take(&player, TELLING.as_secs_f64());
    // Without a terminal it is a line each second, and nobody presses keys.
    let mut keyboard = stdout().is_terminal().then(Keyboard::new).transpose()?;
    let mut screen = Screen::new(keyboard.is_some())?;
    let mut frames = interval(FRAME);
    frames.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let interrupted = tokio::signal::ctrl_c();
    tokio::pin!(interrupted);
    loop {
        tokio::select! {
            _ = frames.tick() => {}
            _ = &mut interrupted => break,
        }
        let now = Instant::now();
        if lasts.is_some_and(|lasts| now - began >= lasts) {
            break;
        }
        let buttons = match &mut keyboard {
            Some(keyboard) => match keyboard.read(now)? {
                Some(buttons) => buttons,
                None => break,
            },
            None => keyboard::walk(now - began),
        };
        let frame = player.update(&mut world, &mut |_| buttons);
        vitals.corrections(frame.corrections);
        if let ClientState::Refused(why) = frame.state {
            bail!("the server has refused: {why:?}");
        }
        over(&player)?;
        if now - told >= TELLING {
            vitals.take(&player, (now - told).as_secs_f64());
            told = now;
        }
        screen.draw(&player, &vitals, now)?;
    }
    drop((screen, keyboard));
    player.leave().await;
    Ok(())
}

fn credential(args: &JoinArgs) -> Result<Credential> {
    if let Some(name) = &args.insecure {
        let account = Account::new(name).context("a name has 1 to 64 bytes, and no control characters")?;
        return Ok(Token::insecure(&account, UnixTime::now()).into());
    }
    let text = std::env::var("FORETELL_TOKEN");
    let text = text.context("who plays? Set FORETELL_TOKEN, or --insecure NAME for a server in development mode")?;
    Token::parse(&text).map(Credential::from).context("FORETELL_TOKEN is no token: it is one word of base64")
}

/// A connection that is over, and does not come back, in a sentence.
fn over(player: &Player<Arena>) -> Result<()> {
    match player.connected() {
        Connected::Yes | Connected::Rejoining => Ok(()),
        Connected::Closed(why) => Err(anyhow!("the connection is over: {why}")),
        Connected::Refused(why) => Err(anyhow!("the server does not take this player back: {why}")),
        Connected::GivenUp => Err(anyhow!("the server could not be reached again for five minutes")),
    }
}
