//! How what was shown as it was predicted, or as its player has made it, is shown by what the server tells of it: not as it was before it
//! changed.

use super::track_lookup::Look;
use super::tracks::Tracks;
use crate::time::{Tick, TickTime};
use crate::world::{ComponentId, Owned, PlayerId, RowKey, Rows, Schema};

/// Which words of a row a player has changed, the first the lowest bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChangedWords {
    pub key: RowKey,
    pub words: u64,
}

/// An entity that is shown by the server's states from now on, and was by something else until now.
pub(crate) struct GoingOver<'a> {
    pub schema: &'a Schema,
    pub of: Owned,
    /// Whose client it is.
    pub player: PlayerId,
    /// Its rows as they are to be shown: as they were predicted, or as they were told last.
    pub to: &'a Rows,
    /// What of it its player has changed, where that was refused or withdrawn and it is shown no more as they have made it; `None` where it
    /// was predicted.
    pub undone: Option<&'a [ChangedWords]>,
    /// Where others are shown.
    pub look: Look,
}

/// How a row is otherwise at the point than it is to be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Begun,
    Ended,
    /// Its entity has been put elsewhere, or what a player has changed that goes by steps is another.
    Stepped,
    /// The same of a row that says nothing of where its entity is.
    Set,
}

impl GoingOver<'_> {
    /// Where it has become another thing than it is at the point, has been put elsewhere or is not there yet, it is from now on as in the
    /// first state in which it is as it is to be shown, until the point comes to that. A part that it has got or lost besides is there or not
    /// from now on.
    pub(super) fn cut(&self, tracks: &mut Tracks) {
        let any = |change| self.ids().any(|id| self.change(id, tracks) == Some(change));
        let is_not_there = tracks.owner(self.of.entity, &self.look).is_none();
        let is_to_end = !self.ids().any(|id| self.is_to_be(id));
        if is_not_there || is_to_end || any(Change::Stepped) || any(Change::Begun) && any(Change::Ended) {
            let counting = self.ids().filter(|id| is_to_end || self.is_to_be(*id));
            if let Some(first) = counting.filter_map(|id| self.first(id, tracks)).min() {
                self.ids().for_each(|id| tracks.forget_before(self.key(id), first, self.is_to_be(id)));
            }
            return;
        }
        for id in self.ids() {
            if let Some(first) = self.first(id, tracks) {
                tracks.forget_before(self.key(id), first, self.is_to_be(id));
            }
        }
    }

    fn shown<'a>(&self, tracks: &'a Tracks) -> ShownRows<'a> {
        ShownRows { tracks, look: self.look }
    }

    fn ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        self.schema.ids()
    }

    fn key(&self, component: ComponentId) -> RowKey {
        RowKey { component, entity: self.of.entity }
    }

    /// Whether it is to be shown with a component.
    fn is_to_be(&self, component: ComponentId) -> bool {
        self.to.words(self.key(component)).is_some()
    }

    fn change(&self, component: ComponentId, tracks: &Tracks) -> Option<Change> {
        self.change_from(component, self.shown(tracks).words(self.key(component)))
    }

    /// How it is to be shown otherwise than as a component is told.
    fn change_from(&self, component: ComponentId, told: Option<&[u32]>) -> Option<Change> {
        let (of, key) = (self.schema.component(component), self.key(component));
        match (told, self.to.words(key)) {
            (None, None) => None,
            (None, Some(_)) => self.may_begin_or_end(key).then_some(Change::Begun),
            (Some(_), None) => self.may_begin_or_end(key).then_some(Change::Ended),
            (Some(told), Some(to)) => {
                let change = if of.has_pose() { Change::Stepped } else { Change::Set };
                let is_other = match self.undone {
                    Some(changed) => of.steps_between(told, to, altered(changed, key)),
                    None => of.turns_between(told, to),
                };
                is_other.then_some(change)
            }
        }
    }

    /// Whether that a row is there or not is something that was predicted otherwise, or that the player has changed.
    fn may_begin_or_end(&self, key: RowKey) -> bool {
        let mut variants = self.schema.other_variants(key);
        match self.undone {
            Some(of) => altered(of, key) != 0 || variants.any(|other| altered(of, other) != 0),
            // Of what could not be predicted no prediction says that it is not there, but another variant of it does.
            None => {
                let prediction = self.schema.component(key.component).prediction();
                prediction.is_of(self.player, self.of.owner) || variants.any(|other| self.to.words(other).is_some())
            }
        }
    }

    /// The first state after the point in which a component that has changed since is as it is to be shown.
    fn first(&self, component: ComponentId, tracks: &Tracks) -> Option<Tick> {
        let change = self.change(component, tracks)?;
        let is_so = |told: Option<&[u32]>| self.change_from(component, told) != Some(change);
        let since = match change {
            Change::Begun | Change::Ended => self.look,
            Change::Stepped | Change::Set => self.shown(tracks).behind(component),
        };
        tracks.first_after(self.key(component), since.at.tick(), is_so)
    }
}

/// What others are shown as at a point.
#[derive(Clone, Copy)]
pub(crate) struct ShownRows<'a> {
    pub tracks: &'a Tracks,
    pub look: Look,
}

impl<'a> ShownRows<'a> {
    /// A row as it is shown; `None` where it is not there.
    pub(crate) fn words(self, key: RowKey) -> Option<&'a [u32]> {
        let began = TickTime::start_of(self.tracks.began(key.component, self.tracks.find(key)?, &self.look)?);
        let behind = self.behind(key.component);
        self.tracks.words(key, &Look { at: behind.at.max(began), ..behind })
    }

    /// Where the rows of a component are looked at that are there: farther back where they are told more rarely.
    fn behind(self, component: ComponentId) -> Look {
        let later = TickTime::ticks(f64::from(self.tracks.later_ticks(component, &self.look)));
        Look { at: self.look.at - later, ..self.look }
    }
}

fn altered(changed: &[ChangedWords], key: RowKey) -> u64 {
    changed.iter().filter(|of| of.key == key).fold(0, |words, of| words | of.words)
}

#[cfg(test)]
mod tests;
