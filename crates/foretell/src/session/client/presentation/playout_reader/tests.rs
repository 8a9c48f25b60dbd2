//! Where others are shown, by what is known of them.

use super::*;
use crate::time::{Instant, Tick};
use crate::world::PlayerId;
use alloc::vec::Vec;
use foretell::State;

/// The second component is nothing without the first.
#[derive(State, Clone, Copy)]
struct Wagon {
    seen: u8,
    #[state(audience = others)]
    load: u8,
}

/// Told in every sixth state of 64 in a second.
#[derive(State, Clone, Copy)]
#[state(hz = 10)]
struct Cloud(u8);

const WAGON: ComponentId = ComponentId(0);
const LOAD: ComponentId = ComponentId(1);
const CLOUD: ComponentId = ComponentId(2);

fn row(component: ComponentId, words: &[u32]) -> Row<'_> {
    Row { component, entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER, words }
}

/// The words of the only row of a component at the cursor, and the tick of the state that they are of.
fn at(cursor: f64, component: ComponentId, told: &[(Tick, Row<'_>)]) -> Option<(u32, u32)> {
    let schema = Schema::of::<Wagon>().with::<Cloud>();
    let tracks = Tracks::of_rows(&schema, told);
    let cursor = TickTime::ticks(cursor);
    let known = KnownIn { update: tracks.update(), newest: Tick::new(30) };
    let points = Points { now: Instant::ZERO, cursor, front: cursor };
    let (pace, teleport_m) = (Pace { rate: TickRate::hz(64), interval: 1 }, 2.0);
    let samples = PlayoutReader { tracks: &tracks, schema: &schema, known, points, pace, teleport_m };
    let mut of = samples.component(component);
    let words = of.seek(0)?.row.words[0];
    Some((of.samples.before().0.get(), words))
}

#[test]
fn what_is_told_before_what_it_is_nothing_without_is_not_there_before_that() {
    let told = [(Tick::new(2), row(LOAD, &[7])), (Tick::new(5), row(WAGON, &[1]))];
    assert_eq!([3.0, 4.9].map(|cursor| at(cursor, LOAD, &told)), [None, None]);
    assert_eq!(at(5.0, LOAD, &told), Some((2, 7)));
    assert_eq!(at(5.0, WAGON, &told), Some((5, 1)));
}

#[test]
fn a_component_is_as_it_was_at_the_same_point_until_anything_is_told_of_it() {
    let schema = Schema::of::<Wagon>().with::<Cloud>();
    let mut tracks = Tracks::of_rows(&schema, &[(Tick::new(2), row(CLOUD, &[1])), (Tick::new(2), row(WAGON, &[1]))]);
    let is_as_it_was = |tracks: &Tracks, component, seen: Seen, cursor: f64| {
        let (known, cursor) = (KnownIn { update: tracks.update(), newest: Tick::new(9) }, TickTime::ticks(cursor));
        let points = Points { now: Instant::ZERO, cursor, front: cursor };
        let (pace, teleport_m) = (Pace { rate: TickRate::hz(64), interval: 1 }, 2.0);
        PlayoutReader { tracks, schema: &schema, known, points, pace, teleport_m }
            .component(component)
            .is_as_it_was(seen)
    };
    let known = KnownIn { update: tracks.update(), newest: Tick::new(9) };
    let seen = Seen { known, cursor: TickTime::ticks(3.0), interval: 1 };
    assert!(is_as_it_was(&tracks, WAGON, seen, 3.0) && is_as_it_was(&tracks, CLOUD, seen, 3.0));
    assert!(!is_as_it_was(&tracks, WAGON, seen, 3.001), "elsewhere");
    assert!(!is_as_it_was(&tracks, CLOUD, Seen { interval: 2, ..seen }, 3.0), "snapshots come at another rate");
    tracks.end_update(TickTime::ticks(3.0), 1);
    assert!(is_as_it_was(&tracks, WAGON, seen, 3.0), "nothing new");
    tracks.tell(Tick::new(8), row(WAGON, &[2]));
    assert!(!is_as_it_was(&tracks, WAGON, seen, 3.0), "something new");
    assert!(is_as_it_was(&tracks, CLOUD, seen, 3.0), "but not of this one");
}

#[test]
fn what_is_told_more_rarely_is_shown_later_by_that_and_before_its_first_state_as_in_that() {
    let told = [10, 16, 22].map(Tick::new).into_iter().zip([[1], [2], [3]]).collect::<Vec<_>>();
    let told: Vec<_> = told.iter().map(|(tick, words)| (*tick, row(CLOUD, words))).collect();
    let shown = [9.9, 10.0, 12.0, 16.5, 20.9, 21.0].map(|cursor| at(cursor, CLOUD, &told));
    assert_eq!(shown, [None, Some((10, 1)), Some((10, 1)), Some((10, 1)), Some((10, 1)), Some((16, 2))]);
}

/// Shown by where it is alone.
#[derive(State, Clone, Copy)]
struct Runner {
    #[state(position)]
    at: [f32; 1],
}

const RUNNER: ComponentId = ComponentId(0);

/// What is known at the cursor of runners, where the state of tick 9 is the newest exact one.
fn runners<'a>(tracks: &'a Tracks, schema: &'a Schema) -> ComponentSamples<'a> {
    let (known, cursor) = (KnownIn { update: tracks.update(), newest: Tick::new(9) }, TickTime::ticks(6.0));
    let points = Points { now: Instant::ZERO, cursor, front: cursor };
    let (pace, teleport_m) = (Pace { rate: TickRate::hz(64), interval: 1 }, 2.0);
    PlayoutReader { tracks, schema, known, points, pace, teleport_m }.component(RUNNER)
}

#[test]
fn who_is_shown_ahead_does_not_go_on_at_the_speed_of_a_teleport() {
    let schema = Schema::of::<Runner>();
    let speed = |to: f32| {
        let (from, to) = ([0.0_f32.to_bits()], [to.to_bits()]);
        let told = [(Tick::new(2), row(RUNNER, &from)), (Tick::new(6), row(RUNNER, &to))];
        let tracks = Tracks::of_rows(&schema, &told);
        let mut of = runners(&tracks, &schema);
        of.seek(0).expect("it is there");
        of.told_motion().expect("it was told").velocity[0]
    };
    assert!((speed(0.5) - 8.0).abs() < 1e-6, "{}", speed(0.5));
    assert_eq!(speed(50.0), 0.0);
}

#[test]
fn who_is_shown_ahead_is_bent_by_a_row_that_comes_without_a_new_exact_state() {
    let (schema, words) = (Schema::of::<Runner>(), [0_u32]);
    let mut tracks = Tracks::of_rows(&schema, &[(Tick::new(2), row(RUNNER, &words))]);
    let known = KnownIn { update: tracks.update(), newest: Tick::new(9) };
    let seen = Seen { known, cursor: TickTime::ticks(6.0), interval: 1 };
    tracks.end_update(TickTime::ticks(3.0), 1);
    assert!(!runners(&tracks, &schema).is_bent(0, Curve::DeadReckoning, seen));
    tracks.tell(Tick::new(8), row(RUNNER, &words));
    assert!(runners(&tracks, &schema).is_bent(0, Curve::DeadReckoning, seen));
}
