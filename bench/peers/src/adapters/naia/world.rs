//! A world for naia, which brings none: entities are numbers, and each has one body at most.

use foretell_crowd::Body;
use naia_shared::{
    ComponentFieldUpdate, ComponentKind, ComponentKinds, ComponentUpdate, EntityAndGlobalEntityConverter,
    GlobalWorldManagerType, LocalEntityAndGlobalEntityConverter, Property, ReplicaDynMut, ReplicaDynMutWrapper,
    ReplicaDynRef, ReplicaDynRefWrapper, ReplicaMutTrait, ReplicaMutWrapper, ReplicaRefTrait, ReplicaRefWrapper,
    Replicate, ReplicatedComponent, SerdeErr, WorldMutType, WorldRefType,
};

/// The component: three properties, each told as a whole where it has changed.
#[derive(Replicate)]
pub struct NetworkBody {
    pub position: Property<[f32; 3]>,
    pub rotation: Property<[f32; 4]>,
    pub velocity: Property<[f32; 3]>,
}

impl NetworkBody {
    /// One that is so.
    pub fn of(Body { position, rotation, velocity }: Body) -> NetworkBody {
        NetworkBody::new_complete(position, rotation, velocity)
    }

    /// As it is.
    pub fn body(&self) -> Body {
        Body { position: *self.position, rotation: *self.rotation, velocity: *self.velocity }
    }
}

/// What an entity has.
#[derive(Default)]
struct Slot {
    is_there: bool,
    body: Option<NetworkBody>,
}

/// A server's world, or a client's.
#[derive(Default)]
pub struct World {
    slots: Vec<Slot>,
}

impl World {
    /// All that there is.
    pub fn bodies(&self) -> impl Iterator<Item = Body> {
        self.slots.iter().filter_map(|slot| slot.body.as_ref()).map(NetworkBody::body)
    }

    fn body(&self, entity: u32) -> Option<&NetworkBody> {
        self.slots.get(entity as usize)?.body.as_ref()
    }

    fn body_mut(&mut self, entity: u32) -> Option<&mut NetworkBody> {
        self.slots.get_mut(entity as usize)?.body.as_mut()
    }
}

struct Shared<'a, R>(&'a R);

impl<R: Replicate> ReplicaRefTrait<R> for Shared<'_, R> {
    fn to_ref(&self) -> &R {
        self.0
    }
}

struct Exclusive<'a, R>(&'a mut R);

impl<R: Replicate> ReplicaRefTrait<R> for Exclusive<'_, R> {
    fn to_ref(&self) -> &R {
        self.0
    }
}

impl<R: Replicate> ReplicaMutTrait<R> for Exclusive<'_, R> {
    fn to_mut(&mut self) -> &mut R {
        self.0
    }
}

impl WorldRefType<u32> for &World {
    fn has_entity(&self, entity: &u32) -> bool {
        self.slots.get(*entity as usize).is_some_and(|slot| slot.is_there)
    }

    fn entities(&self) -> Vec<u32> {
        (0..).zip(&self.slots).filter(|(_, slot)| slot.is_there).map(|(entity, _)| entity).collect()
    }

    fn has_component<R: ReplicatedComponent>(&self, entity: &u32) -> bool {
        self.component::<R>(entity).is_some()
    }

    fn has_component_of_kind(&self, entity: &u32, kind: &ComponentKind) -> bool {
        self.component_of_kind(entity, kind).is_some()
    }

    fn component<R: ReplicatedComponent>(&self, entity: &u32) -> Option<ReplicaRefWrapper<'_, R>> {
        let body = self.body(*entity)?.to_any().downcast_ref::<R>()?;
        Some(ReplicaRefWrapper::new(Shared(body)))
    }

    fn component_of_kind(&self, entity: &u32, kind: &ComponentKind) -> Option<ReplicaDynRefWrapper<'_>> {
        let body = self.body(*entity).filter(|body| body.kind() == *kind)?;
        Some(ReplicaDynRefWrapper::new(ReplicaDynRef::new(body)))
    }
}

impl WorldRefType<u32> for &mut World {
    fn has_entity(&self, entity: &u32) -> bool {
        (&**self).has_entity(entity)
    }

    fn entities(&self) -> Vec<u32> {
        (&**self).entities()
    }

    fn has_component<R: ReplicatedComponent>(&self, entity: &u32) -> bool {
        (&**self).has_component::<R>(entity)
    }

    fn has_component_of_kind(&self, entity: &u32, kind: &ComponentKind) -> bool {
        (&**self).has_component_of_kind(entity, kind)
    }

    fn component<R: ReplicatedComponent>(&self, entity: &u32) -> Option<ReplicaRefWrapper<'_, R>> {
        let body = self.body(*entity)?.to_any().downcast_ref::<R>()?;
        Some(ReplicaRefWrapper::new(Shared(body)))
    }

    fn component_of_kind(&self, entity: &u32, kind: &ComponentKind) -> Option<ReplicaDynRefWrapper<'_>> {
        let body = self.body(*entity).filter(|body| body.kind() == *kind)?;
        Some(ReplicaDynRefWrapper::new(ReplicaDynRef::new(body)))
    }
}

/// What only clients with entities of their own need.
const NOT_HERE: &str = "only the server has entities";

impl WorldMutType<u32> for &mut World {
    fn spawn_entity(&mut self) -> u32 {
        self.slots.push(Slot { is_there: true, body: None });
        u32::try_from(self.slots.len() - 1).expect("a crowd is small")
    }

    fn local_duplicate_entity(&mut self, _: &u32) -> u32 {
        unreachable!("{NOT_HERE}")
    }

    fn local_duplicate_components(&mut self, _: &u32, _: &u32) {
        unreachable!("{NOT_HERE}")
    }

    fn despawn_entity(&mut self, entity: &u32) {
        self.slots[*entity as usize] = Slot::default();
    }

    fn component_kinds(&mut self, entity: &u32) -> Vec<ComponentKind> {
        self.body(*entity).map(Replicate::kind).into_iter().collect()
    }

    fn component_mut<R: ReplicatedComponent>(&mut self, entity: &u32) -> Option<ReplicaMutWrapper<'_, R>> {
        let body = self.body_mut(*entity)?.to_any_mut().downcast_mut::<R>()?;
        Some(ReplicaMutWrapper::new(Exclusive(body)))
    }

    fn component_mut_of_kind(&mut self, entity: &u32, kind: &ComponentKind) -> Option<ReplicaDynMutWrapper<'_>> {
        let body = self.body_mut(*entity).filter(|body| body.kind() == *kind)?;
        Some(ReplicaDynMutWrapper::new(ReplicaDynMut::new(body)))
    }

    fn component_apply_update(
        &mut self,
        converter: &dyn LocalEntityAndGlobalEntityConverter,
        entity: &u32,
        _: &ComponentKind,
        update: ComponentUpdate,
    ) -> Result<(), SerdeErr> {
        self.body_mut(*entity).map_or(Ok(()), |body| body.read_apply_update(converter, update))
    }

    fn component_apply_field_update(
        &mut self,
        converter: &dyn LocalEntityAndGlobalEntityConverter,
        entity: &u32,
        _: &ComponentKind,
        update: ComponentFieldUpdate,
    ) -> Result<(), SerdeErr> {
        self.body_mut(*entity).map_or(Ok(()), |body| body.read_apply_field_update(converter, update))
    }

    fn mirror_entities(&mut self, _: &u32, _: &u32) {
        unreachable!("{NOT_HERE}")
    }

    fn mirror_components(&mut self, _: &u32, _: &u32, _: &ComponentKind) {
        unreachable!("{NOT_HERE}")
    }

    fn insert_component<R: ReplicatedComponent>(&mut self, entity: &u32, component: R) {
        self.insert_boxed_component(entity, Box::new(component));
    }

    fn insert_boxed_component(&mut self, entity: &u32, component: Box<dyn Replicate>) {
        let body = component.to_boxed_any().downcast::<NetworkBody>().expect("there is one kind");
        self.slots[*entity as usize].body = Some(*body);
    }

    fn remove_component<R: ReplicatedComponent>(&mut self, entity: &u32) -> Option<R> {
        let body = self.slots[*entity as usize].body.take()?;
        Box::new(body).to_boxed_any().downcast().ok().map(|body| *body)
    }

    fn remove_component_of_kind(&mut self, entity: &u32, _: &ComponentKind) -> Option<Box<dyn Replicate>> {
        let body = self.slots[*entity as usize].body.take()?;
        Some(Box::new(body))
    }

    fn entity_publish(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<u32>,
        _: &dyn GlobalWorldManagerType,
        _: &u32,
    ) {
        unreachable!("{NOT_HERE}")
    }

    fn component_publish(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<u32>,
        _: &dyn GlobalWorldManagerType,
        _: &u32,
        _: &ComponentKind,
    ) {
        unreachable!("{NOT_HERE}")
    }

    fn entity_unpublish(&mut self, _: &u32) {
        unreachable!("{NOT_HERE}")
    }

    fn component_unpublish(&mut self, _: &u32, _: &ComponentKind) {
        unreachable!("{NOT_HERE}")
    }

    fn entity_enable_delegation(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<u32>,
        _: &dyn GlobalWorldManagerType,
        _: &u32,
    ) {
        unreachable!("{NOT_HERE}")
    }

    fn component_enable_delegation(
        &mut self,
        _: &ComponentKinds,
        _: &dyn EntityAndGlobalEntityConverter<u32>,
        _: &dyn GlobalWorldManagerType,
        _: &u32,
        _: &ComponentKind,
    ) {
        unreachable!("{NOT_HERE}")
    }

    fn entity_disable_delegation(&mut self, _: &u32) {
        unreachable!("{NOT_HERE}")
    }

    fn component_disable_delegation(&mut self, _: &u32, _: &ComponentKind) {
        unreachable!("{NOT_HERE}")
    }
}
