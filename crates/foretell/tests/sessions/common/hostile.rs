//! A running client and server to which any bytes can be fed; shared with the fuzz target.

use foretell::session::client::{Joined, Predict};
use foretell::{
    Client, ClientConfig, Input, Instant, Message, Messages, Outbox, PeerId, PlayerId, Rules, Schema, Server,
    ServerConfig, To, World,
};
use foretell_sim::netsim::SplitMix64;
use serde::{Deserialize, Serialize};

/// A message that arrives in order.
#[derive(Serialize, Deserialize, Message)]
struct Note(Vec<u8>);

/// One of which the newest arrives.
#[derive(Serialize, Deserialize, Message)]
#[message(newest)]
struct Gust(f32);

/// One that is part of a step.
#[derive(Serialize, Deserialize, Message)]
#[message(in_step)]
struct Deed(u8);

/// Both ends of a session that was created joined, with a perfect link between them.
pub struct Ends<W: World> {
    client: Client<W>,
    client_world: W,
    server: Server<W>,
    server_world: W,
    now: u64,
    /// How much more the client's clock shows, in µs.
    ahead: u64,
}

/// A world that such a session can be made of.
pub trait Playable: World + Default {
    /// The schema of its sessions.
    fn bounded() -> Schema {
        Self::schema()
    }
    fn with_player(player: PlayerId) -> Self;
}

impl<W: Playable> Ends<W> {
    pub fn new() -> Ends<W> {
        let messages = Messages::new().with::<Note>().with::<Gust>().with::<Deed>();
        let rules = Rules { messages, ..Rules::new(W::bounded()) };
        let config = ServerConfig { relay_inputs: true, ..ServerConfig::default() };
        let mut server = Server::new(rules.clone(), config, 1, Instant::ZERO);
        let player = server.join(PeerId(0));
        let mut client_world = W::with_player(player);
        let config = ClientConfig { predict: Predict::Everyone, ..ClientConfig::default() };
        let client = Client::joined(rules, config, Joined { player, epoch: 1, now: Instant::ZERO }, &mut client_world);
        Ends { client, client_world, server, server_world: W::default(), now: 0, ahead: 0 }
    }

    /// The client's clock is set, by a number of microseconds.
    pub fn set_clients_clock_forward(&mut self, by: u64) {
        self.ahead += by;
    }

    /// Plays so many ticks and returns all datagrams that were sent.
    pub fn record(&mut self, ticks: u32) -> Vec<Vec<u8>> {
        let (mut sent, mut outbox) = (Vec::new(), Outbox::new());
        let mut random = SplitMix64::new(7);
        for _ in 0..ticks {
            self.now += 15_625;
            let [now, clients] = [self.now, self.now + self.ahead].map(Instant::from_micros);
            let bits = random.next_u64();
            let mut words = [0; 64];
            for (nth, word) in words.iter_mut().enumerate() {
                *word = (bits >> nth & 1) as u32;
            }
            let input = W::Input::read(&words);
            if random.chance(0.1) {
                let _ = self.client.send(&Note(vec![3; (bits % 3000) as usize]));
                let _ = self.client.send(&Deed(7));
                let _ = self.server.send(To::All, &Note(vec![4; (bits % 1000) as usize]));
                let _ = self.server.send(To::All, &Gust(0.5));
            }
            self.client.update(clients, &mut self.client_world, &mut |_| input, &mut outbox);
            for (_, datagram) in outbox.iter() {
                sent.push(datagram.to_vec());
                let _ = self.server.receive(now, PeerId(0), datagram);
            }
            outbox.clear();
            self.server.update(now, &mut self.server_world, &mut outbox);
            for (_, datagram) in outbox.iter() {
                sent.push(datagram.to_vec());
                let _ = self.client.receive(clients, datagram);
            }
            outbox.clear();
        }
        sent
    }

    /// Goes on playing: the outcomes still add up, samples are compared again, and the two ends are together.
    pub fn play_on(&mut self) {
        // What was understood of the bytes may have been told as of up to 16 s ahead.
        self.record(1200);
        let before = self.client.stats().prediction.outcomes;
        self.record(20);
        let after = self.client.stats().prediction.outcomes;
        assert!(after.add_up(), "{after:?}");
        assert!(after.agreed + after.corrected >= before.agreed + before.corrected + 10, "{before:?} {after:?}");
        let apart = self.client.tick().get().abs_diff(self.server.tick().get());
        assert!(apart < 20, "{apart} ticks");
    }
}

/// Gives the bytes to both ends. Says whether either understood them.
pub fn feed<W: Playable>(ends: &mut Ends<W>, bytes: &[u8]) -> bool {
    let [now, clients] = [ends.now, ends.now + ends.ahead].map(Instant::from_micros);
    let by_server = ends.server.receive(now, PeerId(0), bytes).is_ok();
    let by_client = ends.client.receive(clients, bytes).is_ok();
    by_server || by_client
}
