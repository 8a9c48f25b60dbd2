//! The games that are played over the network, by their names.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which game: each is a [`foretell_arena::Game`] of this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GameName {
    /// A walled room, and a cube for each player.
    #[default]
    Arena,
    /// The same with a pile of small cubes to push, as rigid bodies that everybody predicts exactly.
    Pile,
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_arena::{Game, Pitch};
    use foretell_pile::Pile;

    #[test]
    fn each_game_has_one_name_on_the_command_line_and_in_the_configuration() {
        for (game, name) in [(GameName::Arena, Pitch::NAME), (GameName::Pile, Pile::NAME)] {
            assert_eq!(GameName::from_str(name, false), Ok(game));
            assert_eq!(toml::Value::try_from(game).expect("a text").as_str(), Some(name));
        }
    }
}
