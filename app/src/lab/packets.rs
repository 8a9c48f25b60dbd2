//! The datagrams of the last seconds between the person and the server: what they held, and what became of them.
//!
//! Seen by the harness when they are sent; a link knows then already what it will do to each.

use foretell::harness::Sent;
use foretell::netsim::Fate;
use foretell::session::{Peek, peek};
use foretell::{Instant, Tick};
use serde::Serialize;
use std::collections::VecDeque;

/// How many of each sort are remembered: those of 8 s at 128 Hz.
const KEPT: usize = 1024;
/// How many datagrams of inputs a card tells one by one.
const TOLD_MAX: usize = 6;

/// What has been sent lately; each list in the order of sending.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    inputs: VecDeque<Inputs>,
    snapshots: VecDeque<Snapshot>,
    /// When the server simulated which tick, where it goes by its own clock.
    steps: VecDeque<(Tick, Instant)>,
}

/// A datagram of inputs.
#[derive(Clone, Copy, Debug)]
struct Inputs {
    first: Tick,
    newest: Tick,
    sent: Instant,
    fate: Fate,
}

/// A datagram of a snapshot.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    tick: Tick,
    sent: Instant,
    fate: Fate,
}

/// The datagrams that a correction is about.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Involved {
    /// The ticks whose inputs these datagrams carried: of those in question the ones that were not there in time, or else
    /// the last one.
    pub ticks: [u32; 2],
    /// When the last of these ticks was simulated by the server, in seconds; `None` where arriving inputs step it.
    pub due_s: Option<f64>,
    /// How many of all datagrams that carried them were lost, came too late, came in time, and only repeated what had
    /// come in time.
    pub lost: usize,
    pub late: usize,
    pub in_time: usize,
    pub repeated: usize,
    /// The last of them, in the order of sending.
    pub inputs: Vec<Carrier>,
    /// The snapshot that told the client; `None` where it is too long ago.
    pub snapshot: Option<Teller>,
}

/// A datagram that carried one of the inputs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Carrier {
    /// The oldest and the newest tick in it.
    pub ticks: [u32; 2],
    pub sent_s: f64,
    /// `None` when it never comes.
    pub comes_s: Option<f64>,
    /// `lost`, `late`, `in time`, `repeated`, or `came` where there is no time for it.
    pub fate: &'static str,
    /// How much after the tick in question was simulated, or negative how much before.
    pub late_ms: Option<f64>,
}

/// A datagram that told of a state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Teller {
    pub tick: u32,
    pub sent_s: f64,
    pub came_s: f64,
}

impl Packets {
    /// Takes in a datagram of the person's link, near a tick of theirs.
    pub fn note(&mut self, sent: &Sent<'_>, near: Tick) {
        match (sent.to_server, peek(sent.datagram, near)) {
            (true, Ok(Peek::Inputs { first, newest })) => {
                keep(&mut self.inputs, Inputs { first, newest, sent: sent.now, fate: sent.fate });
            }
            (false, Ok(Peek::Snapshot { tick })) => {
                keep(&mut self.snapshots, Snapshot { tick, sent: sent.now, fate: sent.fate });
            }
            _ => {}
        }
    }

    /// The server has simulated a tick.
    pub fn note_step(&mut self, tick: Tick, now: Instant) {
        keep(&mut self.steps, (tick, now));
    }

    /// What carried the inputs of the ticks from `first` to `newest`, and what told of state `tick`.
    pub fn involved(&self, (first, newest): (Tick, Tick), tick: Tick) -> Involved {
        let in_time = |inputs: &Inputs, tick| self.late_us(inputs, tick).is_some_and(|late| late <= 0);
        let missing = |tick: &Tick| !self.carriers((*tick, *tick)).any(|inputs| in_time(inputs, *tick));
        let missing: Vec<_> = first.until(newest.next()).filter(missing).collect();
        let (first, newest, was_there) = match (missing.first(), missing.last()) {
            (Some(first), Some(newest)) => (*first, *newest, false),
            _ => (newest, newest, true),
        };
        let carrier = |inputs| self.carrier(inputs, newest, was_there);
        let carriers: Vec<_> = self.carriers((first, newest)).map(carrier).collect();
        let count = |fate| carriers.iter().filter(|carrier| carrier.fate == fate).count();
        Involved {
            ticks: [first.get(), newest.get()],
            due_s: self.stepped(newest).map(seconds),
            lost: count("lost"),
            late: count("late"),
            in_time: count("in time"),
            repeated: count("repeated"),
            inputs: carriers[carriers.len().saturating_sub(TOLD_MAX)..].to_vec(),
            snapshot: self.teller(tick),
        }
    }

    /// What told of state `tick`, where it is not about the person's inputs.
    pub fn told(&self, tick: Tick) -> Involved {
        Involved { snapshot: self.teller(tick), ..Involved::default() }
    }

    fn carriers(&self, (first, newest): (Tick, Tick)) -> impl Iterator<Item = &Inputs> {
        self.inputs.iter().filter(move |inputs| inputs.first <= newest && first <= inputs.newest)
    }

    fn carrier(&self, inputs: &Inputs, newest: Tick, was_there: bool) -> Carrier {
        let late_us = self.late_us(inputs, inputs.newest.min(newest));
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        let late_ms = late_us.map(|late| late as f64 / 1000.0);
        let (comes_s, fate) = match (inputs.fate, late_us) {
            (Fate::Lost | Fate::Dropped, _) => (None, "lost"),
            (Fate::Arrives(due), None) => (Some(seconds(due)), "came"),
            (Fate::Arrives(due), Some(late)) => {
                let too_late = if was_there { "repeated" } else { "late" };
                (Some(seconds(due)), if late > 0 { too_late } else { "in time" })
            }
        };
        Carrier {
            ticks: [inputs.first.get(), inputs.newest.get()],
            sent_s: seconds(inputs.sent),
            comes_s,
            fate,
            late_ms,
        }
    }

    /// How many microseconds after the server simulated `tick` a datagram comes; `None` when it never comes, or that is not
    /// known.
    fn late_us(&self, inputs: &Inputs, tick: Tick) -> Option<i64> {
        match inputs.fate {
            Fate::Arrives(due) => Some((due - self.stepped(tick)?).micros()),
            Fate::Lost | Fate::Dropped => None,
        }
    }

    fn stepped(&self, tick: Tick) -> Option<Instant> {
        let at = self.steps.binary_search_by_key(&tick, |(tick, _)| *tick).ok()?;
        Some(self.steps[at].1)
    }

    fn teller(&self, tick: Tick) -> Option<Teller> {
        let of = self.snapshots.iter().filter(|snapshot| snapshot.tick == tick);
        // Where it took several datagrams, the one that came last made it complete.
        let came = of.filter_map(|snapshot| match snapshot.fate {
            Fate::Arrives(due) => Some((due, snapshot.sent)),
            Fate::Lost | Fate::Dropped => None,
        });
        let (came, sent) = came.max()?;
        Some(Teller { tick: tick.get(), sent_s: seconds(sent), came_s: seconds(came) })
    }
}

#[expect(clippy::cast_precision_loss, reason = "for display")]
fn seconds(at: Instant) -> f64 {
    at.micros() as f64 / 1e6
}

fn keep<T>(list: &mut VecDeque<T>, one: T) {
    if list.len() >= KEPT {
        list.pop_front();
    }
    list.push_back(one);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1000)
    }

    /// Inputs 10 to 19, one datagram each 16 ms that repeats the two before it; the server simulates tick n at 16 n ms.
    fn packets(fate: impl Fn(u32, Instant) -> Fate) -> Packets {
        let mut packets = Packets::default();
        for tick in 10..20_u32 {
            let (sent, newest) = (at(u64::from(tick) * 16 - 60), Tick::new(tick));
            packets.inputs.push_back(Inputs {
                first: newest.back(2).expect("above 2"),
                newest,
                sent,
                fate: fate(tick, sent),
            });
            packets.note_step(newest, at(u64::from(tick) * 16));
        }
        packets
    }

    #[test]
    fn an_input_that_no_datagram_brought_in_time_is_told_with_all_that_carried_it() {
        let ms = core::time::Duration::from_millis;
        // Those of 14 and 15 are lost, that of 16 comes 23 ms too late for 16, and with it 14 and 15.
        let packets = packets(|tick, sent| match tick {
            14 | 15 => Fate::Lost,
            16 => Fate::Arrives(sent + ms(60 + 23)),
            _ => Fate::Arrives(sent + ms(50)),
        });
        let told = packets.involved((Tick::new(13), Tick::new(14)), Tick::new(15));
        assert_eq!((told.ticks, told.lost, told.late, told.in_time), ([14, 14], 2, 1, 0));
        assert_eq!(told.due_s, Some(0.224));
        let late = told.inputs.last().expect("three of them");
        assert_eq!((late.ticks, late.fate, late.late_ms), ([14, 16], "late", Some(23.0 + 32.0)));
        // That of 17 repeats 15 and 16, too late for 15 and in time for nothing that is asked for.
        let told = packets.involved((Tick::new(14), Tick::new(16)), Tick::new(17));
        assert_eq!((told.ticks, told.lost, told.late), ([14, 16], 2, 3));
    }

    #[test]
    fn of_inputs_that_were_all_there_the_last_one_is_told() {
        let packets = packets(|_, sent| Fate::Arrives(sent + core::time::Duration::from_millis(50)));
        let told = packets.involved((Tick::new(11), Tick::new(12)), Tick::new(13));
        assert_eq!((told.ticks, told.lost, told.late, told.repeated), ([12, 12], 0, 0, 2));
        assert_eq!(told.inputs[0].late_ms, Some(-10.0));
        assert_eq!(told.snapshot, None);
    }

    #[test]
    fn the_snapshot_is_told_by_the_datagram_that_made_it_complete() {
        let mut packets = Packets::default();
        for (tick, sent, fate) in [(7, 10, Fate::Arrives(at(40))), (7, 10, Fate::Arrives(at(55))), (8, 26, Fate::Lost)]
        {
            packets.snapshots.push_back(Snapshot { tick: Tick::new(tick), sent: at(sent), fate });
        }
        let told = |tick| packets.involved((Tick::new(6), Tick::new(6)), Tick::new(tick)).snapshot;
        assert_eq!(told(7), Some(Teller { tick: 7, sent_s: 0.010, came_s: 0.055 }));
        assert_eq!(told(8), None);
    }
}
