//! What the derives write calls of. Not for games.

/// Saves a field of a world that is no table.
pub fn save<T: Clone>(field: &T, saved: &mut Option<T>) {
    match saved {
        Some(saved) => saved.clone_from(field),
        None => *saved = Some(field.clone()),
    }
}

/// Goes back to what was saved.
pub fn load<T: Clone>(field: &mut T, saved: &Option<T>) {
    if let Some(saved) = saved {
        field.clone_from(saved);
    }
}
