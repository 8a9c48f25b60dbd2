//! How what was shown as it was predicted, or as its player has made it, is shown by what the server tells of it: not as it was before it
//! changed.

use super::track_lookup::Look;
use super::tracks::Tracks;
use crate::time::Tick;
use crate::world::{ComponentId, Owned, PlayerId, RowKey, Rows, Schema};

/// An entity that is shown by what is told of it from now on, and was by something else until now.
pub(crate) struct GoingOver<'a> {
    pub schema: &'a Schema,
    pub of: Owned,
    /// Whose client it is.
    pub player: PlayerId,
    /// Its rows as they are to be shown: as they were predicted, or as they were told last.
    pub to: &'a Rows,
    /// Whether anything that goes by steps is to be shown so, besides whether a row is there and where its entity was put.
    pub is_by_steps: bool,
    /// Where others are shown.
    pub look: Look,
}

/// How a row is otherwise at the point than it is to be shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Begun,
    Ended,
    /// Its entity has been put elsewhere, or anything about it that goes by steps is another.
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
        if is_not_there || any(Change::Stepped) || any(Change::Begun) && any(Change::Ended) {
            let firsts = self.ids().filter(|id| self.is_to_be(*id)).filter_map(|id| self.first(id, tracks));
            if let Some(first) = firsts.min() {
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
        self.change_from(component, tracks.words(self.key(component), &self.look))
    }

    /// How it is to be shown otherwise than as a component is told.
    fn change_from(&self, component: ComponentId, told: Option<&[u32]>) -> Option<Change> {
        let of = self.schema.component(component);
        match (told, self.to.words(self.key(component))) {
            (None, None) => None,
            (None, Some(_)) => Some(Change::Begun),
            // Of what could not be predicted no prediction says that it is not there.
            (Some(_), None) => {
                (self.is_by_steps || of.prediction().is_of(self.player, self.of.owner)).then_some(Change::Ended)
            }
            (Some(told), Some(to)) if !of.has_pose() => of.steps_between(told, to).then_some(Change::Set),
            (Some(told), Some(to)) => {
                let is_stepped = self.is_by_steps && of.steps_between(told, to);
                (is_stepped || of.teleports(told).differ(of.teleports(to))).then_some(Change::Stepped)
            }
        }
    }

    /// The first state after the point in which a component that has changed since is as it is to be shown.
    fn first(&self, component: ComponentId, tracks: &Tracks) -> Option<Tick> {
        let change = self.change(component, tracks)?;
        let is_so = |told: Option<&[u32]>| self.change_from(component, told) != Some(change);
        tracks.first_after(self.key(component), self.look.at.tick(), is_so)
    }
}

#[cfg(test)]
mod tests;
