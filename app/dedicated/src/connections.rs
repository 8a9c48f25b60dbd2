//! Who is connected to a site, and who gives way when one more comes: from where most are, whoever has got on least lately. So
//! who fills a site from some addresses takes room from themselves alone, and who takes nothing from those who do.

use foretell_net::{first_to_go, network_bits, network_of};
use std::cmp::Reverse;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::oneshot;

/// Networks with so many connections are not crowded yet: one browser has six.
const FEW: usize = 8;

/// How many connections a site has at once.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// In all.
    pub connections_max: usize,
    /// From one address. Of IPv6 a network of 64 bits is an address, and wider ones the more connections there are.
    pub per_address_max: usize,
}

#[derive(Debug)]
struct Connection {
    /// Counts connections.
    number: u64,
    /// Who is connected.
    from: IpAddr,
    /// Who is served: of a proxy the one for whom it asks just now. A proxy by itself is nobody, and has no limit.
    asker: Option<IpAddr>,
    /// Whether it waits for the site just now, and not the site for it.
    waits: bool,
    /// When something has come or gone last.
    progress: Instant,
    /// Ends it.
    make_room: oneshot::Sender<()>,
}

#[derive(Debug, Default)]
struct ConnectionTable {
    entered: u64,
    /// Who has come first is first. `len <= connections_max`.
    all: Vec<Connection>,
}

/// The connections of a site; a clone is the same.
#[derive(Clone, Debug)]
pub struct Connections {
    limits: Limits,
    table: Arc<Mutex<ConnectionTable>>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub struct ConnectionSlot {
    connections: Connections,
    number: u64,
    from: IpAddr,
    is_proxy: bool,
}

/// Who is let in.
#[derive(Debug)]
pub struct Admitted {
    pub slot: ConnectionSlot,
    /// Tells that the slot is somebody else's now.
    pub made_room: oneshot::Receiver<()>,
}

impl Connections {
    pub fn new(limits: Limits) -> Connections {
        Connections { limits, table: Arc::default() }
    }

    /// One more is there, for whom another may have to go.
    pub fn enter(&self, now: Instant, from: IpAddr, is_proxy: bool) -> Admitted {
        let mut table = self.lock();
        let bits = network_bits(table.all.len(), self.limits.connections_max);
        if !is_proxy {
            table.make_room_at(from, bits, self.limits.per_address_max);
        }
        if table.all.len() >= self.limits.connections_max {
            table.make_room(bits);
        }
        table.entered += 1;
        let number = table.entered;
        let (make_room, made_room) = oneshot::channel();
        let asker = (!is_proxy).then_some(from);
        table.all.push(Connection { number, from, asker, waits: false, progress: now, make_room });
        drop(table);
        Admitted { slot: ConnectionSlot { connections: self.clone(), number, from, is_proxy }, made_room }
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// How long it has been waited for: whom nobody waits for has got on.
    fn patience(&self) -> (bool, Reverse<Instant>) {
        (!self.waits, Reverse(self.progress))
    }
}

impl ConnectionTable {
    /// Who has got on least lately of those from where most are goes.
    fn make_room(&mut self, bits: u32) {
        let all = self.all.iter().map(|one| (one.asker.unwrap_or(one.from), one.patience()));
        if let Some(gone) = first_to_go(all, bits, FEW) {
            self.end(gone);
        }
    }

    /// The same among those for whom one address asks, if they are so many.
    fn make_room_at(&mut self, address: IpAddr, bits: u32, max: usize) {
        let network = network_of(address, bits);
        let all = self.all.iter().enumerate();
        let near: Vec<_> =
            all.filter(|(_, one)| one.asker.is_some_and(|who| network_of(who, bits) == network)).collect();
        let patience = near.iter().map(|(_, one)| (address, one.patience()));
        if near.len() >= max
            && let Some(gone) = first_to_go(patience, bits, FEW)
        {
            self.end(near[gone].0);
        }
    }

    fn end(&mut self, gone: usize) {
        // Who has ended meanwhile hears nothing.
        let _ = self.all.remove(gone).make_room.send(());
    }
}

impl ConnectionSlot {
    /// Something has come or gone: it is on them to go on.
    pub fn note_progress(&self, now: Instant) {
        self.with(|one| (one.waits, one.progress) = (false, now));
    }

    /// It is on the site to go on.
    pub fn note_waits(&self) {
        self.with(|one| one.waits = true);
    }

    /// Who is served: of a proxy that asks for nobody the proxy.
    pub fn asker(&self) -> IpAddr {
        let table = self.connections.lock();
        let asker = table.all.iter().find(|one| one.number == self.number).and_then(|one| one.asker);
        asker.unwrap_or(self.from)
    }

    /// It is this one who asks, as far as a proxy is believed.
    pub fn serve(&self, asker: IpAddr) {
        if self.is_proxy {
            let mut table = self.connections.lock();
            let bits = network_bits(table.all.len(), self.connections.limits.connections_max);
            table.all.iter_mut().filter(|one| one.number == self.number).for_each(|one| one.asker = None);
            table.make_room_at(asker, bits, self.connections.limits.per_address_max);
            table.all.iter_mut().filter(|one| one.number == self.number).for_each(|one| one.asker = Some(asker));
        }
    }

    /// Who has asked has their answer: a proxy will ask for another.
    pub fn note_answered(&self) {
        if self.is_proxy {
            self.with(|one| one.asker = None);
        }
    }

    fn with(&self, change: impl FnMut(&mut Connection)) {
        self.connections.lock().all.iter_mut().filter(|one| one.number == self.number).for_each(change);
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.lock().all.retain(|one| one.number != self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn connections(connections_max: usize, per_address_max: usize) -> (Connections, Instant) {
        (Connections::new(Limits { connections_max, per_address_max }), Instant::now())
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    fn enter(connections: &Connections, now: Instant, from: &[&str]) -> Vec<Admitted> {
        from.iter().map(|from| connections.enter(now, address(from), false)).collect()
    }

    /// Which of them had to make room since it was asked last.
    fn gone(entered: &mut [Admitted]) -> Vec<usize> {
        let all = entered.iter_mut().enumerate();
        all.filter_map(|(index, one)| one.made_room.try_recv().is_ok().then_some(index)).collect()
    }

    #[test]
    fn an_address_that_has_all_its_places_takes_the_next_from_its_own() {
        let (connections, now) = connections(100, 2);
        let from = ["10.0.0.1", "10.0.0.2", "::ffff:10.0.0.1", "2001:db8::1", "2001:db8::2"];
        let mut held = enter(&connections, now, &from);
        held[0].slot.note_progress(now + Duration::from_millis(1));
        let _more = enter(&connections, now, &["10.0.0.1"]);
        assert_eq!(gone(&mut held), [2], "the other got on");
        let _more = enter(&connections, now, &["2001:db8::3"]);
        assert_eq!(gone(&mut held), [3], "one network");
        held.remove(1);
        let _more = enter(&connections, now, &["10.0.0.2", "10.0.0.2"]);
        assert_eq!(gone(&mut held), [0_usize; 0], "who has left had a place");
    }

    #[test]
    fn where_all_places_are_taken_whoever_comes_finds_one_of_who_gets_on_least() {
        let (connections, now) = connections(4, 4);
        let mut held = enter(&connections, now, &["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"]);
        let later = |ms| now + Duration::from_millis(ms);
        [(0, 3), (1, 1), (2, 4)].iter().for_each(|(nth, ms): &(usize, u64)| held[*nth].slot.note_progress(later(*ms)));
        let mut newer = Vec::new();
        for goes in [3, 1, 0, 2] {
            newer.extend(enter(&connections, later(5), &["10.0.0.9"]));
            assert_eq!((gone(&mut held), gone(&mut newer).len()), (vec![goes], 0));
        }
    }

    #[test]
    fn who_waits_for_the_site_is_not_the_one_to_go() {
        let (connections, now) = connections(3, 3);
        let mut held = enter(&connections, now, &["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        held[0].slot.note_waits();
        held[1].slot.note_waits();
        held[1].slot.note_progress(now + Duration::from_millis(1));
        held[2].slot.note_progress(now + Duration::from_millis(2));
        let _newer = enter(&connections, now + Duration::from_millis(3), &["10.0.0.4", "10.0.0.5"]);
        assert_eq!(gone(&mut held), [1, 2]);
    }

    #[test]
    fn who_is_from_where_most_are_goes_before_who_gets_on_less() {
        let (connections, now) = connections(20, 20);
        let mut held = enter(&connections, now, &["10.0.0.1"; FEW]);
        let mut most = enter(&connections, now + Duration::from_secs(1), &["10.0.0.2"; 20 - FEW]);
        let _newer: Vec<_> = (0..4).map(|_| enter(&connections, now + Duration::from_secs(1), &["10.0.0.3"])).collect();
        assert_eq!((gone(&mut held), gone(&mut most)), (vec![], vec![0, 1, 2, 3]));
        let _newer = enter(&connections, now + Duration::from_secs(1), &["10.0.0.3"]);
        assert_eq!((gone(&mut held), gone(&mut most)), (vec![0], vec![]), "none is crowded any more");
    }

    #[test]
    fn a_site_that_is_full_counts_wide_networks_as_one_address() {
        let (connections, now) = connections(40, 40);
        let _one = enter(&connections, now, &["10.0.0.1"]);
        let from: Vec<_> = (1..40).map(|number| format!("2001:db8:0:{number:x}::1")).collect();
        let mut held =
            enter(&connections, now + Duration::from_secs(1), &from.iter().map(String::as_str).collect::<Vec<_>>());
        let mut newer: Vec<_> =
            (2..12).flat_map(|number| enter(&connections, now, &[&format!("10.0.0.{number}")])).collect();
        assert_eq!((gone(&mut held), gone(&mut newer)), ((0..10).collect(), vec![]));
    }

    #[test]
    fn a_proxys_connections_are_those_of_whom_it_asks_for_while_it_does() {
        let (connections, now) = connections(20, 2);
        let mut held: Vec<_> = (0..20).map(|_| connections.enter(now, address("127.0.0.1"), true)).collect();
        assert_eq!(gone(&mut held), [0_usize; 0], "a proxy has no limit of its own");
        let mut ask = |nth: usize, asker| {
            held[nth].slot.serve(address(asker));
            gone(&mut held)
        };
        assert_eq!([ask(0, "203.0.113.1"), ask(1, "203.0.113.1"), ask(1, "203.0.113.1")].concat(), [0_usize; 0]);
        assert_eq!(ask(2, "203.0.113.2"), [0_usize; 0]);
        assert_eq!(ask(3, "203.0.113.1"), [0], "it has two already");
        held[1].slot.note_answered();
        held[4].slot.serve(address("203.0.113.1"));
        assert_eq!(gone(&mut held), [0_usize; 0]);
        let _more: Vec<_> = (0..2).map(|_| connections.enter(now, address("127.0.0.1"), true)).collect();
        assert_eq!(gone(&mut held), [1], "of all that are the proxy's, and of nobody, the first");
    }
}
