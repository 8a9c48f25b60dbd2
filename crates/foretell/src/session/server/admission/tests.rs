//! The roster by itself: places, tickets and nonces, without a server around it.

use super::{Change, Roster, Terms};
use crate::session::greeting::{Hello, Refused, Welcome};
use crate::session::packet::{Message, PROTOCOL_VERSION};
use crate::session::{Outbox, PeerId};
use crate::time::{Instant, TickTime};
use crate::wire::{BitReader, BitWriter};
use crate::world::PlayerId;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

const HOME: PeerId = PeerId(1);
const AWAY: PeerId = PeerId(2);
const TIMEOUT: Duration = Duration::from_secs(10);
const KEEP: Duration = Duration::from_secs(60);

fn roster() -> Roster<()> {
    Roster::new(7, vec![1, 2])
}

fn hello(roster: &mut Roster<()>, from: PeerId, nonce: u64, ticket: Option<u8>) {
    let mut hello = Hello { version: PROTOCOL_VERSION, nonce, parts: vec![1, 2], sent: 5, ticket };
    let mut bytes = Vec::new();
    hello.stream(&mut BitWriter::new(&mut bytes)).expect("writing never fails");
    roster.read_hello(from, BitReader::new(&bytes), &Terms::new(2, false), || ()).expect("well-formed");
}

/// What was answered over which connection: the player and the ticket, or why not.
fn answers(roster: &mut Roster<()>) -> Vec<String> {
    let mut outbox = Outbox::new();
    roster.answer_hellos(TickTime::default(), &mut outbox);
    let read = |(to, datagram): (PeerId, &[u8])| {
        let mut reader = BitReader::new(datagram);
        if Message::read(&mut reader) == Ok(Message::Welcome) {
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
        Change::Joined(player) => format!("{} joined", player.get()),
        Change::Greeted { player, is_here } => format!("{} greeted, here: {is_here}", player.get()),
        Change::TakenOver { player, has_returned } => format!("{} taken over, returned: {has_returned}", player.get()),
        Change::Lost(player) => format!("{} lost", player.get()),
        Change::Returned(player) => format!("{} returned", player.get()),
        Change::Left { player, was_lost, .. } => format!("{} left, lost: {was_lost}", player.get()),
        Change::TurnedAway => String::from("turned away"),
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
fn a_hello_is_answered_with_a_place_however_often_it_comes_and_its_ticket_is_heard() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    hello(&mut roster, HOME, 77, None);
    assert_eq!(changes(&mut roster), ["1 joined", "1 greeted, here: true"]);
    assert_eq!(answers(&mut roster), ["1: player 1, ticket 8"]);
    assert_eq!(roster.turnover().joined(), [PlayerId::new(1)]);
    assert_eq!(
        [roster.speaker(HOME, 8), roster.speaker(HOME, 7), roster.speaker(AWAY, 8)],
        [Some(PlayerId::new(1)), None, None]
    );
}

#[test]
fn from_elsewhere_a_place_is_taken_over_by_the_ticket_that_was_offered_alone() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
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
    hello(&mut roster, HOME, 77, None);
    roster.note_played(PlayerId::new(1), true);
    run_to(&mut roster, 10);
    assert_eq!(changes(&mut roster), ["1 joined", "1 lost"]);
    roster.note_played(PlayerId::new(1), false);
    assert_eq!(changes(&mut roster), [""; 0], "a late copy brings nobody back");
    roster.note_played(PlayerId::new(1), true);
    assert_eq!(changes(&mut roster), ["1 returned"]);
    roster.disconnect(HOME);
    assert_eq!(changes(&mut roster), ["1 lost"]);
    roster.settle_turnover();
    // The clock of the first run stands at 10 s.
    (20..=140).for_each(|half| roster.notice_silence(Instant::from_micros(half * 500_000), TIMEOUT, KEEP));
    assert_eq!(changes(&mut roster), ["1 left, lost: true"]);
    assert_eq!((roster.turnover().left(), roster.members().len()), (&[PlayerId::new(1)][..], 0));
}

#[test]
fn who_never_played_is_not_waited_for_and_the_world_never_hears_of_them() {
    let mut roster = roster();
    hello(&mut roster, HOME, 77, None);
    run_to(&mut roster, 10);
    assert_eq!(changes(&mut roster), ["1 joined", "1 lost", "1 left, lost: true"]);
    assert!(!roster.settle_turnover());
}

#[test]
fn in_a_full_session_a_newcomer_gets_the_place_of_who_was_lost_first() {
    let mut roster = roster();
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    hello(&mut roster, PeerId(3), 3, None);
    assert_eq!(answers(&mut roster)[0], "3: Full");
    roster.disconnect(PeerId(2));
    changes(&mut roster);
    hello(&mut roster, PeerId(3), 3, None);
    assert_eq!(changes(&mut roster), ["2 left, lost: true", "3 joined"]);
}

#[test]
fn who_was_expelled_is_refused_and_who_was_released_comes_back_as_another() {
    let mut roster = roster();
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    roster.expel(PeerId(1));
    roster.release(PeerId(2));
    answers(&mut roster);
    (1..=2).for_each(|nth| hello(&mut roster, PeerId(nth), nth, None));
    assert_eq!(answers(&mut roster), ["1: Gone", "2: player 3, ticket 10"]);
    hello(&mut roster, PeerId(9), 9, None);
    let closed = Terms::new(9, true);
    let mut bytes = Vec::new();
    let mut late = Hello { version: PROTOCOL_VERSION, nonce: 10, parts: vec![1, 2], ..Hello::default() };
    late.stream(&mut BitWriter::new(&mut bytes)).expect("writing never fails");
    changes(&mut roster);
    roster.read_hello(PeerId(10), BitReader::new(&bytes), &closed, || ()).expect("well-formed");
    assert_eq!(changes(&mut roster), ["turned away"]);
}
