//! What goes over to the server's states is shown as what it was until then.

use super::super::track_lookup::KnownIn;
use super::*;
use crate::session::test_states::{self, PURSE, SHIP};
use crate::time::{TickRate, TickTime};
use crate::world::{Entity, Row};
use alloc::vec::Vec;
use foretell::State;

const OWNER: PlayerId = PlayerId::new(2);
const OF: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: OWNER };
/// The words of both components in the states from 3 on, where they are there.
type Told<'a> = &'a [(Option<u32>, Option<u32>)];

fn row(component: ComponentId, words: &[u32]) -> Row<'_> {
    Row { component, entity: OF.entity, owner: OWNER, words }
}

fn tracks(told: Told<'_>) -> Tracks {
    let mut tracks = Tracks::new(&test_states::schema(), 8, TickRate::hz(64));
    for (tick, (ship, purse)) in (3..).map(Tick::new).zip(told) {
        for (component, word) in [(SHIP, ship), (PURSE, purse)] {
            let key = test_states::key(component, OF.entity);
            match word {
                Some(word) => _ = tracks.put(tick, row(component, &[*word]), false),
                None if tracks.find(key).is_some() => _ = tracks.end(tick, key, None),
                None => {}
            }
        }
    }
    tracks
}

fn look(tracks: &Tracks, at: f64) -> Look {
    let known = KnownIn { update: tracks.update(), newest: Tick::new(20) };
    Look { at: TickTime::ticks(at), known, interval: 1 }
}

/// What is shown at 5.5 and 7.5 once it has gone over at 5.5, and was to be shown so.
fn gone_over(told: Told<'_>, to: (Option<u32>, Option<u32>)) -> Vec<(Option<u32>, Option<u32>)> {
    let (mut tracks, schema) = (tracks(told), test_states::schema());
    let mut rows = Rows::new(&schema);
    for (component, word) in [(SHIP, to.0), (PURSE, to.1)] {
        word.iter().for_each(|word| rows.set_words(row(component, &[*word])));
    }
    rows.settle();
    let at = look(&tracks, 5.5);
    GoingOver { schema: &schema, of: OF, player: OWNER, to: &rows, undone: None, look: at }.cut(&mut tracks);
    let word = |component, at| {
        let words = tracks.words(test_states::key(component, OF.entity), &look(&tracks, at));
        words.map(|words| words[0])
    };
    [5.5, 7.5].map(|at| (word(SHIP, at), word(PURSE, at))).to_vec()
}

#[test]
fn what_has_become_something_else_is_that_from_there_on() {
    let told = [(Some(3), None), (Some(4), None), (Some(5), None), (Some(6), None), (None, Some(70)), (None, Some(80))];
    assert_eq!(gone_over(&told, (None, Some(1))), [(None, Some(70)); 2]);
    assert_eq!(gone_over(&told, (Some(1), None))[0], (Some(5), None), "what was predicted by mistake is not kept");
}

#[test]
fn a_part_that_it_has_got_or_lost_is_there_or_not_from_there_on_and_the_rest_goes_on() {
    let gets = [
        (Some(3), None),
        (Some(3), None),
        (Some(3), None),
        (Some(3), Some(60)),
        (Some(3), Some(70)),
        (Some(3), Some(70)),
    ];
    assert_eq!(gone_over(&gets, (Some(3), Some(1))), [(Some(3), Some(60)), (Some(3), Some(70))]);
    assert_eq!(gone_over(&gets, (Some(3), None))[0], (Some(3), None));
    let loses = gets.map(|(ship, purse)| (ship, if purse.is_none() { Some(1) } else { None }));
    assert_eq!(gone_over(&loses, (Some(3), None)), [(Some(3), None); 2]);
}

#[test]
fn what_says_nothing_of_where_it_is_says_what_it_was_to_say_as_soon_as_that_is_told() {
    let told = [3, 3, 3, 6, 7, 8].map(|word| (Some(word), Some(1)));
    assert_eq!(gone_over(&told, (Some(7), Some(1))), [(Some(7), Some(1)); 2]);
    assert_eq!(gone_over(&told, (Some(3), Some(1))), [(Some(3), Some(1)), (Some(7), Some(1))]);
    assert_eq!(gone_over(&told, (Some(9), Some(1)))[0], (Some(3), Some(1)), "that is not told");
}

#[test]
fn what_has_ended_is_gone_from_there_on() {
    let told =
        [(Some(3), Some(1)), (Some(3), Some(1)), (Some(3), Some(1)), (Some(3), Some(1)), (None, None), (None, None)];
    assert_eq!(gone_over(&told, (None, None)), [(None, None); 2]);
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
struct Door {
    #[state(position)]
    at: [f32; 3],
    is_open: bool,
    #[state(teleports)]
    teleports: u8,
}

/// Where a door is shown at 5.5, as it goes over as this one; it is told to be open from state 7 on, and put elsewhere in state 8.
fn door_gone_over(to: Door, undone: Option<&[ChangedWords]>) -> Door {
    let schema = Schema::of::<Door>();
    let mut tracks = Tracks::new(&schema, 8, TickRate::hz(64));
    let words = |door: &Door| {
        let mut words = [0; 8];
        let count = schema.component(ComponentId(0)).words();
        assert!(door.write(0, &mut words[..count]));
        words[..count].to_vec()
    };
    for tick in 3..=9_u8 {
        let door = Door { at: [f32::from(tick), 0.0, 0.0], is_open: tick >= 7, teleports: u8::from(tick >= 8) };
        tracks.put(Tick::new(u32::from(tick)), row(ComponentId(0), &words(&door)), false);
    }
    let mut rows = Rows::new(&schema);
    rows.set_words(row(ComponentId(0), &words(&to)));
    rows.settle();
    let look = look(&tracks, 5.5);
    GoingOver { schema: &schema, of: OF, player: OWNER, to: &rows, undone, look }.cut(&mut tracks);
    let shown = tracks.words(test_states::key(ComponentId(0), OF.entity), &look).expect("it is there");
    Door::read(0, shown).expect("a door")
}

#[test]
fn a_body_goes_on_where_it_was_unless_it_is_put_elsewhere() {
    let to = |is_open, teleports| Door { at: [20.0, 0.0, 0.0], is_open, teleports };
    assert_eq!(door_gone_over(to(false, 0), None).at[0], 5.0);
    assert_eq!(door_gone_over(to(true, 0), None).at[0], 5.0);
    assert_eq!(door_gone_over(to(true, 1), None).at[0], 8.0, "not where it was before it was put elsewhere");
}

#[test]
fn what_was_refused_is_what_somebody_else_has_made_of_what_was_changed() {
    let to = Door { at: [9.0, 0.0, 0.0], is_open: true, teleports: 1 };
    let changed = |words| [ChangedWords { key: test_states::key(ComponentId(0), OF.entity), words }];
    assert_eq!(door_gone_over(to, Some(&changed(1 << 3))).at[0], 7.0, "it is open");
    assert_eq!(door_gone_over(to, Some(&changed(0b111))).at[0], 5.0, "where it is goes by no steps");
    assert_eq!(door_gone_over(to, Some(&[])).at[0], 5.0, "that it is open was not changed");
}

/// Told every fourth tick at most, at 64 Hz.
#[derive(State, Clone, Copy, PartialEq, Debug)]
#[state(hz = 16)]
struct Gauge(u8);

#[test]
fn what_is_told_rarely_is_compared_as_it_is_shown_which_is_farther_back() {
    let schema = Schema::of::<Gauge>();
    let mut tracks = Tracks::new(&schema, 8, TickRate::hz(64));
    for tick in 3..=8 {
        tracks.put(Tick::new(tick), row(ComponentId(0), &[tick]), false);
    }
    let (key, look) = (test_states::key(ComponentId(0), OF.entity), look(&tracks, 7.5));
    let shown = |tracks: &Tracks| ShownRows { tracks, look }.words(key).map(|words| words[0]);
    assert_eq!(shown(&tracks), Some(4));
    let mut to = Rows::new(&schema);
    to.set_words(row(ComponentId(0), &[6]));
    to.settle();
    GoingOver { schema: &schema, of: OF, player: OWNER, to: &to, undone: None, look }.cut(&mut tracks);
    assert_eq!(shown(&tracks), Some(6), "the cursor has passed that state, and it was not shown yet");
}
