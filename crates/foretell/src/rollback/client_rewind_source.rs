//! Others as a client's step finds them: what its player sees when the step's input is made, and when it is simulated again.

use crate::world::{
    AnyRow, ComponentId, Owned, PredictionSet, RewindMoment, RewindSource, Row, RowKey, Rows, Schema, copy,
};

/// The rows of others that were written before a step, and of those that are predicted the rows of the state before it: both are what
/// is drawn then, wherever the point.
pub(super) struct ClientRewindSource<'a> {
    pub proxies: &'a Rows,
    /// What the world has published.
    pub published: &'a Rows,
    pub predicted: &'a PredictionSet,
    pub schema: &'a Schema,
}

impl<'a> ClientRewindSource<'a> {
    /// A row of the world's that is predicted.
    fn predicted(&self, component: ComponentId, place: usize) -> Option<Row<'a>> {
        let row = self.published.component_row(component, place)?;
        let is_predicted = self.predicted.contains(row.owned()) && self.proxies.words(row.key()).is_none();
        is_predicted.then_some(row)
    }
}

impl RewindSource for ClientRewindSource<'_> {
    fn schema(&self) -> &Schema {
        self.schema
    }

    fn count(&self, component: ComponentId) -> usize {
        self.proxies.component(component).len() + self.published.component(component).len()
    }

    fn find(&self, key: RowKey) -> Option<usize> {
        let of_predicted =
            || Some(self.proxies.component(key.component).len() + self.published.place_in_component(key)?);
        self.proxies.place_in_component(key).or_else(of_predicted)
    }

    fn draw(&self, component: ComponentId, nth: usize, _by: &RewindMoment, into: &mut AnyRow) -> Option<Owned> {
        let proxies = self.proxies.component(component).len();
        let of_predicted = || self.predicted(component, nth - proxies);
        let row = self.proxies.component_row(component, nth).or_else(of_predicted)?;
        Some(copy(row, into))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::{ME, MINE, Marbles, THEIRS};
    use crate::time::{Tick, TickRate};
    use crate::world::{Entity, PastState, PlayerId, Rewound, Side, Simulate, Step};
    use alloc::vec::Vec;
    use foretell::State;

    #[derive(State, Clone, Copy)]
    struct Runner {
        #[state(position)]
        x: [f32; 1],
        #[state(audience = owner)]
        ammo: u8,
    }

    /// Has no place.
    #[derive(State, Clone, Copy)]
    struct Shield(u8);

    fn schema() -> Schema {
        Schema::of::<Runner>().with::<Shield>()
    }

    fn rows(runners: &[(Owned, f32)]) -> Rows {
        let mut rows = Rows::new(&schema());
        for (of, x) in runners {
            rows.set(*of, &Runner { x: [*x], ammo: 9 });
            rows.set(*of, &Shield(3));
        }
        rows
    }

    /// Looks at a past as a player.
    fn looking<T>(past: &dyn RewindSource, player: PlayerId, look: impl FnOnce(Rewound<'_>) -> T) -> T {
        let step = Step::<<Marbles as Simulate>::Input>::new(Tick::new(3), TickRate::default(), Side::Client(ME), &[]);
        look(step.looking_back(past, &[]).rewound(player))
    }

    fn seen(player: PlayerId, predicted: &PredictionSet) -> Vec<(Owned, f32)> {
        let (proxies, published) = (rows(&[(THEIRS, 5.0)]), rows(&[(MINE, 1.0), (THEIRS, 9.0)]));
        let schema = schema();
        let others = ClientRewindSource { proxies: &proxies, published: &published, predicted, schema: &schema };
        looking(&others, player, |past| {
            assert_eq!(past.rewind(), RewindMoment::trusted(player, None, Tick::new(3)));
            let found: Vec<_> = past.states::<Runner>().map(|(of, runner)| (of, runner.x[0])).collect();
            let of = |entity: Entity| past.get::<Runner>(entity).map(|runner| runner.x[0]);
            assert!(found.iter().all(|(owned, x)| of(owned.entity) == Some(*x)));
            found
        })
    }

    #[test]
    fn a_step_finds_others_where_they_are_shown_and_never_what_is_the_players_own() {
        assert_eq!(seen(ME, &PredictionSet::own(ME)), [(THEIRS, 5.0)]);
        // Of another player whose input it knows it finds what is there for the one who plays.
        assert_eq!(seen(THEIRS.owner, &PredictionSet::own(ME)), [(MINE, 1.0)]);
    }

    #[test]
    fn a_step_finds_no_more_on_a_client_and_by_itself_than_on_a_server_that_looks_back() {
        let (proxies, published, schema) = (rows(&[(THEIRS, 5.0)]), rows(&[(MINE, 1.0)]), schema());
        let predicted = &PredictionSet::own(ME);
        let others = ClientRewindSource { proxies: &proxies, published: &published, predicted, schema: &schema };
        for past in [&others as &dyn RewindSource, &PastState::new(&proxies, &schema)] {
            looking(past, ME, |past| {
                let runner = past.get::<Runner>(THEIRS.entity).expect("it has a place");
                assert_eq!((runner.x, runner.ammo), ([5.0], 0), "what its owner alone is told is not there");
                assert!(past.states::<Runner>().all(|(_, runner)| runner.ammo == 0));
                assert_eq!((past.get::<Shield>(THEIRS.entity).is_none(), past.states::<Shield>().count()), (true, 0));
            });
        }
    }
}
