//! In which time everything is: ticks at fixed intervals for what is simulated, the remote time for others, and a body that is
//! corrected at once under what is shown of it.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::motion::Correction;
use foretell::motion::vector::{length, lerp, sub};
use foretell::session::client::{PoseSource, Show};
use foretell::session::server::Server;
use foretell::{Client, ClientConfig, Frame, Instant, Rules, SendRate, ServerConfig, ServerFrame, Tick, Views, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;

fn session(players: usize, client: ClientConfig, host: &HostOptions) -> Simulation<Masses> {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(32), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), config, Masses::default(), 3);
    let conditions = Conditions { latency: Duration::from_millis(60), ..Conditions::default() };
    for _ in 0..players {
        let (host, world, conditions) = (host.clone(), Masses::default(), conditions.clone());
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation
}

fn seconds(seconds: u64) -> Instant {
    Instant::from_micros(seconds * 1_000_000)
}

/// Compares what the first player sees of the second with where it was.
#[derive(Default)]
struct Remote {
    /// Of the second player's body on the server, by tick.
    truth: Vec<[f64; 3]>,
    compared: u32,
    /// How far it was shown from where it was at the cursor, and from where the server had it by then, at most.
    off_m: f64,
    behind_m: f64,
}

impl Driver<Masses> for Remote {
    fn input(&mut self, player: usize, tick: Tick) -> Buttons {
        let up = (tick.get() / 48).is_multiple_of(2);
        Buttons { up: up && player == 1, down: !up && player == 1, ..Buttons::default() }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Masses>, frame: &ServerFrame<'_>) {
        assert!(frame.steps <= 1, "the server's frames are its ticks");
        let body = server.rows().states::<Body>().last().map(|(_, body)| body.position);
        self.truth.resize(server.tick().get() as usize + 1, body.unwrap_or_default());
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Masses>, _frame: &Frame<'_>) {
        let (Some(cursor), Some(own)) = (client.playout_cursor(at.local), client.player()) else { return };
        if player == 1 || at.now < seconds(5) {
            return;
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            if view.owner == own || view.source != PoseSource::Interpolated {
                continue;
            }
            let shown = view.pose().position;
            let before = cursor.tick().get() as usize;
            let then = lerp(self.truth[before], self.truth[before + 1], cursor.as_ticks().fract());
            self.off_m = self.off_m.max(length(sub(shown, then)));
            self.behind_m = self.behind_m.max(length(sub(shown, self.truth[self.truth.len() - 1])));
            self.compared += 1;
        }
    }
}

#[test]
fn who_is_not_predicted_is_shown_where_the_server_had_them_at_the_playout_cursor() {
    let mut remote = Remote::default();
    session(2, ClientConfig::default(), &HostOptions::at(60)).run_until(seconds(20), &mut remote);
    assert!(remote.compared > 800, "{}", remote.compared);
    assert!(remote.off_m < 0.03, "{} m from where it was", remote.off_m);
    assert!(remote.behind_m > 0.5, "60 ms, and the playout delay, behind: {} m", remote.behind_m);
}

/// Counts the ticks that are asked for and simulated.
#[derive(Default)]
struct Ticks {
    asked: Vec<Tick>,
    steps: u32,
}

impl Driver<Masses> for Ticks {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        self.asked.push(tick);
        Buttons::from_bits(u64::from(tick.get() / 16))
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Masses>, frame: &ServerFrame<'_>) {
        self.steps += frame.steps;
    }
}

#[test]
fn at_any_frame_rate_each_tick_is_simulated_once_at_its_interval_and_no_input_is_missed() {
    for fps in [20, 30, 60, 144, 240] {
        let mut ticks = Ticks::default();
        let mut simulation = session(1, ClientConfig::default(), &HostOptions::at(fps));
        simulation.run_until(seconds(5), &mut ticks);
        let player = simulation.players[0].client.player().expect("it has joined");
        let missed_before = simulation.server.server.stats(player).expect("it plays").inputs.missed;
        ticks.asked.clear();
        simulation.run_until(seconds(30), &mut ticks);
        assert_eq!(ticks.steps, 30 * 64 + 1, "{fps} fps: the state of second 30 is there");
        assert!(ticks.asked.windows(2).all(|two| two[1] == two[0].next()), "{fps} fps: each once, in order");
        assert!(ticks.asked.len().abs_diff(25 * 64) <= 5, "{fps} fps: {} ticks in 25 s", ticks.asked.len());
        let stats = simulation.server.server.stats(player).expect("it plays");
        assert_eq!(stats.inputs.missed, missed_before, "{fps} fps");
        assert!(stats.inputs.applied > 28 * 64, "{fps} fps: {stats:?}");
    }
}

/// Where a client has a body, and by how much it is shown elsewhere.
type Shown = ([f64; 3], [f64; 3]);

/// Throws the one body aside before tick 640, and looks at what is shown of it.
struct Thrown {
    by_m: f64,
    /// By frame.
    seen: Vec<Shown>,
    corrected_in: Option<usize>,
}

impl Driver<Masses> for Thrown {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        if server.server.tick() == Tick::new(640) {
            server.world.bodies.iter_mut().for_each(|mut body| body.position[2] += self.by_m);
        }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        if !frame.corrections.is_empty() {
            assert_eq!(self.corrected_in.replace(self.seen.len()), None, "once");
        }
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            let rows = client.predicted(client.tick()).expect("the present");
            let body = rows.state::<Body>(view.entity).expect("its own").position;
            self.seen.push((body, sub(view.pose().position, body)));
        }
    }
}

/// What is seen from just before a correction on, and how many were too large to hide.
fn thrown(by_m: f64) -> (Vec<Shown>, u64) {
    let client =
        ClientConfig { correction: Some(Correction::article()), show: Show::Newest, ..ClientConfig::default() };
    let mut simulation = session(1, client, &HostOptions::at(60));
    let mut thrown = Thrown { by_m, seen: Vec::new(), corrected_in: None };
    simulation.run_until(seconds(12), &mut thrown);
    let first = thrown.corrected_in.expect("it is corrected") - 1;
    (thrown.seen.split_off(first), simulation.players[0].client.stats().prediction.teleports)
}

#[test]
fn the_body_is_corrected_at_once_and_shown_with_an_error_that_decays_or_from_two_metres_on_without() {
    let (seen, teleports) = thrown(1.9);
    assert_eq!(teleports, 0);
    let [(before, none), (after, error)] = [seen[0], seen[1]];
    assert!(length(none) < 1e-12 && length(sub(after, before)) > 1.89, "the body is there in the same frame");
    assert!((error[2] + 1.9 * 0.9).abs() < 1e-3 || (error[2] + 1.9).abs() < 1e-3, "and shown where it was: {error:?}");
    for two in seen[1..40].windows(2) {
        let kept = length(two[1].1) / length(two[0].1);
        assert!((kept - 0.9).abs() < 1e-5, "nine tenths of it per frame: {kept}");
    }
    let (seen, teleports) = thrown(2.1);
    assert_eq!(teleports, 1);
    assert!(seen.iter().all(|(_, error)| length(*error) < 1e-12), "it is shown where it is");
}
