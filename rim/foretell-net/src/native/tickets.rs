//! The resume tickets of a server. They are numbered, so that an end is later than all that were made before it, whatever
//! clocks show; where that is kept in a file it holds after the next start, too.

use crate::account::{Account, UnixTime};
use crate::control::Refused;
use crate::credential::ResumeTicket;
use crate::native::random;
use crate::native::ticket::{Resumption, TicketKey};
use crate::native::ticket_file::{End, Fact, Kept, TicketFile};
use std::io;
use std::path::Path;
use tracing::warn;

/// Numbers are noted in the file so many at a time, ...
const RESERVED: u64 = 1 << 16;
/// ... before there are fewer than this left: a disk may be as slow.
const LEFT_MIN: u64 = RESERVED / 2;
/// How many accounts with ended tickets are remembered. Beyond that the half that ended first is forgotten, and with it
/// everybody's tickets from before.
const ENDED_MAX: usize = 65_536;

/// All tickets of a server.
pub(crate) struct Tickets {
    key: TicketKey,
    /// The number of the next ticket.
    next: u64,
    kept: Kept,
    file: Option<TicketFile>,
}

impl Tickets {
    /// Tickets that end with the server.
    pub(crate) fn of_one_start(audience: &str) -> Tickets {
        Tickets::new(Kept::new(random()), audience)
    }

    /// Tickets as a file has them, which is made where there is none.
    ///
    /// # Errors
    /// When it can't be read or written, or has no key.
    pub(crate) fn kept_in(path: &Path, audience: &str) -> io::Result<Tickets> {
        let kept = Kept::read(path)?.unwrap_or_else(|| Kept::new(random()));
        let mut tickets = Tickets::new(kept, audience);
        tickets.kept.next += RESERVED;
        tickets.file = Some(TicketFile::start(path.to_owned(), &tickets.kept)?);
        Ok(tickets)
    }

    fn new(kept: Kept, audience: &str) -> Tickets {
        Tickets { key: TicketKey::new(&kept.key, audience), next: kept.next, kept, file: None }
    }

    /// A ticket for a place.
    pub(crate) fn issue(&mut self, account: &Account, session: u64, expires: UnixTime) -> ResumeTicket {
        let number = self.next;
        self.next += 1;
        if self.kept.next < self.next + LEFT_MIN {
            self.kept.next += RESERVED;
            self.note(&Fact::Next(self.kept.next));
        }
        self.key.seal(&Resumption { account: account.clone(), session, expires, number })
    }

    /// Reads a ticket, and says whether it still means anything.
    ///
    /// # Errors
    /// When it is not genuine, has expired, or was ended.
    pub(crate) fn judge(&self, now: UnixTime, ticket: &[u8]) -> Result<Resumption, Refused> {
        let says = self.key.open(ticket).ok_or(Refused::Forged)?;
        if says.expires <= now || says.number < self.kept.floor {
            return Err(Refused::Expired);
        }
        // With a file of an earlier day the server does not know which of the later ones were ended.
        let is_unknown = says.number >= self.next;
        if is_unknown || self.kept.ended.get(&says.account).is_some_and(|end| says.number < end.before) {
            return Err(Refused::Ended);
        }
        Ok(says)
    }

    /// The tickets of an account mean nothing from now on; by `until` they have expired.
    pub(crate) fn end(&mut self, account: &Account, until: UnixTime) {
        let end = End { before: self.next, until };
        self.kept.ended.insert(account.clone(), end);
        self.note(&Fact::Ended(account.clone(), end));
        if self.kept.ended.len() > ENDED_MAX {
            warn!(
                "more ends of tickets than are remembered: all tickets of before the older half of them have expired"
            );
            let mut before: Vec<_> = self.kept.ended.values().map(|end| end.before).collect();
            let (_, median, _) = before.select_nth_unstable(ENDED_MAX / 2);
            let median = *median;
            self.forget(|end| end.before <= median);
        }
    }

    /// Whose tickets have all expired is forgotten. They stay so, also when the clock is set back.
    pub(crate) fn forget_expired(&mut self, now: UnixTime) {
        self.forget(|end| end.until <= now);
    }

    fn forget(&mut self, which: impl Fn(&End) -> bool) {
        let floor = self.kept.ended.values().filter(|end| which(end)).map(|end| end.before).max();
        let Some(floor) = floor else { return };
        self.kept.ended.retain(|_, end| !which(end));
        if floor > self.kept.floor {
            self.kept.floor = floor;
            self.note(&Fact::Floor(floor));
        }
    }

    fn note(&mut self, fact: &Fact) {
        if let Some(file) = &mut self.file {
            file.note(fact, &self.kept);
        }
    }

    /// How many accounts' ends it remembers.
    #[cfg(test)]
    pub(crate) fn ends(&self) -> usize {
        self.kept.ended.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const SOON: UnixTime = UnixTime(600_000);

    fn account(name: &str) -> Account {
        Account::new(name).expect("a name")
    }

    fn path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("foretell-{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    fn start(path: &Path) -> Tickets {
        Tickets::kept_in(path, "arena").expect("a file")
    }

    fn refusal(tickets: &Tickets, now: u64, ticket: &ResumeTicket) -> Option<Refused> {
        tickets.judge(UnixTime(now), ticket.as_bytes()).err()
    }

    #[test]
    fn an_end_is_later_than_all_tickets_before_it_on_whatever_side_of_a_restart_and_whatever_clocks_show() {
        let path = path("tickets-ends");
        let mut tickets = start(&path);
        // The clock is an hour ahead, and set right at the restart.
        let ahead = UnixTime(4_200_000);
        let old = tickets.issue(&account("alice"), 1, ahead);
        drop(tickets);
        let mut tickets = start(&path);
        assert_eq!(refusal(&tickets, 5, &old), None);
        let newer = tickets.issue(&account("alice"), 1, SOON);
        let other = tickets.issue(&account("bob"), 2, SOON);
        tickets.end(&account("alice"), SOON);
        let newest = tickets.issue(&account("alice"), 3, SOON);
        for _ in 0..2 {
            assert_eq!([&old, &newer].map(|ticket| refusal(&tickets, 6, ticket)), [Some(Refused::Ended); 2]);
            assert_eq!([&newest, &other].map(|ticket| refusal(&tickets, 6, ticket)), [None; 2]);
            drop(tickets);
            tickets = start(&path);
        }
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn what_a_clock_that_runs_ahead_has_made_expire_stays_expired_when_it_is_set_back() {
        let path = path("tickets-ahead");
        let mut tickets = start(&path);
        let (ended, before) =
            (tickets.issue(&account("alice"), 1, SOON), tickets.issue(&account("bob"), 2, UnixTime(2 * SOON.0)));
        tickets.end(&account("alice"), SOON);
        let after = tickets.issue(&account("bob"), 2, UnixTime(2 * SOON.0));
        tickets.forget_expired(SOON);
        assert_eq!(tickets.ends(), 0);
        for _ in 0..2 {
            assert_eq!([&ended, &before].map(|ticket| refusal(&tickets, 5, ticket)), [Some(Refused::Expired); 2]);
            assert_eq!(refusal(&tickets, 5, &after), None);
            drop(tickets);
            tickets = start(&path);
        }
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn without_the_file_of_before_or_with_one_of_an_earlier_day_no_ticket_of_later_admits() {
        let path = path("tickets-gone");
        let mut tickets = start(&path);
        let ticket = tickets.issue(&account("alice"), 1, SOON);
        drop(tickets);
        let earlier = std::fs::read_to_string(&path).expect("a file").replace("next 65536", "next 0");
        std::fs::remove_file(&path).expect("it was there");
        assert_eq!(refusal(&start(&path), 5, &ticket), Some(Refused::Forged));
        std::fs::write(&path, earlier).expect("writable");
        assert_eq!(refusal(&start(&path), 5, &ticket), Some(Refused::Ended));
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn however_many_are_made_none_has_the_number_of_another_after_a_restart() {
        let path = path("tickets-many");
        let mut tickets = start(&path);
        for _ in 0..2 * RESERVED {
            tickets.issue(&account("alice"), 1, SOON);
        }
        let made = tickets.next;
        drop(tickets);
        assert!(start(&path).next >= made);
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn beyond_so_many_ends_the_older_half_is_forgotten_and_their_tickets_have_expired() {
        let mut tickets = Tickets::of_one_start("arena");
        let names: Vec<_> = (0..=ENDED_MAX).map(|number| account(&number.to_string())).collect();
        let made: Vec<_> = names
            .iter()
            .map(|name| {
                let ticket = tickets.issue(name, 1, SOON);
                tickets.end(name, SOON);
                ticket
            })
            .collect();
        assert_eq!(tickets.ends(), ENDED_MAX / 2);
        assert_eq!(refusal(&tickets, 5, &made[0]), Some(Refused::Expired));
        assert_eq!(refusal(&tickets, 5, &made[ENDED_MAX]), Some(Refused::Ended));
        let fresh = tickets.issue(&names[0], 1, SOON);
        assert_eq!(refusal(&tickets, 5, &fresh), None);
    }
}
