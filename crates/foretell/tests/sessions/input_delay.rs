//! Inputs that wait before they count, so that less is predicted.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use core::time::Duration;
use foretell::session::client::InputDelay;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, PlayerId, Rules, Server, ServerConfig, ServerFrame, Tick, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;

/// Presses up from one tick on, and pushes the body once.
#[derive(Default)]
struct Play {
    /// The next tick to be asked for.
    next: Option<Tick>,
    pressed_at: Option<Instant>,
    moved_at: Option<Instant>,
    lead: Vec<f64>,
    corrections: usize,
    push_at: Option<Tick>,
    missed: u64,
}

const PRESSED: Tick = Tick::new(640);

impl Driver<Masses> for Play {
    fn input(&mut self, _player: usize, tick: Tick) -> Buttons {
        if let Some(next) = self.next {
            assert_eq!(tick, next, "each tick is asked for once, in order");
        }
        self.next = Some(tick.next());
        Buttons { up: tick >= PRESSED, ..Buttons::default() }
    }

    fn before_server(&mut self, _now: Instant, server: &mut ServerHost<Masses>) {
        if self.push_at.take_if(|at| *at <= server.server.tick()).is_some() {
            server.world.first().velocity[0] += 3.0;
        }
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Masses>, _frame: &ServerFrame<'_>) {
        self.missed = server.stats(PlayerId::new(1)).map_or(0, |stats| stats.inputs.missed);
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Masses>, frame: &Frame<'_>) {
        let now_ticks = at.now.micros() as f64 / 15_625.0;
        self.lead.push(f64::from(frame.tick.get()) - 1.0 + client.tick_fraction(at.local) - now_ticks);
        self.corrections += frame.corrections.len();
        if self.next > Some(PRESSED) {
            self.pressed_at.get_or_insert(at.now);
        }
        let moves = client.predicted(frame.tick).and_then(|rows| rows.states::<Body>().next());
        if moves.is_some_and(|(_, body)| body.velocity[2] > 0.0) {
            self.moved_at.get_or_insert(at.now);
        }
    }
}

struct Seen {
    /// From the press to the first motion, in ticks.
    response: f64,
    lead: f64,
    rollback_ticks: u32,
    play: Play,
}

fn seen(latency_ms: u64, input_delay: InputDelay) -> Seen {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), ServerConfig::default(), Masses::default(), 5);
    let conditions = Conditions { latency: Duration::from_millis(latency_ms), ..Conditions::default() };
    let client = ClientConfig { input_delay, ..ClientConfig::default() };
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: Masses::default() });
    let mut play = Play { push_at: Some(Tick::new(900)), ..Play::default() };
    simulation.run_until(Instant::from_micros(20_000_000), &mut play);
    let client = &simulation.players[0].client;
    assert_eq!(client.state(simulation.now()), ClientState::Playing);
    let (pressed, moved) = (play.pressed_at.expect("pressed"), play.moved_at.expect("it moved"));
    Seen {
        response: moved.since(pressed).as_secs_f64() * 64.0,
        lead: play.lead[play.lead.len() - 300..].iter().sum::<f64>() / 300.0,
        rollback_ticks: client.stats().prediction.rollback_ticks_max,
        play,
    }
}

#[test]
fn delayed_inputs_answer_later_and_so_many_ticks_less_are_predicted() {
    let at_once = seen(75, InputDelay::default());
    let delayed = seen(75, InputDelay::Ticks(4));
    assert!(at_once.response < 1.1 && (3.0..5.1).contains(&delayed.response), "{}", delayed.response);
    let (lead, less) = (at_once.lead, delayed.lead);
    assert!((3.4..4.6).contains(&(lead - less)), "{lead} and {less} ticks ahead");
    assert!((3..=5).contains(&(at_once.rollback_ticks - delayed.rollback_ticks)));
    for seen in [&at_once, &delayed] {
        // The push, and nothing else.
        assert_eq!((seen.play.corrections, seen.play.missed), (1, 0));
    }
}

#[test]
fn a_delay_above_a_round_trip_waits_as_long_as_that_is_exceeded() {
    let rtt = Duration::from_millis(100);
    let delay = InputDelay::AboveRtt { rtt, ticks_max: 6 };
    let near = seen(20, delay);
    assert!(near.response < 1.1, "{}", near.response);
    let far = seen(80, delay);
    // 60 ms are 3.8 ticks.
    assert!((2.5..5.0).contains(&far.response), "{}", far.response);
    let farther = seen(250, delay);
    assert!((5.0..7.1).contains(&farther.response), "at most six ticks: {}", farther.response);
    for seen in [near, far, farther] {
        assert_eq!(seen.play.corrections, 1);
    }
}

#[test]
fn a_delay_that_changes_while_it_runs_asks_for_no_tick_twice_and_misses_none() {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), ServerConfig::default(), Masses::default(), 5);
    let conditions = Conditions { latency: Duration::from_millis(60), ..Conditions::default() };
    let (client, world) = (ClientConfig::default(), Masses::default());
    simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world });
    let mut play = Play::default();
    for (second, ticks) in (5_u64..).step_by(5).zip([0, 6, 2, 16, 0, 1]) {
        simulation.players[0].client.config_mut().input_delay = InputDelay::Ticks(ticks);
        simulation.run_until(Instant::from_micros(second * 1_000_000), &mut play);
        assert_eq!(simulation.players[0].client.state(simulation.now()), ClientState::Playing, "{ticks} ticks");
    }
    assert_eq!(play.corrections, 0);
}
