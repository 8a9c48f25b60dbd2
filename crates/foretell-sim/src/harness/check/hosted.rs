//! What must hold of the player who sits at the server: nothing is predicted for them, and nothing comes late.

use super::{Check, LocalSeen, ServerSeen};
use alloc::format;
use alloc::string::String;
use foretell::session::client::{ClientState, PoseSource};
use foretell::world::{InputStatus, PlayerId, World};

/// The player who sits at the server gives one input for each of its steps, which that very step gets; they are shown nothing but
/// what the server has, and nothing is ever corrected.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hosted {
    player: Option<PlayerId>,
}

impl<W: World> Check<W> for Hosted {
    fn name(&self) -> &'static str {
        "hosted"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let Some(player) = self.player.or(seen.local) else { return Ok(()) };
        self.player = Some(player);
        for tick in seen.stepped {
            let mut of_tick = seen.applied.iter().filter(|applied| applied.tick == *tick);
            let own = of_tick.find(|applied| applied.input.player == player);
            if own.is_none_or(|own| own.input.status != InputStatus::Received) {
                return Err(format!("the server steps {tick:?} without the input of {player}, who sits at it"));
            }
        }
        Ok(())
    }

    fn after_local(&mut self, seen: &LocalSeen<'_>) -> Result<(), String> {
        let frame = seen.frame;
        if frame.state != ClientState::Playing || !frame.corrections.is_empty() || frame.resimulated > 0 {
            return Err(format!("who sits at the server is corrected, or does not play: {frame:?}"));
        }
        if seen.asked != seen.stepped {
            return Err(format!(
                "they were asked for the inputs of {:?}, and {:?} were stepped",
                seen.asked, seen.stepped
            ));
        }
        let Some(truth) = seen.truth.rows(frame.tick) else { return Ok(()) };
        let is_true = |row: foretell::Row<'_>| truth.get(row.key()).is_some_and(|of| of.owner == row.owner);
        let odd = seen.views.iter().find(|view| view.source != PoseSource::Authority || !is_true(view.row()));
        odd.map_or(Ok(()), |view| Err(format!("{} is shown, which is not the server's: {view:?}", view.entity)))
    }
}
