//! Timestamped mode in one process: a client walks, a server follows, and a push on the server ends in a resync.

use core::time::Duration;
use foretell::Instant;
use foretell_articles::timestamped::{Client, ClientConfig, Direction, Server, ServerConfig, Walk, Walker};
use std::collections::VecDeque;

/// One way of a network: datagrams that arrive 50 ms after they were sent.
#[derive(Default)]
struct Way(VecDeque<(Instant, Vec<u8>)>);

impl Way {
    fn send(&mut self, now: Instant, datagram: &[u8]) {
        self.0.push_back((now + Duration::from_millis(50), datagram.to_vec()));
    }

    fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        self.0.pop_front_if(|(due, _)| *due <= now).map(|(_, datagram)| datagram)
    }
}

/// Five seconds.
pub fn main() {
    // Both ends begin with the same movement, the same state and the same epoch, the server first.
    let (walk, spawn, epoch) = (Walk { speed: 5.0 }, Walker { position: [0.0; 3] }, 0);
    let mut server: Server<Walk> = Server::new(walk, spawn, ServerConfig::default(), epoch, Instant::ZERO);
    let mut client: Client<Walk> = Client::new(walk, spawn, ClientConfig::default(), epoch, Instant::ZERO);
    let (mut up, mut down) = (Way::default(), Way::default());

    for frame in 1..=300_u64 {
        let now = Instant::from_micros(frame * 1_000_000 / 60);
        while let Some(datagram) = up.arrived(now) {
            // A malformed datagram is counted; there is nothing else to do about it.
            let _ = server.receive(now, &datagram);
        }
        if frame == 150 {
            server.state_mut().position[2] += 2.0;
        }
        server.update(now, &mut |datagram| down.send(now, datagram));

        while let Some(datagram) = down.arrived(now) {
            let _ = client.receive(now, &datagram);
        }
        let pressed = if frame < 200 { Direction::of_axes(1.0, 0.0) } else { Direction::default() };
        client.update(now, pressed, &mut |datagram| up.send(now, datagram));

        if frame % 20 == 0 {
            let ([x, _, z], [server_x, _, server_z]) = (client.shown(), server.position());
            println!("frame {frame}: shown at ({x:.2}, {z:.2}), the server's is at ({server_x:.2}, {server_z:.2})");
        }
    }
    assert_eq!(client.stats().resyncs, 1);
    let apart = client.position().iter().zip(server.position()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 0.01, "they are together again, to rounding");
    assert_eq!(server.offences().total(), 0);
}
