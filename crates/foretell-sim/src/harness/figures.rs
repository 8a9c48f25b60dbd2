//! What the players of a run have seen, in figures.

use super::check::{ClientSeen, ServerSeen};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::math::f64::sqrt;
use foretell::motion::vector::{add, scale, squared_distance, sub};
use foretell::session::client::{ClientState, PoseSource, View, Views};
use foretell::session::server::PeerStats;
use foretell::time::{Instant, Tick};
use foretell::world::{Entity, Meaning, PlayerId, Row, Rows, Schema, World};

/// What the players of a run have seen. The first two seconds after a player has begun are measured by none of them.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Figures {
    /// How long all players together were measured, in minutes.
    pub minutes: f64,
    /// Corrections of a player's own entities.
    pub corrections: u64,
    /// The same per player and minute.
    pub corrections_per_min: f64,
    /// Per correction: the distance between the authority's position and the prediction of its tick, in metres.
    pub correction_m: Spread,
    /// Corrections that were too large to hide.
    pub teleports: u64,
    /// Starts from a full state after the first.
    pub resyncs: u64,
    /// Per frame: how far the step of an own entity's shown position is from that of the simulated one, in metres.
    pub step_excess_m: Spread,
    /// The longest that another entity was shown standing still beyond the newest snapshot while in truth it had moved on, ms.
    pub frozen_ms: f64,
    /// How far behind the newest possible information others are shown, in ms, by frame.
    pub playout_delay_ms: Spread,
    /// How far a client's ticks lead the server's as it estimates, in ms, by frame.
    pub lead_ms: Spread,
    /// The share of ticks for which the server had no input in time. Over the whole session.
    pub input_miss_share: f64,
    /// The share of frames in which a client was starved, behind, resyncing or lost, or had no player: as it was refused, was removed,
    /// or did not get in within two seconds.
    pub not_playing_share: f64,
    /// The most bytes per second that the server has sent one player, on average over a run; lost ones count as any other.
    pub down_bytes_per_s: f64,
    /// How often a whole state was asked for ([exact](foretell::session::Rules::exact) sessions).
    pub asked: u64,
}

/// Percentiles by nearest rank, always of a sample; 0 where there are none.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Spread {
    /// How many samples.
    pub count: u64,
    /// The median.
    pub p50: f64,
    /// The 95th percentile.
    pub p95: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    fn of(mut samples: Vec<f64>) -> Spread {
        samples.sort_unstable_by(f64::total_cmp);
        let percentile = |percent: usize| {
            let rank = (samples.len() * percent).div_ceil(100);
            samples.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        Spread {
            count: samples.len() as u64,
            p50: percentile(50),
            p95: percentile(95),
            p99: percentile(99),
            max: percentile(100),
        }
    }

    fn worst(self, other: Spread) -> Spread {
        Spread {
            count: self.count + other.count,
            p50: self.p50.max(other.p50),
            p95: self.p95.max(other.p95),
            p99: self.p99.max(other.p99),
            max: self.max.max(other.max),
        }
    }
}

impl Figures {
    /// Of several runs the worst of each figure; what is counted is added up.
    #[must_use]
    pub fn worst(self, other: Figures) -> Figures {
        Figures {
            minutes: self.minutes + other.minutes,
            corrections: self.corrections + other.corrections,
            corrections_per_min: self.corrections_per_min.max(other.corrections_per_min),
            correction_m: self.correction_m.worst(other.correction_m),
            teleports: self.teleports + other.teleports,
            resyncs: self.resyncs + other.resyncs,
            step_excess_m: self.step_excess_m.worst(other.step_excess_m),
            frozen_ms: self.frozen_ms.max(other.frozen_ms),
            playout_delay_ms: self.playout_delay_ms.worst(other.playout_delay_ms),
            lead_ms: self.lead_ms.worst(other.lead_ms),
            input_miss_share: self.input_miss_share.max(other.input_miss_share),
            not_playing_share: self.not_playing_share.max(other.not_playing_share),
            down_bytes_per_s: self.down_bytes_per_s.max(other.down_bytes_per_s),
            asked: self.asked + other.asked,
        }
    }
}

/// How long after its start a player is not measured yet.
const SETTLING: Duration = Duration::from_secs(2);

/// Takes the samples of a run.
#[derive(Default)]
pub(super) struct Gauge {
    machines: Vec<Watched>,
    views: Views,
    peers: BTreeMap<PlayerId, PeerStats>,
    correction_m: Vec<f64>,
    step_excess_m: Vec<f64>,
    playout_delay_ms: Vec<f64>,
    lead_ms: Vec<f64>,
    teleports: u64,
    resyncs: u64,
    frozen: Duration,
    measured: Duration,
    frames: u64,
    not_playing: u64,
}

/// What was seen of one machine.
#[derive(Default)]
struct Watched {
    /// When it came, and when the session had begun for it.
    came: Option<Instant>,
    began: Option<Instant>,
    last: Option<Instant>,
    resyncs: u64,
    /// When measuring began, and the questions up to then; and up to now.
    from: Option<(Instant, u64)>,
    asked: u64,
    /// The server's count of the bytes that it has sent to its player, and how many of them since measuring began.
    counted: u64,
    sent: u64,
    /// Its entities in the frame before: where each was shown, and where between two states that was.
    own: BTreeMap<Entity, ([f64; 3], (Tick, f64))>,
    others: BTreeMap<Entity, Other>,
}

/// Another's entity: where it was shown in the frame before, when it was last not frozen, and where it was in truth then.
#[derive(Clone, Copy)]
struct Other {
    shown: [f64; 3],
    truth: [f64; 3],
    moved: Instant,
}

impl Gauge {
    pub(super) fn after_server<W: World>(&mut self, seen: &ServerSeen<'_, W>) {
        for player in seen.server.players() {
            self.peers.extend(seen.server.stats(player).map(|stats| (player, *stats)));
        }
    }

    pub(super) fn after_client<W: World>(&mut self, seen: &ClientSeen<'_, W>) {
        if self.machines.len() <= seen.machine {
            self.machines.resize_with(seen.machine + 1, Watched::default);
        }
        let watched = &mut self.machines[seen.machine];
        let last = watched.last.replace(seen.now).unwrap_or(seen.now);
        let resyncs = core::mem::replace(&mut watched.resyncs, seen.stats.prediction.resyncs);
        let came = *watched.came.get_or_insert(seen.now);
        let Some(player) = seen.client.player() else {
            if seen.now.since(came) >= SETTLING {
                self.frames += 1;
                self.not_playing += 1;
            }
            return;
        };
        let began = *watched.began.get_or_insert(seen.now);
        if seen.now.since(began) < SETTLING {
            return;
        }
        watched.asked = seen.stats.prediction.outcomes.asked;
        let counted = self.peers.get(&player).map_or(0, |peer| peer.bytes_sent);
        let before = core::mem::replace(&mut watched.counted, counted);
        if watched.from.is_some() {
            // A count that is smaller is that of another session.
            watched.sent += counted.checked_sub(before).unwrap_or(counted);
        }
        watched.from.get_or_insert((seen.now, watched.asked));
        let corrections = seen.frame.corrections.iter().filter(|corrected| corrected.owner == player);
        let rate = f64::from(seen.setting.rules.tick_rate.get());
        self.resyncs += seen.stats.prediction.resyncs - resyncs;
        self.measured += seen.now.since(last);
        self.frames += 1;
        self.not_playing += u64::from(seen.frame.state != ClientState::Playing);
        self.correction_m.extend(corrections.clone().map(|corrected| corrected.misprediction_m));
        self.teleports += corrections.filter(|corrected| corrected.teleport).count() as u64;
        self.playout_delay_ms.push(seen.stats.playout.delay_ticks / rate * 1000.0);
        self.lead_ms.push(seen.stats.clock.lead_ticks / rate * 1000.0);
        self.look(seen, seen.now.since(last));
    }

    /// At what is shown.
    fn look<W: World>(&mut self, seen: &ClientSeen<'_, W>, frame: Duration) {
        let watched = &mut self.machines[seen.machine];
        let own = seen.client.player();
        let at = (seen.client.tick(), seen.client.tick_fraction(seen.local));
        let mut before = core::mem::take(&mut watched.own);
        seen.client.present(seen.local, &mut self.views);
        let schema = &seen.setting.rules.schema;
        let is_somewhere = |view: &View<'_>| {
            let mut columns = schema.component(view.row().component).columns();
            columns.any(|column| column.meaning == Meaning::Position)
        };
        for view in self.views.iter().filter(is_somewhere) {
            let shown = view.pose().position;
            if Some(view.owner) == own && view.source == PoseSource::Predicted {
                let simulated = sub(shown, view.offset.position());
                if let Some((shown_before, at_before)) = before.remove(&view.entity) {
                    // After a resync that state is gone: where it would have been at its present velocity.
                    let step = scale(view.velocity(), frame.as_secs_f64());
                    let known = simulated_at(seen, view.entity, at_before);
                    let simulated_before = known.unwrap_or_else(|| sub(simulated, step));
                    let excess = sub(sub(shown, shown_before), sub(simulated, simulated_before));
                    self.step_excess_m.push(sqrt(squared_distance(excess, [0.0; 3])));
                }
                watched.own.insert(view.entity, (shown, at));
                continue;
            }
            let Some(truth) = position(seen, view.entity) else { continue };
            let now = Other { shown, truth, moved: seen.now };
            let other = watched.others.entry(view.entity).or_insert(now);
            let extrapolated = matches!(view.source, PoseSource::Extrapolated(_));
            let stands = squared_distance(other.shown, shown) < 1e-10;
            let moves = squared_distance(other.truth, truth) > 1e-6;
            // Not compared with the frame before: a screen shows several frames in a step of the server.
            *other = if extrapolated && stands && moves { Other { shown, ..*other } } else { now };
            self.frozen = self.frozen.max(seen.now.since(other.moved));
        }
    }

    pub(super) fn figures(self) -> Figures {
        let minutes = self.measured.as_secs_f64() / 60.0;
        let share = |part: u64, whole: u64| as_f64(part) / as_f64(whole.max(1));
        let missed = self.peers.values().map(|peer| peer.inputs.missed).sum();
        let applied = self.peers.values().map(|peer| peer.inputs.applied).sum::<u64>();
        let corrections = self.correction_m.len() as u64;
        let measured = self.machines.iter().filter_map(|watched| Some((watched.from?, watched)));
        let per_s = measured.clone().map(|((from, _), watched)| {
            let last = watched.last.unwrap_or(from);
            as_f64(watched.sent) / last.since(from).as_secs_f64().max(1.0)
        });
        let asked = measured.map(|((_, asked), watched)| watched.asked - asked);
        Figures {
            minutes,
            corrections,
            corrections_per_min: if minutes > 0.0 { as_f64(corrections) / minutes } else { 0.0 },
            correction_m: Spread::of(self.correction_m),
            teleports: self.teleports,
            resyncs: self.resyncs,
            step_excess_m: Spread::of(self.step_excess_m),
            frozen_ms: self.frozen.as_secs_f64() * 1000.0,
            playout_delay_ms: Spread::of(self.playout_delay_ms),
            lead_ms: Spread::of(self.lead_ms),
            input_miss_share: share(missed, missed + applied),
            not_playing_share: share(self.not_playing, self.frames),
            down_bytes_per_s: per_s.fold(0.0, f64::max),
            asked: asked.sum(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a run are far below 2^53")]
fn as_f64(count: u64) -> f64 {
    count as f64
}

/// Where an entity is in the server's newest state.
fn position<W: World>(seen: &ClientSeen<'_, W>, entity: Entity) -> Option<[f64; 3]> {
    position_in(seen.truth.rows(seen.truth.newest())?, entity, &seen.setting.rules.schema)
}

fn position_in(rows: &Rows, entity: Entity, schema: &Schema) -> Option<[f64; 3]> {
    let place = |row: Row<'_>| {
        let (column, words) = schema.component(row.component).field(Meaning::Position, row.words)?;
        Some(column.lanes(words))
    };
    rows.of(entity).find_map(place)
}

/// Where an entity is simulated between two states, as the client knows it now: a step over a correction is measured in
/// one history, not from the wrong one into the corrected one.
fn simulated_at<W: World>(seen: &ClientSeen<'_, W>, entity: Entity, (tick, fraction): (Tick, f64)) -> Option<[f64; 3]> {
    let schema = &seen.setting.rules.schema;
    let position = |tick: Tick| position_in(seen.client.predicted(tick)?, entity, schema);
    let (from, to) = (position(tick.back(1)?)?, position(tick)?);
    Some(add(from, scale(sub(to, from), fraction)))
}

/// What was seen where nothing failed.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Summary {
    /// How many seeds were run.
    pub seeds: u64,
    /// How long their sessions were, in virtual time.
    pub simulated: Duration,
    /// What the players saw; of several seeds the worst of each figure.
    pub figures: Figures,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_textbook() {
        let spread = Spread::of((1..=200).rev().map(f64::from).collect());
        assert_eq!((spread.count, spread.p50, spread.p95), (200, 100.0, 190.0));
        assert_eq!((spread.p99, spread.max), (198.0, 200.0));
        assert_eq!(Spread::of(Vec::new()), Spread::default());
    }
}
