//! Who may come in: tokens and tickets judged, places given. Time and random numbers are arguments.
//!
//! A place belongs to an account and has a session number. That number is the [`PeerId`] of the place, and the nonce
//! that its client says hello with: the server chooses it, tells it to nobody else, and hears a hello over a connection
//! only when it is the connection's own. So nobody takes another's place by a guessed or replayed nonce.

use crate::control::{Refused, Shown};
use crate::credential::ResumeTicket;
use crate::native::account::{Account, UnixTime};
use crate::native::budget::Budgets;
use crate::native::ended::Ended;
use crate::native::limits::Limits;
use crate::native::network::network;
use crate::native::places::{Place, Places};
use crate::native::ticket::{Resumption, TicketKey};
use crate::native::token::{self, Claims};
use foretell::PeerId;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How many used tokens, accounts with ended tickets, and networks are remembered, each; beyond the first two nobody comes
/// until some have expired.
const REMEMBERED_MAX: usize = 65_536;
/// The clock of who issues tokens may be ahead of the server's by so much.
const AHEAD_MAX: Duration = Duration::from_secs(2);
/// How often an account may be admitted at once.
const ADMISSIONS_AT_ONCE: usize = 10;
/// How many new players may come at once where there are fewer places than that.
const JOINS_AT_ONCE: usize = 16;

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
    /// The file that keeps whose tickets were ended by a good-bye or a removal; it is made where there is none. `None`, the
    /// default, forgets it with the server: then give no `ticket_key`, either.
    pub ended_tickets: Option<PathBuf>,
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
            ended_tickets: None,
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

/// How fast who comes.
struct Rates {
    of_account: Budgets<Account>,
    of_network: Budgets<IpAddr>,
    of_all: Budgets<()>,
}

/// All places, and what is remembered of tokens and tickets.
pub(crate) struct Admission {
    access: Access,
    key: TicketKey,
    /// When the server was started.
    start: UnixTime,
    places: Places,
    rates: Rates,
    connections: u64,
    /// Used tokens, until they expire anyway.
    used: BTreeMap<[u8; 16], UnixTime>,
    ended: Ended,
    /// When a ticket was made last; it never goes back, and is later than the end of any ticket.
    stamp: UnixTime,
    /// From where the players have come that have tickets, until those have expired.
    known: BTreeMap<IpAddr, UnixTime>,
    draining: bool,
}

impl Admission {
    pub(crate) fn new(
        access: Access,
        (places_max, limits): (usize, &Limits),
        ended: Ended,
        start: UnixTime,
    ) -> Admission {
        let key = access.ticket_key.unwrap_or_else(token::random);
        let key = TicketKey::new(&key, &access.audience);
        let rates = Rates {
            of_account: Budgets::new(ADMISSIONS_AT_ONCE, limits.admissions_per_account_per_minute),
            of_network: Budgets::new(limits.per_address_max.max(JOINS_AT_ONCE), limits.joins_per_address_per_minute),
            of_all: Budgets::new(places_max.max(JOINS_AT_ONCE), limits.joins_per_second.saturating_mul(60)),
        };
        let places = Places::new(places_max, limits.per_address_max);
        let stamp = start.max(ended.newest().after(MILLISECOND));
        let (used, known) = (BTreeMap::new(), BTreeMap::new());
        Admission { access, key, start, places, rates, connections: 0, used, ended, stamp, known, draining: false }
    }

    /// Judges what a connection from an address has shown. `fresh` is a random number, for a session that begins.
    pub(crate) fn admit(&mut self, now: UnixTime, shown: Shown<'_>, from: IpAddr, fresh: u64) -> Result<Pass, Refused> {
        self.forget_expired(now);
        let (account, session, token) = match shown {
            Shown::Token(token) => {
                let claims = self.check_token(now, token)?;
                let session = self.places.get(&claims.account).map_or(fresh, |place| place.session);
                (claims.account, session, Some((claims.id, claims.expires)))
            }
            Shown::ResumeTicket(ticket) => {
                let says = self.check_ticket(now, ticket)?;
                (says.account, says.session, None)
            }
        };
        // Who does not get in keeps the token.
        self.make_room(now, &account, from)?;
        self.used.extend(token);
        self.rates.of_account.spend(now, account.clone());
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

    fn check_token(&self, now: UnixTime, token: &[u8]) -> Result<Claims, Refused> {
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
        if self.used.len() >= REMEMBERED_MAX {
            return Err(Refused::Busy);
        }
        Ok(claims)
    }

    fn check_ticket(&self, now: UnixTime, ticket: &[u8]) -> Result<Resumption, Refused> {
        let says = self.key.open(ticket).ok_or(Refused::Forged)?;
        if says.expires <= now {
            return Err(Refused::Expired);
        }
        let newer = self.places.get(&says.account).is_some_and(|place| place.session != says.session);
        if newer || self.ended.at(&says.account).is_some_and(|at| says.issued <= at) {
            return Err(Refused::Ended);
        }
        Ok(says)
    }

    /// Sees to it that there is a place for an account: the one that it has, or another. Who is lost may have to leave theirs.
    fn make_room(&mut self, now: UnixTime, account: &Account, from: IpAddr) -> Result<(), Refused> {
        if !self.rates.of_account.allows(now, account) {
            return Err(Refused::Busy);
        }
        if self.places.get(account).is_some() {
            return Ok(());
        }
        if self.draining {
            return Err(Refused::Draining);
        }
        if self.ended.len() >= REMEMBERED_MAX {
            return Err(Refused::Full);
        }
        let leaves = self.places.room(from)?;
        let network = network(from);
        if !self.rates.of_network.allows(now, &network) || !self.rates.of_all.allows(now, &()) {
            return Err(Refused::Busy);
        }
        self.rates.of_network.spend(now, network);
        self.rates.of_all.spend(now, ());
        // The session does the same once it is full: nothing has to be said to it.
        if let Some((account, session)) = leaves.and_then(|lost| Some((lost.clone(), self.places.get(&lost)?.session)))
        {
            self.places.free(&account, session);
        }
        Ok(())
    }

    /// A newer ticket for who has a place.
    pub(crate) fn renew(&mut self, now: UnixTime, account: &Account) -> Option<ResumeTicket> {
        let Place { session, from, .. } = *self.places.get(account)?;
        Some(self.ticket(now, account, session, from))
    }

    fn ticket(&mut self, now: UnixTime, account: &Account, session: u64, from: IpAddr) -> ResumeTicket {
        let expires = now.after(self.access.ticket_lifetime);
        if self.known.len() < REMEMBERED_MAX {
            self.known.insert(network(from), expires);
        }
        self.stamp = self.stamp.max(now);
        self.key.seal(&Resumption { account: account.clone(), session, expires, issued: self.stamp })
    }

    /// Whether players have come from there that may come back.
    pub(crate) fn knows(&self, from: IpAddr) -> bool {
        self.known.contains_key(&network(from))
    }

    /// The player of a place is lost.
    pub(crate) fn lose(&mut self, account: &Account, place: PeerId) {
        self.places.lose(account, place.0);
    }

    /// A lost player is back over a connection from an address, without having been admitted anew.
    pub(crate) fn come_back(&mut self, account: &Account, place: PeerId, (connection, from): (u64, IpAddr)) {
        if self.places.get(account).is_none_or(|known| known.session == place.0) {
            self.places.take(account.clone(), Place { session: place.0, connection, from });
        }
    }

    /// The place of an account is free again. Its ticket may still be used, for another one.
    pub(crate) fn free(&mut self, account: &Account, place: PeerId) {
        self.places.free(account, place.0);
    }

    /// A player has left for good, or was removed: no ticket that was made for the account until now means anything any
    /// more. Where the account has begun another session meanwhile, that was said before.
    pub(crate) fn end(&mut self, now: UnixTime, account: &Account, place: PeerId) {
        if self.places.get(account).is_none_or(|known| known.session == place.0) {
            self.places.free(account, place.0);
            self.end_tickets(now, account);
        }
    }

    /// The same for who may have no place: the tickets of an account mean nothing any more.
    pub(crate) fn end_tickets(&mut self, now: UnixTime, account: &Account) {
        let at = self.stamp.max(now);
        self.stamp = at.after(MILLISECOND);
        self.ended.note(account, at, at.after(self.access.ticket_lifetime));
    }

    /// From now on only those come in who have a place.
    pub(crate) fn drain(&mut self) {
        self.draining = true;
    }

    fn forget_expired(&mut self, now: UnixTime) {
        self.used.retain(|_, expires| *expires > now);
        self.known.retain(|_, until| *until > now);
        self.ended.forget_expired(now);
    }
}

/// Ends and tickets of different sessions are at least so far apart.
const MILLISECOND: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests;
