//! Rows: the replicated state of entities as tables of 32-bit words, one table per component.

use super::component_rows::ComponentRows;
use super::row_iter::RowIter;
use super::{ComponentId, Entity, Owned, PlayerId, PredictionSet, RemovedRow, Row, RowKey, Schema, State, read_state};
use alloc::vec::Vec;
use core::any::TypeId;

/// The rows of a set of entities, sorted by component and then by entity, and the keys of those that were removed.
///
/// A world *publishes* into one (what it does not name is unchanged) and *adopts* from one (what is not named stays).
/// Histories, comparison and replication work on rows and know nothing of the user's types.
#[derive(Debug, PartialEq, Eq)]
pub struct Rows {
    tables: Vec<ComponentRows>,
    removed: Vec<RemovedRow>,
    changed: Vec<RowKey>,
}

impl Clone for Rows {
    fn clone(&self) -> Rows {
        Rows { tables: self.tables.clone(), removed: self.removed.clone(), changed: self.changed.clone() }
    }

    // By hand, as the derived one would allocate anew.
    fn clone_from(&mut self, from: &Rows) {
        self.tables.clone_from(&from.tables);
        self.removed.clone_from(&from.removed);
        self.changed.clone_from(&from.changed);
    }
}

impl Rows {
    /// No rows yet, of the components in `schema`.
    pub fn new(schema: &Schema) -> Rows {
        let tables = schema.ids().map(|id| ComponentRows::new(id, schema)).collect();
        Rows { tables, removed: Vec::new(), changed: Vec::with_capacity(super::component_rows::ROWS_USUAL) }
    }

    /// What stands in the place of rows that are taken out for a while: it has no component, and whoever sets or looks up a
    /// row in it panics.
    pub(crate) const fn placeholder() -> Rows {
        Rows { tables: Vec::new(), removed: Vec::new(), changed: Vec::new() }
    }

    pub(crate) fn is_placeholder(&self) -> bool {
        self.tables.is_empty()
    }

    /// Sets the state of an entity: creates or overwrites the rows of the components that it has, and removes those of its
    /// type that it has not.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn set<S: State>(&mut self, of: Owned, state: &S) {
        self.set_from(self.first_of::<S>(), of, state);
    }

    /// The same, where the first component of the type is known.
    pub(super) fn set_from<S: State>(&mut self, first: usize, of: Owned, state: &S) {
        for (nth, component) in (first..first + S::COMPONENTS).map(ComponentId::nth).enumerate() {
            let mut words = [0; super::ROW_WORDS_MAX];
            let words = &mut words[..self.tables[usize::from(component.0)].words];
            if state.write(nth, words) {
                self.set_words(Row { component, entity: of.entity, owner: of.owner, words });
            } else {
                self.remove(RowKey { component, entity: of.entity });
            }
        }
    }

    /// Which component is the first of this type of state; the others follow it.
    pub(super) fn first_of<S: State>(&self) -> usize {
        let is_it = |table: &&ComponentRows| table.of.is_some_and(|known| known.of == TypeId::of::<S>());
        let found = self.tables.iter().find(is_it).and_then(|table| table.of);
        found.unwrap_or_else(|| panic!("{} is not in the session's schema", core::any::type_name::<S>())).first
    }

    /// Sets a row, creating it where there is none. Soonest done for one after another, ascending.
    ///
    /// # Panics
    /// When it does not have as many words as its component, or the schema has no such component.
    pub fn set_words(&mut self, row: Row<'_>) {
        if self.tables[usize::from(row.component.0)].set(row) {
            self.changed.push(row.key());
        }
    }

    /// Takes over the rows of another, and takes away what is named there as removed and has no row, as a world adopts them. Nothing
    /// of that counts as changed or removed.
    pub(crate) fn adopt(&mut self, from: &Rows) {
        for RemovedRow { key, .. } in &from.removed {
            let table = &mut self.tables[usize::from(key.component.0)];
            if let Ok(index) = table.find(key.entity) {
                table.remove(index);
            }
        }
        self.tables.iter_mut().zip(&from.tables).for_each(|(table, from)| table.adopt(from));
    }

    /// Removes a row, and names it among the [`removed`](Rows::removed); does nothing where there is none.
    pub fn remove(&mut self, key: RowKey) {
        let table = &mut self.tables[usize::from(key.component.0)];
        if let Ok(index) = table.find(key.entity) {
            self.removed.push(RemovedRow { key, owner: table.owners[index] });
            table.remove(index);
        }
    }

    /// Removes all rows of an entity, and names them among the [`removed`](Rows::removed).
    pub fn remove_entity(&mut self, entity: Entity) {
        for component in (0..self.tables.len()).map(ComponentId::nth) {
            self.remove(RowKey { component, entity });
        }
    }

    /// Removes all rows but those that `keep` names.
    pub fn retain(&mut self, mut keep: impl FnMut(RowKey, Owned) -> bool) {
        for component in (0..self.tables.len()).map(ComponentId::nth) {
            self.retain_of(component, |of| keep(RowKey { component, entity: of.entity }, of));
        }
    }

    /// Removes all rows of a component but those that `keep` names.
    pub(crate) fn retain_of(&mut self, component: ComponentId, keep: impl FnMut(Owned) -> bool) {
        let Rows { tables, removed, .. } = self;
        tables[usize::from(component.0)].retain(keep, |Owned { entity, owner }| {
            removed.push(RemovedRow { key: RowKey { component, entity }, owner });
        });
    }

    /// The entities of this player's that have a row of a component, ascending.
    pub(crate) fn entities_of(&self, player: PlayerId, component: ComponentId) -> impl Iterator<Item = Entity> {
        self.tables[usize::from(component.0)].entities_of(player)
    }

    /// Names a row among the [`removed`](Rows::removed), whether it is there or not.
    pub fn name_removed(&mut self, row: RemovedRow) {
        self.remove(row.key);
        if !self.removed.iter().any(|removed| removed.key == row.key) {
            self.removed.push(row);
        }
    }

    /// One row.
    pub fn get(&self, key: RowKey) -> Option<Row<'_>> {
        let index = usize::from(key.component.0);
        let table = self.tables.get(index)?;
        table.find(key.entity).ok().map(|at| table.at(index, at))
    }

    /// One row after another, ascending: `next` is where it is, if it is there, and becomes where the next one is.
    #[inline]
    pub(crate) fn get_near(&self, key: RowKey, next: &mut usize) -> Option<Row<'_>> {
        let component = usize::from(key.component.0);
        let table = self.tables.get(component)?;
        let found = table.find_from(*next, key.entity);
        let (Ok(index) | Err(index)) = found;
        *next = index + usize::from(found.is_ok());
        found.ok().map(|index| table.at(component, index))
    }

    /// The words of one row.
    pub fn words(&self, key: RowKey) -> Option<&[u32]> {
        let table = self.tables.get(usize::from(key.component.0))?;
        table.find(key.entity).ok().map(|index| table.row(index))
    }

    /// The rows of an entity, ascending by component.
    pub fn of(&self, entity: Entity) -> impl Iterator<Item = Row<'_>> {
        let found = move |(component, table): (usize, &'_ ComponentRows)| Some((component, table.find(entity).ok()?));
        let tables = &self.tables;
        tables.iter().enumerate().filter_map(found).map(|(component, at)| tables[component].at(component, at))
    }

    /// Whether an entity has any row.
    pub fn has(&self, entity: Entity) -> bool {
        self.tables.iter().any(|table| table.find(entity).is_ok())
    }

    /// Whose an entity is; `None` where it has no row.
    pub fn owner(&self, entity: Entity) -> Option<PlayerId> {
        self.of(entity).next().map(|row| row.owner)
    }

    /// Whether all rows of an entity are the same player's.
    pub(crate) fn has_one_owner(&self, entity: Entity) -> bool {
        self.of(entity).map(|row| row.owner).is_sorted_by(PlayerId::eq)
    }

    /// The state of an entity; `None` where it has none of this type, or not all that its type needs.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn state<S: State>(&self, entity: Entity) -> Option<S> {
        let first = self.first_of::<S>();
        let components = (first..first + S::COMPONENTS).map(ComponentId::nth);
        read_state(components.enumerate().filter_map(|(nth, component)| {
            let words = self.words(RowKey { component, entity })?;
            Some((nth, words))
        }))
    }

    /// Every entity that has a state of this type, with whose it is and its state. Ascending by entity, but those of an enum by
    /// variant first.
    ///
    /// # Panics
    /// When the schema does not have this type of state.
    pub fn states<S: State>(&self) -> impl Iterator<Item = (Owned, S)> {
        let first = self.first_of::<S>();
        let last = if S::IS_CHOICE { first + S::COMPONENTS } else { first + 1 };
        let rows = (first..last).flat_map(|component| self.component(ComponentId::nth(component)));
        rows.filter_map(move |row| {
            // Of an enum this row is all that there is.
            let only = || S::read(usize::from(row.component.0) - first, row.words);
            Some((row.owned(), if S::IS_CHOICE { only() } else { self.state(row.entity) }?))
        })
    }

    /// Every row, ascending.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        RowIter::new(&self.tables)
    }

    /// The rows of one component, ascending by entity.
    pub fn component(&self, component: ComponentId) -> impl ExactSizeIterator<Item = Row<'_>> {
        let index = usize::from(component.0);
        let table = &self.tables[index];
        (0..table.entities.len()).map(move |at| table.at(index, at))
    }

    /// Where a row is among those of its component; `None` where there is none.
    pub(crate) fn place_in_component(&self, key: RowKey) -> Option<usize> {
        self.tables.get(usize::from(key.component.0))?.find(key.entity).ok()
    }

    /// How many rows there are of the components before this one.
    pub(crate) fn count_before(&self, component: ComponentId) -> usize {
        self.tables.iter().take(usize::from(component.0)).map(|table| table.entities.len()).sum()
    }

    /// The row that is there.
    pub(crate) fn component_row(&self, component: ComponentId, place: usize) -> Option<Row<'_>> {
        let (index, table) = (usize::from(component.0), self.tables.get(usize::from(component.0))?);
        (place < table.entities.len()).then(|| table.at(index, place))
    }

    /// Whether both have the same rows of the same owners, whatever stands in them.
    pub(crate) fn has_same_keys(&self, other: &Rows) -> bool {
        self.tables.iter().zip(&other.tables).all(|(one, other)| one.has_same_keys(other))
    }

    /// Every row that `player` may see whatever the game's rules say, ascending.
    pub fn seen_by(&self, schema: &Schema, player: PlayerId) -> impl Iterator<Item = Row<'_>> {
        self.places_seen_by(schema, player).map(|place| self.nth(place))
    }

    /// The places of the rows that `player` may see whatever the game's rules say, ascending: each is the `nth` of all.
    pub(crate) fn places_seen_by(&self, schema: &Schema, player: PlayerId) -> impl Iterator<Item = usize> {
        let mut first = 0;
        self.tables.iter().zip(schema.components()).flat_map(move |(table, component)| {
            let audience = component.audience();
            let before = first;
            first += table.entities.len();
            let seen = move |index: &usize| audience.includes(player, table.owners[*index]);
            (0..table.entities.len()).filter(seen).map(move |index| before + index)
        })
    }

    /// The `nth` of all rows, ascending. Panics when there are fewer.
    pub(crate) fn nth(&self, nth: usize) -> Row<'_> {
        let mut index = nth;
        for (component, table) in self.tables.iter().enumerate() {
            if index < table.entities.len() {
                return table.at(component, index);
            }
            index -= table.entities.len();
        }
        panic!("there is no row {nth}");
    }

    /// Becomes `before` without what is `gone` (ascending), and with the rows of `now` in the place of its own.
    pub(crate) fn merge(&mut self, before: &Rows, gone: &[RowKey], now: &Rows) {
        for (component, table) in self.tables.iter_mut().enumerate() {
            table.merge(component, &before.tables[component], gone, &now.tables[component]);
        }
        self.settle();
    }

    /// Whether others may see any row of `player`, whatever the game's rules say.
    pub(crate) fn shows_others(&self, schema: &Schema, player: PlayerId) -> bool {
        let tables = self.tables.iter().zip(schema.components());
        let mut shown = tables.filter(|(_, component)| component.audience().includes_others());
        shown.any(|(table, _)| table.owners.contains(&player))
    }

    /// The rows that were removed since the last [`settle`](Rows::settle), in the order of removal.
    pub fn removed(&self) -> &[RemovedRow] {
        &self.removed
    }

    /// The rows whose words or owner changed since the last [`settle`](Rows::settle), in the order of change; one that
    /// changed twice stands twice.
    pub fn changed(&self) -> &[RowKey] {
        &self.changed
    }

    /// Forgets what was changed and removed; the rows stay.
    pub fn settle(&mut self) {
        self.removed.clear();
        self.changed.clear();
    }

    /// Forgets everything, and keeps the memory.
    pub fn clear(&mut self) {
        self.tables.iter_mut().for_each(ComponentRows::clear);
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

    /// Whether no client predicts the entities of a component.
    pub(crate) fn is_never_predicted(&self, component: ComponentId) -> bool {
        self.tables[usize::from(component.0)].prediction.never
    }

    /// The predicted rows, ascending: those of predicted entities, but for components that its client is not told.
    pub(crate) fn predicted(&self, predicted: &PredictionSet) -> impl Iterator<Item = Row<'_>> {
        let (player, mut is_predicted) = (predicted.player(), predicted.in_order());
        let prediction = |row: &Row<'_>| self.tables[usize::from(row.component.0)].prediction;
        self.iter().filter(move |row| is_predicted(row.owned()) && prediction(row).stays_with(player, row.owner))
    }

    /// Becomes a copy of the [predicted](Rows::predicted) rows.
    pub(crate) fn copy_predicted(&mut self, from: &Rows, predicted: &PredictionSet) {
        if predicted.has_all() {
            return self.copy_rows(from);
        }
        let mut is_predicted = predicted.in_order();
        for (component, (table, from)) in self.tables.iter_mut().zip(&from.tables).enumerate() {
            table.clear();
            let chunks = from.owners_in_chunks().filter(|(_, owners)| !predicted.has_surely_none_of(owners));
            for index in chunks.flat_map(|(first, owners)| first..first + owners.len()) {
                let of = Owned { entity: from.entities[index], owner: from.owners[index] };
                if is_predicted(of) && from.prediction.stays_with(predicted.player(), of.owner) {
                    table.push(from.at(component, index));
                }
            }
        }
        self.settle();
    }

    /// How many [predicted](Rows::predicted) rows there are.
    pub(crate) fn count_predicted(&self, predicted: &PredictionSet) -> u64 {
        if predicted.has_all() { self.len() as u64 } else { self.predicted(predicted).count() as u64 }
    }

    /// Forgets the [predicted](Rows::predicted) rows, and that any was removed.
    pub(crate) fn drop_predicted(&mut self, predicted: &PredictionSet) {
        let (player, mut is_predicted) = (predicted.player(), predicted.in_order());
        let Rows { tables, removed, .. } = self;
        for table in &mut *tables {
            let prediction = table.prediction;
            table.retain(|of| !is_predicted(of) || !prediction.stays_with(player, of.owner), |_| {});
        }
        let prediction = |row: &RemovedRow| tables[usize::from(row.key.component.0)].prediction;
        removed.retain(|row| !predicted.contains(row.owned()) || !prediction(row).stays_with(player, row.owner));
    }

    /// A hash of all rows (FNV-1a over entities, owners and words): equal rows have equal digests on every platform.
    pub fn digest(&self) -> u64 {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        let mut mix = |word: u32| {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        };
        for row in self.iter() {
            row.name_words().into_iter().for_each(&mut mix);
            row.words.iter().copied().for_each(&mut mix);
        }
        hash
    }
}
