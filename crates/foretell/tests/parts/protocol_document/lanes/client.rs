//! A client by the document alone, which is told rows of others one by one by the crate's server.

use super::*;
/// What a datagram of states has said.
#[derive(Debug)]
struct Heard {
    number: u64,
    tick: u64,
    /// The header of a snapshot.
    header: Option<Snapshot>,
    /// The client's own, and those of others that it is told exactly.
    rows: BTreeMap<Key, Facts>,
    /// What is not told exactly any more, and whether it is there.
    gone: Vec<(Key, u64)>,
    shown: Vec<ShownRow>,
    /// The state of which all has stopped that moved and is not told again.
    stopped: Option<u64>,
}

/// The second implementation of a client, as far as states go.
#[derive(Default)]
struct Shore {
    /// Snapshots by tick.
    snapshots: BTreeMap<u64, BTreeMap<Key, Facts>>,
    /// By key, in which state each was told last.
    others: BTreeMap<Key, (u64, Option<(u64, Facts)>)>,
    /// How often each datagram that has come was told to have come.
    numbers: BTreeMap<u64, u32>,
    memory: Memory,
    /// By the state in which they were told: that in which those that moved have stopped.
    stops: BTreeMap<u64, u64>,
}

impl Shore {
    /// Takes in a datagram that has come. Snapshots are of one part here.
    fn take(&mut self, datagram: &[u8]) -> Heard {
        assert!(datagram.len() <= 1150);
        let heard =
            if datagram[0] & 7 == 6 { self.read_shown_datagram(datagram) } else { self.read_snapshot(datagram) };
        self.numbers.insert(heard.number, 0);
        if heard.header.is_some() {
            self.snapshots.insert(heard.tick, heard.rows.clone());
        }
        for (key, row) in &heard.shown {
            let known = self.others.get(key).map(|(told, _)| *told);
            if known < Some(heard.tick) {
                self.others.insert(*key, (heard.tick, row.clone().ok()));
            }
        }
        self.stops.extend(heard.stopped.map(|told| (told, heard.tick)));
        for (told, row) in self.others.values_mut() {
            if let (Some((rests @ 0, _)), Some(at)) = (row, self.stops.get(told)) {
                (*told, *rests) = (*at, 1);
            }
        }
        heard
    }

    fn read_snapshot(&mut self, datagram: &[u8]) -> Heard {
        let mut reader = Reader::new(datagram);
        let header = read_header(&mut reader);
        assert_eq!(header.parts, (0, 0));
        let (mut rows, mut gone) = (BTreeMap::new(), Vec::new());
        if let Some((back, _)) = header.baseline {
            rows = self.snapshots[&(header.tick - back)].clone();
            while reader.take(1) == 1 {
                let key = read_sea_key(&mut reader);
                rows.remove(&key);
                gone.push((key, reader.take(1)));
            }
        }
        while reader.take(1) == 1 {
            rows.extend([read_sea_row(&mut reader)]);
        }
        if let Some((_, check)) = header.baseline {
            assert_eq!(check, rows.iter().map(sea_hash).sum::<u64>() & 0xffff_ffff, "of what is told exactly");
        }
        while reader.take(1) == 1 {
            read_news(&mut reader);
        }
        assert_eq!(reader.take(1), 0, "nobody holds anything");
        let (shown, stopped) = self.memory.read_shown(&mut reader, header.tick);
        reader.finish();
        Heard { number: header.number, tick: header.tick, header: Some(header), rows, gone, shown, stopped }
    }

    /// Section 4.8.
    fn read_shown_datagram(&mut self, datagram: &[u8]) -> Heard {
        let mut reader = Reader::new(datagram);
        assert_eq!((reader.take(3), reader.take(8)), (6, u64::from(TICKET)));
        let (number, tick) = (reader.take(16), reader.take(16));
        let (shown, stopped) = self.memory.read_shown(&mut reader, tick);
        reader.finish();
        Heard { number, tick, header: None, rows: BTreeMap::new(), gone: vec![], shown, stopped }
    }

    /// Section 4.4: the newest datagram that has come, and which of those before it. Each is told four times.
    fn received(&mut self) -> Option<Vec<(u64, u32)>> {
        let newest = *self.numbers.last_key_value()?.0;
        let oldest = self.numbers.iter().find(|(_, times)| **times < 4).map_or(newest, |(number, _)| *number);
        let words = (newest - oldest).div_ceil(32).clamp(1, 32);
        let has = |back: u64| newest.checked_sub(back).is_some_and(|number| self.numbers.contains_key(&number));
        let mask = (0..words).flat_map(|word| {
            let mask = (0..32).filter(|bit| has(word * 32 + bit + 1)).fold(0, |mask, bit| mask | 1 << bit);
            if mask == 0xffff_ffff { vec![(1, 1)] } else { vec![(0, 1), (mask, 32)] }
        });
        let is_longer = if words == 1 { vec![] } else { vec![(0, 1), (0xffff_ffff, 32), (words - 1, 5)] };
        let received = [(newest, 16)].into_iter().chain(is_longer).chain(mask).collect();
        self.numbers.values_mut().for_each(|times| *times += 1);
        Some(received)
    }

    /// A datagram of inputs.
    fn inputs(&mut self, sequence: u64, next: u64, exact_within_m: Option<u32>) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.put(3, 3).put(u64::from(TICKET), 8).put(sequence, 16);
        let newest = self.snapshots.last_key_value().map(|(tick, _)| [(*tick, 16)]);
        writer.optional(newest.as_ref().map(|fields| &fields[..]));
        writer.optional(self.received().as_deref());
        writer.put(u64::from(exact_within_m.is_some()), 1);
        if let Some(metres) = exact_within_m {
            writer.small(metres);
        }
        writer.put(next, 16).small(1).put(0, 1).put(0, 1);
        put_input(&mut writer, Command::default());
        writer.put(0, 1).bytes()
    }

    /// Whether all that is there of others is known to rest.
    fn all_rest(&self) -> bool {
        self.others.values().all(|(_, row)| row.as_ref().is_none_or(|(rests, _)| *rests == 1))
    }

    /// The rows of others that are there.
    fn shown(&self) -> Vec<(Key, Facts)> {
        let there =
            self.others.iter().filter_map(|(key, (_, row))| row.as_ref().map(|(_, facts)| (*key, facts.clone())));
        there.collect()
    }
}

/// The crate's server with that client.
struct Coast {
    server: Server<Sea>,
    world: Sea,
    outbox: Outbox,
    shore: Shore,
    /// The tick of the next update.
    next: u64,
    /// How many datagrams of inputs were sent.
    said: u64,
    exact_within_m: Option<u32>,
}

impl Coast {
    /// Of so many buoys of the server's. The client has joined in tick 1.
    fn new(buoys: u16) -> Coast {
        let rules = Rules::new(Sea::schema());
        let mut server = Server::new(rules, ServerConfig::default(), EPOCH, Instant::ZERO);
        let mut world = Sea::default();
        for nth in 0..buoys {
            world.buoys.insert(Owned { entity: buoy(nth), owner: PlayerId::SERVER }, Buoy::default());
        }
        let mut outbox = Outbox::new();
        server.update(Instant::ZERO, &mut world, &mut outbox);
        for ticket in [None, Some(TICKET)] {
            let hello = hello(13, 42, &rules_of_the_sea(), (0, ticket));
            server.receive(Instant::ZERO, ME, &hello).expect("well-formed");
        }
        Coast { server, world, outbox, shore: Shore::default(), next: 1, said: 0, exact_within_m: None }
    }

    /// The next step of the server; what it has sent of states.
    fn update(&mut self) -> Vec<Vec<u8>> {
        self.outbox.clear();
        self.server.update(Instant::from_micros(self.next * TICK_MICROS), &mut self.world, &mut self.outbox);
        self.next += 1;
        let sent = self.outbox.iter().map(|(_, datagram)| datagram.to_vec());
        sent.filter(|datagram| datagram[0] & 7 != 1).collect()
    }

    /// The client says what it has.
    fn tell(&mut self) {
        let inputs = self.shore.inputs(self.said, self.next, self.exact_within_m);
        self.said += 1;
        self.server.receive(Instant::from_micros(self.next * TICK_MICROS), ME, &inputs).expect("well-formed");
    }

    /// A step of which everything comes, and is acknowledged.
    fn turn(&mut self) -> Vec<Heard> {
        let heard: Vec<Heard> = self.update().iter().map(|datagram| self.shore.take(datagram)).collect();
        self.tell();
        heard
    }

    /// The rows that were shown in a step, ascending.
    fn turn_shown(&mut self) -> Vec<ShownRow> {
        let mut shown: Vec<ShownRow> = self.turn().into_iter().flat_map(|heard| heard.shown).collect();
        shown.sort_by_key(|(key, _)| *key);
        shown
    }

    fn place(&mut self, nth: u16, x: f64) {
        self.world.buoys.get_mut(buoy(nth)).expect("there").place[0] = x;
    }

    /// What everybody sees of the server's.
    fn truth(&self) -> Vec<(Key, Facts)> {
        let rows = self.world.buoys.iter().filter(|buoy| buoy.owner() == PlayerId::SERVER).map(|buoy| {
            let name = buoy.entity();
            let key =
                (0, [u64::from(name.tick().get()), u64::from(name.spawned_for().get()), u64::from(name.counter())]);
            (key, Facts { owner: 0, lanes: at_x(buoy.place[0]).lanes })
        });
        rows.collect()
    }
}

#[test]
fn a_client_that_follows_the_document_alone_is_told_its_own_rows_altogether_and_others_one_by_one() {
    let mut coast = Coast::new(2);
    let [first] = &coast.turn()[..] else { panic!("one datagram") };
    let header = first.header.as_ref().expect("a snapshot");
    assert_eq!((header.crowded, header.baseline, first.tick), (0, None, 2));
    assert_eq!(first.rows.keys().copied().collect::<Vec<_>>(), [OWN, CHEST]);
    let told = |x: f64, rests: u64| Ok((rests, at_x(x)));
    let mut shown = first.shown.clone();
    shown.sort_by_key(|(key, _)| *key);
    assert_eq!(shown, [(key_of(0), told(0.0, 0)), (key_of(1), told(0.0, 0))]);
    let [quiet] = &coast.turn()[..] else { panic!("one datagram") };
    assert_eq!((quiet.stopped, &quiet.shown[..]), (Some(2), &[][..]), "they have stopped, both");
    for _ in 0..5 {
        let [quiet] = &coast.turn()[..] else { panic!("one datagram") };
        let (back, _) = quiet.header.as_ref().expect("a snapshot").baseline.expect("acknowledged");
        assert_eq!((back, quiet.rows.len(), &quiet.shown[..]), (1, 2, &[][..]), "the own rows are kept");
    }
    coast.place(1, 5.0);
    assert_eq!(coast.turn_shown(), [(key_of(1), told(5.0, 0))]);
    coast.place(1, 6.0);
    assert_eq!(coast.turn_shown(), [(key_of(1), told(6.0, 0))]);
    assert_eq!(coast.turn_shown(), [(key_of(1), told(6.0, 1))], "what has moved on is told by itself that it rests");
    assert_eq!(coast.turn_shown(), []);
    coast.world.buoys.remove(buoy(0));
    assert_eq!(coast.turn_shown(), [(key_of(0), Err(0))]);
    assert!((0..80).all(|_| coast.turn_shown().is_empty()), "it is acknowledged");
    assert_eq!(coast.shore.shown(), [(key_of(1), at_x(6.0))]);
    assert!(coast.shore.all_rest());
}

#[test]
fn a_client_that_follows_the_document_alone_is_told_again_what_was_lost() {
    let mut coast = Coast::new(2);
    (0..6).for_each(|_| drop(coast.turn()));
    coast.world.buoys.remove(buoy(0));
    coast.place(1, 3.0);
    // Neither this nor what says that it rests comes.
    (0..2).for_each(|_| drop(coast.update()));
    assert_eq!(coast.turn_shown(), [], "nothing later has come yet");
    assert_eq!(coast.turn_shown(), [(key_of(0), Err(0)), (key_of(1), Ok((1, at_x(3.0))))], "they take longer than any");
    assert!((0..80).all(|_| coast.turn_shown().is_empty()), "both are acknowledged");
    assert_eq!(coast.shore.shown(), coast.truth());
    // Nothing comes at all for 16 s.
    coast.place(1, 4.0);
    let mut told = Vec::new();
    for after in 1..=1030_u64 {
        let sent: Vec<Heard> = coast.update().iter().map(|datagram| coast.shore.read_snapshot(datagram)).collect();
        told.extend(sent.iter().filter(|heard| !heard.shown.is_empty()).map(|_| after));
        coast.tell();
    }
    assert_eq!(
        told,
        [1, 2, 1027],
        "as it moves, as it rests where some were lost, and when that is silent for more than 16 s"
    );
}

#[test]
fn a_client_that_follows_the_document_alone_is_not_told_again_what_came_after_more_than_32_later_ones() {
    let mut coast = Coast::new(2);
    let mut sent: Vec<_> = (0..40).flat_map(|_| coast.update()).collect();
    sent.reverse();
    let shown = sent.iter().filter(|datagram| !coast.shore.take(datagram).shown.is_empty()).count();
    assert_eq!(shown, 1, "as they are there; that they rest came before it");
    assert!(coast.shore.all_rest());
    coast.tell();
    assert!((0..200).all(|_| coast.turn_shown().is_empty()), "both have come");
    assert_eq!(coast.shore.shown(), coast.truth());
}

#[test]
fn what_does_not_fit_beside_the_own_rows_comes_in_datagrams_of_its_own() {
    let mut coast = Coast::new(300);
    let first = coast.turn();
    assert!(first.len() > 1 && first[0].header.is_some());
    assert!(first[1..].iter().all(|heard| heard.header.is_none() && heard.tick == 2 && !heard.shown.is_empty()));
    let numbers: Vec<u64> = first.iter().map(|heard| heard.number).collect();
    assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{numbers:?}");
    assert!(coast.shore.others.len() < 300, "within the budget");
    (0..30).for_each(|_| drop(coast.turn()));
    assert_eq!(coast.shore.shown(), coast.truth());
}

#[test]
fn a_client_that_follows_the_document_alone_is_told_exactly_what_is_near_while_it_says_so() {
    let mut coast = Coast::new(3);
    (0..3).for_each(|nth| coast.place(nth, f64::from(nth) * 20.0));
    (0..6).for_each(|_| drop(coast.turn()));
    coast.exact_within_m = Some(30);
    coast.tell();
    for turn in 0..8 {
        coast.place(0, f64::from(turn) * 0.1);
        let [heard] = &coast.turn()[..] else { panic!("one datagram") };
        assert_eq!(heard.header.as_ref().expect("a snapshot").crowded, 0);
        let told: Vec<_> = heard.rows.iter().filter(|(_, facts)| facts.owner == 0).map(|(key, _)| *key).collect();
        assert_eq!((told, heard.shown.len()), (vec![key_of(0), key_of(1)], 0), "the third is too far, and rests");
        let lanes = |nth: u16| coast.world.buoys.get(buoy(nth)).expect("there").place[0].to_bits();
        assert_eq!(heard.rows[&key_of(0)].lanes[0], lanes(0), "as it is, and not rounded");
    }
    // What goes away is there still, and told by itself until that has come.
    coast.place(1, 200.0);
    let sent = coast.update();
    let heard = coast.shore.read_snapshot(&sent[0]);
    assert_eq!((&heard.gone[..], heard.shown.len()), (&[(key_of(1), 1)][..], 1));
    let [heard] = &coast.turn()[..] else { panic!("one datagram") };
    assert_eq!((&heard.gone[..], heard.shown.len()), (&[(key_of(1), 1)][..], 1));
    // What ends is gone of what it is told against.
    coast.world.buoys.remove(buoy(0));
    let [heard] = &coast.turn()[..] else { panic!("one datagram") };
    assert!(heard.gone.contains(&(key_of(0), 0)), "{:?}", heard.gone);
    coast.exact_within_m = None;
    (0..4).for_each(|_| drop(coast.turn()));
    assert_eq!(coast.shore.snapshots.last_key_value().expect("there").1.len(), 2, "the own rows alone");
}

#[test]
fn a_row_of_the_client_that_goes_to_another_player_is_told_with_each_state_until_it_is_there() {
    let mut coast = Coast::new(0);
    (0..4).for_each(|_| drop(coast.turn()));
    let own = Entity::new(PlayerId::new(1), Tick::new(1), 0);
    assert!(coast.world.buoys.set_owner(own, PlayerId::SERVER));
    for _ in 0..3 {
        // It is on its way.
        let sent = coast.update();
        let [heard] = &sent.iter().map(|datagram| coast.shore.read_snapshot(datagram)).collect::<Vec<_>>()[..] else {
            panic!("one datagram");
        };
        assert_eq!(heard.rows.keys().copied().collect::<Vec<_>>(), [CHEST]);
        assert!(matches!(&heard.shown[..], [(OWN, Ok((_, Facts { owner: 0, .. })))]), "{:?}", heard.shown);
    }
    assert_eq!(coast.turn_shown().len(), 1);
    assert_eq!(coast.turn_shown(), [], "it has come");
    assert_eq!(coast.shore.shown(), [(OWN, at_x(0.0))]);
}

#[test]
fn no_datagram_is_larger_than_the_document_says_however_much_is_the_clients_own() {
    let (mut coast, mut random) = (Coast::new(20), SplitMix64::new(3));
    let mut parts = 0;
    for nth in 0..150_u16 {
        // Names of any length, and so ends of datagrams at any bit.
        let tick = u32::try_from(random.next_u64() >> 36).expect("28 bits") >> (random.next_u64() % 28);
        let entity = Entity::new(PlayerId::SERVER, Tick::new(tick), nth);
        coast.world.buoys.insert(Owned { entity, owner: PlayerId::new(1) }, Buoy::default());
        let sent = coast.update();
        parts = parts.max(sent.len());
        let largest = sent.iter().map(Vec::len).max().expect("a snapshot");
        assert!(largest <= 1150, "{largest} bytes in tick {nth}");
        coast.tell();
    }
    assert!(parts > 5, "{parts}");
}

#[test]
fn a_client_that_follows_the_document_alone_is_told_of_what_leaves_its_view_that_it_is_hidden_and_nothing_more() {
    let mut coast = Coast::new(2);
    coast.server.config_mut().interest = Interest::Within { radius_m: 50.0, leaves_at_m: 60.0 };
    (0..6).for_each(|_| drop(coast.turn()));
    coast.place(1, 55.0);
    coast.place(0, 61.0);
    assert_eq!(coast.turn_shown(), [(key_of(0), Err(1)), (key_of(1), Ok((0, at_x(55.0))))]);
    assert_eq!(coast.turn_shown(), []);
    assert!(coast.shore.all_rest());
    coast.place(0, 55.0);
    assert_eq!(coast.turn_shown(), [], "it comes back where it is nearer");
    coast.place(0, 50.0);
    assert_eq!(coast.turn_shown(), [(key_of(0), Ok((0, at_x(50.0))))]);
    (0..6).for_each(|_| drop(coast.turn()));
    coast.place(0, 200.0);
    assert_eq!(coast.turn_shown(), [(key_of(0), Err(1))]);
    coast.world.buoys.remove(buoy(0));
    assert!((0..80).all(|_| coast.turn_shown().is_empty()), "its end is not told");
}
