//! What has come over a connection and was not taken yet, of bounded size.

use crate::control::Control;
use crate::transport::{Came, Closed};
use foretell::Instant;
use foretell::session::DATAGRAM_MAX;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many datagrams are taken in: of more the newest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quota {
    /// So many at once.
    pub at_once: usize,
    /// And so many per [`Inbox::drain`] in the long run.
    pub per_drain: usize,
    /// Whether the other end is a server, of whose tickets the newest is all that counts.
    pub has_tickets: bool,
}

impl Quota {
    /// From a server: a tick is 8 of them at most, so this is more than a stall of 100 ms.
    pub(crate) const FROM_SERVER: Quota = Quota { at_once: 64, per_drain: 64, has_tickets: true };
    /// From a client, which sends one of inputs in each tick, and messages in two at most; a little more, as its clock may gain. What
    /// comes beyond that is not worth the CPU time of a tick. What a stall has heaped up is, as far as the session catches up with it, which is 8 ticks.
    #[cfg(any(not(target_arch = "wasm32"), test))]
    pub(crate) const FROM_CLIENT: Quota = Quota { at_once: 16, per_drain: 4, has_tickets: false };
}

/// How many messages wait at most. A server says few: that it ends, a refusal, and each minute a ticket, of which one waits.
const MESSAGES_MAX: usize = 16;

/// What has come and was not taken yet. Shared by the task that reads and the one that drains.
#[derive(Debug)]
pub(crate) struct Inbox {
    quota: Quota,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// Oldest first, `len <= room`.
    datagrams: VecDeque<(Instant, Vec<u8>)>,
    /// How many the next drain takes: `per_drain <= room <= at_once`.
    room: usize,
    /// Oldest first, `len <= MESSAGES_MAX`.
    messages: VecDeque<Vec<u8>>,
    closed: Option<Closed>,
}

impl Inbox {
    pub(crate) fn new(quota: Quota) -> Inbox {
        Inbox { quota, waiting: Mutex::new(Waiting { room: quota.at_once, ..Waiting::default() }) }
    }

    /// A datagram that came at `at`. Of too many the oldest are dropped; one that is longer than any of a session is too.
    pub(crate) fn datagram(&self, at: Instant, bytes: &[u8]) {
        if bytes.len() > DATAGRAM_MAX {
            return;
        }
        let mut waiting = self.lock();
        if waiting.datagrams.len() >= waiting.room {
            waiting.datagrams.pop_front();
        }
        waiting.datagrams.push_back((at, bytes.to_vec()));
    }

    /// A message. Whether there was room: a reliable stream with a hole is none. A ticket that waits is no use when a newer one
    /// has come: who takes nothing in for an hour has one.
    pub(crate) fn message(&self, bytes: Vec<u8>) -> bool {
        let mut waiting = self.lock();
        if self.quota.has_tickets && is_ticket(&bytes) {
            waiting.messages.retain(|message| !is_ticket(message));
        }
        let room = waiting.messages.len() < MESSAGES_MAX;
        if room {
            waiting.messages.push_back(bytes);
        }
        room
    }

    /// The connection is over. The first reason stands.
    pub(crate) fn close(&self, why: Closed) {
        self.lock().closed.get_or_insert(why);
    }

    pub(crate) fn closed(&self) -> Option<Closed> {
        self.lock().closed
    }

    pub(crate) fn drain(&self, each: &mut dyn FnMut(Came<'_>)) {
        let (messages, datagrams) = {
            let mut waiting = self.lock();
            let Quota { at_once, per_drain, .. } = self.quota;
            waiting.room = (waiting.room - waiting.datagrams.len() + per_drain).min(at_once);
            (std::mem::take(&mut waiting.messages), std::mem::take(&mut waiting.datagrams))
        };
        messages.iter().for_each(|message| each(Came::Message(message)));
        datagrams.iter().for_each(|(at, datagram)| each(Came::Datagram(*at, datagram)));
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Whoever panicked has left whole entries.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_ticket(message: &[u8]) -> bool {
    matches!(Control::read(message), Some(Control::ResumeTicket(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_tickets_of_a_server_the_newest_waits_and_a_client_that_sends_any_is_heard_no_further_than_others() {
        let message = |control: Control<'_>| control.framed()[2..].to_vec();
        let ticket = |number: u8| message(Control::ResumeTicket(&[number]));
        let [of_server, of_client] = [Quota::FROM_SERVER, Quota::FROM_CLIENT].map(Inbox::new);
        let draining = message(Control::Draining { seconds: 1 });
        assert!(of_server.message(draining.clone()));
        for number in 0..100 {
            assert!(of_server.message(ticket(number)));
            assert_eq!(of_client.message(ticket(number)), usize::from(number) < MESSAGES_MAX);
        }
        let mut came = Vec::new();
        of_server.drain(&mut |one| {
            if let Came::Message(bytes) = one {
                came.push(bytes.to_vec());
            }
        });
        assert_eq!(came, [draining, ticket(99)]);
    }

    #[test]
    fn an_inbox_keeps_the_newest_datagrams_and_refuses_surplus_messages() {
        let inbox = Inbox::new(Quota::FROM_SERVER);
        for number in 0..100u8 {
            inbox.datagram(Instant::from_micros(u64::from(number)), &[number]);
            assert_eq!(inbox.message(vec![number]), usize::from(number) < MESSAGES_MAX);
        }
        inbox.datagram(Instant::ZERO, &[0; DATAGRAM_MAX + 1]);
        let (mut datagrams, mut messages) = (Vec::new(), Vec::new());
        inbox.drain(&mut |came| match came {
            Came::Datagram(at, bytes) => datagrams.push((at.micros(), bytes[0])),
            Came::Message(bytes) => messages.push(bytes[0]),
        });
        assert_eq!(datagrams, (36..100).map(|number| (u64::from(number), number)).collect::<Vec<_>>());
        assert_eq!(messages, (0..16).collect::<Vec<_>>());
    }

    #[test]
    fn who_floods_an_inbox_is_heard_as_much_as_a_client_is_worth_and_in_full_again_after_a_pause() {
        let inbox = Inbox::new(Quota::FROM_CLIENT);
        let taken = |came: u8| {
            (0..came).for_each(|number| inbox.datagram(Instant::ZERO, &[number]));
            let mut taken = Vec::new();
            inbox.drain(&mut |came| {
                if let Came::Datagram(_, bytes) = came {
                    taken.push(bytes[0])
                }
            });
            taken
        };
        assert_eq!(taken(200), (184..200).collect::<Vec<_>>(), "the newest");
        for _ in 0..10 {
            assert_eq!(taken(200), [196, 197, 198, 199]);
        }
        for _ in 0..100 {
            assert_eq!(taken(3), [0, 1, 2], "who sends inputs and messages as a client does is always heard");
        }
        assert_eq!(taken(200).len(), 16);
    }
}
