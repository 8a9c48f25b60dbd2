//! Scripts: what happens to the person's link, to their machine or to the server's, at stated times from a moment on.
//!
//! A script lies over what the controls say and leaves them as they are. It is recorded as one event, so that a link
//! that holds it plays it again.

use crate::clock::FRAMES_PER_SECOND;
use crate::recording::event::Event;
use core::time::Duration;
use foretell_sim::netsim::{Bottleneck, Conditions, Loss};

/// What happens one after the other.
#[derive(Debug)]
pub struct Script {
    /// What starts it.
    pub event: Event,
    /// As short as fits onto a button.
    pub label: &'static str,
    /// One sentence.
    pub explain: &'static str,
    /// Numbers of requirements and decisions; empty where there are none.
    pub source: &'static str,
    /// Ascending by time; the last one ends it.
    pub steps: &'static [ScriptStep],
}

/// From when on what holds, until the next step.
#[derive(Debug)]
pub struct ScriptStep {
    /// From the start of the script, in ms.
    pub at_ms: u32,
    pub action: Action,
    /// What a mark on the time axis says.
    pub caption: &'static str,
}

/// What a step does.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Everything is as the controls say.
    AsSet,
    /// The person's link has this latency each way, in ms.
    Latency(u64),
    /// The person's link loses this share each way, in bursts of this mean length.
    Loss(f64, f64),
    /// The person's link takes no more than so many bytes per second each way.
    Rate(u32),
    /// The server's machine runs nothing for so many ms.
    ServerStall(u64),
    /// The person's machine runs nothing for so many ms.
    Sleep(u64),
}

impl Action {
    /// What the person's link does while this holds.
    pub fn over(self, set: Conditions) -> Conditions {
        match self {
            Action::Latency(ms) => Conditions { latency: Duration::from_millis(ms), ..set },
            Action::Loss(rate, _) if rate >= 1.0 => Conditions { loss: Loss::Uniform(1.0), ..set },
            Action::Loss(rate, mean_length) => Conditions { loss: Loss::Bursts { rate, mean_length }, ..set },
            Action::Rate(bytes_per_s) => {
                Conditions { bottleneck: Some(Bottleneck::rate(bytes_per_s, bytes_per_s / 2)), ..set }
            }
            Action::AsSet | Action::ServerStall(_) | Action::Sleep(_) => set,
        }
    }
}

/// All scripts, in the order of their buttons.
pub const SCRIPTS: [Script; 7] = [
    Script {
        event: Event::Spike,
        label: "Spike",
        explain: "Your one-way latency is 30 ms, after 3 s jumps to 300 ms, and 8 s later back to 30 ms.",
        source: "R9, D24",
        steps: &[
            ScriptStep { at_ms: 0, action: Action::Latency(30), caption: "latency 30 ms" },
            ScriptStep { at_ms: 3000, action: Action::Latency(300), caption: "latency 300 ms" },
            ScriptStep { at_ms: 11_000, action: Action::Latency(30), caption: "back to 30 ms" },
            ScriptStep { at_ms: 27_000, action: Action::AsSet, caption: "link as set" },
        ],
    },
    Script {
        event: Event::Blackout,
        label: "Loss",
        explain: "After 1 s nothing gets through between you and the server, either way, for 2 s.",
        source: "R9, D24",
        steps: &[
            ScriptStep { at_ms: 1000, action: Action::Loss(1.0, 1.0), caption: "total loss" },
            ScriptStep { at_ms: 3000, action: Action::AsSet, caption: "loss ends" },
        ],
    },
    Script {
        event: Event::Bursts,
        label: "Bursts",
        explain: "For 10 s a tenth of your datagrams is lost each way, on average 8 in a row.",
        source: "R21, D31",
        steps: &[
            ScriptStep { at_ms: 0, action: Action::Loss(0.1, 8.0), caption: "10 % in bursts of 8" },
            ScriptStep { at_ms: 10_000, action: Action::AsSet, caption: "bursts end" },
        ],
    },
    Script {
        event: Event::Server,
        label: "Server",
        explain: "After 1 s the server's machine runs nothing for 2 s, for all players.",
        source: "",
        steps: &[
            ScriptStep { at_ms: 1000, action: Action::ServerStall(2000), caption: "server stalls" },
            ScriptStep { at_ms: 3000, action: Action::AsSet, caption: "server goes on" },
        ],
    },
    Script {
        event: Event::Sleep,
        label: "Sleep",
        explain: "After 1 s your machine runs nothing for 5 s, as a tab in the background does.",
        source: "",
        steps: &[
            ScriptStep { at_ms: 1000, action: Action::Sleep(5000), caption: "your tab sleeps" },
            ScriptStep { at_ms: 6000, action: Action::AsSet, caption: "your tab wakes up" },
        ],
    },
    Script {
        event: Event::Hiccup,
        label: "Hiccup",
        explain: "After 0.5 s nothing gets through between you and the server for 0.4 s: some of your inputs come too late.",
        source: "R9, R19",
        steps: &[
            ScriptStep { at_ms: 500, action: Action::Loss(1.0, 1.0), caption: "total loss" },
            ScriptStep { at_ms: 900, action: Action::AsSet, caption: "loss ends" },
        ],
    },
    Script {
        event: Event::SlowLink,
        label: "Slow link",
        explain: "After 1 s your link takes no more than 16 kB/s each way for 5 s; what is more waits, for up to half a second.",
        source: "",
        steps: &[
            ScriptStep { at_ms: 1000, action: Action::Rate(16_000), caption: "link 16 kB/s" },
            ScriptStep { at_ms: 6000, action: Action::AsSet, caption: "link as set" },
        ],
    },
];

/// The scripts that run.
#[derive(Clone, Debug, Default)]
pub struct RunningScripts(Vec<(u32, &'static Script)>);

/// What comes next in a script.
#[derive(Clone, Debug, PartialEq)]
pub struct Upcoming {
    pub caption: String,
    /// In so many frames.
    pub frames: u32,
}

impl RunningScripts {
    /// Starts the script of this event in `frame`, from its beginning if it runs already. Whether there is one.
    pub fn start(&mut self, event: Event, frame: u32) -> bool {
        let Some(script) = SCRIPTS.iter().find(|script| script.event == event) else { return false };
        self.0.retain(|(_, running)| running.event != event);
        self.0.push((frame, script));
        true
    }

    /// The steps that begin in `frame`. Those that are over are forgotten with their last one.
    pub fn begin(&mut self, frame: u32) -> Vec<&'static ScriptStep> {
        let steps = self.0.iter().flat_map(|(start, script)| script.steps.iter().map(|step| (*start, step)));
        let begun = steps.filter(|(start, step)| start + frames(step.at_ms) == frame).map(|(_, step)| step).collect();
        self.0.retain(|(start, script)| script.steps.last().is_some_and(|last| start + frames(last.at_ms) > frame));
        begun
    }

    /// What the person's link does in `frame`, where the controls say `set`; of several scripts the one that was started
    /// last wins.
    pub fn over(&self, set: Conditions, frame: u32) -> Conditions {
        let holds = |(start, script): &(u32, &'static Script)| {
            script.steps.iter().rev().find(|step| start + frames(step.at_ms) <= frame).map(|step| step.action)
        };
        self.0.iter().filter_map(holds).fold(set, |set, action| action.over(set))
    }

    /// What begins next after `frame`.
    pub fn upcoming(&self, frame: u32) -> Option<Upcoming> {
        let steps = self.0.iter().flat_map(|(start, script)| script.steps.iter().map(|step| (*start, step)));
        let ahead = steps.filter_map(|(start, step)| {
            let frames = (start + frames(step.at_ms)).checked_sub(frame).filter(|frames| *frames > 0)?;
            Some(Upcoming { caption: step.caption.to_owned(), frames })
        });
        ahead.min_by_key(|upcoming| upcoming.frames)
    }
}

/// How many frames that is.
const fn frames(ms: u32) -> u32 {
    ms * FRAMES_PER_SECOND / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_ascends_ends_as_set_and_makes_valid_links() {
        for script in &SCRIPTS {
            assert!(script.explain.ends_with('.'), "{}", script.label);
            assert!(script.steps.is_sorted_by(|a, b| a.at_ms < b.at_ms), "{}", script.label);
            assert!(matches!(script.steps.last(), Some(ScriptStep { action: Action::AsSet, .. })), "{}", script.label);
            for step in script.steps {
                assert_eq!(step.action.over(Conditions::default()).validate(), Ok(()), "{}", script.label);
                assert_eq!(step.at_ms * 60 % 1000, 0, "{}: whole frames", script.label);
            }
        }
    }

    #[test]
    fn a_script_holds_from_step_to_step_and_then_no_more() {
        let mut running = RunningScripts::default();
        assert!(!running.start(Event::Impulse, 0));
        assert!(running.start(Event::Blackout, 100));
        let lossless = Conditions::default();
        let mut begun = Vec::new();
        for frame in 100..400 {
            begun.extend(running.begin(frame).iter().map(|step| (frame, step.caption)));
            let lost = running.over(lossless.clone(), frame) != lossless;
            assert_eq!(lost, (160..280).contains(&frame), "frame {frame}");
            let next = running.upcoming(frame).map(|upcoming| frame + upcoming.frames);
            assert_eq!(next, [160, 280].into_iter().find(|step| frame < *step), "frame {frame}");
        }
        assert_eq!(begun, [(160, "total loss"), (280, "loss ends")]);
        assert!(running.0.is_empty());
    }

    #[test]
    fn a_script_that_is_started_again_starts_at_its_beginning() {
        let mut running = RunningScripts::default();
        running.start(Event::Spike, 0);
        running.start(Event::Spike, 130);
        assert_eq!(running.over(Conditions::default(), 200).latency, Duration::from_millis(30));
        assert_eq!(running.0.len(), 1);
    }
}
