//! `foretell serve`, `join` and `bots` as programs, over real sockets.

use socket2::{Domain, Socket, Type};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
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

/// The last word of a line: an address.
fn address(line: &str) -> String {
    line.rsplit(' ').next().expect("an address").to_owned()
}

fn serve(more: &[&str]) -> Server {
    let arguments = ["serve", "--insecure", "--set", "metrics.listen=127.0.0.1:0", "--set", "page.listen="];
    let program = Program::start(&[&arguments, more].concat());
    let [url, metrics] = ["players join ", "metrics: "].map(|part| address(&program.says(part)));
    Server { program, url, metrics }
}

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_foretell")).args(arguments).output().expect("it runs")
}

/// Status line and body of what stands at a path beside the metrics.
fn get(metrics: &str, path: &str) -> String {
    let address = metrics.trim_start_matches("http://").trim_end_matches("/metrics");
    get_as(address, address, path)
}

/// The same of any server, under this name.
fn get_as(address: &str, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("it takes requests");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    text
}

/// A figure of the server's own.
fn metric(metrics: &str, name: &str) -> f64 {
    figure(&get(metrics, "/metrics"), name)
}

/// Bots that run beside the test.
fn bots_beside(server: &Server) -> Child {
    let arguments = ["bots", "3", &server.url, "--metrics", &server.metrics, "--seconds", "2"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
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
fn more_bots_than_may_come_at_once_play_on_a_dedicated_server_and_print_what_both_have_measured() {
    // Eight of one network come at once where there are so few places.
    let server = serve(&["--listen", "127.0.0.1:0", "--set", "session.players_max=12"]);
    let table = bots(&server, "12", &["--seconds", "2"]);
    for figure in ["12, measured for 2 s", "round trip", "inputs missed", "server: processor", "server: memory"] {
        assert!(table.contains(figure), "no {figure} in\n{table}");
    }
    let received = figure(&table, "sent to each, payload");
    assert!(received > 1.0, "{received} kB/s: eleven others move");
}

#[test]
fn bots_of_two_programs_have_accounts_of_their_own_and_play_beside_each_other() {
    let server = serve(&["--listen", "127.0.0.1:0"]);
    for output in [bots_beside(&server), bots_beside(&server)].map(Child::wait_with_output) {
        let output = output.expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
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
fn who_hosts_plays_with_who_joins_and_who_plays_alone_with_nobody() {
    for game in ["arena", "pile"] {
        let mut host = Program::start(&["join", "--host", "127.0.0.1:0", "--game", game, "--seconds", "30"]);
        let url = address(&host.says("players join "));
        host.says(", 0 others");
        let mut player = Program::start(&["join", &url, "--insecure", "alice", "--game", game, "--seconds", "3"]);
        player.says("playing");
        host.says(", 1 other |");
        assert!(player.ends());
        host.says(", 0 others");
        host.signal("-INT");
        assert!(host.ends());
        let mut alone = Program::start(&["join", "--single", "--game", game, "--seconds", "2"]);
        alone.says("playing alone | round trip 0.0 ms, margin +0.00 ticks, 0 corrections");
        assert!(alone.ends());
    }
    let reachable = run(&["join", "--host", "0.0.0.0:0"]);
    assert!(String::from_utf8_lossy(&reachable.stderr).contains("--insecure-for-all"));
    assert!(!run(&["join"]).status.success() && !run(&["join", "--single", "--host"]).status.success());
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
fn a_server_that_is_told_twice_to_end_says_good_bye_to_its_players_at_once() {
    let mut server = serve(&["--listen", "127.0.0.1:0"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    command.args(["join", &server.url, "--insecure", "alice"]).stdout(Stdio::null()).stderr(Stdio::piped());
    let player = command.spawn().expect("it starts");
    let until = |name, value: f64| {
        (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            metric(&server.metrics, name) == value
        })
    };
    assert!(until("foretell_players", 1.0));
    server.program.signal("-TERM");
    assert!(until("foretell_draining", 1.0));
    server.program.signal("-TERM");
    let sentence = String::from_utf8(player.wait_with_output().expect("it ends").stderr).expect("a text");
    assert!(sentence.contains("the server has ended"), "{sentence}");
    assert!(server.program.ends());
}

#[test]
fn the_metrics_are_told_to_who_calls_the_server_by_an_address_or_by_a_name_of_its_own() {
    let server = serve(&["--listen", "127.0.0.1:0", "--set", "metrics.hosts=[\"foretell.internal\"]"]);
    let at = server.metrics.trim_start_matches("http://").trim_end_matches("/metrics");
    for (host, told) in [
        (at, true),
        ("localhost", true),
        ("[::1]:9464", true),
        ("10.0.0.7:1", true),
        ("Foretell.internal:9464", true),
        ("evil.example", false),
        ("foretell.internal.evil.example:9464", false),
        ("", false),
    ] {
        for path in ["/metrics", "/health"] {
            let answer = get_as(at, host, path);
            assert_eq!(answer.starts_with("HTTP/1.1 200"), told, "{host}: {answer}");
        }
    }
}

/// A connection from an address of this machine, to tell visitors apart.
#[cfg(target_os = "linux")]
fn connect_from(from: [u8; 4], to: &str) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.bind(&SocketAddr::from((from, 0)).into()).expect("all of 127 is this machine");
    socket.connect(&to.parse::<SocketAddr>().expect("an address").into()).expect("it listens");
    socket.into()
}

/// How many bytes come in answer to a request, until the connection ends.
#[cfg(target_os = "linux")]
fn read_all(mut stream: TcpStream) -> usize {
    stream.set_read_timeout(Some(PATIENCE)).expect("a time");
    let mut bytes = Vec::new();
    // It may be cut.
    let _ = stream.read_to_end(&mut bytes);
    bytes.len()
}

#[cfg(target_os = "linux")]
#[test]
fn visitors_who_read_nothing_cost_no_memory_and_keep_nobody_out_wherever_they_come_from() {
    const MODULE_BYTES: usize = 4_000_000;
    let folder = std::env::temp_dir().join(format!("foretell-visitors-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("writable");
    std::fs::write(folder.join("index.html"), "the page").expect("writable");
    std::fs::write(folder.join("foretell_arena_bg.wasm"), vec![0; MODULE_BYTES]).expect("writable");
    let page_folder = format!("page.folder={}", folder.display());
    let more = ["--listen", "127.0.0.1:0", "--set", "page.listen=127.0.0.1:0", "--set", &page_folder];
    let fast = ["--set", "metrics.listen=127.0.0.1:0", "--set", "page.megabits_per_second=1000"];
    let program = Program::start(&[&["serve", "--insecure"][..], &fast, &more].concat());
    let [page, metrics] = ["browsers play at ", "metrics: "].map(|part| address(&program.says(part)));
    let page = page.trim_start_matches("http://").trim_end_matches('/');
    let ask = |from| {
        let mut stream = connect_from(from, page);
        write!(stream, "GET /foretell_arena_bg.wasm HTTP/1.1\r\nHost: {page}\r\nConnection: close\r\n\r\n")
            .expect("open");
        stream
    };
    assert!(read_all(ask([127, 0, 0, 9])) > MODULE_BYTES, "a visitor is served");
    let memory = || metric(&metrics, "foretell_resident_memory_bytes");
    let before = memory();
    // Five routers with all that one may have, then as many addresses as there are places.
    let routers = (0..320).map(|nth| [127, 0, 1, nth as u8 / 64]).collect();
    let addresses = (0..=255).map(|nth| [127, 0, 2, nth]).collect();
    for (nth, silent) in [(1, routers), (2, addresses)] {
        let silent: Vec<_> = Vec::into_iter(silent).map(ask).collect();
        std::thread::sleep(Duration::from_millis(500));
        let (grown, count) = (memory() - before, silent.len());
        assert!(grown < 4.0 * MODULE_BYTES as f64, "{grown} bytes more, of {count} who wait for {MODULE_BYTES}");
        assert!(read_all(ask([127, 0, 3, nth])) > MODULE_BYTES, "one more is served beside them");
    }
    // Who goes after the first bytes is charged no more than that.
    (0..40).for_each(|_| drop(ask([127, 0, 0, 7]).read_exact(&mut [0; 100])));
    assert!(read_all(ask([127, 0, 0, 7])) > MODULE_BYTES, "who asks and goes may ask again");
    std::fs::remove_dir_all(folder).expect("removable");
}

/// The thread on which the page is served, as the system tells of it.
#[cfg(target_os = "linux")]
#[test]
fn the_page_is_served_by_a_thread_that_goes_behind_the_games() {
    let server = serve(&["--listen", "127.0.0.1:0"]);
    // The thread is made while the server already says where it listens.
    let mut looks = (0..100).map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        niceness_of_threads(server.program.child.id())
    });
    let threads = looks.find(|threads| threads.contains(&(true, 10))).expect("a thread of HTTP that is nice");
    assert!(threads.iter().all(|(http, nice)| *http || *nice < 10), "{threads:?}");
}

/// Of each thread of a process: whether it is that of HTTP, and its niceness.
#[cfg(target_os = "linux")]
fn niceness_of_threads(process: u32) -> Vec<(bool, i32)> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("it runs");
    let stats = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok());
    let niceness = stats.filter_map(|stat| {
        let (name, rest) = stat.rsplit_once(") ")?;
        // After the name: state, and then niceness as the 17th.
        Some((name.ends_with("(http"), rest.split(' ').nth(16)?.parse::<i32>().ok()?))
    });
    niceness.collect()
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
        (&["serve", "--insecure", "--listen", "0.0.0.0:0"], "--insecure-for-all"),
        (&["serve", "--insecure", "--listen", "[::]:0"], "--insecure-for-all"),
        (&["serve", "--insecure-for-all"], "--insecure"),
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
