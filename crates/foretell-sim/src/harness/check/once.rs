//! Every tick once, every input once, and as the player gave it.

use super::{Check, ClientSeen, Each, ServerSeen};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use foretell::session::client::ClientEvent;
use foretell::session::server::ServerEvent;
use foretell::time::Tick;
use foretell::world::{Input, InputStatus, PlayerId, Seat, World};

/// The server steps every tick at most once and in order, and each but those that it says it has skipped, with at most one input of each player; what it takes for a
/// player's own is what the player gave for this tick. A client asks for the input of a tick at most once, in order, but
/// when it joins; and steps for the first time what it has asked for, and nothing else. Who looks on is asked for nothing.
#[derive(Clone, Debug, Default)]
pub struct Once {
    stepped: Option<Tick>,
    applied: BTreeMap<PlayerId, Tick>,
    /// By machine: the last tick that was asked for.
    asked: Each<Option<Tick>>,
    /// By machine: the newest tick that was ever stepped through.
    newest: Each<Option<Tick>>,
}

impl<W: World> Check<W> for Once {
    fn name(&self) -> &'static str {
        "once"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let skips = seen.frame.events.iter().any(|event| matches!(event, ServerEvent::SkippedTicks(_)));
        for (nth, tick) in seen.stepped.iter().enumerate() {
            let last = self.stepped.replace(*tick);
            let may_skip = skips && nth == 0;
            if last.is_some_and(|last| last >= *tick || last.next() != *tick && !may_skip) {
                return Err(format!("the server steps {tick:?} after {last:?}"));
            }
        }
        for applied in seen.applied {
            let (player, tick) = (applied.input.player, applied.tick);
            if self.applied.insert(player, tick).is_some_and(|last| last >= tick) {
                return Err(format!("the server applies two inputs of {player} in {tick:?}"));
            }
            let own = applied.input.status == InputStatus::Received;
            if own && applied.given.is_none_or(|given| !is_same(&given, &applied.input.input)) {
                return Err(format!("the server's input of {player} for {tick:?} is not what the player gave"));
            }
        }
        Ok(())
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        if seen.seat == Seat::Spectator {
            let asked = seen.asked.first();
            return asked.map_or(Ok(()), |tick| Err(format!("who looks on is asked for an input of {tick:?}")));
        }
        let last = self.asked.of(seen.machine);
        let joins = seen.frame.events.iter().any(|event| matches!(event, ClientEvent::Joined(_)));
        let starts = joins || seen.frame.events.iter().any(|event| matches!(event, ClientEvent::Resynced { .. }));
        if joins {
            *last = None;
        }
        for tick in seen.asked {
            if last.is_some_and(|last| last >= *tick) {
                return Err(format!("the client asks for the input of {tick:?} after that of {last:?}"));
            }
            *last = Some(*tick);
        }
        // Those up to the present of a start were nobody's.
        let newest = self.newest.of(seen.machine);
        let new: Vec<Tick> =
            seen.asked.iter().copied().filter(|tick| newest.is_none_or(|newest| newest < *tick)).collect();
        *newest = (*newest).max(seen.stepped.last().copied());
        if new != seen.stepped && !(starts && seen.stepped.ends_with(&new)) {
            return Err(format!("the client asked for the inputs of {:?}, and stepped {:?}", seen.asked, seen.stepped));
        }
        Ok(())
    }
}

/// Whether two inputs have the same bits.
fn is_same<I: Input>(one: &I, other: &I) -> bool {
    let words = |input: &I| {
        let mut words = [0; foretell::world::ROW_WORDS_MAX];
        input.write(&mut words);
        words
    };
    words(one) == words(other)
}
