//! Why a player of the network plays no more, in a sentence.

use anyhow::{Result, bail};
use foretell::ClientState;
use foretell::session::Refusal;
use foretell_arena::Game;
use foretell_net::{Closed, Connected, Player};

/// Nothing while the player plays, or may again.
///
/// # Errors
/// The sentence.
pub fn check<G: Game>(player: &Player<G>) -> Result<()> {
    if let ClientState::Refused(why) = player.client().state(player.clock().now()) {
        let differing = player.client().differing().map_or(String::new(), |part| format!(": the {part} differs"));
        bail!("{}{differing}", refused::<G>(why));
    }
    match player.connected() {
        Connected::Yes | Connected::Rejoining => Ok(()),
        Connected::Closed(Closed::Incompatible) => bail!("{}", refused::<G>(Refusal::Rules)),
        Connected::Closed(why) => bail!("the connection is over: {why}"),
        Connected::Refused(why) => bail!("the server does not take this player back: {why}"),
        Connected::GivenUp => bail!("the server could not be reached again for five minutes"),
    }
}

fn refused<G: Game>(why: Refusal) -> String {
    match why {
        Refusal::Rules => {
            format!("the server plays another game than the {} (--game says which), or another build of it", G::NAME)
        }
        why => why.to_string(),
    }
}
