//! The last two states of what is simulated here: where between them, or ahead of them, it is shown (R23, R24).

use super::views::{RestOfStates, Views};
use crate::motion::{Correction, Pose, VisualOffset};
use crate::session::client::config::Show;
use crate::session::curves::{Curve, PoseSource};
use crate::session::curves::{RowBuffer, RowInterpolator, ahead, blend, placed_row};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{ComponentSchema, Entity, Meaning, ROW_WORDS_MAX, Row, Rows, Schema};

/// At which instant what is simulated here is shown.
pub(super) struct TickInterpolation<'a> {
    pub schema: &'a Schema,
    /// The newest state, and the rows of the one before it, if there is one.
    pub present: Tick,
    pub before: Option<&'a Rows>,
    /// Where the clock stands.
    pub at: TickTime,
    pub show: Show,
    pub rate: TickRate,
    /// The least way of a teleport, in metres.
    pub teleport_m: f64,
}

impl TickInterpolation<'_> {
    /// Draws a row of the newest state where it is shown.
    pub fn draw(&self, row: Row<'_>, into: &mut RowBuffer) {
        let (component, words) = (self.schema.component(row.component), row.words);
        let before = self.before.and_then(|rows| rows.words(row.key()));
        let since = self.present.back(1).filter(|_| self.before.is_some());
        let fraction = since.map_or(1.0, |tick| (self.at - TickTime::start_of(tick)).as_ticks().clamp(0.0, 1.0));
        match (self.show, before) {
            (Show::Between, Some(before)) if !self.jumps(component, [before, words]) => {
                blend(component, before, words, fraction, into);
            }
            (Show::Between, Some(before)) if fraction < 1.0 => into[..before.len()].copy_from_slice(before),
            (Show::Ahead, _) => ahead(component, words, fraction * self.rate.seconds(), into),
            _ => into[..words.len()].copy_from_slice(words),
        }
    }

    /// Whether a row is a teleport away from where it was in the state before. Where no velocity is told, a tick alone does not say how
    /// fast it is.
    fn jumps(&self, component: &ComponentSchema, [before, words]: [&[u32]; 2]) -> bool {
        if component.field(Meaning::Velocity, words).is_none() {
            return false;
        }
        let of = [None, Some((self.present.back(1).unwrap_or_default(), before)), Some((self.present, words)), None];
        RowInterpolator { of, rests: false, at: self.at, rate: self.rate }.cut_at_jumps(
            component,
            Curve::Linear,
            self.teleport_m,
        )
    }
}

/// The last two states where nothing is corrected, as what is simulated is the truth.
pub(in crate::session) struct StatePair<'a> {
    pub schema: &'a Schema,
    pub rate: TickRate,
    /// The newest state, its rows, and those of the one before it, if there is one.
    pub present: Tick,
    pub newest: &'a Rows,
    pub before: Option<&'a Rows>,
    pub show: Show,
}

impl<'a> StatePair<'a> {
    /// Fills `views` with all that is there, as it is shown when the clock stands `at`.
    pub fn show(&self, at: TickTime, views: &mut Views) {
        let StatePair { schema, newest, .. } = *self;
        views.clear(schema);
        let between = self.between(at);
        let mut words = [0; ROW_WORDS_MAX];
        for component in schema.ids().filter(|component| schema.is_first(*component)) {
            views.begin(component);
            for row in newest.component(component) {
                between.draw(row, &mut words);
                let rest = RestOfStates { rows: Some(newest), told: None, changes: None };
                views.push(
                    Row { words: &words[..row.words.len()], ..row },
                    PoseSource::Authority,
                    VisualOffset::NONE,
                    rest,
                );
            }
        }
    }

    /// Where an entity of the newest state is shown when the clock stands `at`; the origin where it has no place.
    pub fn pose(&self, entity: Entity, at: TickTime) -> Option<Pose> {
        let row = placed_row(self.newest, entity, self.schema)?;
        let mut words = [0; ROW_WORDS_MAX];
        self.between(at).draw(row, &mut words);
        Some(self.schema.component(row.component).pose(&words))
    }

    fn between(&self, at: TickTime) -> TickInterpolation<'a> {
        let StatePair { schema, rate, present, before, show, .. } = *self;
        TickInterpolation { schema, present, before, at, show, rate, teleport_m: Correction::default().teleport_m() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Owned, PlayerId};
    use foretell::State;

    #[derive(State, Clone, Copy)]
    struct Walker {
        #[state(position)]
        at: [f32; 1],
        #[state(velocity)]
        velocity: [f32; 1],
        #[state(blended)]
        breath: f32,
    }

    /// Where a walker is shown that is there in one state, and there in the next, by how much of the time between has passed.
    fn shown(from: f32, to: f32, passed: f64) -> [f32; 2] {
        let schema = Schema::of::<Walker>();
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        let [before, newest] = [(from, 0.0), (to, 1.0)].map(|(place, breath)| {
            let mut rows = Rows::new(&schema);
            rows.set(Owned { entity, owner: PlayerId::SERVER }, &Walker { at: [place], velocity: [0.0], breath });
            rows
        });
        let at = TickTime::ticks(8.0 + passed);
        let (present, rate, show) = (Tick::new(9), TickRate::hz(64), Show::Between);
        let teleport_m = 2.0;
        let between = TickInterpolation { schema: &schema, present, before: Some(&before), at, show, rate, teleport_m };
        let mut into = [0; ROW_WORDS_MAX];
        between.draw(newest.of(entity).next().expect("it is there"), &mut into);
        [into[0], into[2]].map(f32::from_bits)
    }

    #[test]
    fn who_is_teleported_is_shown_there_at_once_and_nowhere_on_the_way() {
        assert_eq!(shown(0.0, 1.0, 0.5), [0.5, 0.5]);
        assert_eq!(shown(0.0, 50.0, 0.5), [0.0, 0.0]);
        assert_eq!(shown(0.0, 50.0, 1.0), [50.0, 1.0]);
    }

    /// Nothing tells how fast it is.
    #[derive(State, Clone, Copy)]
    struct Token {
        #[state(position)]
        at: [f32; 1],
        #[state(teleports)]
        teleports: u8,
    }

    #[test]
    fn who_says_so_is_teleported_however_near_and_without_a_velocity_and_who_does_not_has_gone_there() {
        let schema = Schema::of::<Token>();
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);
        let shown = |to: f32, teleports: u8, passed: f64| {
            let [before, newest] = [(0.0, 9), (to, teleports)].map(|(place, teleports)| {
                let mut rows = Rows::new(&schema);
                rows.set(Owned { entity, owner: PlayerId::SERVER }, &Token { at: [place], teleports });
                rows
            });
            let (present, rate, show) = (Tick::new(9), TickRate::hz(64), Show::Between);
            let pair = StatePair { schema: &schema, rate, present, newest: &newest, before: Some(&before), show };
            pair.pose(entity, TickTime::ticks(8.0 + passed)).expect("it is there").position[0]
        };
        assert_eq!([0.5, 0.99, 1.0].map(|passed| shown(1.0, 10, passed)), [0.0, 0.0, 1.0]);
        assert_eq!(shown(50.0, 9, 0.5), 25.0);
    }
}
