//! The client of the dedicated server's page: a player of the arena, predicted by the same code as everywhere, for
//! JavaScript to give keys to and to draw. On other platforms than wasm32 there is nothing in it.
#![cfg(target_arch = "wasm32")]
#![forbid(unsafe_code)]

mod status;

use foretell::session::client::Source;
use foretell_arena::{Arena, Buttons};
use foretell_net::{JoinConfig, Player, Token};
use js_sys::Float32Array;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// A player of a server.
#[wasm_bindgen]
pub struct Game {
    player: Player<Arena>,
    arena: Arena,
    /// How many new ticks the last frame ran.
    ticks: u32,
    /// [`FIELDS`] for each cube, in the order in which they are drawn.
    cubes: Vec<f32>,
}

/// Of each cube: the player's number, 1 when it is the own one, x, y and z in metres, and for how many milliseconds it is
/// guessed beyond what has come.
const FIELDS: usize = 6;

#[wasm_bindgen]
impl Game {
    /// Joins the server at `url` with a `token`; a sentence when that fails.
    pub async fn join(url: String, token: String) -> Result<Game, String> {
        let token = Token::parse(&token).ok_or("this is no token")?;
        let joined = foretell_net::connect(&url, token, JoinConfig::new(foretell_arena::rules())).await;
        let player = joined.map_err(|error| error.to_string())?;
        Ok(Game { player, arena: Arena::default(), ticks: 0, cubes: Vec::new() })
    }

    /// How many numbers there are for each cube.
    pub fn fields() -> usize {
        FIELDS
    }

    /// One animation frame with these keys held, as [`Buttons::from_bits`] takes them; the cubes as they are to be drawn now.
    pub fn frame(&mut self, keys: u8) -> Float32Array {
        let buttons = Buttons::from_bits(keys);
        self.ticks = self.player.update(&mut self.arena, &mut |_tick| buttons).ticks;
        let own = self.player.client().player();
        let cubes = &mut self.cubes;
        cubes.clear();
        self.player.present(|view| {
            let player = view.entity.player();
            let [x, y, z] = view.pose().position;
            let beyond_ms = match view.source {
                Source::Extrapolated(time) => time.as_secs_f64() * 1000.0,
                _ => 0.0,
            };
            #[expect(clippy::cast_possible_truncation, reason = "to be drawn")]
            let [x, y, z, beyond_ms] = [x, y, z, beyond_ms].map(|number| number as f32);
            cubes.extend([f32::from(player.get()), f32::from(u8::from(Some(player) == own)), x, y, z, beyond_ms]);
        });
        Float32Array::from(&self.cubes[..])
    }

    /// Whether the last frame has used the keys: on a screen that is faster than the ticks not all do.
    pub fn has_ticked(&self) -> bool {
        self.ticks > 0
    }

    /// How the player fares, in one word: `joining`, `playing`, `trouble`, `rejoining` or `over`.
    pub fn state(&self) -> String {
        status::of(&self.player).0.into()
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        status::of(&self.player).1
    }

    /// What is measured: round trip, lead over the server's clock and delay of others, in milliseconds; corrections and
    /// resyncs so far; bytes received and sent so far.
    pub fn figures(&self) -> Vec<f64> {
        status::figures(&self.player)
    }

    /// Says good-bye: the player is gone at once.
    pub fn leave(self) {
        spawn_local(self.player.leave());
    }
}
