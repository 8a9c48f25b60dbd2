//! What one client has asked for in shared mode, and what it was told.

use crate::session::authority_codec::{ANSWERS_MAX, Answer, HoldRefusal, Request};
use crate::time::{Instant, Tick};
use crate::world::Entity;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

/// How often a player may ask for authority in a second.
const ASKED_PER_SECOND: usize = 10;
/// How many ticks after the end of a hold its rows may still be on their way: 2 s at 64 Hz.
const LATE_TICKS: u32 = 128;

/// One request that was answered.
#[derive(Clone, Copy, Debug)]
struct Answered {
    entity: Entity,
    answer: Answer,
    /// Before the step of which tick it was answered.
    at: Tick,
    /// Since when nothing is held by it.
    ended: Option<Tick>,
}

/// The requests of one client. Lives as long as whoever has the place.
#[derive(Clone, Debug)]
pub(super) struct AuthorityRequests {
    newest: Option<u16>,
    /// Oldest first, `len <= ANSWERS_MAX`.
    done: VecDeque<Answered>,
    /// When it has last asked, oldest first; `len <= ASKED_PER_SECOND`.
    times: VecDeque<Instant>,
}

impl AuthorityRequests {
    pub(super) fn new() -> AuthorityRequests {
        AuthorityRequests {
            newest: None,
            done: VecDeque::with_capacity(ANSWERS_MAX),
            times: VecDeque::with_capacity(ASKED_PER_SECOND),
        }
    }

    /// Somebody else has the place, and begins anew.
    pub(super) fn forget(&mut self) {
        self.newest = None;
        self.done.clear();
    }

    /// Whether a request was not answered yet.
    pub(super) fn is_new(&self, number: u16) -> bool {
        self.newest.is_none_or(|newest| number.wrapping_sub(newest).cast_signed() > 0)
    }

    /// Whether the player may ask again; counts as having asked.
    pub(super) fn may_ask(&mut self, now: Instant) -> bool {
        if self.times.len() == ASKED_PER_SECOND {
            if now.since(self.times[0]) < Duration::from_secs(1) {
                return false;
            }
            self.times.pop_front();
        }
        self.times.push_back(now);
        true
    }

    pub(super) fn note(&mut self, request: &Request, refused: Option<HoldRefusal>, at: Tick) {
        self.newest = Some(request.number);
        if self.done.len() == ANSWERS_MAX {
            self.done.pop_front();
        }
        let answer = Answer { number: request.number, refused };
        let ended = (refused.is_some() || request.claim.is_none()).then_some(at);
        self.done.push_back(Answered { entity: request.entity, answer, at, ended });
    }

    /// What the client may not know, when it has the snapshot of `known`.
    pub(super) fn tell(&self, known: Option<Tick>, into: &mut Vec<Answer>) {
        let open = self.done.iter().filter(|done| known.is_none_or(|known| known <= done.at));
        into.extend(open.map(|done| done.answer));
    }

    /// Whether a row under this request may have been on its way before the client can have known better.
    pub(super) fn may_be_late(&self, entity: Entity, request: u16, next: Tick) -> bool {
        let found = self.done.iter().find(|done| (done.entity, done.answer.number) == (entity, request));
        found.is_some_and(|done| done.ended.is_none_or(|ended| next.since(ended) <= LATE_TICKS))
    }

    /// What its player held is theirs no more.
    pub(super) fn note_end(&mut self, entity: Entity, at: Tick) {
        for done in self.done.iter_mut().filter(|done| done.entity == entity) {
            done.ended = done.ended.or(Some(at));
        }
    }
}
