//! What a player sees of others when snapshots come late, in bursts, or not at all for a while.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use core::time::Duration;
use foretell::session::client::PoseSource;
use foretell::{Client, ClientConfig, Curve, Frame, Instant, Rules, SendRate, ServerConfig, Tick, Views, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// Watches the second player through the eyes of the first.
#[derive(Default)]
struct Watch {
    last: Option<(Instant, [f64; 3])>,
    /// Whether they were extrapolated then for longer than [`WARPS_AFTER`].
    may_warp: bool,
    /// The fastest that the other was shown, in m/s, but where they had to warp.
    fastest_mps: f64,
    extrapolated: u32,
    shown: u32,
    /// At the end.
    delay_ticks: f64,
}

impl Driver<Masses> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        // Up and down, never standing.
        let up = (tick.get() / 48).is_multiple_of(2);
        Buttons { up: up && player == 1, down: !up && player == 1, ..Buttons::default() }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        let Some(own) = client.player().filter(|_| player == 0 && at.now >= Instant::from_micros(6_000_000)) else {
            return;
        };
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            if view.owner == own {
                continue;
            }
            let place = view.pose().position;
            if let Some((before, from)) = self.last.replace((at.now, place)) {
                let way = (0..3).map(|axis| (place[axis] - from[axis]).powi(2)).sum::<f64>().sqrt();
                if !(self.may_warp && way > WARPS_FROM_M) {
                    self.fastest_mps = self.fastest_mps.max(way / at.now.since(before).as_secs_f64());
                }
            }
            self.may_warp = matches!(view.source, PoseSource::Extrapolated(beyond) if beyond > WARPS_AFTER);
            self.shown += 1;
            self.extrapolated += u32::from(matches!(view.source, PoseSource::Extrapolated(_)));
        }
    }
}

/// So far from where it was shown, a body is too far to slide there: it warps (`snap_m`, 2 m by default).
const WARPS_FROM_M: f64 = 2.0;

/// It gets so far off only after so long a silence: two bodies that part at 7.3 m/s each are that far apart after 137 ms, and nobody
/// turns at once.
const WARPS_AFTER: Duration = Duration::from_millis(250);

fn seen(rate: u16, loss: Loss, seed: u64) -> Watch {
    seen_by(Curve::default(), rate, loss, seed)
}

fn seen_by(curve: Curve, rate: u16, loss: Loss, seed: u64) -> Watch {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(rate), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), seed);
    for player in 0..2 {
        let (latency, jitter) = (Duration::from_millis(50), Duration::from_millis(20));
        let conditions = Conditions { latency, jitter, ..Conditions::default() };
        let loss = if player == 0 { loss } else { Loss::default() };
        let client = ClientConfig { curve, ..ClientConfig::default() };
        let host = HostOptions::at(60);
        simulation.add_player(PlayerOptions { client, host, conditions, world: Masses::default() });
        simulation.players[player].down_conditions.loss = loss;
    }
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(50_000_000), &mut watch);
    watch.delay_ticks = simulation.players[0].client.stats().playout.delay_ticks;
    watch
}

#[test]
fn shown_others_never_jump_when_snapshots_come_late() {
    let calm = seen(16, Loss::default(), 1).fastest_mps;
    assert!((5.0..10.0).contains(&calm), "{calm} m/s");
    for (rate, loss) in [
        (64, Loss::Bursts { rate: 0.1, mean_length: 8.0 }),
        (16, Loss::Uniform(0.2)),
        (16, Loss::Bursts { rate: 0.2, mean_length: 4.0 }),
    ] {
        for seed in 0..8 {
            let watch = seen(rate, loss, seed);
            assert!(watch.extrapolated > 10, "{rate} Hz, {loss:?}: {} of {}", watch.extrapolated, watch.shown);
            // An offset of some metres begins to vanish by ten times as much in a second: not in a frame.
            assert!(watch.fastest_mps < calm + 35.0, "{rate} Hz, {loss:?}: {} m/s", watch.fastest_mps);
        }
    }
}

#[test]
fn losses_that_the_delay_covers_are_not_seen_at_all() {
    let watch = seen(64, Loss::Uniform(0.05), 1);
    assert!(watch.extrapolated * 100 < watch.shown, "{} of {}", watch.extrapolated, watch.shown);
    assert!(watch.fastest_mps < seen(64, Loss::default(), 1).fastest_mps * 1.15, "{}", watch.fastest_mps);
}

/// How fast the other is in truth, at most, in m/s.
const FASTEST_MPS: f64 = 7.3;

/// E22 for the session: no curve jumps, whatever the link does, but the one that is nothing else.
#[test]
fn no_curve_jumps_over_a_bad_link_and_all_have_the_same_delay() {
    let bursts = Loss::Bursts { rate: 0.2, mean_length: 4.0 };
    for seed in 0..4 {
        let delay_ticks = seen(16, bursts, seed).delay_ticks;
        for curve in Curve::ALL {
            let watch = seen_by(curve, 16, bursts, seed);
            assert_eq!(watch.delay_ticks.to_bits(), delay_ticks.to_bits(), "{curve:?}");
            if curve.leads() {
                continue;
            }
            // A lost burst of 8 snapshots is half a second: what is held makes that way in one frame of 1/60 s.
            let most = if curve == Curve::Hold { FASTEST_MPS * 60.0 } else { FASTEST_MPS + 35.0 };
            assert!(watch.fastest_mps < most, "{curve:?}, seed {seed}: {} m/s", watch.fastest_mps);
            assert!(watch.fastest_mps > FASTEST_MPS / 2.0, "{curve:?}: it is shown at all");
        }
        // Who is shown where they should be by now warps where that was too wrong to slide, after half a second of
        // silence; not after two lost snapshots.
        for curve in Curve::ALL.into_iter().filter(|curve| curve.leads()) {
            let watch = seen_by(curve, 16, Loss::Uniform(0.1), seed);
            assert!(watch.fastest_mps < FASTEST_MPS + 20.0, "{curve:?}, seed {seed}: {} m/s", watch.fastest_mps);
        }
    }
}

#[test]
fn only_who_leads_is_shown_beyond_the_newest_state_while_nothing_is_late() {
    for curve in Curve::ALL {
        let watch = seen_by(curve, 16, Loss::default(), 1);
        let share = f64::from(watch.extrapolated) / f64::from(watch.shown);
        assert!(if curve.leads() { share == 1.0 } else { share < 0.02 }, "{curve:?}: {share}");
    }
}
