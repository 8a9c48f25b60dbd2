//! What the person's screen shows of the crowd, and how old that is.

use super::spending::Spending;
use crate::frame::crowd::{CrowdPicture, Walker, text};
use foretell::motion::Pose;
use foretell::session::client::PoseSource;
use foretell::{Client, Entity, Frame, PlayerId, Rows, Rules, Tick, Views};
use foretell_crowd::{Body, Crowd, Walk};
use foretell_sim::harness::{Driver, Moment, Sent};
use std::collections::BTreeMap;

/// The keys that count.
const FORWARD: u8 = 1;
const LEFT: u8 = 4;
const RIGHT: u8 = 8;

/// Those that make somebody walk so.
pub fn keys_of(Walk { forward, left, right }: Walk) -> u8 {
    u8::from(forward) * FORWARD + u8::from(left) * LEFT + u8::from(right) * RIGHT
}

/// Everything between the harness and the lane of the scene.
pub struct CrowdScreen {
    /// The keys of the person.
    pub keys: u8,
    /// What they are sent.
    pub spending: Spending,
    player: Option<PlayerId>,
    views: Views,
    shown: BTreeMap<Entity, Shown>,
}

/// An entity as it is shown.
#[derive(Clone, Copy, Debug)]
struct Shown {
    pose: Pose,
    age_ms: f64,
}

/// How old what is shown of others is, beyond the playout delay, in ms; all 0 where nothing is shown.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ages {
    /// How many are shown.
    pub count: f64,
    pub median_ms: f64,
    pub oldest_ms: f64,
}

impl CrowdScreen {
    pub fn new(rules: &Rules) -> CrowdScreen {
        CrowdScreen {
            keys: 0,
            spending: Spending::new(rules),
            player: None,
            views: Views::new(),
            shown: BTreeMap::new(),
        }
    }

    fn is_own(&self, entity: Entity) -> bool {
        Some(entity.spawned_for()) == self.player
    }

    /// Of all others that are shown.
    pub fn ages(&self) -> Ages {
        let others = self.shown.iter().filter(|(entity, _)| !self.is_own(**entity));
        let mut ages: Vec<f64> = others.map(|(_, shown)| shown.age_ms).collect();
        ages.sort_unstable_by(f64::total_cmp);
        let (Some(oldest_ms), Some(median_ms)) = (ages.last(), ages.get(ages.len() / 2)) else {
            return Ages::default();
        };
        Ages { count: u32::try_from(ages.len()).map_or(0.0, f64::from), median_ms: *median_ms, oldest_ms: *oldest_ms }
    }

    /// All that the server has, each as it is shown.
    pub fn picture(&self, truth: &Rows) -> CrowdPicture {
        let walkers = truth.states::<Body>().map(|(of, body)| (of.entity, self.walker(of.entity, &body)));
        let (own, others): (Vec<_>, Vec<_>) = walkers.partition(|(entity, _)| self.is_own(*entity));
        let text =
            |walkers: Vec<(Entity, Walker)>| text(&walkers.into_iter().map(|(_, walker)| walker).collect::<Vec<_>>());
        CrowdPicture { rows: text(others), own: text(own), radius_m: None }
    }

    fn walker(&self, entity: Entity, truth: &Body) -> Walker {
        let true_pose = Pose { position: truth.position.map(f64::from), rotation: truth.rotation.map(f64::from) };
        let shown = self.shown.get(&entity);
        let pose = shown.map_or(true_pose, |shown| shown.pose);
        let flat = |[x, _, z]: [f64; 3]| [x, z];
        Walker {
            shown: flat(pose.position),
            truth: flat(true_pose.position),
            heading: heading(pose.rotation),
            age_ms: shown.map(|shown| shown.age_ms),
        }
    }
}

/// To where it looks that is turned so, from x to z.
fn heading([x, y, z, w]: [f64; 4]) -> f64 {
    foretell::math::f64::atan2(2.0 * (x * z - w * y), 1.0 - 2.0 * (y * y + z * z))
}

/// How far beyond what was told it is shown.
fn age_ms(source: PoseSource) -> f64 {
    match source {
        PoseSource::Extrapolated(beyond) => beyond.as_secs_f64() * 1_000.0,
        PoseSource::Authority | PoseSource::Predicted | PoseSource::Interpolated | PoseSource::Held => 0.0,
    }
}

impl Driver<Crowd> for CrowdScreen {
    fn input(&mut self, _machine: usize, _tick: Tick) -> Walk {
        let holds = |key: u8| self.keys & key != 0;
        Walk { forward: holds(FORWARD), left: holds(LEFT), right: holds(RIGHT) }
    }

    fn after_client(&mut self, _machine: usize, at: Moment, client: &Client<Crowd>, _frame: &Frame<'_>) {
        self.player = client.player();
        client.present(at.local, &mut self.views);
        let shown =
            self.views.iter().map(|view| (view.entity, Shown { pose: view.pose(), age_ms: age_ms(view.source) }));
        self.shown = shown.collect();
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if !sent.to_server {
            self.spending.note(sent.datagram);
        }
    }
}
