//! The local cube: where the player would be without a network (Q19, D22).
//!
//! A world of its own that gets exactly the inputs of the client's new ticks, from the client's state at the start on,
//! and nothing of what the server does. It is shown between its last two states by the client's own clock, so that
//! `local = client` to the bit as long as nothing is corrected.

use foretell::motion::vector;
use foretell::session::client::Show;
use foretell::world::Side;
use foretell::{InputStatus, Owned, PlayerId, PlayerInput, Rows, Simulate, Step, Tick, TickRate, World};
use foretell_arena::{Arena, Buttons, Cube};

/// The local cube and its world.
#[derive(Clone, Debug)]
pub struct LocalCube {
    arena: Arena,
    player: PlayerId,
    rate: TickRate,
    before: Cube,
    newest: Cube,
}

impl LocalCube {
    /// The cube of the player as it is in these rows of the client.
    pub fn start(rows: &Rows, rate: TickRate) -> Option<LocalCube> {
        let (Owned { owner, .. }, cube) = rows.states::<Cube>().next()?;
        let mut arena = Arena::default();
        arena.adopt(rows);
        Some(LocalCube { arena, player: owner, rate, before: cube, newest: cube })
    }

    /// Simulates a tick with this input.
    pub fn step(&mut self, tick: Tick, input: Buttons) {
        let player = self.player;
        let inputs = [PlayerInput { player, input, status: InputStatus::Received, presented: None }];
        self.arena.step(&mut Step::new(tick, self.rate, Side::Client(player), &inputs));
        self.before = self.newest;
        if let Some(cube) = self.arena.cube_mut(player) {
            self.newest = *cube;
        }
    }

    /// Where it is to be shown when so much of the tick has passed, by the same rule as the client's cube.
    pub fn position(&self, show: Show, fraction: f64) -> [f64; 3] {
        let [before, newest] = [self.before, self.newest].map(|cube| cube.position.map(f64::from));
        let shown = match show {
            Show::Newest => newest,
            Show::Between => vector::lerp(before, newest, fraction),
            Show::Ahead => {
                let velocity = self.newest.velocity.map(f64::from);
                vector::add(newest, vector::scale(velocity, fraction * self.rate.seconds()))
            }
        };
        // As the client's rows hold it.
        #[expect(clippy::cast_possible_truncation, reason = "rows are in f32")]
        shown.map(|lane| f64::from(lane as f32))
    }
}
