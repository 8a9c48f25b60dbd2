//! Who is let in, over real sockets; every case by itself is in the tests of `admission.rs`.

use crate::common::raw::{SOON, initials};
use crate::common::{SEED, account, all_agree, join, join_with, play, rules, serve_config, start, token};
use foretell::TickRate;
use foretell_net::{
    Closed, ConnectError, Connected, Credential, Issuer, JoinConfig, Limits, Refused, ResumeTicket, Running,
    ServeConfig, Token, UnixTime, Via,
};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};
use tokio::time::timeout;

const MINUTE: Duration = Duration::from_secs(60);
const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

async fn refusal(server: &Running, credential: impl Into<Credential>) -> Refused {
    match join(&server.url("127.0.0.1"), credential).await {
        Err(ConnectError::Refused(why)) => why,
        Err(error) => panic!("not a refusal: {error}"),
        Ok(_) => panic!("admitted"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_forged_foreign_early_and_used_tokens_are_refused_and_told_why() {
    let server = start(serve_config()).await;
    let (alice, now) = (account("alice"), UnixTime::now());
    let issue =
        |seed: &[u8; 32], audience: &str, issued: UnixTime| Issuer::new(seed, audience).issue(&alice, issued, MINUTE);
    let before = UnixTime(now.0 - 30_000);
    assert_eq!(refusal(&server, issue(&SEED, "arena", UnixTime(now.0 - 60_000))).await, Refused::Expired);
    assert_eq!(refusal(&server, issue(&SEED, "arena", before)).await, Refused::BeforeStart);
    assert_eq!(refusal(&server, issue(&SEED, "arena", UnixTime(now.0 + 30_000))).await, Refused::Untimely);
    assert_eq!(refusal(&server, issue(&[8; 32], "arena", now)).await, Refused::Forged);
    assert_eq!(refusal(&server, issue(&SEED, "elsewhere", now)).await, Refused::Foreign);
    assert_eq!(refusal(&server, Token::insecure(&alice, now)).await, Refused::Forged);
    assert_eq!(refusal(&server, Token::parse("AAAA").expect("text")).await, Refused::Forged);
    assert_eq!(refusal(&server, ResumeTicket::parse("AAAA").expect("text")).await, Refused::Forged);
    let once = token("alice");
    let mut guests = [join(&server.url("127.0.0.1"), once.clone()).await.expect("admitted once")];
    assert_eq!(refusal(&server, once).await, Refused::Used);
    play(&mut guests, "who was admitted plays", |guests| all_agree(guests, 10)).await;
    assert_eq!(server.status().connections, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_server_says_so_and_has_room_again_after_a_goodbye() {
    let mut config = serve_config();
    config.session.players_max = 1;
    let server = start(config).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    let waiting = token("bob");
    assert_eq!(refusal(&server, waiting.clone()).await, Refused::Full);
    let [alice] = guests;
    alice.player.leave().await;
    server.watch().wait_for(|status| status.players == 0).await.expect("it runs");
    let mut guests = [join(&server.url("127.0.0.1"), waiting).await.expect("the token was not used up")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_so_many_places_and_no_more() {
    let limits = Limits { per_address_max: 2, ..Limits::default() };
    let server = start(ServeConfig { limits, ..serve_config() }).await;
    let url = server.url("127.0.0.1");
    let mut guests = Vec::new();
    for name in ["alice", "bob"] {
        guests.push(join(&url, token(name)).await.expect("admitted"));
    }
    let error = join(&url, token("carol")).await.err().expect("turned away");
    assert!(matches!(error, ConnectError::Refused(Refused::Busy)), "{error}");
    play(&mut guests, "both play", |guests| all_agree(guests, 10)).await;
    guests.pop().expect("bob").player.leave().await;
    server.watch().wait_for(|status| status.connections == 1).await.expect("it runs");
    assert!(join(&url, token("carol")).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn when_neither_way_leads_to_a_server_each_has_its_reason() {
    let limits = Limits { handshakes_per_address_max: 0, ..Limits::default() };
    let server = start(ServeConfig { limits, ..serve_config() }).await;
    let error = join(&server.url("127.0.0.1"), token("carol")).await.err().expect("turned away");
    assert!(matches!(error, ConnectError::Unreached(_)), "{error}");
    let said = error.to_string();
    assert!(said.contains("by WebTransport: ") && said.contains("by WebSocket: "), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn packets_with_the_address_of_a_player_do_not_keep_the_player_out() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    // As of somebody who writes another's address into packets: nobody answers there.
    let (silent, packets) = initials(&url, |_| LOCAL, Limits::default().per_address_max).await;
    for packet in packets {
        silent.send_to(&packet, server.local_addr()).await.expect("sent");
    }
    let mut status = server.watch();
    let retried = status.wait_for(|status| status.traffic.retried > 0);
    timeout(SOON, retried).await.expect("half of the address is for others").expect("it runs");
    let unproven = Limits::default().handshakes_per_address_max / 2;
    assert!((1..=unproven).contains(&server.status().handshakes), "{}", server.status().handshakes);
    let mut guests = [join(&url, token("alice")).await.expect("admitted after a retry")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn another_build_of_the_game_is_told_so_at_once_by_both_protocols() {
    let server = start(serve_config()).await;
    for via in [Via::WebTransport, Via::WebSocket] {
        let mut others = rules();
        others.tick_rate = TickRate::hz(30);
        let mut guests =
            [join_with(&server.url("127.0.0.1"), token("alice"), JoinConfig { via, ..JoinConfig::new(others) })
                .await
                .expect("admitted: a token says nothing of rules")];
        let began = Instant::now();
        let told = Connected::Closed(Closed::Incompatible);
        play(&mut guests, "it is told", |guests| guests[0].player.connected() == told).await;
        assert!(began.elapsed() < Duration::from_secs(5), "long before those who never play are closed");
        server.watch().wait_for(|status| status.connections == 0).await.expect("it runs");
        let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("the place is free")];
        play(&mut guests, "the right build plays", |guests| all_agree(guests, 10)).await;
        let [alice] = guests;
        alice.player.leave().await;
        server.watch().wait_for(|status| status.players == 0).await.expect("it runs");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_trust_the_certificate_shows_no_token() {
    let (server, other) = (start(serve_config()).await, start(serve_config()).await);
    let hashes = other.url("127.0.0.1");
    let (_, fragment) = hashes.split_once('#').expect("hashes");
    let token = token("alice");
    let wrong = format!("https://127.0.0.1:{}/#{fragment}", server.local_addr().port());
    let error = join(&wrong, token.clone()).await.err().expect("another certificate");
    assert!(matches!(error, ConnectError::Unreached(_)), "{error}");
    assert!(join(&server.url("127.0.0.1"), token).await.is_ok(), "the token was not shown to anybody");
}
