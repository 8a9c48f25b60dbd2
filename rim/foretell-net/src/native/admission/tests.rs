//! Each case of who is let in by itself.

use super::*;
use crate::credential::Token;
use crate::token::Issuer;

const START: UnixTime = UnixTime(1_000_000);
const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
const MINUTE: Duration = Duration::from_secs(60);

fn issuer() -> Issuer {
    Issuer::new(&[7; 32], "arena")
}

/// So many milliseconds after the start, by both clocks.
fn at(after: u64) -> Moment {
    Moment { steady: Instant::from_micros(after * 1000), date: UnixTime(START.0 + after) }
}

fn with(access: Access, places_max: usize, limits: &Limits) -> Admission {
    let tickets = Tickets::of_one_start(&access.audience);
    Admission::new(access, places_max, limits, tickets, Instant::ZERO)
}

fn admission(places_max: usize) -> Admission {
    with(Access::new("arena", issuer().public_key()), places_max, &Limits::default())
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
    to.admit(at(after), Shown::Token(token.as_bytes()), HERE, fresh)
}

fn come_back(to: &mut Admission, ticket: &ResumeTicket, after: u64) -> Result<Pass, Refused> {
    to.admit(at(after), Shown::ResumeTicket(ticket.as_bytes()), HERE, 1)
}

#[test]
fn a_token_admits_once_within_its_time() {
    let mut door = admission(8);
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
    let mut door = admission(8);
    let now = at(10).date;
    let mut refused = |issuer: Issuer, issued: UnixTime, lifetime: Duration| {
        let token = issuer.issue(&account("alice"), issued, lifetime);
        door.admit(at(10), Shown::Token(token.as_bytes()), HERE, 1).map(|_| ())
    };
    assert_eq!(refused(Issuer::new(&[8; 32], "arena"), now, MINUTE), Err(Refused::Forged));
    assert_eq!(refused(Issuer::new(&[7; 32], "other"), now, MINUTE), Err(Refused::Foreign));
    assert_eq!(refused(issuer(), UnixTime(START.0 - 3), MINUTE), Err(Refused::BeforeStart));
    assert_eq!(refused(issuer(), now, 11 * MINUTE), Err(Refused::Untimely));
    assert_eq!(refused(issuer(), START, MINUTE), Ok(()));
}

#[test]
fn an_insecure_token_admits_at_once_though_the_clocks_are_minutes_apart() {
    for apart in [-4 * 60_000, 0, 4 * 60_000] {
        let mut door = with(Access::insecure_development(), 8, &Limits::default());
        let token = Token::insecure(&account("alice"), UnixTime(START.0.saturating_add_signed(apart)));
        assert!(show(&mut door, &token, 0).is_ok(), "{apart}");
        assert_eq!(show(&mut door, &token, 0).err(), Some(Refused::Used));
    }
}

#[test]
fn a_full_server_says_so_and_leaves_the_token_for_later() {
    let mut door = admission(1);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    let waiting = token("bob", 0);
    assert_eq!(show(&mut door, &waiting, 2), Err(Refused::Full));
    door.free(&first.account, first.place, first.connection);
    assert!(show(&mut door, &waiting, 3).is_ok());
    assert_eq!(come_back(&mut door, &first.ticket, 4).err(), Some(Refused::Full));
}

#[test]
fn a_player_has_one_place_and_the_newest_login_has_it_and_comes_back_by_its_own_tickets() {
    let mut door = admission(1);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    let second = show(&mut door, &token("alice", 1), 2).expect("the same place");
    assert_eq!(come_back(&mut door, &first.ticket, 3).err(), Some(Refused::Ended), "it is of the login before");
    let third = come_back(&mut door, &second.ticket, 4).expect("the same place");
    let fourth = come_back(&mut door, &second.ticket, 5).expect("the answer before may have been lost");
    let fifth = come_back(&mut door, &third.ticket, 6).expect("the same place");
    assert!([second.place, third.place, fourth.place, fifth.place].iter().all(|place| *place == first.place));
    let connections = [&first, &second, &third, &fourth, &fifth].map(|pass| pass.connection);
    assert!(connections.is_sorted_by(|one, other| one < other), "{connections:?}");
}

#[test]
fn a_connection_that_was_replaced_gets_no_newer_ticket() {
    let mut door = admission(1);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    let second = show(&mut door, &token("alice", 1), 2).expect("the same place");
    assert!(door.renew(at(3), &first.account, first.connection).is_none());
    let renewed = door.renew(at(3), &second.account, second.connection).expect("a ticket");
    assert!(come_back(&mut door, &renewed, 4).is_ok());
}

#[test]
fn a_login_that_is_not_admitted_ends_no_ticket() {
    let mut door = admission(1);
    let first = show(&mut door, &token("alice", 0), 1).expect("a place");
    assert_eq!(show(&mut door, &token("alice", 9), 2).err(), Some(Refused::Untimely));
    assert!(come_back(&mut door, &first.ticket, 3).is_ok());
}

#[test]
fn a_ticket_rejoins_until_it_expires_also_after_a_restart_with_the_same_file() {
    let file = std::env::temp_dir().join(format!("foretell-admission-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let start = |start: Moment| {
        let tickets = Tickets::kept_in(&file, "arena").expect("a file");
        let access = Access::new("arena", issuer().public_key());
        Admission::new(access, 8, &Limits::default(), tickets, start.steady)
    };
    let mut door = start(at(0));
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    assert_eq!(come_back(&mut door, &pass.ticket, 599_999).map(|back| back.place), Ok(pass.place));
    assert_eq!(come_back(&mut door, &pass.ticket, 600_000).err(), Some(Refused::Expired));
    drop(door);
    let mut again = start(at(5_000));
    assert_eq!(come_back(&mut again, &pass.ticket, 6_000).map(|back| back.place), Ok(pass.place));
    assert_eq!(show(&mut again, &token("alice", 4_997), 6_000).err(), Some(Refused::BeforeStart));
    assert_eq!(come_back(&mut admission(8), &pass.ticket, 1).err(), Some(Refused::Forged));
    std::fs::remove_file(file).expect("it was there");
}

/// The start of a server whose clock is set by an hour after a minute, one way or the other: then tokens are judged by
/// the clock as it is now.
#[test]
fn a_clock_that_is_set_lets_no_token_in_twice_and_keeps_no_new_one_out() {
    const HOUR: u64 = 3_600_000;
    let set = |after: u64, back: bool| {
        let date = if back { START.0 + after } else { START.0 + after + 2 * HOUR };
        Moment { steady: Instant::from_micros(after * 1000), date: UnixTime(date) }
    };
    let started = Moment { steady: Instant::ZERO, date: UnixTime(START.0 + HOUR) };
    for back in [true, false] {
        let access = Access::new("arena", issuer().public_key());
        let tickets = Tickets::of_one_start("arena");
        let mut door = Admission::new(access, 8, &Limits::default(), tickets, started.steady);
        let mut show = |name: &str, issued: UnixTime, now: Moment| {
            let token = issuer().issue(&account(name), issued, MINUTE);
            let pass = door.admit(now, Shown::Token(token.as_bytes()), HERE, 1).map(|_| ());
            let twice = door.admit(now, Shown::Token(token.as_bytes()), HERE, 1).map(|_| ());
            assert!(pass.is_err() || twice == Err(Refused::Used), "{twice:?}");
            (pass, token)
        };
        let before = Moment { steady: Instant::from_micros(1_000_000), date: UnixTime(started.date.0 + 1000) };
        let (pass, used) = show("alice", before.date, before);
        assert_eq!(pass, Ok(()));
        let now = set(60_000, back);
        assert_eq!(show("bob", now.date, now).0, Ok(()));
        assert!(show("carol", now.date.before(Duration::from_secs(61)), now).0.is_err(), "of before the start");
        // The time of the first token comes once more, when what was used may be forgotten.
        let again = Moment { steady: now.steady, date: before.date };
        let shown = door.admit(again, Shown::Token(used.as_bytes()), HERE, 1);
        assert_eq!(shown.err(), Some(Refused::Used));
    }
}

#[test]
fn the_ticket_of_a_session_that_was_ended_is_refused_and_a_new_token_begins_another() {
    let mut door = admission(8);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.end(START, &pass.account, pass.place);
    assert_eq!(come_back(&mut door, &pass.ticket, 1).err(), Some(Refused::Ended));
    let next = show(&mut door, &token("alice", 1), 2).expect("a new place");
    assert_ne!(next.place, pass.place);
    assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Ended));
}

#[test]
fn an_end_ends_all_tickets_of_the_account_that_there_are_and_none_of_later() {
    let mut door = admission(8);
    let first = show(&mut door, &token("alice", 0), 0).expect("a place");
    // It never played.
    door.free(&first.account, first.place, first.connection);
    let second = show(&mut door, &token("alice", 1), 1).expect("another place");
    let renewed = door.renew(at(5), &second.account, second.connection).expect("a ticket");
    // The clock was set back meanwhile.
    door.end(UnixTime(START.0 + 2), &second.account, second.place);
    for ticket in [&first.ticket, &second.ticket, &renewed] {
        assert_eq!(come_back(&mut door, ticket, 6).err(), Some(Refused::Ended));
    }
    let third = show(&mut door, &token("alice", 2), 2).expect("a new token is another matter");
    door.end(UnixTime(START.0 + 7), &second.account, second.place);
    assert!(come_back(&mut door, &third.ticket, 8).is_ok(), "it has begun after the end that was heard of late");
    door.remove(UnixTime(START.0 + 9), &third.account);
    assert_eq!(come_back(&mut door, &third.ticket, 9).err(), Some(Refused::Ended));
    let bob = show(&mut door, &token("bob", 3), 9).expect("a place");
    assert!(come_back(&mut door, &bob.ticket, 10).is_ok(), "it is nobody else's end");
}

#[test]
fn a_token_whose_issuer_is_ahead_waits_for_its_time_and_no_longer_than_two_seconds() {
    let door = admission(8);
    let early = |after| door.early_by(START, Shown::Token(token("alice", after).as_bytes())).as_millis();
    assert_eq!([0, 1, 2_000, 2_001].map(early), [0, 1, 2_000, 0]);
    let forged = Issuer::new(&[8; 32], "arena").issue(&account("alice"), UnixTime(START.0 + 1000), MINUTE);
    assert!(door.early_by(START, Shown::Token(forged.as_bytes())).is_zero());
}

/// Plays for a moment under a name, from an address.
fn visit(door: &mut Admission, name: u64, from: IpAddr, after: u64) -> Result<(), Refused> {
    let shown = token(&name.to_string(), after);
    let pass = door.admit(at(after), Shown::Token(shown.as_bytes()), from, name)?;
    door.end(at(after).date, &pass.account, pass.place);
    Ok(())
}

#[test]
fn new_players_come_as_fast_as_is_good_for_the_others() {
    let limits = Limits { joins_per_second: 2, ..Limits::default() };
    let mut door = with(Access::new("arena", issuer().public_key()), 20, &limits);
    let mut come = |name: u64, from: u8, after: u64| visit(&mut door, name, [10, 0, 0, from].into(), after);
    assert!((0..20).all(|name| come(name, name as u8, 0) == Ok(())), "as many at once as there are places");
    assert_eq!(come(20, 20, 1), Err(Refused::Busy), "too many of all");
    assert_eq!([come(20, 20, 501), come(21, 21, 502)], [Ok(()), Err(Refused::Busy)], "two in a second");
    let mut door = admission(64);
    let mut come = |name: u64, after: u64| visit(&mut door, name, HERE, after);
    assert!((0..16).all(|name| come(name, 0) == Ok(())));
    assert_eq!(come(16, 1), Err(Refused::Busy), "too many of one address");
    assert_eq!([come(16, 5_001), come(17, 5_002)], [Ok(()), Err(Refused::Busy)], "twelve in a minute");
}

#[test]
fn whoever_comes_and_goes_all_the_time_leaves_room_for_who_comes_for_the_first_time() {
    let mut door = admission(64);
    let mut besieged = |from: &dyn Fn(u64) -> IpAddr, since: u64| {
        let mut refused = 0;
        for step in 0..600 {
            let after = since + step * 100;
            for number in 0..24 {
                refused += usize::from(visit(&mut door, after + number, from(number), after).is_err());
            }
            if step % 10 == 0 {
                let stranger = [10, 1, (since / 1000) as u8, (step / 10) as u8].into();
                assert_eq!(visit(&mut door, 1 << 40 | after, stranger, after), Ok(()), "after {step} steps");
            }
        }
        refused
    };
    let refused = besieged(&|number| [10, 0, 0, number as u8].into(), 0);
    assert!(refused > 13_000, "{refused} of 14,400");
    let of_one_customer = |number| IpAddr::from([0x2001, 0xdb8, 1, number as u16, 0, 0, 0, 1]);
    assert!(besieged(&of_one_customer, 60_000) > 13_000);
}

#[test]
fn a_lost_player_whose_place_was_given_away_has_none_until_there_is_another() {
    let mut door =
        with(Access::new("arena", issuer().public_key()), 8, &Limits { per_address_max: 2, ..Limits::default() });
    let [alice, _] = ["alice", "bob"].map(|name| show(&mut door, &token(name, 0), 0).expect("a place"));
    door.lose(at(0).steady, &alice.account, alice.place, alice.connection);
    let carol = show(&mut door, &token("carol", 1), 3_000).expect("the place of who is lost");
    let given_away: Vec<_> = door.take_given_away().iter().map(|place| place.session).collect();
    assert_eq!(given_away, [alice.place.0]);
    assert!(door.take_given_away().is_empty());
    door.come_back(&alice.account, alice.place);
    assert!(!door.has_place(&alice.account, alice.place));
    assert_eq!(come_back(&mut door, &alice.ticket, 3_001).err(), Some(Refused::Busy));
    door.end(START, &carol.account, carol.place);
    assert_eq!(come_back(&mut door, &alice.ticket, 3_002).map(|back| back.place), Ok(alice.place));
    // What is heard of late of the connection before frees nothing.
    door.free(&alice.account, alice.place, alice.connection);
    assert!(door.has_place(&alice.account, alice.place));
}

#[test]
fn an_account_is_admitted_so_often_and_no_more() {
    let mut door = admission(8);
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
    let mut door = admission(1);
    let alice = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.lose(at(0).steady, &alice.account, alice.place, alice.connection);
    assert_eq!(show(&mut door, &token("bob", 1), 1).err(), Some(Refused::Full), "it may be back in a moment");
    let bob = show(&mut door, &token("bob", 1), 3_000).expect("somebody is lost");
    let back = come_back(&mut door, &alice.ticket, 3_001).expect("nobody has joined in her stead yet");
    assert_eq!(back.place, alice.place);
    assert_eq!(show(&mut door, &token("carol", 1), 3_002).err(), Some(Refused::Full));
    door.lose(at(3_002).steady, &back.account, back.place, back.connection);
    // Bob has joined: then the session reports that she has left.
    door.free(&back.account, back.place, back.connection);
    assert_eq!(come_back(&mut door, &alice.ticket, 9_000).err(), Some(Refused::Full));
    door.end(START, &bob.account, bob.place);
    assert_eq!(come_back(&mut door, &alice.ticket, 9_001).map(|back| back.place), Ok(alice.place));
    assert!(door.knows(HERE) && !door.knows([10, 0, 0, 1].into()));
}

#[test]
fn a_draining_server_takes_back_its_players_and_nobody_else() {
    let mut door = admission(8);
    let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
    door.drain();
    assert_eq!(show(&mut door, &token("bob", 0), 1), Err(Refused::Draining));
    let pass = come_back(&mut door, &pass.ticket, 2).expect("its place");
    door.free(&pass.account, pass.place, pass.connection);
    assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Draining));
}

#[test]
fn what_is_remembered_of_tokens_is_forgotten_when_they_have_expired() {
    let mut door = admission(8);
    for minute in 0..10 {
        let after = minute * 60_000;
        let pass = show(&mut door, &token("alice", after), after).expect("a place");
        door.end(at(after).date, &pass.account, pass.place);
    }
    assert_eq!((door.used.len(), door.tickets.ends()), (10, 1));
    let late = 40 * 60_000;
    assert!(show(&mut door, &token("alice", late), late).is_ok());
    assert_eq!((door.used.len(), door.tickets.ends()), (1, 0));
}
