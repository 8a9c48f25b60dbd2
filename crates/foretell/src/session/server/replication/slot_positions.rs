//! Where the entities of a state are; made once for all clients.

use super::entity_grid::position;
use super::slot_set::{BLOCK, block};
use crate::session::server::authoritative_state::AuthoritativeState;
use crate::time::Tick;
use crate::world::{Audience, ComponentId, Entity, Meaning, RowKey};
use alloc::vec::Vec;

/// Where the entities of a state are, by the numbers of their rows; made once for all clients.
#[derive(Default)]
pub(super) struct SlotPositions {
    of: Option<Tick>,
    /// Along each axis, in whole blocks; not a number for what is nowhere.
    axes: [Vec<f64>; 3],
}

impl SlotPositions {
    /// Becomes those of the state of `tick`, if it is not that already.
    pub(super) fn update(&mut self, state: &AuthoritativeState, tick: Tick) {
        if self.of.replace(tick) == Some(tick) {
            return;
        }
        let versions = state.versions();
        for axis in &mut self.axes {
            axis.clear();
            axis.resize(versions.slots().next_multiple_of(BLOCK as usize), f64::NAN);
        }
        let (schema, mut version_of) = (state.schema(), versions.versions().iter());
        for id in schema.ids() {
            let component = schema.component(id);
            let of_position = component.nth(Meaning::Position, 0);
            for (row, version) in state.rows().component(id).zip(&mut version_of) {
                // What only its owner sees is told exactly.
                if component.audience() == Audience::Owner {
                    continue;
                }
                // A component without a position is where the others of its entity are.
                let at = match of_position {
                    Some((first, column)) => Some(column.lanes(&row.words[first..])),
                    None => known_position(state, row.entity),
                };
                let Some(at) = at else { continue };
                self.axes.iter_mut().zip(at).for_each(|(axis, at)| axis[version.slot as usize] = at);
            }
        }
        // What is below another is where that is, with all of its components.
        for (child, root) in state.hierarchy().pairs() {
            let Some(at) = state.hierarchy().place(state.rows(), root) else { continue };
            for version in state.rows().of(child).filter_map(|row| versions.get(row.key())) {
                self.axes.iter_mut().zip(at).for_each(|(axis, at)| axis[version.slot as usize] = at);
            }
        }
    }

    /// Where the entity of a row is; not a number where it is nowhere.
    pub(super) fn at(&self, slot: u32) -> [f64; 3] {
        [0, 1, 2].map(|axis| self.axes[axis][slot as usize])
    }

    /// Along each axis where those of a block are.
    #[inline]
    pub(super) fn block(&self, first: u32) -> [&[f64; BLOCK as usize]; 3] {
        [0, 1, 2].map(|axis| block(&self.axes[axis], first))
    }
}

/// Where an entity is by one of its components, if all others may know that: how often something is told tells of it.
fn known_position(state: &AuthoritativeState, entity: Entity) -> Option<[f64; 3]> {
    let schema = state.schema();
    let is_known = |id: &ComponentId| {
        let component = schema.component(*id);
        component.audience().includes_others() && component.nth(Meaning::Position, 0).is_some()
    };
    let mut rows = schema.ids().filter(is_known).filter_map(|component| state.rows().get(RowKey { component, entity }));
    rows.find_map(|row| position(schema, row))
}
