//! `foretell join`: a player in a terminal, with a live view of the connection.

mod connection_status;
mod keyboard;
mod screen;

use crate::disconnect;
use anyhow::{Context, Result};
use clap::Args;
use connection_status::ConnectionStatus;
use foretell_arena::{Game, Pitch};
use foretell_dedicated::GameName;
use foretell_net::{Account, Credential, JoinConfig, Player, Token, UnixTime, Via};
use foretell_pile::Pile;
use keyboard::Keyboard;
use screen::Screen;
use std::io::{IsTerminal, stdout};
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

#[derive(Args)]
pub struct JoinArgs {
    /// The address that the server has printed.
    url: String,
    /// The player's name, for a server that was started with --insecure. With any other the token says who plays: it is
    /// read from the environment, FORETELL_TOKEN, where no list of processes shows it.
    #[arg(long, value_name = "NAME")]
    insecure: Option<String>,
    /// What the server plays.
    #[arg(long, value_enum, default_value_t)]
    game: GameName,
    /// Leaves after so many seconds; otherwise with Esc or Ctrl-C.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: Option<u32>,
    /// Connects by WebSocket, as where no UDP passes.
    #[arg(long)]
    websocket: bool,
}

/// A frame of a screen with 60 Hz.
const FRAME: Duration = Duration::from_micros(16_667);
/// How often the status are told anew.
const TELLING: Duration = Duration::from_millis(250);

/// Plays until it is told to leave.
pub fn run(args: &JoinArgs) -> Result<()> {
    let runtime = foretell_net::runtime().context("the runtime can't start")?;
    match args.game {
        GameName::Arena => runtime.block_on(play::<Pitch>(args)),
        GameName::Pile => runtime.block_on(play::<Pile>(args)),
    }
}

async fn play<G: Game>(args: &JoinArgs) -> Result<()> {
    let via = if args.websocket { Via::WebSocket } else { Via::Either };
    let config = JoinConfig { via, client: G::client(), ..JoinConfig::new(G::rules()) };
    let mut player: Player<G> = foretell_net::connect(&args.url, credential(args)?, config).await?;
    let mut world = G::default();
    let mut status = ConnectionStatus::default();
    let began = Instant::now();
    let (mut told, lasts) = (began, args.seconds.map(|seconds| Duration::from_secs(seconds.into())));
    status.take(&player, TELLING.as_secs_f64());
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
        status.corrections(frame.corrections);
        disconnect::check(&player)?;
        if now - told >= TELLING {
            status.take(&player, (now - told).as_secs_f64());
            told = now;
        }
        screen.draw(&player, &status, now)?;
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
