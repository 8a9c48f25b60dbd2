//! In which states the rows of a snapshot were told, where that is not the snapshot's own.

use crate::session::client::initial_capacity::FEW;
use crate::time::Tick;
use crate::world::{RowKey, Rows};
use alloc::vec::Vec;

/// When a row was told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Told {
    pub key: RowKey,
    /// The state that it is of.
    pub tick: Tick,
    /// Whether it is so until it is told anew.
    pub rests: bool,
}

/// Rows by their keys. What is not among them is of the snapshot's own state.
#[derive(Debug)]
pub(crate) struct ToldRows {
    /// Ascending, each once.
    told: Vec<Told>,
}

impl Clone for ToldRows {
    fn clone(&self) -> ToldRows {
        ToldRows { told: self.told.clone() }
    }

    /// Keeps the memory.
    fn clone_from(&mut self, from: &ToldRows) {
        self.told.clone_from(&from.told);
    }
}

impl ToldRows {
    pub(crate) fn new() -> ToldRows {
        ToldRows { told: Vec::with_capacity(FEW) }
    }

    pub(crate) fn clear(&mut self) {
        self.told.clear();
    }

    /// Ascending by key.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Told> {
        self.told.iter()
    }

    pub(crate) fn get(&self, key: RowKey) -> Option<&Told> {
        self.find(key).ok().map(|at| &self.told[at])
    }

    /// The same of one after another, ascending: `next` is where it mostly is.
    #[inline]
    pub(crate) fn get_near(&self, key: RowKey, next: &mut usize) -> Option<&Told> {
        self.find_near(key, next).ok().map(|at| &self.told[at])
    }

    /// Where a row is, or would be. `next` is where it mostly is, and becomes where the one after it is.
    #[inline]
    pub(crate) fn find_near(&self, key: RowKey, next: &mut usize) -> Result<usize, usize> {
        let is_next = self.told.get(*next).is_some_and(|told| told.key == key);
        let found = if is_next { Ok(*next) } else { self.find(key) };
        let (Ok(at) | Err(at)) = found;
        *next = at + usize::from(found.is_ok());
        found
    }

    /// The row that was found at a place.
    pub(crate) fn at(&self, place: usize) -> &Told {
        &self.told[place]
    }

    /// Whether any row from `first` to `last` was told and does not rest.
    pub(crate) fn any_moves(&self, first: RowKey, last: RowKey) -> bool {
        let from = self.told.partition_point(|told| told.key < first);
        self.told[from..].iter().take_while(|told| told.key <= last).any(|told| !told.rests)
    }

    /// All of `rows` were told in the state of `tick`.
    pub(crate) fn set_all(&mut self, tick: Tick, rows: &Rows) {
        self.told.clear();
        self.told.extend(rows.iter().map(|row| Told { key: row.key(), tick, rests: false }));
    }

    pub(crate) fn retain(&mut self, is_kept: impl FnMut(&Told) -> bool) {
        self.told.retain(is_kept);
    }

    pub(crate) fn set(&mut self, told: Told) {
        self.set_at(self.find(told.key), told);
    }

    /// The same where it was [found](ToldRows::find_near).
    pub(crate) fn set_at(&mut self, place: Result<usize, usize>, told: Told) {
        match place {
            Ok(at) => self.told[at] = told,
            Err(at) => self.told.insert(at, told),
        }
    }

    pub(crate) fn remove(&mut self, key: RowKey) {
        if let Ok(at) = self.find(key) {
            self.told.remove(at);
        }
    }

    fn find(&self, key: RowKey) -> Result<usize, usize> {
        self.told.binary_search_by_key(&key, |told| told.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, SHIP};
    use crate::world::{Entity, PlayerId};
    use alloc::collections::BTreeMap;
    use proptest::prelude::*;

    fn key(nth: u16) -> RowKey {
        test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, nth))
    }

    proptest! {
        #[test]
        fn rows_are_found_by_their_keys_in_any_order_and_ascending(
            calls in prop::collection::vec((0_u16..20, any::<Option<(u8, bool)>>()), 0..100),
        ) {
            let (mut rows, mut expected) = (ToldRows::new(), BTreeMap::new());
            for (nth, set) in calls {
                let key = key(nth);
                match set.map(|(tick, rests)| Told { key, tick: Tick::new(u32::from(tick)), rests }) {
                    Some(told) => {
                        rows.set(told);
                        expected.insert(nth, told);
                    }
                    None => {
                        rows.remove(key);
                        expected.remove(&nth);
                    }
                }
            }
            prop_assert!(rows.iter().eq(expected.values()));
            let mut next = 0;
            for nth in 0..20 {
                prop_assert_eq!(rows.get(key(nth)), expected.get(&nth));
                prop_assert_eq!(rows.get_near(key(nth), &mut next), expected.get(&nth), "one after the other");
                prop_assert_eq!(rows.get_near(key(19 - nth), &mut 5), expected.get(&(19 - nth)), "from anywhere");
                let moves = expected.range(5..=nth.max(5)).any(|(_, told)| !told.rests);
                prop_assert_eq!(rows.any_moves(key(5), key(nth.max(5))), moves);
            }
        }
    }
}
