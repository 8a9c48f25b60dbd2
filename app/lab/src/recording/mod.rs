//! What was done in a run: where it started and what changed in which frame; and the same as text for a link.
//!
//! Invariants: frames ascend; none is beyond `frames`; at most [`FRAMES_MAX`] frames and [`CHANGES_MAX`] changes are
//! kept, the oldest go first and become part of the start. A run is a function of its recording.

use crate::clock::FRAMES_PER_SECOND;
use crate::controls::{CONTROLS, Key, Settings, control};
use event::Event;
use scenario::Scenario;
use varint::INTEGER_MAX;
pub mod event;
pub mod scenario;
pub mod varint;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::VecDeque;

/// 60 s at 60 frames per second.
pub const FRAMES_MAX: u32 = 3600;
/// Twice what a quick player does in a minute, and again as much for the controls.
pub const CHANGES_MAX: usize = 4096;
/// The longest text that is read: 4096 changes of five bytes each, and faults, in base64.
const TEXT_MAX: usize = 36_864;
const VERSION: u64 = 1;
/// Tags below this are keys.
const KEYS: u64 = 32;
/// The tag of a second person's keys, which follow.
const SECOND: u64 = 62;
/// The tag of a scenario's faults: an event, and the first of all.
const FAULTS: u64 = 63;
/// Tags from here on are controls; those between are events.
const FIRST_CONTROL: u64 = 64;

/// One thing that was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// From this frame on these keys are held.
    Keys(u8),
    /// From this frame on a second person holds these.
    Second(u8),
    /// It happens in this frame.
    Event(Event),
    /// From this frame on a control has this code.
    Set(Key, u16),
}

/// How a run begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Everything random is a function of it.
    pub seed: u64,
    /// The controls.
    pub settings: Settings,
    /// Whether a bot plays until the first key.
    pub bot: bool,
    /// The keys that are held.
    pub keys: u8,
    /// Those of a second person, if one plays.
    pub second: Option<u8>,
}

impl Start {
    /// A run that nothing has happened in.
    pub fn new(seed: u64, settings: Settings) -> Start {
        Start { seed, settings, bot: true, keys: 0, second: None }
    }

    fn take_over(&mut self, change: Change) {
        match change {
            Change::Keys(keys) => {
                self.keys = keys;
                self.bot &= keys == 0;
            }
            Change::Second(keys) => self.second = Some(keys),
            Change::Set(key, code) => self.settings.set(key, code),
            Change::Event(_) => {}
        }
    }
}

/// A run so far, or its last minute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recording {
    /// How it began; where `first` is not 0, what it had come to in that frame.
    pub start: Start,
    /// What goes wrong from frame 0 on, counted as the run does.
    pub scenario: Option<Scenario>,
    /// The frame of the run that is frame 0 here.
    first: u32,
    /// How many frames are played.
    pub frames: u32,
    /// Ascending by frame, counted as the run does.
    changes: VecDeque<(u32, Change)>,
}

impl Recording {
    /// Of a run that has not begun.
    pub fn new(start: Start) -> Recording {
        Recording { start, scenario: None, first: 0, frames: 0, changes: VecDeque::new() }
    }

    /// The same with a scenario.
    #[must_use]
    pub fn with_scenario(self, scenario: Option<Scenario>) -> Recording {
        Recording { scenario, ..self }
    }

    /// Notes what is done just before `frame` of the run.
    pub fn note(&mut self, frame: u32, change: Change) {
        self.changes.push_back((frame, change));
    }

    /// Gives a control that is already set just before `frame` of the run another code; whether it is.
    pub fn set_again(&mut self, frame: u32, key: Key, code: u16) -> bool {
        let mut pending = self.changes.iter_mut().rev().take_while(|(at, _)| *at >= frame);
        let set = pending.find(|(_, change)| matches!(change, Change::Set(set, _) if *set == key));
        let Some((_, change)) = set else { return false };
        *change = Change::Set(key, code);
        true
    }

    /// Notes that `frame` of the run was played; forgets what is too old.
    pub fn played(&mut self, frame: u32) {
        let mut first = self.first.max((frame + 1).saturating_sub(FRAMES_MAX));
        while let Some((at, change)) = self.changes.front().copied() {
            if at >= first && self.changes.len() <= CHANGES_MAX {
                break;
            }
            self.start.take_over(change);
            self.changes.pop_front();
            // A change that went for want of room takes the frames before it along.
            first = first.max(at);
        }
        self.first = first;
        self.frames = frame + 1 - first;
    }

    /// Whether nothing was forgotten, so that the link reproduces the run bit for bit.
    pub fn is_whole(&self) -> bool {
        self.first == 0
    }

    /// How many changes are noted for the frame that comes next.
    pub fn pending(&self) -> usize {
        let next = self.first + self.frames;
        self.changes.iter().rev().take_while(|(at, _)| *at >= next).count()
    }

    /// The next change that is due at `frame`, counted from the start of the recording; taken out.
    pub fn take_due(&mut self, frame: u32) -> Option<Change> {
        self.changes.pop_front_if(|(at, _)| *at <= frame).map(|(_, change)| change)
    }

    /// As text of `A-Z a-z 0-9 - _`.
    pub fn encode(&self) -> String {
        let mut bytes = Vec::new();
        let Start { seed, settings, bot, keys, second } = self.start;
        varint::put(&mut bytes, VERSION);
        varint::put(&mut bytes, seed);
        let different = CONTROLS.iter().filter(|control| settings.code(control.key) != control.default);
        varint::put(&mut bytes, different.clone().count() as u64);
        for control in different {
            varint::put(&mut bytes, control.key as u64);
            varint::put(&mut bytes, u64::from(settings.code(control.key)));
        }
        varint::put(&mut bytes, u64::from(keys) << 1 | u64::from(bot));
        varint::put(&mut bytes, u64::from(self.frames));
        if let Some(scenario) = &self.scenario {
            [0, FAULTS].into_iter().for_each(|number| varint::put(&mut bytes, number));
            scenario.since(self.first * 1000 / FRAMES_PER_SECOND).put(&mut bytes);
        }
        let mut before = self.first;
        let begun = second.map(|keys| (before, Change::Second(keys)));
        for (at, change) in begun.iter().chain(&self.changes) {
            varint::put(&mut bytes, u64::from(at - before));
            before = *at;
            match change {
                Change::Keys(keys) => varint::put(&mut bytes, u64::from(*keys)),
                Change::Second(keys) => {
                    [SECOND, u64::from(*keys)].iter().for_each(|number| varint::put(&mut bytes, *number))
                }
                Change::Event(event) => varint::put(&mut bytes, KEYS + *event as u64),
                Change::Set(key, code) => {
                    varint::put(&mut bytes, FIRST_CONTROL + *key as u64);
                    varint::put(&mut bytes, u64::from(*code));
                }
            }
        }
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads what [`encode`](Recording::encode) wrote.
    ///
    /// # Errors
    /// A sentence when it is anything else.
    pub fn decode(text: &str) -> Result<Recording, String> {
        if text.len() > TEXT_MAX {
            return Err(format!("the link is too long: at most {TEXT_MAX} characters are read"));
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| broken())?;
        let mut rest = &bytes[..];
        match varint::take(&mut rest) {
            Some(VERSION) => decode_rest(rest).ok_or_else(broken),
            Some(version) if version > VERSION => {
                Err(format!("the link is of version {version}, and this program reads version {VERSION}"))
            }
            _ => Err(broken()),
        }
    }
}

fn broken() -> String {
    "the link is damaged: copy all of it, from behind the # to its end".to_owned()
}

fn decode_rest(mut rest: &[u8]) -> Option<Recording> {
    let seed = varint::take_at_most(&mut rest, INTEGER_MAX)?;
    let mut start = Start::new(seed, Settings::default());
    for _ in 0..varint::take_at_most(&mut rest, CONTROLS.len() as u64)? {
        let key = CONTROLS.get(usize::try_from(varint::take(&mut rest)?).ok()?)?.key;
        start.settings.set(key, take_code(&mut rest, key)?);
    }
    let flags = varint::take_at_most(&mut rest, KEYS * 2 - 1)?;
    (start.bot, start.keys) = (flags & 1 == 1, u8::try_from(flags >> 1).ok()?);
    let frames = u32::try_from(varint::take_at_most(&mut rest, u64::from(FRAMES_MAX))?).ok()?;
    let mut recording = Recording { frames, ..Recording::new(start) };
    let mut ahead = rest;
    if varint::take(&mut ahead) == Some(0) && varint::take(&mut ahead) == Some(FAULTS) {
        recording.scenario = Some(Scenario::take(&mut ahead)?);
        rest = ahead;
    }
    let mut at = 0;
    while !rest.is_empty() {
        at += u32::try_from(varint::take_at_most(&mut rest, u64::from(frames - at))?).ok()?;
        let change = take_change(&mut rest)?;
        if recording.changes.len() > CHANGES_MAX {
            return None;
        }
        recording.changes.push_back((at, change));
    }
    Some(recording)
}

fn take_change(rest: &mut &[u8]) -> Option<Change> {
    let tag = varint::take(rest)?;
    if tag < KEYS {
        return Some(Change::Keys(u8::try_from(tag).ok()?));
    }
    if tag == SECOND {
        return Some(Change::Second(u8::try_from(varint::take_at_most(rest, KEYS - 1)?).ok()?));
    }
    if tag < FIRST_CONTROL {
        let event = Event::NAMED.get(usize::try_from(tag - KEYS).ok()?)?.0;
        return Some(Change::Event(event));
    }
    let key = CONTROLS.get(usize::try_from(tag - FIRST_CONTROL).ok()?)?.key;
    // A change that starts the run again is never inside of one.
    if key.restarts() {
        return None;
    }
    Some(Change::Set(key, take_code(rest, key)?))
}

fn take_code(rest: &mut &[u8], key: Key) -> Option<u16> {
    u16::try_from(varint::take_at_most(rest, u64::from(control(key).code_max()))?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_sim::netsim::SplitMix64;

    fn some_recording(frames: u32, changes_in_a_frame: u32) -> Recording {
        let mut recording = Recording::new(Start::new(42, Settings::default()));
        let mut random = SplitMix64::new(1);
        for frame in 0..frames {
            for _ in 0..changes_in_a_frame {
                let change = match random.next_u64() % 5 {
                    0 => Change::Event(Event::NAMED[(random.next_u64() % Event::NAMED.len() as u64) as usize].0),
                    1 => Change::Set(Key::Latency, (random.next_u64() % 1001) as u16),
                    2 => Change::Second((random.next_u64() % 32) as u8),
                    _ => Change::Keys((random.next_u64() % 32) as u8),
                };
                recording.note(frame, change);
            }
            recording.played(frame);
        }
        recording
    }

    #[test]
    fn a_recording_comes_back_from_its_text() {
        let recording = some_recording(1000, 1);
        assert_eq!(Recording::decode(&recording.encode()), Ok(recording));
    }

    #[test]
    fn faults_come_back_and_what_is_forgotten_goes_from_them() {
        let (scenario, _) = Scenario::of_link("faults=0:p1:latency:up:9,500-900:s:stall&seed=1&players=2&ms=70000")
            .expect("well-formed");
        let mut recording = some_recording(100, 1).with_scenario(Some(scenario));
        assert_eq!(Recording::decode(&recording.encode()), Ok(recording.clone()));
        (100..FRAMES_MAX + 60).for_each(|frame| recording.played(frame));
        let read = Recording::decode(&recording.encode()).expect("well-formed");
        assert_eq!(
            read.scenario.expect("some").link(1),
            "faults=0:p1:latency:up:9,0-400:s:stall&seed=1&players=2&ms=69000"
        );
    }

    #[test]
    fn only_the_last_minute_is_kept_and_what_was_before_becomes_its_start() {
        let mut recording = Recording::new(Start::new(1, Settings::default()));
        recording.note(3, Change::Keys(5));
        recording.note(4, Change::Set(Key::Latency, 75));
        for frame in 0..FRAMES_MAX + 4 {
            recording.played(frame);
        }
        assert!(!recording.is_whole());
        assert_eq!((recording.start.keys, recording.start.bot), (5, false));
        assert_eq!(recording.start.settings.code(Key::Latency), 0);
        let mut read = Recording::decode(&recording.encode()).expect("it is well-formed");
        assert_eq!((read.frames, read.take_due(0)), (FRAMES_MAX, Some(Change::Set(Key::Latency, 75))));
    }

    #[test]
    fn the_text_of_the_busiest_recording_is_not_too_long() {
        let text = "10000-10000:p7:latency:down:10000,".repeat(120);
        let scenario = Scenario::read(&text, 8, u32::MAX).expect("well-formed");
        let recording = some_recording(FRAMES_MAX * 2, 20).with_scenario(Some(scenario));
        assert!(recording.changes.len() <= CHANGES_MAX);
        let text = recording.encode();
        assert!(text.len() <= TEXT_MAX, "{}", text.len());
        assert!(Recording::decode(&text).is_ok());
    }

    #[test]
    fn damaged_text_gets_a_sentence_and_never_a_panic() {
        let scenario = Scenario::read("500-900:s:stall,0:p1:latency:up:9", 2, 9000).expect("well-formed");
        let text = some_recording(300, 1).with_scenario(Some(scenario)).encode();
        let mut random = SplitMix64::new(2);
        for _ in 0..20_000 {
            let mut damaged = text.clone().into_bytes();
            let at = (random.next_u64() % damaged.len() as u64) as usize;
            damaged[at] = (random.next_u64() % 128) as u8;
            damaged.truncate(1 + (random.next_u64() % damaged.len() as u64) as usize);
            let damaged = String::from_utf8(damaged).expect("ASCII");
            if let Err(sentence) = Recording::decode(&damaged) {
                assert!(sentence.starts_with("the link is "), "{sentence}");
            }
        }
        assert!(Recording::decode("").is_err());
        assert!(Recording::decode("Ag").expect_err("version 2").contains("version 2"));
        assert!(Recording::decode(&"A".repeat(TEXT_MAX + 1)).is_err());
    }
}
