//! A server by the document alone, which tells rows of others one by one to the crate's client.

use super::*;

/// A snapshot of one part from a server that follows the document: the client's own rows, or all.
fn sea_snapshot(of: Telling<'_>, tick: u64, rows: &[(Key, Facts)], shown: &[ShownRow]) -> Vec<u8> {
    let shown: Vec<_> = shown.iter().map(|row| (row.clone(), Kind::Named)).collect();
    Memory::default().snapshot(of, tick, rows, &shown)
}

impl Memory {
    fn snapshot(&mut self, of: Telling<'_>, tick: u64, rows: &[(Key, Facts)], shown: &[(ShownRow, Kind)]) -> Vec<u8> {
        let mut writer = put_header(&of, ((0, 0), tick, None));
        if let Some((_, _, gone)) = of.baseline {
            for key in gone {
                put_sea_key(writer.put(1, 1), key).put(0, 1);
            }
            writer.put(0, 1);
        }
        for (key, facts) in rows {
            put_owner(put_sea_key(writer.put(1, 1), key), key, facts.owner);
            put_lanes(writer.put(0, 2), *key, facts);
        }
        writer.put(0, 3);
        self.put_shown(&mut writer, tick, shown);
        writer.bytes()
    }

    fn datagram(&mut self, number: u64, tick: u64, shown: &[(ShownRow, Kind)]) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(6, 3).put(u64::from(TICKET), 8).put(number, 16).put(tick, 16);
        self.put_shown(&mut writer, tick, shown);
        writer.bytes()
    }
}

/// Rows with their names.
fn shown_datagram(number: u64, tick: u64, shown: &[ShownRow]) -> Vec<u8> {
    let shown: Vec<_> = shown.iter().map(|row| (row.clone(), Kind::Named)).collect();
    Memory::default().datagram(number, tick, &shown)
}

/// The crate's client with a server that follows the document.
struct Bay {
    client: Client<Sea>,
    world: Sea,
    outbox: Outbox,
    now: Instant,
    events: Vec<ClientEvent>,
}

impl Bay {
    fn new() -> Bay {
        let me = Joined { player: PlayerId::new(5), epoch: TICKET, now: Instant::ZERO };
        let mut world = Sea::default();
        let client = Client::<Sea>::joined(Rules::new(Sea::schema()), ClientConfig::default(), me, &mut world);
        Bay { client, world, outbox: Outbox::new(), now: Instant::ZERO, events: Vec::new() }
    }

    fn receive(&mut self, tick: u64, datagram: &[u8]) {
        self.now = Instant::from_micros(tick * TICK_MICROS);
        self.client.receive(self.now, datagram).expect("well-formed");
    }

    fn update(&mut self) {
        let frame = self.client.update(self.now, &mut self.world, &mut |_| Command::default(), &mut self.outbox);
        self.events.extend_from_slice(frame.events);
    }

    /// What it says in its next datagram of inputs.
    fn said(&mut self, tick: u64) -> Inputs {
        self.now = Instant::from_micros(tick * TICK_MICROS);
        self.update();
        let said = self.outbox.iter().last().map(|(_, datagram)| read_inputs(datagram)).expect("one each tick");
        self.outbox.clear();
        said
    }

    /// What it has of the buoys of the server's: each number with where it is, and the state that it was told in.
    fn buoys(&mut self) -> Vec<(u16, f64, u32)> {
        self.update();
        let (_, rows) = self.client.newest_snapshot().expect("complete");
        let others = rows.states::<Buoy>().filter(|(of, _)| of.owner == PlayerId::SERVER);
        let told = |entity| self.client.told_in(foretell::RowKey { component: foretell::ComponentId(0), entity });
        let facts = others.map(|(of, state)| (of.entity.counter(), state.place[0], told(of.entity)));
        facts.map(|(nth, x, told)| (nth, x, told.expect("there").get())).collect()
    }
}

const MINE: Key = (0, [17, 5, 0]);

#[test]
fn a_server_that_follows_the_document_alone_tells_rows_of_others_one_by_one() {
    let mut bay = Bay::new();
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let moves = |nth: u64, x: f64| (key_of(nth), Ok((0, at_x(x))));
    let lanes = |number: u64| Telling { number, ..Telling::default() };
    bay.receive(
        1,
        &sea_snapshot(lanes(10), 1, std::slice::from_ref(&mine), &[moves(0, 1.0), (key_of(1), Ok((1, at_x(7.0))))]),
    );
    assert_eq!(bay.buoys(), [(0, 1.0, 1), (1, 7.0, 1)]);
    let said = bay.said(1);
    assert_eq!((said.received, said.exact_within_m), (Some(vec![10, 0]), None));
    // The check and what is gone are of the own rows alone.
    let check = sea_hash((&mine.0, &mine.1)) & 0xffff_ffff;
    let against = Telling { baseline: Some((1, check, &[])), ..lanes(11) };
    bay.receive(2, &sea_snapshot(against, 2, &[], &[]));
    assert_eq!(bay.said(2).snapshot, Some([2]));
    assert_eq!(bay.buoys(), [(0, 1.0, 1), (1, 7.0, 1)], "kept from snapshot to snapshot");
    bay.receive(2, &shown_datagram(14, 2, &[moves(0, 2.0), (key_of(1), Err(0))]));
    assert_eq!(bay.buoys(), [(0, 2.0, 2)], "they count by themselves");
    bay.receive(2, &shown_datagram(13, 1, &[moves(0, 9.0), moves(1, 9.0), moves(2, 9.0)]));
    assert_eq!(bay.buoys(), [(0, 2.0, 2), (2, 9.0, 1)], "nothing older counts, and nothing that is gone comes back");
    assert_eq!(bay.said(3).received, Some(vec![14, 0b1101]), "that with number 12 is lost");
    bay.receive(3, &shown_datagram(15, 3, &[moves(1, 8.0)]));
    bay.receive(3, &shown_datagram(12, 2, &[]));
    bay.receive(4, &sea_snapshot(Telling { baseline: Some((2, check, &[])), ..lanes(16) }, 4, &[], &[]));
    assert_eq!(bay.buoys(), [(0, 2.0, 2), (1, 8.0, 3), (2, 9.0, 1)]);
    assert_eq!(bay.said(4).received, Some(vec![16, 0b11_1111]));
    // Some of what others have is told exactly, and then not any more: one is gone, and one is told by itself.
    let exact = [mine.clone(), (key_of(3), at_x(4.0)), (key_of(4), at_x(4.5))];
    bay.receive(5, &sea_snapshot(lanes(17), 5, &exact, &[]));
    let known = [(0, 2.0, 2), (1, 8.0, 3), (2, 9.0, 1), (3, 4.0, 5), (4, 4.5, 5)];
    assert_eq!(bay.buoys(), known);
    let check = exact.iter().map(|(key, facts)| sea_hash((key, facts))).take(1).sum::<u64>() & 0xffff_ffff;
    let against = Telling { baseline: Some((1, check, &[])), ..lanes(18) };
    bay.receive(6, &sea_snapshot_without(against, 6, [key_of(3), key_of(4)]));
    assert_eq!(bay.buoys(), known[..4]);
    bay.receive(7, &shown_datagram(19, 7, &[moves(3, 5.0)]));
    assert_eq!(bay.buoys(), [(0, 2.0, 2), (1, 8.0, 3), (2, 9.0, 1), (3, 5.0, 7)]);
}

/// A snapshot that tells nothing but that two rows are not told exactly any more, of which one is there.
fn sea_snapshot_without(of: Telling<'_>, tick: u64, [hidden, gone]: [Key; 2]) -> Vec<u8> {
    let mut writer = put_header(&of, ((0, 0), tick, None));
    put_sea_key(writer.put(1, 1), &hidden).put(1, 1);
    put_sea_key(writer.put(1, 1), &gone).put(0, 2);
    writer.put(0, 6).bytes()
}

#[test]
fn a_client_tells_four_times_that_a_datagram_has_come_however_many_have_overtaken_it() {
    let mut bay = Bay::new();
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    bay.receive(1, &sea_snapshot(Telling { number: 1, ..Telling::default() }, 1, &[mine], &[]));
    (4..=100).for_each(|number| bay.receive(1, &shown_datagram(number, 1, &[])));
    let all = 0xffff_ffff;
    assert_eq!(bay.said(1).received, Some(vec![100, all, all, all, 0b100]));
    bay.receive(1, &shown_datagram(3, 1, &[]));
    (2..5).for_each(|tick| assert_eq!(bay.said(tick).received, Some(vec![100, all, all, all, 0b101])));
    bay.receive(5, &shown_datagram(101, 1, &[]));
    assert_eq!(bay.said(5).received, Some(vec![101, all, all, all, 0b1011]));
    bay.receive(6, &shown_datagram(109, 1, &[]));
    assert_eq!(bay.said(6).received, Some(vec![109, 0xffff_ff80]), "the others were told often enough");
}

/// Everything that is shown of a buoy.
fn facing(x: f64, drift: f64, [facing_y, facing_w]: [f32; 2], lit: bool) -> Facts {
    let places = [x, -2.0, drift, 0.0].map(f64::to_bits);
    let facing = [0.0, facing_y, 0.0, facing_w].map(|part| u64::from(part.to_bits()));
    Facts { owner: 0, lanes: [&places[..], &facing, &[u64::from(lit)]].concat() }
}

#[test]
fn a_server_that_follows_the_document_alone_tells_rows_by_their_numbers_and_against_those_that_are_there() {
    let (mut bay, mut memory) = (Bay::new(), Memory::default());
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let row = |nth: u64, facts: &Facts, kind| ((key_of(nth), Ok((0, facts.clone()))), kind);
    let told = |bay: &Bay, nth: u16| {
        let (_, rows) = bay.client.newest_snapshot().expect("complete");
        let state = rows.state::<Buoy>(buoy(nth)).expect("there");
        let places = [state.place, state.drift].concat().into_iter().map(f64::to_bits);
        let facing = state.facing.map(|part| u64::from(part.to_bits()));
        places.chain(facing).chain([u64::from(state.lit)]).collect::<Vec<_>>()
    };
    let is_rounded = |bay: &Bay, nth: u16, facts: &Facts| {
        assert_eq!(told(bay, nth), rounded::restore(0, &rounded::round(0, &facts.lanes)), "{nth}");
    };
    let first = [facing(10.2, 64.0, [0.6, 0.8], true), facing(1e12, 0.0, [0.0, 0.0], false)];
    let lanes = |number: u64| Telling { number, ..Telling::default() };
    let mine = std::slice::from_ref(&mine);
    let rows = [row(3, &first[0], Kind::Named), row(2000, &first[1], Kind::Named)];
    bay.receive(1, &memory.snapshot(lanes(1), 1, mine, &rows));
    is_rounded(&bay, 3, &first[0]);
    is_rounded(&bay, 2000, &first[1]);
    assert_eq!(told(&bay, 2000)[0], 1e12_f64.to_bits(), "as it is, as it is too far out");
    // The velocity takes it 2 m on in two ticks. The other part of the rotation is the larger one now.
    let second = [facing(12.1, 64.0, [0.8, -0.6], false), facing(2.0, f64::NAN, [0.01, 1.0], true)];
    let rows =
        [row(3, &second[0], Kind::Against(2)), row(2000, &second[1], Kind::Against(2)), row(4, &first[0], Kind::Named)];
    bay.receive(3, &memory.snapshot(lanes(2), 3, mine, &rows));
    is_rounded(&bay, 3, &second[0]);
    is_rounded(&bay, 2000, &second[1]);
    is_rounded(&bay, 4, &first[0]);
    bay.receive(
        4,
        &memory.snapshot(lanes(3), 4, mine, &[row(3, &first[0], Kind::ByItself), row(4, &second[1], Kind::Against(1))]),
    );
    is_rounded(&bay, 3, &first[0]);
    is_rounded(&bay, 4, &second[1]);
    // What is told against a state that the client has not, or by a number that it does not know, counts as lost.
    for place in [(3, 2), (4, 1)] {
        memory.told.insert(place, rounded::round(0, &first[0].lanes));
    }
    bay.receive(5, &memory.snapshot(lanes(4), 5, mine, &[row(3, &second[0], Kind::Against(3))]));
    bay.receive(5, &memory.snapshot(lanes(5), 5, mine, &[row(9, &second[0], Kind::ByItself)]));
    bay.receive(5, &memory.snapshot(lanes(6), 5, mine, &[row(4, &second[0], Kind::Against(4))]));
    is_rounded(&bay, 3, &first[0]);
    is_rounded(&bay, 4, &second[1]);
    assert_eq!(bay.said(5).received, Some(vec![3, 0b11]));
    // A number that goes to another row: what was told before does not count for it.
    let late = memory.datagram(7, 5, &[row(3, &first[0], Kind::ByItself)]);
    let ((_, facts), kind) = row(3, &second[0], Kind::Named);
    memory.told.clear();
    bay.receive(6, &{
        let mut writer = Writer::default();
        writer.put(6, 3).put(u64::from(TICKET), 8).put(8, 16).put(6, 16).put(0, 1);
        put_gap(writer.put(1, 1), 3, 0);
        put_owner(put_sea_key(writer.put(0b100, 3), &key_of(77)), &key_of(77), 0);
        rounded::put(writer.put(0, 1), 0, &rounded::round(0, &facts.expect("there").1.lanes), None);
        writer.put(0, 2).bytes()
    });
    assert_eq!(kind, Kind::Named);
    bay.receive(6, &memory.snapshot(lanes(9), 6, mine, &[]));
    bay.receive(6, &late);
    is_rounded(&bay, 77, &second[0]);
    is_rounded(&bay, 3, &first[0]);
    assert_eq!(bay.said(6).received, Some(vec![9, 0b1110_0001]));
}

#[test]
fn a_server_that_follows_the_document_alone_says_of_what_is_not_shown_any_more_whether_it_is_hidden() {
    let mut bay = Bay::new();
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let check = sea_hash((&mine.0, &mine.1)) & 0xffff_ffff;
    let rests = |nth: u64| (key_of(nth), Ok((1, at_x(7.0))));
    let first = Telling { number: 0, ..Telling::default() };
    bay.receive(1, &sea_snapshot(first, 1, std::slice::from_ref(&mine), &[rests(0), rests(1)]));
    bay.said(1);
    for tick in 2..120 {
        let shown: &[ShownRow] = match tick {
            40 => &[(key_of(0), Err(1)), (key_of(1), Err(0))],
            80 => &[rests(0)],
            _ => &[],
        };
        let against = Telling { number: tick, baseline: Some((1, check, &[])), ..Telling::default() };
        bay.receive(tick, &sea_snapshot(against, tick, &[], shown));
        bay.said(tick);
    }
    let names = bay.events.iter().filter_map(|event| match event {
        ClientEvent::Hidden { entity, .. } => Some(("hidden", *entity)),
        ClientEvent::Shown(entity) => Some(("shown", *entity)),
        ClientEvent::Despawned { entity, .. } => Some(("despawned", *entity)),
        _ => None,
    });
    let expected = [("hidden", buoy(0)), ("despawned", buoy(1)), ("shown", buoy(0))];
    assert_eq!(names.collect::<Vec<_>>(), expected);
}

#[test]
fn what_moved_is_known_to_rest_by_one_datagram_for_all_in_whatever_order_the_datagrams_come() {
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let row = |nth: u64, rests: u64, x: f64| ((key_of(nth), Ok((rests, at_x(x)))), Kind::Named);
    // The state of 3 tells two rows that have moved; that of 5 that all has stopped that moved in that, but for one.
    let mut bay = Bay::new();
    let first = sea_snapshot(Telling { number: 1, ..Telling::default() }, 1, &[mine], &[]);
    let told = Memory::default().datagram(3, 3, &[row(0, 0, 1.0), row(1, 0, 2.0)]);
    let stopped = Memory { stopped_age: Some(2), ..Memory::default() }.datagram(5, 5, &[row(1, 0, 3.0)]);
    let other = Memory::default().datagram(4, 4, &[row(2, 0, 7.0)]);
    for order in [[&told, &other, &stopped], [&stopped, &told, &other], [&other, &stopped, &told]] {
        bay.receive(1, &first);
        order.into_iter().for_each(|datagram| bay.receive(5, datagram));
        assert_eq!(bay.buoys(), [(0, 1.0, 5), (1, 3.0, 5), (2, 7.0, 4)], "known to be as it was in the state of 5");
        bay = Bay::new();
    }
    // Without what was told it says nothing, and of another state not what it says of this one.
    bay.receive(1, &first);
    let of_another = Memory { stopped_age: Some(1), ..Memory::default() }.datagram(5, 5, &[]);
    [&stopped, &other].into_iter().for_each(|datagram| bay.receive(5, datagram));
    assert_eq!(bay.buoys(), [(1, 3.0, 5), (2, 7.0, 4)]);
    [&of_another, &told].into_iter().for_each(|datagram| bay.receive(6, datagram));
    assert_eq!(bay.buoys(), [(0, 1.0, 5), (1, 3.0, 5), (2, 7.0, 5)]);
    let of_itself = Memory { stopped_age: Some(0), ..Memory::default() }.datagram(6, 6, &[]);
    assert!(bay.client.receive(bay.now, &of_itself).is_err(), "0 ticks before");
}

#[test]
fn a_row_that_has_rested_is_told_against_what_was_told_last_before_though_something_later_has_overtaken_it() {
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let row = |facts: &Facts, kind| [((key_of(3), Ok((0, facts.clone()))), kind)];
    let mut memory = Memory::default();
    // Its velocity has taken it nowhere.
    let [first, second, third, fourth] = [10.0, 11.5, 13.0, 14.0].map(|x| facing(x, 64.0, [0.0, 1.0], true));
    let told = memory.datagram(2, 2, &row(&first, Kind::Named));
    let started = memory.datagram(3, 40, &row(&second, Kind::Rested));
    let later = memory.datagram(4, 41, &row(&third, Kind::Against(39)));
    let last = memory.datagram(5, 42, &row(&fourth, Kind::Against(2)));
    for order in [[&told, &started, &later, &last], [&told, &later, &started, &last]] {
        let mut bay = Bay::new();
        bay.receive(1, &sea_snapshot(Telling { number: 1, ..Telling::default() }, 1, std::slice::from_ref(&mine), &[]));
        order.into_iter().for_each(|datagram| bay.receive(42, datagram));
        assert_eq!(bay.buoys(), [(3, 14.0, 42)]);
    }
}

#[test]
fn who_predicts_others_says_how_far_around() {
    let mut bay = Bay::new();
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    bay.receive(1, &sea_snapshot(Telling::default(), 1, &[mine], &[]));
    assert_eq!(bay.said(1).exact_within_m, None);
    bay.client.predict(PlayerId::new(9), true);
    assert_eq!(bay.said(2).exact_within_m, Some(0), "wherever they are");
    bay.client.predict(PlayerId::new(9), false);
    assert_eq!(bay.said(3).exact_within_m, None);
    bay.client.config_mut().predict = Predict::Near { within_m: 4.0, until_m: 5.0 };
    assert_eq!(bay.said(4).exact_within_m, Some(11));
}

#[test]
fn rows_that_the_document_calls_malformed_change_nothing() {
    let mut bay = Bay::new();
    let mine = (MINE, Facts { owner: 5, ..at_x(1.0) });
    let lanes = Telling { number: 3, ..Telling::default() };
    bay.receive(1, &sea_snapshot(lanes, 1, &[mine], &[(key_of(0), Ok((0, at_x(1.0))))]));
    let moved = (key_of(0), Ok((0, at_x(2.0))));
    let good = shown_datagram(4, 2, std::slice::from_ref(&moved));
    let of = |name: Name, owner: u64| {
        shown_datagram(4, 2, &[moved.clone(), ((0, name), Ok((0, Facts { owner, ..at_x(0.0) })))])
    };
    for (tick, (datagram, what)) in (2..).zip([
        ([&good[..], &[0]].concat(), "a byte too many"),
        (good[..good.len() - 1].to_vec(), "a byte too few"),
        (of([0, 0x1_0000, 0], 0), "player 65,536"),
        (of([0, 0, 0x1_0000], 0), "counter 65,536"),
        (of([0, 0, 1], 0x1_0000), "a row of player 65,536"),
    ]) {
        assert!(bay.client.receive(Instant::from_micros(tick * TICK_MICROS), &datagram).is_err(), "{what}");
        assert_eq!((bay.buoys(), bay.said(tick).received), (vec![(0, 1.0, 1)], Some(vec![3, 0])), "{what}");
    }
}
