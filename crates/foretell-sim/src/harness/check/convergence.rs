//! What must hold some time after the last fault: both ends agree, and nothing more is corrected.

use super::punctual::CALM_AFTER;
use super::{Check, ClientSeen, NamedRow, Setting, describe_correction, difference};
use alloc::string::String;
use core::time::Duration;
use foretell::session::Rules;
use foretell::session::client::ClientState;
use foretell::time::Tick;
use foretell::world::{ComponentSchema, Entity, World};

/// So long after the last fault a client plays, has a recent state of the server, and its prediction of that tick is the
/// server's state, within the tolerance.
#[derive(Clone, Copy, Debug)]
pub struct Convergence {
    /// How long after, beyond two round trips and what lies between two states that are sent. Default 1.5 s.
    pub within: Duration,
}

impl Default for Convergence {
    fn default() -> Convergence {
        Convergence { within: AGREES_WITHIN }
    }
}

/// In 6,000 seeds of all faults it took 1.2 s at most.
const AGREES_WITHIN: Duration = Duration::from_millis(1_500);

impl<W: World> Check<W> for Convergence {
    fn name(&self) -> &'static str {
        "convergence"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let rate = seen.setting.rules.tick_rate;
        // The newest state is so much older just before the next one comes.
        let between = seen.setting.server.snapshot_rate.interval_ticks(rate) - 1;
        let waits = Duration::from_secs(u64::from(between)) / u32::from(rate.get());
        if seen.quiet < self.within + waits + 2 * seen.stats.network.rtt {
            return Ok(());
        }
        let after = format!("{} ms after the last fault", seen.quiet.as_millis());
        if seen.frame.state != ClientState::Playing {
            return Err(format!("{after} the client is {:?}", seen.frame.state));
        }
        let (Some((tick, _)), Some(player)) = (seen.client.newest_snapshot(), seen.client.player()) else {
            return Err(format!("{after} no state of the server has come"));
        };
        let age = seen.truth.newest().since(tick);
        if age > between + rate.ticks_in(seen.stats.network.rtt + Duration::from_millis(500)) {
            return Err(format!("{after} the newest state of the server is {age} ticks old"));
        }
        let (Some(truth), Some(predicted)) = (seen.truth.rows(tick), seen.client.predicted(tick)) else {
            return Ok(());
        };
        let schema = &seen.setting.rules.schema;
        // All its own that it predicts, but for what others alone are told of them.
        let own = truth.seen_by(schema, player).filter(|row| row.owner == player);
        for row in own.filter(|row| is_to_be_predicted(seen, tick, row.entity)) {
            let (ours, theirs) =
                (NamedRow::predicted(predicted.words(row.key())), NamedRow::of_server(Some(row.words)));
            let Setting { rules, client, .. } = seen.setting;
            if let Some(found) = difference(&rules.schema, row.key(), &client.tolerance, ours, theirs) {
                return Err(format!("{after} the client does not agree with the server at {tick:?}: {found}"));
            }
        }
        Ok(())
    }
}

/// How much later than it is known something is shown at most.
const SHOWN_LATER: Duration = Duration::from_secs(1);

/// Whether a client is to predict an entity of its own in the state of `tick`: not where anything of it is never predicted, nor where
/// that was so a moment ago, as what it shows is older.
fn is_to_be_predicted<W: World>(seen: &ClientSeen<'_, W>, tick: Tick, entity: Entity) -> bool {
    let Rules { schema, tick_rate, .. } = &seen.setting.rules;
    if !schema.components().iter().any(ComponentSchema::is_never_predicted) {
        return true;
    }
    let moment = tick_rate.ticks_in(SHOWN_LATER + seen.stats.network.rtt);
    let rows = tick.back(moment).unwrap_or_default().until(tick.next()).filter_map(|tick| seen.truth.rows(tick));
    let mut rows = rows.flat_map(|rows| rows.of(entity));
    !rows.any(|row| schema.component(row.component).is_never_predicted())
}

/// So long after the last fault nothing is corrected. Not for worlds in which others change a player's entities: what a client can't
/// know in time has to be corrected.
#[derive(Clone, Copy, Debug)]
pub struct Calm {
    /// How long after, beyond two round trips. Default 3 s.
    pub after: Duration,
}

impl Default for Calm {
    fn default() -> Calm {
        Calm { after: CALM_AFTER }
    }
}

impl<W: World> Check<W> for Calm {
    fn name(&self) -> &'static str {
        "calm"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        if seen.quiet < self.after + 2 * seen.stats.network.rtt {
            return Ok(());
        }
        seen.frame.corrections.first().map_or(Ok(()), |corrected| {
            let (tick, causes) = (corrected.tick, corrected.causes);
            let found = describe_correction(&seen.setting.rules.schema, corrected);
            let ms = seen.quiet.as_millis();
            Err(format!(
                "{ms} ms after the last fault something is corrected at {tick:?}, because of {causes:?}: {found}"
            ))
        })
    }
}
