//! What endpoints keep.

use super::{Check, ClientSeen, ServerSeen};
use alloc::string::String;
use core::time::Duration;
use foretell::world::World;

/// What an endpoint keeps beyond the entities and the fixed rings, as [`Client::kept`](foretell::Client::kept) and
/// [`Server::kept`](foretell::Server::kept) count it, is bounded at any time, and little when nothing has gone wrong for
/// some time. What the server keeps for each player whose machine has gone without a word counts extra.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Memory {
    /// At any time, for each player. Default 4,096.
    pub most: usize,
    /// When nothing has gone wrong for 3 s, for each player. Default 256.
    pub steady: usize,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory { most: 4_096, steady: 256 }
    }
}

const STEADY_AFTER: Duration = Duration::from_secs(3);
/// Substituted ticks are named for so long to somebody who does not acknowledge them; a little more.
const KEPT_FOR_ABSENT: usize = 1_100;

impl Memory {
    pub(super) fn check(&self, who: &str, quiet: Duration, kept: usize, players: usize) -> Result<(), String> {
        let each = if quiet < STEADY_AFTER { self.most } else { self.steady };
        let most = each * players.max(1);
        if kept <= most { Ok(()) } else { Err(format!("{who} keeps {kept} things; at most {most} are allowed")) }
    }
}

impl<W: World> Check<W> for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let players = seen.server.players().count();
        let for_absent = players.saturating_sub(seen.machines) * KEPT_FOR_ABSENT + seen.server.rows().len();
        let kept = seen.server.kept().saturating_sub(for_absent);
        self.check("the server", seen.quiet, kept, players)
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        self.check("the client", seen.quiet, seen.client.kept(), 1)
    }
}
