//! A small world for the tests of this module: marbles that their players push.

use crate::{Entity, Input, Owned, PlayerId, Rows, Simulate, State, Step, Table, Tick, World};

pub(super) const ME: PlayerId = PlayerId::new(1);
pub(super) const THEM: PlayerId = PlayerId::new(2);
pub(super) const MINE: Owned = Owned { entity: Entity::new(ME, Tick::ZERO, 0), owner: ME };
pub(super) const THEIRS: Owned = Owned { entity: Entity::new(THEM, Tick::ZERO, 0), owner: THEM };

#[derive(Input, Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Push {
    pub force: i32,
}

impl Push {
    pub(super) const fn of(force: i32) -> Push {
        Push { force }
    }
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
pub(super) struct Marble {
    pub at: i32,
}

/// Marbles go as far as their owners push them, and one farther for each that nobody here moves. One that goes below zero is
/// gone.
#[derive(World, Clone, Default)]
pub(super) struct Marbles {
    pub marbles: Table<Marble>,
}

impl Simulate for Marbles {
    type Input = Push;

    fn step(&mut self, step: &mut Step<'_, Push>) {
        let all = i32::try_from(self.marbles.len()).unwrap_or(0);
        let moved = i32::try_from(self.marbles.simulated(step).count()).unwrap_or(0);
        for mut marble in self.marbles.simulated(step) {
            let force = step.input(marble.owner()).map_or(0, |input| input.input.force);
            marble.at += force + all - moved;
        }
        self.marbles.retain(|marble| marble.at >= 0);
    }
}

/// Rows of these marbles.
pub(super) fn rows(marbles: &[(Owned, i32)]) -> Rows {
    let mut rows = Rows::new(&Marbles::schema());
    marbles.iter().for_each(|(of, at)| rows.set(*of, &Marble { at: *at }));
    rows
}

/// Where the marbles are that these rows are of.
pub(super) fn places(rows: &Rows) -> alloc::vec::Vec<(Owned, i32)> {
    rows.states::<Marble>().map(|(of, marble)| (of, marble.at)).collect()
}
