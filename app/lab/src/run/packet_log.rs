//! The datagrams of the last seconds between the person and the server: what they held, and what became of them.
//!
//! Seen by the harness when they are sent; a link knows then already what it will do to each.

use crate::clock::seconds;
use crate::frame::correction::{InputPacket, InvolvedPackets, SnapshotPacket};
use foretell::session::{Inspected, inspect};
use foretell::{Instant, Tick};
use foretell_sim::harness::Sent;
use foretell_sim::netsim::Fate;
use std::collections::VecDeque;

/// How many of each sort are remembered: those of 8 s at 128 Hz.
const KEPT: usize = 1024;
/// How many datagrams of inputs a card tells one by one.
const TOLD_MAX: usize = 6;

/// What has been sent lately; each list in the order of sending.
#[derive(Clone, Debug, Default)]
pub struct PacketLog {
    inputs: VecDeque<Inputs>,
    snapshots: VecDeque<Snapshot>,
    /// When the server simulated which tick, where it goes by its own clock.
    steps: VecDeque<(Tick, Instant)>,
}

/// The ticks from one to another, both of them included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TickRange {
    pub first: Tick,
    pub newest: Tick,
}

impl TickRange {
    /// One tick.
    pub fn of(tick: Tick) -> TickRange {
        TickRange { first: tick, newest: tick }
    }
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

impl PacketLog {
    /// Takes in a datagram of the person's link, near a tick of theirs.
    pub fn note(&mut self, sent: &Sent<'_>, near: Tick) {
        match (sent.to_server, inspect(sent.datagram, near)) {
            (true, Ok(Inspected::Inputs { first, newest })) => {
                keep(&mut self.inputs, Inputs { first, newest, sent: sent.now, fate: sent.fate });
            }
            (false, Ok(Inspected::Snapshot { tick })) => {
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
    pub fn involved(&self, inputs: TickRange, tick: Tick) -> InvolvedPackets {
        let in_time = |inputs: &Inputs, tick| self.late_us(inputs, tick).is_some_and(|late| late <= 0);
        let missing = |tick: &Tick| !self.carriers(TickRange::of(*tick)).any(|inputs| in_time(inputs, *tick));
        let missing: Vec<_> = inputs.first.until(inputs.newest.next()).filter(missing).collect();
        let (TickRange { first, newest }, was_there) = match (missing.first(), missing.last()) {
            (Some(first), Some(newest)) => (TickRange { first: *first, newest: *newest }, false),
            _ => (TickRange::of(inputs.newest), true),
        };
        let carrier = |inputs| self.carrier(inputs, newest, was_there);
        let carriers: Vec<_> = self.carriers(TickRange { first, newest }).map(carrier).collect();
        let count = |fate| carriers.iter().filter(|carrier| carrier.fate == fate).count();
        InvolvedPackets {
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
    pub fn told(&self, tick: Tick) -> InvolvedPackets {
        InvolvedPackets { snapshot: self.teller(tick), ..InvolvedPackets::default() }
    }

    fn carriers(&self, TickRange { first, newest }: TickRange) -> impl Iterator<Item = &Inputs> {
        self.inputs.iter().filter(move |inputs| inputs.first <= newest && first <= inputs.newest)
    }

    fn carrier(&self, inputs: &Inputs, newest: Tick, was_there: bool) -> InputPacket {
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
        InputPacket {
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

    fn teller(&self, tick: Tick) -> Option<SnapshotPacket> {
        let of = self.snapshots.iter().filter(|snapshot| snapshot.tick == tick);
        // Where it took several datagrams, the one that came last made it complete.
        let came = of.filter_map(|snapshot| match snapshot.fate {
            Fate::Arrives(due) => Some((due, snapshot.sent)),
            Fate::Lost | Fate::Dropped => None,
        });
        let (came, sent) = came.max()?;
        Some(SnapshotPacket { tick: tick.get(), sent_s: seconds(sent), came_s: seconds(came) })
    }
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

    fn ticks(first: u32, newest: u32) -> TickRange {
        TickRange { first: Tick::new(first), newest: Tick::new(newest) }
    }

    /// Inputs 10 to 19, one datagram each 16 ms that repeats the two before it; the server simulates tick n at 16 n ms.
    fn packets(fate: impl Fn(u32, Instant) -> Fate) -> PacketLog {
        let mut packets = PacketLog::default();
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
        let told = packets.involved(ticks(13, 14), Tick::new(15));
        assert_eq!((told.ticks, told.lost, told.late, told.in_time), ([14, 14], 2, 1, 0));
        assert_eq!(told.due_s, Some(0.224));
        let late = told.inputs.last().expect("three of them");
        assert_eq!((late.ticks, late.fate, late.late_ms), ([14, 16], "late", Some(23.0 + 32.0)));
        // That of 17 repeats 15 and 16, too late for 15 and in time for nothing that is asked for.
        let told = packets.involved(ticks(14, 16), Tick::new(17));
        assert_eq!((told.ticks, told.lost, told.late), ([14, 16], 2, 3));
    }

    #[test]
    fn of_inputs_that_were_all_there_the_last_one_is_told() {
        let packets = packets(|_, sent| Fate::Arrives(sent + core::time::Duration::from_millis(50)));
        let told = packets.involved(ticks(11, 12), Tick::new(13));
        assert_eq!((told.ticks, told.lost, told.late, told.repeated), ([12, 12], 0, 0, 2));
        assert_eq!(told.inputs[0].late_ms, Some(-10.0));
        assert_eq!(told.snapshot, None);
    }

    #[test]
    fn the_snapshot_is_told_by_the_datagram_that_made_it_complete() {
        let mut packets = PacketLog::default();
        for (tick, sent, fate) in [(7, 10, Fate::Arrives(at(40))), (7, 10, Fate::Arrives(at(55))), (8, 26, Fate::Lost)]
        {
            packets.snapshots.push_back(Snapshot { tick: Tick::new(tick), sent: at(sent), fate });
        }
        let told = |tick| packets.involved(ticks(6, 6), Tick::new(tick)).snapshot;
        assert_eq!(told(7), Some(SnapshotPacket { tick: 7, sent_s: 0.010, came_s: 0.055 }));
        assert_eq!(told(8), None);
    }
}
