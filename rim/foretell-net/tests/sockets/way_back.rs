//! When a connection counts as silent, who comes back, and what is shown to whom on the way.

use crate::common::raw::until;
use crate::common::relay::Relay;
use crate::common::{all_agree, join, join_with, play, rules, serve_config, start, token};
use foretell_net::{Connected, JoinConfig, Refused, ServeConfig};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_of_the_callers_own_is_no_silence_of_the_connection() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    let mut guests = [join(&relay.through(&server.url("127.0.0.1")), token("alice")).await.expect("admitted")];
    // Silence is judged once a connection is 6 s old.
    let began = std::time::Instant::now();
    play(&mut guests, "it plays", |guests| all_agree(guests, 20) && began.elapsed() > Duration::from_secs(6)).await;
    // In the first pause the server is heard, as by a program in a debugger; in the second nothing is, as in a sleep.
    for asleep in [false, true] {
        relay.conditions.cut.store(asleep, Relaxed);
        tokio::time::sleep(Duration::from_millis(5500)).await;
        relay.conditions.cut.store(false, Relaxed);
        let agreed = guests[0].agreed();
        play(&mut guests, "it plays on", |guests| {
            assert_eq!(guests[0].player.connected(), Connected::Yes, "asleep: {asleep}");
            all_agree(guests, agreed + 50)
        })
        .await;
    }
    assert_eq!(server.status().traffic.admitted, 1, "it is the same connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_was_left_or_dropped_does_not_come_back() {
    let server = start(ServeConfig { idle_timeout: Duration::from_secs(1), ..serve_config() }).await;
    for name in ["alice", "bob"] {
        let relay = Relay::to(server.local_addr()).await;
        let config = JoinConfig { idle_timeout: Duration::from_secs(1), ..JoinConfig::new(rules()) };
        let url = relay.through(&server.url("127.0.0.1"));
        let mut guests = [join_with(&url, token(name), config).await.expect("admitted")];
        play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
        relay.conditions.cut.store(true, Relaxed);
        play(&mut guests, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
        let [gone] = guests;
        if name == "alice" {
            gone.player.leave().await;
        } else {
            drop(gone);
        }
        relay.conditions.cut.store(false, Relaxed);
        let mut guests = [join(&server.url("127.0.0.1"), token(name)).await.expect("admitted")];
        // What was under way would have got through by now.
        let began = std::time::Instant::now();
        play(&mut guests, "nobody replaces it", |guests| {
            assert_eq!(guests[0].player.connected(), Connected::Yes, "{name}");
            began.elapsed() > Duration::from_secs(4)
        })
        .await;
    }
    assert_eq!(server.status().traffic.admitted, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_was_left_running_does_not_take_the_place_back_from_a_newer_login() {
    let server = start(ServeConfig { idle_timeout: Duration::from_secs(1), ..serve_config() }).await;
    let relay = Relay::to(server.local_addr()).await;
    let config = JoinConfig { idle_timeout: Duration::from_secs(1), ..JoinConfig::new(rules()) };
    let mut left = [join_with(&relay.through(&server.url("127.0.0.1")), token("alice"), config).await.expect("in")];
    play(&mut left, "it plays", |guests| all_agree(guests, 20)).await;
    relay.conditions.cut.store(true, Relaxed);
    play(&mut left, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    relay.conditions.cut.store(false, Relaxed);
    let ended = Connected::Refused(Refused::Ended);
    play(&mut left, "it is told", |guests| guests[0].player.connected() == ended).await;
    play(&mut guests, "the newer one plays", |guests| {
        assert_eq!(guests[0].player.connected(), Connected::Yes);
        all_agree(guests, 20)
    })
    .await;
    assert_eq!(server.status().players, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_while_coming_back_has_left_once_the_server_is_reached() {
    let server = start(ServeConfig { idle_timeout: Duration::from_secs(1), ..serve_config() }).await;
    let relay = Relay::to(server.local_addr()).await;
    let config = JoinConfig { idle_timeout: Duration::from_secs(1), ..JoinConfig::new(rules()) };
    let mut guests = [join_with(&relay.through(&server.url("127.0.0.1")), token("alice"), config).await.expect("in")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    relay.conditions.cut.store(true, Relaxed);
    play(&mut guests, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
    relay.conditions.cut.store(false, Relaxed);
    assert_eq!(server.status().players, 1, "the place is kept for a minute");
    let [alice] = guests;
    alice.player.leave().await;
    until(&server, "the player has left", |status| status.players == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_was_shown_on_a_slow_way_is_shown_on_no_other() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    relay.conditions.delay_millis.store(420, Relaxed);
    let url = relay.through(&server.url("127.0.0.1"));
    // The same port carries TCP too, and fast.
    let place = url.split_once("//").and_then(|(_, rest)| rest.split_once("/#")).expect("an address").0;
    let (gate, to) = (tokio::net::TcpListener::bind(place).await.expect("the port"), server.local_addr());
    tokio::spawn(async move {
        loop {
            let Ok((mut near, _)) = gate.accept().await else { continue };
            let mut far = tokio::net::TcpStream::connect(to).await.expect("a server");
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    let mut guests = [join(&url, token("alice")).await.expect("admitted, by the answer that came late")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    assert_eq!(server.status().traffic.admitted, 1);
}
