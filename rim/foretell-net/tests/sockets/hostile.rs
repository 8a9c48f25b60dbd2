//! Clients that do not keep to the rules. What they say is written by hand, from PROTOCOL.md.

use crate::common::raw::{Raw, hashes, hello, until};
use crate::common::{Arena, Buttons, all_agree, join, play, rules, serve_config, start, token};
use foretell::{Client, ClientConfig, Instant, Outbox};
use foretell_net::{Running, ServeConfig, Token};
use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use wtransport::quinn::TransportConfig;
use wtransport::tls::client::{ServerHashVerification, build_default_tls_config};
use wtransport::tls::{Sha256Digest, rustls};
use wtransport::{ClientConfig as QuicConfig, Endpoint};

/// A connection with its stream, on which nothing was said yet; `None` when the server does not want it.
async fn open(server: &Running, origin: Option<&str>) -> Option<Raw> {
    Raw::open(&server.url("127.0.0.1"), Ipv4Addr::LOCALHOST.into(), origin).await
}

/// Admitted by token: the connection and the number of its session.
async fn admitted(server: &Running, token: &Token) -> (Raw, u64) {
    let mut raw = open(server, None).await.expect("a connection");
    let session = raw.admit(token).await.expect("admitted");
    (raw, session)
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_takes_the_place_of_another_by_their_nonce() {
    let server = start(serve_config()).await;
    let (alice, hers) = admitted(&server, &token("alice")).await;
    let (mallory, _) = admitted(&server, &token("mallory")).await;
    for _ in 0..10 {
        mallory.connection.send_datagram(hello(hers)).expect("sent");
    }
    until(&server, "they have come", |status| status.traffic.strange_hellos >= 1).await;
    assert_eq!(server.status().players, 0);
    // Her own hellos are heard, and the one that shows the ticket of the answer makes her a player.
    let mut client = Client::<Arena>::new(rules(), ClientConfig::default(), hers);
    let (mut world, mut outbox) = (Arena::default(), Outbox::new());
    for frame in 0..200 {
        let now = Instant::from_micros(frame * 20_000);
        client.update(now, &mut world, &mut |_| Buttons::default(), &mut outbox);
        outbox.iter().for_each(|(_, datagram)| alice.connection.send_datagram(datagram).expect("sent"));
        outbox.clear();
        let answer = timeout(Duration::from_millis(20), alice.connection.receive_datagram()).await;
        for answer in answer.into_iter().flatten() {
            client.receive(now, &answer).expect("well-formed");
        }
    }
    until(&server, "the own nonce is heard", |status| status.players == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_instead_of_an_admission_is_refused() {
    let server = start(serve_config()).await;
    for (message, answer) in [(&[1, 2, 0, 7][..], [3, 1]), (&[1, 1, 9], [3, 0]), (&[4], [3, 0]), (&[], [3, 0])] {
        let mut raw = open(&server, None).await.expect("a connection");
        raw.say(message).await;
        assert_eq!(raw.hear().await.as_deref(), Some(&answer[..]), "{message:?}");
        assert!(raw.is_closed().await);
    }
    let mut raw = open(&server, None).await.expect("a connection");
    raw.send.write_all(&[0xff, 0xff]).await.expect("sent");
    assert!(raw.is_closed().await, "a length that no message has");
    until(&server, "all are gone", |status| status.handshakes == 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn browsers_come_from_allowed_pages_alone() {
    let origins = vec!["https://play.example.org".to_owned()];
    let server = start(ServeConfig { origins, ..serve_config() }).await;
    assert!(open(&server, Some("https://evil.example.org")).await.is_none());
    assert!(open(&server, Some("https://play.example.org.evil.example")).await.is_none());
    assert!(open(&server, Some("null")).await.is_none());
    assert!(open(&server, Some("https://play.example.org")).await.is_some());
}

/// The HTTP status with which a WebSocket from a page is answered.
async fn socket_status(server: &Running, origin: &str) -> u16 {
    let hashes = server.certificate_hashes().into_iter().map(Sha256Digest::new);
    let verifier = ServerHashVerification::new(hashes);
    let mut tls = build_default_tls_config(rustls::RootCertStore::empty().into(), Some(Arc::new(verifier)));
    tls.alpn_protocols.clear();
    let stream = tokio::net::TcpStream::connect(server.local_addr()).await.expect("a server");
    let name = rustls::pki_types::ServerName::try_from("127.0.0.1").expect("a name");
    let stream = tokio_rustls::TlsConnector::from(Arc::new(tls)).connect(name, stream).await.expect("trusted");
    let mut request = "wss://127.0.0.1/".into_client_request().expect("an address");
    request.headers_mut().insert("origin", origin.parse().expect("a header"));
    match tokio_tungstenite::client_async(request, stream).await {
        Ok((_, response)) => response.status().as_u16(),
        Err(tokio_tungstenite::tungstenite::Error::Http(response)) => response.status().as_u16(),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn websockets_of_browsers_come_from_allowed_pages_alone() {
    let origins = vec!["https://play.example.org".to_owned()];
    let server = start(ServeConfig { origins, ..serve_config() }).await;
    assert_eq!(socket_status(&server, "https://evil.example.org").await, 403);
    assert_eq!(socket_status(&server, "https://play.example.org").await, 101);
}

/// A client that lets the server say so many bytes on its stream, and reads none of them.
async fn deaf(server: &Running, bytes: u32) -> Raw {
    let url = server.url("127.0.0.1");
    let verifier = ServerHashVerification::new(hashes(&url));
    let tls = build_default_tls_config(rustls::RootCertStore::empty().into(), Some(Arc::new(verifier)));
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(bytes.into()).keep_alive_interval(Some(Duration::from_secs(1)));
    let any = (Ipv4Addr::LOCALHOST, 0).into();
    let config = QuicConfig::builder().with_bind_address(any).with_custom_tls_and_transport(tls, transport);
    let endpoint = Endpoint::client(config.build()).expect("a port");
    Raw::open_by(endpoint, &url, None).await.expect("a connection")
}

#[tokio::test(flavor = "multi_thread")]
async fn who_reads_nothing_is_closed_all_the_same_when_a_newer_connection_comes() {
    let server = start(serve_config()).await;
    let mut first = deaf(&server, 100).await;
    first.say(&[&[1, 1, 0], token("mallory").as_bytes()].concat()).await;
    until(&server, "it is admitted", |status| status.connections == 1).await;
    for _ in 0..20 {
        server.drain(Duration::from_secs(3600));
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut second = open(&server, None).await.expect("a connection");
    second.admit(&token("mallory")).await.expect("there is a place");
    assert!(first.is_closed().await, "it is replaced");
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_of_strangers_and_of_an_admitted_player_does_not_disturb_the_others() {
    let server = start(serve_config()).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 10)).await;
    let (mut mallory, session) = admitted(&server, &token("mallory")).await;
    mallory.connection.send_datagram(hello(session)).expect("sent");
    let mut rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
    let stranger = tokio::net::UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    for _ in 0..200 {
        for _ in 0..10 {
            let mut bytes = vec![0; 1 + (rng.next_u32() as usize) % 1150];
            rng.fill_bytes(&mut bytes);
            stranger.send_to(&bytes, server.local_addr()).await.expect("sent");
            let _ = mallory.connection.send_datagram(&bytes);
        }
        let mut bent = hello(session);
        // Not in the version, and never whole: who says that they play another game is sent away.
        let bit = 11 + rng.next_u32() as usize % (bent.len() * 8 - 11);
        bent[bit / 8] ^= 1 << (bit % 8);
        let _ = mallory.connection.send_datagram(&bent[..1 + rng.next_u32() as usize % (bent.len() - 1)]);
        // The server hears two of one client's in a tick.
        guests[0].frame();
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    until(&server, "it was heard", |status| status.totals.malformed > 50).await;
    let agreed = guests[0].agreed();
    play(&mut guests, "it plays on", |guests| all_agree(guests, agreed + 50)).await;
    // Messages of the stream that nobody has asked for: more than may wait.
    for _ in 0..10_000 {
        if mallory.send.write_all(&[1, 0, 9]).await.is_err() {
            break;
        }
    }
    mallory.send.write_all(&[0xff, 0xff, 1]).await.ok();
    assert!(mallory.is_closed().await);
    until(&server, "it is gone", |status| status.connections == 1).await;
    play(&mut guests, "it plays on", |guests| all_agree(guests, agreed + 60)).await;
}
