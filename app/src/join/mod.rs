//! `foretell join`: a player in a terminal, with a live view of the connection; on a server elsewhere, as a host, or alone.

mod connection_status;
mod keyboard;
mod screen;
mod seat;

use anyhow::{Context, Result, ensure};
use clap::Args;
use connection_status::ConnectionStatus;
use foretell_arena::{Game, Pitch};
use foretell_dedicated::GameName;
use foretell_net::{Access, Account, Credential, JoinConfig, ServeConfig, Token, UnixTime, Via};
use foretell_pile::Pile;
use keyboard::Keyboard;
use screen::Screen;
use seat::Seat;
use std::io::{IsTerminal, stdout};
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::time::{MissedTickBehavior, interval};

#[derive(Args)]
pub struct JoinArgs {
    /// The address that the server has printed.
    #[arg(required_unless_present_any = ["host", "single"], conflicts_with_all = ["host", "single"])]
    url: Option<String>,
    /// Hosts the game in this program, and plays: others join by the address that it prints, in INSECURE development mode, in which
    /// anybody may play in anybody's name.
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:4433", conflicts_with = "single")]
    host: Option<SocketAddr>,
    /// The same on an address that others than this machine can reach.
    #[arg(long, requires = "host")]
    insecure_for_all: bool,
    /// Plays alone, without a network.
    #[arg(long)]
    single: bool,
    /// The player's name, for a server that was started with --insecure. With any other the token says who plays: it is
    /// read from the environment, FORETELL_TOKEN, where no list of processes shows it.
    #[arg(long, value_name = "NAME")]
    insecure: Option<String>,
    /// What is played.
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
    let mut seat = take_seat(args).await?;
    // What is elsewhere comes from there.
    let mut world = if matches!(seat, Seat::Here(_)) { G::hosted() } else { G::default() };
    let mut status = ConnectionStatus::default();
    let began = Instant::now();
    let (mut told, lasts) = (began, args.seconds.map(|seconds| Duration::from_secs(seconds.into())));
    seat.tell(&mut status, TELLING.as_secs_f64());
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
        let frame = seat.update(&mut world, buttons);
        status.corrections(frame.corrections);
        seat.check()?;
        if now - told >= TELLING {
            seat.tell(&mut status, (now - told).as_secs_f64());
            told = now;
        }
        screen.draw(&seat, &status, now)?;
    }
    drop((screen, keyboard));
    seat.leave().await;
    Ok(())
}

async fn take_seat<G: Game>(args: &JoinArgs) -> Result<Seat<G>> {
    let show = G::client().show;
    if args.single {
        return Ok(Seat::Here(Box::new(foretell_net::alone(G::rules(), G::server(), show))));
    }
    if let Some(address) = args.host {
        ensure!(
            args.insecure_for_all || address.ip().to_canonical().is_loopback(),
            "a host lets anybody play in anybody's name, and others than this machine can reach {address}: say \
             --insecure-for-all too"
        );
        let config =
            ServeConfig { session: G::server(), ..ServeConfig::new(G::rules(), Access::insecure_development()) };
        let hosting =
            foretell_net::host(address, config, show).with_context(|| format!("{address} can't be served"))?;
        let url = hosting.url(&address.ip().to_string()).context("the address is not known")?;
        println!("foretell join --host: the {}, players join {url}", G::NAME);
        return Ok(Seat::Here(Box::new(hosting)));
    }
    let url = args.url.as_deref().context("where? An address, --host, or --single")?;
    let via = if args.websocket { Via::WebSocket } else { Via::Either };
    let config = JoinConfig { via, client: G::client(), ..JoinConfig::new(G::rules()) };
    Ok(Seat::Elsewhere(Box::new(foretell_net::connect(url, credential(args)?, config).await?)))
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
