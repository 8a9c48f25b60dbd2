//! The client of the dedicated server's page: a player of the arena, or with the feature `pile` of the pile, predicted by the
//! same code as everywhere, for JavaScript to give keys to and to draw. On other platforms than wasm32 there is nothing in it.
#![cfg(target_arch = "wasm32")]
#![forbid(unsafe_code)]

mod correction;
mod status;

use correction::{Correction, Corrections};
use foretell::motion::Pose;
use foretell::session::client::PoseSource;
use foretell::{Meaning, Schema, Views};
#[cfg(not(feature = "pile"))]
use foretell_arena::Pitch as Played;
use foretell_arena::{Buttons, Game as _};
use foretell_net::{JoinConfig, Player, Token};
#[cfg(feature = "pile")]
use foretell_pile::Pile as Played;
use foretell_sim::netsim::{Conditions, Loss};
use js_sys::Float32Array;
use std::time::Duration;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;

/// A player of a server.
#[wasm_bindgen]
pub struct Game {
    player: Player<Played>,
    world: Played,
    schema: Schema,
    /// How many new ticks the last frame ran.
    ticks: u32,
    /// [`FIELDS`] for each cube, ascending by entity.
    cubes: Vec<f32>,
    views: Views,
    /// Of the last frame.
    corrections: Corrections,
}

/// Of each cube: the player's number, 0 for the ball and for a small one that is nobody's; 1 when it is the own one; x, y and z in metres; for
/// how many milliseconds it is guessed beyond what has come; its rotation, a unit quaternion.
const FIELDS: usize = 10;

#[wasm_bindgen]
impl Game {
    /// Joins the server at `url` with a `token`; a sentence when that fails.
    pub async fn join(url: String, token: String) -> Result<Game, String> {
        let token = Token::parse(&token).ok_or("this is no token")?;
        let rules = Played::rules();
        let schema = rules.schema.clone();
        let config = JoinConfig { client: Played::client(), ..JoinConfig::new(rules) };
        let player = foretell_net::connect(&url, token, config).await.map_err(|error| error.to_string())?;
        let (cubes, views, corrections) = (Vec::new(), Views::new(), Corrections::default());
        Ok(Game { player, world: Played::default(), schema, ticks: 0, cubes, views, corrections })
    }

    /// How many numbers there are for each cube.
    pub fn fields() -> usize {
        FIELDS
    }

    /// One animation frame with these keys held, as [`Buttons::from_bits`] takes them; the cubes as they are to be drawn now.
    pub fn frame(&mut self, keys: u8) -> Float32Array {
        let buttons = Buttons::from_bits(keys);
        let frame = self.player.update(&mut self.world, &mut |_tick| buttons);
        self.ticks = frame.ticks;
        self.corrections.begin(frame.corrections);
        let own = self.player.client().player();
        let (cubes, corrections) = (&mut self.cubes, &mut self.corrections);
        cubes.clear();
        self.player.present(&mut self.views);
        for view in &self.views {
            let player = view.owner;
            let Pose { position: [x, y, z], rotation: [i, j, k, w] } = view.pose();
            let beyond_ms = match view.source {
                PoseSource::Extrapolated(time) => time.as_secs_f64() * 1000.0,
                _ => 0.0,
            };
            #[expect(clippy::cast_possible_truncation, reason = "to be drawn")]
            let drawn = [x, y, z, beyond_ms, i, j, k, w].map(|number| number as f32);
            cubes.extend([f32::from(player.get()), f32::from(u8::from(Some(player) == own))]);
            cubes.extend(drawn);
            corrections.place(view.entity, drawn);
        }
        Float32Array::from(&self.cubes[..])
    }

    /// What was corrected in the last frame.
    pub fn corrections(&mut self) -> Vec<Correction> {
        self.corrections.take()
    }

    /// Where the newest word of the server has the own cube: x, y and z in metres; nothing before there is one.
    pub fn confirmed(&self) -> Vec<f32> {
        let client = self.player.client();
        let own = client.player();
        let rows = client.newest_snapshot().into_iter().flat_map(|(_, rows)| rows.iter());
        let place = rows
            .filter(|row| Some(row.owner) == own)
            .find_map(|row| self.schema.component(row.component).field(Meaning::Position, row.words));
        #[expect(clippy::cast_possible_truncation, reason = "to be drawn")]
        place.map_or(Vec::new(), |(column, words)| column.lanes::<3>(words).map(|metres| metres as f32).to_vec())
    }

    /// From now on datagrams take so much longer, each way, and this share of them is lost, each way: 0 to 10,000 ms, 0 to
    /// 100 %; a sentence when it is none of these.
    pub fn impair(&mut self, delay_ms: u32, loss_percent: f64) -> Result<(), String> {
        let (latency, loss) = (Duration::from_millis(delay_ms.into()), Loss::Uniform(loss_percent / 100.0));
        let conditions = Conditions { latency, loss, ..Conditions::default() };
        self.player.impairment_mut().set(conditions).map_err(|error| error.to_string())
    }

    /// Whether the last frame has used the keys: on a screen that is faster than the ticks not all do.
    pub fn has_ticked(&self) -> bool {
        self.ticks > 0
    }

    /// How the player fares, in one word: `joining`, `playing`, `trouble`; `rejoining` by the ticket; `gone` where this
    /// connection won't come back, and another server may be there some time; `outdated` where another page is needed; `over`
    /// where one end wants it so.
    pub fn state(&self) -> String {
        status::of(&self.player).0.into()
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        status::of(&self.player).1
    }

    /// What is measured: round trip, lead over the server's clock and delay of others, in milliseconds; corrections and
    /// resyncs so far; bytes received and sent so far; states of the server that agreed with what was predicted, and all that were
    /// compared.
    pub fn figures(&self) -> Vec<f64> {
        status::figures(&self.player)
    }

    /// Says good-bye: the player is gone at once.
    pub fn leave(self) {
        spawn_local(self.player.leave());
    }
}
