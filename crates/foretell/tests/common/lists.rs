//! Worlds that are a list of entities with their states, ascending: how they are published and adopted.

use foretell::{Entity, Rows, State};

pub fn publish<S: State>(all: &[(Entity, S)], rows: &mut Rows) {
    rows.retain(|entity| all.iter().any(|(known, _)| *known == entity));
    all.iter().for_each(|(entity, state)| rows.set(*entity, state));
}

pub fn adopt<S: State>(all: &mut Vec<(Entity, S)>, rows: &Rows) {
    all.retain(|(entity, _)| !rows.removed().contains(entity) && rows.words(*entity).is_none());
    all.extend(rows.states::<S>());
    all.sort_unstable_by_key(|(entity, _)| *entity);
}
