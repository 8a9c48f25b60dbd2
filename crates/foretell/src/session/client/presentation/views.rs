//! All that is shown at one instant, kept by the caller from frame to frame.

use super::playout_reader::PlayoutReader;
use super::view::View;
use crate::motion::VisualOffset;
use crate::rollback::FoundChanges;
use crate::session::curves::PoseSource;
use crate::world::{Audience, ComponentId, Entity, PlayerId, ROW_WORDS_MAX, Row, RowKey, Rows, Schema};
use alloc::vec::Vec;
use core::cmp::Ordering;
use core::ops::Range;

/// Every entity as it is to be drawn, filled by [`Client::present`](crate::Client::present) or [`Host::present`](crate::Host::present): to go through, to index, to
/// find an entity in, to sort. It borrows nothing of the client. Make one, and keep it: its memory is used again in each frame.
///
/// ```
/// use foretell::{Client, Instant, Views, World};
///
/// fn draw<W: World>(client: &Client<W>, now: Instant, views: &mut Views) {
///     client.present(now, views);
///     for view in views.iter() {
///         println!("draw {} at {:?}", view.entity, view.pose().position);
///     }
/// }
/// ```
///
/// The predicted entities come first, then the others, and a host's all together; each group by component and then by entity, ascending, until they are
/// [sorted](Views::sort_by). An entity of several tables has as many views.
#[derive(Clone, Debug, Default)]
pub struct Views {
    schema: Schema,
    /// In runs of one component, each ascending by entity.
    shown: Vec<Shown>,
    /// Where each run begins in `shown`, ascending.
    runs: Vec<usize>,
    /// Of each view the row of its first component at the shown instant, and behind it the other components of the same state,
    /// each with its number before its words.
    words: Vec<u32>,
    /// Places in `shown`, as they were sorted; empty where they were not.
    order: Vec<u32>,
    /// The other components of the states that are pushed.
    rest: Vec<Rest>,
}

/// A component of a state besides its first one.
#[derive(Clone, Copy, Debug)]
struct Rest {
    component: ComponentId,
    /// Where the row of the next entity mostly is.
    next: usize,
}

/// Where the other components of a state stand.
#[derive(Clone, Copy)]
pub(super) struct RestOfStates<'a> {
    /// Of what is predicted.
    pub rows: Option<&'a Rows>,
    /// Of others; and of what is predicted, of components that are for a group.
    pub told: Option<&'a PlayoutReader<'a>>,
    /// What of others was changed here, ahead of the authority.
    pub changes: Option<FoundChanges<'a>>,
}

impl<'a> RestOfStates<'a> {
    /// Adds a row with the number of its component before it, if it is there. It is mostly at `next`, and that becomes where the one after it
    /// is.
    fn push(&self, key: RowKey, schema: &Schema, next: &mut usize, into: &mut Vec<u32>) {
        let push = |row: Row<'_>| {
            into.push(key.component.0.into());
            into.extend_from_slice(row.words);
        };
        let Some(rows) = self.rows else {
            let told = self.told.and_then(|told| told.get_near(key, next));
            let Some(found) = self.changes.and_then(|changes| changes.get(key)) else {
                return told.into_iter().for_each(push);
            };
            let mut words = [0; ROW_WORDS_MAX];
            return found.over(told.map(|row| row.words), &mut words).into_iter().for_each(push);
        };
        let is_of_group = || matches!(schema.component(key.component).audience(), Audience::Group(_));
        let told = || self.told.filter(|_| is_of_group())?.get(key);
        rows.get_near(key, next).or_else(told).into_iter().for_each(push);
    }
}

/// A view without its rows.
#[derive(Clone, Copy, Debug)]
struct Shown {
    entity: Entity,
    owner: PlayerId,
    component: ComponentId,
    source: PoseSource,
    offset: VisualOffset,
    /// Where its row begins in `words`.
    row: usize,
    /// Where the rest of its state begins; it ends where the row of the next one begins.
    rest: usize,
}

impl Views {
    /// None yet.
    pub fn new() -> Views {
        Views::default()
    }

    /// How many views there are.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether there are none: nothing is shown, or the client is not playing.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// The view at this place, from 0 to, but without, [`len`](Views::len).
    #[inline]
    pub fn nth(&self, place: usize) -> Option<View<'_>> {
        let place = self.order.get(place).map_or(place, |nth| *nth as usize);
        (place < self.shown.len()).then(|| self.view(place))
    }

    /// The views in their order.
    pub fn iter(&self) -> ViewsIter<'_> {
        ViewsIter { views: self, places: 0..self.len() }
    }

    /// The view of an entity; the first one of an entity of several tables.
    pub fn get(&self, entity: Entity) -> Option<View<'_>> {
        self.of(entity).next()
    }

    /// The views of an entity: one for each table that it is in.
    pub fn of(&self, entity: Entity) -> impl Iterator<Item = View<'_>> {
        let ends = self.runs.iter().skip(1).copied().chain([self.shown.len()]);
        let runs = self.runs.iter().copied().zip(ends);
        runs.filter_map(move |(start, end)| {
            let found = self.shown[start..end].binary_search_by_key(&entity, |shown| shown.entity);
            found.ok().map(|nth| self.view(start + nth))
        })
    }

    /// Sorts them, for who draws what is far first. What is equal comes in any order.
    pub fn sort_by(&mut self, mut compare: impl FnMut(&View<'_>, &View<'_>) -> Ordering) {
        let mut order = core::mem::take(&mut self.order);
        order.clear();
        order.extend((0..self.shown.len()).map(|nth| u32::try_from(nth).unwrap_or(u32::MAX)));
        order.sort_unstable_by(|a, b| compare(&self.view(*a as usize), &self.view(*b as usize)));
        self.order = order;
    }

    #[inline]
    fn view(&self, nth: usize) -> View<'_> {
        let Shown { entity, owner, component, source, offset, row, rest } = self.shown[nth];
        let end = self.shown.get(nth + 1).map_or(self.words.len(), |next| next.row);
        let (row, rest) = (&self.words[row..rest], &self.words[rest..end]);
        View { entity, owner, source, offset, schema: &self.schema, component, row, rest }
    }

    /// Forgets all of them, and keeps the memory.
    pub(crate) fn clear(&mut self, schema: &Schema) {
        self.schema.clone_from(schema);
        self.shown.clear();
        self.runs.clear();
        self.words.clear();
        self.order.clear();
    }

    /// From here on rows of this component are pushed, ascending by entity.
    pub(super) fn begin(&mut self, component: ComponentId) {
        self.runs.push(self.shown.len());
        self.rest.clear();
        self.rest.extend(self.schema.rest_of(component).map(|component| Rest { component, next: 0 }));
    }

    /// One more: an entity whose first row is `row` at the shown instant, with the rest of its state.
    #[inline]
    pub(super) fn push(&mut self, row: Row<'_>, source: PoseSource, offset: VisualOffset, of: RestOfStates<'_>) {
        let Row { component, entity, owner, words } = row;
        let start = self.words.len();
        self.words.extend_from_slice(words);
        let rest = self.words.len();
        self.shown.push(Shown { entity, owner, component, source, offset, row: start, rest });
        for Rest { component, next } in &mut self.rest {
            of.push(RowKey { component: *component, entity }, &self.schema, next, &mut self.words);
        }
    }
}

impl<'a> IntoIterator for &'a Views {
    type Item = View<'a>;
    type IntoIter = ViewsIter<'a>;

    fn into_iter(self) -> ViewsIter<'a> {
        self.iter()
    }
}

/// The views in their order.
#[derive(Clone, Debug)]
pub struct ViewsIter<'a> {
    views: &'a Views,
    places: Range<usize>,
}

impl<'a> Iterator for ViewsIter<'a> {
    type Item = View<'a>;

    #[inline]
    fn next(&mut self) -> Option<View<'a>> {
        self.places.next().and_then(|place| self.views.nth(place))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl DoubleEndedIterator for ViewsIter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.places.next_back().and_then(|place| self.views.nth(place))
    }
}

impl ExactSizeIterator for ViewsIter<'_> {}
