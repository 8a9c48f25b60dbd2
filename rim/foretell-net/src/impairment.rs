//! A worse network than there is: datagrams of one client delayed and lost on their way to the transport and from it, as a
//! link of [`foretell_sim::netsim`] does it. What is measured over it, round trip and losses, is as real as with such a network.
//!
//! Invariants: with perfect conditions and nothing in flight a datagram is handed on as it is, in the same call. The reliable
//! stream is left alone: tickets and good-byes, nothing of the session.

use crate::transport::{Came, Transport};
use foretell::Instant;
use foretell_sim::netsim::{Conditions, ConditionsError, Link};

/// What a player's own network does to datagrams beyond what it does anyway, each way. Default of
/// [`Player`](crate::Player): nothing.
///
/// What is due goes out with an update, so at 60 of them per second up to 17 ms later than asked for; what has come in counts
/// as of when it was due.
#[derive(Debug)]
pub struct Impairment {
    conditions: Conditions,
    up: Link,
    down: Link,
    /// Links know no way back in time, and what has come may have been stamped before it was looked at last.
    latest: Instant,
}

impl Impairment {
    /// Nothing yet. The same seed, datagrams and times come to the same losses.
    pub(crate) fn new(seed: u64) -> Impairment {
        let [up, down] = [0, 1].map(|way| Link::new(seed ^ way, seed ^ way ^ 2));
        Impairment { conditions: Conditions::default(), up, down, latest: Instant::ZERO }
    }

    /// From now on each way does this. What is in flight keeps its time.
    ///
    /// # Errors
    /// The first field that is out of its range; then all stays as it is.
    pub fn set(&mut self, conditions: Conditions) -> Result<(), ConditionsError> {
        conditions.validate()?;
        self.conditions = conditions;
        Ok(())
    }

    /// What each way does.
    pub fn conditions(&self) -> &Conditions {
        &self.conditions
    }

    /// Sends a datagram, or lets it wait, or loses it.
    pub(crate) fn send(&mut self, now: Instant, datagram: &[u8], transport: &mut dyn Transport) {
        if self.is_nothing(&self.up) {
            // What the path does not take is lost, as anything may be.
            let _ = transport.send(datagram);
            return;
        }
        let now = self.at(now);
        self.up.send(now, datagram, &self.conditions);
        self.let_go(now, transport);
    }

    /// Sends what is due.
    pub(crate) fn let_go(&mut self, now: Instant, transport: &mut dyn Transport) {
        let now = self.at(now);
        while let Some(due) = self.up.receive(now) {
            let _ = transport.send(due.bytes);
        }
    }

    /// Takes out what the transport has, and gives what is due.
    pub(crate) fn drain(&mut self, now: Instant, transport: &mut dyn Transport, each: &mut dyn FnMut(Came<'_>)) {
        if self.is_nothing(&self.down) {
            transport.drain(each);
            return;
        }
        transport.drain(&mut |came| match came {
            Came::Datagram(at, bytes) => {
                let at = self.at(at);
                self.down.send(at, bytes, &self.conditions);
            }
            Came::Message(_) => each(came),
        });
        let now = self.at(now);
        while let Some(due) = self.down.receive(now) {
            each(Came::Datagram(due.due, due.bytes));
        }
    }

    fn is_nothing(&self, link: &Link) -> bool {
        self.conditions == Conditions::default() && link.in_flight() == 0
    }

    /// The time, which never runs backwards.
    fn at(&mut self, now: Instant) -> Instant {
        self.latest = self.latest.max(now);
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::{Closed, PathFacts, Unsent};
    use foretell_sim::netsim::Loss;
    use std::time::Duration;

    /// Keeps what is sent, and has what it was given.
    #[derive(Default)]
    struct Wire {
        sent: Vec<u8>,
        came: Vec<(Instant, u8)>,
        told: Vec<u8>,
    }

    impl Transport for Wire {
        fn send(&mut self, datagram: &[u8]) -> Result<(), Unsent> {
            self.sent.push(datagram[0]);
            Ok(())
        }

        fn tell(&mut self, _: &[u8]) -> Result<(), Unsent> {
            Ok(())
        }

        fn drain(&mut self, each: &mut dyn FnMut(Came<'_>)) {
            self.told.drain(..).for_each(|message| each(Came::Message(&[message])));
            self.came.drain(..).for_each(|(at, number)| each(Came::Datagram(at, &[number])));
        }

        fn path(&self) -> PathFacts {
            PathFacts::default()
        }

        fn closed(&self) -> Option<Closed> {
            None
        }

        fn close(&mut self, _: Closed) {}
    }

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u32) -> Instant {
        Instant::ZERO + MS * ms
    }

    fn impaired(latency: Duration, loss: f64) -> Impairment {
        let mut impairment = Impairment::new(7);
        let conditions = Conditions { latency, loss: Loss::Uniform(loss), ..Conditions::default() };
        impairment.set(conditions).expect("in range");
        impairment
    }

    fn drained(impairment: &mut Impairment, now: Instant, wire: &mut Wire) -> Vec<(Instant, u8)> {
        let mut drained = Vec::new();
        impairment.drain(now, wire, &mut |came| match came {
            Came::Datagram(at, bytes) => drained.push((at, bytes[0])),
            Came::Message(bytes) => drained.push((Instant::ZERO, bytes[0])),
        });
        drained
    }

    #[test]
    fn datagrams_take_as_much_longer_as_was_asked_for_each_way_and_messages_do_not() {
        let (mut impairment, mut wire) = (impaired(MS * 50, 0.0), Wire::default());
        impairment.send(at(100), &[1], &mut wire);
        impairment.let_go(at(149), &mut wire);
        assert!(wire.sent.is_empty());
        impairment.let_go(at(150), &mut wire);
        assert_eq!(wire.sent, [1]);
        (wire.came, wire.told) = (vec![(at(140), 2)], vec![3]);
        assert_eq!(drained(&mut impairment, at(151), &mut wire), [(Instant::ZERO, 3)]);
        // It was stamped before the clock was read last, and counts as of then.
        assert_eq!(drained(&mut impairment, at(200), &mut wire), [(at(200), 2)]);
    }

    #[test]
    fn a_fifth_is_lost_each_way_where_that_is_asked_for_and_the_same_by_the_same_seed() {
        let run = || {
            let (mut impairment, mut wire) = (impaired(Duration::ZERO, 0.2), Wire::default());
            let mut came = 0;
            for ms in 0..1000 {
                impairment.send(at(ms), &[u8::try_from(ms % 200).expect("small")], &mut wire);
                wire.came.push((at(ms), 0));
                came += drained(&mut impairment, at(ms), &mut wire).len();
            }
            (wire.sent, came)
        };
        let (sent, came) = run();
        assert!((750..850).contains(&sent.len()) && (750..850).contains(&came), "{} {came}", sent.len());
        assert_ne!(sent.len(), came, "each way has losses of its own");
        assert_eq!(run(), (sent, came));
    }

    #[test]
    fn with_nothing_asked_for_datagrams_pass_as_they_are_and_what_is_in_flight_still_comes() {
        let (mut impairment, mut wire) = (Impairment::new(7), Wire::default());
        impairment.send(at(10), &[1], &mut wire);
        wire.came.push((at(9), 2));
        assert_eq!(drained(&mut impairment, at(10), &mut wire), [(at(9), 2)]);
        assert_eq!((wire.sent.as_slice(), impairment.up.stats().sent, impairment.down.stats().sent), (&[1][..], 0, 0));
        impairment.set(Conditions { latency: MS * 100, ..Conditions::default() }).expect("in range");
        impairment.send(at(20), &[3], &mut wire);
        impairment.set(Conditions::default()).expect("in range");
        impairment.send(at(30), &[4], &mut wire);
        assert_eq!(wire.sent, [1, 4]);
        impairment.let_go(at(120), &mut wire);
        assert_eq!(wire.sent, [1, 4, 3]);
        let too_long = Conditions { latency: MS * 10_001, ..Conditions::default() };
        assert!(impairment.set(too_long).is_err() && *impairment.conditions() == Conditions::default());
    }
}
