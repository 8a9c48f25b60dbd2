//! An entity of a table, to look at and to change.

use super::{Entity, Owned, PlayerId};
use core::ops::{Deref, DerefMut};

/// An entity of a table.
#[derive(Debug)]
pub struct Ref<'a, S> {
    pub(super) of: Owned,
    pub(super) state: &'a S,
}

/// An entity of a table, to be changed: it counts as changed as soon as it is written to.
#[derive(Debug)]
pub struct Mut<'a, S> {
    pub(super) of: Owned,
    pub(super) state: &'a mut S,
    pub(super) mark: &'a mut bool,
}

impl<'a, S> Ref<'a, S> {
    /// Its name.
    pub fn entity(&self) -> Entity {
        self.of.entity
    }

    /// Whose it is.
    pub fn owner(&self) -> PlayerId {
        self.of.owner
    }

    /// Both.
    pub fn owned(&self) -> Owned {
        self.of
    }

    /// Its state.
    pub fn into_inner(self) -> &'a S {
        self.state
    }
}

impl<'a, S> Mut<'a, S> {
    /// Its name.
    pub fn entity(&self) -> Entity {
        self.of.entity
    }

    /// Whose it is.
    pub fn owner(&self) -> PlayerId {
        self.of.owner
    }

    /// Both.
    pub fn owned(&self) -> Owned {
        self.of
    }

    /// Its state, which counts as changed.
    pub fn into_inner(self) -> &'a mut S {
        *self.mark = true;
        self.state
    }
}

impl<S> Deref for Ref<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state
    }
}

impl<S> Deref for Mut<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.state
    }
}

impl<S> DerefMut for Mut<'_, S> {
    fn deref_mut(&mut self) -> &mut S {
        *self.mark = true;
        self.state
    }
}
