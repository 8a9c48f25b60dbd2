//! A row is found at any point as a plain list of what was told of it says.

use super::super::track_lookup::Rest;
use super::*;
use crate::session::test_states::{self, SHIP};
use alloc::collections::BTreeMap;
use proptest::prelude::*;

const ME: PlayerId = PlayerId::new(1);
const OTHER: PlayerId = PlayerId::new(2);
const STATES: usize = 8;

fn key(nth: u16) -> RowKey {
    test_states::key(SHIP, Entity::new(PlayerId::SERVER, Tick::ZERO, nth))
}

fn put(tracks: &mut Tracks, tick: u32, nth: u16, word: u32, rests: bool) -> bool {
    let RowKey { component, entity } = key(nth);
    tracks.put(Tick::new(tick), Row { component, entity, owner: OTHER, words: &[word] }, rests)
}

fn end(tracks: &mut Tracks, tick: u32, nth: u16) -> bool {
    tracks.end(Tick::new(tick), key(nth), None)
}

fn tracks() -> Tracks {
    Tracks::new(&test_states::schema(), STATES, TickRate::hz(64))
}

/// Everything that is known up to `newest`, at a point.
fn look(tracks: &Tracks, at: f64, newest: u32) -> Look {
    let known = KnownIn { update: tracks.update(), newest: Tick::new(newest) };
    Look { at: TickTime::ticks(at), known, interval: 1 }
}

/// The ticks and words of the states around a point.
fn around(tracks: &Tracks, nth: u16, look: &Look) -> Option<[Option<(u32, u32)>; 4]> {
    let mut samples = [None; 4];
    tracks.around(SHIP, tracks.find(key(nth))?, look, &mut samples)?;
    Some(samples.map(|of| of.map(|(tick, words)| (tick.get(), words[0]))))
}

proptest! {
    /// In what order what is told of which row; in two states each is gone.
    #[test]
    fn at_any_point_a_row_has_the_states_around_it_in_whatever_order_they_came(
        told in prop::collection::vec((0_u16..3, 0_u32..8, any::<u32>()), 1..60),
    ) {
        let (mut tracks, mut expected) = (tracks(), [(); 3].map(|()| BTreeMap::new()));
        for (nth, tick, word) in told {
            let of = &mut expected[usize::from(nth)];
            // Of one state there is one truth.
            let word = *of.entry(tick).or_insert(Some(word).filter(|_| tick != 3 && tick != 6));
            match word {
                Some(word) => put(&mut tracks, tick, nth, word, false),
                None => end(&mut tracks, tick, nth),
            };
        }
        for (nth, of) in (0..).zip(&expected) {
            for half in 0..20 {
                let at = f64::from(half) / 2.0;
                let there = |of: (&u32, &Option<u32>)| of.1.map(|word| (*of.0, word));
                let mut up_to = of.range(..=half / 2).rev();
                let before = up_to.next().and_then(there);
                let mut after = of.range(half / 2 + 1..);
                let next = after.next().and_then(there);
                let last = next.and_then(|_| after.next()).and_then(there);
                let expected = before.map(|before| [up_to.next().and_then(there), Some(before), next, last]);
                prop_assert_eq!(around(&tracks, nth, &look(&tracks, at, 8)), expected, "row {} at {}", nth, at);
            }
        }
    }

    #[test]
    fn of_more_states_than_are_kept_the_newest_are_known(ticks in prop::collection::vec(0_u32..100, 1..60)) {
        let mut tracks = tracks();
        for tick in &ticks {
            put(&mut tracks, *tick, 0, tick * 2, false);
        }
        let mut kept: Vec<_> = ticks.clone();
        kept.sort_unstable();
        kept.dedup();
        let newest = *kept.last().expect("one");
        prop_assert_eq!(tracks.newest_tick(key(0)), Some(Tick::new(newest)));
        // What came too late is not kept; what is kept are neighbours.
        let known = |at: u32| around(&tracks, 0, &look(&tracks, f64::from(at), 100)).and_then(|of| of[1]);
        for tick in kept.iter().rev().take(STATES).rev().skip(1) {
            prop_assert!(known(*tick).is_some_and(|(known, word)| known <= *tick && word == known * 2));
        }
        prop_assert_eq!(known(newest), Some((newest, newest * 2)));
    }
}

#[test]
fn what_rests_is_the_same_up_to_the_state_before_the_next_that_is_told() {
    let mut tracks = tracks();
    put(&mut tracks, 2, 0, 5, false);
    put(&mut tracks, 3, 0, 7, true);
    let states = |tracks: &Tracks, at| around(tracks, 0, &look(tracks, at, 9));
    assert_eq!(states(&tracks, 2.5), Some([None, Some((2, 5)), Some((3, 7)), Some((4, 7))]));
    assert_eq!(states(&tracks, 5.5), Some([None, Some((5, 7)), Some((6, 7)), None]));
    assert_eq!(states(&tracks, 12.0), Some([None, Some((9, 7)), None, None]), "beyond the newest state");
    put(&mut tracks, 8, 0, 9, false);
    put(&mut tracks, 9, 0, 10, false);
    assert_eq!(states(&tracks, 5.5), Some([None, Some((5, 7)), Some((6, 7)), None]));
    assert_eq!(states(&tracks, 7.5), Some([Some((6, 7)), Some((7, 7)), Some((8, 9)), Some((9, 10))]));
    assert_eq!(states(&tracks, 8.5), Some([Some((7, 7)), Some((8, 9)), Some((9, 10)), None]));
    let rest = |tracks: &Tracks, at| tracks.around(SHIP, 0, &look(tracks, at, 9), &mut [None; 4]).map(|found| found.1);
    assert_eq!([2.5, 5.5, 7.5].map(|at| rest(&tracks, at)), [Rest::No, Rest::ForNow, Rest::No].map(Some));
    put(&mut tracks, 9, 0, 10, true);
    assert_eq!([8.5, 9.5].map(|at| rest(&tracks, at)), [Rest::No, Rest::Stays].map(Some));
}

/// One that says how fast it is.
#[derive(foretell::State, Clone, Copy, PartialEq, Debug)]
struct Cart {
    #[state(position)]
    at: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
}

#[test]
fn what_moves_after_states_that_have_not_come_left_its_rest_as_soon_as_its_speed_says_or_else_after_the_last_whole_one()
{
    let mut tracks = tracks();
    put(&mut tracks, 2, 0, 5, true);
    tracks.begin_state(4);
    put(&mut tracks, 9, 0, 7, false);
    let states = |tracks: &Tracks, at| around(tracks, 0, &look(tracks, at, 9));
    assert_eq!(states(&tracks, 4.5), Some([None, Some((4, 5)), Some((5, 5)), None]));
    assert_eq!(states(&tracks, 5.5), Some([Some((4, 5)), Some((5, 5)), Some((9, 7)), None]));

    // 10 m/s are 0.16 m per tick.
    // What is 7 m away can't have gone there, and jumps.
    let expected = [(0.1, 8, 19), (0.4, 8, 17), (0.4, 2, 18), (0.4, 1, 19), (5.0, 8, 12), (5.0, 40, 10), (7.0, 8, 19)];
    for (way, most, left) in expected {
        let mut tracks = Tracks::new(&Schema::of::<Cart>(), STATES, TickRate::hz(64));
        let component = ComponentId(0);
        let put = |tracks: &mut Tracks, tick, at, speed: f32, rests| {
            let words = [at, 0.0, 0.0, speed, 0.0, 0.0].map(f32::to_bits);
            let row = Row { component, entity: key(0).entity, owner: OTHER, words: &words };
            tracks.put(Tick::new(tick), row, rests)
        };
        put(&mut tracks, 10, 0.0, 0.0, true);
        tracks.begin_state(most);
        let mut samples = [None; 4];
        put(&mut tracks, 20, way, 10.0, false);
        tracks.around(component, 0, &look(&tracks, 19.5, 20), &mut samples);
        assert_eq!(samples[1].map(|(tick, _)| tick), Some(Tick::new(left)), "{way} m, at most {most}");
    }
}

#[test]
fn where_older_states_are_not_known_any_more_a_row_is_as_in_the_first_that_is() {
    let mut tracks = tracks();
    for tick in 0..10 {
        put(&mut tracks, tick, 0, tick, false);
    }
    assert_eq!(around(&tracks, 0, &look(&tracks, 0.5, 10)), Some([None, Some((2, 2)), Some((3, 3)), Some((4, 4))]));
    put(&mut tracks, 5, 1, 5, false);
    assert_eq!(around(&tracks, 1, &look(&tracks, 4.5, 10)), None, "it was not there before");
}

#[test]
fn that_it_is_gone_may_be_told_ever_again_and_how_it_was_is_known_still() {
    let mut tracks = tracks();
    put(&mut tracks, 1, 0, 5, false);
    assert!((2..30).all(|tick| end(&mut tracks, tick, 0)));
    let samples = |at| around(&tracks, 0, &look(&tracks, at, 30));
    assert_eq!([1.5, 2.0, 29.0].map(samples), [Some([None, Some((1, 5)), None, None]), None, None]);
    assert!(!put(&mut tracks, 28, 0, 5, false), "it was gone after that");
}

#[test]
fn what_was_the_clients_own_is_gone_or_of_another_whichever_is_told() {
    let mut tracks = tracks();
    put(&mut tracks, 3, 0, 5, false);
    assert!(tracks.end(Tick::new(8), key(0), Some(ME)));
    assert_eq!(around(&tracks, 0, &look(&tracks, 8.0, 8)), None, "it is gone");
    assert!(put(&mut tracks, 6, 0, 6, false), "it was another's before");
    assert_eq!(around(&tracks, 0, &look(&tracks, 8.0, 8)), Some([Some((3, 5)), Some((6, 6)), None, None]));
}

#[test]
fn a_row_is_bent_by_what_was_not_known_where_it_was_shown_and_not_by_where_it_goes_from_there() {
    // It was known up to state 4 when it was shown at 2.5, or up to 2.
    let bent = |known: &[u32], now: f64, new: u32, by_neighbours: bool| {
        let mut tracks = tracks();
        for tick in known {
            put(&mut tracks, *tick, 0, *tick, false);
        }
        let seen = KnownIn { update: tracks.update(), newest: Tick::new(4) };
        tracks.end_update(TickTime::default(), 1);
        put(&mut tracks, new, 0, new, false);
        let since = Since { known: seen, at: TickTime::ticks(2.5), by_neighbours };
        tracks.is_bent(SHIP, 0, &look(&tracks, now, new), &since)
    };
    assert!(bent(&[1, 2], 2.6, 5, false), "it was shown beyond what was known");
    assert!(!bent(&[1, 2, 4], 2.6, 5, false), "the state after the next");
    assert!(bent(&[1, 2, 4], 2.6, 5, true), "which counts for this curve");
    assert!(!bent(&[1, 2, 4, 5], 2.6, 6, true), "but not the one after that");
    assert!(bent(&[1, 2, 4], 2.6, 3, false), "between those that were known");
    assert!(!bent(&[1, 2, 3], 3.1, 5, true), "it has come to the one that was known, and goes on from there");
    assert!(bent(&[1, 2], 5.1, 5, false), "it has not come to one that was known");
    let many: Vec<u32> = (1..=12).collect();
    assert!(!bent(&many, 3.0, 13, true), "it is before all that are kept, of which the first were known");
}

#[test]
fn what_was_known_to_rest_is_bent_where_it_is_known_to_have_rested_elsewhere_and_not_by_where_it_goes_later() {
    // State 2 was known, and is shown at 4.5 in an update that brings one state more, which is there or not.
    let bent = |rested: bool, new: u32, is_there: bool| {
        let mut tracks = tracks();
        put(&mut tracks, 2, 0, 2, rested);
        let seen = KnownIn { update: tracks.update(), newest: Tick::new(4) };
        tracks.end_update(TickTime::default(), 1);
        if is_there {
            put(&mut tracks, new, 0, new, true);
        } else {
            end(&mut tracks, new, 0);
        }
        let since = Since { known: seen, at: TickTime::ticks(4.4), by_neighbours: true };
        tracks.is_bent(SHIP, 0, &look(&tracks, 4.5, 8), &since)
    };
    assert!(!bent(true, 8, true), "it goes on later");
    assert!(bent(true, 5, true), "it has begun to go on");
    assert!(bent(true, 4, true), "it rests elsewhere by now");
    assert!(bent(false, 4, true), "it was taken to move on, and rests elsewhere");
    assert!(bent(true, 8, false), "it ends, so what it was known to go to is not there");
}

#[test]
fn what_had_left_its_rest_as_far_as_was_known_is_bent_where_it_rested_longer_by_what_comes_late() {
    let mut tracks = tracks();
    put(&mut tracks, 5, 0, 1, true);
    tracks.begin_state(10);
    put(&mut tracks, 20, 0, 9, false);
    let seen = KnownIn { update: tracks.update(), newest: Tick::new(20) };
    tracks.end_update(TickTime::default(), 1);
    tracks.begin_state(1);
    put(&mut tracks, 15, 0, 2, false);
    let since = |at: f64| Since { known: seen, at: TickTime::ticks(at), by_neighbours: false };
    let is_bent = |now: f64, shown: f64| tracks.is_bent(SHIP, 0, &look(&tracks, now, 20), &since(shown));
    assert!(is_bent(13.0, 12.5), "it was shown on its way from 10 on, and rests until 14");
    assert!(!is_bent(9.0, 8.5), "it rests there by both");
}

#[test]
fn what_still_rested_where_it_was_shown_is_not_bent_by_how_it_goes_on_from_there() {
    // It rests from state 2 to 5, and goes to 6.
    let bent = |shown: f64, known: &[u32], new: u32| {
        let mut tracks = tracks();
        put(&mut tracks, 2, 0, 2, true);
        known.iter().for_each(|tick| assert!(put(&mut tracks, *tick, 0, *tick, false)));
        let seen = KnownIn { update: tracks.update(), newest: Tick::new(6) };
        tracks.end_update(TickTime::default(), 1);
        put(&mut tracks, new, 0, new, false);
        let since = Since { known: seen, at: TickTime::ticks(shown), by_neighbours: true };
        tracks.is_bent(SHIP, 0, &look(&tracks, 5.5, 7), &since)
    };
    assert!(!bent(4.9, &[6], 7), "by the state after the next");
    assert!(bent(5.1, &[6], 7), "it had been shown on its way");
    assert!(bent(4.9, &[], 6), "it was not known to go on");
}

#[test]
fn that_it_rests_in_a_state_that_was_known_is_no_news_of_where_it_was() {
    let mut tracks = tracks();
    (1..4).for_each(|tick| assert!(put(&mut tracks, tick, 0, tick, false)));
    let seen = look(&tracks, 2.5, 3);
    tracks.end_update(TickTime::default(), 1);
    let before = around(&tracks, 0, &seen);
    assert_eq!(before, Some([Some((1, 1)), Some((2, 2)), Some((3, 3)), None]));
    assert!(put(&mut tracks, 3, 0, 3, true));
    assert_eq!(around(&tracks, 0, &seen), before, "by what was known then it is where it was");
    let since = Since { known: seen.known, at: seen.at, by_neighbours: false };
    assert!(!tracks.is_bent(SHIP, 0, &look(&tracks, 2.6, 4), &since));
}

#[test]
fn how_it_is_as_anothers_in_the_state_in_which_it_was_given_away_was_not_known_before() {
    let mut tracks = tracks();
    put(&mut tracks, 3, 0, 5, false);
    assert!(tracks.end(Tick::new(8), key(0), Some(ME)));
    let seen = look(&tracks, 8.0, 8);
    tracks.end_update(TickTime::default(), 1);
    assert!(put(&mut tracks, 8, 0, 8, false));
    assert_eq!(around(&tracks, 0, &seen), Some([None, Some((3, 5)), None, None]));
    assert_eq!(around(&tracks, 0, &look(&tracks, 8.0, 8)), Some([Some((3, 5)), Some((8, 8)), None, None]));
}

#[test]
fn the_states_in_which_something_begins_ends_or_changes_hands_are_told_until_they_are_forgotten() {
    let mut tracks = tracks();
    for tick in 1..5 {
        put(&mut tracks, tick, 0, tick, false);
    }
    put(&mut tracks, 4, 1, 0, true);
    end(&mut tracks, 6, 0);
    let turns = |tracks: &Tracks, until: f64| tracks.turns(TickTime::ticks(until)).to_vec();
    assert_eq!(turns(&tracks, 9.0), [1, 4, 6].map(Tick::new));
    assert_eq!(turns(&tracks, 5.9), [1, 4].map(Tick::new));
    tracks.end_update(TickTime::ticks(4.0), 1);
    assert_eq!(turns(&tracks, 9.0), [Tick::new(6)]);
}

#[test]
fn a_late_end_makes_the_state_after_it_a_beginning_and_a_late_beginning_the_end_after_it_one() {
    let mut tracks = tracks();
    put(&mut tracks, 1, 0, 1, false);
    put(&mut tracks, 8, 0, 8, false);
    end(&mut tracks, 5, 0);
    assert_eq!(tracks.turns(TickTime::ticks(9.0)), [1, 5, 8].map(Tick::new));
    put(&mut tracks, 1, 1, 1, false);
    end(&mut tracks, 3, 1);
    end(&mut tracks, 9, 1);
    tracks.end_update(TickTime::ticks(8.0), 1);
    put(&mut tracks, 6, 1, 8, false);
    assert_eq!(tracks.turns(TickTime::ticks(10.0)), [6, 9].map(Tick::new));
}

#[test]
fn what_is_gone_is_forgotten_while_others_come() {
    let mut tracks = tracks();
    for tick in 1..2_000 {
        // There is one row, another one in every tenth state.
        let nth = u16::try_from(tick / 10).expect("small");
        put(&mut tracks, tick, nth, 1, false);
        if tick % 10 == 9 {
            end(&mut tracks, tick + 1, nth);
        }
        tracks.end_update(TickTime::start_of(Tick::new(tick)), 1);
    }
    assert!(tracks.count(SHIP) < 20, "{} rows", tracks.count(SHIP));
}

/// Told in every thirteenth state of 64 in a second.
#[derive(foretell::State, Clone, Copy)]
#[state(hz = 5)]
struct Cloud(u8);

#[test]
fn of_what_is_told_rarely_and_comes_with_each_state_as_many_are_kept_as_it_is_shown_later() {
    let mut tracks = Tracks::new(&Schema::of::<Cloud>(), 32, TickRate::hz(64));
    let (component, entity) = (ComponentId(0), key(0).entity);
    for tick in 1..=60 {
        tracks.put(Tick::new(tick), Row { component, entity, owner: OTHER, words: &[tick] }, false);
        tracks.end_update(TickTime::ticks(f64::from(tick) - 3.0), 1);
    }
    // The cursor is at 57, and twelve ticks before it the cloud is shown.
    let mut samples = [None; 4];
    tracks.around(component, 0, &look(&tracks, 45.5, 60), &mut samples).expect("it is there");
    assert_eq!(samples.map(|of| of.map(|(tick, _)| tick.get())), [44, 45, 46, 47].map(Some));
}
