//! Rows: the replicated state of entities as tables of 32-bit words, one table per kind.

use super::{Adopt, Audience, Entity, Kind, PlayerId, Predicted, Publish, Schema, State};
use core::ops::Range;

/// The rows of a set of entities: sorted by [`Entity`], one row each, and the names of those that were removed.
///
/// A world *publishes* into one (what it does not name is unchanged) and *adopts* from one (what is not named stays).
/// Histories, comparison and replication work on rows and know nothing of the user's types.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rows {
    tables: Vec<Table>,
    removed: Vec<Entity>,
    changed: Vec<Entity>,
    /// Empty but while [`publish_all`](Rows::publish_all) runs.
    named: Vec<Entity>,
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    words: usize,
    entities: Vec<Entity>,
    data: Vec<u32>,
}

impl Clone for Table {
    fn clone(&self) -> Table {
        Table { words: self.words, entities: self.entities.clone(), data: self.data.clone() }
    }

    fn clone_from(&mut self, from: &Table) {
        self.words = from.words;
        self.entities.clone_from(&from.entities);
        self.data.clone_from(&from.data);
    }
}

impl Clone for Rows {
    fn clone(&self) -> Rows {
        let Rows { tables, removed, changed, named } = self;
        Rows { tables: tables.clone(), removed: removed.clone(), changed: changed.clone(), named: named.clone() }
    }

    // By hand, as the derived one would allocate anew.
    fn clone_from(&mut self, from: &Rows) {
        self.tables.clone_from(&from.tables);
        self.removed.clone_from(&from.removed);
        self.changed.clone_from(&from.changed);
    }
}

impl Table {
    fn row(&self, index: usize) -> &[u32] {
        &self.data[index * self.words..(index + 1) * self.words]
    }

    fn row_mut(&mut self, index: usize) -> &mut [u32] {
        &mut self.data[index * self.words..(index + 1) * self.words]
    }

    fn find(&self, entity: Entity) -> Result<usize, usize> {
        match self.entities.last() {
            Some(last) if *last < entity => Err(self.entities.len()),
            None => Err(0),
            Some(_) => self.entities.binary_search(&entity),
        }
    }

    /// Where the entities of `player` lie.
    fn owned(&self, player: PlayerId) -> Range<usize> {
        let first = self.entities.partition_point(|entity| entity.player() < player);
        let last = self.entities.partition_point(|entity| entity.player() <= player);
        first..last
    }

    fn insert(&mut self, index: usize, entity: Entity) {
        self.entities.insert(index, entity);
        let at = index * self.words;
        self.data.splice(at..at, core::iter::repeat_n(0, self.words));
    }

    fn remove(&mut self, index: usize) {
        self.entities.remove(index);
        self.data.drain(index * self.words..(index + 1) * self.words);
    }

    fn clear(&mut self) {
        self.entities.clear();
        self.data.clear();
    }

    fn push(&mut self, from: &Table, index: usize) {
        self.entities.push(from.entities[index]);
        self.data.extend_from_slice(from.row(index));
    }

    /// Becomes `before` without what is `gone`, and with the rows of `now` in the place of its own.
    fn merge(&mut self, before: &Table, gone: &[Entity], now: &Table) {
        self.clear();
        let mut new = 0;
        for (index, entity) in before.entities.iter().enumerate() {
            while now.entities.get(new).is_some_and(|next| next < entity) {
                self.push(now, new);
                new += 1;
            }
            let is_told = now.entities.get(new) == Some(entity);
            if !is_told && (gone.is_empty() || gone.binary_search(entity).is_err()) {
                self.push(before, index);
            }
        }
        (new..now.entities.len()).for_each(|index| self.push(now, index));
    }
}

impl Rows {
    /// No rows yet, of the kinds in `schema`.
    pub fn new(schema: &Schema) -> Rows {
        let tables = schema.kinds().iter().map(|kind| Table { words: kind.words(), ..Table::default() }).collect();
        Rows { tables, ..Rows::default() }
    }

    /// Sets the state of an entity, creating its row where there is none.
    ///
    /// # Panics
    /// When the state is of another kind than the entity, or the schema has no such kind.
    pub fn set<S: State>(&mut self, entity: Entity, state: &S) {
        assert!(state.kind() == entity.kind(), "{entity}: the state given for it is of another kind");
        let mut words = [0; super::ROW_WORDS_MAX];
        let len = self.table(entity.kind()).words;
        state.write(&mut words[..len]);
        self.set_words(entity, &words[..len]);
    }

    /// Sets the words of an entity's row, creating it where there is none.
    ///
    /// # Panics
    /// When `words` is not as long as the rows of its kind, or the schema has no such kind.
    pub fn set_words(&mut self, entity: Entity, words: &[u32]) {
        let table = &mut self.tables[usize::from(entity.kind().0)];
        let index = match table.find(entity) {
            Ok(index) if table.row(index) == words => return,
            Ok(index) => index,
            Err(index) => {
                table.insert(index, entity);
                index
            }
        };
        table.row_mut(index).copy_from_slice(words);
        self.changed.push(entity);
    }

    /// Removes an entity's row, and names it among the [`removed`](Rows::removed); does nothing where there is none.
    pub fn remove(&mut self, entity: Entity) {
        let table = &mut self.tables[usize::from(entity.kind().0)];
        if let Ok(index) = table.find(entity) {
            table.remove(index);
            self.removed.push(entity);
        }
    }

    /// Removes all rows but those that `keep` names.
    pub fn retain(&mut self, mut keep: impl FnMut(Entity) -> bool) {
        for table in &mut self.tables {
            let mut index = 0;
            while index < table.entities.len() {
                let entity = table.entities[index];
                if keep(entity) {
                    index += 1;
                } else {
                    table.remove(index);
                    self.removed.push(entity);
                }
            }
        }
    }

    /// Makes these the rows, and no others: sets each, and removes those of entities that are not named. All that a
    /// world's [`publish`](super::World::publish) has to do that keeps its entities in a list or a map; or in something
    /// else that it can walk through. Order means nothing; ascending is cheapest. Allocates only to grow.
    ///
    /// ```
    /// # use foretell::{Entity, Rows, State};
    /// # use std::collections::BTreeMap;
    /// # #[derive(State, Clone, Copy)]
    /// # struct Cube { #[state(position)] at: [f32; 3] }
    /// # #[derive(Clone, Copy)]
    /// # struct Body { entity: Entity, at: [f32; 3] }
    /// # fn publish(map: BTreeMap<Entity, Cube>, list: Vec<(Entity, Cube)>, bodies: &[Body], rows: &mut Rows) {
    /// rows.publish_all(&map);
    /// rows.publish_all(&list);
    /// rows.publish_all(bodies.iter().map(|body| (body.entity, Cube { at: body.at })));
    /// # }
    /// ```
    ///
    /// # Panics
    /// As [`set`](Rows::set) does, and when two of them have one name.
    pub fn publish_all(&mut self, all: impl IntoIterator<Item: Publish>) {
        let mut named = core::mem::take(&mut self.named);
        named.extend(all.into_iter().map(|one| one.publish(self)));
        if !named.is_sorted_by(|a, b| a < b) {
            named.sort_unstable();
            if let Some(two) = named.windows(2).find(|two| two[0] == two[1]) {
                panic!("{} is published twice: give each entity a name of its own, with `Step::spawn`", two[0]);
            }
        }
        // Each of them has a row by now.
        if named.len() < self.len() {
            self.retain(|entity| named.binary_search(&entity).is_ok());
        }
        named.clear();
        self.named = named;
    }

    /// Removes from a list (`Vec<(Entity, S)>`) or map (`BTreeMap<Entity, S>`) of states what is
    /// [`removed`](Rows::removed) here, and overwrites or creates in it what has a row; all others stay. All that the
    /// [`adopt`](super::World::adopt) of a world has to do that consists of one. A list is ascending afterwards.
    ///
    /// # Panics
    /// When its type of state lacks the kind of an entity.
    pub fn adopt_into(&self, all: &mut impl Adopt) {
        all.adopt(self);
    }

    /// Names an entity among the [`removed`](Rows::removed), whether it has a row or not.
    pub(crate) fn name_removed(&mut self, entity: Entity) {
        self.remove(entity);
        if !self.removed.contains(&entity) {
            self.removed.push(entity);
        }
    }

    /// The words of an entity's row.
    pub fn words(&self, entity: Entity) -> Option<&[u32]> {
        let table = self.tables.get(usize::from(entity.kind().0))?;
        table.find(entity).ok().map(|index| table.row(index))
    }

    /// The state of an entity; `None` where it has no row.
    ///
    /// # Panics
    /// When `S` has no such kind.
    pub fn state<S: State>(&self, entity: Entity) -> Option<S> {
        self.words(entity).map(|words| S::read(entity.kind(), words))
    }

    /// Every entity with its words, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (Entity, &[u32])> {
        self.tables
            .iter()
            .flat_map(|table| table.entities.iter().enumerate().map(|(index, entity)| (*entity, table.row(index))))
    }

    /// Every entity with its state, ascending.
    ///
    /// # Panics
    /// While iterating, when `S` lacks the kind of an entity.
    pub fn states<S: State>(&self) -> impl Iterator<Item = (Entity, S)> {
        self.iter().map(|(entity, words)| (entity, S::read(entity.kind(), words)))
    }

    /// Every entity that `player` may see, with its words, ascending.
    pub(crate) fn seen_by(&self, schema: &Schema, player: PlayerId) -> impl Iterator<Item = (Entity, &[u32])> {
        self.places_seen_by(schema, player).map(|place| self.nth(place))
    }

    /// The places of the rows that `player` may see, ascending: each is the `nth` of all.
    pub(crate) fn places_seen_by(&self, schema: &Schema, player: PlayerId) -> impl Iterator<Item = usize> {
        let mut first = 0;
        self.tables.iter().zip(schema.kinds()).flat_map(move |(table, kind)| {
            let range = match kind.audience() {
                Audience::All => 0..table.entities.len(),
                Audience::Owner => table.owned(player),
            };
            let before = first;
            first += table.entities.len();
            before + range.start..before + range.end
        })
    }

    /// The `nth` of all rows, ascending. Panics when there are not so many.
    pub(crate) fn nth(&self, nth: usize) -> (Entity, &[u32]) {
        let mut index = nth;
        for table in &self.tables {
            if index < table.entities.len() {
                return (table.entities[index], table.row(index));
            }
            index -= table.entities.len();
        }
        panic!("there is no row {nth}");
    }

    /// Becomes `before` without what is `gone` (ascending), and with the rows of `now` in the place of its own.
    pub(crate) fn merge(&mut self, before: &Rows, gone: &[Entity], now: &Rows) {
        for ((table, before), now) in self.tables.iter_mut().zip(&before.tables).zip(&now.tables) {
            table.merge(before, gone, now);
        }
        self.settle();
    }

    /// Whether others may see an entity of `player`.
    pub(crate) fn shows_others(&self, schema: &Schema, player: PlayerId) -> bool {
        let tables = self.tables.iter().zip(schema.kinds()).filter(|(_, kind)| kind.audience() == Audience::All);
        tables.into_iter().any(|(table, _)| !table.owned(player).is_empty())
    }

    /// The entities that were removed since the last [`settle`](Rows::settle), in the order of removal.
    pub fn removed(&self) -> &[Entity] {
        &self.removed
    }

    /// The entities whose words changed since the last [`settle`](Rows::settle), in the order of change; one that
    /// changed twice stands twice.
    pub fn changed(&self) -> &[Entity] {
        &self.changed
    }

    /// Forgets what was changed and removed; the rows stay.
    pub fn settle(&mut self) {
        self.removed.clear();
        self.changed.clear();
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.tables.iter_mut().for_each(Table::clear);
        self.settle();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.entities.len()).sum()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.tables.iter().all(|table| table.entities.is_empty())
    }

    /// Becomes a copy of the rows of `from` (not of what changed in it); allocates only to grow.
    pub fn copy_rows(&mut self, from: &Rows) {
        self.tables.clone_from(&from.tables);
        self.settle();
    }

    /// Becomes a copy of the rows of predicted entities.
    pub(crate) fn copy_predicted(&mut self, from: &Rows, predicted: &Predicted) {
        if predicted.has_all() {
            return self.copy_rows(from);
        }
        for (table, from) in self.tables.iter_mut().zip(&from.tables) {
            table.clear();
            for player in predicted.stepped() {
                for index in from.owned(*player).filter(|index| predicted.contains(from.entities[*index])) {
                    table.data.extend_from_slice(from.row(index));
                    table.entities.push(from.entities[index]);
                }
            }
        }
        self.settle();
    }

    /// How many rows of predicted entities there are.
    pub(crate) fn count_predicted(&self, predicted: &Predicted) -> u64 {
        if predicted.has_all() {
            return self.len() as u64;
        }
        let owned = self.tables.iter().flat_map(|table| {
            predicted.stepped().iter().flat_map(|player| table.entities[table.owned(*player)].iter())
        });
        owned.filter(|entity| predicted.contains(**entity)).count() as u64
    }

    /// Forgets the rows of predicted entities, and that any was removed.
    pub(crate) fn drop_predicted(&mut self, predicted: &Predicted) {
        let named = self.removed.len();
        self.retain(|entity| !predicted.contains(entity));
        self.removed.truncate(named);
        self.removed.retain(|entity| !predicted.contains(*entity));
    }

    /// A hash of all rows (FNV-1a over entities and words): equal rows have equal digests on every platform.
    pub fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |word: u32| {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for (entity, words) in self.iter() {
            #[expect(clippy::cast_possible_truncation, reason = "both halves are mixed")]
            [entity.bits() as u32, (entity.bits() >> 32) as u32].into_iter().for_each(&mut mix);
            words.iter().copied().for_each(&mut mix);
        }
        hash
    }

    fn table(&self, kind: Kind) -> &Table {
        &self.tables[usize::from(kind.0)]
    }
}
