//! What becomes of the own player's changes to others' entities, made ahead of the authority.

use super::cause_evidence::CauseEvidence;
use crate::rollback::{ChangeAnswer, ChangedRow, OPEN_TICKS_MAX, OptimisticChanges, PredictedChange};
use crate::session::client::client_settings::ClientSettings;
use crate::session::client::snapshots::{Snapshot, Snapshots};
use crate::session::client::update_log::UpdateLog;
use crate::session::client::update_report::ClientEvent;
use crate::session::step_events::{STEP_EVENT_TICKS_BACK, StepEvent, StepEventKind};
use crate::time::{Tick, TickTime};
use crate::world::{Entity, PlayerId};
use core::time::Duration;

const _: () = assert!(OPEN_TICKS_MAX == STEP_EVENT_TICKS_BACK, "an answer is waited for as long as it may be told");

/// The longest for which a change of others' stands after which nothing new is heard about them.
const CHANGE_KEPT: Duration = Duration::from_secs(2);

/// Takes in what of others the authority says that the `own` player has changed: what was changed here and not there is taken
/// back, and what the one has and not the other explains what is otherwise about the player.
pub(super) fn note_told(
    changes: &mut OptimisticChanges,
    snapshot: &Snapshot,
    own: PlayerId,
    causes: &mut CauseEvidence,
) {
    let changed = snapshot.lists.news.iter().filter(|event| event.what == StepEventKind::Changed);
    let own = snapshot.rows.iter().find(|row| row.owner == own);
    for StepEvent { tick, entity, .. } in changed.clone() {
        if !changes.has(*tick, *entity) {
            own.iter().for_each(|own| causes.note_contact(own.entity, *tick));
        }
    }
    // Of what is not told any more nothing is known, and what is shown says it.
    let is_confirmed = |tick: Tick, entity: Entity| {
        tick < snapshot.news_from || changed.clone().any(|event| (event.tick, event.entity) == (tick, entity))
    };
    changes.answer(snapshot.tick, is_confirmed, |refused| causes.note_contact(refused.by.entity, refused.tick));
}

/// What is known and shown when changes are settled.
pub(super) struct KnownNow<'a> {
    pub settings: &'a ClientSettings,
    pub snapshots: &'a Snapshots,
    /// The newest predicted state.
    pub present: Tick,
    /// Where others are shown.
    pub cursor: Option<TickTime>,
}

/// Tells what has become of changes, and ends those of which as much is shown as was told.
pub(super) fn settle(changes: &mut OptimisticChanges, now: &KnownNow<'_>, log: &mut UpdateLog) {
    let KnownNow { settings, snapshots, present, cursor } = *now;
    let rate = settings.rules.tick_rate;
    let newest = snapshots.newest().map(|snapshot| snapshot.tick);
    let answers = changes.take_answers().map(|ChangeAnswer { tick, entity, is_refused }| {
        if is_refused {
            ClientEvent::ChangeRefused { tick, entity }
        } else {
            ClientEvent::ChangeConfirmed { tick, entity }
        }
    });
    log.events.extend(answers);
    let told = |row: &ChangedRow| {
        let gone = || newest.filter(|_| row.is_gone() || !snapshots.has(row.key.entity));
        // The authority may have made another variant of it in the same step.
        let of_others = || settings.rules.schema.other_variants(row.key).filter_map(|key| snapshots.told_in(key)).max();
        snapshots.told_in(row.key).or_else(gone).or_else(of_others)
    };
    let is_shown = |row: &ChangedRow, tick: Tick| {
        let later = settings.rules.schema.component(row.key.component).later_ticks(rate, 1);
        cursor.is_some_and(|cursor| cursor >= TickTime::start_of(tick + later))
    };
    let is_old = |change: &PredictedChange| present.since(change.tick) > rate.ticks_in(CHANGE_KEPT);
    changes.end(present, |change| change.has_ended(told, is_shown) || change.is_answered() && is_old(change));
}
