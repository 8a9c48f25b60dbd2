//! A server in a process of its own, so that what it costs can be told from what its clients cost.
//!
//! The program that wants one runs itself again, with the server's address in `FORETELL_NET_APART`. The two talk in lines.

use crate::common::{Arena, issuer, rules};
use cpu_time::{ProcessTime, ThreadTime};
use foretell::session::server::ServerEvent;
use foretell::{Outbox, Server, ServerConfig};
use foretell_net::{Access, Certificates, Gateway, GatewayConfig, Limits};
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

const ADDRESS: &str = "FORETELL_NET_APART";
/// Names the folder in which the server keeps its certificates, if it does.
pub const KEPT: &str = "FORETELL_NET_APART_KEPT";
/// What a line for the other process begins with: test programs write others.
const MARK: &str = "apart: ";

/// How many bytes are allocated, and were at most.
struct Counting;
static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: everything is left to the allocator of the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(live, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(at, layout) }
    }
}

/// What a server has done since it was asked before.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// Ticks, and those that were skipped in an update that came too late.
    pub ticks: u64,
    pub skipped: u64,
    /// CPU time of the thread that runs a tick: half of all ticks take less, 99 of 100, all. Microseconds.
    pub p50: u64,
    pub p99: u64,
    pub max: u64,
    /// CPU time of all threads. Microseconds.
    pub process: u64,
    /// Inputs of honest players that were applied, and that were missing.
    pub applied: u64,
    pub missed: u64,
    /// Datagrams that were taken, and malformed ones of them.
    pub received: u64,
    pub malformed: u64,
    /// Bytes allocated now, and at most; bytes of memory of the process.
    pub live: u64,
    pub peak: u64,
    pub resident: u64,
    /// Connections that are admitted, and that wait.
    pub links: u64,
    pub handshakes: u64,
    /// How many were admitted since, and how many players have joined the session.
    pub admitted: u64,
    pub joined: u64,
    /// Hellos with the nonce of another place.
    pub strange: u64,
    /// Connections that had to prove their address.
    pub retried: u64,
}

impl Report {
    fn of(numbers: [u64; 19]) -> Report {
        let [ticks, skipped, p50, p99, max, process, applied, missed, received, malformed, rest @ ..] = numbers;
        let [live, peak, resident, links, handshakes, admitted, joined, strange, retried] = rest;
        Report {
            ticks,
            skipped,
            p50,
            p99,
            max,
            process,
            applied,
            missed,
            received,
            malformed,
            live,
            peak,
            resident,
            links,
            handshakes,
            admitted,
            joined,
            strange,
            retried,
        }
    }
}

/// The other process, as its parent sees it. It ends with it.
pub struct Apart {
    child: Child,
    orders: ChildStdin,
    told: BufReader<ChildStdout>,
    /// For clients, with the hashes of its certificates.
    pub url: String,
}

impl Apart {
    /// Runs `command`, which has to lead to [`serve_if_asked`], for a server at `address`.
    pub fn start(command: &mut Command, address: SocketAddr) -> Apart {
        command.env(ADDRESS, address.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("this program can be run");
        let orders = child.stdin.take().expect("piped");
        let mut told = BufReader::new(child.stdout.take().expect("piped"));
        let url = hear(&mut told);
        Apart { child, orders, told, url }
    }

    /// How it has fared since it was asked before.
    ///
    /// # Panics
    /// When it is dead.
    pub fn report(&mut self) -> Report {
        writeln!(self.orders, "report").expect("the server lives");
        let line = hear(&mut self.told);
        let numbers: Vec<u64> = line.split(' ').map(|number| number.parse().expect("a number")).collect();
        Report::of(numbers.try_into().expect("as many as it tells"))
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        let (place, _) = self.url.split_once("/#").expect("hashes");
        place.trim_start_matches("https://").parse().expect("an address")
    }

    /// It takes nobody new from now on, and ends when it is empty.
    pub fn drain(&mut self) {
        writeln!(self.orders, "drain").expect("the server lives");
    }

    /// Whether it has ended by itself, and well.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is a child").is_some_and(|status| status.success())
    }

    /// Ends it, as a machine ends that loses its power.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is a child");
        self.child.wait().expect("it is a child");
    }
}

impl Drop for Apart {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hear(told: &mut impl BufRead) -> String {
    let mut line = String::new();
    loop {
        line.clear();
        assert!(told.read_line(&mut line).expect("text") > 0, "the server is dead: what it said last stands above");
        if let Some((_, said)) = line.split_once(MARK) {
            return said.trim_end().to_owned();
        }
    }
}

/// Runs a server until the parent is gone, if this process was started for that.
pub fn serve_if_asked() -> bool {
    let Ok(address) = std::env::var(ADDRESS) else { return false };
    // A panic of any task is the end, and is seen.
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("the server panicked: {panic}");
        std::process::exit(101);
    }));
    let (sender, orders) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
        std::process::exit(0);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(serve(address.parse().expect("an address"), orders));
    true
}

/// A server with everything that its reports are made of.
struct Measured {
    gateway: Gateway,
    server: Server<Arena>,
    world: Arena,
    outbox: Outbox,
    ticks: Vec<u64>,
    skipped: u64,
    process: ProcessTime,
    /// Players who have joined the session.
    joined: u64,
    /// Of the last report: applied, missed, received, malformed, admitted, joined, strange hellos, retried.
    counted: [u64; 8],
}

fn config() -> GatewayConfig {
    let kept = std::env::var_os(KEPT).map(PathBuf::from);
    let mut access = Access::new("arena", issuer().public_key());
    access.tickets_kept_in = kept.as_ref().map(|folder| folder.join("tickets"));
    GatewayConfig {
        access,
        certificates: Certificates::SelfSigned { names: vec!["localhost".into(), "127.0.0.1".into()], kept_in: kept },
        players_max: 64,
        // All come from here, and come again whenever they are cut.
        limits: Limits {
            per_address_max: 64,
            handshakes_unproven_max: 8,
            joins_per_second: 1000,
            joins_per_address_per_minute: 60_000,
            admissions_per_account_per_minute: 60_000,
            ..Limits::default()
        },
        origins: Vec::new(),
        idle_timeout: Duration::from_secs(10),
        sockets: true,
        rate_max: 1_000_000,
    }
}

async fn serve(address: SocketAddr, orders: mpsc::Receiver<String>) {
    let gateway = Gateway::bind(address, config()).expect("a free port");
    let epoch = u8::try_from(std::process::id() % 256).expect("less than 256");
    let server = Server::new(rules(), ServerConfig::default(), epoch, gateway.clock().now());
    let (world, outbox, process) = (Arena::default(), Outbox::new(), ProcessTime::now());
    let mut running =
        Measured { gateway, server, world, outbox, ticks: Vec::new(), skipped: 0, process, joined: 0, counted: [0; 8] };
    println!("{MARK}{}", running.url());
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / u32::from(rules().tick_rate.get()));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !running.gateway.is_drained(running.gateway.clock().now()) {
        ticks.tick().await;
        match orders.try_recv().as_deref() {
            Ok("report") => println!("{MARK}{}", running.report()),
            Ok("drain") => {
                let now = running.gateway.clock().now();
                running.gateway.begin_to_drain(now, Duration::from_secs(60));
            }
            _ => {}
        }
        running.tick();
    }
    running.gateway.close().await;
    std::process::exit(0);
}

impl Measured {
    fn url(&self) -> String {
        let address = self.gateway.local_addr().expect("it listens");
        let hashes = self.gateway.certificate_hashes().iter();
        let text = hashes.map(|hash| hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        format!("https://{address}/#{}", text.collect::<Vec<_>>().join("."))
    }

    /// As `serve` does it, and measured.
    fn tick(&mut self) {
        let began = ThreadTime::now();
        let clock = self.gateway.clock();
        let server = &mut self.server;
        self.gateway.drain(clock.now(), &mut |arrival| arrival.tell(server));
        let now = clock.now();
        let before = self.server.tick();
        let (tick, steps) = {
            let frame = self.server.update(now, &mut self.world, &mut self.outbox);
            (frame.tick, frame.steps)
        };
        self.skipped += u64::from(tick.since(before) - steps);
        let events = self.server.frame().events;
        self.joined += events.iter().filter(|event| matches!(event, ServerEvent::Joined(_))).count() as u64;
        self.gateway.note(&self.server, events);
        self.gateway.send(now, &self.outbox);
        self.outbox.clear();
        self.ticks.push(u64::try_from(began.elapsed().as_nanos()).expect("short") / 1000);
    }

    fn report(&mut self) -> String {
        self.ticks.sort_unstable();
        let at = |share: usize| self.ticks.get(self.ticks.len() * share / 100).or(self.ticks.last()).copied();
        let [p50, p99, max] = [50, 99, 100].map(|share| at(share).unwrap_or(0));
        let honest = self.gateway.players().filter(|(_, account)| account.as_str().starts_with("honest"));
        let stats = honest.filter_map(|(player, _)| self.server.stats(player));
        let (applied, missed) = stats.fold((0, 0), |sum, one| (sum.0 + one.inputs.applied, sum.1 + one.inputs.missed));
        let traffic = self.gateway.traffic();
        let doors = [traffic.admitted, self.joined, traffic.strange_hellos, traffic.retried];
        let counted = [&[applied, missed, traffic.received, self.server.totals().malformed][..], &doors].concat();
        let counted: [u64; 8] = counted.try_into().expect("as many");
        let since = |which: usize| counted[which].saturating_sub(self.counted[which]);
        let process = u64::try_from(self.process.elapsed().as_micros()).expect("short");
        let (links, handshakes) = self.gateway.connections();
        let (ticks, skipped) = (self.ticks.len() as u64, std::mem::take(&mut self.skipped));
        let memory = [LIVE.load(Relaxed) as u64, PEAK.swap(LIVE.load(Relaxed), Relaxed) as u64, resident()];
        let times = [ticks, skipped, p50, p99, max, process];
        let counts = [0, 1, 2, 3].map(since);
        let doors = [links as u64, handshakes as u64, since(4), since(5), since(6), since(7)];
        (self.counted, self.process) = (counted, ProcessTime::now());
        self.ticks.clear();
        let all = [&times[..], &counts, &memory, &doors].concat();
        all.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
    }
}

/// Bytes of memory that this process has; zero where the system does not say.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) * 1024
}
