//! Causes are verified: without the faults that a correction names it does not happen, and with these alone it does.
//!
//! A session is a function of its seed and of a list of faults, so each can be taken out by itself: the way up dead for
//! a while, an event of the server's, a shot of another player's.

mod common;

use common::f64_mass::{Body, Masses};
use common::projectiles::{BOLT, Keys, Range, Thing, WALKER};
use common::{Buttons, FIRST};
use core::time::Duration;
use foretell::harness::{Driver, HostOptions, PlayerOptions, ServerHost, Simulation};
use foretell::netsim::{Conditions, Loss, SplitMix64};
use foretell::session::client::{Causes, Corrected};
use foretell::{Client, ClientConfig, Entity, Frame, Instant, PlayerId, Rules, ServerConfig, State, Tick, Tolerance};
use std::collections::BTreeMap;

/// The player whose corrections are looked at, and the one who shoots.
const ME: PlayerId = PlayerId::new(1);

/// What can go wrong in a session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum What {
    /// None of my inputs of so many ticks comes in time.
    Outage(u32),
    /// The server moves my walker, outside of a step.
    Push,
    /// The server removes my bolts, outside of a step.
    Robbery,
    /// The other player fires at me.
    Shot,
}

impl What {
    fn cause(self) -> Causes {
        match self {
            What::Outage(_) => Causes::OWN_INPUT,
            What::Push | What::Robbery => Causes::SERVER_EVENT,
            What::Shot => Causes::OTHER,
        }
    }
}

/// What goes wrong from which tick on.
type Fault = (Tick, What);

/// How long after a fault its corrections come at most, in ticks.
const AFTERMATH: u32 = 70;

struct Play {
    seed: u64,
    faults: Vec<Fault>,
    corrections: Vec<Corrected>,
}

impl Play {
    fn goes_wrong(&self, tick: Tick, what: What) -> bool {
        self.faults.contains(&(tick, what))
    }
}

impl Driver<Range> for Play {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        if player == 1 {
            // Looks at me, and fires for four ticks so that no lost input hides it.
            let fire = (0..4).any(|ago| tick.back(ago).is_some_and(|from| self.goes_wrong(from, What::Shot)));
            return Keys { fire, ..Keys::default() };
        }
        // To and fro around one place, so that what stands in for an input is mostly wrong, and no wall hides it; and fires
        // away from the other.
        let part = tick.get() / 5;
        let bits = SplitMix64::new(self.seed ^ u64::from(part)).next_u64();
        let (walks, left) = (bits & 7 != 7, part.is_multiple_of(2));
        Keys { left: walks && left, right: walks && !left, fire: walks && left && bits & 8 == 8 }
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Range>) {
        let tick = server.server.tick();
        if self.goes_wrong(tick, What::Push) {
            for (entity, thing) in &mut server.world.things {
                if let (Thing::Walker { at, .. }, ME) = (thing, entity.player()) {
                    at[0] += if at[0] < -3.0 { 1.5 } else { -1.5 };
                }
            }
        }
        if self.goes_wrong(tick, What::Robbery) {
            server.world.things.retain(|entity, _| entity.kind() != BOLT || entity.player() != ME);
        }
    }

    fn after_client(&mut self, player: usize, _local: Instant, _client: &Client<Range>, frame: &Frame<'_>) {
        if player == 0 {
            self.corrections.extend(frame.corrections);
        }
    }
}

/// The corrections of a session with these faults.
fn session(seed: u64, faults: &[Fault]) -> Vec<Corrected> {
    let mut random = SplitMix64::new(seed);
    let config = ServerConfig { snapshot_interval: 1 << (random.next_u64() % 3), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Thing::schema()), config, Range::default(), seed);
    let latency = Duration::from_millis(10 + random.next_u64() % 90);
    let conditions = Conditions { latency, jitter: Duration::from_millis(3), ..Conditions::default() };
    for _ in 0..2 {
        // A frame never runs two ticks, and so each input has a datagram of its own.
        let (client, host) = (ClientConfig::default(), HostOptions::at(250));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Range::default() });
    }
    let mut play = Play { seed, faults: faults.to_vec(), corrections: Vec::new() };
    for (tick, what) in faults {
        if let What::Outage(ticks) = what {
            while simulation.players[0].client.tick() < *tick {
                simulation.run_until(simulation.now() + Duration::from_millis(1), &mut play);
            }
            simulation.players[0].up_conditions.loss = Loss::Uniform(1.0);
            // What is sent from then on comes after the deadline of the last of them.
            let deadline = Duration::from_micros(u64::from(tick.get() + ticks - 1) * 15_625);
            simulation.run_until(Instant::ZERO + (deadline - latency), &mut play);
            simulation.players[0].up_conditions.loss = Loss::default();
        }
    }
    let last = faults.iter().map(|(tick, _)| *tick).max().unwrap_or_default();
    simulation.run_until(Instant::from_micros(u64::from(last.get() + 2 * AFTERMATH) * 15_625), &mut play);
    assert_eq!(simulation.players[0].client.player(), Some(ME));
    play.corrections
}

/// Six times something goes wrong, or two things at once.
fn faults(seed: u64) -> Vec<Fault> {
    let mut random = SplitMix64::new(seed ^ 0xfau64);
    let mut faults = Vec::new();
    for nth in 0..6 {
        let mut one = || match random.next_u64() % 4 {
            0 => What::Outage(4 + u32::try_from(random.next_u64() % 12).expect("small")),
            1 => What::Push,
            2 => What::Robbery,
            _ => What::Shot,
        };
        let at = Tick::new(200 + nth * (AFTERMATH + 20));
        let (first, second) = (one(), one());
        faults.push((at, first));
        if first.cause() != second.cause() {
            faults.push((at, second));
        }
    }
    faults
}

/// The faults that a correction names: those of its causes shortly before it.
fn named(correction: &Corrected, faults: &[Fault]) -> Vec<Fault> {
    let near = |(at, _): &&Fault| *at <= correction.tick && correction.tick.since(*at) < AFTERMATH;
    faults.iter().filter(near).filter(|(_, what)| correction.causes.contains(what.cause())).copied().collect()
}

/// Whether it is of the same entity and of about the same ticks.
fn is_same(a: &Corrected, b: &Corrected) -> bool {
    let (since, tick) = (a.since.max(b.since), a.tick.min(b.tick));
    a.entity == b.entity && since < tick + 8
}

#[test]
fn without_the_faults_that_a_correction_names_it_is_gone_and_with_these_alone_it_stays() {
    let mut verified = BTreeMap::<String, u32>::new();
    for seed in 0..12 {
        let all = faults(seed);
        let mut known = BTreeMap::<Vec<Fault>, Vec<Corrected>>::new();
        let mut with =
            |faults: Vec<Fault>| known.entry(faults.clone()).or_insert_with(|| session(seed, &faults)).clone();
        assert_eq!(with(Vec::new()), [], "seed {seed}: without faults nothing is corrected");
        for correction in with(all.clone()) {
            let named = named(&correction, &all);
            assert!(!named.is_empty(), "seed {seed}: nothing explains {correction:?}, {all:?}");
            let rest: Vec<_> = all.iter().filter(|fault| !named.contains(fault)).copied().collect();
            let left = with(rest).into_iter().find(|other| is_same(&correction, other));
            // What is left has other reasons, those of the faults that are left.
            let other_reason = |left: &Corrected| named.iter().all(|(_, what)| !left.causes.contains(what.cause()));
            assert!(left.as_ref().is_none_or(other_reason), "seed {seed}: {correction:?} stays as {left:?}");
            let alone = with(named.clone()).into_iter().any(|other| is_same(&correction, &other));
            assert!(alone, "seed {seed}: {correction:?} needs more than {named:?}");
            *verified.entry(format!("{:?}", correction.causes)).or_default() += 1;
        }
    }
    let seen =
        |cause: &str| verified.iter().filter(|(set, _)| set.contains(cause)).map(|(_, count)| *count).sum::<u32>();
    let seen = ["own input", "server event", "another player", "spawn"].map(seen);
    assert!(seen.iter().all(|count| *count > 10), "{verified:#?}");
    assert!(verified.keys().any(|set| set.contains("own input") && set.contains("server event")), "{verified:#?}");
}
