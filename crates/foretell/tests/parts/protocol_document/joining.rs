//! Joining and leaving by the document alone: what is said of a player, spectators, and the words of refusals and good-byes.

use super::*;
use foretell::session::Departure;
use foretell::session::server::ServerEvent;
use foretell::{JoinRequest, Newcomer, Seat};

/// A refusal in words, or a removal.
fn refused(nonce: u64, why: u64, words: &str) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.put(2, 3).put(nonce, 64).put(why, 4).put(0, 4);
    put_words(&mut writer, words).bytes()
}

fn put_words<'a>(writer: &'a mut Writer, words: &str) -> &'a mut Writer {
    writer.put(words.len() as u64, 7);
    words.bytes().for_each(|byte| {
        writer.put(u64::from(byte), 8);
    });
    writer
}

fn good_bye(player: u64, words: &str) -> Vec<u8> {
    let mut writer = Writer::default();
    put_words(writer.put(5, 3).put(u64::from(TICKET), 8).put(player, 16), words).bytes()
}

fn asking(ticket: Option<u8>, spectates: bool, data: Option<&[u8]>) -> Vec<u8> {
    hello_of(13, 42, &documented_rules(), Asking { sent: 0, ticket, spectates, data })
}

#[test]
fn what_a_hello_says_of_a_player_is_what_they_join_with_and_the_first_counts() {
    let mut served = Served::new(8);
    for (ticket, data) in
        [(None, None), (Some(TICKET), None), (Some(TICKET), Some(&b"Anna"[..])), (Some(TICKET), Some(b"Bob"))]
    {
        assert_eq!((served.server.players().count(), served.world.joined.len()), (0, 0));
        served.receive(0, &asking(ticket, false, data));
        if data != Some(b"Anna") {
            served.update(0);
        }
    }
    served.update(TICK_MICROS);
    let anna = Newcomer { data: b"Anna".to_vec(), ..Newcomer::new(PlayerId::new(1)) };
    assert_eq!(served.world.joined, [anna]);
}

#[test]
fn a_hello_is_as_long_as_any_answer_to_it_and_has_room_for_a_thousand_bytes() {
    let client = |request: JoinRequest| {
        let client = Client::new(Rules::new(Space::schema()), ClientConfig::default(), request);
        let (given, random) = (BTreeMap::new(), SplitMix64::new(1));
        let mut played = Played { client, world: Space::default(), outbox: Outbox::new(), given, random };
        let first = played.update(1_000_000).remove(0);
        played.receive(1_040_000, &welcome(42, (1_000_000, TICKET), 5, 70_000, 0));
        [first, played.update(1_050_000).remove(0)]
    };
    for data in [&b""[..], b"Anna", &[0xff; 1000]] {
        for spectates in [false, true] {
            let request = JoinRequest::new(42).with_data(data).expect("there is room");
            let asked = client(if spectates { request.as_spectator() } else { request });
            let sent = |sent, ticket, data| Asking { sent, ticket, spectates, data };
            assert_eq!(asked[0], hello_of(13, 42, &documented_rules(), sent(1_000_000, None, None)));
            assert_eq!(asked[1], hello_of(13, 42, &documented_rules(), sent(1_050_000, Some(TICKET), Some(data))));
            let longest = refused(42, 7, &"x".repeat(120)).len();
            assert_eq!((longest, asked[0].len()), (131, 140));
            assert!(asked[1].len() >= 140 && asked[1].len() <= 1150);
        }
    }
}

#[test]
fn a_game_refuses_in_words_and_so_it_removes() {
    let mut served = Served::new(8);
    served.receive(0, &asking(None, false, None));
    served.receive(0, &asking(Some(TICKET), false, Some(b"nobody")));
    let sent = served.update(0);
    assert_eq!((served.world.joined.len(), sent.last()), (0, Some(&refused(42, 7, "say who you are"))));
    // Whoever asks on is told again.
    served.receive(2 * TICK_MICROS, &asking(None, false, None));
    assert_eq!(served.update(2 * TICK_MICROS), [refused(42, 7, "say who you are")]);
    let mut served = Served::new(8);
    served.receive(0, &asking(None, false, None));
    served.receive(0, &asking(Some(TICKET), false, Some(b"Anna")));
    served.update(0);
    served.server.remove(PlayerId::new(1), "enough");
    assert_eq!(served.update(TICK_MICROS), [refused(42, 8, "enough")]);
    // The player has not heard it, and goes on.
    served.receive(TICK_MICROS, &inputs(0, 1, 3, &[(Command::default(), None)]));
    assert_eq!(served.update(2 * TICK_MICROS), [refused(42, 8, "enough")]);
    let told = |why: u64, words: &str| {
        let mut client = Client::<Space>::new(Rules::new(Space::schema()), ClientConfig::default(), 42);
        client.receive(Instant::ZERO, &refused(42, why, words)).map(|()| client.state(Instant::ZERO))
    };
    assert_eq!(told(7, "no"), Ok(ClientState::Refused(Refusal::ByGame("no".into()))));
    assert_eq!(told(8, ""), Ok(ClientState::Refused(Refusal::Removed("".into()))));
    assert!(told(9, "").is_err() && told(7, &"x".repeat(121)).is_err() && told(7, "a\0b").is_err());
}

#[test]
fn a_good_bye_has_words_on_both_ends() {
    let mut served = Served::new(8);
    served.receive(0, &asking(None, false, None));
    served.receive(0, &asking(Some(TICKET), false, Some(b"")));
    served.update(0);
    served.receive(0, &good_bye(1, "dinner"));
    served.update(TICK_MICROS);
    let left = ServerEvent::Left { player: PlayerId::new(1), why: Departure::GoodBye("dinner".into()) };
    assert_eq!(served.server.frame().events, [left]);
    let me = Joined { player: PlayerId::new(5), epoch: TICKET, now: Instant::ZERO };
    let (rules, mut world) = (Rules::new(Space::schema()), Space::default());
    let client = Client::<Space>::joined(rules, ClientConfig::default(), me, &mut world);
    let mut outbox = Outbox::new();
    client.leave_with("dinner", &mut outbox);
    assert_eq!(outbox.iter().next().expect("a datagram").1, good_bye(5, "dinner"));
}

#[test]
fn a_spectator_says_what_it_has_without_inputs_and_none_are_made_up() {
    let mut served = Served::new(8);
    served.server.config_mut().spectators_max = 1;
    served.receive(0, &asking(None, true, None));
    served.receive(0, &asking(Some(TICKET), true, Some(b"")));
    served.update(0);
    assert_eq!(served.world.joined.first().map(|joined| joined.seat), Some(Seat::Spectator));
    for tick in 1..40 {
        let now = tick * TICK_MICROS;
        served.receive(now, &inputs(tick, tick, tick, &[]));
        let sent = served.update(now);
        let snapshot = read_snapshot(&sent[0]);
        assert_eq!((snapshot.heard.map(|[sequence, _]| sequence), snapshot.newest_input), (Some(tick), None));
        assert!(snapshot.arrivals.is_empty() && snapshot.substituted.is_empty(), "{snapshot:?}");
    }
    let me = PlayerId::new(1);
    assert_eq!(served.server.offences(me).map(|offences| offences.total()), Some(0));
    served.receive(40 * TICK_MICROS, &inputs(40, 40, 41, &[(Command::default(), None)]));
    assert_eq!(served.server.offences(me).map(|offences| offences.count(Offence::Spectator)), Some(1));
}

#[test]
fn hellos_and_good_byes_that_the_document_calls_malformed_are_refused() {
    let mut served = Served::new(8);
    let good = asking(Some(TICKET), false, Some(b"Anna"));
    let mut filled = asking(None, false, None);
    *filled.last_mut().expect("some bytes") = 1;
    let mut bad_words = good_bye(1, "dinner");
    bad_words[5] = 0xff;
    for (datagram, what) in [
        (asking(Some(TICKET), false, Some(&[7; 1001])), "more than a thousand bytes"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (good[..60].to_vec(), "cut where hellos had once ended"),
        ([&good[..], &[0]].concat(), "a byte too many"),
        (filled, "something in the filling"),
        (bad_words, "words that are none"),
        (good_bye(1, &"x".repeat(121)), "too many words"),
        (good_bye(1, "a\0"), "a character that is none"),
    ] {
        assert!(served.server.receive(Instant::ZERO, ME, &datagram).is_err(), "{what}");
    }
    served.update(0);
    assert_eq!((served.server.totals().malformed, served.world.joined.len()), (8, 0));
}
