//! One session with every curve in it, and the article's scripts beside it, fed by the same snapshots.

use super::world::{Parade, entity, place};
use core::time::Duration;
use foretell::{
    Client, ClientConfig, Curve, Frame, Instant, PlayerId, Rules, SendRate, Server, ServerConfig, ServerFrame, Tick,
    TickRate, Views, World,
};
use foretell_arena::Buttons;
use foretell_articles::avatar::{Avatar, Style};
use foretell_plan::motions::{Body, Motion};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// Ticks per second: all rates of snapshots divide it.
pub const TICK_HZ: u16 = 60;
/// One way.
pub const LATENCY_MS: u64 = 50;
/// One way, evenly spread above the latency.
pub const JITTER_MS: u64 = 10;
/// The period of the article's scripts, in seconds.
const PERIOD_S: f64 = 0.1;
/// How long a session runs before it is measured: until the playout delay has settled.
const BEFORE_S: u32 = 30;

/// How a body is shown: by the session, or by one of the article's scripts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// A curve of the session.
    Curve(Curve),
    /// A script, fed with each new snapshot as it comes, its age measured by perfect clocks.
    Article(Style),
}

impl Method {
    /// All of them, the session's first.
    pub const ALL: [Method; 14] = [
        Method::Curve(Curve::Hold),
        Method::Curve(Curve::Linear),
        Method::Curve(Curve::Extrapolated),
        Method::Curve(Curve::Hermite),
        Method::Curve(Curve::CatmullRom),
        Method::Curve(Curve::DeadReckoning),
        Method::Curve(Curve::Combined),
        Method::Curve(Curve::VelocityBlending),
        Method::Article(Style::Minimal),
        Method::Article(Style::Lerp),
        Method::Article(Style::MoveTowards),
        Method::Article(Style::Extrapolate),
        Method::Article(Style::DeadReckoning),
        Method::Article(Style::Combined),
    ];

    /// What stands in the table.
    pub fn name(self) -> String {
        match self {
            Method::Curve(curve) => format!("{curve:?}"),
            Method::Article(style) => format!("article: {style:?}"),
        }
    }
}

/// Where a body was shown in a frame. Times in seconds since the motions began.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// The instant of the frame.
    pub at_s: f64,
    /// Where the playout cursor stood, if it was shown there.
    pub cursor_s: Option<f64>,
    /// In metres.
    pub position: [f64; 3],
}

/// What was sampled in a session.
#[derive(Default)]
pub struct CurveSamples {
    /// By motion, then by method: frame by frame.
    pub shown: [Vec<Vec<Shown>>; 3],
    /// How far the playout cursor was to be behind the newest possible information, by frame, in ms.
    pub playout_ms: Vec<f64>,
}

/// Observes the one client.
struct CurveObserver {
    samples: CurveSamples,
    /// By motion, then by script.
    avatars: Vec<Vec<Avatar<f64, 3>>>,
    /// When the server's state 0 was, in seconds of virtual time.
    began_s: f64,
    newest: Option<Tick>,
    last_s: f64,
    views: Views,
}

impl Driver<Parade> for CurveObserver {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_server(&mut self, now: Instant, server: &Server<Parade>, _frame: &ServerFrame<'_>) {
        let state_s = f64::from(server.tick().get()) / f64::from(TICK_HZ);
        self.began_s = self.began_s.min(seconds(now) - state_s);
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Parade>, _frame: &Frame<'_>) {
        let now_s = seconds(at.now) - self.began_s;
        self.feed(now_s, client);
        let dt = now_s - core::mem::replace(&mut self.last_s, now_s);
        let is_measured = at.now >= Instant::from_micros(u64::from(BEFORE_S) * 1_000_000);
        for (motion, avatars) in self.avatars.iter_mut().enumerate() {
            for (nth, avatar) in avatars.iter_mut().enumerate() {
                let position = avatar.update(dt);
                if is_measured {
                    self.samples.shown[motion][Curve::ALL.len() + nth].push(Shown {
                        at_s: now_s,
                        cursor_s: None,
                        position,
                    });
                }
            }
        }
        if !is_measured {
            return;
        }
        self.samples.playout_ms.push(client.stats().playout.delay_ticks * 1000.0 / f64::from(TICK_HZ));
        let cursor_s = client.playout_cursor(at.local).map(|cursor| cursor.as_ticks() / f64::from(TICK_HZ));
        client.present(at.local, &mut self.views);
        for view in &self.views {
            if view.owner == PlayerId::SERVER {
                let (motion, lane) = place(view.entity);
                let cursor_s = cursor_s.filter(|_| !Curve::ALL[lane].leads());
                self.samples.shown[motion][lane].push(Shown { at_s: now_s, cursor_s, position: view.pose().position });
            }
        }
    }
}

impl CurveObserver {
    /// Gives the scripts what has come since the last frame.
    fn feed(&mut self, now_s: f64, client: &Client<Parade>) {
        let Some((tick, rows)) = client.newest_snapshot().filter(|(tick, _)| Some(*tick) > self.newest) else { return };
        self.newest = Some(tick);
        let lag_s = (now_s - f64::from(tick.get()) / f64::from(TICK_HZ)).max(0.0);
        for (of, Body { position, velocity }) in rows.states::<Body>() {
            let (motion, lane) = place(of.entity);
            if lane == 0 {
                self.avatars[motion].iter_mut().for_each(|avatar| avatar.receive(position, velocity, lag_s));
            }
        }
    }
}

fn seconds(at: Instant) -> f64 {
    at.micros() as f64 / 1e6
}

/// Measures for so many seconds with so many snapshots per second over a link that loses this share.
pub fn run(snapshot_hz: u16, loss: f64, measured_s: u32, seed: u64) -> CurveSamples {
    let rules = Rules { tick_rate: TickRate::hz(TICK_HZ), ..Rules::new(Parade::schema()) };
    let config = ServerConfig { snapshot_rate: SendRate::Hz(snapshot_hz), ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Parade::new(Curve::ALL.len()), seed);
    // Half a tick later than the server, so that their frames don't coincide.
    let start = simulation.now() + Duration::from_micros(8_333);
    let styles = Method::ALL.iter().filter_map(|method| match method {
        Method::Article(style) => Some(*style),
        Method::Curve(_) => None,
    });
    let avatar = |motion: Motion, style| Avatar::new(style, PERIOD_S, motion.at(0.0).position);
    let mut observer = CurveObserver {
        samples: CurveSamples {
            shown: [(); 3].map(|()| vec![Vec::new(); Method::ALL.len()]),
            ..CurveSamples::default()
        },
        avatars: Motion::ALL.map(|motion| styles.clone().map(|style| avatar(motion, style)).collect()).into(),
        began_s: f64::INFINITY,
        newest: None,
        last_s: 0.0,
        views: Views::new(),
    };
    simulation.run_until(start, &mut observer);
    let conditions = Conditions {
        latency: Duration::from_millis(LATENCY_MS),
        jitter: Duration::from_millis(JITTER_MS),
        loss: Loss::Uniform(loss),
        ..Conditions::default()
    };
    let (client, host) = (ClientConfig::default(), HostOptions::at(60));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Parade::default() });
    for motion in 0..Motion::ALL.len() {
        for (lane, curve) in Curve::ALL.into_iter().enumerate() {
            simulation.players[0].client.show_with(entity(motion, lane), curve);
        }
    }
    simulation.run_until(Instant::from_micros(u64::from(BEFORE_S + measured_s) * 1_000_000), &mut observer);
    observer.samples
}
