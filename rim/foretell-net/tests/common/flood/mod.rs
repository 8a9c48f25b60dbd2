//! Honest players on a server in a process of its own, now in peace, now under hostile traffic: half of it from players
//! with a right to play, half from strangers. Seeded, as far as a network is.
#![allow(dead_code, reason = "each program uses a part of it")]

pub mod apart;
pub mod mallory;
pub mod strangers;

use crate::common::{Guest, join, token};
use apart::{Apart, Report};
use foretell::ClientState;
use foretell_net::Connected;
use mallory::Mallory;
use proptest::test_runner::{RngAlgorithm, TestRng};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use strangers::{Strangers, Tap};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// By so much what the server has allocated may grow under any traffic, in bytes: what 256 handshakes, 64 players and
/// their connections can make it keep is a multiple of what a million packets have ever made it keep (5 MB).
pub const GROWTH_MAX: u64 = 16 << 20;

pub struct Plan {
    pub seed: u8,
    /// How often peace and war follow each other.
    pub rounds: usize,
    /// For how long each of them lasts.
    pub phase: Duration,
    /// Hostile packets per second.
    pub rate: u64,
    pub honest: usize,
    /// How many players send the half that comes from players.
    pub mallories: usize,
}

/// Peace and war, one of each.
#[derive(Clone, Copy, Debug)]
pub struct Round {
    pub peace: Report,
    pub war: Report,
}

/// What has come of a plan.
pub struct Outcome {
    pub rounds: Vec<Round>,
    /// Hostile packets of players, and of strangers.
    pub sent: [u64; 2],
    /// How often the server has cut the connection of a hostile player.
    pub cut: u64,
    /// Before and after all of it, in peace.
    pub before: Report,
    pub after: Report,
    /// Whether all honest players play to the end, over their first connections.
    pub undisturbed: bool,
}

/// How fast one of many sends, shared by whoever starts and ends it.
#[derive(Clone)]
pub struct Pace {
    common: Arc<Common>,
    share: u64,
}

#[derive(Default)]
struct Common {
    /// Packets that are due by now, of all.
    due: AtomicU64,
    over: AtomicBool,
}

impl Pace {
    /// How many more are due from one who has sent so many: no more at once than it would send in 20 ms.
    fn due(&self, sent: u64) -> u64 {
        (self.common.due.load(Relaxed) / self.share).saturating_sub(sent).min(400)
    }

    fn is_over(&self) -> bool {
        self.common.over.load(Relaxed)
    }
}

fn rng(seed: u8, who: u8) -> TestRng {
    let mut bytes = [seed; 32];
    bytes[0] = who;
    TestRng::from_seed(RngAlgorithm::ChaCha, &bytes)
}

/// Lets honest players play until the pace is over.
async fn play(mut guests: Vec<Guest>, pace: Pace) -> Vec<Guest> {
    let mut frames = tokio::time::interval(Duration::from_millis(8));
    while !pace.is_over() {
        frames.tick().await;
        for guest in &mut guests {
            guest.frame();
        }
    }
    guests
}

/// Whoever attacks, in a runtime of their own: they take no turn from who plays.
struct Attackers {
    runtime: Runtime,
    strangers: JoinHandle<Strangers>,
    mallories: Vec<JoinHandle<Mallory>>,
}

impl Attackers {
    fn start(url: &str, captured: Vec<Vec<u8>>, plan: &Plan, common: &Arc<Common>) -> Attackers {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let pace = |share: usize| Pace { common: Arc::clone(common), share: share as u64 };
        let (from, rng_of_all, all) = (url.to_owned(), rng(plan.seed, 0), pace(2));
        let strangers = async move { Strangers::new(&from, captured, rng_of_all).await.run(all).await };
        let strangers = runtime.spawn(strangers);
        let mallory = |number: usize| {
            let rng = rng(plan.seed, u8::try_from(number).expect("few"));
            runtime.spawn(Mallory::new(url, &format!("mallory {number}"), rng).run(pace(2 * plan.mallories)))
        };
        let mallories = (1..=plan.mallories).map(mallory).collect();
        Attackers { runtime, strangers, mallories }
    }

    /// Waits for their end. Returns how many packets players and strangers have sent, and how often players were cut.
    async fn end(self) -> ([u64; 2], u64) {
        let (mut sent, mut cut) = ([0, self.strangers.await.expect("no panic").sent], 0);
        for mallory in self.mallories {
            let mallory = mallory.await.expect("no panic");
            (sent[0], cut) = (sent[0] + mallory.sent, cut + mallory.cut);
        }
        self.runtime.shutdown_background();
        (sent, cut)
    }
}

/// Honest players; the first of them over a wire that is tapped.
async fn honest(server: &Apart, number: usize) -> (Vec<Guest>, Tap) {
    let url = &*server.url;
    let (_, fragment) = url.split_once('#').expect("hashes");
    let tap = Tap::to(server.address()).await;
    let tapped = format!("https://127.0.0.1:{}/#{fragment}", tap.port);
    let mut guests = Vec::new();
    for number in 0..number {
        let url = if number == 0 { &tapped } else { url };
        guests.push(join(url, token(&format!("honest {number}"))).await.expect("admitted"));
    }
    (guests, tap)
}

/// Does all of it; the server runs by `command`.
pub async fn run(command: &mut Command, plan: &Plan) -> Outcome {
    let mut server = Apart::start(command, "127.0.0.1:0".parse().expect("an address"));
    let common = Arc::new(Common::default());
    let (guests, tap) = honest(&server, plan.honest).await;
    let playing = tokio::spawn(play(guests, Pace { common: Arc::clone(&common), share: 1 }));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let attackers = Attackers::start(&server.url, tap.captured(), plan, &common);
    let before = at_rest(&mut server).await;
    let mut rounds = Vec::new();
    for round in 0..plan.rounds {
        // What comes first is not always the same.
        let first = phase(&mut server, &common, plan, round % 2 == 1).await;
        let second = phase(&mut server, &common, plan, round % 2 == 0).await;
        let (peace, war) = if round % 2 == 0 { (first, second) } else { (second, first) };
        rounds.push(Round { peace, war });
    }
    let after = at_rest(&mut server).await;
    common.over.store(true, Relaxed);
    let mut guests = playing.await.expect("no panic");
    let undisturbed = guests
        .iter_mut()
        .all(|guest| guest.frame() == ClientState::Playing && guest.player.connected() == Connected::Yes);
    let (sent, cut) = attackers.end().await;
    Outcome { rounds, sent, cut, before, after, undisturbed }
}

/// A second, once handshakes that lead nowhere are over: they last for 5 s.
async fn at_rest(server: &mut Apart) -> Report {
    tokio::time::sleep(Duration::from_secs(6)).await;
    server.report();
    tokio::time::sleep(Duration::from_secs(1)).await;
    server.report()
}

/// One phase, measured; after it half a second in which what is under way arrives.
async fn phase(server: &mut Apart, common: &Common, plan: &Plan, war: bool) -> Report {
    server.report();
    let (began, before) = (Instant::now(), common.due.load(Relaxed));
    while began.elapsed() < plan.phase {
        tokio::time::sleep(Duration::from_millis(2)).await;
        if war {
            let due = u64::try_from(began.elapsed().as_millis()).expect("short") * plan.rate / 1000;
            common.due.store(before + due, Relaxed);
        }
    }
    let report = server.report();
    tokio::time::sleep(Duration::from_millis(500)).await;
    report
}
