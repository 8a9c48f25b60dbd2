//! Messages between two ends over links that lose, delay, repeat and reorder datagrams.

use super::fragment::{FRAGMENT_BYTES, Fragment, FragmentName};
use super::incoming_channel::IncomingChannel;
use super::message_exchange::{Inbox, MessageExchange, Sending};
use super::messages_header::{MessagesDatagram, MessagesHeader};
use super::outgoing::{Outgoing, SendError};
use crate::session::datagram::{DATAGRAM_MAX, DatagramKind};
use crate::session::send_allowance::{Budget, SendAllowance};
use crate::session::{Outbox, PeerId};
use crate::time::Instant;
use crate::wire::{BitReader, BitWriter, Malformed};
use crate::world::PlayerId;
use crate::world::{Delivery, Message, Messages, ReceivedMessage};
use alloc::vec::Vec;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// A message of each delivery: its number, and bytes that follow from it.
macro_rules! numbered {
    ($($name:ident $delivery:ident),*) => {$(
        #[derive(Serialize, Deserialize)]
        struct $name(u32, Vec<u8>);

        impl Message for $name {
            const NAME: &'static str = stringify!($name);
            const DELIVERY: Delivery = Delivery::$delivery;
            const BYTES_MAX: u32 = 20_000;
        }
    )*};
}

numbered!(Line Ordered, Gift Unordered, Wind Newest, Spark Unreliable);

const KINDS: usize = 4;

fn kinds() -> Messages {
    Messages::new().with::<Line>().with::<Gift>().with::<Wind>().with::<Spark>()
}

fn content(number: u32, length: usize) -> Vec<u8> {
    (0..length).map(|at| (number as usize * 31 + at).to_le_bytes()[0]).collect()
}

/// One end: what it sends, and what has come to it by kind.
struct End {
    exchange: MessageExchange,
    allowance: SendAllowance,
    inbox: Vec<ReceivedMessage>,
    sent: [u32; KINDS],
    come: [Vec<u32>; KINDS],
}

impl End {
    fn new(exchange: MessageExchange) -> End {
        let come = core::array::from_fn(|_| Vec::new());
        End { exchange, allowance: SendAllowance::new(), inbox: Vec::new(), sent: [0; KINDS], come }
    }

    fn send(&mut self, kind: usize, length: usize) -> Result<(), SendError> {
        let number = self.sent[kind];
        let bytes = Messages::encode(&Line(number, content(number, length)));
        self.exchange.push(kind, bytes, 1 << 20)?;
        self.sent[kind] += 1;
        Ok(())
    }

    fn write(&mut self, now: Instant, outbox: &mut Outbox) {
        self.allowance.add(Budget { least: 64_000, most: 64_000 }, self.exchange.under_way(), now);
        let kinds = kinds();
        self.exchange.send(sending(now, &kinds), &mut self.allowance, outbox);
    }

    fn read(&mut self, now: Instant, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        assert_eq!(DatagramKind::read(&mut reader)?, DatagramKind::Messages);
        let datagram = MessagesDatagram::read(reader)?;
        self.exchange.open(datagram.header.opening);
        let kinds = kinds();
        let mut inbox = Inbox { from: PlayerId::SERVER, kinds: &kinds, messages: &mut self.inbox, senseless: 0 };
        self.exchange.receive(now, datagram, &mut inbox)?;
        assert_eq!(inbox.senseless, 0);
        for message in self.inbox.drain(..) {
            let found = [
                message.get().map(|Line(number, bytes)| (number, bytes)),
                message.get().map(|Gift(number, bytes)| (number, bytes)),
                message.get().map(|Wind(number, bytes)| (number, bytes)),
                message.get().map(|Spark(number, bytes)| (number, bytes)),
            ];
            let kind = found.iter().position(Option::is_some).expect("one of the kinds");
            let (number, bytes) = found[kind].expect("it was found");
            assert_eq!(*bytes, content(*number, bytes.len()));
            self.come[kind].push(*number);
        }
        Ok(())
    }
}

fn sending(now: Instant, kinds: &Messages) -> Sending<'_> {
    Sending { now, peer: PeerId(0), ticket: 7, kinds, before_a_state: false, datagrams_max: usize::MAX }
}

/// What a link does to a datagram: how many milliseconds it takes each copy.
type Fate = Vec<u64>;

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        1 => Just(Vec::new()),
        6 => (10_u64..80).prop_map(|ms| vec![ms]),
        1 => prop::collection::vec(10_u64..400, 2),
    ]
}

/// Two ends, and what is under way between them.
struct Pair {
    ends: [End; 2],
    /// Due when, at which end.
    under_way: Vec<(u64, usize, Vec<u8>)>,
}

impl Pair {
    fn new() -> Pair {
        let kinds = kinds();
        let ends = [End::new(MessageExchange::of_client(&kinds, 5)), End::new(MessageExchange::of_server(&kinds))];
        Pair { ends, under_way: Vec::new() }
    }

    /// A tick of both ends; `fates` says what becomes of each datagram.
    fn tick(&mut self, ms: u64, mut fates: impl FnMut() -> Fate) {
        let now = Instant::from_micros(ms * 1000);
        let mut due: Vec<_> = self.under_way.extract_if(.., |(at, _, _)| *at <= ms).collect();
        due.sort_by_key(|(at, end, _)| (*at, *end));
        for (_, end, datagram) in due {
            self.ends[end].read(now, &datagram).expect("an honest end has written it");
        }
        for end in 0..2 {
            let mut outbox = Outbox::new();
            self.ends[end].write(now, &mut outbox);
            for (_, datagram) in outbox.iter() {
                assert!(datagram.len() <= DATAGRAM_MAX, "{} bytes", datagram.len());
                let copies = fates().into_iter().map(|takes| (ms + takes, 1 - end, datagram.to_vec()));
                self.under_way.extend(copies);
            }
        }
    }

    fn waiting(&self) -> usize {
        self.ends.iter().map(|end| end.exchange.stats().waiting_bytes).sum()
    }
}

proptest! {
    #[test]
    fn over_any_link_each_message_arrives_as_its_kind_says(
        sends in prop::collection::vec((0_usize..2, 0..KINDS, prop_oneof![3 => 0_usize..200, 1 => 0_usize..9000]), 1..80),
        fates in prop::collection::vec(fate(), 1..200),
    ) {
        let (mut pair, mut at) = (Pair::new(), 0);
        let (mut sends, mut ms) = (sends.into_iter().peekable(), 0);
        while sends.peek().is_some() || (ms < 60_000 && (pair.waiting() > 0 || !pair.under_way.is_empty())) {
            for (end, kind, length) in sends.by_ref().take(2) {
                pair.ends[end].send(kind, length).expect("there is room");
            }
            pair.tick(ms, || {
                at += 1;
                fates[at % fates.len()].clone()
            });
            ms += 16;
        }
        let is_ever_there = fates.iter().any(|copies| !copies.is_empty());
        for (sender, receiver) in [(0, 1), (1, 0)] {
            let (sent, come) = (pair.ends[sender].sent, &pair.ends[receiver].come);
            prop_assert!(come[0].iter().copied().eq(0..sent[0]) || !is_ever_there, "{:?} of {}", come[0], sent[0]);
            let mut gifts = come[1].clone();
            gifts.sort_unstable();
            prop_assert!(gifts.into_iter().eq(0..sent[1]) || !is_ever_there, "{:?} of {}", come[1], sent[1]);
            prop_assert!(come[2].is_sorted_by(|one, next| one < next), "{:?}", come[2]);
            prop_assert!(come[2].last().copied() == sent[2].checked_sub(1) || !is_ever_there);
            let mut sparks = come[3].clone();
            sparks.sort_unstable();
            prop_assert!(sparks.is_sorted_by(|one, next| one < next), "{:?}", come[3]);
        }
    }

    #[test]
    fn any_bytes_after_a_head_are_refused_or_taken_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut datagram = Vec::new();
        let mut writer = BitWriter::new(&mut datagram);
        DatagramKind::Messages.write(&mut writer);
        MessagesHeader { ticket: 7, opening: 5, received: None, number: Some(3) }.stream(&mut writer).expect("writing never fails");
        bytes.iter().for_each(|byte| writer.put(u64::from(*byte), 8));
        let kinds = kinds();
        let mut exchange = MessageExchange::of_client(&kinds, 5);
        let mut reader = BitReader::new(&datagram);
        DatagramKind::read(&mut reader).expect("it was written");
        let read = MessagesDatagram::read(reader).expect("it was written");
        let mut messages = Vec::new();
        let mut inbox = Inbox { from: PlayerId::SERVER, kinds: &kinds, messages: &mut messages, senseless: 0 };
        let _ = exchange.receive(Instant::ZERO, read, &mut inbox);
    }
}

#[test]
fn a_small_message_overtakes_a_large_one_of_another_kind() {
    let mut pair = Pair::new();
    pair.tick(0, || vec![20]);
    pair.ends[1].send(1, 19_000).expect("there is room");
    (1..10).for_each(|nth| pair.tick(nth * 16, || vec![20]));
    assert!(pair.ends[0].come[1].is_empty());
    pair.ends[1].send(0, 5).expect("there is room");
    (10..15).for_each(|nth| pair.tick(nth * 16, || vec![20]));
    assert_eq!((pair.ends[0].come[0].len(), pair.ends[0].come[1].len()), (1, 0));
    let kinds = kinds();
    let progress = pair.ends[0].exchange.progress(&kinds).next().expect("the large one is under way");
    assert!(progress.name == "Gift" && progress.come_bytes > FRAGMENT_BYTES && progress.bytes > 19_000, "{progress:?}");
}

#[test]
fn where_nothing_is_said_nothing_is_sent() {
    let mut pair = Pair::new();
    let mut count = 0;
    (0..100).for_each(|nth| {
        pair.tick(nth * 16, || {
            count += 1;
            vec![20]
        });
    });
    assert!((2..=6).contains(&count), "{count} datagrams to get to know each other");
    let (kinds, mut outbox) = (Messages::new(), Outbox::new());
    let mut silent = End::new(MessageExchange::of_client(&kinds, 5));
    silent.exchange.send(sending(Instant::ZERO, &kinds), &mut silent.allowance, &mut outbox);
    assert!(outbox.is_empty(), "there are no kinds of messages");
}

#[test]
fn what_has_no_room_is_refused_whole_and_has_room_later() {
    let mut pair = Pair::new();
    let bytes = Messages::encode(&Line(0, content(0, 3000)));
    assert_eq!(pair.ends[0].exchange.push(0, bytes.clone(), 5000), Ok(()));
    assert_eq!(pair.ends[0].exchange.push(0, bytes.clone(), 5000), Err(SendError::Full));
    (0..40).for_each(|nth| pair.tick(nth * 16, || vec![20]));
    assert_eq!(pair.ends[0].exchange.push(0, bytes, 5000), Ok(()));
}

#[test]
fn what_is_larger_than_all_that_may_wait_is_sent_where_nothing_waits() {
    let mut pair = Pair::new();
    let bytes = Messages::encode(&Line(0, content(0, 3000)));
    assert_eq!(pair.ends[0].exchange.push(0, bytes.clone(), 2000), Ok(()));
    assert_eq!(pair.ends[0].exchange.push(0, bytes.clone(), 2000), Err(SendError::Full));
    (0..40).for_each(|nth| pair.tick(nth * 16, || vec![20]));
    assert_eq!(pair.ends[0].exchange.push(0, bytes, 2000), Ok(()));
}

#[test]
fn of_what_was_never_sent_numbers_are_used_again() {
    let mut pair = Pair::new();
    pair.tick(0, || vec![20]);
    pair.tick(20, || vec![20]);
    // Nothing is sent between: the numbers would be far ahead, and begin to count as behind.
    (0..40_000).for_each(|_| pair.ends[0].send(2, 5).expect("there is always room"));
    (0..40_000).for_each(|_| pair.ends[0].send(3, 5).expect("there is always room"));
    (2..30).for_each(|nth| pair.tick(nth * 20, || vec![20]));
    let [_, _, winds, sparks] = &pair.ends[1].come;
    assert_eq!(winds, &[39_999]);
    assert_eq!(sparks, &(39_936..40_000).collect::<Vec<_>>());
}

#[test]
fn what_need_not_come_has_room_where_what_must_has_none() {
    let mut pair = Pair::new();
    let bytes = Messages::encode(&Line(0, content(0, 3000)));
    let mut push = |kind| pair.ends[0].exchange.push(kind, bytes.clone(), 5000);
    assert_eq!([push(0), push(0), push(2), push(3)], [Ok(()), Err(SendError::Full), Ok(()), Ok(())]);
}

#[test]
fn of_an_ordered_kind_a_large_message_before_its_turn_is_refused() {
    let kinds = kinds();
    let mut incoming = IncomingChannel::new(Delivery::Ordered);
    let fragment = |number, total| Fragment {
        name: FragmentName { kind: 0, number, index: 0 },
        total,
        bytes: vec![0; total.min(FRAGMENT_BYTES)],
    };
    assert!(incoming.check(&fragment(1, 2000)).is_err());
    assert_eq!(incoming.check(&fragment(1, 20)), Ok(()));
    incoming.take(fragment(0, 20), |_| {});
    assert_eq!(incoming.check(&fragment(1, 2000)), Ok(()));
    // So an honest end does not begin it.
    let mut outgoing = Outgoing::new(&kinds);
    [20, 3000, 20].iter().for_each(|length| outgoing.push(0, vec![0; *length].into(), 1 << 20).expect("there is room"));
    let names = outgoing.fill(1000, |_, _| {});
    assert_eq!(names.iter().map(|name| name.number).collect::<Vec<_>>(), [0, 2]);
    outgoing.settle(names[0], true);
    assert_eq!(outgoing.fill(1000, |_, _| {})[0].number, 1);
}

fn first_kinds(outgoing: &mut Outgoing, count: usize) -> Vec<usize> {
    (0..count).map(|_| outgoing.fill(1000, |_, _| {})[0].kind).collect()
}

#[test]
fn two_kinds_that_have_much_to_send_take_turns_though_others_have_nothing() {
    let mut outgoing = Outgoing::new(&kinds());
    (0..2).for_each(|kind| outgoing.push(kind, vec![0; 9000].into(), 1 << 20).expect("there is room"));
    assert_eq!(first_kinds(&mut outgoing, 6), [0, 1, 0, 1, 0, 1]);
}

#[test]
fn a_fragment_of_an_unreliable_message_is_not_sent_again() {
    let mut outgoing = Outgoing::new(&kinds());
    outgoing.push(3, vec![0; 3000].into(), 1 << 20).expect("there is room");
    let sent = outgoing.fill(1000, |_, _| {});
    outgoing.settle(sent[0], false);
    let next: Vec<_> = (0..3).flat_map(|_| outgoing.fill(1000, |_, _| {})).map(|name| name.index).collect();
    assert_eq!((sent[0].index, next), (0, vec![1, 2, 3]));
    assert_eq!(outgoing.waiting_bytes(), 0);
}

#[test]
fn of_what_is_newest_a_part_of_an_older_one_is_not_kept() {
    let mut incoming = IncomingChannel::new(Delivery::Newest);
    let fragment = |number, total| {
        let name = FragmentName { kind: 0, number, index: 0 };
        Fragment { name, total, bytes: vec![0; usize::min(total, FRAGMENT_BYTES)] }
    };
    incoming.take(fragment(0, 2000), |_| {});
    assert_eq!(incoming.progress(), Some((FRAGMENT_BYTES, 2000)));
    incoming.take(fragment(1, 20), |_| {});
    assert_eq!(incoming.progress(), None);
}

#[test]
fn large_messages_come_though_there_are_always_newer_ones_than_fit() {
    let (mut pair, mut sent) = (Pair::new(), [0; KINDS]);
    for ms in (0..6_000).step_by(16) {
        [2, 3].into_iter().for_each(|kind| pair.ends[0].send(kind, 3000).expect("the oldest makes room"));
        pair.tick(ms, || vec![30]);
        if ms == 5_888 {
            sent = pair.ends[0].sent;
        }
    }
    // Of each kind there is room for about ten in a second; of what is newest every second one that is begun is given up.
    let [_, _, newest, unreliable] = &pair.ends[1].come;
    assert!(newest.len() > 30, "{newest:?}");
    assert!(unreliable.len() > 40, "{unreliable:?}");
    assert!(newest.last() > Some(&(sent[2] - 12)), "{newest:?} of {sent:?}");
}

#[test]
fn the_last_of_the_newest_does_not_wait_for_an_old_one_that_is_begun_unless_one_was_given_up_before() {
    let mut outgoing = Outgoing::new(&kinds());
    let push = |outgoing: &mut Outgoing, bytes: usize| {
        outgoing.push(2, vec![0; bytes].into(), 1 << 20).expect("the oldest makes room");
    };
    let next = |outgoing: &mut Outgoing| outgoing.fill(1000, |_, _| {}).first().map(|name| (name.number, name.index));
    push(&mut outgoing, 3000);
    assert_eq!(next(&mut outgoing), Some((0, 0)));
    push(&mut outgoing, 20);
    assert_eq!((next(&mut outgoing), outgoing.waiting_bytes()), (Some((1, 0)), 20));
    push(&mut outgoing, 3000);
    assert_eq!(next(&mut outgoing), Some((2, 0)));
    push(&mut outgoing, 20);
    let left = core::array::from_fn(|_| next(&mut outgoing));
    assert_eq!(left, [Some((2, 1)), Some((2, 2)), Some((2, 3)), None]);
    // Once a large one has come the next one is given up again.
    (0..4).for_each(|index| outgoing.settle(FragmentName { kind: 2, number: 2, index }, true));
    push(&mut outgoing, 3000);
    assert_eq!(next(&mut outgoing).map(|(_, index)| index), Some(0));
    push(&mut outgoing, 20);
    assert_eq!(outgoing.waiting_bytes(), 20);
}
