//! Who may come in: tokens and tickets judged, places given. Time and random numbers are arguments.
//!
//! A place belongs to an account and has a session number. That number is the [`PeerId`] of the place, and the nonce
//! that its client says hello with: the server chooses it, tells it to nobody else, and hears a hello over a connection
//! only when it is the connection's own. So nobody takes another's place by a guessed or replayed nonce.

use crate::account::{Account, UnixTime};
use crate::control::{Control, Refused, Shown};
use crate::credential::ResumeTicket;
use crate::native::budget::Budgets;
use crate::native::clock::Moment;
use crate::native::limits::Limits;
use crate::native::network::{network, network_of};
use crate::native::places::{Place, Places};
use crate::native::tickets::Tickets;
use crate::native::token::{self, Claims};
use foretell::{Instant, PeerId};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How many used tokens and networks are remembered, each; beyond the tokens nobody comes until some have expired.
const REMEMBERED_MAX: usize = 65_536;
/// The clock of who issues tokens may be ahead of the server's by so much.
const AHEAD_MAX: Duration = Duration::from_secs(2);
/// The start of the server is known to so much by the clock of who issues tokens, as that shows milliseconds.
const ROUNDING: Duration = Duration::from_millis(2);
/// How often an account may be admitted at once.
const ADMISSIONS_AT_ONCE: usize = 10;
/// How many new players may come at once where there are fewer places than that.
const JOINS_AT_ONCE: usize = 16;
/// So many joins at once are left for players from networks of which nobody has come lately.
const LEFT_FOR_STRANGERS: u32 = 8;
/// Those of IPv6 are one network with so many bits the same.
const STRANGER_BITS: u32 = 48;

/// Who may play on a server, and by whose word.
#[derive(Clone, PartialEq, Eq)]
pub struct Access {
    /// Which servers a token is for: the name that the issuer puts into it. 1 to 64 bytes.
    pub audience: String,
    /// The public key of the issuer ([`Issuer::public_key`](crate::Issuer::public_key)).
    pub token_key: [u8; 32],
    /// Tokens that live for longer are refused: so long used ones have to be remembered. Default 10 minutes.
    pub token_lifetime_max: Duration,
    /// For so long a ticket can be used. It is renewed every minute, so this is the longest pause. Default 10 minutes.
    pub ticket_lifetime: Duration,
    /// The file that keeps the key of tickets, and which of them were ended by a good-bye, a removal or a newer login;
    /// it is made where there is none, readable to nobody else, and belongs to one server. `None`, the default, has a new key at each start:
    /// then tickets end with the server.
    pub tickets_kept_in: Option<PathBuf>,
    /// Set by [`Access::insecure_development`] alone.
    pub(crate) insecure: bool,
}

impl Access {
    /// Access for players with tokens of one issuer.
    pub fn new(audience: &str, token_key: [u8; 32]) -> Access {
        Access {
            audience: audience.into(),
            token_key,
            token_lifetime_max: Duration::from_secs(600),
            ticket_lifetime: Duration::from_secs(600),
            tickets_kept_in: None,
            insecure: false,
        }
    }
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

impl Pass {
    /// What the player is told of it, first of all.
    pub(crate) fn answer(&self) -> Vec<u8> {
        Control::Admitted { session: self.place.0, ticket: self.ticket.as_bytes() }.framed()
    }
}

/// How fast who comes.
struct Rates {
    of_account: Budgets<Account>,
    of_network: Budgets<IpAddr>,
    of_all: Budgets<()>,
}

/// All places, and what is remembered of tokens and tickets.
pub(crate) struct Admission {
    access: Access,
    tickets: Tickets,
    /// When the server was started. What that is by the clock of the world is asked by what it shows now: it may have been set.
    start: Instant,
    places: Places,
    /// Places of lost players that were given to others from the same address.
    given_away: Vec<Place>,
    rates: Rates,
    connections: u64,
    used: BTreeMap<[u8; 16], Used>,
    /// From where the players have come that have tickets, until those have expired.
    known: BTreeMap<IpAddr, Instant>,
    draining: bool,
}

/// A used token is remembered until it has expired, by both clocks: one of them may be set.
#[derive(Clone, Copy, Debug)]
struct Used {
    expires: UnixTime,
    until: Instant,
}

impl Admission {
    pub(crate) fn new(
        access: Access,
        places_max: usize,
        limits: &Limits,
        tickets: Tickets,
        start: Instant,
    ) -> Admission {
        let rates = Rates {
            of_account: Budgets::new(ADMISSIONS_AT_ONCE, limits.admissions_per_account_per_minute),
            of_network: Budgets::new(limits.per_address_max.max(JOINS_AT_ONCE), limits.joins_per_address_per_minute),
            of_all: Budgets::new(places_max.max(JOINS_AT_ONCE), limits.joins_per_second.saturating_mul(60)),
        };
        let places = Places::new(places_max, limits.per_address_max);
        let (given_away, used, known) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Admission { access, tickets, start, places, given_away, rates, connections: 0, used, known, draining: false }
    }

    /// Judges what a connection from an address has shown. `fresh` is a random number, for a session that begins.
    pub(crate) fn admit(&mut self, now: Moment, shown: Shown<'_>, from: IpAddr, fresh: u64) -> Result<Pass, Refused> {
        self.forget_expired(now);
        let (account, session, token) = match shown {
            Shown::Token(token) => {
                let claims = self.check_token(now, token)?;
                let session = self.places.get(&claims.account).map_or(fresh, |place| place.session);
                let until = now.steady + self.access.token_lifetime_max;
                (claims.account, session, Some((claims.id, Used { expires: claims.expires, until })))
            }
            Shown::ResumeTicket(ticket) => {
                let says = self.tickets.judge(now.date, ticket)?;
                if self.places.get(&says.account).is_some_and(|place| place.session != says.session) {
                    return Err(Refused::Ended);
                }
                (says.account, says.session, None)
            }
        };
        let is_newer_login = token.is_some() && self.places.get(&account).is_some();
        // Who does not get in keeps the token.
        self.make_room(now.steady, &account, from)?;
        if is_newer_login {
            // Else a program that still runs elsewhere would take the place back, and this one again.
            self.end_tickets(now.date, &account);
        }
        self.used.extend(token);
        self.rates.of_account.spend(now.steady, account.clone());
        self.connections += 1;
        let connection = self.connections;
        self.places.take(account.clone(), Place { session, connection, from });
        let ticket = self.ticket(now, &account, session, from);
        Ok(Pass { account, place: PeerId(session), connection, ticket })
    }

    /// How long a token is from the future, where that may be: the issuer's clock is ahead. It is admitted once its time has
    /// come. If it were before, it could be used again after a restart.
    pub(crate) fn early_by(&self, now: UnixTime, shown: Shown<'_>) -> Duration {
        let Shown::Token(token) = shown else { return Duration::ZERO };
        let claims = token::verify(&self.access.token_key, token);
        let early = claims.map_or(Duration::ZERO, |claims| claims.issued.since(now));
        if early <= AHEAD_MAX { early } else { Duration::ZERO }
    }

    fn check_token(&self, now: Moment, token: &[u8]) -> Result<Claims, Refused> {
        let claims = token::verify(&self.access.token_key, token).ok_or(Refused::Forged)?;
        if *claims.audience != *self.access.audience {
            return Err(Refused::Foreign);
        }
        if claims.expires <= now.date {
            return Err(Refused::Expired);
        }
        // A token from the future could be used before a restart and again after it.
        let lifetime = claims.expires.since(claims.issued);
        if claims.issued > now.date || lifetime > self.access.token_lifetime_max {
            return Err(Refused::Untimely);
        }
        // Where anybody can make tokens, one that is used twice is no loss.
        let start = now.date.before(now.steady.since(self.start) + ROUNDING);
        if claims.issued < start && !self.access.insecure {
            return Err(Refused::BeforeStart);
        }
        if self.used.contains_key(&claims.id) {
            return Err(Refused::Used);
        }
        if self.used.len() >= REMEMBERED_MAX {
            return Err(Refused::Busy);
        }
        Ok(claims)
    }

    /// Sees to it that there is a place for an account: the one that it has, or another. Who is lost at the same address may have to
    /// leave theirs.
    fn make_room(&mut self, now: Instant, account: &Account, from: IpAddr) -> Result<(), Refused> {
        if !self.rates.of_account.allows(now, account) {
            return Err(Refused::Busy);
        }
        let is_new = self.places.get(account).is_none();
        if is_new && self.draining {
            return Err(Refused::Draining);
        }
        let leaves = self.places.room(now, account, from)?;
        if is_new {
            self.spend_join(now, from)?;
        }
        self.given_away.extend(leaves.and_then(|lost| self.places.give_away(&lost)));
        Ok(())
    }

    /// New players come as fast as is good for the others. Who comes and goes all the time leaves room for those who come
    /// for the first time.
    fn spend_join(&mut self, now: Instant, from: IpAddr) -> Result<(), Refused> {
        let network = network(from);
        let left = if self.is_stranger(from) { 0 } else { LEFT_FOR_STRANGERS };
        if !self.rates.of_network.allows(now, &network) || !self.rates.of_all.allows_beside(left, now, &()) {
            return Err(Refused::Busy);
        }
        self.rates.of_network.spend(now, network);
        self.rates.of_all.spend(now, ());
        Ok(())
    }

    fn is_stranger(&self, from: IpAddr) -> bool {
        let wide = |network| network_of(network, STRANGER_BITS);
        let mut from_there_on = self.known.range(wide(from)..);
        from_there_on.next().is_none_or(|(network, _)| wide(*network) != wide(from))
    }

    /// Whether somebody was admitted for the sake of who is lost.
    pub(crate) fn is_overfull(&self) -> bool {
        self.places.are_overfull()
    }

    /// Whose places were given away since this was asked last: they have to leave.
    pub(crate) fn take_given_away(&mut self) -> Vec<Place> {
        std::mem::take(&mut self.given_away)
    }

    /// A newer ticket for who has a place over this connection; one that was replaced gets none.
    pub(crate) fn renew(&mut self, now: Moment, account: &Account, connection: u64) -> Option<ResumeTicket> {
        let Place { session, from, .. } = *self.places.get(account).filter(|place| place.connection == connection)?;
        Some(self.ticket(now, account, session, from))
    }

    fn ticket(&mut self, now: Moment, account: &Account, session: u64, from: IpAddr) -> ResumeTicket {
        if self.known.len() < REMEMBERED_MAX {
            self.known.insert(network(from), now.steady + self.access.ticket_lifetime);
        }
        self.tickets.issue(account, session, now.date.after(self.access.ticket_lifetime))
    }

    /// Whether players have come from there that may come back.
    pub(crate) fn knows(&self, from: IpAddr) -> bool {
        self.known.contains_key(&network(from))
    }

    /// The player of a place is lost, or their connection is over.
    pub(crate) fn lose(&mut self, now: Instant, account: &Account, place: PeerId, connection: u64) {
        self.places.lose(now, account, place.0, connection);
    }

    /// A lost player is back over the same connection.
    pub(crate) fn come_back(&mut self, account: &Account, place: PeerId) {
        self.places.come_back(account, place.0);
    }

    /// Whether an account still has this place.
    pub(crate) fn has_place(&self, account: &Account, place: PeerId) -> bool {
        self.places.get(account).is_some_and(|known| known.session == place.0)
    }

    /// The place of an account is free again, unless there is a newer connection to it. Its ticket may still be used, for
    /// another one.
    pub(crate) fn free(&mut self, account: &Account, place: PeerId, connection: u64) {
        if self.places.get(account).is_some_and(|known| known.connection <= connection) {
            self.places.free(account, place.0);
        }
    }

    /// A player has left for good, or was removed: no ticket that was made for the account until now means anything any
    /// more. Where the account has begun another session meanwhile, that was said before.
    pub(crate) fn end(&mut self, now: UnixTime, account: &Account, place: PeerId) {
        if self.places.get(account).is_none_or(|known| known.session == place.0) {
            self.places.free(account, place.0);
            self.end_tickets(now, account);
        }
    }

    /// The same for whoever it is, with a place or with a ticket alone.
    pub(crate) fn remove(&mut self, now: UnixTime, account: &Account) {
        self.places.give_away(account);
        self.end_tickets(now, account);
    }

    fn end_tickets(&mut self, now: UnixTime, account: &Account) {
        self.tickets.end(account, now.after(self.access.ticket_lifetime));
    }

    /// From now on only those come in who have a place.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    fn forget_expired(&mut self, now: Moment) {
        self.used.retain(|_, used| used.expires > now.date || used.until > now.steady);
        self.known.retain(|_, until| *until > now.steady);
        self.tickets.forget_expired(now.date);
    }
}

#[cfg(test)]
mod tests;
