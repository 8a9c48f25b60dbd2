//! Which faults a seed stands for.

use super::{Fault, Schedule, Way, What, Who};
use crate::netsim::SplitMix64;
use alloc::vec::Vec;

/// How a schedule of faults is drawn from a seed.
///
/// Each player has a one-way latency of 0 to 150 ms and a frame rate of 30 to 240 Hz for the whole session, and in half
/// of the seeds each machine reads its socket once per frame. In three of four seeds each machine's clock drifts for the whole
/// session, by up to 100, 1,000 or 10,000 ppm. On top come the faults, each 50 ms to 2.5 s long. The
/// last 7 s are calm, so that it can be seen whether everything settles.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FaultMix {
    most: u32,
    calm_ms: u32,
    machines: bool,
}

/// Before this moment no fault begins but what lasts for the whole session.
const FIRST_MS: u32 = 500;
/// The kinds of faults that may be the server's: it stalls, its clock drifts or steps, an event.
const OF_SERVER: [u32; 4] = [10, 11, 12, 15];

impl Default for FaultMix {
    /// Everything: what links do, what machines do, who comes and goes, events of the game's own.
    fn default() -> FaultMix {
        FaultMix { most: 8, calm_ms: 7_000, machines: true }
    }
}

impl FaultMix {
    /// What links do alone: machines run evenly, nobody comes or goes, no events.
    pub fn network() -> FaultMix {
        FaultMix { machines: false, ..FaultMix::default() }
    }

    /// With at most so many faults beyond what lasts for the whole session. Default 8.
    #[must_use]
    pub fn most(self, most: u32) -> FaultMix {
        FaultMix { most, ..self }
    }

    /// Panics where no fault fits into a session of this length, in ms, but those that last for all of it.
    pub(super) fn assert_has_room(&self, length_ms: u32) {
        let (calm_ms, has_room) = (self.calm_ms, length_ms > FIRST_MS + self.calm_ms);
        assert!(
            has_room || self.most == 0,
            "a session of {length_ms} ms has no room for faults: they begin after {FIRST_MS} ms, and the last {calm_ms} ms are calm"
        );
    }

    /// The schedule of this seed, for this number of players and a session of this length, in ms. Without players it is of the server's machine alone.
    pub fn draw(&self, seed: u64, players: u8, length_ms: u32) -> Schedule {
        let mut draw = Draw(SplitMix64::new(seed ^ 0x6661_756c_7473));
        let mut faults = Vec::new();
        let whole = |who, what| Fault { at_ms: 0, length_ms: None, who, what };
        for who in (0..players).map(Who::Player) {
            faults.push(whole(who, What::Latency { way: Way::Both, ms: draw.between(0, 150) }));
            let fps = draw.one_of(&[30, 60, 60, 60, 75, 120, 144, 240]);
            faults.push(whole(who, What::FrameRate { fps }));
        }
        if draw.one_of(&[true, false]) {
            let machines = (0..players).map(Who::Player).chain([Who::Server]);
            faults.extend(machines.map(|who| whole(who, What::Batched)));
        }
        if self.machines {
            faults.extend(drifts(seed, players));
        }
        let end = length_ms.saturating_sub(self.calm_ms);
        let (begin, count) = (end.min(FIRST_MS), draw.between(1, self.most.max(1)));
        let has_any = players > 0 || self.machines;
        for _ in 0..if has_any { count.min(self.most) } else { 0 } {
            let at_ms = draw.between(begin, end);
            let length = draw.between(50, 2_500).min(end.saturating_sub(at_ms));
            let last = players.checked_sub(1);
            let who = last
                .map_or(Who::Server, |last| Who::Player(u8::try_from(draw.between(0, u32::from(last))).unwrap_or(0)));
            let fault = Fault { at_ms, length_ms: Some(length), who, what: What::Stall };
            self.draw_fault(&mut draw, fault, end, &mut faults);
        }
        Schedule(faults)
    }

    /// Draws what `fault` is, and adds it.
    fn draw_fault(&self, draw: &mut Draw, fault: Fault, end: u32, faults: &mut Vec<Fault>) {
        let kind = match fault.who {
            Who::Server => draw.one_of(&OF_SERVER),
            Who::Player(_) => draw.between(0, if self.machines { 15 } else { 7 }),
        };
        let way = draw.one_of(&[Way::Up, Way::Down, Way::Both]);
        let once = |what| Fault { what, length_ms: None, ..fault };
        let machines = [fault.who, fault.who, Who::Server];
        let at_server = Fault { who: Who::Server, ..fault };
        let drawn = match kind {
            0 => Fault { what: What::Latency { way, ms: draw.between(0, 300) }, ..fault },
            1 => Fault { what: What::Jitter { way, ms: draw.between(5, 100) }, ..fault },
            2 => Fault { what: What::Loss { way, percent: draw.between(1, 40) }, ..fault },
            3 | 4 => Fault { what: What::Loss { way, percent: 100 }, ..fault },
            5 => Fault { what: What::Bursts { way, percent: draw.between(1, 30), mean: draw.between(2, 8) }, ..fault },
            6 => Fault { what: What::Duplicates { way, percent: draw.between(5, 100) }, ..fault },
            7 => Fault { what: What::Reordering { way, percent: draw.between(5, 50) }, ..fault },
            8 => Fault { what: What::FrameRate { fps: draw.between(5, 240) }, ..fault },
            9 => fault,
            10 => Fault { length_ms: fault.length_ms.map(|length| length.min(2_000)), ..at_server },
            11 => Fault { what: What::Drift { ppm: draw.signed(10_000) }, who: draw.one_of(&machines), ..fault },
            12 => Fault { who: draw.one_of(&machines), ..once(What::Step { ms: draw.signed(500) }) },
            13 => {
                faults.push(once(What::Leave { politely: draw.one_of(&[true, false]) }));
                let at_ms = fault.at_ms + draw.between(100, 2_000);
                if draw.one_of(&[false, true]) && at_ms < end {
                    faults.push(Fault { at_ms, ..once(What::Join) });
                }
                return;
            }
            14 => once(What::Join),
            _ => Fault { who: Who::Server, ..once(What::Event { number: draw.between(0, 999) }) },
        };
        faults.push(drawn);
    }
}

/// How the clocks of this seed drift for the whole session.
fn drifts(seed: u64, players: u8) -> Vec<Fault> {
    let mut draw = Draw(SplitMix64::new(seed ^ 0x6472_6966_7473));
    let most_ppm = draw.one_of(&[0, 100, 1_000, 10_000]);
    let machines = (0..players).map(Who::Player).chain([Who::Server]).filter(|_| most_ppm > 0);
    machines
        .map(|who| Fault { at_ms: 0, length_ms: None, who, what: What::Drift { ppm: draw.signed(most_ppm) } })
        .collect()
}

/// Draws from a seed.
struct Draw(SplitMix64);

impl Draw {
    /// From `least` to `most`, both possible.
    fn between(&mut self, least: u32, most: u32) -> u32 {
        let span = u64::from(most.max(least) - least) + 1;
        #[expect(clippy::cast_possible_truncation, reason = "at most `most`")]
        let drawn = (u64::from(least) + self.0.next_u64() % span) as u32;
        drawn
    }

    /// At most so much either way.
    fn signed(&mut self, most: u32) -> i32 {
        i32::try_from(self.between(0, 2 * most)).unwrap_or(0) - i32::try_from(most).unwrap_or(0)
    }

    fn one_of<T: Copy>(&mut self, from: &[T]) -> T {
        let most = u32::try_from(from.len() - 1).unwrap_or(0);
        from[self.between(0, most) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn a_seed_stands_for_one_schedule_whose_end_is_calm_and_whose_text_is_its_own() {
        for seed in 0..500 {
            let drawn = FaultMix::default().draw(seed, 3, 15_000);
            assert_eq!(drawn, FaultMix::default().draw(seed, 3, 15_000));
            assert_eq!(drawn.to_string().parse(), Ok(drawn.clone()));
            let lasting = drawn.0.iter().filter(|fault| fault.length_ms.is_some() || fault.what.happens_once());
            assert!(lasting.clone().all(|fault| fault.end_ms().is_some_and(|end| end <= 8_000)), "{drawn}");
            assert!(lasting.count() > 0);
        }
    }

    #[test]
    fn where_somebody_plays_alone_the_server_has_its_faults() {
        for seed in 0..100 {
            let drawn = FaultMix::default().draw(seed, 0, 15_000);
            assert_eq!(drawn.to_string().parse(), Ok(drawn.clone()));
            assert!(drawn.0.iter().all(|fault| fault.who == Who::Server), "{drawn}");
            let passing = |fault: &&Fault| fault.length_ms.is_some() || fault.what.happens_once();
            assert!(drawn.0.iter().filter(passing).count() > 0, "{drawn}");
        }
        assert_eq!(FaultMix::network().draw(1, 0, 15_000).0.iter().filter(|fault| fault.at_ms > 0).count(), 0);
    }
}
