//! `foretell serve`, `join` and `bots` as programs, over real sockets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A program that runs, and its lines as they come; killed at the end.
struct Program {
    child: Child,
    lines: Receiver<String>,
}

impl Program {
    fn start(arguments: &[&str]) -> Program {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
        let mut child =
            command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
        let (to, lines) = channel();
        let out = BufReader::new(child.stdout.take().expect("piped"));
        std::thread::spawn(move || out.lines().map_while(Result::ok).try_for_each(|line| to.send(line)));
        Program { child, lines }
    }

    /// The first line from now on that has `part` in it.
    fn says(&self, part: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let mut heard = Vec::new();
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(part) => return line,
                Ok(line) => heard.push(line),
                Err(why) => panic!("no {part:?} ({why}) in {heard:#?}"),
            }
        }
    }

    fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().expect("there is kill").success());
    }

    fn ends(&mut self) -> bool {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().expect("a child") {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("it does not end");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Server {
    program: Program,
    url: String,
    metrics: String,
}

fn serve(more: &[&str]) -> Server {
    let arguments = ["serve", "--insecure", "--set", "metrics.listen=127.0.0.1:0", "--set", "page.listen="];
    let program = Program::start(&[&arguments, more].concat());
    let url = program.says("players join ").rsplit(' ').next().expect("an address").to_owned();
    let metrics = program.says("metrics: ").rsplit(' ').next().expect("an address").to_owned();
    Server { program, url, metrics }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_foretell")).args(arguments).output().expect("it runs")
}

/// Status line and body of what stands at a path beside the metrics.
fn get(metrics: &str, path: &str) -> String {
    let address = metrics.trim_start_matches("http://").trim_end_matches("/metrics");
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").expect("it takes requests");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

/// The table of so many bots.
fn bots(server: &Server, count: &str, more: &[&str]) -> String {
    let output = run(&[&["bots", count, &server.url, "--metrics", &server.metrics], more].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

/// The first number on the line of a table that begins so.
fn figure(table: &str, name: &str) -> f64 {
    let line =
        table.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("no {name} in\n{table}"));
    line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
}

#[test]
fn bots_play_on_a_dedicated_server_and_print_what_both_have_measured() {
    let server = serve(&["--listen", "127.0.0.1:0"]);
    let table = bots(&server, "6", &["--seconds", "2"]);
    for figure in ["6, measured for 2 s", "round trip", "inputs missed", "server: processor", "server: memory"] {
        assert!(table.contains(figure), "no {figure} in\n{table}");
    }
    let received = figure(&table, "sent to each, payload");
    assert!(received > 1.0, "{received} kB/s: five others move");
}

#[test]
fn bots_push_one_pile_and_are_told_digests_in_place_of_what_lies_there() {
    let server = serve(&["--listen", "127.0.0.1:0", "--set", "session.game=pile"]);
    let table = bots(&server, "3", &["--game", "pile", "--seconds", "4"]);
    let received = figure(&table, "sent to each, payload");
    assert!((0.5..12.0).contains(&received), "{received} kB/s: whole states take 50 kB/s");
    let corrections = figure(&table, "corrections");
    assert!(
        corrections < 1500.0,
        "{corrections} of a hundred bodies per player and minute, as others' keys can't be foreseen"
    );
    assert!(figure(&table, "frames without a session, worst of a player") < 5.0, "{table}");
}

#[test]
fn whoever_comes_for_another_game_is_told_so_in_a_sentence() {
    let server = serve(&["--listen", "127.0.0.1:0", "--set", "session.game=pile"]);
    for arguments in [&["join", &server.url, "--insecure", "alice"][..], &["bots", "1", &server.url]] {
        let output = run(arguments);
        let sentence = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && sentence.contains("another game than the arena"), "{sentence}");
        assert!(sentence.contains("--game"), "{sentence}");
    }
    let mut player = Program::start(&["join", &server.url, "--insecure", "alice", "--game", "pile", "--seconds", "3"]);
    player.says("playing");
    assert!(player.ends());
}

#[test]
fn a_server_that_is_told_to_end_takes_nobody_new_tells_its_players_and_ends_when_they_have_left() {
    let mut server = serve(&["--listen", "127.0.0.1:0"]);
    assert!(get(&server.metrics, "/health").starts_with("HTTP/1.1 200"));
    let mut player = Program::start(&["join", &server.url, "--insecure", "alice"]);
    player.says("playing");
    let metrics = get(&server.metrics, "/metrics");
    for line in ["foretell_players 1\n", "foretell_draining 0\n", "foretell_tick_seconds_bucket{le=\"+Inf\"}", "# EOF"]
    {
        assert!(metrics.contains(line), "no {line} in\n{metrics}");
    }
    server.program.signal("-TERM");
    player.says("the server ends within 30 s");
    assert!(get(&server.metrics, "/health").starts_with("HTTP/1.1 503"));
    let late = run(&["join", &server.url, "--insecure", "bob"]);
    let sentence = String::from_utf8_lossy(&late.stderr);
    assert!(!late.status.success() && sentence.lines().count() == 1 && sentence.contains("about to end"), "{sentence}");
    player.signal("-INT");
    assert!(player.ends() && server.program.ends());
}

#[test]
fn a_player_of_a_server_that_was_killed_and_started_again_says_so_and_comes_back() {
    let folder = std::env::temp_dir().join(format!("foretell-network-{}", std::process::id()));
    let state_dir = format!("server.state_dir={}", folder.display());
    let mut server = serve(&["--listen", "127.0.0.1:0", "--set", &state_dir]);
    let address = server.url.trim_start_matches("https://").split('/').next().expect("a host").to_owned();
    let player = Program::start(&["join", &server.url, "--insecure", "alice"]);
    player.says("playing");
    server.program.signal("-KILL");
    assert!(!server.program.ends());
    player.says("coming back");
    let again = serve(&["--listen", &address, "--set", &state_dir]);
    assert_eq!(again.url, server.url, "the certificates were kept");
    player.says("playing");
    drop((player, again));
    std::fs::remove_dir_all::<PathBuf>(folder).expect("removable");
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let taken = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
    let taken = taken.local_addr().expect("an address").to_string();
    for (arguments, part) in [
        (&["serve"][..], "access.token_key"),
        (&["serve", "--insecure", "--listen", &taken], "can't be served"),
        (&["serve", "--config", "/nowhere.toml"], "/nowhere.toml"),
        (&["serve", "--set", "session.nearest=x"], "nearest"),
        (&["join", "localhost:1", "--insecure", "alice"], "address"),
        (&["join", "https://localhost:1/"], "FORETELL_TOKEN"),
        (&["bots", "0", "https://localhost:1/"], "1..=65535"),
    ] {
        let output = run(arguments);
        let sentence = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && sentence.contains(part), "{arguments:?}: {sentence}");
        assert!(sentence.lines().count() <= 2, "{arguments:?}: {sentence}");
    }
    let printed = run(&["serve", "--print-config"]);
    assert!(printed.status.success() && String::from_utf8_lossy(&printed.stdout).contains("players_max = 64"));
}
