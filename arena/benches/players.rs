//! How many players one core carries without a network: a server of the arena and its clients in one process, with only
//! the server's work timed, as processor time.
//!
//! `cargo bench -p foretell-arena`

use cpu_time::ThreadTime;
use foretell::{Client, ClientConfig, Instant, Interest, Outbox, PeerId, Rules, Server, ServerConfig, TickRate, World};
use foretell_arena::{Arena, Buttons};
use std::time::Duration;

const TICK_US: u64 = 16_667;
/// Until everybody has joined and clocks have settled.
const SETTLING: u64 = 300;
const MEASURED: u64 = 300;

struct Session {
    server: Server<Arena>,
    world: Arena,
    clients: Vec<(Client<Arena>, Arena)>,
    outbox: Outbox,
}

fn rules() -> Rules {
    Rules { tick_rate: TickRate::hz(60), ..Rules::new(Arena::schema()) }
}

impl Session {
    fn new(players: u16, interest: Interest) -> Session {
        let config = ServerConfig { players_max: players, interest, ..ServerConfig::default() };
        let client = |nonce| (Client::new(rules(), ClientConfig::default(), nonce), Arena::default());
        Session {
            server: Server::new(rules(), config, 0, Instant::ZERO),
            world: Arena::default(),
            clients: (1..=u64::from(players)).map(client).collect(),
            outbox: Outbox::new(),
        }
    }

    /// One tick at `now`: every client's datagrams, the server's tick, and its datagrams. What the server's part took, and
    /// how many bytes it sent.
    fn tick(&mut self, now: Instant) -> (Duration, usize) {
        let mut came = Vec::new();
        for (number, (client, world)) in (1..).zip(&mut self.clients) {
            let keys = |tick: foretell::Tick| Buttons::from_bits(1 << ((u64::from(tick.get()) / 40 + number * 7) % 4));
            client.update(now, world, &mut |tick| keys(tick), &mut self.outbox);
            came.extend(self.outbox.iter().map(|(_, datagram)| (PeerId(number), datagram.to_vec())));
            self.outbox.clear();
        }
        let began = ThreadTime::now();
        for (peer, datagram) in &came {
            self.server.receive(now, *peer, datagram).expect("well-formed");
        }
        self.server.update(now, &mut self.world, &mut self.outbox);
        let took = began.elapsed();
        let mut bytes = 0;
        for (peer, datagram) in self.outbox.iter() {
            bytes += datagram.len();
            let index = usize::try_from(peer.0).expect("small") - 1;
            self.clients[index].0.receive(now, datagram).expect("well-formed");
        }
        self.outbox.clear();
        (took, bytes)
    }
}

fn main() {
    println!("players  in view  ms per tick: mean    p99  kB/s to each  players per core");
    for (players, nearest) in [(100, Some(32)), (200, Some(32)), (500, Some(32)), (1000, Some(32)), (200, None)] {
        let mut session = Session::new(players, nearest.map_or(Interest::Everything, Interest::Nearest));
        for tick in 0..SETTLING {
            session.tick(Instant::from_micros(tick * TICK_US));
        }
        let measured = (SETTLING..SETTLING + MEASURED).map(|tick| session.tick(Instant::from_micros(tick * TICK_US)));
        let (mut times, bytes): (Vec<_>, Vec<_>) = measured.unzip();
        times.sort_unstable();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let mean = ms(times.iter().sum()) / times.len() as f64;
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let sent = bytes.iter().sum::<usize>() as f64 / bytes.len() as f64 * 60.0 / f64::from(players) / 1e3;
        let seen = nearest.map_or("all".into(), |nearest| nearest.to_string());
        let p99 = ms(times[times.len() * 99 / 100]);
        let carried = f64::from(players) * 1000.0 / 60.0 / mean;
        println!("{players:>7}  {seen:>7}  {mean:>17.2}  {p99:>5.2}  {sent:>12.1}  {carried:>16.0}");
    }
    println!("Players per core: as many ticks of so many players as fit into a second, without a network.");
}
