//! Faults brought about in a simulation: what lasts is a function of the moment, what happens once happens at its time.

use super::{Fault, Leaving, PlayerHost, PlayerOptions, Schedule, Simulation, Way, What, Who};
use crate::netsim::{Conditions, HostClock, Loss, Reordering};
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::JoinRequest;
use foretell::time::{Instant, Offset};
use foretell::world::World;

/// How often a machine runs its loop that somebody sits at.
const SCREEN_FPS: u32 = 60;

/// A schedule under way in a simulation, and its players as far as they are there: what a [`Scenario`](super::Scenario)
/// does to a session, for whoever runs one by themselves.
///
/// At each moment of [`next_ms`](Faults::next_ms): run up to and with it (but for that at 0), [`begin`](Faults::begin),
/// and [`hold`](Faults::hold).
///
/// Where no fault says otherwise, a machine that somebody sits at runs 60 frames per second, and a server alone its tick rate.
#[derive(Clone, Debug)]
pub struct Faults {
    schedule: Schedule,
    /// By the number of the player: the index of their machine.
    machines: Vec<Option<usize>>,
    /// At which something changes and that are to come, ascending.
    moments: VecDeque<u32>,
    /// The last one that was begun.
    at_ms: u32,
}

/// What a schedule needs of who runs it.
pub trait FaultStage<W: World> {
    /// What a player brings along who comes now.
    fn newcomer(&mut self, player: usize) -> PlayerOptions<W>;

    /// What their client asks for a place with. By default as a player of whom nothing is said.
    fn ask(&self, player: usize, request: JoinRequest) -> JoinRequest {
        let _ = player;
        request
    }
    /// An event of the game's own.
    fn event(&mut self, world: &mut W, number: u32);
}

impl Faults {
    /// Of a session with so many players that has not begun: they come at its first moment, unless the schedule says that
    /// they come later. Faults of other players do nothing.
    pub fn new(schedule: Schedule, players: u8) -> Faults {
        let moments = moments(&schedule).into();
        Faults { schedule, machines: vec![None; usize::from(players)], moments, at_ms: 0 }
    }

    /// The next moment at which something changes, in ms since the session's start; the first one is 0.
    pub fn next_ms(&self) -> Option<u32> {
        self.moments.front().copied()
    }

    /// How many players are there.
    pub(super) fn present(&self) -> usize {
        self.machines.iter().flatten().count()
    }

    /// Brings about what happens to machines at the next moment, which is now; links are up to [`hold`](Faults::hold).
    pub fn begin<W: World>(&mut self, simulation: &mut Simulation<W>, stage: &mut impl FaultStage<W>) {
        let Some(at_ms) = self.moments.pop_front() else { return };
        self.at_ms = at_ms;
        if at_ms == 0 {
            for player in 0..self.machines.len() {
                if !comes_late(&self.schedule, player) {
                    self.machines[player] = Some(add(simulation, stage, player));
                }
            }
        }
        for index in 0..self.schedule.0.len() {
            let fault = self.schedule.0[index];
            if fault.at_ms == at_ms {
                self.begin_one(&fault, simulation, stage);
            }
        }
        let now = simulation.now();
        let is_alone = simulation.server.local.is_none();
        let fps = if is_alone { simulation.rules().tick_rate.get().into() } else { SCREEN_FPS };
        MachineFaults::of(self.lasting(Who::Server), fps).set(now, &mut simulation.server.host);
        for (who, machine) in self.there() {
            MachineFaults::of(self.lasting(who), SCREEN_FPS).set(now, &mut simulation.players[machine].host);
        }
    }

    /// Sets the links of its players to what lasts since the last moment. Without faults a link does what `base` says of the
    /// machine with this index, on the way to the server and on the way back.
    pub fn hold<W: World>(&self, simulation: &mut Simulation<W>, base: impl Fn(usize) -> [Conditions; 2]) {
        for (who, machine) in self.there() {
            let PlayerHost { up_conditions, down_conditions, .. } = &mut simulation.players[machine];
            [*up_conditions, *down_conditions] = base(machine);
            for fault in self.lasting(who) {
                let (up, down) = ways(fault.what);
                up.then(|| set_conditions(fault.what, up_conditions));
                down.then(|| set_conditions(fault.what, down_conditions));
            }
        }
    }

    /// What lasts of somebody since the last moment.
    fn lasting(&self, who: Who) -> impl Iterator<Item = &Fault> {
        self.schedule.0.iter().filter(move |fault| fault.who == who && fault.lasts_at(self.at_ms))
    }

    /// The players who are there, and the index of their machine.
    fn there(&self) -> impl Iterator<Item = (Who, usize)> {
        let machines = (0..=u8::MAX).map(Who::Player).zip(&self.machines);
        machines.filter_map(|(who, machine)| Some((who, (*machine)?)))
    }

    /// What happens when a fault begins; what lasts is set elsewhere.
    fn begin_one<W: World>(&mut self, fault: &Fault, simulation: &mut Simulation<W>, stage: &mut impl FaultStage<W>) {
        let now = simulation.now();
        let player = match fault.who {
            Who::Server => None,
            Who::Player(player) => match self.machines.get_mut(usize::from(player)) {
                Some(machine) => Some((usize::from(player), machine)),
                None => return,
            },
        };
        match (fault.what, player) {
            (What::Join, Some((player, machine @ None))) => {
                *machine = Some(add(simulation, stage, player));
            }
            (What::Leave { politely }, Some((_, machine))) => {
                let how = if politely { Leaving::Politely } else { Leaving::Silently };
                machine.take().into_iter().for_each(|machine| simulation.remove_player(machine, how));
            }
            (What::Event { number }, _) => stage.event(&mut simulation.server.world, number),
            (What::Stall, who) => {
                let length = Duration::from_millis(u64::from(fault.length_ms.unwrap_or(0)));
                if let Some(clock) = clock_of(simulation, who.map(|(_, machine)| *machine)) {
                    clock.stall(now, length);
                }
            }
            (What::Step { ms }, who) => {
                if let Some(clock) = clock_of(simulation, who.map(|(_, machine)| *machine)) {
                    clock.step(now, Offset::from_micros(i64::from(ms) * 1000));
                }
            }
            _ => {}
        }
    }
}

/// The server's clock, or that of a player who is there.
fn clock_of<W: World>(simulation: &mut Simulation<W>, who: Option<Option<usize>>) -> Option<&mut HostClock> {
    match who {
        None => Some(simulation.server.host.clock_mut()),
        Some(machine) => Some(simulation.players[machine?].host.clock_mut()),
    }
}

/// Whether the first coming or going of a player is that they come.
fn comes_late(schedule: &Schedule, player: usize) -> bool {
    let of_player = schedule.0.iter().filter(|fault| is_of(fault, player));
    let comings = of_player.filter(|fault| matches!(fault.what, What::Join | What::Leave { .. }));
    comings.min_by_key(|fault| fault.at_ms).is_some_and(|fault| fault.what == What::Join)
}

/// When something went wrong.
#[derive(Clone, Debug)]
pub(super) struct Disturbances {
    faults: Vec<Disturbance>,
    /// The same where jitter that lasts is part of the network.
    beside_jitter: Vec<Disturbance>,
}

/// When something went wrong, and for whom: `None` for everybody.
#[derive(Clone, Copy, Debug)]
struct Disturbance {
    whose: Option<u8>,
    begin_ms: u32,
    /// `None` for the end of the session.
    end_ms: Option<u32>,
}

impl Disturbances {
    pub(super) fn of(schedule: &Schedule) -> Disturbances {
        Disturbances {
            faults: disturbances(schedule, What::is_steady),
            beside_jitter: disturbances(schedule, |what| what.is_steady() || matches!(what, What::Jitter { .. })),
        }
    }

    /// For how long nothing has gone wrong for a player, or for anybody; at most since the session's start.
    pub(super) fn quiet(&self, player: Option<u8>, now: Instant) -> Duration {
        since_last(&self.faults, player, now)
    }

    /// The same where jitter goes wrong only when it begins and when it ends.
    pub(super) fn quiet_beside_jitter(&self, player: Option<u8>, now: Instant) -> Duration {
        since_last(&self.beside_jitter, player, now)
    }
}

/// The faults as disturbances; of those that are steady only the beginning and the end are.
fn disturbances(schedule: &Schedule, is_steady: impl Fn(What) -> bool) -> Vec<Disturbance> {
    let mut found = Vec::new();
    // A stall without a length does nothing.
    let does_something = |fault: &&Fault| fault.what != What::Stall || fault.length_ms.is_some();
    for fault in schedule.0.iter().filter(does_something) {
        let whose = match fault.who {
            Who::Player(player) if !matches!(fault.what, What::Join | What::Leave { .. }) => Some(player),
            _ => None,
        };
        let moment = |ms: u32| Disturbance { whose, begin_ms: ms, end_ms: Some(ms) };
        if is_steady(fault.what) {
            found.push(moment(fault.at_ms));
            found.extend(fault.end_ms().map(moment));
        } else {
            found.push(Disturbance { whose, begin_ms: fault.at_ms, end_ms: fault.end_ms() });
        }
    }
    found
}

fn since_last(disturbances: &[Disturbance], player: Option<u8>, now: Instant) -> Duration {
    let at = |ms: u32| Instant::from_micros(u64::from(ms) * 1000);
    let concern = |whose: Option<u8>| whose.is_none() || player.is_none() || whose == player;
    let begun = disturbances.iter().filter(|one| concern(one.whose) && at(one.begin_ms) <= now);
    let last = begun.map(|one| one.end_ms.map_or(now, at).min(now)).max();
    now.since(last.unwrap_or(Instant::ZERO))
}

/// Every moment at which something changes, ascending, in ms; 0 is one of them.
fn moments(schedule: &Schedule) -> Vec<u32> {
    let ends = schedule.0.iter().filter_map(Fault::end_ms);
    let mut moments: Vec<_> = schedule.0.iter().map(|fault| fault.at_ms).chain(ends).chain([0]).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

fn is_of(fault: &Fault, player: usize) -> bool {
    matches!(fault.who, Who::Player(who) if usize::from(who) == player)
}

/// The faults of a machine that last at some moment.
#[derive(Clone, Copy)]
struct MachineFaults {
    fps: u32,
    batched: bool,
    drift_ppm: i32,
}

impl MachineFaults {
    fn of<'a>(lasting: impl Iterator<Item = &'a Fault>, fps: u32) -> MachineFaults {
        let even = MachineFaults { fps, batched: false, drift_ppm: 0 };
        lasting.fold(even, |machine, fault| match fault.what {
            What::FrameRate { fps } => MachineFaults { fps, ..machine },
            What::Batched => MachineFaults { batched: true, ..machine },
            What::Drift { ppm } => MachineFaults { drift_ppm: ppm, ..machine },
            _ => machine,
        })
    }

    fn set(self, now: Instant, host: &mut super::Host) {
        host.set_frames_per_second(now, self.fps);
        host.set_reads_per_frame(self.batched);
        host.clock_mut().set_skew(now, self.drift_ppm);
    }
}

/// Whether a fault is on the way up, and on the way down.
fn ways(what: What) -> (bool, bool) {
    match what {
        What::Latency { way, .. }
        | What::Jitter { way, .. }
        | What::Loss { way, .. }
        | What::Bursts { way, .. }
        | What::Duplicates { way, .. }
        | What::Reordering { way, .. } => (way != Way::Down, way != Way::Up),
        _ => (false, false),
    }
}

fn set_conditions(what: What, conditions: &mut Conditions) {
    let share = |percent: u32| f64::from(percent.min(100)) / 100.0;
    let millis = |ms: u32| Duration::from_millis(u64::from(ms.min(10_000)));
    match what {
        What::Latency { ms, .. } => conditions.latency = millis(ms),
        What::Jitter { ms, .. } => conditions.jitter = millis(ms),
        What::Loss { percent, .. } => conditions.loss = Loss::Uniform(share(percent)),
        What::Bursts { percent, mean, .. } => {
            let mean_length = f64::from(mean.clamp(1, 100));
            conditions.loss = Loss::Bursts { rate: share(percent.min(50)), mean_length };
        }
        What::Duplicates { percent, .. } => conditions.duplicates = share(percent),
        What::Reordering { percent, .. } => {
            conditions.reordering = Reordering { rate: share(percent), ..conditions.reordering }
        }
        _ => {}
    }
}

/// Adds the machine of a player.
fn add<W: World>(simulation: &mut Simulation<W>, stage: &mut impl FaultStage<W>, player: usize) -> usize {
    let options = stage.newcomer(player);
    simulation.add_player_who(options, |request| stage.ask(player, request))
}
