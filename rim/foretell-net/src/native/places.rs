//! Places and who has them: one for each account, with a limit in all and one for each address. Where an address has none left,
//! who was lost first there makes room. Where all are taken, who is lost does not count: they leave when somebody has joined in
//! their stead, which the session decides.

use crate::account::Account;
use crate::control::Refused;
use crate::native::network::network_of;
use foretell::Instant;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// So long nobody gets the place of a player who was lost, or whose connection has broken.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(3);

/// A place of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub session: u64,
    /// The newest connection that has shown a right to it.
    pub connection: u64,
    /// From where that has come.
    pub from: IpAddr,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    place: Place,
    /// Since when its player is lost, or has no connection.
    lost: Option<Instant>,
}

impl Held {
    /// Whose connection has broken a moment ago may be back in another.
    fn is_lost(&self, now: Instant) -> bool {
        self.lost.is_some_and(|since| now.since(since) >= KEPT_FOR)
    }
}

/// All places, `len <= 2 * max`: somebody may have come for each who is lost.
#[derive(Debug)]
pub(crate) struct Places {
    max: usize,
    per_address_max: usize,
    held: BTreeMap<Account, Held>,
}

impl Places {
    pub(crate) fn new(max: usize, per_address_max: usize) -> Places {
        Places { max, per_address_max, held: BTreeMap::new() }
    }

    pub(crate) fn get(&self, account: &Account) -> Option<&Place> {
        self.held.get(account).map(|held| &held.place)
    }

    /// Whether there is a place for an account at an address: its own, or another. And who of that address has to leave theirs
    /// for it.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn room(&self, now: Instant, account: &Account, from: IpAddr) -> Result<Option<Account>, Refused> {
        let width = self.width();
        let is_near = |place: &Place| network_of(place.from, width) == network_of(from, width);
        let own = self.get(account);
        if own.is_some_and(is_near) {
            return Ok(None);
        }
        if self.held.values().filter(|held| is_near(&held.place)).count() >= self.per_address_max {
            return self.first_lost(now, is_near).map(Some).ok_or(Refused::Busy);
        }
        let is_full = || self.held.values().filter(|held| !held.is_lost(now)).count() >= self.max;
        if own.is_none() && is_full() { Err(Refused::Full) } else { Ok(None) }
    }

    /// By how many bits IPv6 counts as one address: the fuller, the fewer, as who has one wide network has many narrow ones.
    fn width(&self) -> u32 {
        let quarters = self.held.len() * 4;
        match self.max {
            max if quarters < 2 * max => 64,
            max if quarters < 3 * max => 56,
            _ => 48,
        }
    }

    /// Whether there are more than there is room for, as somebody has come for who is lost.
    pub(crate) fn are_overfull(&self) -> bool {
        self.held.len() > self.max
    }

    fn first_lost(&self, now: Instant, among: impl Fn(&Place) -> bool) -> Option<Account> {
        let lost = self.held.iter().filter(|(_, held)| among(&held.place));
        let (_, account) =
            lost.filter(|(_, held)| held.is_lost(now)).map(|(account, held)| (held.lost, account)).min()?;
        Some(account.clone())
    }

    /// The place is the account's, whose player is not lost.
    pub(crate) fn take(&mut self, account: Account, place: Place) {
        self.held.insert(account, Held { place, lost: None });
    }

    /// The place of an account is free again, if it is that of this session.
    pub(crate) fn free(&mut self, account: &Account, session: u64) {
        if self.get(account).is_some_and(|place| place.session == session) {
            self.held.remove(account);
        }
    }

    /// The place of an account is somebody else's: which it was.
    pub(crate) fn give_away(&mut self, account: &Account) -> Option<Place> {
        self.held.remove(account).map(|held| held.place)
    }

    /// The lost player of an account is back, where the place still is theirs.
    pub(crate) fn come_back(&mut self, account: &Account, session: u64) {
        if let Some(held) = self.held.get_mut(account).filter(|held| held.place.session == session) {
            held.lost = None;
        }
    }

    /// The player of an account is lost, or their connection is over: unless there is a newer one.
    pub(crate) fn lose(&mut self, now: Instant, account: &Account, session: u64, connection: u64) {
        let held = self.held.get_mut(account);
        if let Some(held) = held.filter(|held| held.place.session == session && held.place.connection <= connection) {
            held.lost.get_or_insert(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATER: Instant = Instant::from_micros(10_000_000);

    /// The player of this number is lost, this number of seconds after the start.
    fn lose(places: &mut Places, seconds: u64, number: usize) {
        places.lose(Instant::from_micros(seconds * 1_000_000), &account(number), number as u64, 0);
    }

    fn account(number: usize) -> Account {
        Account::new(&number.to_string()).expect("a name")
    }

    fn place(number: usize, from: &str) -> Place {
        Place { session: number as u64, connection: 0, from: from.parse().expect("an address") }
    }

    /// `max` places, the first of them taken from these addresses.
    fn places(max: usize, per_address_max: usize, from: &[&str]) -> Places {
        let mut places = Places::new(max, per_address_max);
        from.iter().enumerate().for_each(|(number, from)| places.take(account(number), place(number, from)));
        places
    }

    fn room(places: &Places, from: &str) -> Result<Option<Account>, Refused> {
        places.room(LATER, &account(99), from.parse().expect("an address"))
    }

    #[test]
    fn when_all_places_are_taken_there_is_room_for_as_many_as_are_lost_and_nobody_leaves_for_it_yet() {
        let mut full = places(3, 9, &["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        assert_eq!(room(&full, "10.0.0.9"), Err(Refused::Full));
        lose(&mut full, 1, 1);
        lose(&mut full, 2, 0);
        full.lose(Instant::ZERO, &account(2), 77, 0);
        for number in [3, 4] {
            assert_eq!(room(&full, "10.0.0.9"), Ok(None));
            full.take(account(number), place(number, "10.0.0.4"));
        }
        assert_eq!(room(&full, "10.0.0.9"), Err(Refused::Full), "two were lost, and two have come");
        full.free(&account(0), 0);
        assert_eq!(room(&full, "10.0.0.9"), Err(Refused::Full), "one of the lost has left for them");
        full.free(&account(3), 3);
        full.come_back(&account(1), 77);
        assert_eq!(room(&full, "10.0.0.9"), Ok(None), "another session is back");
        full.come_back(&account(1), 1);
        assert_eq!(room(&full, "10.0.0.9"), Err(Refused::Full), "the other is back");
    }

    #[test]
    fn of_the_lost_of_an_address_who_was_lost_first_makes_room_for_another() {
        let mut half = places(8, 3, &["10.0.0.1"; 3]);
        lose(&mut half, 1, 1);
        lose(&mut half, 2, 0);
        half.lose(Instant::ZERO, &account(2), 77, 0);
        assert_eq!(room(&half, "10.0.0.1"), Ok(Some(account(1))));
        half.come_back(&account(1), 77);
        assert_eq!(room(&half, "10.0.0.1"), Ok(Some(account(1))), "another session is back");
        half.come_back(&account(1), 1);
        assert_eq!(room(&half, "10.0.0.1"), Ok(Some(account(0))), "the other is back");
        half.free(&account(0), 0);
        assert_eq!(room(&half, "10.0.0.1"), Ok(None));
    }

    #[test]
    fn whose_connection_has_broken_keeps_the_place_for_three_seconds_and_for_longer_once_they_are_back() {
        let mut full = places(1, 9, &["10.0.0.1"]);
        lose(&mut full, 8, 0);
        assert_eq!(room(&full, "10.0.0.4"), Err(Refused::Full), "two seconds ago");
        full.come_back(&account(0), 0);
        lose(&mut full, 7, 0);
        lose(&mut full, 9, 0);
        assert_eq!(room(&full, "10.0.0.4"), Ok(None), "it counts since the first");
        full.take(account(0), Place { connection: 1, ..place(0, "10.0.0.1") });
        lose(&mut full, 1, 0);
        assert_eq!(room(&full, "10.0.0.4"), Err(Refused::Full), "that was the connection before");
    }

    #[test]
    fn an_address_has_so_many_places_with_those_of_its_lost_players() {
        let mut half = places(8, 2, &["10.0.0.1", "::ffff:10.0.0.1"]);
        assert_eq!(room(&half, "10.0.0.1"), Err(Refused::Busy));
        assert_eq!(room(&half, "10.0.0.2"), Ok(None));
        lose(&mut half, 1, 1);
        assert_eq!(room(&half, "10.0.0.1"), Ok(Some(account(1))), "its own, and nobody else's");
    }

    #[test]
    fn who_comes_back_from_elsewhere_needs_a_share_there_and_no_further_place() {
        let mut full = places(3, 2, &["10.0.0.1", "10.0.0.2", "10.0.0.2"]);
        let back = |places: &Places, number, from: &str| {
            places.room(LATER, &account(number), from.parse().expect("an address"))
        };
        assert_eq!([back(&full, 0, "10.0.0.1"), back(&full, 0, "10.0.0.3")], [Ok(None), Ok(None)]);
        assert_eq!(back(&full, 0, "10.0.0.2"), Err(Refused::Busy), "others have both places there");
        assert_eq!(back(&full, 1, "10.0.0.2"), Ok(None));
        lose(&mut full, 1, 2);
        assert_eq!(back(&full, 0, "10.0.0.2"), Ok(Some(account(2))));
    }

    #[test]
    fn the_fuller_the_server_the_wider_the_networks_that_count_as_one_address() {
        let [one, other] = ["2001:db8:0:1::1", "2001:db8:0:2::1"];
        assert_eq!(room(&places(8, 1, &[one]), "2001:db8:0:1::2"), Err(Refused::Busy));
        assert_eq!(room(&places(8, 1, &[one]), other), Ok(None));
        assert_eq!(room(&places(2, 1, &[one]), other), Err(Refused::Busy), "half is taken: 56 bits");
        let far = "2001:db8:0:100::1";
        assert_eq!(room(&places(2, 1, &[one]), far), Ok(None));
        assert_eq!(room(&places(4, 1, &[one, "10.0.0.1", "10.0.0.2"]), far), Err(Refused::Busy), "three quarters: 48");
        assert_eq!(room(&places(4, 1, &[one, "10.0.0.1", "10.0.0.2"]), "2001:db8:1::1"), Ok(None));
    }
}
