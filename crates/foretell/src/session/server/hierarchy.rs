//! Which entities are below others, by the fields that say so: to interest they are where the uppermost of those is that is somewhere.
//!
//! Invariant: a root is below nothing that is somewhere.

use crate::world::{Audience, ComponentId, ComponentSchema, Entity, Field, Meaning, RowKey, Rows, Schema};
use alloc::vec::Vec;

/// Who is below whom.
pub(super) struct Hierarchy {
    schema: Schema,
    /// The components that name a parent.
    naming: Vec<ComponentId>,
    /// Those that say to others than its owner where an entity is.
    placing: Vec<ComponentId>,
    /// Each that is below another with the uppermost, its root; ascending.
    by_child: Vec<(Entity, Entity)>,
    /// Roots with what is below them; ascending.
    by_root: Vec<(Entity, Entity)>,
}

/// How far up from one that names a parent is known.
#[derive(Clone, Copy)]
struct Way {
    child: Entity,
    /// The uppermost so far that is somewhere.
    root: Option<Entity>,
    /// Where the next of the ways begins; `None` at the end.
    above: Option<usize>,
}

impl Hierarchy {
    pub fn new(schema: &Schema) -> Hierarchy {
        let all = |meaning: Meaning, is: fn(&ComponentSchema) -> bool| {
            let of = |id: &ComponentId| schema.component(*id);
            schema.ids().filter(|id| of(id).nth(meaning, 0).is_some() && is(of(id))).collect()
        };
        Hierarchy {
            naming: all(Meaning::Parent, |_| true),
            placing: all(Meaning::Position, |of| of.audience() != Audience::Owner),
            schema: schema.clone(),
            by_child: Vec::new(),
            by_root: Vec::new(),
        }
    }

    /// Takes in what has changed in `rows`, of which some may have come or gone.
    pub fn note(&mut self, rows: &Rows, is_same_set: bool) {
        let names_parent = |key: &RowKey| self.naming.contains(&key.component);
        if self.naming.is_empty() || is_same_set && !rows.changed().iter().any(names_parent) {
            return;
        }
        let mut ways = self.ways(rows);
        // Each time all are followed twice as far: what comes to no end goes in a circle.
        for _ in 0..usize::BITS - ways.len().leading_zeros() {
            for nth in 0..ways.len() {
                let Some(above) = ways[nth].above.map(|above| ways[above]) else { continue };
                ways[nth] = Way { root: above.root.or(ways[nth].root), above: above.above, ..ways[nth] };
            }
        }
        let ended = ways.iter().filter(|way| way.above.is_none());
        let pairs = ended.filter_map(|way| Some((way.child, way.root.filter(|root| *root != way.child)?)));
        self.by_child.clear();
        self.by_child.extend(pairs);
        self.by_root.clear();
        self.by_root.extend(self.by_child.iter().map(|(child, root)| (*root, *child)));
        self.by_root.sort_unstable();
    }

    /// Of each that names a parent the way up to that; ascending.
    fn ways(&self, rows: &Rows) -> Vec<Way> {
        let children = self.naming.iter().flat_map(|component| rows.component(*component)).map(|row| row.entity);
        let mut named: Vec<_> = children.filter_map(|child| Some((child, self.parent(rows, child)?))).collect();
        named.sort_unstable();
        named.dedup();
        let there = |entity: Entity| self.is_somewhere(rows, entity).then_some(entity);
        let way = |(child, parent): &(Entity, Entity)| {
            let above = named.binary_search_by_key(parent, |(child, _)| *child).ok();
            let root = if above.is_none() { there(*parent) } else { None };
            Way { child: *child, root: root.or_else(|| there(*child)), above }
        };
        named.iter().map(way).collect()
    }

    /// The root of one by these rows, which may not be taken in yet.
    pub fn find_root(&self, rows: &Rows, child: Entity) -> Option<Entity> {
        let (mut at, mut root) = (child, None);
        // A longer way goes in a circle.
        let most: usize = self.naming.iter().map(|component| rows.component(*component).len()).sum();
        for _ in 0..=most {
            if self.is_somewhere(rows, at) {
                root = Some(at);
            }
            let Some(parent) = self.parent(rows, at) else { return root.filter(|root| *root != child) };
            at = parent;
        }
        None
    }

    fn is_somewhere(&self, rows: &Rows, entity: Entity) -> bool {
        self.placing.iter().any(|component| rows.words(RowKey { component: *component, entity }).is_some())
    }

    fn parent(&self, rows: &Rows, entity: Entity) -> Option<Entity> {
        self.naming.iter().find_map(|component| {
            let row = rows.words(RowKey { component: *component, entity })?;
            let (column, words) = self.schema.component(*component).field(Meaning::Parent, row)?;
            if column.lanes == 1 { Some(Entity::get(words)) } else { Field::get(words) }
        })
    }

    /// Whether nothing is below anything.
    pub fn are_none(&self) -> bool {
        self.by_child.is_empty()
    }

    /// Each that is below another, with its root.
    pub fn pairs(&self) -> impl Iterator<Item = (Entity, Entity)> {
        self.by_child.iter().copied()
    }

    /// The root of what is below another.
    pub fn root(&self, child: Entity) -> Option<Entity> {
        let at = self.by_child.binary_search_by_key(&child, |(child, _)| *child).ok()?;
        Some(self.by_child[at].1)
    }

    /// What is below a root.
    pub fn below(&self, root: Entity) -> impl Iterator<Item = Entity> {
        let first = self.by_root.partition_point(|(of, _)| *of < root);
        self.by_root[first..].iter().take_while(move |(of, _)| *of == root).map(|(_, child)| *child)
    }

    /// Where a root is.
    pub fn place(&self, rows: &Rows, root: Entity) -> Option<[f64; 3]> {
        self.placing.iter().find_map(|component| {
            let row = rows.words(RowKey { component: *component, entity: root })?;
            let (column, words) = self.schema.component(*component).field(Meaning::Position, row)?;
            Some(column.lanes(words))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Tick;
    use crate::world::{Owned, PlayerId};
    use foretell::State;
    use proptest::prelude::*;

    #[derive(State, Clone, Copy)]
    struct Place {
        #[state(position)]
        at: [f32; 1],
    }

    #[derive(State, Clone, Copy)]
    struct Below {
        #[state(parent)]
        of: Option<Entity>,
    }

    const COUNT: u16 = 10;

    fn entity(nth: u16) -> Entity {
        Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
    }

    fn of(nth: u16) -> Owned {
        Owned { entity: entity(nth), owner: PlayerId::SERVER }
    }

    /// By what each says alone: all that it is below, as long as that comes to an end.
    fn expected(said: &[(bool, Option<u16>)], child: u16) -> Option<u16> {
        let mut above = Vec::from([child]);
        while let Some(Some((_, Some(parent)))) = above.last().map(|last| said.get(usize::from(*last))) {
            if above.contains(parent) {
                return None;
            }
            above.push(*parent);
        }
        let is_somewhere = |nth: &&u16| said.get(usize::from(**nth)).is_some_and(|(is_somewhere, _)| *is_somewhere);
        above.iter().rfind(is_somewhere).copied().filter(|root| *root != child)
    }

    proptest! {
        /// Of parents some are not there, and some are below their children.
        #[test]
        fn what_is_below_others_has_the_uppermost_that_is_somewhere_as_its_root(
            states in prop::collection::vec(
                prop::collection::vec((any::<bool>(), prop::option::weighted(0.7, 0..COUNT + 2)), usize::from(COUNT)), 1..4,
            ),
        ) {
            let schema = Schema::of::<Place>().with::<Below>();
            let (mut hierarchy, mut rows) = (Hierarchy::new(&schema), Rows::new(&schema));
            for said in &states {
                for (nth, (is_somewhere, parent)) in (0..).zip(said) {
                    rows.remove(RowKey { component: ComponentId(0), entity: entity(nth) });
                    if *is_somewhere {
                        rows.set(of(nth), &Place { at: [f32::from(nth)] });
                    }
                    rows.set(of(nth), &Below { of: parent.map(entity) });
                }
                hierarchy.note(&rows, false);
                let all: Vec<_> = (0..COUNT).filter_map(|nth| Some((nth, expected(said, nth)?))).collect();
                for nth in 0..COUNT {
                    let root = all.iter().find(|(child, _)| *child == nth).map(|(_, root)| entity(*root));
                    prop_assert_eq!(hierarchy.root(entity(nth)), root);
                    prop_assert_eq!(hierarchy.find_root(&rows, entity(nth)), root);
                    let below = all.iter().filter(|(_, root)| *root == nth).map(|(child, _)| entity(*child));
                    prop_assert!(hierarchy.below(entity(nth)).eq(below));
                }
                for (_, root) in hierarchy.pairs() {
                    prop_assert_eq!(hierarchy.root(root), None, "a root has none");
                    prop_assert_eq!(hierarchy.place(&rows, root).map(|at| at[0]), Some(f64::from(root.counter())));
                }
                rows.settle();
            }
        }
    }

    /// One by one this would be fifty million ways.
    #[test]
    fn a_chain_and_a_circle_of_ten_thousand_are_followed_at_once() {
        const LONG: u16 = 10_000;
        let schema = Schema::of::<Place>().with::<Below>();
        let (mut hierarchy, mut rows) = (Hierarchy::new(&schema), Rows::new(&schema));
        for nth in 0..LONG {
            rows.set(of(nth), &Place { at: [0.0] });
            rows.set(of(nth), &Below { of: nth.checked_sub(1).map(entity) });
        }
        for _ in 0..100 {
            hierarchy.note(&rows, false);
        }
        assert!((1..LONG).all(|nth| hierarchy.root(entity(nth)) == Some(entity(0))));
        rows.set(of(0), &Below { of: Some(entity(LONG - 1)) });
        hierarchy.note(&rows, true);
        assert!(hierarchy.are_none(), "in a circle");
    }
}
