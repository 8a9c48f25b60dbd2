//! The protocol: a message of the page in, the program's answer out. Pure: the same messages give the same answers.

use crate::controls::{CONTROLS, Scene, control, key_named, presets};
use crate::frame::Frame;
use crate::recording::event::Event;
use crate::recording::scenario::Scenario;
use crate::recording::varint::INTEGER_MAX;
use crate::recording::{Recording, Start};
use crate::run::Run;
use crate::run::scripts::{SCRIPTS, Script};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The seed of a run for which none is asked: one that corrects within the first seconds.
const SEED: u64 = 8;
/// How many frames one message may ask for.
const FRAMES_MAX: u32 = 4;
/// All five keys.
const KEYS_MAX: u8 = 31;

/// What the page says.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Request {
    Start {
        seed: Option<u64>,
        settings: Option<Map<String, Value>>,
        link: Option<String>,
        /// Whether the faults of the run so far stay; those of a link are its own.
        #[serde(default)]
        faults: bool,
    },
    Frames {
        count: u32,
        keys: u8,
        /// Those of a second person.
        #[serde(default)]
        second: u8,
    },
    Set {
        key: String,
        value: Value,
    },
    Preset {
        name: String,
    },
    Event {
        name: String,
    },
    Link,
}

/// What the program answers.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Answer {
    Ready {
        seed: u64,
        controls: Vec<Value>,
        presets: Vec<Offered>,
        scripts: Vec<OnOffer>,
        /// Those of the new run that have been made already.
        frames: Vec<Frame>,
        headlines: Vec<Headline>,
        #[serde(flatten)]
        chosen: Chosen,
    },
    Settings {
        /// Whether the run has started again for it.
        restarted: bool,
        #[serde(flatten)]
        chosen: Chosen,
    },
    Frames {
        frames: Vec<Frame>,
        /// Where the recording that is played has changed something.
        chosen: Option<Chosen>,
    },
    Link {
        fragment: String,
        /// Whether it holds the run from its beginning, and so reproduces it bit for bit.
        whole: bool,
    },
    Error {
        message: String,
    },
}

/// A preset on offer.
#[derive(Serialize)]
struct Offered {
    name: String,
    explain: String,
}

/// A script on offer.
#[derive(Serialize)]
struct OnOffer {
    /// The name of its event.
    name: &'static str,
    label: &'static str,
    explain: &'static str,
    source: &'static str,
}

/// What stands over a scene.
#[derive(Serialize)]
struct Headline {
    name: &'static str,
    /// Where the own cube is predicted, or where it is not.
    prediction: bool,
    title: &'static str,
    /// What to look at.
    look: &'static str,
}

/// What is chosen.
#[derive(Serialize)]
struct Chosen {
    settings: Map<String, Value>,
    /// The preset that holds; none after a control of the network was moved.
    preset: Option<String>,
    /// Seed, settings and faults, for the address of the page.
    fragment: String,
}

/// One page's talk with the program, and its run.
pub struct PageConnection {
    run: Run,
}

impl OnOffer {
    fn of(script: &Script) -> OnOffer {
        let Script { event, label, explain, source, .. } = script;
        OnOffer { name: event.name(), label, explain, source }
    }
}

impl Headline {
    /// All of them: two for each scene.
    fn all() -> Vec<Headline> {
        let of = |scene: Scene, prediction| {
            let (title, look) = (scene.title(prediction), scene.look(prediction));
            Headline { name: scene.name(), prediction, title, look }
        };
        Scene::ALL.into_iter().flat_map(|scene| [true, false].map(|prediction| of(scene, prediction))).collect()
    }
}

impl PageConnection {
    /// Begins with the default run.
    pub fn new() -> PageConnection {
        PageConnection { run: Run::new(Recording::new(Start::new(SEED, presets::default_settings()))) }
    }

    /// What the program says first.
    pub fn greeting(&mut self) -> String {
        text(&self.ready())
    }

    /// The answer to a message; none to an event.
    pub fn answer(&mut self, message: &str) -> Option<String> {
        let answer = match serde_json::from_str(message) {
            Ok(request) => self.respond(request).unwrap_or_else(|message| Some(Answer::Error { message })),
            Err(error) => {
                let message = format!("the message is not one of the lab's protocol: {error}");
                Some(Answer::Error { message })
            }
        };
        answer.map(|answer| text(&answer))
    }

    fn respond(&mut self, request: Request) -> Result<Option<Answer>, String> {
        let answer = match request {
            Request::Start { seed, settings, link, faults } => {
                let mut origin = beginning(seed, settings.as_ref(), link.as_deref())?;
                if faults && link.is_none() {
                    origin.scenario.clone_from(&self.run.recording().scenario);
                }
                self.run = Run::new(origin);
                self.ready()
            }
            Request::Frames { count, keys, second } => {
                if !(1..=FRAMES_MAX).contains(&count) || keys.max(second) > KEYS_MAX {
                    return Err(format!("count must be 1 to {FRAMES_MAX}, and keys 0 to {KEYS_MAX}"));
                }
                self.run.second(second);
                let before = *self.run.settings();
                let frames = (0..count).map(|_| self.run.frame(keys)).collect();
                Answer::Frames { frames, chosen: (*self.run.settings() != before).then(|| self.chosen()) }
            }
            Request::Set { key, value } => {
                let key = key_named(&key)?;
                let restarted = self.run.set(key, control(key).code(&value)?)?;
                Answer::Settings { restarted, chosen: self.chosen() }
            }
            Request::Preset { name } => {
                let mut settings = *self.run.settings();
                presets::named(&name)?.apply(&mut settings);
                self.run.set_all(&settings)?;
                Answer::Settings { restarted: false, chosen: self.chosen() }
            }
            Request::Event { name } => {
                self.run.event(Event::named(&name)?)?;
                return Ok(None);
            }
            Request::Link => {
                let recording = self.run.recording();
                Answer::Link { fragment: recording.encode(), whole: recording.is_whole() }
            }
        };
        Ok(Some(answer))
    }

    /// A new run: it begins when the person is in it.
    fn ready(&mut self) -> Answer {
        let frames = self.run.warm_up();
        let settings = self.run.settings();
        let offered = |preset: presets::Preset| Offered { name: preset.name, explain: preset.explain };
        Answer::Ready {
            seed: self.run.seed(),
            controls: CONTROLS.iter().map(|control| control.describe(settings.code(control.key))).collect(),
            presets: presets::presets().into_iter().map(offered).collect(),
            scripts: SCRIPTS.iter().map(OnOffer::of).collect(),
            frames,
            headlines: Headline::all(),
            chosen: self.chosen(),
        }
    }

    fn chosen(&self) -> Chosen {
        let settings = self.run.settings();
        let preset = presets::presets().into_iter().find(|preset| preset.holds(settings));
        let scenario = self.run.recording().scenario.clone();
        Chosen {
            settings: settings.values(),
            preset: preset.map(|preset| preset.name),
            fragment: Recording::new(Start::new(self.run.seed(), *settings)).with_scenario(scenario).encode(),
        }
    }
}

/// How a run is to begin: as a link says, else with these settings on top of the default ones.
fn beginning(
    seed: Option<u64>,
    settings: Option<&Map<String, Value>>,
    link: Option<&str>,
) -> Result<Recording, String> {
    if let Some(link) = link.filter(|link| Scenario::is_link(link)) {
        let (scenario, seed) = Scenario::of_link(link)?;
        return Ok(Recording::new(Start::new(seed, scenario.settings())).with_scenario(Some(scenario)));
    }
    if let Some(link) = link {
        return Recording::decode(link);
    }
    let seed = seed.unwrap_or(SEED);
    if seed > INTEGER_MAX {
        return Err(format!("seed must be 0 to {INTEGER_MAX}"));
    }
    let mut chosen = presets::default_settings();
    if let Some(settings) = settings {
        chosen.merge(settings)?;
    }
    Ok(Recording::new(Start::new(seed, chosen)))
}

fn text(answer: &Answer) -> String {
    serde_json::to_string(answer).expect("an answer has only names as keys")
}
