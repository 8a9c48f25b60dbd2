//! What one client has to be told besides states: effects, ends of entities and touches of those (see
//! `session/step_events.rs`).

use crate::session::step_events::{STEP_EVENT_TICKS_BACK, STEP_EVENTS_MAX, StepEvent};
use crate::time::Tick;
use alloc::collections::{VecDeque, vec_deque};

/// The step events that a client has not acknowledged. Lives as long as the peer.
#[derive(Clone, Debug)]
pub(super) struct StepEventLog {
    /// Ascending by tick, `len <= STEP_EVENTS_MAX`.
    kept: VecDeque<StepEvent>,
    /// Of the ticks before this one not all events are kept, and the client does not know them.
    missing_until: Option<Tick>,
}

/// The step events of a snapshot.
pub(super) struct ToldEvents<'a> {
    /// Of how many ticks before the snapshot's they are all; `None` where they are all that the client does not know.
    pub complete_ticks: Option<u32>,
    /// Ascending by tick.
    pub events: vec_deque::Iter<'a, StepEvent>,
}

impl StepEventLog {
    /// For a client that is admitted.
    pub(super) fn new() -> StepEventLog {
        StepEventLog { kept: VecDeque::with_capacity(STEP_EVENTS_MAX), missing_until: None }
    }

    /// Notes an event, once: an entity that ends has as many rows as components.
    pub(super) fn note(&mut self, event: StepEvent) {
        if self.kept.iter().rev().take_while(|kept| kept.tick == event.tick).any(|kept| *kept == event) {
            return;
        }
        if self.kept.len() == STEP_EVENTS_MAX
            && let Some(dropped) = self.kept.pop_front()
        {
            self.missing_until = Some(dropped.tick.next());
        }
        self.kept.push_back(event);
    }

    /// The client has the snapshot of `tick`, and so knows of everything before.
    pub(super) fn acknowledge(&mut self, tick: Tick) {
        self.missing_until = self.missing_until.filter(|missing| tick < *missing);
        while self.kept.front().is_some_and(|oldest| oldest.tick < tick) {
            self.kept.pop_front();
        }
    }

    /// What the snapshot of `tick` tells.
    pub(super) fn told(&self, tick: Tick) -> ToldEvents<'_> {
        let oldest = tick.back(STEP_EVENT_TICKS_BACK).unwrap_or(Tick::ZERO);
        let first = self.kept.partition_point(|event| event.tick < oldest);
        let end = self.kept.partition_point(|event| event.tick < tick);
        let too_old = (first > 0).then_some(oldest);
        let from = self.missing_until.max(too_old).map(|from| from.max(oldest));
        ToldEvents { complete_ticks: from.map(|from| tick.since(from)), events: self.kept.range(first..end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::step_events::StepEventKind;
    use crate::world::{Entity, PlayerId};
    use alloc::vec::Vec;

    fn ended(tick: u32, nth: u16) -> StepEvent {
        let entity = Entity::new(PlayerId::new(1), Tick::new(tick), nth);
        StepEvent { tick: Tick::new(tick), entity, what: StepEventKind::Ended }
    }

    fn told(log: &StepEventLog, tick: u32) -> (Option<u32>, Vec<u32>) {
        let ToldEvents { complete_ticks, events } = log.told(Tick::new(tick));
        (complete_ticks, events.map(|event| event.tick.get()).collect())
    }

    #[test]
    fn news_are_told_until_they_are_acknowledged() {
        let mut log = StepEventLog::new();
        [(5, 0), (5, 1), (5, 0), (8, 0)].into_iter().for_each(|(tick, nth)| log.note(ended(tick, nth)));
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
        (0..STEP_EVENTS_MAX).zip(0..).for_each(|(_, nth)| log.note(ended(u32::from(nth / 2), nth % 2)));
        assert_eq!(told(&log, 200).0, None);
        log.note(ended(150, 0));
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
