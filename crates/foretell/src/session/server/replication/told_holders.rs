//! Who holds what, as one client was told: who of it is told again is what the client may not have yet.

use crate::session::authority_codec::{HeldEntity, Holder, ToldHolder};
use crate::session::baseline_ref::check_of_holders;
use crate::time::Tick;
use crate::world::EntityMap;

/// Who has authority over the entities that one client sees or holds. Lives as long as the place.
#[derive(Clone, Debug)]
pub(super) struct ToldHolders {
    /// Those of the state that is told, and those whose hold ended after the oldest state that the client may name.
    entries: EntityMap<Entry>,
    /// The newest state that was sent.
    sent: Option<Tick>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Entry {
    /// `None` for nobody any more.
    holder: Option<Holder>,
    /// The newest state that was sent before this was so; `None` for none.
    sent_before: Option<Tick>,
    /// Whether it was among those that are held, while these are gone through.
    is_found: bool,
}

impl ToldHolders {
    pub(super) fn new() -> ToldHolders {
        ToldHolders { entries: EntityMap::new(), sent: None }
    }

    /// Who holds what in the state that is told next, ascending by entity; `oldest` is the oldest state that the client may
    /// name as its baseline.
    pub(super) fn update(&mut self, held: impl Iterator<Item = HeldEntity>, oldest: Option<Tick>) {
        let ToldHolders { entries, sent } = self;
        let mut next = 0;
        for HeldEntity { key, holder } in held {
            let entry = entries.get_or_insert_near(key.entity, &mut next, Entry::default);
            entry.note(Some(holder), *sent);
            entry.is_found = true;
        }
        entries.retain(|_, entry| {
            if !core::mem::take(&mut entry.is_found) {
                entry.note(None, *sent);
            }
            entry.holder.is_some() || oldest.is_some_and(|oldest| entry.may_be_unknown(oldest))
        });
    }

    /// What a client has to be told that has the state `baseline`; all that is held where that is `None`. Ascending by entity.
    pub(super) fn since(&self, baseline: Option<Tick>) -> impl Iterator<Item = ToldHolder> {
        let is_told = move |entry: &Entry| match baseline {
            Some(baseline) => entry.may_be_unknown(baseline),
            None => entry.holder.is_some(),
        };
        self.entries.iter().filter(move |(_, entry)| is_told(entry)).map(|(entity, entry)| (entity, entry.holder))
    }

    /// How many there are, those of a little before among them.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The check of all that are held.
    pub(super) fn check(&self) -> u32 {
        check_of_holders(self.entries.iter().filter_map(|(entity, entry)| Some((entity, entry.holder?))))
    }

    /// The state of `tick` was sent.
    pub(super) fn note_sent(&mut self, tick: Tick) {
        self.sent = self.sent.max(Some(tick));
    }
}

impl Entry {
    fn note(&mut self, holder: Option<Holder>, sent: Option<Tick>) {
        if self.holder != holder {
            (self.holder, self.sent_before) = (holder, sent);
        }
    }

    /// Whether a client may have the state of `tick` without this. A state may have been sent again that was sent before, so
    /// the last one counts.
    fn may_be_unknown(&self, tick: Tick) -> bool {
        self.sent_before >= Some(tick)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::authority_codec::Claim;
    use crate::world::{ComponentId, Entity, PlayerId, RowKey};
    use alloc::vec::Vec;

    const fn crate_of(nth: u16) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
    }

    fn held_by(nth: u16, player: u16) -> HeldEntity {
        let key = RowKey { component: ComponentId::default(), entity: crate_of(nth) };
        let holder = Holder { player: PlayerId::new(player), claim: Claim::Authority, authority: 1, ownership: 0 };
        HeldEntity { key, holder }
    }

    /// Which are told with a state by this baseline, and by whom they are held.
    fn told(of: &ToldHolders, baseline: Option<u32>) -> Vec<(Entity, u16)> {
        let player = |holder: Option<Holder>| holder.map_or(0, |holder| holder.player.get());
        of.since(baseline.map(Tick::new)).map(|(entity, holder)| (entity, player(holder))).collect()
    }

    #[test]
    fn a_holder_is_told_until_the_client_names_a_state_that_had_it() {
        let mut holders = ToldHolders::new();
        let oldest = Some(Tick::new(1));
        for tick in 1..=3 {
            holders.update([held_by(1, 5), held_by(2, 6)].into_iter(), oldest);
            assert_eq!(told(&holders, None).len(), 2, "all by themselves, in {tick}");
            holders.note_sent(Tick::new(tick));
        }
        assert_eq!(told(&holders, Some(1)), []);
        holders.update([held_by(2, 7), held_by(3, 8)].into_iter(), oldest);
        let changes = [(crate_of(1), 0), (crate_of(2), 7), (crate_of(3), 8)];
        assert_eq!(told(&holders, Some(2)), changes);
        // The state of tick 3 was sent without it, and may be sent again with it.
        holders.note_sent(Tick::new(3));
        assert_eq!(told(&holders, Some(3)), changes);
        holders.note_sent(Tick::new(4));
        assert_eq!(told(&holders, Some(4)), []);
        assert_eq!(told(&holders, None), changes[1..]);
    }

    #[test]
    fn what_is_held_no_more_is_remembered_as_long_as_a_baseline_may_have_it() {
        let mut holders = ToldHolders::new();
        for nth in 0..1000_u16 {
            let tick = u32::from(nth) + 1;
            holders.update(core::iter::once(held_by(nth, 5)), Some(Tick::new(tick.saturating_sub(30))));
            holders.note_sent(Tick::new(tick));
            assert!(holders.entries.len() <= 32, "{}", holders.entries.len());
        }
        holders.update(core::iter::empty(), None);
        assert!(holders.entries.is_empty(), "nothing may be named");
    }
}
