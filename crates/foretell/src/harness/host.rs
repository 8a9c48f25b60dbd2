//! One machine of a simulated session: when it renders frames, and what its clock shows.

use crate::netsim::HostClock;
use crate::time::Instant;

/// How a machine behaves.
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// How often it runs its loop, in Hz; 0 counts as 1. A usual client runs at 60, a server at its tick rate.
    pub frames_per_second: u32,
    /// Its clock, with skew and stalls.
    pub clock: HostClock,
}

impl HostOptions {
    /// A machine with a true clock.
    pub fn at(frames_per_second: u32) -> HostOptions {
        HostOptions { frames_per_second, clock: HostClock::default() }
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

    /// Its clock, to be stalled.
    pub fn clock_mut(&mut self) -> &mut HostClock {
        &mut self.options.clock
    }
}
