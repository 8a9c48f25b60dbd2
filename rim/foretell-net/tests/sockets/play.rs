//! Playing over real sockets: what a good and a bad network do to it.

use crate::common::raw::until;
use crate::common::relay::Relay;
use crate::common::{
    Arena, Buttons, Guest, account, all_agree, join, join_with, play, rules, serve_config, start, token,
};
use foretell::session::Refusal;
use foretell::{ClientState, Rows, Schema, Simulate, Step, Views, World};
use foretell_net::{Access, Closed, Connected, JoinConfig, Limits, ServeConfig, Token, UnixTime, Via, connect};
use foretell_sim::netsim::{Conditions, Loss};
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn two_players_join_with_tokens_and_each_sees_the_other_move() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let mut guests = Vec::new();
    for name in ["alice", "bob"] {
        guests.push(join(&url, token(name)).await.expect("admitted"));
    }
    play(&mut guests, "both play, and their predictions are right", |guests| all_agree(guests, 50)).await;
    assert!(guests[0].x().expect("a cube") > 0.5);
    let mut views = Views::new();
    guests[0].player.present(&mut views);
    let other = guests[1].player.client().player().expect("a player");
    assert!(views.iter().any(|view| view.owner == other && view.pose().position[0] > 0.1), "{views:?}");
    let status = server.status();
    assert_eq!((status.players, status.connections, status.totals.malformed), (2, 2, 0));
    assert_eq!(status.traffic.strange_hellos, 0);
    guests.pop().expect("bob").player.leave().await;
    let mut status = server.watch();
    let gone = status.wait_for(|status| status.players == 1 && status.connections == 1);
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("a good-bye needs no timeout").expect("it runs");
}

#[tokio::test(flavor = "multi_thread")]
async fn in_development_mode_a_name_is_enough() {
    let server = start(ServeConfig::new(rules(), Access::insecure_development())).await;
    let token = Token::insecure(&account("alice"), UnixTime::now());
    let mut guests = [join(&server.url("127.0.0.1"), token).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_have_to_be_proven_first_are_and_the_player_plays() {
    let limits = Limits { handshakes_unproven_max: 0, ..Limits::default() };
    let server = start(ServeConfig { limits, ..serve_config() }).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted after a retry")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    let traffic = server.status().traffic;
    assert_eq!((traffic.retried, traffic.admitted), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tenth_of_all_packets_lost_and_forty_milliseconds_of_delay_are_played_through() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    relay.conditions.lost_per_thousand.store(100, Relaxed);
    relay.conditions.delay_millis.store(20, Relaxed);
    let mut guests = [join(&relay.through(&server.url("127.0.0.1")), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays, and is mostly right", |guests| all_agree(guests, 200)).await;
    let (path, stats) = (guests[0].player.path().expect("connected"), guests[0].player.client().stats());
    assert!(path.lost > 0 && path.rtt >= Duration::from_millis(38), "{path:?}");
    assert!(path.datagram_max >= 1150, "{path:?}");
    assert!(
        stats.prediction.outcomes.agreed > 10 * stats.prediction.outcomes.resync,
        "{:?}",
        stats.prediction.outcomes
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn who_makes_the_own_network_bad_measures_it_plays_on_and_has_a_good_one_again() {
    let server = start(serve_config()).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 50)).await;
    let bad = Conditions { latency: Duration::from_millis(200), loss: Loss::Uniform(0.1), ..Conditions::default() };
    let rtt = |guests: &[Guest]| guests[0].player.client().stats().network.rtt;
    guests[0].player.impairment_mut().set(bad).expect("in range");
    play(&mut guests, "it measures both ways", |guests| rtt(guests) >= Duration::from_millis(390)).await;
    let agreed = guests[0].agreed();
    play(&mut guests, "it is mostly right", |guests| all_agree(guests, agreed + 100)).await;
    guests[0].player.impairment_mut().set(Conditions::default()).expect("in range");
    play(&mut guests, "it is as before", |guests| rtt(guests) < Duration::from_millis(100)).await;
    let path = guests[0].player.path().expect("connected");
    assert!(path.rtt < Duration::from_millis(100), "the transport below knows nothing of it: {path:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_comes_from_another_port_plays_on() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    let mut guests = [join(&relay.through(&server.url("127.0.0.1")), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    for _ in 0..3 {
        relay.move_port().await;
        let agreed = guests[0].agreed();
        play(&mut guests, "it plays on from another port", |guests| all_agree(guests, agreed + 100)).await;
    }
    let status = server.status();
    assert_eq!((status.players, status.traffic.admitted), (1, 1), "it is the same connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn into_a_path_that_is_gone_both_ends_send_keep_alives_and_no_more() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    let mut guests = [join(&relay.through(&server.url("127.0.0.1")), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    relay.conditions.cut.store(true, Relaxed);
    // While it plays 128 packets come in a second, at 64 Hz each way. The client gives the connection up after five.
    let (mut since, mut counted) = (std::time::Instant::now(), relay.conditions.come.load(Relaxed));
    play(&mut guests, "few packets come", |_| {
        if since.elapsed() < Duration::from_secs(1) {
            return false;
        }
        let come = relay.conditions.come.load(Relaxed) - counted;
        (since, counted) = (std::time::Instant::now(), counted + come);
        come < 16
    })
    .await;
    assert_eq!((server.status().connections, guests[0].player.connected()), (1, Connected::Yes));
    relay.conditions.cut.store(false, Relaxed);
    let agreed = guests[0].agreed();
    play(&mut guests, "it plays on", |guests| all_agree(guests, agreed + 50)).await;
    assert_eq!(server.status().traffic.admitted, 1, "over the same connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_broken_connection_a_player_rejoins_by_ticket_as_the_same_player() {
    let config = ServeConfig { idle_timeout: Duration::from_secs(1), ..serve_config() };
    let server = start(config).await;
    let relay = Relay::to(server.local_addr()).await;
    let config = JoinConfig { idle_timeout: Duration::from_secs(1), ..JoinConfig::new(rules()) };
    let url = relay.through(&server.url("127.0.0.1"));
    let mut guests = [join_with(&url, token("alice"), config).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    let (me, x) = (guests[0].player.client().player(), guests[0].x());
    relay.conditions.cut.store(true, Relaxed);
    play(&mut guests, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
    relay.conditions.cut.store(false, Relaxed);
    let agreed = guests[0].agreed();
    play(&mut guests, "it is back", |guests| {
        guests[0].player.connected() == Connected::Yes && all_agree(guests, agreed + 100)
    })
    .await;
    assert_eq!(guests[0].player.client().player(), me);
    assert!(guests[0].x() > x, "the cube is where it was, or further");
    assert_eq!(server.status().players, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_connection_of_a_player_has_the_place() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let mut first = [join(&url, token("alice")).await.expect("admitted")];
    play(&mut first, "it plays", |guests| all_agree(guests, 20)).await;
    let me = first[0].player.client().player();
    let mut second = [join(&url, token("alice")).await.expect("admitted")];
    play(&mut second, "the second plays", |guests| all_agree(guests, 20)).await;
    assert_eq!(second[0].player.client().player(), me);
    let replaced = Connected::Closed(Closed::Replaced);
    play(&mut first, "the first is told", |guests| guests[0].player.connected() == replaced).await;
    let agreed = second[0].agreed();
    play(&mut second, "the second plays on", |guests| all_agree(guests, agreed + 20)).await;
    assert_eq!((server.status().players, server.status().connections), (1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_player_who_is_removed_is_told_and_does_not_come_back() {
    let server = start(serve_config()).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    let ticket = guests[0].player.ticket().clone();
    server.remove(account("alice"), "enough");
    let removed = Connected::Closed(Closed::Removed);
    play(&mut guests, "it is told", |guests| guests[0].player.connected() == removed).await;
    let client = guests[0].player.client();
    assert_eq!(client.state(guests[0].player.clock().now()), ClientState::Refused(Refusal::Removed("enough".into())));
    let refused = join(&server.url("127.0.0.1"), ticket).await.err().expect("refused").to_string();
    assert_eq!(refused, "not admitted: the session of the ticket has ended");
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("a new token is another matter")];
    play(&mut guests, "it plays again", |guests| guests[0].frame() == ClientState::Playing).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_player_says_of_themselves_and_their_account_the_game_judges_and_they_hear_its_words() {
    let server = start(serve_config()).await;
    // Who comes back at once to a place that they were refused is refused the same once more, which is not counted again.
    for (via, account) in [(Via::WebTransport, "alice"), (Via::WebSocket, "carol")] {
        let config = JoinConfig { via, data: b"nobody".to_vec(), ..JoinConfig::new(rules()) };
        let guest = join_with(&server.url("127.0.0.1"), token(account), config).await.expect("admitted");
        let mut guests = [guest];
        let refused = Connected::Closed(Closed::ByGame);
        play(&mut guests, "it is told", |guests| guests[0].player.connected() == refused).await;
        let client = guests[0].player.client();
        let why = Refusal::ByGame(format!("not you, {account}").as_str().into());
        assert_eq!(client.state(guests[0].player.clock().now()), ClientState::Refused(why));
    }
    let config = JoinConfig { data: vec![0; 1001], ..JoinConfig::new(rules()) };
    let error = join_with(&server.url("127.0.0.1"), token("bob"), config).await.err().expect("too long").to_string();
    assert_eq!(error, "1001 bytes are to be said of a player with the join, and at most 1000 can be");
    until(&server, "both are counted", |status| status.totals.joins.refused(Refusal::ByGame("".into())) == 2).await;
    assert_eq!(server.status().totals.joins.joined, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn where_no_udp_passes_a_player_plays_over_a_websocket_with_the_same_token() {
    let server = start(serve_config()).await;
    // A port that carries TCP alone.
    let gate = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let (port, to) = (gate.local_addr().expect("an address").port(), server.local_addr());
    tokio::spawn(async move {
        loop {
            let Ok((mut near, _)) = gate.accept().await else { continue };
            tokio::spawn(async move {
                let mut far = tokio::net::TcpStream::connect(to).await.expect("a server");
                let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
            });
        }
    });
    let own = server.url("127.0.0.1");
    let (_, hashes) = own.split_once('#').expect("hashes");
    let url = format!("https://127.0.0.1:{port}/#{hashes}");
    let mut guests = [join(&url, token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 50)).await;
    // The round trip is measured four times a second.
    play(&mut guests, "the path is known", |guests| {
        guests[0].frame();
        guests[0].player.path().is_some_and(|path| path.acks > 1 && !path.rtt.is_zero())
    })
    .await;
    let [alice] = guests;
    let ticket = alice.player.ticket().clone();
    alice.player.leave().await;
    let mut status = server.watch();
    let gone = status.wait_for(|status| status.players == 0 && status.connections == 0);
    tokio::time::timeout(Duration::from_secs(5), gone).await.expect("a good-bye needs no timeout").expect("it runs");
    let error = join(&url, ticket).await.err().expect("refused").to_string();
    assert_eq!(error, "not admitted: the session of the ticket has ended");
}

/// A world whose steps take their time.
#[derive(Clone, Default)]
struct Slow(Arena);

const STEP: Duration = Duration::from_millis(2);

impl Simulate for Slow {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        std::thread::sleep(STEP);
        self.0.step(step);
        // The client's alone is wrong now and then, so that it is corrected, and simulates again.
        if step.tick().get().is_multiple_of(8) {
            self.0.cubes.iter_mut().for_each(|mut cube| cube.x[0] += 0.01);
        }
    }
}

impl World for Slow {
    type Saved = <Arena as World>::Saved;

    fn schema() -> Schema {
        Arena::schema()
    }

    fn save(&self, into: &mut Self::Saved) {
        self.0.save(into);
    }

    fn load(&mut self, from: &Self::Saved) {
        self.0.load(from);
    }

    fn publish(&mut self, rows: &mut Rows) {
        self.0.publish(rows);
    }

    fn adopt(&mut self, rows: &Rows) {
        self.0.adopt(rows);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_simulated_again_takes_so_long_in_an_update_and_no_longer() {
    let server = start(serve_config()).await;
    let relay = Relay::to(server.local_addr()).await;
    relay.conditions.delay_millis.store(60, Relaxed);
    let url = relay.through(&server.url("127.0.0.1"));
    for limited in [true, false] {
        let resimulation_time = limited.then_some(4 * STEP);
        let config = JoinConfig { resimulation_time, ..JoinConfig::new(rules()) };
        let mut player = connect::<Slow>(&url, token(if limited { "alice" } else { "bob" }), config).await.expect("in");
        let (mut world, mut most, mut updates) = (Slow::default(), 0, 0);
        while updates < 200 {
            let frame = player.update(&mut world, &mut |_tick| Buttons { left: false, right: true });
            if frame.state != ClientState::Joining {
                updates += 1;
                // An update's new ticks and 2 more are always simulated again.
                most = most.max(if updates > 20 { frame.resimulated.saturating_sub(frame.ticks) } else { 0 });
            }
            tokio::time::sleep(Duration::from_millis(8)).await;
        }
        assert_eq!(most <= 4, limited, "{most} ticks in an update");
        let stats = player.client().stats();
        assert!(stats.prediction.outcomes.agreed > 0 && stats.prediction.resimulated > 100, "{stats:?}");
        // What the game sets while it plays is the game's.
        player.client_mut().config_mut().resimulation_budget = 77;
        player.update(&mut world, &mut |_tick| Buttons::default());
        assert_eq!(player.client_mut().config_mut().resimulation_budget, 77);
    }
}
