//! What a server does by the clock, over real sockets: the clock that it is told is ahead of the true one.

use crate::common::by_hand::{ByHand, NOW};
use crate::common::raw::{Raw, hello, narrow_endpoint};
use crate::common::{Guest, account, all_agree, join, join_with, rules, token};
use foretell::PeerId;
use foretell::session::Departure;
use foretell::session::server::ServerEvent;
use foretell_net::{Arrival, Closed, ConnectError, Connected, Credential, Gateway, JoinConfig, Limits, Refused};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::runtime::Handle;
use wtransport::VarInt;

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_renewed_each_minute_and_the_newer_one_rejoins() {
    let mut hall = ByHand::start();
    let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
    let first = guests[0].player.ticket().clone();
    hall.tick(Duration::from_secs(59));
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 40)).await;
    assert!(*guests[0].player.ticket() == first, "it is too early");
    hall.tick(Duration::from_secs(61));
    hall.run(&mut guests, NOW, |guests, _| *guests[0].player.ticket() != first).await;
    let newer = guests[0].player.ticket().clone();
    let mut again = [join(&hall.url(), newer).await.expect("admitted")];
    hall.run(&mut again, NOW, |guests, _| all_agree(guests, 10)).await;
    let [first] = guests;
    assert!(first.player.client().player() == again[0].player.client().player());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_takes_nothing_in_for_half_an_hour_keeps_its_connection_and_has_the_newest_ticket() {
    let mut hall = ByHand::start();
    let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
    let first = guests[0].player.ticket().clone();
    for minute in 1..=30 {
        hall.tick(minute * Duration::from_secs(61));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let agreed = guests[0].agreed();
    hall.run(&mut guests, NOW, |guests, _| {
        assert_eq!(guests[0].player.connected(), Connected::Yes);
        all_agree(guests, agreed + 10)
    })
    .await;
    assert!(*guests[0].player.ticket() != first);
    assert!(join(&hall.url(), guests[0].player.ticket().clone()).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_shows_a_token_and_never_plays_is_closed_after_ten_seconds_and_the_place_is_free() {
    let mut hall = ByHand::start();
    let mut raw = Raw::open(&hall.url(), Ipv4Addr::LOCALHOST.into(), None).await.expect("a connection");
    raw.admit(&token("mallory")).await.expect("admitted");
    hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (1, 0)).await;
    hall.tick(Duration::from_secs(9));
    hall.tick(NOW);
    assert_eq!(hall.gateway.connections(), (1, 0), "there is time left");
    hall.tick(Duration::from_secs(11));
    assert_eq!(raw.hear().await.as_deref(), Some(&[6, 8][..]), "closing, as it took too long");
    assert!(raw.is_closed().await);
    hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
    // Who plays is not closed.
    let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
    hall.tick(Duration::from_secs(30));
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 40)).await;
    assert_eq!(guests[0].player.connected(), Connected::Yes);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_in_no_answer_has_a_place_for_ten_seconds_and_not_for_ever() {
    let mut hall = ByHand::start();
    let mut raw = Raw::open_by(narrow_endpoint(&hall.url(), 64), &hall.url(), None).await.expect("a connection");
    raw.say(&[&[1, 1, 0], token("mallory").as_bytes()].concat()).await;
    hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (1, 0)).await;
    hall.tick(Duration::from_secs(11));
    assert!(raw.is_closed().await);
    hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
    let mut guests = [join(&hall.url(), token("alice")).await.expect("the only place is free")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whose_connection_is_over_before_they_have_joined_leaves_no_place_taken_in_the_session() {
    let mut hall = ByHand::start();
    for code in [Closed::Goodbye, Closed::Lost].map(Closed::code) {
        let mut raw = Raw::open(&hall.url(), Ipv4Addr::LOCALHOST.into(), None).await.expect("a connection");
        let session = raw.admit(&token("mallory")).await.expect("admitted");
        raw.connection.send_datagram(hello(session)).expect("sent");
        let heard = hall.gateway.traffic().received + 1;
        hall.run(&mut [], NOW, |_, gateway| gateway.traffic().received == heard).await;
        raw.connection.close(VarInt::try_from(code).expect("small"), b"");
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
        let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
        hall.run(&mut guests, NOW, |guests, _| {
            assert_eq!(guests[0].player.connected(), Connected::Yes, "the only place is free, after {code}");
            all_agree(guests, 10)
        })
        .await;
        let [alice] = guests;
        let leaving = tokio::spawn(alice.player.leave());
        hall.run(&mut [], NOW, |_, gateway| leaving.is_finished() && gateway.players().count() == 0).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_was_let_in_and_has_not_joined_in_time_may_come_back_by_ticket() {
    let mut hall = ByHand::start();
    let mut credential: Credential = token("alice").into();
    for _ in 0..2 {
        let unused = join(&hall.url(), credential).await.expect("admitted");
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (1, 0)).await;
        hall.tick(Duration::from_secs(11));
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
        credential = unused.player.ticket().clone().into();
    }
    let mut guests = [join(&hall.url(), credential).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_whose_game_stands_still_for_too_long_after_it_was_let_in_comes_back_by_itself() {
    let mut hall = ByHand::start();
    let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
    for comes_back in [false, true] {
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (1, 0)).await;
        hall.tick(Duration::from_secs(11));
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        guests[0].frame();
        assert_eq!(guests[0].player.connected(), Connected::Rejoining, "after it came back: {comes_back}");
        // It takes in that it is back, and stands still again.
        while guests[0].player.connected() == Connected::Rejoining {
            guests[0].frame();
            hall.tick(NOW);
            tokio::time::sleep(Duration::from_millis(8)).await;
        }
    }
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_lost_keeps_the_place_until_the_game_lets_somebody_in() {
    let mut hall = ByHand::start();
    // No player is lost by their silence.
    hall.server.config_mut().timeout = Duration::from_secs(600);
    let mut guests = vec![join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
    let (me, ticket) = (guests[0].player.client().player(), guests[0].player.ticket().clone());
    lose_last(&mut hall, &mut guests).await;
    let is_lost = |hall: &ByHand| me.is_some_and(|me| hall.server.is_lost(me));
    assert!(!is_lost(&hall), "nobody waits for the place: over another connection she would be heard at once");
    let config = JoinConfig { data: b"nobody".to_vec(), ..JoinConfig::new(rules()) };
    let mut refused = [join_with(&hall.url(), token("mallory"), config).await.expect("admitted")];
    let by_game = Connected::Closed(Closed::ByGame);
    hall.run(&mut refused, NOW, |guests, _| guests[0].player.connected() == by_game).await;
    assert_eq!(hall.gateway.player(&account("alice")), me, "the place is kept");
    assert!(is_lost(&hall), "somebody has come for it");
    let mut guests = vec![join(&hall.url(), ticket).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
    assert_eq!(guests[0].player.client().player(), me, "she has not left");
    let ticket = guests[0].player.ticket().clone();
    lose_last(&mut hall, &mut guests).await;
    come(&mut hall, &mut guests, "bob").await;
    assert_eq!(hall.gateway.player(&account("alice")), None, "her place is his");
    let error = join(&hall.url(), ticket).await.err().expect("refused");
    assert!(matches!(error, ConnectError::Refused(Refused::Full)), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_cut_off_between_joining_and_their_first_input_comes_back_by_ticket() {
    let mut hall = ByHand::start();
    hall.server.config_mut().timeout = Duration::from_secs(2);
    let mut guests = vec![join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |_, gateway| gateway.players().count() == 1).await;
    let ticket = guests[0].player.ticket().clone();
    lose_last(&mut hall, &mut guests).await;
    assert_eq!(hall.gateway.players().count(), 0, "there was nothing to keep a place for");
    let mut guests = vec![join(&hall.url(), ticket).await.expect("admitted")];
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_stands_still_between_joining_and_their_first_input_comes_back_by_themselves() {
    let mut hall = ByHand::start();
    let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
    hall.run(&mut guests, NOW, |_, gateway| gateway.players().count() == 1).await;
    hall.tick(Duration::from_secs(11));
    hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
    hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_words_of_a_player_are_heard_that_come_while_a_server_takes_in_the_end_of_the_connection() {
    let (mut hall, mut guests) = (ByHand::with(2, Limits::default()), Vec::new());
    come(&mut hall, &mut guests, "alice").await;
    come(&mut hall, &mut guests, "bob").await;
    let peer = |guest: &Guest| hall.server.peer_of(guest.player.client().player().expect("plays")).expect("a place");
    guests.sort_by_key(peer);
    let (first, second) = (guests.remove(0), peer(&guests[0]));
    let gone = first.player.client().player().expect("plays");
    let mut leaving = Some(first.player);
    let mut why = None;
    while why.is_none() {
        guests[0].frame();
        tokio::time::sleep(Duration::from_millis(8)).await;
        // Once what the first has sent is taken in they say good-bye, and it comes before the second is through.
        hall.tick_with(NOW, &mut |arrival| {
            if let Some(player) = leaving.take_if(|_| is_from(arrival, second)) {
                tokio::task::block_in_place(|| Handle::current().block_on(player.leave_with("dinner")));
            }
        });
        why = hall.server.frame().events.iter().find_map(|event| match event {
            ServerEvent::Left { player, why } if *player == gone => Some(*why),
            _ => None,
        });
    }
    assert_eq!(why, Some(Departure::GoodBye("dinner".into())));
}

fn is_from(arrival: Arrival<'_>, from: PeerId) -> bool {
    matches!(arrival, Arrival::Datagram { peer, .. } if peer == from)
}

/// The last of the guests is cut off, and lost by the end.
async fn lose_last(hall: &mut ByHand, guests: &mut Vec<Guest>) {
    drop(guests.pop());
    let (began, left) = (Instant::now(), guests.len());
    let lost = |gateway: &Gateway| gateway.connections() == (left, 0) && began.elapsed() > Duration::from_secs(4);
    hall.run(guests, NOW, |_, gateway| lost(gateway)).await;
}

async fn come(hall: &mut ByHand, guests: &mut Vec<Guest>, name: &str) {
    guests.push(join(&hall.url(), token(name)).await.expect("admitted"));
    hall.run(guests, NOW, |guests, _| guests.last_mut().is_some_and(|guest| guest.agreed() >= 10)).await;
}

async fn refusal(hall: &ByHand, name: &str) -> Option<Refused> {
    match join(&hall.url(), token(name)).await {
        Err(ConnectError::Refused(why)) => Some(why),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_full_server_who_was_lost_first_makes_room_and_others_stay() {
    let (mut hall, mut guests) = (ByHand::with(2, Limits::default()), Vec::new());
    come(&mut hall, &mut guests, "alice").await;
    come(&mut hall, &mut guests, "mallory").await;
    assert_eq!(refusal(&hall, "bob").await, Some(Refused::Full), "nobody is lost");
    lose_last(&mut hall, &mut guests).await;
    come(&mut hall, &mut guests, "bob").await;
    let names: Vec<_> = hall.gateway.players().map(|(_, account)| account.to_string()).collect();
    assert_eq!(names, ["alice", "bob"]);
    assert_eq!(refusal(&hall, "carol").await, Some(Refused::Full), "nobody is lost any more");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_places_of_lost_players_count_for_their_address_and_make_room_for_it_alone() {
    let limits = Limits { per_address_max: 2, ..Limits::default() };
    let (mut hall, mut guests) = (ByHand::with(8, limits), Vec::new());
    come(&mut hall, &mut guests, "alice").await;
    come(&mut hall, &mut guests, "mallory").await;
    drop(guests.pop());
    hall.run(&mut guests, NOW, |_, gateway| gateway.connections() == (1, 0)).await;
    assert_eq!(refusal(&hall, "bob").await, Some(Refused::Busy), "a place without a connection counts");
    lose_last(&mut hall, &mut guests).await;
    let mut far = Raw::open(&hall.url(), Ipv4Addr::new(127, 0, 0, 2).into(), None).await.expect("a connection");
    far.admit(&token("carol")).await.expect("another address has its own");
    assert_eq!(hall.gateway.players().count(), 2, "nobody had to go for that");
    come(&mut hall, &mut guests, "bob").await;
    come(&mut hall, &mut guests, "dave").await;
    assert_eq!(refusal(&hall, "erin").await, Some(Refused::Busy));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_player_whose_place_was_given_away_does_not_play_beside_who_has_it() {
    let limits = Limits { per_address_max: 2, ..Limits::default() };
    let (mut hall, mut guests) = (ByHand::with(8, limits), Vec::new());
    come(&mut hall, &mut guests, "alice").await;
    come(&mut hall, &mut guests, "mallory").await;
    // It keeps its connection, and says nothing.
    let mallory = guests.pop().expect("mallory");
    let began = Instant::now();
    hall.run(&mut guests, NOW, |_, _| began.elapsed() > Duration::from_secs(6)).await;
    assert_eq!(hall.gateway.connections(), (2, 0));
    come(&mut hall, &mut guests, "bob").await;
    guests.push(mallory);
    let began = Instant::now();
    hall.run(&mut guests, NOW, |_, _| began.elapsed() > Duration::from_secs(2)).await;
    assert_eq!((hall.server.players().count(), hall.gateway.players().count()), (2, 2));
    assert_eq!(hall.gateway.connections().0, 2);
    assert_eq!(guests[2].player.connected(), Connected::Rejoining);
    // Once there is a place the ticket leads there.
    drop(guests.remove(1));
    hall.gateway.remove(&mut hall.server, &account("bob"), "");
    hall.run(&mut guests, NOW, |guests, _| guests[1].player.connected() == Connected::Yes).await;
    let agreed = guests[1].agreed();
    hall.run(&mut guests, NOW, |guests, _| guests[1].agreed() >= agreed + 20).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_player_who_is_removed_can_not_come_back_by_ticket() {
    for by_the_gateway in [true, false] {
        let mut hall = ByHand::start();
        let mut guests = [join(&hall.url(), token("alice")).await.expect("admitted")];
        hall.run(&mut guests, NOW, |guests, _| all_agree(guests, 10)).await;
        let player = guests[0].player.client().player().expect("she plays");
        let ticket = guests[0].player.ticket().clone();
        drop(guests);
        hall.run(&mut [], NOW, |_, gateway| gateway.connections() == (0, 0)).await;
        let began = Instant::now();
        hall.run(&mut [], NOW, |_, _| began.elapsed() > Duration::from_secs(3)).await;
        assert_eq!(hall.gateway.players().count(), 1, "its place waits");
        if by_the_gateway {
            hall.gateway.remove(&mut hall.server, &account("alice"), "");
        } else {
            hall.server.remove(player, "");
        }
        hall.tick(NOW);
        assert_eq!(hall.gateway.players().count(), 0);
        let error = join(&hall.url(), ticket).await.err().expect("refused");
        assert!(matches!(error, ConnectError::Refused(Refused::Ended)), "{by_the_gateway}: {error}");
    }
}
