//! What has come of the steps of a world that others are compared with.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use foretell::time::Tick;
use foretell::world::{Effect, Entity, Owned, RewindMoment, Rows, Step};

/// The rows of all states from the first on, and what the steps between them have said.
pub(super) struct Truth {
    begins: Tick,
    rows: Vec<Rows>,
    said: Vec<Said>,
}

impl Truth {
    /// Of steps from the state `begins` on, which has these rows.
    pub(super) fn new(begins: Tick, rows: Rows) -> Truth {
        Truth { begins, rows: vec![rows], said: Vec::new() }
    }

    /// What follows the newest state.
    pub(super) fn push(&mut self, rows: &Rows, said: Said) {
        self.rows.push(rows.clone());
        self.said.push(said);
    }

    /// The rows of the state `tick`.
    pub(super) fn rows(&self, tick: Tick) -> &Rows {
        &self.rows[tick.since(self.begins) as usize]
    }

    /// What the step of `tick` has said.
    pub(super) fn said(&self, tick: Tick) -> &Said {
        &self.said[tick.since(self.begins) as usize]
    }

    /// The rows of the state `tick` alone.
    pub(super) fn into_rows(mut self, tick: Tick) -> Rows {
        self.rows.swap_remove(tick.since(self.begins) as usize)
    }
}

/// What a step has said besides the state.
#[derive(PartialEq)]
pub(super) struct Said {
    effects: Vec<Effect>,
    hits: Vec<(RewindMoment, Owned)>,
}

/// What one of two steps has said, and the other has not.
pub(super) struct Unsaid {
    pub entity: Entity,
    pub what: String,
}

impl Said {
    pub(super) fn by<I>(step: &Step<'_, I>) -> Said {
        Said { effects: step.effects().to_vec(), hits: step.hits().collect() }
    }

    /// The first thing that one of the two steps says, and the other does not.
    pub(super) fn difference(&self, then: &Said) -> Option<Unsaid> {
        let one_sided = |of: &Said, other: &Said, when: &str| {
            let effect = of.effects.iter().find(|effect| !other.effects.contains(effect)).map(|effect| {
                let Effect { entity, kind, at, .. } = *effect;
                let place = at.map(|at| format!(" at {at:?}")).unwrap_or_default();
                Unsaid { entity, what: format!("effect {} of {entity}{place} happens {when} alone", kind.0) }
            });
            effect.or_else(|| {
                let (rewind, victim) = of.hits.iter().find(|hit| !other.hits.contains(hit))?;
                let (entity, player) = (victim.entity, rewind.player);
                let what = format!("a hit of {player} on {entity} is said {when} alone, judged by {:?}", rewind.used);
                Some(Unsaid { entity, what })
            })
        };
        one_sided(self, then, "at first").or_else(|| one_sided(then, self, "then"))
    }
}
