//! One machine of a simulated session: when it renders frames, and what its clock shows.

use crate::netsim::HostClock;
use foretell::time::Instant;

/// How a machine behaves.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// How often it runs its loop, in Hz; 0 counts as 1. A usual client runs at 60, a server at its tick rate.
    pub frames_per_second: u32,
    /// Its clock, with skew and stalls.
    pub clock: HostClock,
    /// Whether it reads its socket once per frame, as most loops do: a datagram then counts as received in the frame
    /// that reads it, and not when it was due. Default false: as with a thread that waits at the socket.
    pub reads_per_frame: bool,
}

impl HostOptions {
    /// A machine with a true clock.
    pub fn at(frames_per_second: u32) -> HostOptions {
        HostOptions { frames_per_second, clock: HostClock::default(), reads_per_frame: false }
    }
}

/// A machine: the schedule of its frames on virtual time.
#[derive(Clone, Debug)]
pub struct Host {
    options: HostOptions,
    start: Instant,
    frame: u64,
}

impl Host {
    /// A machine that runs its first frame at `start`.
    pub fn new(options: HostOptions, start: Instant) -> Host {
        Host { options, start, frame: 0 }
    }

    /// The virtual instant of its next frame: whole frames after its start, rounded up, so that a frame which belongs to
    /// a tick is not before it.
    pub fn next_frame(&self) -> Instant {
        let micros = (self.frame * 1_000_000).div_ceil(u64::from(self.options.frames_per_second.max(1)));
        Instant::from_micros(self.start.micros() + micros)
    }

    /// Goes on to the frame after this one. Says whether this one runs: not while the machine stalls.
    pub fn take_frame(&mut self) -> bool {
        let runs = !self.options.clock.is_stalled(self.next_frame());
        self.frame += 1;
        runs
    }

    /// What its clock shows at a virtual instant.
    pub fn local(&self, now: Instant) -> Instant {
        self.options.clock.read(now)
    }

    /// When a datagram counts as received, on its own clock, that was due at `due` and is read in the frame at `now`.
    pub fn arrival(&self, due: Instant, now: Instant) -> Instant {
        self.local(if self.options.reads_per_frame { now } else { due })
    }

    /// Runs its loop so often per second from the frame after `now` on; 0 counts as 1.
    pub fn set_frames_per_second(&mut self, now: Instant, frames_per_second: u32) {
        if self.options.frames_per_second == frames_per_second {
            return;
        }
        let last = Host { frame: self.frame.saturating_sub(1), ..self.clone() }.next_frame();
        self.options.frames_per_second = frames_per_second;
        (self.start, self.frame) = (last, self.frame.min(1));
        if self.next_frame() < now {
            (self.start, self.frame) = (now, 0);
        }
    }

    /// Whether it reads its socket once per frame.
    pub fn set_reads_per_frame(&mut self, yes: bool) {
        self.options.reads_per_frame = yes;
    }

    /// Its clock, to be stalled, stepped or made to drift.
    pub fn clock_mut(&mut self) -> &mut HostClock {
        &mut self.options.clock
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_frame_rate_counts_from_the_last_frame_and_never_leads_into_the_past() {
        let mut host = Host::new(HostOptions::at(50), Instant::ZERO);
        assert!(host.take_frame() && host.take_frame());
        let at = |host: &Host| host.next_frame().micros();
        assert_eq!(at(&host), 40_000);
        host.set_frames_per_second(Instant::from_micros(25_000), 10);
        assert_eq!(at(&host), 120_000, "100 ms after the last frame");
        host.set_frames_per_second(Instant::from_micros(110_000), 50);
        assert_eq!(at(&host), 110_000, "at once, as 20 ms after the last frame have passed");
        host.take_frame();
        assert_eq!(at(&host), 130_000);
    }
}
