//! Who takes more than their share, over real sockets: of handshakes, of places, of admissions.

use crate::common::raw::{Raw, until};
use crate::common::{account, all_agree, issuer, join, join_with, play, rules, serve_config, start, token};
use foretell_net::{ConnectError, JoinConfig, Limits, Refused, ServeConfig, UnixTime, Via};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

async fn silent(from: IpAddr, to: SocketAddr) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((from, 0).into())?;
    socket.connect(to).await
}

/// Sixteen addresses that open sixteen connections each, say nothing, and open another whenever one is closed.
fn besiege(to: SocketAddr) -> Vec<JoinHandle<()>> {
    let address = |number: u32| IpAddr::from(Ipv4Addr::from_bits(0x7f00_0002 + number / 16));
    let hold = |number: u32| async move {
        loop {
            if let Ok(mut stream) = silent(address(number), to).await {
                let _ = stream.read(&mut [0]).await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
    };
    (0..256).map(|number| tokio::spawn(hold(number))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_addresses_that_open_tcp_and_say_nothing_keep_neither_newcomers_nor_players_out() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let besiegers = besiege(server.local_addr());
    let enough = Limits::default().handshakes_max;
    until(&server, "as many are under way as may be", |status| status.handshakes >= enough).await;
    let mut tickets = Vec::new();
    for (name, via) in [("alice", Via::WebSocket), ("bob", Via::WebTransport)] {
        let config = JoinConfig { via, ..JoinConfig::new(rules()) };
        let mut guests = [join_with(&url, token(name), config).await.expect(name)];
        play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
        tickets.push((guests[0].player.ticket().clone(), via));
    }
    for (ticket, via) in tickets {
        let config = JoinConfig { via, ..JoinConfig::new(rules()) };
        let mut guests = [join_with(&url, ticket, config).await.expect("back")];
        play(&mut guests, "it plays on", |guests| all_agree(guests, 10)).await;
    }
    until(&server, "it was besieged all the while, and is", |status| status.traffic.not_admitted > 100).await;
    besiegers.iter().for_each(JoinHandle::abort);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_of_tcp_that_says_nothing_is_closed_after_a_second() {
    let server = start(serve_config()).await;
    let began = Instant::now();
    let mut stream = silent(Ipv4Addr::LOCALHOST.into(), server.local_addr()).await.expect("open");
    assert!(stream.read(&mut [0]).await.is_ok_and(|bytes| bytes == 0), "closed");
    let after = began.elapsed().as_secs_f64();
    assert!((0.9..4.0).contains(&after), "a handshake has 5 s: {after}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_has_so_many_handshakes_under_way_and_others_get_in() {
    let limits = Limits { handshakes_per_address_max: 4, ..Limits::default() };
    let server = start(ServeConfig { limits, ..serve_config() }).await;
    let mut held = Vec::new();
    for _ in 0..8 {
        held.push(silent(Ipv4Addr::new(127, 0, 0, 2).into(), server.local_addr()).await.expect("open"));
    }
    until(&server, "the rest is turned away", |status| status.traffic.turned_away == 4).await;
    assert_eq!(server.status().handshakes, 4);
    let config = JoinConfig { via: Via::WebSocket, ..JoinConfig::new(rules()) };
    assert!(join_with(&server.url("127.0.0.1"), token("alice"), config).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_begins_so_many_handshakes_in_a_second_and_others_get_in() {
    let server = start(serve_config()).await;
    let (began, mut answered) = (Instant::now(), 0);
    for _ in 0..200 {
        let mut stream = silent(Ipv4Addr::new(127, 0, 0, 2).into(), server.local_addr()).await.expect("open");
        // Not what TLS begins with: it is told so, where it is listened to.
        let _ = stream.write_all(b"nonsense").await;
        answered += usize::from(stream.read(&mut [0]).await.is_ok_and(|bytes| bytes > 0));
    }
    let most = 32 + 8 * (1 + began.elapsed().as_secs());
    assert!(answered >= 32 && answered as u64 <= most, "{answered} of 200, at most {most}");
    assert!(join(&server.url("127.0.0.1"), token("alice")).await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_removed_player_comes_back_by_no_ticket_of_before_not_even_after_a_restart() {
    let folder = std::env::temp_dir().join(format!("foretell-net-{}-removed", std::process::id()));
    let mut config = serve_config();
    config.access.tickets_kept_in = Some(folder.join("tickets"));
    let server = start(config.clone()).await;
    let url = server.url("127.0.0.1");
    // It never plays.
    let first = join(&url, token("mallory")).await.expect("admitted");
    let mut tickets = vec![first.player.ticket().clone()];
    until(&server, "it is there", |status| status.connections == 1).await;
    drop(first);
    until(&server, "it is gone", |status| status.connections == 0).await;
    let mut guests = [join(&url, token("mallory")).await.expect("a new token")];
    tickets.push(guests[0].player.ticket().clone());
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    server.remove(account("mallory"), "");
    until(&server, "its player is gone", |status| status.players == 0).await;
    let refusal = |url: String, ticket| async move {
        match join(&url, ticket).await {
            Err(ConnectError::Refused(why)) => Some(why),
            _ => None,
        }
    };
    for ticket in &tickets {
        assert_eq!(refusal(url.clone(), ticket.clone()).await, Some(Refused::Ended));
    }
    server.drain(Duration::ZERO);
    server.ended().await.expect("no panic");
    let server = start(config).await;
    let url = server.url("127.0.0.1");
    for ticket in &tickets {
        assert_eq!(refusal(url.clone(), ticket.clone()).await, Some(Refused::Ended), "after a restart");
    }
    let mut guests = [join(&url, token("mallory")).await.expect("a newer token is another matter")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    let ticket = guests[0].player.ticket().clone();
    assert!(join(&url, ticket).await.is_ok(), "and so is its ticket");
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_comes_again_and_again_is_told_that_it_is_too_much() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let ticket = join(&url, token("mallory")).await.expect("admitted").player.ticket().clone();
    let mut admitted = 0;
    for _ in 0..24 {
        match join(&url, ticket.clone()).await {
            Ok(_) => admitted += 1,
            Err(error) => assert!(matches!(error, ConnectError::Refused(Refused::Busy)), "{error}"),
        }
    }
    assert!((9..20).contains(&admitted), "{admitted} of 24");
    assert!(join(&url, token("alice")).await.is_ok(), "nobody else has to wait for that");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_joins_so_often_under_whatever_names() {
    let server = start(serve_config()).await;
    let url = server.url("127.0.0.1");
    let mut admitted = 0;
    for number in 0..24 {
        match join(&url, token(&format!("mallory {number}"))).await {
            Ok(guest) => {
                admitted += 1;
                guest.player.leave().await;
            }
            Err(error) => assert!(matches!(error, ConnectError::Refused(Refused::Busy)), "{error}"),
        }
    }
    assert!((16..22).contains(&admitted), "{admitted} of 24");
    let mut far = Raw::open(&url, Ipv4Addr::new(127, 0, 0, 2).into(), None).await.expect("a connection");
    assert!(far.admit(&token("alice")).await.is_some(), "nobody else has to wait for that");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_an_issuer_whose_clock_is_a_little_ahead_is_taken() {
    let server = start(serve_config()).await;
    let ahead = |millis| {
        let issued = UnixTime::now().after(Duration::from_millis(millis));
        (issuer().issue(&account("alice"), issued, Duration::from_secs(60)), issued)
    };
    let (token, issued) = ahead(1_000);
    assert!(join(&server.url("127.0.0.1"), token).await.is_ok());
    assert!(UnixTime::now() >= issued, "at its time, so that it can't be used again after a restart");
    let error = join(&server.url("127.0.0.1"), ahead(10_000).0).await.err().expect("refused");
    assert!(matches!(error, ConnectError::Refused(Refused::Untimely)), "{error}");
}
