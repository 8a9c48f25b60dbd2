//! The schema: all components of a game, and the types of state that they are of.

use super::{Audience, ComponentId, ComponentSchema, RowKey, State};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::TypeId;
use core::hash::{Hash, Hasher};

/// All components of a game, by [`ComponentId`], with the types of state that they are of. Both ends must have the same
/// one. A world that is derived has its own: `World::schema`.
///
/// ```
/// # use foretell::{Schema, State};
/// # #[derive(State, Clone, Copy)]
/// # struct Cube { #[state(position)] at: [f32; 3] }
/// # #[derive(State, Clone, Copy)]
/// # struct Score { points: u32 }
/// let schema = Schema::of::<Cube>().with::<Score>();
/// assert_eq!(schema.components()[1].name(), "Score");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Schema(Arc<Parts>);

/// What a schema is made of; its clones share it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Parts {
    components: Vec<ComponentSchema>,
    /// Of each component.
    types: Vec<TypeOfState>,
}

/// The type of state that a component is of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TypeOfState {
    pub of: TypeId,
    /// The place of its first component.
    pub first: usize,
    pub is_choice: bool,
}

/// Types have other hashes on each platform, and are no part of what both ends have to agree on.
impl Hash for Schema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.components.hash(state);
    }
}

impl Schema {
    /// The components of one type of state.
    pub fn of<S: State>() -> Schema {
        Schema::default().with::<S>()
    }

    /// The same, and after them those of another type of state.
    ///
    /// # Panics
    /// When the type is there already, or there would be more than 256 components.
    #[must_use]
    pub fn with<S: State>(mut self) -> Schema {
        let (first, name) = (self.0.components.len(), core::any::type_name::<S>());
        let of = TypeId::of::<S>();
        assert!(
            self.first_of::<S>().is_none(),
            "{name} stands twice in the schema: give the second table a type of its own"
        );
        let parts = Arc::make_mut(&mut self.0);
        parts.components.extend(S::components());
        parts.types.resize(parts.components.len(), TypeOfState { of, first, is_choice: S::IS_CHOICE });
        assert!(parts.components.len() <= 256, "a schema has at most 256 components");
        self
    }

    /// The same, with a bound for how fast a client may move entities with the components of `S` while it has authority over
    /// them: `mps` m/s, in steps of 1 mm/s, above 0. What is faster the server holds back.
    ///
    /// # Panics
    /// When the schema has no such type of state, or the bound is not above 0.
    #[must_use]
    pub fn with_speed_max<S: State>(mut self, mps: f64) -> Schema {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and is checked")]
        let speed_max_mm_s = (mps * 1000.0) as u32;
        assert!(speed_max_mm_s > 0, "a bound is above 0");
        let first = self.first_of::<S>().expect("a bound is of a type of state in the schema");
        for component in &mut Arc::make_mut(&mut self.0).components[first..first + S::COMPONENTS] {
            component.speed_max_mm_s = speed_max_mm_s;
        }
        self
    }

    /// The place of the first component of a type of state.
    pub(crate) fn first_of<S: State>(&self) -> Option<usize> {
        self.0.types.iter().find(|known| known.of == TypeId::of::<S>()).map(|known| known.first)
    }

    /// The components of a type of state; none where the schema does not have it.
    pub(crate) fn components_of<S: State>(&self) -> impl Iterator<Item = ComponentId> + use<S> {
        let first = self.first_of::<S>();
        first.into_iter().flat_map(|first| (first..first + S::COMPONENTS).map(ComponentId::nth))
    }

    /// Whether a component makes an entity one of its type of state: the first of a struct, each of an enum.
    pub(crate) fn is_first(&self, component: ComponentId) -> bool {
        let known = self.type_of(component);
        known.is_none_or(|known| known.is_choice || known.first == usize::from(component.0))
    }

    /// The first component of the state that a component belongs to.
    pub(crate) fn first_in_state(&self, component: ComponentId) -> ComponentId {
        let known = self.type_of(component).filter(|known| !known.is_choice);
        known.map_or(component, |known| ComponentId::nth(known.first))
    }

    /// The components of the same state besides its first one; none of an enum, where each is a first one.
    pub(crate) fn rest_of(&self, first: ComponentId) -> impl Iterator<Item = ComponentId> {
        let rest = usize::from(first.0) + 1..self.0.components.len();
        rest.map(ComponentId::nth).take_while(|component| !self.is_first(*component))
    }

    /// A row, and if it is the first of its state the others of that: they are nothing without it.
    pub(crate) fn nothing_without(&self, key: RowKey) -> impl Iterator<Item = RowKey> {
        let rest = Some(key.component).filter(|first| self.is_first(*first));
        let rest = rest.into_iter().flat_map(|first| self.rest_of(first));
        core::iter::once(key).chain(rest.map(move |component| RowKey { component, ..key }))
    }

    /// The rows of the other variants of an enum, of which an entity has one at a time; none of a struct.
    pub(crate) fn other_variants(&self, key: RowKey) -> impl Iterator<Item = RowKey> {
        let known = self.type_of(key.component).filter(|known| known.is_choice);
        let of_enum = known.into_iter().flat_map(|known| {
            let types = self.0.types.iter().enumerate().skip(known.first);
            types.take_while(move |(_, other)| other.of == known.of).map(|(nth, _)| ComponentId::nth(nth))
        });
        of_enum.filter(move |component| *component != key.component).map(move |component| RowKey { component, ..key })
    }

    /// Whether a step finds a component in the past: others than its owner are told it, and its type of state has a position or rotation.
    pub(crate) fn is_in_past(&self, component: ComponentId) -> bool {
        let first = |id| self.type_of(id).map(|of| of.first);
        // They stand side by side.
        let of_state = self.ids().skip(first(component).unwrap_or(0));
        let mut of_state = of_state.take_while(|other| first(*other) == first(component));
        self.component(component).audience() != Audience::Owner
            && of_state.any(|other| self.component(other).has_pose())
    }

    /// The names of its components, in order.
    pub fn ids(&self) -> impl Iterator<Item = ComponentId> + use<> {
        (0..self.0.components.len()).map(ComponentId::nth)
    }

    /// The components in order.
    pub fn components(&self) -> &[ComponentSchema] {
        &self.0.components
    }

    /// The description of one component.
    ///
    /// # Panics
    /// When the schema has no such component.
    pub fn component(&self, component: ComponentId) -> &ComponentSchema {
        &self.0.components[usize::from(component.0)]
    }

    /// The type of state that a component is of.
    pub(crate) fn type_of(&self, component: ComponentId) -> Option<TypeOfState> {
        self.0.types.get(usize::from(component.0)).copied()
    }
}
