use super::*;
use axum::Extension;
use axum::body::Bytes;
use axum::routing::get;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;

const PATIENCE: Duration = Duration::from_secs(30);
const FILE_BYTES: usize = 400_000;

/// A site that answers with the address of who asks, or with a file, and ends who takes nothing for three seconds.
fn site(limits: Limits, proxies: &[&str]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("bound");
    let from = |Extension(Asker(who)): Extension<Asker>| async move { who.to_string() };
    let file = Bytes::from(vec![b'x'; FILE_BYTES]);
    let router = Router::new().route("/", get(from)).route("/file", get(|| async move { file }));
    let proxies = Proxies::read(&proxies.iter().map(|&text| text.into()).collect::<Vec<_>>()).expect("addresses");
    let (bytes_per_second, take_within) = (100_000_000, Duration::from_secs(3));
    start(vec![Site { listener, router, limits, bytes_per_second, take_within, proxies }]).expect("started");
    at
}

fn open(at: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(at).expect("open");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    stream
}

/// A connection that receives little at once, as over a long path, and asks for the file.
fn ask_for_file(at: SocketAddr, end: &str) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_recv_buffer_size(16_384).expect("a size");
    socket.set_tcp_mss(1400).expect("a size");
    socket.connect(&at.into()).expect("it listens");
    let mut stream: TcpStream = socket.into();
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    write!(stream, "GET /file HTTP/1.1\r\nHost: a\r\n{end}\r\n").expect("writable");
    stream
}

fn asked(at: SocketAddr, end: &str) -> String {
    let (mut stream, mut answer) = (open(at), String::new());
    write!(stream, "GET / HTTP/1.1\r\nHost: a\r\n{end}Connection: close\r\n\r\n").expect("writable");
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// How many bytes still come.
fn rest_of(mut stream: &TcpStream) -> usize {
    let mut bytes = Vec::new();
    // It may be cut.
    let _ = stream.read_to_end(&mut bytes);
    bytes.len()
}

const MANY: Limits = Limits { connections_max: 8, per_address_max: 8 };

#[test]
fn who_says_nothing_or_goes_on_asking_without_end_is_cut_after_five_seconds() {
    let at = site(MANY, &[]);
    let says = ["", "GET / HTTP/1.1\r\nHost: a\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"];
    let cut = says.map(|says| {
        thread::spawn(move || {
            let (mut stream, began) = (open(at), Instant::now());
            stream.write_all(says.as_bytes()).expect("writable");
            stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a time");
            let mut heard = [0; 1000];
            // Its head never ends, and never stands still.
            while stream.read(&mut heard).map_or(true, |length| length > 0) && began.elapsed() < PATIENCE {
                let _ = stream.write_all(if says.is_empty() { b"" } else { b"x" });
            }
            began.elapsed()
        })
    });
    for (cut, says) in cut.into_iter().zip(says) {
        let after = cut.join().expect("it ends").as_secs_f64();
        assert!((3.0..12.0).contains(&after), "{says:?}: after {after} s");
    }
    assert!(asked(at, "").ends_with("127.0.0.1"));
}

#[test]
fn a_head_has_so_many_bytes() {
    let at = site(MANY, &[]);
    let long = format!("X: {}\r\n", "x".repeat(2 * HEAD_MAX));
    assert!(!asked(at, &long).starts_with("HTTP/1.1 200"));
}

#[test]
fn who_reads_slowly_is_served_to_the_end_and_who_reads_nothing_is_not() {
    let at = site(MANY, &[]);
    let silent = ask_for_file(at, "");
    let (mut slow, mut read) = (ask_for_file(at, "Connection: close\r\n"), 0);
    // 40 kB in a second: three times as long as one may take nothing.
    loop {
        match slow.read(&mut [0; 2000]) {
            Ok(0) => break,
            Ok(length) => read += length,
            Err(error) => panic!("{error} after {read} bytes"),
        }
        thread::sleep(Duration::from_millis(50));
    }
    assert!(read > FILE_BYTES, "{read}");
    let read = rest_of(&silent);
    assert!(read < FILE_BYTES, "{read}");
}

#[test]
fn a_site_that_is_full_of_readers_who_read_nothing_has_a_place_for_who_comes() {
    let at = site(Limits { connections_max: 4, per_address_max: 8 }, &[]);
    let silent: Vec<_> = (0..4).map(|_| ask_for_file(at, "")).collect();
    thread::sleep(Duration::from_millis(200));
    assert!(asked(at, "").ends_with("127.0.0.1"));
    assert!(silent.iter().any(|stream| stream.take_error().is_ok_and(|ended| ended.is_some())), "one has made room");
}

#[test]
fn behind_a_proxy_each_who_asks_has_limits_of_their_own() {
    let at = site(Limits { connections_max: 4, per_address_max: 2 }, &["127.0.0.1"]);
    assert!(asked(at, "X-Forwarded-For: 203.0.113.1\r\n").ends_with("203.0.113.1"));
    let one = ask_for_file(at, "X-Forwarded-For: 203.0.113.1\r\nConnection: close\r\n");
    thread::sleep(Duration::from_millis(50));
    let others: Vec<_> = (0..3).map(|_| ask_for_file(at, "X-Forwarded-For: 203.0.113.2\r\n")).collect();
    thread::sleep(Duration::from_millis(50));
    assert!(asked(at, "X-Forwarded-For: 203.0.113.3\r\n").ends_with("203.0.113.3"));
    assert!(rest_of(&one) > FILE_BYTES, "it gets on, and the other has had two connections");
    assert!(others.iter().any(|stream| rest_of(stream) < FILE_BYTES));
}

#[test]
fn what_a_proxy_keeps_open_is_nobodys_once_it_has_the_answer() {
    let at = site(Limits { connections_max: 4, per_address_max: 1 }, &["127.0.0.1"]);
    let ask = |stream: &mut TcpStream, who: &str| {
        write!(stream, "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: {who}\r\n\r\n").expect("writable");
        let mut answer = String::new();
        while !answer.ends_with(who) {
            let mut piece = [0; 1000];
            match stream.read(&mut piece) {
                Ok(length @ 1..) => answer.push_str(std::str::from_utf8(&piece[..length]).expect("a text")),
                ended => panic!("{ended:?} after {answer}"),
            }
        }
    };
    let [mut one, mut two] = [open(at), open(at)];
    for _ in 0..3 {
        ask(&mut one, "203.0.113.1");
        ask(&mut two, "203.0.113.1");
    }
}
