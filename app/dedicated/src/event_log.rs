//! What whoever runs the server should know of its session besides who comes and goes, in the log.

use foretell::World;
use foretell::session::server::ServerEvent;
use foretell_net::ServerTick;
use tracing::{info, warn};

/// Logs what has happened in an update.
pub fn log<W: World>(tick: &mut ServerTick<'_, W>) {
    for event in tick.events() {
        match *event {
            ServerEvent::Lost(player) => info!(account = ?tick.account(player), "lost; the place waits"),
            ServerEvent::Rejoined(player) => info!(account = ?tick.account(player), "back"),
            ServerEvent::SkippedTicks(ticks) => warn!(ticks, "the server stood still, and skips them"),
            ServerEvent::SnapshotTooLarge(player) => {
                warn!(account = ?tick.account(player), "not all that the client predicts fits into a snapshot");
            }
            _ => {}
        }
    }
}
