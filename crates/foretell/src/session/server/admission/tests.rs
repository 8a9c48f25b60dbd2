//! The roster by itself: places, tickets and nonces, without a server around it.

use super::{Capacity, Roster, RosterChange};
use crate::session::datagram::{DatagramKind, PROTOCOL_VERSION};
use crate::session::handshake_messages::{Hello, Welcome};
use crate::session::refusal_message::Refused;
use crate::session::{Departure, Outbox, PeerId, Refusal};
use crate::time::{Instant, TickTime};
use crate::wire::{BitReader, BitWriter};
use crate::world::{Leaver, Newcomer, PlayerId, Reason};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

const HOME: PeerId = PeerId(1);
const AWAY: PeerId = PeerId(2);
const TIMEOUT: Duration = Duration::from_secs(10);
const KEEP: Duration = Duration::from_secs(60);
const CAPACITY: Capacity = Capacity { players_max: 2, spectators_max: 1, closed: None };

fn roster() -> Roster<()> {
    Roster::new(7, vec![1, 2])
}

fn hello(roster: &mut Roster<()>, from: PeerId, nonce: u64, ticket: Option<u8>) {
    ask(roster, from, nonce, ticket);
    roster.admit_asking(&CAPACITY, |_| Ok(()), &mut Outbox::new());
}

/// The same, and the game is not asked yet.
fn ask(roster: &mut Roster<()>, from: PeerId, nonce: u64, ticket: Option<u8>) {
    let mut hello = Hello { version: PROTOCOL_VERSION, nonce, parts: vec![1, 2], sent: 5, ticket, ..Hello::default() };
    hello.joins = ticket.is_some();
    let mut bytes = Vec::new();
    hello.stream(&mut BitWriter::new(&mut bytes)).expect("writing never fails");
    roster.read_hello(from, BitReader::new(&bytes), &CAPACITY, || ()).expect("well-formed");
}

/// The first hello of a nonce, and the one that shows the ticket of the answer to it.
fn join(roster: &mut Roster<()>, from: PeerId, nonce: u64) {
    hello(roster, from, nonce, None);
    let ticket =
        roster.members().iter().find(|member| member.place.address() == Some(from)).map(|at| at.place.ticket());
    hello(roster, from, nonce, ticket);
}

/// What was answered over which connection: the player and the ticket, or why not.
fn answers(roster: &mut Roster<()>) -> Vec<String> {
    let mut outbox = Outbox::new();
    roster.answer_hellos(TickTime::default(), &mut outbox);
    let read = |(to, datagram): (PeerId, &[u8])| {
        let mut reader = BitReader::new(datagram);
        if DatagramKind::read(&mut reader) == Ok(DatagramKind::Welcome) {
            let mut welcome = Welcome::default();
            welcome.stream(&mut reader).expect("well-formed");
            format!("{}: player {}, ticket {}", to.0, welcome.player, welcome.ticket)
        } else {
            let mut refused = Refused::default();
            refused.stream(&mut reader).expect("well-formed");
            format!("{}: {:?}", to.0, refused.why)
        }
    };
    outbox.iter().map(read).collect()
}

/// What has changed, in short.
fn changes(roster: &mut Roster<()>) -> Vec<String> {
    let told = |change| match change {
        RosterChange::Joined(player) => format!("{} joined", player.get()),
        RosterChange::Greeted { player, is_here } => format!("{} greeted, here: {is_here}", player.get()),
        RosterChange::TakenOver { player, has_returned } => {
            format!("{} taken over, returned: {has_returned}", player.get())
        }
        RosterChange::Lost(player) => format!("{} lost", player.get()),
        RosterChange::Returned(player) => format!("{} returned", player.get()),
        RosterChange::Left { player, was_lost, .. } => format!("{} left, lost: {was_lost}", player.get()),
        RosterChange::Refused { peer, player: None, why } => format!("{} refused: {why:?}", peer.0),
        RosterChange::Refused { player: Some(player), why, .. } => format!("player {} refused: {why:?}", player.get()),
    };
    core::iter::from_fn(|| roster.next_change()).map(told).collect()
}

/// The roster is told of every half second up to this one.
fn run_to(roster: &mut Roster<()>, seconds: u64) {
    for half in 0..=2 * seconds {
        roster.notice_silence(Instant::from_micros(half * 500_000), TIMEOUT, KEEP);
    }
}

#[test]
fn a_hello_is_answered_with_a_place_however_often_it_comes_and_who_shows_its_ticket_has_joined_and_is_heard() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    hello(&mut roster, HOME, 77, None);
    assert_eq!(changes(&mut roster), ["1 greeted, here: true"]);
    assert_eq!(answers(&mut roster), ["1: player 1, ticket 8"]);
    assert_eq!((roster.joined().count(), roster.join_leave_log().len()), (0, 0), "nobody has joined");
    assert_eq!(roster.speaker(HOME, 8), None);
    hello(&mut roster, HOME, 77, Some(7));
    assert_eq!(changes(&mut roster), ["1 greeted, here: true"], "a ticket of before");
    hello(&mut roster, HOME, 77, Some(8));
    hello(&mut roster, HOME, 77, Some(8));
    assert_eq!(changes(&mut roster), ["1 greeted, here: true", "1 joined", "1 greeted, here: true"]);
    assert_eq!(roster.join_leave_log().joined(), [Newcomer::new(PlayerId::new(1))]);
    assert_eq!(
        [roster.speaker(HOME, 8), roster.speaker(HOME, 7), roster.speaker(AWAY, 8)],
        [Some(PlayerId::new(1)), None, None]
    );
}

#[test]
fn from_elsewhere_a_place_is_taken_over_by_the_ticket_that_was_offered_alone() {
    let mut roster = roster();
    join(&mut roster, HOME, 77);
    roster.note_played(PlayerId::new(1), true);
    changes(&mut roster);
    hello(&mut roster, AWAY, 77, None);
    assert_eq!(changes(&mut roster), ["1 greeted, here: false"]);
    assert_eq!(answers(&mut roster), ["2: player 1, ticket 9"]);
    assert_eq!(roster.speaker(HOME, 8), Some(PlayerId::new(1)), "nothing is taken yet");
    hello(&mut roster, AWAY, 77, Some(9));
    assert_eq!(changes(&mut roster), ["1 taken over, returned: true", "1 greeted, here: true"]);
    assert_eq!([roster.speaker(HOME, 8), roster.speaker(AWAY, 9)], [None, Some(PlayerId::new(1))]);
    answers(&mut roster);
    run_to(&mut roster, 3);
    roster.speaker(HOME, 8);
    assert_eq!(answers(&mut roster), ["1: Gone"], "who still plays there is told to stop");
}

#[test]
fn who_is_silent_is_lost_and_then_gone_and_may_come_back_in_between() {
    let mut roster = roster();
    join(&mut roster, HOME, 77);
    roster.note_played(PlayerId::new(1), true);
    changes(&mut roster);
    run_to(&mut roster, 10);
    assert_eq!(changes(&mut roster), ["1 lost"]);
    roster.note_played(PlayerId::new(1), false);
    assert_eq!(changes(&mut roster), [""; 0], "a late copy brings nobody back");
    roster.note_played(PlayerId::new(1), true);
    assert_eq!(changes(&mut roster), ["1 returned"]);
    roster.disconnect(HOME);
    assert_eq!(changes(&mut roster), ["1 lost"]);
    roster.settle_join_leave_log();
    // The clock of the first run stands at 10 s.
    (20..=140).for_each(|half| roster.notice_silence(Instant::from_micros(half * 500_000), TIMEOUT, KEEP));
    assert_eq!(changes(&mut roster), ["1 left, lost: true"]);
    assert_eq!(roster.join_leave_log().left(), [Leaver { player: PlayerId::new(1), why: Departure::Lost }]);
    assert!(roster.members().is_empty());
}

/// From half a second to half a second.
fn run_between(roster: &mut Roster<()>, from: u64, to: u64) {
    (2 * from..=2 * to).for_each(|half| roster.notice_silence(Instant::from_micros(half * 500_000), TIMEOUT, KEEP));
}

#[test]
fn who_was_greeted_and_never_hears_it_is_refused_for_a_while_and_the_world_never_hears_of_them() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    changes(&mut roster);
    answers(&mut roster);
    run_to(&mut roster, 9);
    hello(&mut roster, HOME, 77, None);
    changes(&mut roster);
    run_between(&mut roster, 9, 10);
    assert_eq!(changes(&mut roster), ["1 refused: TimedOut"]);
    assert!(!roster.settle_join_leave_log() && roster.members().is_empty());
    for second in 11..39 {
        run_between(&mut roster, second, second);
        hello(&mut roster, HOME, 77, None);
        assert_eq!(answers(&mut roster).first().map(String::as_str), Some("1: TimedOut"), "no number is taken");
    }
    assert_eq!(changes(&mut roster), [""; 0], "told once");
    run_between(&mut roster, 40, 41);
    hello(&mut roster, HOME, 77, None);
    assert_eq!(answers(&mut roster), ["1: player 2, ticket 9"], "after that it is another try");
}

#[test]
fn who_has_joined_and_never_plays_is_refused_and_the_world_hears_that_they_have_left() {
    let mut roster = roster();
    join(&mut roster, HOME, 77);
    roster.settle_join_leave_log();
    changes(&mut roster);
    run_to(&mut roster, 10);
    assert_eq!(changes(&mut roster), ["player 1 refused: TimedOut", "1 left, lost: false"]);
    let why = Departure::Refused(Refusal::TimedOut);
    assert_eq!(roster.join_leave_log().left(), [Leaver { player: PlayerId::new(1), why }]);
}

#[test]
fn who_falls_asleep_in_the_middle_of_joining_may_try_again_when_awake() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    run_to(&mut roster, 10);
    assert_eq!(changes(&mut roster), ["1 refused: TimedOut"]);
    join(&mut roster, HOME, 77);
    assert_eq!(roster.joined().count(), 1);
}

#[test]
fn who_is_disconnected_in_the_middle_of_joining_is_gone_at_once_and_may_try_again() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    changes(&mut roster);
    roster.disconnect(HOME);
    assert_eq!(changes(&mut roster), ["1 refused: TimedOut"]);
    join(&mut roster, HOME, 77);
    assert_eq!(roster.joined().count(), 1);
}

#[test]
fn a_refusal_that_is_asked_for_again_and_again_is_reported_once_and_a_try_after_a_pause_anew() {
    let mut roster = roster();
    (1..=2).for_each(|nth| join(&mut roster, PeerId(nth), nth));
    changes(&mut roster);
    for second in 0..8 {
        run_between(&mut roster, second, second);
        hello(&mut roster, PeerId(3), 3, None);
        assert_eq!(answers(&mut roster).first().map(String::as_str), Some("3: Full"));
    }
    assert_eq!(changes(&mut roster), ["3 refused: Full"]);
    (1..=2).for_each(|nth| roster.note_played(PlayerId::new(nth), true));
    run_between(&mut roster, 8, 12);
    (1..=2).for_each(|nth| roster.note_played(PlayerId::new(nth), true));
    run_between(&mut roster, 13, 18);
    hello(&mut roster, PeerId(3), 3, None);
    assert_eq!(changes(&mut roster), ["3 refused: Full"]);
}

#[test]
fn in_a_full_session_a_newcomer_gets_the_place_of_who_was_lost_first() {
    let mut roster = roster();
    (1..=2).for_each(|nth| join(&mut roster, PeerId(nth), nth));
    (1..=2).for_each(|nth| roster.note_played(PlayerId::new(nth), true));
    hello(&mut roster, PeerId(3), 3, None);
    assert_eq!(answers(&mut roster)[0], "3: Full");
    roster.disconnect(PeerId(2));
    changes(&mut roster);
    join(&mut roster, PeerId(3), 3);
    assert_eq!(changes(&mut roster), ["3 greeted, here: true", "2 left, lost: true", "3 joined"]);
    assert_eq!(roster.members().len(), 2);
}

#[test]
fn who_was_lost_keeps_their_place_from_who_only_says_hello_is_refused_by_the_game_or_comes_after_they_have_come_back() {
    let mut roster = roster();
    (1..=2).for_each(|nth| join(&mut roster, PeerId(nth), nth));
    (1..=2).for_each(|nth| roster.note_played(PlayerId::new(nth), true));
    answers(&mut roster);
    roster.disconnect(PeerId(2));
    // One at a time: there is one place.
    (3..=4).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    assert_eq!(answers(&mut roster), ["4: Full", "3: player 3, ticket 10"]);
    changes(&mut roster);
    ask(&mut roster, PeerId(3), 3, Some(10));
    roster.admit_asking(&CAPACITY, |_| Err(Reason::EMPTY), &mut Outbox::new());
    let refused = "3 refused: ByGame(\"\")";
    assert_eq!(changes(&mut roster), ["3 greeted, here: true", refused]);
    hello(&mut roster, PeerId(5), 5, None);
    ask(&mut roster, PeerId(2), 2, None);
    let offered = answers(&mut roster);
    assert_eq!(offered, ["2: player 2, ticket 13", "5: player 4, ticket 12"]);
    ask(&mut roster, PeerId(2), 2, Some(13));
    changes(&mut roster);
    hello(&mut roster, PeerId(5), 5, Some(12));
    assert_eq!(changes(&mut roster), ["4 greeted, here: true", "5 refused: Full"]);
    roster.expel(PeerId(1), Departure::GoodBye(Reason::EMPTY));
    join(&mut roster, PeerId(5), 5);
    assert_eq!(roster.members().len(), 2, "the next place is free to them at once");
}

#[test]
fn who_was_expelled_is_refused_and_who_was_released_comes_back_as_another() {
    let mut roster = roster();
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    roster.expel(PeerId(1), Departure::GoodBye(Reason::EMPTY));
    roster.expel(PeerId(2), Departure::Lost);
    answers(&mut roster);
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    assert_eq!(answers(&mut roster), ["1: Gone", "2: player 3, ticket 10"]);
    let closed = Capacity { closed: Some(Refusal::Draining), ..CAPACITY };
    let mut bytes = Vec::new();
    let mut late = Hello { version: PROTOCOL_VERSION, nonce: 10, parts: vec![1, 2], ..Hello::default() };
    late.stream(&mut BitWriter::new(&mut bytes)).expect("writing never fails");
    changes(&mut roster);
    roster.read_hello(PeerId(10), BitReader::new(&bytes), &closed, || ()).expect("well-formed");
    assert_eq!(changes(&mut roster), ["10 refused: Draining"]);
}

#[test]
fn whose_connection_is_broken_comes_back_over_it_or_is_released_or_says_good_bye_by_it_all_the_same() {
    let mut roster = roster();
    (1..=2).for_each(|nth| join(&mut roster, PeerId(nth), nth));
    (1..=2).for_each(|nth| roster.note_played(PlayerId::new(nth), true));
    roster.settle_join_leave_log();
    roster.disconnect(HOME);
    answers(&mut roster);
    hello(&mut roster, HOME, 1, None);
    assert_eq!(answers(&mut roster), ["1: player 1, ticket 10"]);
    hello(&mut roster, HOME, 1, Some(10));
    assert_eq!(roster.speaker(HOME, 10), Some(PlayerId::new(1)), "nobody else was there");
    (1..=2).for_each(|nth| roster.disconnect(PeerId(nth)));
    roster.expel(PeerId(1), Departure::Lost);
    roster.expel(PeerId(2), Departure::GoodBye(Reason::EMPTY));
    let left = |nth, why| Leaver { player: PlayerId::new(nth), why };
    let both = [left(1, Departure::Lost), left(2, Departure::GoodBye(Reason::EMPTY))];
    assert_eq!(roster.join_leave_log().left(), both);
    answers(&mut roster);
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    assert_eq!(answers(&mut roster), ["2: Gone", "1: player 3, ticket 11"]);
}
