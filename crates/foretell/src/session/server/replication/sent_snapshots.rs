//! Which snapshots one client was sent last, and which of them it has named.

use crate::time::Tick;
use alloc::collections::VecDeque;

/// The states of which one client was last sent snapshots. Lives as long as the peer.
#[derive(Clone, Debug)]
pub(super) struct SentSnapshots {
    /// Ascending; none before the one that the client names.
    kept: VecDeque<Tick>,
    /// Whether the client names the first.
    is_named: bool,
}

impl SentSnapshots {
    pub(super) fn new() -> SentSnapshots {
        SentSnapshots { kept: VecDeque::with_capacity(128), is_named: false }
    }

    /// Nothing that was sent so far is there.
    pub(super) fn forget(&mut self) {
        self.kept.clear();
        self.is_named = false;
    }

    /// Of the last `most`.
    pub(super) fn note(&mut self, tick: Tick, most: usize) {
        if self.kept.back().is_some_and(|last| *last >= tick) {
            self.forget();
        }
        if self.kept.len() >= most {
            self.kept.pop_front();
            self.is_named = false;
        }
        self.kept.push_back(tick);
    }

    /// The client says which is the newest that it has.
    pub(super) fn name(&mut self, tick: Option<Tick>) {
        let found = tick.and_then(|tick| self.kept.binary_search(&tick).ok());
        self.is_named = found.is_some();
        self.kept.drain(..found.unwrap_or(0));
    }

    /// The oldest that the client may name; `None` where it can name none.
    pub(super) fn oldest(&self) -> Option<Tick> {
        self.kept.front().copied()
    }

    /// The one that the client has named last, if it is not too long ago.
    pub(super) fn baseline(&self) -> Option<Tick> {
        self.oldest().filter(|_| self.is_named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_is_what_the_client_has_named_if_it_was_sent_and_not_long_ago() {
        let mut sent = SentSnapshots::new();
        (1..=5).for_each(|tick| sent.note(Tick::new(tick), 4));
        assert_eq!(sent.baseline(), None, "nothing is named");
        for (named, found) in [(3, Some(3)), (1, None), (4, Some(4)), (9, None), (4, Some(4))] {
            sent.name(Some(Tick::new(named)));
            assert_eq!(sent.baseline(), found.map(Tick::new), "{named}");
        }
        (6..=7).for_each(|tick| sent.note(Tick::new(tick), 4));
        assert_eq!(sent.baseline(), Some(Tick::new(4)));
        sent.note(Tick::new(8), 4);
        assert_eq!(sent.baseline(), None, "too long ago");
        sent.name(Some(Tick::new(8)));
        sent.name(None);
        assert_eq!(sent.baseline(), None, "the client says that it has nothing");
        sent.name(Some(Tick::new(8)));
        sent.forget();
        assert_eq!(sent.baseline(), None);
    }
}
