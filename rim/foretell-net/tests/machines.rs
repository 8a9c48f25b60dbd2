//! Servers in processes of their own: killed and started again, and on another machine, as far as a namespace of the
//! network is one.

#[path = "common/flood/apart.rs"]
#[allow(dead_code, reason = "its reports are for others")]
mod apart;
mod common;

use apart::{Apart, KEPT};
use common::relay::Relay;
use common::{Guest, account, all_agree, issuer, join, join_with, play, rules, token};
use foretell_net::{ConnectError, Connected, Credential, JoinConfig, Refused, UnixTime};
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

#[test]
#[ignore = "the server's process, which another test starts"]
fn server() {
    apart::serve_if_asked();
}

/// This program again, as a server; behind the words of another program that runs it.
fn again(before: &[&str]) -> Command {
    let this = std::env::current_exe().expect("a program").into_os_string().into_string().expect("a path of text");
    let words: Vec<&str> =
        before.iter().copied().chain([&*this, "server", "--exact", "--ignored", "--nocapture"]).collect();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command
}

/// Notices soon that a connection is gone.
fn alert() -> JoinConfig {
    JoinConfig { idle_timeout: Duration::from_secs(2), ..JoinConfig::new(rules()) }
}

async fn refusal(url: &str, credential: impl Into<Credential>) -> Option<Refused> {
    match join(url, credential).await {
        Err(ConnectError::Refused(why)) => Some(why),
        _ => None,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_server_was_killed_its_players_notice_and_come_back_by_ticket_to_the_next() {
    let folder = std::env::temp_dir().join(format!("foretell-net-{}-killed", std::process::id()));
    let start = |address| Apart::start(again(&[]).env(KEPT, &folder), address);
    let mut server = start("127.0.0.1:0".parse().expect("an address"));
    let address: SocketAddr = server.address();
    let early = token("bob");
    let mut guests = [join_with(&server.url, token("alice"), alert()).await.expect("admitted")];
    play(&mut guests, "it plays", |guests| all_agree(guests, 20)).await;
    server.kill();
    play(&mut guests, "it notices", |guests| guests[0].player.connected() == Connected::Rejoining).await;
    let mut server = start(address);
    let agreed = guests[0].agreed();
    play(&mut guests, "it is back", |guests| {
        guests[0].player.connected() == Connected::Yes && all_agree(guests, agreed + 50)
    })
    .await;
    assert_eq!(refusal(&server.url, early).await, Some(Refused::BeforeStart));
    assert_eq!(server.report().links, 1);
    std::fs::remove_dir_all(folder).expect("it was there");
}

/// A namespace with a server's end of a virtual link, whose other end is here.
struct Link {
    name: String,
}

const HERE: &str = "10.213.77.1/24";
const ELSEWHERE: &str = "10.213.77.3/24";
const THERE: &str = "10.213.77.2";

/// Runs a program of the system.
fn system(line: &str) -> bool {
    let mut words = line.split(' ');
    let status = Command::new(words.next().expect("a program")).args(words).status();
    status.is_ok_and(|status| status.success())
}

impl Link {
    fn new() -> Link {
        let link = Link { name: format!("fn{}", std::process::id()) };
        let name = &link.name;
        for line in [
            format!("ip netns add {name}"),
            format!("ip link add {name}a type veth peer name {name}b netns {name}"),
            format!("ip addr add {HERE} dev {name}a"),
            format!("ip link set {name}a up"),
            format!("sysctl -qw net.ipv4.conf.{name}a.promote_secondaries=1"),
            format!("ip netns exec {name} ip addr add {THERE}/24 dev {name}b"),
            format!("ip netns exec {name} ip link set {name}b up"),
            format!("ip netns exec {name} ip link set lo up"),
        ] {
            assert!(system(&line), "{line}");
        }
        link
    }

    /// Changes this end of the link.
    fn here(&self, what: &str) {
        let line = what.replace("LINK", &format!("{}a", self.name));
        assert!(system(&line), "{line}");
    }

    /// Delays and loses packets, both ways; `false` where the system can't.
    fn worsen(&self) -> bool {
        let name = &self.name;
        let how = "root netem delay 20ms 5ms loss 5%";
        system(&format!("tc qdisc add dev {name}a {how}"))
            && system(&format!("ip netns exec {name} tc qdisc add dev {name}b {how}"))
    }

    fn mend(&self) {
        let name = &self.name;
        assert!(system(&format!("tc qdisc del dev {name}a root")));
        assert!(system(&format!("ip netns exec {name} tc qdisc del dev {name}b root")));
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        system(&format!("ip netns del {}", self.name));
        // It goes with its other end, a moment later.
        let _ = Command::new("ip").args(["link", "del", &format!("{}a", self.name)]).output();
    }
}

async fn play_on(guests: &mut [Guest], what: &str, times: u64) {
    let agreed = guests.iter().map(Guest::agreed).max().unwrap_or(0);
    play(guests, what, |guests| all_agree(guests, agreed + times)).await;
}

/// With delay and loss by the system, or by a relay where it has no netem.
async fn play_on_a_bad_link(link: &Link, server: &Apart, guests: &mut [Guest]) {
    if link.worsen() {
        play_on(guests, "they play across a bad link", 100).await;
        let path = guests[0].player.path().expect("connected");
        assert!(path.rtt >= Duration::from_millis(30) && path.lost > 0, "{path:?}");
        link.mend();
        return;
    }
    println!("no netem: a relay loses and delays instead");
    let relay = Relay::to(server.address()).await;
    relay.conditions.lost_per_thousand.store(50, Relaxed);
    relay.conditions.delay_millis.store(20, Relaxed);
    let mut far = [join_with(&relay.through(&server.url), token("far"), alert()).await.expect("admitted")];
    play_on(&mut far, "it plays across a bad link", 200).await;
    let path = far[0].player.path().expect("connected");
    assert!(path.rtt >= Duration::from_millis(38) && path.lost > 0, "{path:?}");
    let [far] = far;
    far.player.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the right to make namespaces of the network: .ci/run asks"]
async fn across_a_link_to_another_namespace_players_play_move_come_back_and_are_refused_as_on_one_machine() {
    let link = Link::new();
    let mut server = Apart::start(
        &mut again(&["ip", "netns", "exec", &link.name]),
        (THERE.to_owned() + ":0").parse().expect("an address"),
    );
    let url = server.url.clone();
    let mut guests = Vec::new();
    for name in ["alice", "bob"] {
        guests.push(join_with(&url, token(name), alert()).await.expect("admitted"));
    }
    play_on(&mut guests, "they play across the link", 50).await;
    play_on_a_bad_link(&link, &server, &mut guests).await;
    server.report();
    // The clients' address changes under their connections.
    link.here(&format!("ip addr add {ELSEWHERE} dev LINK"));
    link.here(&format!("ip addr del {HERE} dev LINK"));
    play_on(&mut guests, "they play from another address", 100).await;
    let report = server.report();
    assert_eq!((report.admitted, report.links), (0, 2), "over the same connections");
    // Nothing passes for longer than a connection lives.
    let me = guests[0].player.client().player();
    link.here("ip link set LINK down");
    play(&mut guests, "they notice", |guests| {
        guests.iter().all(|guest| guest.player.connected() == Connected::Rejoining)
    })
    .await;
    link.here("ip link set LINK up");
    play_on(&mut guests, "they are back", 100).await;
    assert_eq!(guests[0].player.client().player(), me);
    assert_eq!(server.report().admitted, 2, "by ticket");
    // Who may not come in is told why.
    let minute = Duration::from_secs(60);
    let expired = issuer().issue(&account("carol"), UnixTime(UnixTime::now().0 - 61_000), minute);
    assert_eq!(refusal(&url, expired).await, Some(Refused::Expired));
    let once = token("carol");
    let carol = join(&url, once.clone()).await.expect("admitted");
    assert_eq!(refusal(&url, once).await, Some(Refused::Used));
    carol.player.leave().await;
    server.drain();
    play(&mut guests, "they are told", |guests| guests.iter().all(|guest| guest.player.ends_within().is_some())).await;
    assert_eq!(refusal(&url, token("dave")).await, Some(Refused::Draining));
    for guest in guests {
        guest.player.leave().await;
    }
    let ended = async {
        while !server.has_ended() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), ended).await.expect("it is empty");
}
