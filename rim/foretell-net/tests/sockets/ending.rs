//! Servers that end, gently and not, and are started again.

use crate::common::by_hand::{ByHand, NOW};
use crate::common::relay::Relay;
use crate::common::{Arena, Buttons, all_agree, join, join_with, play, rules, serve_config, start, start_at, token};
use foretell::{Rows, Schema, Simulate, Step, World};
use foretell_net::{Certificates, Closed, ConnectError, Connected, JoinConfig, Refused, ServeConfig, Via};
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_server_takes_nobody_new_tells_who_is_there_and_ends_when_they_have_left() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let mut guests = [join(&url, token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    server.drain(Duration::from_secs(3600));
    play(&mut guests, "it is told", |guests| guests[0].player.ends_within().is_some()).await;
    assert_eq!(guests[0].player.ends_within(), Some(Duration::from_secs(3600)));
    let error = join(&url, token("bob")).await.err().expect("refused");
    assert!(matches!(error, ConnectError::Refused(Refused::Draining)), "{error}");
    let agreed = guests[0].agreed();
    play(&mut guests, "it plays on", |guests| all_agree(guests, agreed + 20)).await;
    let ticket = guests[0].player.ticket().clone();
    let mut guests = [join(&url, ticket).await.expect("who was there may come back")];
    play(&mut guests, "it is told again", |guests| guests[0].player.ends_within().is_some()).await;
    let left = guests[0].player.ends_within().expect("told");
    assert!((Duration::from_secs(3000)..=Duration::from_secs(3600)).contains(&left), "{left:?}");
    let [alice] = guests;
    alice.player.leave().await;
    tokio::time::timeout(Duration::from_secs(30), server.ended()).await.expect("it is empty").expect("no panic");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draining_server_ends_after_its_limit_and_says_so() {
    let server = start(serve_config()).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    server.drain(Duration::ZERO);
    let ended = Connected::Closed(Closed::ServerEnded);
    play(&mut guests, "it is told", |guests| guests[0].player.connected() == ended).await;
    tokio::time::timeout(Duration::from_secs(30), server.ended()).await.expect("the limit is over").expect("no panic");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_hear_the_last_word_of_a_server_that_has_said_when_it_ends_knows_that_it_has_ended() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    let joining = JoinConfig { idle_timeout: Duration::from_secs(2), ..JoinConfig::new(rules()) };
    let url = relay.through(&server.url("127.0.0.1"));
    let mut guests = [join_with(&url, token("alice"), joining).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    server.drain(Duration::from_secs(1));
    play(&mut guests, "it is told", |guests| guests[0].player.ends_within().is_some()).await;
    relay.conditions.cut.store(true, Relaxed);
    let ended = Connected::Closed(Closed::ServerEnded);
    play(&mut guests, "it knows", |guests| guests[0].player.connected() == ended).await;
}

#[test]
fn a_server_that_has_closed_has_told_everybody_also_over_websockets() {
    for via in [Via::WebTransport, Via::WebSocket] {
        let playing = runtime(true);
        // Its tasks end with its runtime, and that as soon as it is closed.
        let serving = runtime(false);
        let mut hall = serving.block_on(async { ByHand::start() });
        let config = JoinConfig { via, ..JoinConfig::new(rules()) };
        let url = hall.url();
        let joining = playing.spawn(async move { join_with(&url, token("alice"), config).await.expect("admitted") });
        serving.block_on(hall.run(&mut [], NOW, |_, _| joining.is_finished()));
        let mut guests = [playing.block_on(joining).expect("no panic")];
        serving.block_on(hall.gateway.close());
        drop(serving);
        let ended = Connected::Closed(Closed::ServerEnded);
        playing.block_on(play(&mut guests, "it is told", |guests| {
            let how = guests[0].player.connected();
            assert!(how == Connected::Yes || how == ended, "{via:?}: {how:?}");
            how == ended
        }));
    }
}

fn runtime(has_threads: bool) -> Runtime {
    let mut builder = if has_threads { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    builder.enable_all().build().expect("a runtime")
}

/// What a server needs so that its clients know it after a restart.
fn lasting(name: &str) -> (ServeConfig, PathBuf) {
    let folder = std::env::temp_dir().join(format!("foretell-net-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let mut config = serve_config();
    config.access.tickets_kept_in = Some(folder.join("tickets"));
    if let Certificates::SelfSigned { kept_in, .. } = &mut config.certificates {
        *kept_in = Some(folder.clone());
    }
    (config, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn players_come_back_by_ticket_to_a_server_that_was_killed_and_started_again() {
    let (config, folder) = lasting("restart");
    let server = start(config.clone()).await;
    let address = server.local_addr();
    let early = token("bob");
    let url = server.url("127.0.0.1");
    let relay = Relay::to(address).await;
    let joining = JoinConfig { idle_timeout: Duration::from_secs(1), ..JoinConfig::new(rules()) };
    let mut guests = [join_with(&relay.through(&url), token("alice"), joining).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    // Nothing that it says at its end arrives, as when it is killed.
    relay.conditions.cut.store(true, Relaxed);
    drop(server);
    let server = start_at_when_free(address, config).await;
    play(&mut guests, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
    relay.conditions.cut.store(false, Relaxed);
    assert_eq!(server.url("127.0.0.1"), url, "the same certificates");
    let error = join(&url, early).await.err().expect("refused");
    assert!(matches!(error, ConnectError::Refused(Refused::BeforeStart)), "{error}");
    let mut status = server.watch();
    let agreed = guests[0].agreed();
    play(&mut guests, "it is back", |guests| {
        guests[0].player.connected() == Connected::Yes
            && status.borrow_and_update().players == 1
            && all_agree(guests, agreed + 50)
    })
    .await;
    std::fs::remove_dir_all(folder).expect("it was there");
}

/// The socket of an aborted server is closed a moment later.
async fn start_at_when_free(address: std::net::SocketAddr, config: ServeConfig) -> foretell_net::Running {
    for _ in 0..500 {
        match foretell_net::serve(address, crate::common::Arena::default(), config.clone()).await {
            Ok(server) => return server,
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the address stays taken")
}

#[tokio::test(flavor = "multi_thread")]
async fn where_tickets_are_not_kept_a_restarted_server_takes_no_tickets_of_before() {
    let (mut config, folder) = lasting("forgotten");
    config.access.tickets_kept_in = None;
    let server = start(config.clone()).await;
    let guest = join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted");
    let again = start_at("127.0.0.1:0".parse().expect("an address"), config).await;
    let error = join(&again.url("127.0.0.1"), guest.player.ticket().clone()).await.err().expect("refused");
    assert!(matches!(error, ConnectError::Refused(Refused::Forged)), "{error}");
    std::fs::remove_dir_all(folder).expect("it was there");
}

/// A game that panics in its first tick.
struct Broken;

impl Simulate for Broken {
    type Input = Buttons;

    fn step(&mut self, _: &mut Step<'_, Buttons>) {
        panic!("on purpose");
    }
}

impl World for Broken {
    type Saved = ();

    fn schema() -> Schema {
        Arena::schema()
    }

    fn save(&self, (): &mut ()) {}

    fn load(&mut self, (): &()) {}

    fn publish(&mut self, _: &mut Rows) {}

    fn adopt(&mut self, _: &Rows) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_whose_game_panics_ends_with_an_error() {
    let address = "127.0.0.1:0".parse().expect("an address");
    let server = foretell_net::serve(address, Broken, serve_config()).await.expect("a server");
    let ended = tokio::time::timeout(Duration::from_secs(30), server.ended()).await.expect("it ends by itself");
    assert!(ended.expect_err("it has panicked").to_string().contains("panicked"));
}
