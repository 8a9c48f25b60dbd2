//! Tables: the entities of a world that have one type of state, in the order of their names.

use super::{
    ComponentId, Entity, Mut, Owned, PlayerId, ROW_WORDS_MAX, Ref, Role, Row, RowKey, Rows, Schema, State, Step,
    WorldPart,
};
use crate::time::Tick;
use alloc::vec::Vec;

/// Entities with their states: what a world keeps of one type. Ascending by entity, on both ends and whatever came when, so
/// that a step that goes through it does everywhere the same.
///
/// Whatever is changed is marked: what is not written to costs nothing to publish. All of a clone is marked, so that a table may be
/// put back as it was by one. Where a table is moved out itself (`core::mem::swap`) while another is published in its place, put back a
/// clone of it.
///
/// ```
/// use foretell::{PlayerId, State, Step, Table};
///
/// #[derive(State, Clone, Copy, Default)]
/// struct Cube {
///     #[state(position)]
///     x: [f32; 1],
/// }
///
/// fn step(cubes: &mut Table<Cube>, step: &mut Step<'_, ()>) {
///     for joined in step.joined() {
///         cubes.spawn(step, joined.player, Cube::default());
///     }
///     for mut cube in cubes.simulated(step) {
///         cube.x[0] += 1.0;
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Table<S> {
    /// Ascending, each once; the other lists are as long.
    entities: Vec<Entity>,
    owners: Vec<PlayerId>,
    states: Vec<S>,
    /// Whether it was written to, or came, since it was published last.
    marks: Vec<bool>,
    /// What was removed since then.
    removed: Vec<Entity>,
}

impl<S> Default for Table<S> {
    fn default() -> Table<S> {
        Table { entities: Vec::new(), owners: Vec::new(), states: Vec::new(), marks: Vec::new(), removed: Vec::new() }
    }
}

/// All of a copy counts as changed: where it takes the place of another, nobody knows in what that was otherwise.
impl<S: Clone> Clone for Table<S> {
    fn clone(&self) -> Table<S> {
        let mut copy = Table::new();
        copy.clone_from(self);
        copy
    }

    fn clone_from(&mut self, from: &Table<S>) {
        self.entities.clone_from(&from.entities);
        self.owners.clone_from(&from.owners);
        self.states.clone_from(&from.states);
        self.mark_all(true);
    }
}

/// By what is in them; what is marked does not count.
impl<S: PartialEq> PartialEq for Table<S> {
    fn eq(&self, other: &Table<S>) -> bool {
        (&self.entities, &self.owners, &self.states) == (&other.entities, &other.owners, &other.states)
    }
}

impl<S> Table<S> {
    /// Without entities.
    pub fn new() -> Table<S> {
        Table::default()
    }

    /// Brings a new entity of `owner` into the world; its name, which is the same on both ends.
    ///
    /// # Panics
    /// As [`Step::spawn`] does, and when a step of tick 0 spawns what was there from the beginning.
    pub fn spawn<I>(&mut self, step: &mut Step<'_, I>, owner: PlayerId, state: S) -> Entity {
        let entity = step.spawn(owner);
        let is_new = || entity.tick() > Tick::ZERO || self.get(entity).is_none();
        assert!(is_new(), "{entity} is there from the beginning, as what tick 0 spawns has such names too");
        self.insert(Owned { entity, owner }, state);
        entity
    }

    /// Gives an entity this state, and this owner: one that is in another table already, one that a level begins with, such as
    /// `Entity::new(PlayerId::SERVER, Tick::ZERO, 7)`. What the step of tick 0 spawns for the server has such names too, from counter 0
    /// on: let it do all of that or nothing. Replaces the state that it has here.
    pub fn insert(&mut self, of: Owned, state: S) {
        match self.entities.binary_search(&of.entity) {
            Ok(at) => {
                (self.owners[at], self.states[at], self.marks[at]) = (of.owner, state, true);
            }
            Err(at) => {
                self.entities.insert(at, of.entity);
                self.owners.insert(at, of.owner);
                self.states.insert(at, state);
                self.marks.insert(at, true);
            }
        }
    }

    /// Takes an entity out of the table; its state, or `None` where it is not in it. An entity that is in no table any more is
    /// gone.
    pub fn remove(&mut self, entity: Entity) -> Option<S> {
        let at = self.entities.binary_search(&entity).ok()?;
        self.entities.remove(at);
        self.owners.remove(at);
        self.marks.remove(at);
        self.removed.push(entity);
        Some(self.states.remove(at))
    }

    /// Takes out all but those that `keep` names; asks for each once, in ascending order.
    pub fn retain(&mut self, mut keep: impl FnMut(Ref<'_, S>) -> bool) {
        let mut kept = 0;
        for at in 0..self.entities.len() {
            if !keep(self.at(at)) {
                self.removed.push(self.entities[at]);
                continue;
            }
            self.entities.swap(kept, at);
            self.owners.swap(kept, at);
            self.states.swap(kept, at);
            self.marks.swap(kept, at);
            kept += 1;
        }
        self.entities.truncate(kept);
        self.owners.truncate(kept);
        self.states.truncate(kept);
        self.marks.truncate(kept);
    }

    /// Takes out what belongs to players who have left before this step.
    pub fn remove_left<I>(&mut self, step: &Step<'_, I>) {
        if !step.left().is_empty() {
            self.retain(|one| !step.has_left(one.owner()));
        }
    }

    /// Gives an entity to another player, whose inputs drive it from then on, and on whose client it is predicted: in the same step in
    /// each table that it is in, or its owner is not shown all of it (with debug assertions the server panics then). `false` where it is not
    /// in the table.
    pub fn set_owner(&mut self, entity: Entity, owner: PlayerId) -> bool {
        let Ok(at) = self.entities.binary_search(&entity) else { return false };
        (self.owners[at], self.marks[at]) = (owner, true);
        true
    }

    /// The state of an entity; `None` where it is not in the table.
    pub fn get(&self, entity: Entity) -> Option<Ref<'_, S>> {
        self.entities.binary_search(&entity).ok().map(|at| self.at(at))
    }

    /// The same, to be changed.
    pub fn get_mut(&mut self, entity: Entity) -> Option<Mut<'_, S>> {
        let at = self.entities.binary_search(&entity).ok()?;
        let of = Owned { entity, owner: self.owners[at] };
        Some(Mut { of, state: &mut self.states[at], mark: &mut self.marks[at] })
    }

    /// The same for an entity that `by` changes, which this step moves, though itself it does not move it: a pickup that is taken, a
    /// door that is opened. `None` where it is not in the table, or [must not](Step::change) be changed now: then nothing that
    /// follows from the change is to be done.
    pub fn change<I>(&mut self, step: &mut Step<'_, I>, by: Owned, entity: Entity) -> Option<Mut<'_, S>> {
        self.get_mut(entity).filter(|one| step.change(by, one.of))
    }

    fn at(&self, at: usize) -> Ref<'_, S> {
        Ref { of: Owned { entity: self.entities[at], owner: self.owners[at] }, state: &self.states[at] }
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Ref<'_, S>> + ExactSizeIterator {
        (0..self.entities.len()).map(|at| self.at(at))
    }

    /// All of them, ascending, to be changed.
    pub fn iter_mut(&mut self) -> impl DoubleEndedIterator<Item = Mut<'_, S>> + ExactSizeIterator {
        let names = self.entities.iter().zip(&self.owners);
        let states = self.states.iter_mut().zip(&mut self.marks);
        names.zip(states).map(|((entity, owner), (state, mark))| {
            let of = Owned { entity: *entity, owner: *owner };
            Mut { of, state, mark }
        })
    }

    /// What belongs to a player, ascending.
    pub fn owned_by(&self, player: PlayerId) -> impl DoubleEndedIterator<Item = Ref<'_, S>> {
        self.iter().filter(move |one| one.owner() == player)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entities.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    /// Everything counts as changed, or nothing: since it was published nothing was removed.
    fn mark_all(&mut self, is_changed: bool) {
        self.marks.clear();
        self.marks.resize(self.entities.len(), is_changed);
        self.removed.clear();
    }

    /// Where an entity is, or would be: mostly at `next`, where it is looked for first.
    fn find_from(&self, next: usize, entity: Entity) -> Result<usize, usize> {
        match self.entities.get(next) {
            Some(known) if *known == entity => Ok(next),
            None if self.entities.last().is_none_or(|last| *last < entity) => Err(next),
            _ => self.entities.binary_search(&entity),
        }
    }
}

impl<S: State> Table<S> {
    /// Those that this step is to move, ascending: all on a server, what is predicted on a client; not what only is shown
    /// there, or moved by its owner's client.
    pub fn simulated<'t, 's, I>(
        &'t mut self,
        step: &Step<'s, I>,
    ) -> impl DoubleEndedIterator<Item = Mut<'t, S>> + use<'t, 's, S, I> {
        let (roles, is_authority) = (step.roles(), step.is_authority());
        let may_move = move |state: &S| is_authority || !state.is_never_predicted();
        self.iter_mut().filter(move |one| may_move(&*one.state) && roles.of(one.of) != Role::Proxy)
    }

    /// Sets the rows of everything, and removes the others.
    fn publish_all(&self, first: usize, rows: &mut Rows) {
        for (at, state) in self.states.iter().enumerate() {
            rows.set_from(first, self.at(at).of, state);
        }
        if !rows.has_count::<S>(first, self.len()) {
            let is_of = |key: RowKey| (first..first + S::COMPONENTS).contains(&usize::from(key.component.0));
            rows.retain(|key, _| !is_of(key) || self.entities.binary_search(&key.entity).is_ok());
        }
    }

    /// Takes out an entity of which the row is gone that made it one of this table; of another row its fields have their default.
    fn adopt_removal(&mut self, first: usize, key: RowKey, rows: &Rows) {
        let nth = usize::from(key.component.0).checked_sub(first).filter(|nth| *nth < S::COMPONENTS);
        let (Some(nth), Ok(at)) = (nth, self.entities.binary_search(&key.entity)) else { return };
        let is_needed = if S::IS_CHOICE { self.states[at].write(nth, &mut [0; ROW_WORDS_MAX]) } else { nth == 0 };
        if rows.words(key).is_some() {
            return;
        }
        if is_needed {
            self.remove(key.entity);
        } else if !S::IS_CHOICE {
            self.states[at].forget(nth);
            self.marks[at] = true;
        }
    }

    /// An entity is another player's by this row, which makes it one of this table: what is not told of it to who is told this is
    /// not known any more.
    fn forget_with_owner(&mut self, first: usize, row: Row<'_>, rows: &Rows) {
        let Ok(at) = self.entities.binary_search(&row.entity) else { return };
        if self.owners[at] == row.owner {
            return;
        }
        for (nth, component) in components::<S>(first).enumerate().skip(1) {
            if rows.words(RowKey { component, entity: row.entity }).is_none() {
                self.states[at].forget(nth);
            }
        }
    }

    /// Takes over rows; those that are not known count as changed where they are other ones.
    fn adopt_rows(&mut self, rows: &Rows, is_known: bool) {
        let first = rows.first_of::<S>();
        for row in rows.removed() {
            self.adopt_removal(first, row.key, rows);
        }
        for (nth, component) in components::<S>(first).enumerate() {
            let mut next = 0;
            let has_more = nth == 0 && S::COMPONENTS > 1 && !S::IS_CHOICE;
            for row in rows.component(component) {
                if has_more {
                    self.forget_with_owner(first, row, rows);
                }
                next = self.adopt_row(nth, row, next, is_known) + 1;
            }
        }
    }

    /// Whether an entity has this row already, of the nth component.
    fn is_row(&self, at: usize, nth: usize, row: Row<'_>) -> bool {
        let mut own = [0; ROW_WORDS_MAX];
        self.owners[at] == row.owner && self.states[at].write(nth, &mut own) && own[..row.words.len()] == *row.words
    }

    /// Takes over one row, which counts as changed where it is not known; where its entity is.
    fn adopt_row(&mut self, nth: usize, row: Row<'_>, next: usize, is_known: bool) -> usize {
        let found = self.find_from(next, row.entity);
        match found {
            Ok(at) => {
                // The other components are the new owner's, too, and of an enum another one is gone: nobody has said that.
                let says_more = S::IS_CHOICE || S::COMPONENTS > 1 && self.owners[at] != row.owner;
                self.marks[at] |= (!is_known || says_more) && !self.is_row(at, nth, row);
                self.states[at].adopt(nth, row.words);
                self.owners[at] = row.owner;
            }
            Err(_) => S::read(nth, row.words).into_iter().for_each(|state| self.insert(row.owned(), state)),
        }
        let (Ok(at) | Err(at)) = found;
        at
    }
}

impl<S: State + Clone> WorldPart for Table<S> {
    type Saved = SavedTable<S>;

    fn schema(schema: Schema) -> Schema {
        schema.with::<S>()
    }

    fn save(&self, into: &mut SavedTable<S>) {
        into.entities.clone_from(&self.entities);
        into.owners.clone_from(&self.owners);
        into.states.clone_from(&self.states);
    }

    fn load(&mut self, from: &SavedTable<S>) {
        self.entities.clone_from(&from.entities);
        self.owners.clone_from(&from.owners);
        self.states.clone_from(&from.states);
        self.mark_all(false);
    }

    fn take(&mut self, from: &mut SavedTable<S>) {
        core::mem::swap(&mut self.entities, &mut from.entities);
        core::mem::swap(&mut self.owners, &mut from.owners);
        core::mem::swap(&mut self.states, &mut from.states);
        self.mark_all(false);
    }

    fn publish(&mut self, rows: &mut Rows) {
        let first = rows.first_of::<S>();
        for entity in self.removed.drain(..) {
            if self.entities.binary_search(&entity).is_err() {
                components::<S>(first).for_each(|component| rows.remove(RowKey { component, entity }));
            }
        }
        // Most entities rest, which is seen of many at once.
        for start in (0..self.marks.len()).step_by(32) {
            let block = start..self.marks.len().min(start + 32);
            if self.marks[block.clone()].iter().fold(false, |any, mark| any | mark) {
                for at in block {
                    if core::mem::take(&mut self.marks[at]) {
                        rows.set_from(first, self.at(at).of, &self.states[at]);
                    }
                }
            }
        }
        if !rows.has_count::<S>(first, self.len()) {
            self.publish_all(first, rows);
        }
    }

    fn adopt(&mut self, rows: &Rows) {
        self.adopt_rows(rows, false);
    }

    fn adopt_known(&mut self, rows: &Rows) {
        self.adopt_rows(rows, true);
    }
}

/// The components of a type of state, of which the first is known.
fn components<S: State>(first: usize) -> impl Iterator<Item = ComponentId> {
    (first..first + S::COMPONENTS).map(ComponentId::nth)
}

/// What is saved of a table: all but its marks, as a state is saved when it has been published.
#[derive(Clone, Debug)]
pub struct SavedTable<S> {
    entities: Vec<Entity>,
    owners: Vec<PlayerId>,
    states: Vec<S>,
}

impl<S> Default for SavedTable<S> {
    fn default() -> SavedTable<S> {
        SavedTable { entities: Vec::new(), owners: Vec::new(), states: Vec::new() }
    }
}
