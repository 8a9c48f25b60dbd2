//! What one client has to be told besides states: effects, ends of entities and touches of those (see `session/news.rs`).

use super::view::{View, is_placed};
use super::{Server, Stepping};
use crate::rollback::{Audience, Entity, PlayerId, World};
use crate::session::news::{NEWS_MAX, NEWS_TICKS_BACK, News, What};
use crate::time::Tick;
use std::collections::VecDeque;

/// The news that a client has not acknowledged. Lives as long as the peer.
#[derive(Clone, Debug)]
pub(crate) struct NewsLog {
    /// Ascending by tick, `len <= NEWS_MAX`.
    kept: VecDeque<News>,
    /// Of the ticks before this one not all news are kept, and the client does not know them.
    missing_until: Option<Tick>,
}

impl NewsLog {
    /// For a client that is admitted.
    pub(crate) fn new() -> NewsLog {
        NewsLog { kept: VecDeque::with_capacity(NEWS_MAX), missing_until: None }
    }

    pub(crate) fn note(&mut self, news: News) {
        if self.kept.len() == NEWS_MAX
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
    pub(crate) fn told(&self, tick: Tick) -> (Option<u32>, impl Iterator<Item = &News>) {
        let oldest = tick.back(NEWS_TICKS_BACK).unwrap_or(Tick::ZERO);
        let first = self.kept.partition_point(|news| news.tick < oldest);
        let end = self.kept.partition_point(|news| news.tick < tick);
        let too_old = (first > 0).then_some(oldest);
        let from = self.missing_until.max(too_old).map(|from| from.max(oldest));
        (from.map(|from| tick.since(from)), self.kept.range(first..end))
    }
}

impl<W: World> Server<W> {
    /// Tells every client that may know of it what the step of `tick` has said, and which entities ended before their
    /// clients can have seen them. `stepped` is whose step it was, where each player has ticks of their own: what others
    /// do happens to a client in the next tick of its own.
    pub(super) fn spread_news(&mut self, tick: Tick, stepped: Option<PlayerId>) {
        for peer in &mut self.peers {
            let tick = match self.rules.stepping {
                Stepping::Arrivals if stepped != Some(peer.player) => peer.buffer.next(),
                _ => tick,
            };
            let schema = &self.rules.schema;
            let (player, view) = (peer.player, peer.view.as_ref());
            let seen = |entity: Entity| {
                let is_hidden =
                    |view: &View| is_placed(schema, entity.kind()) && view.hides(entity, self.changes.created(entity));
                let is_for_all = schema.kind(entity.kind()).audience() == Audience::All;
                entity.player() == player || is_for_all && !view.is_some_and(is_hidden)
            };
            for entity in self.published.removed() {
                if seen(*entity) && peer.acknowledged.is_none_or(|known| known <= entity.tick()) {
                    peer.news.note(News { tick, entity: *entity, what: What::Ended });
                }
            }
            let touched = self.published.removed().iter().filter(|entity| self.met.binary_search(entity).is_ok());
            for entity in touched.filter(|entity| seen(**entity)) {
                peer.news.note(News { tick, entity: *entity, what: What::Touched });
            }
            for effect in self.said.effects.iter().filter(|effect| seen(effect.entity)) {
                peer.news.note(News { tick, ..News::of(effect) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::Kind;

    fn ended(tick: u32) -> News {
        let entity = Entity::new(Kind(0), PlayerId::new(1), Tick::new(tick), 0);
        News { tick: Tick::new(tick), entity, what: What::Ended }
    }

    fn told(log: &NewsLog, tick: u32) -> (Option<u32>, Vec<u32>) {
        let (complete, news) = log.told(Tick::new(tick));
        (complete, news.map(|news| news.tick.get()).collect())
    }

    #[test]
    fn news_are_told_until_they_are_acknowledged() {
        let mut log = NewsLog::new();
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
        let mut log = NewsLog::new();
        (0..NEWS_MAX).zip(0..).for_each(|(_, nth)| log.note(ended(nth / 2)));
        assert_eq!(told(&log, 200).0, None);
        log.note(ended(150));
        let (complete, news) = told(&log, 200);
        assert_eq!((complete, news.len(), news[0]), (Some(199), NEWS_MAX, 0), "one of the two of tick 0 is left out");
        log.acknowledge(Tick::new(1));
        assert_eq!(told(&log, 200).0, None, "and the client knows it");
        let (complete, news) = told(&log, 1100);
        assert_eq!((complete, news[0]), (Some(NEWS_TICKS_BACK), 100), "what is too old is not told");
    }
}
