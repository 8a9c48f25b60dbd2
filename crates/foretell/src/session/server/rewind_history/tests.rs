//! Tests of what is kept of the past, and where it is between states.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "ticks of a second are small numbers"
)]

use super::super::row_versions::RowVersions;
use super::*;
use crate::session::row_send_rates::RowSendRates;
use crate::world::{Entity, PlayerId, RewindBound, RewindMoment, Rewound};
use foretell::State;

/// Seen by everybody, and told in every state; its position in steps of a millimetre.
#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Runner {
    #[state(position, precision = 0.001)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
    #[state(audience = owner)]
    ammo: u8,
}

/// Told in every sixth tick.
#[derive(State, Clone, Copy, Debug)]
#[state(hz = 10)]
struct Cloud {
    #[state(position)]
    x: [f32; 1],
}

/// Counts its teleports.
#[derive(State, Clone, Copy, Debug)]
struct Car {
    #[state(position)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
    #[state(teleports)]
    teleports: u8,
}

/// Has no place.
#[derive(State, Clone, Copy)]
struct Score(u32);

const SHOOTER: PlayerId = PlayerId::new(1);
const OTHER: PlayerId = PlayerId::new(2);
/// Sits at the server.
const HOST: PlayerId = PlayerId::new(3);
const RATE: TickRate = TickRate::hz(60);

fn entity(nth: u16) -> Owned {
    Owned { entity: Entity::new(OTHER, Tick::ZERO, nth), owner: OTHER }
}

struct Kept {
    past: RewindHistory,
    rows: Rows,
    versions: RowVersions,
    tick: u32,
}

impl Kept {
    fn new(sent: u32) -> Kept {
        let schema = Schema::of::<Runner>().with::<Cloud>().with::<Score>().with::<Car>();
        let terms = RewindTerms { ticks: 15, sent, rate: RATE, curve: Curve::Hermite };
        let (past, rows) = (RewindHistory::new(&schema, terms), Rows::new(&schema));
        Kept { past, rows, versions: RowVersions::new(), tick: 0 }
    }

    /// The next state, with what changes.
    fn state(&mut self, change: impl FnOnce(u32, &mut Rows)) {
        self.tick += 1;
        change(self.tick, &mut self.rows);
        let state = Tick::new(self.tick);
        self.versions.note(&self.rows, state);
        self.past.note(&self.rows, &self.versions, state);
        self.rows.settle();
        self.past.begin_step(state, self.past.terms, Some(HOST));
    }

    fn runs(&mut self, ticks: u32, place: impl Fn(f32) -> f32) {
        for _ in 0..ticks {
            self.state(|tick, rows| {
                let at = |tick: f32| place(tick / 60.0);
                let tick = tick as f32;
                let speed = (at(tick + 0.5) - at(tick - 0.5)) * 60.0;
                rows.set(entity(0), &Runner { x: [at(tick)], speed: [speed], ammo: 9 });
            });
        }
    }

    fn seen(&self, by: PlayerId, at: f64) -> Rewound<'_> {
        let used = TickTime::ticks(at);
        Rewound::new(Some(&self.past), RewindMoment { player: by, claimed: None, used, bound: RewindBound::Claim })
    }

    fn x(&self, at: f64) -> Option<f32> {
        self.seen(SHOOTER, at).get::<Runner>(entity(0).entity).map(|runner| runner.x[0])
    }
}

#[test]
fn between_states_it_is_on_the_curve_to_the_step_that_it_is_told_in_and_in_the_present_as_it_is() {
    let swings = |seconds: f32| 3.0 * crate::math::f32::sin(5.0 * seconds);
    for sent in [1, 3] {
        let mut kept = Kept::new(sent);
        kept.runs(40, swings);
        for eighth in 26 * 8..39 * 8 {
            let at = f64::from(eighth) / 8.0;
            let (shown, truth) = (kept.x(at).expect("it is there"), swings(at as f32 / 60.0));
            assert!((shown - truth).abs() < 0.0007 + 0.0002 * sent as f32, "{sent}: {at}: {shown} for {truth}");
        }
        assert_eq!([40.0, 45.0].map(|at| kept.x(at)), [Some(swings(40.0 / 60.0)); 2], "not rounded");
        let known = [kept.x(30.0), kept.x(30.0)];
        assert!(known[0] == known[1] && known[0] != Some(swings(0.5)), "rounded, as it is told");
    }
}

#[test]
fn what_others_are_told_of_what_has_a_place_is_known_and_never_what_is_the_players_own() {
    let mut kept = Kept::new(1);
    kept.runs(20, |seconds| seconds);
    kept.state(|_, rows| {
        rows.set(entity(5), &Score(3));
        rows.set(entity(6), &Cloud { x: [4.0] });
    });
    kept.runs(6, |seconds| seconds);
    let seen = kept.seen(SHOOTER, 26.5);
    let runners: Vec<_> = seen.states::<Runner>().collect();
    assert_eq!(runners.len(), 1);
    assert_eq!((runners[0].0, runners[0].1.ammo), (entity(0), 0), "that is its owner's");
    assert!((runners[0].1.speed[0] - 1.0).abs() < 1e-4);
    let poses: Vec<_> = seen.poses().map(|(of, _)| of).collect();
    assert_eq!(poses, [entity(0), entity(6)]);
    assert!(seen.pose(entity(5).entity).is_none() && seen.states::<Score>().count() == 0);
    assert_eq!(kept.seen(OTHER, 26.5).poses().count(), 0);
}

#[test]
fn nothing_is_there_before_it_was_spawned_nor_after_it_is_gone_and_what_is_told_rarely_is_shown_later() {
    let mut kept = Kept::new(1);
    kept.runs(20, |seconds| seconds);
    (0..20).for_each(|_| kept.state(|tick, rows| rows.set(entity(6), &Cloud { x: [tick as f32] })));
    let cloud = |kept: &Kept, at| kept.seen(SHOOTER, at).get::<Cloud>(entity(6).entity).map(|cloud| cloud.x[0]);
    assert_eq!([20.0, 20.9].map(|at| cloud(&kept, at)), [None, None]);
    assert_eq!(cloud(&kept, 21.0), Some(21.0), "as it was told first");
    let shown = cloud(&kept, 34.5).expect("it is there");
    assert!(
        (shown - 29.5).abs() < 1e-3,
        "five ticks later than the cursor, as states of it come in every sixth: {shown}"
    );
    kept.state(|_, rows| rows.remove_entity(entity(6).entity));
    kept.runs(3, |seconds| seconds);
    assert!(cloud(&kept, 40.9).is_some());
    assert_eq!([41.0, 42.5, 44.0].map(|at| cloud(&kept, at)), [None; 3]);
    kept.runs(60, |seconds| seconds);
    assert_eq!(kept.past.count(ComponentId(2)), 0, "it is forgotten");
}

#[test]
fn a_row_is_judged_by_the_states_that_it_is_told_in_though_its_rate_is_no_multiple_of_theirs() {
    for (turn, sent, slot) in
        (1..9).flat_map(|turn| (1..6).flat_map(move |sent| (0..9).map(move |slot| (turn, sent, slot))))
    {
        let (times, rates) = (TellingTimes { sent, turn, slot }, RowSendRates::every(turn));
        let mut told = Vec::new();
        for state in (0..200).step_by(sent as usize).map(Tick::new) {
            told.extend(rates.are_due(ComponentId(0), slot, told.last().copied(), state).then_some(state));
        }
        let of = |tick: Tick| told.partition_point(|state| *state <= tick) - 1;
        for tick in Tick::new(40).until(Tick::new(150)) {
            assert_eq!(times.told_by(tick), told[of(tick)], "{times:?} {tick}");
        }
        for three in told.windows(3).filter(|three| three[0] > Tick::new(20)) {
            assert_eq!((times.before(three[1]), times.after(three[1])), (Some(three[0]), three[2]), "{times:?}");
        }
    }
    // Told in every sixth tick, of states that are sent in every fourth.
    let mut kept = Kept::new(4);
    let place = |tick: u32| (tick * 7 % 11) as f32 / 11.0;
    (0..44).for_each(|_| kept.state(|tick, rows| rows.set(entity(6), &Cloud { x: [place(tick)] })));
    for told in [20, 24, 32, 36] {
        let cloud = kept.seen(SHOOTER, f64::from(told + 4)).get::<Cloud>(entity(6).entity).expect("it is there");
        assert!((cloud.x[0] - place(told)).abs() < 1e-5, "{told}: {cloud:?}");
    }
}

#[test]
fn who_sits_at_the_server_finds_all_on_the_line_between_two_states_as_they_are_however_rarely_they_are_told() {
    let mut kept = Kept::new(3);
    let place = |tick: u32| (tick * tick) as f32 / 100.0;
    for _ in 0..40 {
        kept.state(|tick, rows| {
            rows.set(entity(0), &Runner { x: [place(tick)], speed: [0.0], ammo: 9 });
            rows.set(entity(6), &Cloud { x: [place(tick)] });
        });
    }
    for eighth in 38 * 8..=40 * 8 {
        let at = f64::from(eighth) / 8.0;
        let seen = kept.seen(HOST, at);
        let [before, after] = [place(eighth / 8), place(eighth.div_ceil(8))];
        let expected = before + (after - before) * at.fract() as f32;
        let runner = seen.get::<Runner>(entity(0).entity).map(|runner| runner.x[0]);
        let cloud = seen.get::<Cloud>(entity(6).entity).map(|cloud| cloud.x[0]);
        for found in [runner, cloud] {
            assert!(found.is_some_and(|x| (x - expected).abs() < 1e-5), "{at}: {found:?} for {expected}");
        }
        assert_eq!([0, 6].map(|nth| seen.error_m(entity(nth).entity)), [0.0; 2]);
    }
}

#[test]
fn a_teleport_is_a_jump_and_nobody_is_hit_on_the_way() {
    let mut kept = Kept::new(3);
    for _ in 0..40 {
        kept.state(|tick, rows| {
            let x = tick as f32 / 60.0 + if tick < 31 { 0.0 } else { 100.0 };
            rows.set(entity(0), &Runner { x: [x], speed: [1.0], ammo: 9 });
        });
    }
    let places: Vec<_> = (26 * 8..35 * 8).filter_map(|eighth| kept.x(f64::from(eighth) / 8.0)).collect();
    assert!(places.iter().all(|x| *x < 1.0 || *x > 100.0), "{places:?}");
    assert!(places.iter().any(|x| *x < 1.0) && places.iter().any(|x| *x > 100.0));
}

#[test]
fn who_says_so_has_jumped_however_near_and_who_does_not_has_gone_there() {
    for (put, says) in [(1.5, 1), (8.0, 0)] {
        let mut kept = Kept::new(3);
        for _ in 0..40 {
            kept.state(|tick, rows| {
                let (aside, teleports) = if tick < 31 { (0.0, 0) } else { (put, says) };
                rows.set(entity(7), &Car { x: [aside], speed: [0.0], teleports });
            });
        }
        let place =
            |at: f64| [SHOOTER, HOST].map(|by| kept.seen(by, at).get::<Car>(entity(7).entity).expect("there").x[0]);
        let places: Vec<_> = (26 * 8..35 * 8).map(|eighth| place(f64::from(eighth) / 8.0)).collect();
        let is_on_the_way = |x: &f32| *x > 0.01 && *x < put - 0.01;
        assert!((0..2).all(|by| places.iter().any(|x| is_on_the_way(&x[by])) == (says == 0)), "{places:?}");
        assert_eq!((places[0], places[9 * 8 - 1]), ([0.0; 2], [put; 2]));
    }
}

#[test]
fn the_error_is_what_a_lost_state_makes_and_little_where_it_goes_straight() {
    let error = |place: fn(f32) -> f32| {
        let mut kept = Kept::new(3);
        kept.runs(40, place);
        kept.seen(SHOOTER, 31.0).error_m(entity(0).entity)
    };
    let (rests, straight) = (error(|_| 4.0), error(|seconds| 6.0 * seconds));
    let turns = error(|seconds| 2.0 * crate::math::f32::sin(20.0 * seconds));
    assert_eq!(rests, 0.0);
    assert!(straight < 0.002 && turns > 0.01 && turns < 0.3, "{straight} {turns}");
}

#[test]
fn the_past_begins_when_it_is_asked_for_and_is_as_long_as_it_is_said_to_be() {
    let mut kept = Kept::new(1);
    let oldest = |kept: &Kept| kept.past.oldest().map(TickTime::as_ticks);
    assert_eq!(oldest(&kept), None);
    kept.runs(10, |seconds| seconds);
    assert_eq!(oldest(&kept), Some(1.0));
    kept.runs(30, |seconds| seconds);
    assert_eq!(oldest(&kept), Some(25.0));
    assert!(kept.x(25.0).is_some());
    let none = RewindTerms { ticks: 0, ..kept.past.terms };
    kept.past.begin_step(Tick::new(41), none, None);
    assert_eq!((oldest(&kept), kept.x(30.0)), (None, None));
}
