//! What one client has to be told besides states: effects, ends of entities and touches of those (see `session/news.rs`).

use super::Server;
use super::interest::{View, is_placed};
use crate::session::step_events::{STEP_EVENT_TICKS_BACK, STEP_EVENTS_MAX, StepEvent, StepEventKind};
use crate::time::Tick;
use crate::world::{PlayerId, RowKey, World};
use alloc::collections::VecDeque;

/// The news that a client has not acknowledged. Lives as long as the peer.
#[derive(Clone, Debug)]
pub(crate) struct StepEventLog {
    /// Ascending by tick, `len <= STEP_EVENTS_MAX`.
    kept: VecDeque<StepEvent>,
    /// Of the ticks before this one not all news are kept, and the client does not know them.
    missing_until: Option<Tick>,
}

impl StepEventLog {
    /// For a client that is admitted.
    pub(crate) fn new() -> StepEventLog {
        StepEventLog { kept: VecDeque::with_capacity(STEP_EVENTS_MAX), missing_until: None }
    }

    pub(crate) fn note(&mut self, news: StepEvent) {
        if self.kept.len() == STEP_EVENTS_MAX
            && let Some(dropped) = self.kept.pop_front()
        {
            self.missing_until = Some(dropped.tick.next());
        }
        self.kept.push_back(news);
    }

    /// The client has the snapshot of `tick`, and so knows of everything before.
    pub(crate) fn acknowledge(&mut self, tick: Tick) {
        self.missing_until = self.missing_until.filter(|missing| tick < *missing);
        while self.kept.front().is_some_and(|oldest| oldest.tick < tick) {
            self.kept.pop_front();
        }
    }

    /// What the snapshot of `tick` tells: of how many ticks before it all news, where it can't be all that the client does
    /// not know; and the news, ascending by tick.
    pub(crate) fn told(&self, tick: Tick) -> (Option<u32>, impl Iterator<Item = &StepEvent>) {
        let oldest = tick.back(STEP_EVENT_TICKS_BACK).unwrap_or(Tick::ZERO);
        let first = self.kept.partition_point(|news| news.tick < oldest);
        let end = self.kept.partition_point(|news| news.tick < tick);
        let too_old = (first > 0).then_some(oldest);
        let from = self.missing_until.max(too_old).map(|from| from.max(oldest));
        (from.map(|from| tick.since(from)), self.kept.range(first..end))
    }
}

impl<W: World> Server<W> {
    /// Tells every client that may know of it what the step of `tick` has said, and which entities ended before their
    /// clients can have seen them.
    pub(super) fn spread_news(&mut self, tick: Tick) {
        for peer in &mut self.peers {
            let schema = &self.rules.schema;
            let (player, view) = (peer.player, peer.view.as_ref());
            let sees = |key: RowKey, owner: PlayerId| {
                let is_hidden =
                    |view: &View| is_placed(schema, key.component) && view.hides(key, self.row_versions.created(key));
                let is_for_them = schema.component(key.component).audience().includes(player, owner);
                owner == player || is_for_them && !view.is_some_and(is_hidden)
            };
            // The last row of an entity says that it is gone.
            let ended = self.published.removed().iter().filter(|row| !self.published.has(row.key.entity));
            let mut seen_last = None;
            for row in ended.filter(|row| sees(row.key, row.owner)) {
                let entity = row.key.entity;
                if seen_last.replace(entity) == Some(entity) {
                    continue;
                }
                if peer.acknowledged.is_none_or(|known| known <= entity.tick()) {
                    peer.news.note(StepEvent { tick, entity, what: StepEventKind::Ended });
                }
                if self.output.contacts.binary_search(&entity).is_ok() {
                    peer.news.note(StepEvent { tick, entity, what: StepEventKind::Touched });
                }
            }
            for effect in &self.output.effects {
                let removed = self.published.removed().iter().filter(|row| row.key.entity == effect.entity);
                let mut rows = self.published.of(effect.entity).map(|row| (row.key(), row.owner));
                if rows.any(|(key, owner)| sees(key, owner)) || removed.into_iter().any(|row| sees(row.key, row.owner))
                {
                    peer.news.note(StepEvent { tick, ..StepEvent::of(effect) });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Entity;
    use alloc::vec::Vec;

    fn ended(tick: u32) -> StepEvent {
        let entity = Entity::new(PlayerId::new(1), Tick::new(tick), 0);
        StepEvent { tick: Tick::new(tick), entity, what: StepEventKind::Ended }
    }

    fn told(log: &StepEventLog, tick: u32) -> (Option<u32>, Vec<u32>) {
        let (complete, news) = log.told(Tick::new(tick));
        (complete, news.map(|news| news.tick.get()).collect())
    }

    #[test]
    fn news_are_told_until_they_are_acknowledged() {
        let mut log = StepEventLog::new();
        [5, 5, 8].into_iter().for_each(|tick| log.note(ended(tick)));
        assert_eq!(told(&log, 9), (None, vec![5, 5, 8]));
        assert_eq!(told(&log, 8), (None, vec![5, 5]), "what is to come is not told");
        log.acknowledge(Tick::new(6));
        assert_eq!(told(&log, 9), (None, vec![8]));
        log.acknowledge(Tick::new(9));
        assert_eq!(told(&log, 9), (None, vec![]));
    }

    #[test]
    fn of_too_many_the_newest_are_told_and_from_which_tick_on_these_are_all() {
        let mut log = StepEventLog::new();
        (0..STEP_EVENTS_MAX).zip(0..).for_each(|(_, nth)| log.note(ended(nth / 2)));
        assert_eq!(told(&log, 200).0, None);
        log.note(ended(150));
        let (complete, news) = told(&log, 200);
        assert_eq!(
            (complete, news.len(), news[0]),
            (Some(199), STEP_EVENTS_MAX, 0),
            "one of the two of tick 0 is left out"
        );
        log.acknowledge(Tick::new(1));
        assert_eq!(told(&log, 200).0, None, "and the client knows it");
        let (complete, news) = told(&log, 1100);
        assert_eq!((complete, news[0]), (Some(STEP_EVENT_TICKS_BACK), 100), "what is too old is not told");
    }
}
