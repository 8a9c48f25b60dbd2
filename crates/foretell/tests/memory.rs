//! How much memory a client that sees a thousand moving entities takes, on the server and on its own machine.

use foretell::session::client::Joined;
use foretell::{
    Client, ClientConfig, Entity, Input, Instant, Outbox, Owned, PeerId, PlayerId, Rules, Server, ServerConfig,
    Simulate, State, Step, Table, Tick, World,
};

const TICK_MICROS: u64 = 15_625;
const ENTITIES: u16 = 1000;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Watching {}

/// 24 bytes.
#[derive(State, Clone, Copy, Default)]
struct Mote {
    #[state(position, precision = 0.001)]
    position: [f32; 3],
    #[state(velocity, precision = 0.01)]
    velocity: [f32; 3],
}

#[derive(World, Default)]
struct Field {
    motes: Table<Mote>,
}

impl Simulate for Field {
    type Input = Watching;

    fn step(&mut self, step: &mut Step<'_, Watching>) {
        for mut mote in self.motes.simulated(step) {
            mote.position[0] += 0.1;
        }
    }
}

/// How many bytes the call has allocated and not freed, and what it returns.
fn held<T>(call: impl FnOnce() -> T) -> (i64, T) {
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(call()));
    (info.bytes_current, result.expect("it was called"))
}

/// In bytes.
#[derive(Default)]
struct Memory {
    server: i64,
    clients: i64,
}

/// Half a minute of a server and its clients, with some datagrams lost.
fn run(clients: u64) -> Memory {
    let mut world = Field::default();
    for nth in 0..ENTITIES {
        let of = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER };
        world.motes.insert(of, Mote { position: [f32::from(nth), 0.0, 0.0], ..Mote::default() });
    }
    let rules = Rules::new(Field::schema());
    let config = ServerConfig { budget: 10_000_000, ..ServerConfig::default() };
    let mut memory = Memory::default();
    let mut server = Server::new(rules.clone(), config, 0, Instant::ZERO);
    let mut all = Vec::new();
    for nth in 0..clients {
        let (bytes, player) = held(|| server.join(PeerId(nth)));
        memory.server += bytes;
        let joined = Joined { player, epoch: 0, now: Instant::ZERO };
        let (bytes, client) = held(|| {
            let mut world = Field::default();
            (Client::joined(rules.clone(), ClientConfig::default(), joined, &mut world), world)
        });
        memory.clients += bytes;
        all.push(client);
    }
    let (mut up, mut down) = (Outbox::new(), Outbox::new());
    for tick in 1..=2000_u64 {
        let now = Instant::from_micros(tick * TICK_MICROS);
        memory.server += held(|| server.update(now, &mut world, &mut down)).0;
        for (nth, (to, datagram)) in (0..).zip(down.iter()) {
            if (tick + nth) % 23 > 0 {
                let client = &mut all[usize::try_from(to.0).expect("few")].0;
                memory.clients += held(|| client.receive(now, datagram).expect("well-formed")).0;
            }
        }
        down.clear();
        for (nth, (client, world)) in (0..).zip(&mut all) {
            memory.clients += held(|| client.update(now, world, &mut |_| Watching {}, &mut up)).0;
            for (_, datagram) in up.iter() {
                memory.server += held(|| server.receive(now, PeerId(nth), datagram).expect("well-formed")).0;
            }
            up.clear();
        }
    }
    memory
}

#[test]
fn a_client_of_a_thousand_entities_takes_at_most_120_kb_of_the_server_and_7_mb_of_its_own() {
    let (few, many) = (run(2), run(10));
    let of_server = (many.server - few.server) / 8;
    let of_client = (many.clients - few.clients) / 8;
    // 92 and 5,300 bytes for each entity.
    assert!((20_000..120_000).contains(&of_server), "{of_server} bytes of the server");
    assert!((2_000_000..7_000_000).contains(&of_client), "{of_client} bytes of the client");
}
