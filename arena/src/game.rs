//! What the games of the program have in common, so that whoever serves, joins or draws one does so with each.

use crate::Buttons;
use foretell::{ClientConfig, Rules, ServerConfig, World};

/// A game that the dedicated server offers: five buttons drive a cube for each player. What belongs to nobody is small, and may
/// be pushed. The default world is a client's, before it is told of anything.
pub trait Game: World<Input = Buttons, Saved: Send> + Default + Send + 'static {
    /// What it is called, in one word.
    const NAME: &'static str;

    /// How many new players come in a second where nobody says otherwise, in the long run: each costs the others something.
    const JOINS_PER_SECOND: u32 = 4;

    /// What the server and those who join it agree on: 60 ticks per second, as most screens show.
    fn rules() -> Rules;

    /// How it is served where nobody says otherwise.
    fn server() -> ServerConfig {
        ServerConfig::default()
    }

    /// The world of who hosts it: with what there is before anybody comes.
    fn hosted() -> Self {
        Self::default()
    }

    /// How it is played.
    fn client() -> ClientConfig {
        ClientConfig::default()
    }
}
