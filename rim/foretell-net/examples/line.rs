//! A server and a player in a few lines: a number for each player, which their button raises.
//!
//! `cargo run -p foretell-net --example line` runs both in one process, `... -- serve` a server, and
//! `... -- join URL NAME` a player of it.

use foretell::{Input, Rules, Simulate, State, Step, Table, World};
use foretell_net::{Access, Account, JoinConfig, Running, ServeConfig, Token, UnixTime};
use std::error::Error;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Buttons {
    up: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Height {
    units: u32,
}

#[derive(World, Default)]
struct Line {
    heights: Table<Height>,
}

impl Simulate for Line {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.heights.remove_left(step);
        for joined in step.joined() {
            self.heights.spawn(step, joined.player, Height::default());
        }
        for mut height in self.heights.simulated(step) {
            height.units += step.input(height.owner()).map_or(0, |player| u32::from(player.input.up));
        }
    }
}

fn rules() -> Rules {
    Rules::new(Line::schema())
}

async fn serve() -> std::io::Result<Running> {
    let config = ServeConfig::new(rules(), Access::insecure_development());
    foretell_net::serve("127.0.0.1:4433".parse().expect("an address"), Line::default(), config).await
}

async fn play(url: &str, name: &str, frames: u32) -> Result<(), Box<dyn Error>> {
    let account = Account::new(name).ok_or("a name has 1 to 64 bytes")?;
    let token = Token::insecure(&account, UnixTime::now());
    let mut player = foretell_net::connect(url, token, JoinConfig::new(rules())).await?;
    let mut line = Line::default();
    for number in 0..frames {
        let frame = player.update(&mut line, &mut |tick| Buttons { up: tick.get() % 8 == 0 });
        if number % 60 == 0 {
            let heights: Vec<_> = line.heights.iter().map(|height| height.units).collect();
            println!("{name}: {:?}, tick {}, heights {heights:?}", frame.state, frame.tick.get());
        }
        tokio::time::sleep(Duration::from_millis(16)).await;
    }
    player.leave().await;
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let said: Vec<_> = std::env::args().skip(1).collect();
    match said.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["join", url, name] => play(url, name, u32::MAX).await,
        ["serve"] => {
            let server = serve().await?;
            println!("join {}", server.url("127.0.0.1"));
            Ok(server.ended().await?)
        }
        _ => {
            let server = serve().await?;
            play(&server.url("127.0.0.1"), "alice", 300).await
        }
    }
}
