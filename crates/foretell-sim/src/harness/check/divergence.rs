//! How far a playing client may be from the truth.

use super::{Check, ClientSeen, Each};
use alloc::string::String;
use core::ops::Range;
use core::time::Duration;
use foretell::math::f64::sqrt;
use foretell::motion::vector::squared_distance;
use foretell::session::client::ClientState;
use foretell::time::{Instant, Tick};
use foretell::world::{ComponentSchema, Meaning, RowKey, Rows, World};

/// While a client plays, the position that it predicts for the server's newest tick is not further from the truth than
/// both can have travelled within so long: what it knows of the truth is no older. An entity that has not been there for so
/// long is not held to that: where it began may follow from what the client did not know. The check takes no account of
/// what the client says of itself.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// How long, beyond the round trip. Default 1 s.
    pub within: Duration,
    /// By machine: since when the client has been playing without a break.
    playing: Each<Option<Instant>>,
}

impl Default for Divergence {
    fn default() -> Divergence {
        Divergence { within: Duration::from_secs(1), playing: Each::default() }
    }
}

/// What is not worth an argument: a centimetre.
pub(super) const CLOSE_M: f64 = 0.01;

impl<W: World> Check<W> for Divergence {
    fn name(&self) -> &'static str {
        "divergence"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let since = self.playing.of(seen.machine);
        if seen.frame.state != ClientState::Playing {
            *since = None;
            return Ok(());
        }
        let since = *since.get_or_insert(seen.now);
        let within = self.within + seen.stats.network.rtt;
        if seen.now.since(since) < within {
            return Ok(());
        }
        let newest = seen.truth.newest();
        let from = newest.back(seen.setting.rules.tick_rate.ticks_in(within)).unwrap_or(Tick::ZERO);
        let (Some(truth), Some(predicted)) = (seen.truth.rows(newest), seen.client.predicted(newest)) else {
            return Ok(());
        };
        for row in predicted.iter() {
            let (key, entity) = (row.key(), row.entity);
            let kind = seen.setting.rules.schema.component(row.component);
            let Some(apart) = apart(kind, key, predicted, truth).filter(|apart| *apart > CLOSE_M) else {
                continue;
            };
            let is_new = |tick| seen.truth.rows(tick).is_some_and(|rows| rows.words(key).is_none());
            if from.until(newest).any(is_new) {
                continue;
            }
            let here = travelled(kind, key, from..newest, |tick| seen.client.predicted(tick));
            let there = travelled(kind, key, from..newest, |tick| seen.truth.rows(tick));
            let most = CLOSE_M + here + there;
            if apart > most {
                let (name, ms) = (kind.name(), within.as_millis());
                return Err(format!(
                    "{name} {entity} is predicted {apart:.3} m from the truth at {newest:?}; within {ms} ms both have \
                     travelled {most:.3} m"
                ));
            }
        }
        Ok(())
    }
}

/// The way of an entity, as far back as it is known.
fn travelled<'a>(
    kind: &ComponentSchema,
    key: RowKey,
    ticks: Range<Tick>,
    rows: impl Fn(Tick) -> Option<&'a Rows>,
) -> f64 {
    let newest_first = ticks.start.until(ticks.end).rev();
    newest_first.map_while(|tick| apart(kind, key, rows(tick)?, rows(tick.next())?)).sum()
}

/// How far an entity is from one set of rows to another; `None` where it has no position in one of them.
fn apart(kind: &ComponentSchema, key: RowKey, a: &Rows, b: &Rows) -> Option<f64> {
    let position = |rows: &Rows| position(kind, rows.words(key)?);
    Some(distance(position(a)?, position(b)?))
}

/// Where a row says that it is, if it says so.
pub(super) fn position(kind: &ComponentSchema, words: &[u32]) -> Option<[f64; 3]> {
    let (column, words) = kind.field(Meaning::Position, words)?;
    Some(column.lanes(words))
}

/// In metres.
pub(super) fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    sqrt(squared_distance(a, b))
}
