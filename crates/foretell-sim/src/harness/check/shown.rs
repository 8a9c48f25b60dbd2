//! What a player sees of others: those who are there, where they can be, and nobody else.

use super::divergence::{CLOSE_M, distance, position};
use super::{Check, ClientSeen, Each};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use foretell::math::f64::sqrt;
use foretell::session::client::{ClientState, PoseSource, View};
use foretell::time::{Instant, Tick};
use foretell::world::{ComponentSchema, Entity, Meaning, RowKey, World};

/// While a client plays, an entity that it does not predict is shown no further from the truth than twice the way that it has travelled since
/// `within` before the last two snapshots that had it, plus what its position may be off by rounding: over a link that
/// seems to be full these are rare. No entity is shown that has been gone for as long, while nothing goes wrong. And one that is there, and in the client's snapshot, is not missing for as long.
#[derive(Clone, Debug)]
pub struct Shown {
    /// How long, beyond the round trip. Default 1 s.
    pub within: Duration,
    of: Each<Machine>,
}

/// What is known of one machine.
#[derive(Clone, Debug, Default)]
struct Machine {
    /// Since when the client has been playing without a break.
    playing: Option<Instant>,
    /// Of each row that is shown the last two states in which it came.
    told: BTreeMap<RowKey, [Tick; 2]>,
    /// Which entities are not shown, though they are there and in the client's snapshot; and since when.
    missing: BTreeMap<Entity, Instant>,
}

impl Default for Shown {
    fn default() -> Shown {
        Shown { within: Duration::from_secs(1), of: Each::default() }
    }
}

impl<W: World> Check<W> for Shown {
    fn name(&self) -> &'static str {
        "shown"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let of = self.of.of(seen.machine);
        if seen.frame.state != ClientState::Playing {
            *of = Machine::default();
            return Ok(());
        }
        of.note_told(seen);
        let within = self.within + seen.stats.network.rtt;
        if seen.now.since(*of.playing.get_or_insert(seen.now)) < within {
            return Ok(());
        }
        let within_ticks = seen.setting.rules.tick_rate.ticks_in(within);
        for view in others(seen) {
            // That somebody has gone is told again when it is known to be lost, and then may be lost again.
            if seen.quiet > within {
                is_there(seen, &view, within_ticks)?;
            }
            // Where nothing has come in time they go on as fast as they were going, wherever that leads.
            let told = of.told.get(&view.row().key()).filter(|_| view.source == PoseSource::Interpolated);
            if let Some([before, _]) = told {
                is_near(seen, &view, before.back(within_ticks).unwrap_or_default())?;
            }
        }
        of.note_missing(seen);
        let missed = of.missing.iter().find(|(_, since)| seen.now.since(**since) > within);
        missed.map_or(Ok(()), |(entity, since)| {
            let ms = seen.now.since(*since).as_millis();
            Err(format!("{entity} is there, and has not been shown for {ms} ms"))
        })
    }
}

/// Those who are not predicted.
fn others<'a, W: World>(seen: &ClientSeen<'a, W>) -> impl Iterator<Item = View<'a>> {
    let is_others = |view: &View<'_>| matches!(view.source, PoseSource::Interpolated | PoseSource::Extrapolated(_));
    seen.views.iter().filter(is_others)
}

impl Machine {
    /// Notes in which states the rows came that are shown.
    fn note_told<W: World>(&mut self, seen: &ClientSeen<'_, W>) {
        let before = core::mem::take(&mut self.told);
        let told = others(seen).filter_map(|view| {
            let (key, newest) = (view.row().key(), seen.client.told_in(view.row().key())?);
            let [earlier, last] = before.get(&key).copied().unwrap_or([newest; 2]);
            Some((key, if last == newest { [earlier, last] } else { [last, newest] }))
        });
        self.told = told.collect();
    }

    /// Notes which entities are in the truth and in the client's snapshot, and not shown.
    fn note_missing<W: World>(&mut self, seen: &ClientSeen<'_, W>) {
        let (Some(truth), Some((_, told))) = (seen.truth.rows(seen.truth.newest()), seen.client.newest_snapshot())
        else {
            return;
        };
        let shown: BTreeSet<_> = seen.views.iter().map(|view| view.entity).collect();
        let told: BTreeSet<_> = told.iter().map(|row| row.entity).filter(|entity| !shown.contains(entity)).collect();
        let missing: BTreeSet<_> = truth.iter().map(|row| row.entity).filter(|entity| told.contains(entity)).collect();
        self.missing.retain(|entity, _| missing.contains(entity));
        missing.into_iter().for_each(|entity| _ = self.missing.entry(entity).or_insert(seen.now));
    }
}

/// Whether an entity that is shown was there in any of the last ticks.
fn is_there<W: World>(seen: &ClientSeen<'_, W>, view: &View<'_>, within_ticks: u32) -> Result<(), String> {
    let (key, newest) = (view.row().key(), seen.truth.newest());
    let from = newest.back(within_ticks).unwrap_or_default();
    let mut ticks = from.until(newest.next()).rev();
    if ticks.any(|tick| seen.truth.rows(tick).is_none_or(|rows| rows.words(key).is_some())) {
        return Ok(());
    }
    Err(format!("{} is shown, and has been gone since before {from:?}", view.entity))
}

/// Whether an entity is shown where it can be, by how far it has travelled from this tick on.
fn is_near<W: World>(seen: &ClientSeen<'_, W>, view: &View<'_>, from: Tick) -> Result<(), String> {
    let (key, newest) = (view.row().key(), seen.truth.newest());
    let kind = seen.setting.rules.schema.component(key.component);
    let in_truth = |tick: Tick| position(kind, seen.truth.rows(tick)?.words(key)?);
    let (Some(truth), Some(shown)) = (in_truth(newest), position(kind, view.row().words)) else { return Ok(()) };
    let apart = distance(shown, truth);
    let mut most = CLOSE_M + rounded_by(kind) + view.offset.distance();
    for tick in from.until(newest).rev() {
        if apart <= most {
            break;
        }
        // Where one began who has not been there for so long may have been told otherwise.
        let Some((before, after)) = in_truth(tick).zip(in_truth(tick.next())) else { return Ok(()) };
        most += 2.0 * distance(before, after);
    }
    if apart <= most {
        return Ok(());
    }
    let (name, entity) = (kind.name(), view.entity);
    Err(format!(
        "{name} {entity} is shown {apart:.3} m from the truth at {newest:?}, and has gone {most:.3} m at most since {from:?}"
    ))
}

/// How far from the truth a position is told at most, in metres.
fn rounded_by(kind: &ComponentSchema) -> f64 {
    let position = kind.columns().find(|column| column.meaning == Meaning::Position);
    let half_a_step = position.and_then(|column| Some((0.5 * column.precision.step()?, column.lanes)));
    half_a_step.map_or(0.0, |(half, lanes)| half * sqrt(f64::from(lanes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::world::{Audience, Column};

    #[test]
    fn a_position_is_off_by_half_a_step_in_each_lane_and_an_exact_one_by_nothing() {
        let exact = Column::of::<[f32; 2]>("at", Meaning::Position);
        let coarse = Column::of::<f32>("charge", Meaning::Blended).to_nearest(9.0);
        let kind = |at: Column| ComponentSchema::new("Wanderer", vec![coarse.clone(), at], Audience::All);
        assert!(rounded_by(&kind(exact.clone())).abs() < f64::EPSILON);
        assert!((rounded_by(&kind(exact.to_nearest(0.02))) - 0.01 * sqrt(2.0)).abs() < 1e-9);
        assert!(rounded_by(&ComponentSchema::new("Charge", vec![coarse.clone()], Audience::All)).abs() < f64::EPSILON);
    }
}
