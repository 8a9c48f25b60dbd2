//! The scene *Styles*: one owner sends where it is over one link, and every method shows it in a lane of its own.
//!
//! All lanes get the same updates at the same moments, so that they differ by method alone. The owner moves at 60 Hz in a
//! room of its own; nothing of the session is in it.

mod accuracy;
mod buffered;
mod catalogue;
mod method;
mod owner;
mod pun;
mod pun_options;

use super::engine::SceneEngine;
use crate::clock::{FRAME_S, instant};
use crate::controls::{Key, Settings};
use crate::frame::cube::ShownCube;
use crate::frame::lane::{Lane, Lanes, Question};
use accuracy::{Accuracy, Track};
use catalogue::{CHOICES, Entry};
use foretell_plan::motions::Motion;
use foretell_sim::netsim::Link;
use method::{Method, Receiver, ShownPosition, Update};
use owner::StyleOwner;
use pun_options::{PunExtrapolation, PunOptions};

/// How long "stall" holds the owner's machine, in frames.
const STALL_FRAMES: u32 = 120;
/// A step of a lane that is worth a sentence, in cm beyond what the owner does in a frame.
const JUMP_CM: f64 = 100.0;
/// How much of a new round trip counts, as PUN's mean has it.
const PING_GAIN: f64 = 0.125;
const SEED_OF_DELAYS: u64 = 0x5359_1e5d;

const QUESTIONS: [Question; 3] = [
    Question { question: "How far off, now?", unit: "cm", digits: 0 },
    Question { question: "How far off its path?", unit: "cm", digits: 1 },
    Question { question: "How unsteady?", unit: "cm", digits: 1 },
];

/// One method at work.
struct StyleLane {
    entry: &'static Entry,
    method: Box<dyn Method>,
    measure: Accuracy,
}

/// The engine of the scene.
pub struct Styles {
    /// What the lanes and the owner were made for: the codes of their controls.
    made_for: Option<(u16, u16)>,
    owner: StyleOwner,
    track: Track,
    link: Link,
    /// Where the owner was in the last update.
    sent: [f64; 3],
    /// The newest update that has come.
    newest: Option<Update>,
    ping_s: f64,
    lanes: Vec<StyleLane>,
}

impl Styles {
    /// Before its first frame.
    pub fn new(seed: u64) -> Styles {
        let owner = StyleOwner::new(None);
        Styles {
            made_for: None,
            owner,
            track: Track::default(),
            link: Link::new(seed, seed ^ SEED_OF_DELAYS),
            sent: owner.position(),
            newest: None,
            ping_s: 0.0,
            lanes: Vec::new(),
        }
    }

    /// Begins anew where owner or lanes are to be others. What is under way then arrives, and is old.
    fn arrange(&mut self, settings: &Settings) {
        let wanted = (settings.code(Key::Motion), settings.code(Key::Curves));
        if self.made_for == Some(wanted) {
            return;
        }
        if self.made_for.map(|(motion, _)| motion) != Some(wanted.0) {
            self.owner = StyleOwner::new(motion(wanted.0));
            (self.track, self.newest, self.sent) = (Track::default(), None, self.owner.position());
        }
        let start = self.newest.map_or(self.owner.position(), |newest| newest.position);
        let lane =
            |entry: &'static Entry| StyleLane { entry, method: (entry.make)(start), measure: Accuracy::default() };
        self.lanes = CHOICES[usize::from(wanted.1)].iter().map(lane).collect();
        self.made_for = Some(wanted);
    }

    /// Sends where the owner is, if it is time.
    fn send(&mut self, frame: u32, settings: &Settings) {
        if !frame.is_multiple_of(interval(settings)) || self.owner.is_stalled() {
            return;
        }
        let position = self.owner.position();
        let way = core::array::from_fn(|axis| position[axis] - self.sent[axis]);
        let update = Update { sent: frame, position, velocity: self.owner.velocity(), way };
        self.link.send(instant(frame), &encode(&update), &settings.conditions());
        self.sent = position;
    }

    /// Gives every method what has come.
    fn receive(&mut self, frame: u32, receiver: &mut Receiver) {
        while let Some(delivery) = self.link.receive(instant(frame)) {
            let Some(update) = decode(delivery.bytes) else { continue };
            let round_trip_s = 2.0 * receiver.age_s(&update);
            self.ping_s += if self.newest.is_none() { round_trip_s } else { PING_GAIN * (round_trip_s - self.ping_s) };
            receiver.ping_s = self.ping_s;
            self.newest = self.newest.into_iter().chain([update]).max_by_key(|update| update.sent);
            self.lanes.iter_mut().for_each(|lane| lane.method.receive(&update, receiver));
        }
    }
}

impl SceneEngine for Styles {
    fn questions(&self) -> &'static [Question] {
        &QUESTIONS
    }

    fn event(&mut self, name: &str) -> bool {
        match name {
            "impulse" => self.owner.push(),
            "teleport" => self.owner.teleport(),
            "stall" => self.owner.stall(STALL_FRAMES),
            _ => return false,
        }
        true
    }

    fn frame(&mut self, frame: u32, keys: u8, settings: &Settings) -> Lanes {
        self.arrange(settings);
        self.owner.step(keys);
        let truth = self.owner.position();
        self.track.note_truth(truth);
        let mut receiver = Receiver {
            now_s: f64::from(frame) * FRAME_S,
            interval_s: f64::from(interval(settings)) * FRAME_S,
            ping_s: self.ping_s,
            pun: pun_options(settings),
        };
        self.lanes.iter_mut().for_each(|lane| lane.method.advance());
        self.send(frame, settings);
        self.receive(frame, &mut receiver);
        let mut lanes = Lanes::default();
        for (number, lane) in self.lanes.iter_mut().enumerate() {
            let seen = lane.method.show(&receiver);
            let step = lane.measure.note(&self.track, seen.position);
            if step - self.track.newest_step() * 100.0 > JUMP_CM {
                lanes.steps.push((number, format!("jumped by {:.1} m", step / 100.0)));
            }
            lanes.lanes.push(Lane {
                name: lane.entry.name,
                explain: lane.entry.explain,
                cubes: cubes(truth, seen, self.newest.as_ref()),
                figures: lane.measure.figures(),
                chart: lane.measure.chart(),
                ..Lane::default()
            });
        }
        lanes
    }
}

/// The truth, what came last of it, and what is shown.
fn cubes(truth: [f64; 3], seen: ShownPosition, newest: Option<&Update>) -> Vec<ShownCube> {
    let cube = |role, position, source, beyond_ms| ShownCube { beyond_ms, ..ShownCube::at(role, 1, position, source) };
    let source = if seen.beyond_ms > 0.0 { "extrapolated" } else { "interpolated" };
    let ghost = newest.map(|update| cube("ghost", update.position, "confirmed", 0.0));
    let shown = [cube("server", truth, "confirmed", 0.0), cube("other", seen.position, source, seen.beyond_ms)];
    ghost.into_iter().chain(shown).collect()
}

/// The owner's motion by the code of its control; `None` for keys.
fn motion(code: u16) -> Option<Motion> {
    code.checked_sub(1).map(|stated| Motion::ALL[usize::from(stated)])
}

/// In frames.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "60, 20, 10, 5 or 2 Hz")]
fn interval(settings: &Settings) -> u32 {
    (60.0 / settings.number(Key::UpdateRate)) as u32
}

fn pun_options(settings: &Settings) -> PunOptions {
    let teleport_m = settings.number(Key::PunTeleport);
    PunOptions {
        extrapolation: PunExtrapolation::ALL[usize::from(settings.code(Key::PunExtrapolation))],
        speed: settings.number(Key::PunSpeed),
        teleport_m: if teleport_m > 0.0 { teleport_m } else { f64::INFINITY },
    }
}

/// A number and nine parts of a vector, which are in f32 on the wire.
const UPDATE_BYTES: usize = 40;

fn encode(update: &Update) -> [u8; UPDATE_BYTES] {
    let mut bytes = [0; UPDATE_BYTES];
    bytes[..4].copy_from_slice(&update.sent.to_le_bytes());
    let parts = [update.position, update.velocity, update.way].into_iter().flatten();
    for (place, part) in bytes[4..].chunks_exact_mut(4).zip(parts) {
        #[expect(clippy::cast_possible_truncation, reason = "f32 is what engines send")]
        place.copy_from_slice(&(part as f32).to_le_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<Update> {
    let bytes: &[u8; UPDATE_BYTES] = bytes.try_into().ok()?;
    let (words, _) = bytes.as_chunks::<4>();
    let part = |index: usize| f64::from(f32::from_le_bytes(words[index]));
    let vector = |first: usize| [part(first), part(first + 1), part(first + 2)];
    Some(Update { sent: u32::from_le_bytes(words[0]), position: vector(1), velocity: vector(4), way: vector(7) })
}
