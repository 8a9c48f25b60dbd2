//! The scene *Styles*: one owner sends where it is over one link, and every method shows it in a lane of its own.
//!
//! All lanes get the same updates at the same moments, so that they differ by method alone. The owner moves at 60 Hz in a
//! room of its own; nothing of the session is in it.

mod buffered;
mod catalogue;
mod measure;
mod method;
mod owner;
mod pun;

use super::controls::Key;
use super::frame::Shown;
use super::lanes::{Bench, Lane, Lanes, Question};
use super::settings::Settings;
use crate::sweep::curves::parade::Motion;
use catalogue::{CHOICES, Entry};
use core::time::Duration;
use foretell::Instant;
use foretell::netsim::Link;
use measure::{Measure, Track};
use method::{Known, Method, Seen, Update};
use owner::Owner;

/// From one frame to the next, in seconds.
const FRAME_S: f64 = 1.0 / 60.0;
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
struct Shower {
    entry: &'static Entry,
    method: Box<dyn Method>,
    measure: Measure,
}

/// The engine of the scene.
pub struct Styles {
    /// What the showers and the owner were made for: the codes of their controls.
    made_for: Option<(u16, u16)>,
    owner: Owner,
    track: Track,
    link: Link,
    /// Where the owner was in the last update.
    sent: [f64; 3],
    /// The newest update that has come.
    newest: Option<Update>,
    ping_s: f64,
    showers: Vec<Shower>,
}

impl Styles {
    /// Before its first frame.
    pub fn new(seed: u64) -> Styles {
        let owner = Owner::new(None);
        Styles {
            made_for: None,
            owner,
            track: Track::default(),
            link: Link::new(seed, seed ^ SEED_OF_DELAYS),
            sent: owner.position(),
            newest: None,
            ping_s: 0.0,
            showers: Vec::new(),
        }
    }

    /// Begins anew where owner or lanes are to be others. What is under way then arrives, and is old.
    fn arrange(&mut self, settings: &Settings) {
        let wanted = (settings.code(Key::Motion), settings.code(Key::Curves));
        if self.made_for == Some(wanted) {
            return;
        }
        if self.made_for.map(|(motion, _)| motion) != Some(wanted.0) {
            self.owner = Owner::new(motion(wanted.0));
            (self.track, self.newest, self.sent) = (Track::default(), None, self.owner.position());
        }
        let start = self.newest.map_or(self.owner.position(), |newest| newest.position);
        let shower = |entry: &'static Entry| Shower { entry, method: (entry.make)(start), measure: Measure::default() };
        self.showers = CHOICES[usize::from(wanted.1)].iter().map(shower).collect();
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
    fn receive(&mut self, frame: u32, known: &mut Known) {
        while let Some(delivery) = self.link.receive(instant(frame)) {
            let Some(update) = decode(delivery.bytes) else { continue };
            let round_trip_s = 2.0 * known.age_s(&update);
            self.ping_s += if self.newest.is_none() { round_trip_s } else { PING_GAIN * (round_trip_s - self.ping_s) };
            known.ping_s = self.ping_s;
            self.newest = self.newest.into_iter().chain([update]).max_by_key(|update| update.sent);
            self.showers.iter_mut().for_each(|shower| shower.method.receive(&update, known));
        }
    }
}

impl Bench for Styles {
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
        let mut known = Known {
            now_s: f64::from(frame) * FRAME_S,
            interval_s: f64::from(interval(settings)) * FRAME_S,
            ping_s: self.ping_s,
            pun: pun_options(settings),
        };
        self.showers.iter_mut().for_each(|shower| shower.method.advance());
        self.send(frame, settings);
        self.receive(frame, &mut known);
        let mut lanes = Lanes::default();
        for (number, shower) in self.showers.iter_mut().enumerate() {
            let seen = shower.method.show(&known);
            let step = shower.measure.note(&self.track, seen.position);
            if step - self.track.newest_step() * 100.0 > JUMP_CM {
                lanes.steps.push((number, format!("jumped by {:.1} m", step / 100.0)));
            }
            lanes.lanes.push(Lane {
                name: shower.entry.name,
                explain: shower.entry.explain,
                cubes: cubes(truth, seen, self.newest.as_ref()),
                figures: shower.measure.figures(),
                chart: shower.measure.chart(),
                bodies: None,
            });
        }
        lanes
    }
}

/// The truth, what came last of it, and what is shown.
fn cubes(truth: [f64; 3], seen: Seen, newest: Option<&Update>) -> Vec<Shown> {
    let cube = |role, position, source, beyond_ms| Shown { role, id: "1".to_owned(), position, source, beyond_ms };
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

fn pun_options(settings: &Settings) -> pun::Options {
    let teleport_m = settings.number(Key::PunTeleport);
    pun::Options {
        extrapolation: pun::Extrapolation::ALL[usize::from(settings.code(Key::PunExtrapolation))],
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

/// When a frame is drawn.
fn instant(frame: u32) -> Instant {
    Instant::ZERO + Duration::from_micros((u64::from(frame) * 1_000_000).div_ceil(60))
}
