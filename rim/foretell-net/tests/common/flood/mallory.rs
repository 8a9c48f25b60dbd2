//! A player with a right to play, who besides sends what no program of ours does: over the datagrams of the session, over
//! its stream, over streams that nobody has asked for, and below WebTransport.

use super::Pace;
use crate::common::raw::{Raw, hello};
use crate::common::{Arena, Buttons, rules, token};
use foretell::{Client, ClientConfig, ClientState, Outbox};
use foretell_net::Clock;
use futures_util::FutureExt;
use proptest::prelude::Rng as _;
use proptest::test_runner::TestRng;
use std::net::Ipv4Addr;
use std::time::Duration;

/// How many of the own datagrams are kept, to be sent again.
const KEPT: usize = 256;
/// How long a refusal is, in bytes; nothing else is so short.
const REFUSED: usize = 9;

pub struct Mallory {
    url: String,
    name: String,
    rng: TestRng,
    clock: Clock,
    session: Option<Session>,
    /// Hostile packets that were handed over.
    pub sent: u64,
    /// How often the server has cut the connection.
    pub cut: u64,
}

struct Session {
    raw: Raw,
    client: Client<Arena>,
    world: Arena,
    outbox: Outbox,
    /// What was sent by the rules.
    own: Vec<Vec<u8>>,
    /// The number of the place, which others must not know.
    nonce: u64,
}

impl Mallory {
    pub fn new(url: &str, name: &str, rng: TestRng) -> Mallory {
        Mallory { url: url.into(), name: name.into(), rng, clock: Clock::start(), session: None, sent: 0, cut: 0 }
    }

    /// Plays by the rules, and against them as fast as `pace` says, until that ends.
    pub async fn run(mut self, pace: Pace) -> Mallory {
        let mut steps = tokio::time::interval(Duration::from_millis(4));
        while !pace.is_over() {
            steps.tick().await;
            if self.session.is_none() {
                self.join().await;
            }
            if !self.play() {
                (self.session, self.cut) = (None, self.cut + 1);
                continue;
            }
            for _ in 0..pace.due(self.sent) {
                if self.attack().await.is_some() {
                    self.sent += 1;
                }
            }
        }
        self
    }

    async fn join(&mut self) {
        let Some(mut raw) = Raw::open(&self.url, Ipv4Addr::LOCALHOST.into(), None).await else { return };
        let Some(nonce) = raw.admit(&token(&self.name)).await else { return };
        let client = Client::new(rules(), ClientConfig::default(), nonce);
        let (world, outbox) = (Arena::default(), Outbox::new());
        self.session = Some(Session { raw, client, world, outbox, own: Vec::new(), nonce });
    }

    /// A frame by the rules; `false` when the connection is over.
    fn play(&mut self) -> bool {
        let Some(Session { raw, client, world, outbox, own, .. }) = &mut self.session else { return true };
        while let Some(came) = raw.connection.receive_datagram().now_or_never() {
            let Ok(datagram) = came else { return false };
            // Mallory's own bent hellos are refused, which is not to end what is played by the rules.
            if datagram.len() != REFUSED {
                let _ = client.receive(self.clock.now(), &datagram);
            }
        }
        client.update(self.clock.now(), world, &mut |_| Buttons { left: true, right: false }, outbox);
        let playing = client.state(self.clock.now()) == ClientState::Playing;
        for (_, datagram) in outbox.iter() {
            let _ = raw.connection.send_datagram(datagram);
            // Bent hellos end the connection, and she could not play on: they come seldom.
            if own.len() == KEPT {
                own.remove(0);
            }
            if playing || self.rng.next_u32().is_multiple_of(16) {
                own.push(datagram.to_vec());
            }
        }
        outbox.clear();
        true
    }

    /// One hostile packet or stream; `None` when it could not be sent.
    async fn attack(&mut self) -> Option<()> {
        let Session { raw, own, nonce, .. } = self.session.as_mut()?;
        let (rng, connection) = (&mut self.rng, &raw.connection);
        let bytes = hostile(rng, own, connection.max_datagram_size()?);
        let quic = connection.quic_connection();
        match rng.next_u32() % 2000 {
            // Below WebTransport most of it ends the connection.
            0 => quic.open_uni().now_or_never()?.ok()?.write_all(&bytes).now_or_never()?.ok(),
            1 => quic.open_bi().now_or_never()?.ok()?.0.write_all(&bytes).now_or_never()?.ok(),
            2 => quic.send_datagram(bytes.into()).ok(),
            // Streams of the session beyond the one that there is.
            3..20 => {
                let mut stream = connection.open_uni().now_or_never()?.ok()?.await.ok()?;
                stream.write_all(&bytes).now_or_never()?.ok()
            }
            20..40 => {
                let (mut stream, _) = connection.open_bi().now_or_never()?.ok()?.await.ok()?;
                stream.write_all(&bytes).now_or_never()?.ok()
            }
            // Messages that a client does not say, of a length that one may have, and of another.
            40..120 => {
                let message = &bytes[..bytes.len().min(64)];
                let length = u16::try_from(message.len()).ok()?.to_le_bytes();
                raw.send.write_all(&[&length[..], message].concat()).now_or_never()?.ok()
            }
            120 => raw.send.write_all(&bytes).now_or_never()?.ok(),
            // As if she had another place.
            121..141 => connection.send_datagram(hello(nonce.wrapping_add(1))).ok(),
            _ => connection.send_datagram(&bytes).ok(),
        }
    }
}

/// Random bytes, or a datagram that was sent before: again, cut short, bent, or with another end.
pub fn hostile(rng: &mut TestRng, known: &[Vec<u8>], longest: usize) -> Vec<u8> {
    let mut below = |limit: usize| rng.next_u32() as usize % limit.max(1);
    let (way, which, cut) = (below(5), below(known.len()), below(longest));
    let mut bytes = match known.get(which) {
        Some(known) if way > 0 => known[..known.len().min(longest)].to_vec(),
        _ => vec![0; cut],
    };
    match way {
        _ if known.is_empty() => rng.fill_bytes(&mut bytes),
        0 => rng.fill_bytes(&mut bytes),
        1 => {}
        2 => bytes.truncate(cut % bytes.len().max(1)),
        3 => {
            for _ in 0..1 + below(8) {
                let bit = below(bytes.len() * 8);
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
        }
        _ => {
            bytes.truncate(1 + below(12));
            let head = bytes.len();
            bytes.resize(longest.max(head), 0);
            rng.fill_bytes(&mut bytes[head..]);
        }
    }
    bytes
}
