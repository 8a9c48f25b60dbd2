//! Each case of who is let in by itself.

use super::*;
use crate::credential::Token;
use crate::native::token::Issuer;

const START: UnixTime = UnixTime(1_000_000);
const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const MINUTE: Duration = Duration::from_secs(60);

fn issuer() -> Issuer {
    Issuer::new(&[7; 32], "arena")
}

fn admission(places_max: usize, start: UnixTime) -> Admission {
    let access = Access { ticket_key: Some([1; 32]), ..Access::new("arena", issuer().public_key()) };
    Admission::new(access, (places_max, &Limits::default()), Ended::default(), start)
}

fn account(name: &str) -> Account {
    Account::new(name).expect("a name")
}

/// A token of `issuer` for `name`, issued that many milliseconds after the start, for a minute.
fn token(name: &str, after: u64) -> Token {
    issuer().issue(&account(name), UnixTime(START.0 + after), MINUTE)
}

fn show(to: &mut Admission, token: &Token, after: u64) -> Result<Pass, Refused> {
    let fresh = u64::from_le_bytes(token::random());
    to.admit(UnixTime(START.0 + after), Shown::Token(token.as_bytes()), HERE, fresh)
}

fn come_back(to: &mut Admission, ticket: &ResumeTicket, after: u64) -> Result<Pass, Refused> {
    to.admit(UnixTime(START.0 + after), Shown::ResumeTicket(ticket.as_bytes()), HERE, 1)
}

#[test]
fn a_token_admits_once_within_its_time() {
    let mut door = admission(8, START);
    let alice = token("alice", 10);
    assert_eq!(show(&mut door, &alice, 9), Err(Refused::Untimely));
    let pass = show(&mut door, &alice, 10).expect("admitted");
    assert_eq!(pass.account, account("alice"));
    assert_eq!(show(&mut door, &alice, 60_009), Err(Refused::Used));
    assert_eq!(show(&mut door, &alice, 60_010), Err(Refused::Expired));
    assert_eq!(show(&mut door, &token("bob", 0), 60_000), Err(Refused::Expired));
    assert!(show(&mut door, &token("bob", 0), 59_999).is_ok());
}

#[test]
fn tokens_of_another_key_another_audience_an_earlier_start_or_too_long_a_life_are_refused() {
    let mut door = admission(8, START);
    let now = UnixTime(START.0 + 10);
    let mut refused = |issuer: Issuer, issued: UnixTime, lifetime: Duration| {
        let token = issuer.issue(&account("alice"), issued, lifetime);
        door.admit(now, Shown::Token(token.as_bytes()), HERE, 1).map(|_| ())
    };
    assert_eq!(refused(Issuer::new(&[8; 32], "arena"), now, MINUTE), Err(Refused::Forged));
    assert_eq!(refused(Issuer::new(&[7; 32], "other"), now, MINUTE), Err(Refused::Foreign));
    assert_eq!(refused(issuer(), UnixTime(START.0 - 1), MINUTE), Err(Refused::BeforeStart));
    assert_eq!(refused(issuer(), now, 11 * MINUTE), Err(Refused::Untimely));
    assert_eq!(refused(issuer(), START, MINUTE), Ok(()));
}

#[test]
fn an_insecure_token_admits_at_once_though_the_clocks_are_minutes_apart() {
    let start = UnixTime(10_000_000);
    for client in [start.0 - 4 * 60_000, start.0, start.0 + 4 * 60_000] {
        let limits = (8, &Limits::default());
        let mut door = Admission::new(Access::insecure_development(), limits, Ended::default(), start);
        let token = Token::insecure(&account("alice"), UnixTime(client));
        assert!(door.admit(start, Shown::Token(token.as_bytes()), HERE, 1).is_ok(), "{client}");
        assert_eq!(door.admit(start, Shown::Token(token.as_bytes()), HERE, 1).err(), Some(Refused::Used));
    }
}

#[test]
fn a_full_server_says_so_and_leaves_the_token_for_later() {
    let mut door = admission(1, START);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    let waiting = token("bob", 0);
    assert_eq!(show(&mut door, &waiting, 2), Err(Refused::Full));
    door.free(&account("alice"), first.place);
    assert!(show(&mut door, &waiting, 3).is_ok());
    assert_eq!(come_back(&mut door, &first.ticket, 4).err(), Some(Refused::Full));
}

#[test]
fn a_player_has_one_place_and_the_newest_connection_has_it() {
    let mut door = admission(1, START);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    let second = show(&mut door, &token("alice", 1), 2).expect("the same place");
    let third = come_back(&mut door, &first.ticket, 3).expect("the same place");
    assert_eq!((second.place, third.place), (first.place, first.place));
    assert!(first.connection < second.connection && second.connection < third.connection);
}

#[test]
fn a_ticket_rejoins_until_it_expires_also_after_a_restart_with_the_same_key() {
    let mut door = admission(8, START);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    assert_eq!(come_back(&mut door, &pass.ticket, 599_999).map(|back| back.place), Ok(pass.place));
    assert_eq!(come_back(&mut door, &pass.ticket, 600_000).err(), Some(Refused::Expired));
    let mut again = admission(8, UnixTime(START.0 + 5_000));
    assert_eq!(come_back(&mut again, &pass.ticket, 6_000).map(|back| back.place), Ok(pass.place));
    assert_eq!(show(&mut again, &token("alice", 4_999), 6_000).err(), Some(Refused::BeforeStart));
    let access = Access::new("arena", issuer().public_key());
    let mut other = Admission::new(access, (8, &Limits::default()), Ended::default(), START);
    assert_eq!(come_back(&mut other, &pass.ticket, 1).err(), Some(Refused::Forged));
}

#[test]
fn the_ticket_of_a_session_that_was_ended_is_refused_and_a_new_token_begins_another() {
    let mut door = admission(8, START);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.end(START, &pass.account, pass.place);
    assert_eq!(come_back(&mut door, &pass.ticket, 1).err(), Some(Refused::Ended));
    let next = show(&mut door, &token("alice", 1), 2).expect("a new place");
    assert_ne!(next.place, pass.place);
    assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Ended));
}

#[test]
fn an_end_ends_all_tickets_of_the_account_that_there_are_and_none_of_later() {
    let mut door = admission(8, START);
    let first = show(&mut door, &token("alice", 0), 0).expect("a place");
    // It never played.
    door.free(&first.account, first.place);
    let second = show(&mut door, &token("alice", 1), 1).expect("another place");
    let renewed = door.renew(UnixTime(START.0 + 5), &second.account).expect("a ticket");
    // The clock was set back meanwhile.
    door.end(UnixTime(START.0 + 2), &second.account, second.place);
    for ticket in [&first.ticket, &second.ticket, &renewed] {
        assert_eq!(come_back(&mut door, ticket, 6).err(), Some(Refused::Ended));
    }
    let third = show(&mut door, &token("alice", 2), 2).expect("a new token is another matter");
    door.end(UnixTime(START.0 + 7), &second.account, second.place);
    assert!(come_back(&mut door, &third.ticket, 8).is_ok(), "it has begun after the end that was heard of late");
    door.end_tickets(UnixTime(START.0 + 9), &third.account);
    assert_eq!(come_back(&mut door, &third.ticket, 9).err(), Some(Refused::Ended));
    let bob = show(&mut door, &token("bob", 3), 9).expect("a place");
    assert!(come_back(&mut door, &bob.ticket, 10).is_ok(), "it is nobody else's end");
}

#[test]
fn a_token_whose_issuer_is_ahead_waits_for_its_time_and_no_longer_than_two_seconds() {
    let door = admission(8, START);
    let early = |after| door.early_by(START, Shown::Token(token("alice", after).as_bytes())).as_millis();
    assert_eq!([0, 1, 2_000, 2_001].map(early), [0, 1, 2_000, 0]);
    let forged = Issuer::new(&[8; 32], "arena").issue(&account("alice"), UnixTime(START.0 + 1000), MINUTE);
    assert!(door.early_by(START, Shown::Token(forged.as_bytes())).is_zero());
}

#[test]
fn new_players_come_as_fast_as_is_good_for_the_others() {
    let limits = Limits { joins_per_second: 2, ..Limits::default() };
    let access = Access::new("arena", issuer().public_key());
    let mut door = Admission::new(access, (20, &limits), Ended::default(), START);
    let mut come = |name: u64, from: u8, at: u64| {
        let shown = token(&name.to_string(), at);
        let pass = door.admit(UnixTime(START.0 + at), Shown::Token(shown.as_bytes()), [10, 0, 0, from].into(), name)?;
        door.end(UnixTime(START.0 + at), &pass.account, pass.place);
        Ok(())
    };
    assert!((0..16).all(|name| come(name, 1, 0) == Ok(())));
    assert_eq!(come(16, 1, 1), Err(Refused::Busy), "too many of one address");
    assert!((16..20).all(|name| come(name, 2, 1) == Ok(())), "as many at once as there are places");
    assert_eq!(come(20, 3, 2), Err(Refused::Busy), "too many of all");
    assert_eq!([come(20, 3, 501), come(21, 4, 502)], [Ok(()), Err(Refused::Busy)], "two in a second");
    assert_eq!(come(21, 1, 4_000), Err(Refused::Busy));
    assert_eq!([come(21, 1, 5_001), come(22, 1, 5_002)], [Ok(()), Err(Refused::Busy)], "twelve in a minute");
}

#[test]
fn an_account_is_admitted_so_often_and_no_more() {
    let mut door = admission(8, START);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    let admitted = (0..1000).filter(|at| come_back(&mut door, &pass.ticket, *at).is_ok()).count();
    assert_eq!(admitted, 9, "and once by token");
    assert_eq!(come_back(&mut door, &pass.ticket, 1000).err(), Some(Refused::Busy));
    assert!(show(&mut door, &token("bob", 0), 1000).is_ok());
    let admitted = (1000..61_000).step_by(500).filter(|at| come_back(&mut door, &pass.ticket, *at).is_ok()).count();
    assert_eq!(admitted, 20, "in a minute");
}

#[test]
fn the_lost_player_of_a_full_server_makes_room_and_comes_back_when_there_is_some() {
    let mut door = admission(1, START);
    let alice = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.lose(&alice.account, alice.place);
    let bob = show(&mut door, &token("bob", 1), 1).expect("the place of who is lost");
    assert_eq!(come_back(&mut door, &alice.ticket, 2).err(), Some(Refused::Full));
    door.end(START, &bob.account, bob.place);
    assert_eq!(come_back(&mut door, &alice.ticket, 3).map(|back| back.place), Ok(alice.place));
    assert!(door.knows(HERE) && !door.knows([10, 0, 0, 1].into()));
}

#[test]
fn a_draining_server_takes_back_its_players_and_nobody_else() {
    let mut door = admission(8, START);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.drain();
    assert_eq!(show(&mut door, &token("bob", 0), 1), Err(Refused::Draining));
    assert!(come_back(&mut door, &pass.ticket, 2).is_ok());
    door.free(&pass.account, pass.place);
    assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Draining));
}

#[test]
fn what_is_remembered_of_tokens_is_forgotten_when_they_have_expired() {
    let mut door = admission(8, START);
    for minute in 0..10 {
        let at = minute * 60_000;
        let pass = show(&mut door, &token("alice", at), at).expect("a place");
        door.end(UnixTime(START.0 + at), &pass.account, pass.place);
    }
    assert_eq!((door.used.len(), door.ended.len()), (1, 1));
    let late = 40 * 60_000;
    assert!(show(&mut door, &token("alice", late), late).is_ok());
    assert_eq!((door.used.len(), door.ended.len()), (1, 0));
}
