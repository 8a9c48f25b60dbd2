//! A second implementation of timestamped mode, of either end, by PROTOCOL.md section 9 alone: it uses nothing of the crate
//! to read or write a datagram.

use core::time::Duration;
use foretell::Instant;
use foretell_articles::timestamped::{Client, ClientConfig, Detect, Direction, Server, ServerConfig, Walk, Walker};

/// Bits, least significant first.
#[derive(Default, Clone, Debug)]
struct Bits {
    bits: Vec<bool>,
    at: usize,
}

impl Bits {
    fn of(bytes: &[u8]) -> Bits {
        let bits = bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)).collect();
        Bits { bits, at: 0 }
    }

    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| bits.iter().enumerate().map(|(bit, set)| u8::from(*set) << bit).sum();
        self.bits.chunks(8).map(byte).collect()
    }

    fn put(mut self, value: u64, width: usize) -> Bits {
        self.bits.extend((0..width).map(|bit| value >> bit & 1 == 1));
        self
    }

    fn put_small(mut self, mut value: u64) -> Bits {
        while value > 0 {
            self = self.put(1, 1).put(value & 15, 4);
            value >>= 4;
        }
        self.put(0, 1)
    }

    fn put_point(self, point: [f64; 3]) -> Bits {
        point.into_iter().fold(self, |bits, lane| bits.put(lane.to_bits(), 64))
    }

    fn take(&mut self, width: usize) -> u64 {
        let bits = &self.bits[self.at..self.at + width];
        self.at += width;
        bits.iter().enumerate().map(|(bit, set)| u64::from(*set) << bit).sum()
    }

    fn take_small(&mut self) -> u64 {
        let (mut value, mut shift) = (0, 0);
        while self.take(1) == 1 {
            value |= self.take(4) << shift;
            shift += 4;
        }
        value
    }

    fn take_point(&mut self) -> [f64; 3] {
        core::array::from_fn(|_| f64::from_bits(self.take(64)))
    }

    fn is_over(&self) -> bool {
        self.bits.len() - self.at < 8 && self.bits[self.at..].iter().all(|bit| !bit)
    }
}

fn ms(ms: u64) -> Instant {
    Instant::from_micros(ms * 1000)
}

const EAST: [f64; 3] = [1.0, 0.0, 0.0];
const NORTH: [f64; 3] = [0.0, 0.0, 1.0];

/// Inputs without a state: target, number of the first, and each with how many microseconds before.
fn inputs(epoch: u64, target: u64, first: u64, inputs: &[(u64, Option<[f64; 3]>)]) -> Vec<u8> {
    let header = Bits::default().put(0, 3).put(epoch, 8).put(target, 64).put(0, 1);
    let header = header.put_small(first).put_small(inputs.len() as u64);
    let each = |bits: Bits, (before, input): &(u64, Option<[f64; 3]>)| {
        let bits = bits.put_small(*before);
        input.map_or(bits.clone().put(0, 1), |input| bits.put(1, 1).put_point(input))
    };
    inputs.iter().fold(header, each).bytes()
}

fn is_near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

#[test]
fn a_session_by_the_document_alone_walks_is_pushed_and_begins_anew() {
    let mut server: Server<Walk> =
        Server::new(Walk { speed: 5.0 }, Walker::default(), ServerConfig::default(), 7, ms(0));
    let mut answers = Vec::new();
    let mut serve = |server: &mut Server<Walk>, now, datagram: &[u8]| {
        server.receive(ms(now), datagram).expect("as the document says");
        answers.clear();
        server.update(ms(now), &mut |bytes| answers.push(bytes.to_vec()));
        assert!(answers.len() <= 1);
        answers.first().map(|bytes| Bits::of(bytes))
    };
    // East for 100 ms, north for 50.
    let datagram = inputs(7, 150_000, 0, &[(150_000, Some(EAST)), (50_000, Some(NORTH))]);
    let mut state = serve(&mut server, 200, &datagram).expect("a state");
    assert_eq!((state.take(3), state.take(8), state.take(64)), (4, 7, 150_000));
    assert!(is_near(state.take_point(), [0.5, 0.0, 0.25]) && state.is_over());
    // Both again, and a third that is the same as the second, from when that datagram was sent.
    let again = [(200_000, Some(EAST)), (100_000, Some(NORTH)), (50_000, None)];
    let mut state = serve(&mut server, 250, &inputs(7, 200_000, 0, &again)).expect("a state");
    assert_eq!((state.take(3), state.take(8), state.take(64)), (4, 7, 200_000));
    assert!(is_near(state.take_point(), [0.5, 0.0, 0.5]));
    assert_eq!(server.stats().inputs, 3);

    let request = Bits::default().put(1, 3).put(7, 8).bytes();
    let mut resync = serve(&mut server, 260, &request).expect("a resync");
    assert_eq!((resync.take(3), resync.take(8)), (5, 8));
    assert!(is_near(resync.take_point(), [0.5, 0.0, 0.5]) && resync.is_over());
    // Ignored until it is finished; nothing is what it has to say.
    let mut nothing = serve(&mut server, 320, &inputs(7, 300_000, 3, &[])).expect("nothing, said");
    assert_eq!((nothing.take(3), nothing.take(8), nothing.is_over()), (3, 8, true));
    let finish = Bits::default().put(2, 3).put(8, 8).put(310_000, 64).bytes();
    assert!(serve(&mut server, 330, &finish).is_none());
    // Inputs count from 0 again.
    let mut state = serve(&mut server, 400, &inputs(8, 350_000, 0, &[(40_000, Some(EAST))])).expect("a state");
    assert_eq!((state.take(3), state.take(8), state.take(64)), (4, 8, 350_000));
    assert!(is_near(state.take_point(), [0.7, 0.0, 0.5]));
    let nothing = Bits::default().put(3, 3).put(8, 8).bytes();
    let _ = serve(&mut server, 410, &nothing);
    assert_eq!((server.stats().nothing, server.stats().malformed, server.offences().total()), (1, 0, 0));
    // Farther ahead than what has passed and 100 ms.
    let _ = serve(&mut server, 420, &inputs(8, 700_000, 1, &[]));
    assert_eq!((server.epoch(), server.stats().rejected), (9, 1));
    // More than 1024 inputs are missing; then as many as may be.
    let finish = |epoch| Bits::default().put(2, 3).put(epoch, 8).put(450_000, 64).bytes();
    let _ = serve(&mut server, 460, &finish(9));
    let _ = serve(&mut server, 500, &inputs(9, 480_000, 1025, &[]));
    assert_eq!((server.epoch(), server.stats().rejected), (10, 2));
    let _ = serve(&mut server, 510, &finish(10));
    let _ = serve(&mut server, 520, &inputs(10, 480_000, 1024, &[]));
    assert_eq!((server.epoch(), server.stats().rejected), (10, 2));
    // Who is of another epoch for a second is asked to begin anew from there.
    for now in (600..1600).step_by(100) {
        let _ = serve(&mut server, now, &inputs(77, now * 1000, 0, &[]));
    }
    assert_eq!(server.epoch(), 10);
    let mut resync = serve(&mut server, 1600, &inputs(77, 1_600_000, 0, &[])).expect("a resync");
    assert_eq!((resync.take(3), resync.take(8), server.epoch()), (5, 78, 78));
    // A second of silence is made up for, and no more than that and 100 ms.
    let finish = Bits::default().put(2, 3).put(78, 8).put(1_600_000, 64).bytes();
    let _ = serve(&mut server, 1650, &finish);
    let _ = serve(&mut server, 9000, &inputs(78, 2_700_000, 0, &[]));
    assert_eq!((server.epoch(), server.stats().rejected), (78, 2));
    let _ = serve(&mut server, 20_000, &inputs(78, 3_800_001, 0, &[]));
    assert_eq!((server.epoch(), server.stats().rejected), (79, 3));
}

#[test]
fn a_server_by_the_document_alone_is_believed_and_obeyed() {
    let config = ClientConfig { detect: Detect::Server, ..ClientConfig::default() };
    let mut client: Client<Walk> = Client::new(Walk { speed: 5.0 }, Walker::default(), config, 0, ms(0));
    let mut said = Vec::new();
    let mut play = |client: &mut Client<Walk>, now, direction| {
        said.clear();
        client.update(ms(now), Direction { vector: direction }, &mut |bytes| said.push(Bits::of(bytes)));
        said.clone()
    };
    let _ = play(&mut client, 0, EAST);
    let _ = play(&mut client, 40, EAST);
    let mut told = play(&mut client, 60, NORTH).remove(0);
    assert_eq!((told.take(3), told.take(8), told.take(64), told.take(1)), (0, 0, 60_000, 1));
    assert!(is_near(told.take_point(), [0.2, 0.0, 0.1]));
    assert_eq!((told.take_small(), told.take_small()), (0, 2), "two inputs, from number 0 on");
    assert_eq!((told.take_small(), told.take(1), told.take_point()), (60_000, 1, EAST));
    assert_eq!((told.take_small(), told.take(1), told.take_point()), (20_000, 1, NORTH));
    assert!(told.is_over());

    // It has them, so they are not told again.
    let state = Bits::default().put(4, 3).put(0, 8).put(60_000, 64).put_point([0.2, 0.0, 0.1]).bytes();
    client.receive(ms(90), &state).expect("as the document says");
    assert_eq!(client.ack_stats().compared, 1);
    let mut told = play(&mut client, 110, NORTH).remove(0);
    let _ = (told.take(3 + 8), told.take(64), told.take(1), told.take_point());
    assert_eq!((told.take_small(), told.take_small(), told.is_over()), (2, 0, true));

    let resync = Bits::default().put(5, 3).put(1, 8).put_point([3.0, 0.0, 0.0]).bytes();
    client.receive(ms(120), &resync).expect("as the document says");
    assert_eq!(client.position(), [3.0, 0.0, 0.0]);
    for now in [130, 140] {
        let mut finish = play(&mut client, now, NORTH).remove(0);
        assert_eq!((finish.take(3), finish.take(8), finish.take(64)), (2, 1, 110_000));
        assert!(finish.is_over());
        client.receive(ms(now), &resync).expect("again, as it may not have heard");
    }
    // What was held is pressed anew, as number 0.
    let mut told = play(&mut client, 170, NORTH).remove(1);
    assert_eq!((told.take(3), told.take(8), told.take(64), told.take(1)), (0, 1, 170_000, 1));
    assert!(is_near(told.take_point(), [3.0, 0.0, 0.3]));
    assert_eq!((told.take_small(), told.take_small(), told.take_small()), (0, 1, 60_000));
    // It says when it has begun with all inputs, until a state of the epoch comes; one of a time to come is ignored.
    let told = play(&mut client, 225, NORTH);
    assert_eq!(told.iter().map(|bits| bits.clone().take(11)).collect::<Vec<_>>(), [2 | 1 << 3, 1 << 3]);
    let state = Bits::default().put(4, 3).put(1, 8).put(900_000, 64).put_point([9.0; 3]).bytes();
    client.receive(ms(226), &state).expect("as the document says");
    assert_eq!(client.confirmed().map(|(at, _)| *at), Some(ms(110)));
    let told = play(&mut client, 275, NORTH);
    assert_eq!(told.iter().map(|bits| bits.clone().take(11)).collect::<Vec<_>>(), [1 << 3]);

    client.request_resync();
    let told = play(&mut client, 280, NORTH);
    assert_eq!(told.iter().map(|bits| bits.clone().take(11)).collect::<Vec<_>>(), [1 | 1 << 3]);
    let told = play(&mut client, 330, NORTH);
    assert_eq!(told.iter().map(|bits| bits.clone().take(11)).collect::<Vec<_>>(), [3 | 1 << 3], "nothing, said");
    assert!(client.round_trip() < Duration::from_millis(300));
}
