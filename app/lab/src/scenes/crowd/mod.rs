//! The scene of a crowd: hundreds of the server's entities wander, the person walks among them, and the server may send only so
//! many bytes.
//!
//! A session of its own, on the harness as every other; its world is the one that `foretell bench crowd` measures. A function of
//! seed, settings and keys by frame.

mod screen;
mod spending;

use super::engine::SceneEngine;
use crate::clock::{FRAMES_PER_SECOND, instant};
use crate::controls::Settings;
use crate::frame::crowd::CrowdPicture;
use crate::frame::lane::{Figure, Lane, Lanes, Question};
use foretell::{ClientConfig, Interest, ServerConfig, Tick};
use foretell_crowd::{Crowd, Walk};
use foretell_sim::harness::{HostOptions, PlayerOptions, Simulation};
use foretell_sim::netsim::Capacity;
use screen::{Ages, CrowdScreen, keys_of};

/// What its charts ask. The curves of the first are what is sent, the budget and what the link takes; of the second the oldest age
/// and the median.
const QUESTIONS: [Question; 2] = [
    Question { question: "What are you sent?", unit: "kB/s", digits: 1 },
    Question { question: "How old is what you see?", unit: "ms", digits: 0 },
];

/// The scene.
pub struct CrowdScene {
    seed: u64,
    session: Option<CrowdSession>,
}

/// The session that runs.
struct CrowdSession {
    simulation: Simulation<Crowd>,
    screen: CrowdScreen,
    /// The frame of the run in which it began.
    began: u32,
}

impl CrowdScene {
    pub fn new(seed: u64) -> CrowdScene {
        CrowdScene { seed, session: None }
    }
}

impl CrowdSession {
    fn new(seed: u64, began: u32, settings: &Settings) -> CrowdSession {
        let entities = settings.entities();
        let mut simulation = Simulation::new(Crowd::rules(), server(settings), Crowd::new(entities, entities), seed);
        simulation.add_player(PlayerOptions {
            client: ClientConfig::default(),
            host: HostOptions::at(FRAMES_PER_SECOND),
            conditions: settings.conditions(),
            world: Crowd::default(),
        });
        CrowdSession { simulation, screen: CrowdScreen::new(&Crowd::rules()), began }
    }

    /// Brings the link, the server and its crowd to the settings.
    fn arrange(&mut self, settings: &Settings) {
        let Simulation { server: host, players, .. } = &mut self.simulation;
        *host.server.config_mut() = server(settings);
        host.world.resize(settings.entities());
        for player in players {
            (player.up_conditions, player.down_conditions) = (settings.conditions(), settings.conditions());
        }
    }

    fn play(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lane {
        let CrowdSession { simulation, screen, began } = self;
        screen.keys = keys;
        simulation.run_until(instant(frame - *began), screen);
        screen.spending.end_frame();
        let (server, client) = (&simulation.server.server, &simulation.players[0].client);
        let delay_ms = client.stats().playout.delay_ticks * client.rules().tick_rate.seconds() * 1_000.0;
        let ages = screen.ages();
        Lane {
            name: "your screen",
            explain: "A session over the link that you choose: what of the crowd the server tells you, and how old it is.",
            figures: figures(screen, &ages, delay_ms),
            chart: chart(screen, &ages, settings),
            crowd: Some(CrowdPicture { radius_m: radius_m(settings.interest()), ..screen.picture(server.rows()) }),
            ..Lane::default()
        }
    }
}

fn server(settings: &Settings) -> ServerConfig {
    ServerConfig { budget: settings.budget(), interest: settings.interest(), ..ServerConfig::default() }
}

fn radius_m(interest: Interest) -> Option<f32> {
    match interest {
        Interest::Within { radius_m, .. } => Some(radius_m),
        Interest::Everything | Interest::Nearest(_) => None,
    }
}

/// The numbers under the picture.
fn figures(screen: &CrowdScreen, ages: &Ages, delay_ms: f64) -> Vec<Figure> {
    let figure = |label, value, unit, digits| Figure { label, value, unit, digits };
    let bytes =
        screen.spending.by_purpose().map(|(label, bytes_per_s)| figure(label, bytes_per_s / 1_000.0, "kB/s", 2));
    [
        figure("you are told of", ages.count, "", 0),
        figure("age, median", ages.median_ms, "ms", 0),
        figure("age, oldest", ages.oldest_ms, "ms", 0),
        figure("playout delay", delay_ms, "ms", 0),
        figure("sent to you", screen.spending.bytes_per_s() / 1_000.0, "kB/s", 1),
    ]
    .into_iter()
    .chain(bytes)
    .collect()
}

/// The newest points of the curves.
fn chart(screen: &CrowdScreen, ages: &Ages, settings: &Settings) -> Vec<Option<f64>> {
    let bottleneck = settings.conditions().bottleneck;
    let link = bottleneck.and_then(|bottleneck| match bottleneck.capacity {
        Capacity::Rate { bytes_per_s } => Some(f64::from(bytes_per_s) / 1_000.0),
        Capacity::Trace { .. } => None,
    });
    let budget = f64::from(settings.budget()) / 1_000.0;
    let age = |ms| (ages.count > 0.0).then_some(ms);
    vec![Some(screen.spending.bytes_per_s() / 1_000.0), Some(budget), link, age(ages.oldest_ms), age(ages.median_ms)]
}

impl SceneEngine for CrowdScene {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, _name: &str) -> bool {
        false
    }

    fn opening(&self, age: u32) -> Option<u8> {
        Some(keys_of(Walk::of(0, Tick::new(age))))
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        let CrowdScene { seed, session } = self;
        let session = session.get_or_insert_with(|| CrowdSession::new(*seed, frame, settings));
        session.arrange(settings);
        Lanes { lanes: vec![session.play(frame, keys, settings)], ..Lanes::default() }
    }
}

#[cfg(test)]
mod tests;
