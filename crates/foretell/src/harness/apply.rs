//! Faults brought about in a simulation: what lasts is a function of the moment, what happens once happens at its time.

use super::{Fault, Leaving, PlayerOptions, Schedule, Simulation, Way, What, Who};
use crate::netsim::{Conditions, HostClock, Loss, Reordering};
use crate::rollback::World;
use crate::time::{Instant, Offset};
use core::time::Duration;

/// The players of a schedule, as far as they are in the session.
#[derive(Clone, Debug, Default)]
pub(super) struct Roster {
    /// By the number of the player: the index of their machine.
    machines: Vec<Option<usize>>,
}

/// What a schedule needs of the scenario.
pub(super) trait Stage<W: World> {
    /// What a player brings along who comes now.
    fn newcomer(&mut self, player: usize) -> PlayerOptions<W>;
    /// An event of the game's own.
    fn event(&mut self, world: &mut W, number: u32);
}

impl Roster {
    pub(super) fn new(players: u8) -> Roster {
        Roster { machines: vec![None; usize::from(players)] }
    }

    /// How many players are there.
    pub(super) fn present(&self) -> usize {
        self.machines.iter().flatten().count()
    }

    /// Brings about what the schedule says of this moment. Call it at every moment of [`moments`], ascending.
    pub(super) fn apply<W: World>(
        &mut self,
        schedule: &Schedule,
        at_ms: u32,
        simulation: &mut Simulation<W>,
        stage: &mut impl Stage<W>,
    ) {
        if at_ms == 0 {
            for player in 0..self.machines.len() {
                if !comes_late(schedule, player) {
                    self.machines[player] = Some(simulation.add_player(stage.newcomer(player)));
                }
            }
        }
        for fault in schedule.0.iter().filter(|fault| fault.at_ms == at_ms) {
            self.begin(fault, simulation, stage);
        }
        set_server(schedule, at_ms, simulation);
        for (player, machine) in self.machines.iter().enumerate() {
            if let Some(machine) = *machine {
                set_player(schedule, (at_ms, player), simulation, machine);
            }
        }
    }

    /// What happens when a fault begins; what lasts is set elsewhere.
    fn begin<W: World>(&mut self, fault: &Fault, simulation: &mut Simulation<W>, stage: &mut impl Stage<W>) {
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
                *machine = Some(simulation.add_player(stage.newcomer(player)));
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
pub(super) fn comes_late(schedule: &Schedule, player: usize) -> bool {
    let of_player = schedule.0.iter().filter(|fault| is_of(fault, player));
    let comings = of_player.filter(|fault| matches!(fault.what, What::Join | What::Leave { .. }));
    comings.min_by_key(|fault| fault.at_ms).is_some_and(|fault| fault.what == What::Join)
}

/// When something went wrong, and for whom.
#[derive(Clone, Debug)]
pub(super) struct Disturbances(Vec<(Option<u8>, u32, Option<u32>)>);

impl Disturbances {
    pub(super) fn of(schedule: &Schedule) -> Disturbances {
        let mut spans = Vec::new();
        for fault in &schedule.0 {
            let whose = match fault.who {
                Who::Player(player) if !matches!(fault.what, What::Join | What::Leave { .. }) => Some(player),
                _ => None,
            };
            let end = fault.end_ms();
            if fault.what.is_steady() {
                spans.push((whose, fault.at_ms, Some(fault.at_ms)));
                spans.extend(end.map(|end| (whose, end, Some(end))));
            } else {
                spans.push((whose, fault.at_ms, end));
            }
        }
        Disturbances(spans)
    }

    /// For how long nothing has gone wrong for a player, or for anybody; at most since the session's start.
    pub(super) fn quiet(&self, player: Option<u8>, now: Instant) -> Duration {
        let at = |ms: u32| Instant::from_micros(u64::from(ms) * 1000);
        let concern = |whose: &Option<u8>| whose.is_none() || player.is_none() || *whose == player;
        let spans = self.0.iter().filter(|(whose, begin, _)| concern(whose) && at(*begin) <= now);
        let last = spans.map(|(_, _, end)| end.map_or(now, at).min(now)).max();
        now.since(last.unwrap_or(Instant::ZERO))
    }
}

/// Every moment at which something changes, ascending, in ms; 0 is one of them.
pub(super) fn moments(schedule: &Schedule) -> Vec<u32> {
    let ends = schedule.0.iter().filter_map(Fault::end_ms);
    let mut moments: Vec<_> = schedule.0.iter().map(|fault| fault.at_ms).chain(ends).chain([0]).collect();
    moments.sort_unstable();
    moments.dedup();
    moments
}

fn is_of(fault: &Fault, player: usize) -> bool {
    matches!(fault.who, Who::Player(who) if usize::from(who) == player)
}

fn set_server<W: World>(schedule: &Schedule, at_ms: u32, simulation: &mut Simulation<W>) {
    let lasting = || schedule.0.iter().filter(|fault| fault.who == Who::Server && fault.lasts_at(at_ms));
    let machine = Machine::of(lasting(), u32::from(simulation.rules().tick_rate.get()));
    let now = simulation.now();
    machine.set(now, &mut simulation.server.host);
}

fn set_player<W: World>(
    schedule: &Schedule,
    (at_ms, player): (u32, usize),
    simulation: &mut Simulation<W>,
    machine: usize,
) {
    let lasting = || schedule.0.iter().filter(|fault| is_of(fault, player) && fault.lasts_at(at_ms));
    let now = simulation.now();
    let host = &mut simulation.players[machine];
    (host.up_conditions, host.down_conditions) = Default::default();
    for fault in lasting() {
        let (up, down) = ways(fault.what);
        up.then(|| set_conditions(fault.what, &mut host.up_conditions));
        down.then(|| set_conditions(fault.what, &mut host.down_conditions));
    }
    Machine::of(lasting(), 60).set(now, &mut host.host);
}

/// What lasts of a machine at some moment.
#[derive(Clone, Copy)]
struct Machine {
    fps: u32,
    batched: bool,
    drift_ppm: i32,
}

impl Machine {
    fn of<'a>(lasting: impl Iterator<Item = &'a Fault>, fps: u32) -> Machine {
        let even = Machine { fps, batched: false, drift_ppm: 0 };
        lasting.fold(even, |machine, fault| match fault.what {
            What::FrameRate { fps } => Machine { fps, ..machine },
            What::Batched => Machine { batched: true, ..machine },
            What::Drift { ppm } => Machine { drift_ppm: ppm, ..machine },
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
