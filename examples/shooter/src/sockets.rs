//! The same over real sockets: a server, and all players in one process.

use crate::game::Game;
use crate::ground::Ground;
use crate::play::{Desk, Seat, data_of, server_config};
use crate::state::rules;
use foretell::Tick;
use foretell_net::{Access, Account, JoinConfig, ServeConfig, Status, Token, UnixTime, connect, serve_with};
use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub type Failed = Box<dyn Error + Send + Sync>;

/// Plays for so long; how the server fared, and whether each has heard of the end.
pub async fn play(bots: usize, seconds: u32) -> Result<(Status, Vec<bool>), Failed> {
    let ground = Ground::make(1);
    let mut desk = Desk::new(ground.clone(), Tick::new(30 * seconds.saturating_sub(1)));
    let config = ServeConfig { session: server_config(), ..ServeConfig::new(rules(), Access::insecure_development()) };
    let game = Game::new(Arc::new(OnceLock::from(ground)));
    let serves = serve_with("127.0.0.1:0".parse()?, game, config, move |tick| desk.serve(tick.server, tick.world));
    let server = serves.await?;
    let players: Vec<_> = (0..bots).map(|nth| tokio::spawn(sit(server.url("127.0.0.1"), nth, seconds))).collect();
    let mut ends = Vec::new();
    for player in players {
        ends.push(player.await??);
    }
    Ok((server.status(), ends))
}

async fn sit(url: String, nth: usize, seconds: u32) -> Result<bool, Failed> {
    let account = Account::new(&format!("bot{nth}")).ok_or("a name has 1 to 64 bytes")?;
    let config = JoinConfig { data: data_of(nth), ..JoinConfig::new(rules()) };
    let mut player = connect(&url, Token::insecure(&account, UnixTime::now()), config).await?;
    let mut seat = Seat::new(nth as u64);
    let mut game = Game::new(seat.ground.clone());
    for _ in 0..60 * seconds {
        seat.act(player.client_mut());
        let keys = seat.bot.keys;
        player.update(&mut game, &mut |_tick| keys);
        seat.look(player.clock().now(), player.client());
        tokio::time::sleep(Duration::from_micros(16_600)).await;
    }
    player.leave().await;
    Ok(seat.is_over)
}
