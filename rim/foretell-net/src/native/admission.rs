//! Who may come in: tokens and tickets judged, places given. No I/O; time and random numbers are arguments.
//!
//! A place belongs to an account and has a session number. That number is the [`PeerId`] of the place, and the nonce
//! that its client says hello with: the server chooses it, tells it to nobody else, and hears a hello over a connection
//! only when it is the connection's own. So nobody takes another's place by a guessed or replayed nonce.

use crate::control::{Refused, Shown};
use crate::credential::ResumeTicket;
use crate::native::account::{Account, UnixTime};
use crate::native::ticket::{Resumption, TicketKey};
use crate::native::token;
use foretell::PeerId;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many used tokens and ended sessions are remembered, each; beyond it nobody comes until some have expired.
const REMEMBERED_MAX: usize = 65_536;

/// Who may play on a server, and by whose word.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// Which servers a token is for: the name that the issuer puts into it. 1 to 64 bytes.
    pub audience: String,
    /// The public key of the issuer ([`Issuer::public_key`](crate::Issuer::public_key)).
    pub token_key: [u8; 32],
    /// The key of resume tickets: 32 random bytes that no other program knows. `None`, the default, is a new one at each
    /// start: then tickets end with the server.
    pub ticket_key: Option<[u8; 32]>,
    /// Tokens that live for longer are refused: so long used ones have to be remembered. Default 10 minutes.
    pub token_lifetime_max: Duration,
    /// For so long a ticket can be used. It is renewed every minute, so this is the longest pause. Default 10 minutes.
    pub ticket_lifetime: Duration,
    /// Set by [`Access::insecure_development`] alone.
    pub(crate) insecure: bool,
}

impl Access {
    /// Access for players with tokens of one issuer.
    pub fn new(audience: &str, token_key: [u8; 32]) -> Access {
        Access {
            audience: audience.into(),
            token_key,
            ticket_key: None,
            token_lifetime_max: Duration::from_secs(600),
            ticket_lifetime: Duration::from_secs(600),
            insecure: false,
        }
    }
}

/// A place of the server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    session: u64,
    /// The newest connection that has shown a right to it.
    connection: u64,
}

/// An admission, once given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pass {
    pub account: Account,
    pub place: PeerId,
    /// Counts admissions: of two connections to a place the one with the higher number has it.
    pub connection: u64,
    pub ticket: ResumeTicket,
}

/// All places, and what is remembered of tokens and sessions.
pub(crate) struct Admission {
    access: Access,
    key: TicketKey,
    /// When the server was started.
    start: UnixTime,
    places_max: usize,
    places: BTreeMap<Account, Place>,
    connections: u64,
    /// Used tokens, until they expire anyway.
    used: BTreeMap<[u8; 16], UnixTime>,
    /// Sessions that have ended, until their tickets have expired.
    ended: BTreeMap<u64, UnixTime>,
    draining: bool,
}

impl Admission {
    pub(crate) fn new(access: Access, places_max: usize, start: UnixTime) -> Admission {
        let key = access.ticket_key.unwrap_or_else(token::random);
        let key = TicketKey::new(&key, &access.audience);
        let (places, used, ended) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        Admission { access, key, start, places_max, places, connections: 0, used, ended, draining: false }
    }

    /// Judges what a connection has shown. `fresh` is a random number, for a session that begins.
    pub(crate) fn admit(&mut self, now: UnixTime, shown: Shown<'_>, fresh: u64) -> Result<Pass, Refused> {
        self.forget_expired(now);
        let (account, session) = match shown {
            Shown::Token(token) => {
                let account = self.check_token(now, token)?;
                let session = self.places.get(&account).map_or(fresh, |place| place.session);
                (account, session)
            }
            Shown::ResumeTicket(ticket) => {
                let says = self.check_ticket(now, ticket)?;
                (says.account, says.session)
            }
        };
        self.connections += 1;
        let connection = self.connections;
        self.places.insert(account.clone(), Place { session, connection });
        let ticket = self.ticket(now, &account, session);
        Ok(Pass { account, place: PeerId(session), connection, ticket })
    }

    fn check_token(&mut self, now: UnixTime, token: &[u8]) -> Result<Account, Refused> {
        let claims = token::verify(&self.access.token_key, token).ok_or(Refused::Forged)?;
        if *claims.audience != *self.access.audience {
            return Err(Refused::Foreign);
        }
        if claims.expires <= now {
            return Err(Refused::Expired);
        }
        // A token from the future could be used before a restart and again after it.
        let lifetime = claims.expires.since(claims.issued);
        if claims.issued > now || lifetime > self.access.token_lifetime_max {
            return Err(Refused::Untimely);
        }
        // Where anybody can make tokens, one that is used twice is no loss.
        if claims.issued < self.start && !self.access.insecure {
            return Err(Refused::BeforeStart);
        }
        if self.used.contains_key(&claims.id) {
            return Err(Refused::Used);
        }
        // Who does not get in keeps the token.
        self.has_room(&claims.account)?;
        if self.used.len() >= REMEMBERED_MAX {
            return Err(Refused::Busy);
        }
        self.used.insert(claims.id, claims.expires);
        Ok(claims.account)
    }

    fn check_ticket(&self, now: UnixTime, ticket: &[u8]) -> Result<Resumption, Refused> {
        let says = self.key.open(ticket).ok_or(Refused::Forged)?;
        if says.expires <= now {
            return Err(Refused::Expired);
        }
        let newer = self.places.get(&says.account).is_some_and(|place| place.session != says.session);
        if newer || self.ended.contains_key(&says.session) {
            return Err(Refused::Ended);
        }
        self.has_room(&says.account)?;
        Ok(says)
    }

    /// Whether there is a place for an account: the one that it has, or another.
    fn has_room(&self, account: &Account) -> Result<(), Refused> {
        if self.places.contains_key(account) {
            Ok(())
        } else if self.draining {
            Err(Refused::Draining)
        } else if self.places.len() >= self.places_max || self.ended.len() >= REMEMBERED_MAX {
            Err(Refused::Full)
        } else {
            Ok(())
        }
    }

    /// A newer ticket for who has a place.
    pub(crate) fn renew(&self, now: UnixTime, account: &Account) -> Option<ResumeTicket> {
        let place = self.places.get(account)?;
        Some(self.ticket(now, account, place.session))
    }

    fn ticket(&self, now: UnixTime, account: &Account, session: u64) -> ResumeTicket {
        let (account, expires) = (account.clone(), now.after(self.access.ticket_lifetime));
        self.key.seal(&Resumption { account, session, expires, server_start: self.start })
    }

    /// The place of an account is free again. Its ticket may still be used, for another one.
    pub(crate) fn free(&mut self, account: &Account, place: PeerId) {
        if self.places.get(account).is_some_and(|known| known.session == place.0) {
            self.places.remove(account);
        }
    }

    /// The session of an account is over for good: its tickets mean nothing any more.
    pub(crate) fn end(&mut self, now: UnixTime, account: &Account, place: PeerId) {
        self.free(account, place);
        self.ended.insert(place.0, now.after(self.access.ticket_lifetime));
    }

    /// From now on only those come in who have a place.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    fn forget_expired(&mut self, now: UnixTime) {
        self.used.retain(|_, expires| *expires > now);
        self.ended.retain(|_, expires| *expires > now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::Token;
    use crate::native::token::Issuer;

    const START: UnixTime = UnixTime(1_000_000);
    const MINUTE: Duration = Duration::from_secs(60);

    fn issuer() -> Issuer {
        Issuer::new(&[7; 32], "arena")
    }

    fn admission(places_max: usize, start: UnixTime) -> Admission {
        let access = Access { ticket_key: Some([1; 32]), ..Access::new("arena", issuer().public_key()) };
        Admission::new(access, places_max, start)
    }

    fn account(name: &str) -> Account {
        Account::new(name).expect("a name")
    }

    /// A token of `issuer` for `name`, issued so many milliseconds after the start, for a minute.
    fn token(name: &str, after: u64) -> Token {
        issuer().issue(&account(name), UnixTime(START.0 + after), MINUTE)
    }

    fn show(to: &mut Admission, token: &Token, after: u64) -> Result<Pass, Refused> {
        let fresh = u64::from_le_bytes(token::random());
        to.admit(UnixTime(START.0 + after), Shown::Token(token.as_bytes()), fresh)
    }

    fn come_back(to: &mut Admission, ticket: &ResumeTicket, after: u64) -> Result<Pass, Refused> {
        to.admit(UnixTime(START.0 + after), Shown::ResumeTicket(ticket.as_bytes()), 1)
    }

    #[test]
    fn a_token_admits_once_within_its_time() {
        let mut door = admission(8, START);
        let alice = token("alice", 10);
        assert_eq!(show(&mut door, &alice, 9), Err(Refused::Untimely));
        let pass = show(&mut door, &alice, 10).expect("admitted");
        assert_eq!(pass.account, account("alice"));
        assert_eq!(show(&mut door, &alice, 60_009), Err(Refused::Used));
        assert_eq!(show(&mut door, &alice, 60_010), Err(Refused::Expired));
        assert_eq!(show(&mut door, &token("bob", 0), 60_000), Err(Refused::Expired));
        assert!(show(&mut door, &token("bob", 0), 59_999).is_ok());
    }

    #[test]
    fn tokens_of_another_key_another_audience_an_earlier_start_or_too_long_a_life_are_refused() {
        let mut door = admission(8, START);
        let now = UnixTime(START.0 + 10);
        let mut refused = |issuer: Issuer, issued: UnixTime, lifetime: Duration| {
            let token = issuer.issue(&account("alice"), issued, lifetime);
            door.admit(now, Shown::Token(token.as_bytes()), 1).map(|_| ())
        };
        assert_eq!(refused(Issuer::new(&[8; 32], "arena"), now, MINUTE), Err(Refused::Forged));
        assert_eq!(refused(Issuer::new(&[7; 32], "other"), now, MINUTE), Err(Refused::Foreign));
        assert_eq!(refused(issuer(), UnixTime(START.0 - 1), MINUTE), Err(Refused::BeforeStart));
        assert_eq!(refused(issuer(), now, 11 * MINUTE), Err(Refused::Untimely));
        assert_eq!(refused(issuer(), START, MINUTE), Ok(()));
    }

    #[test]
    fn an_insecure_token_admits_at_once_though_the_clocks_are_minutes_apart() {
        let start = UnixTime(10_000_000);
        for client in [start.0 - 4 * 60_000, start.0, start.0 + 4 * 60_000] {
            let mut door = Admission::new(Access::insecure_development(), 8, start);
            let token = Token::insecure(&account("alice"), UnixTime(client));
            assert!(door.admit(start, Shown::Token(token.as_bytes()), 1).is_ok(), "{client}");
            assert_eq!(door.admit(start, Shown::Token(token.as_bytes()), 1).err(), Some(Refused::Used));
        }
    }

    #[test]
    fn a_full_server_says_so_and_leaves_the_token_for_later() {
        let mut door = admission(1, START);
        let first = show(&mut door, &token("alice", 0), 1).expect("a place");
        let waiting = token("bob", 0);
        assert_eq!(show(&mut door, &waiting, 2), Err(Refused::Full));
        door.free(&account("alice"), first.place);
        assert!(show(&mut door, &waiting, 3).is_ok());
        assert_eq!(come_back(&mut door, &first.ticket, 4).err(), Some(Refused::Full));
    }

    #[test]
    fn a_player_has_one_place_and_the_newest_connection_has_it() {
        let mut door = admission(1, START);
        let first = show(&mut door, &token("alice", 0), 1).expect("a place");
        let second = show(&mut door, &token("alice", 1), 2).expect("the same place");
        let third = come_back(&mut door, &first.ticket, 3).expect("the same place");
        assert_eq!((second.place, third.place), (first.place, first.place));
        assert!(first.connection < second.connection && second.connection < third.connection);
    }

    #[test]
    fn a_ticket_rejoins_until_it_expires_also_after_a_restart_with_the_same_key() {
        let mut door = admission(8, START);
        let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
        assert_eq!(come_back(&mut door, &pass.ticket, 599_999).map(|back| back.place), Ok(pass.place));
        assert_eq!(come_back(&mut door, &pass.ticket, 600_000).err(), Some(Refused::Expired));
        let mut again = admission(8, UnixTime(START.0 + 5_000));
        assert_eq!(come_back(&mut again, &pass.ticket, 6_000).map(|back| back.place), Ok(pass.place));
        assert_eq!(show(&mut again, &token("alice", 4_999), 6_000).err(), Some(Refused::BeforeStart));
        let mut other = Admission::new(Access::new("arena", issuer().public_key()), 8, START);
        assert_eq!(come_back(&mut other, &pass.ticket, 1).err(), Some(Refused::Forged));
    }

    #[test]
    fn the_ticket_of_a_session_that_was_ended_is_refused_and_a_new_token_begins_another() {
        let mut door = admission(8, START);
        let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
        door.end(START, &pass.account, pass.place);
        assert_eq!(come_back(&mut door, &pass.ticket, 1).err(), Some(Refused::Ended));
        let next = show(&mut door, &token("alice", 1), 2).expect("a new place");
        assert_ne!(next.place, pass.place);
        assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Ended));
    }

    #[test]
    fn a_draining_server_takes_back_its_players_and_nobody_else() {
        let mut door = admission(8, START);
        let pass = show(&mut door, &token("alice", 0), 0).expect("a place");
        door.drain();
        assert_eq!(show(&mut door, &token("bob", 0), 1), Err(Refused::Draining));
        assert!(come_back(&mut door, &pass.ticket, 2).is_ok());
        door.free(&pass.account, pass.place);
        assert_eq!(come_back(&mut door, &pass.ticket, 3).err(), Some(Refused::Draining));
    }

    #[test]
    fn what_is_remembered_of_tokens_is_forgotten_when_they_have_expired() {
        let mut door = admission(8, START);
        for minute in 0..10 {
            let at = minute * 60_000;
            let pass = show(&mut door, &token("alice", at), at).expect("a place");
            door.end(UnixTime(START.0 + at), &pass.account, pass.place);
        }
        assert_eq!((door.used.len(), door.ended.len()), (1, 10));
        let late = 40 * 60_000;
        assert!(show(&mut door, &token("alice", late), late).is_ok());
        assert_eq!((door.used.len(), door.ended.len()), (1, 0));
    }
}
