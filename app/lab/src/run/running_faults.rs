//! The faults of a scenario while they come about in a run, and what the time axis says of each.

use super::scripts::Upcoming;
use crate::clock::FRAMES_PER_SECOND;
use crate::recording::scenario::Scenario;
use foretell_sim::harness::{Faults, Way, What, Who};
use std::collections::VecDeque;

/// Faults under way in a run.
#[derive(Clone, Debug)]
pub struct RunningFaults {
    pub faults: Faults,
    /// What the time axis will say, and in which frame.
    captions: VecDeque<(u32, String)>,
}

impl RunningFaults {
    /// Before frame 0.
    pub fn new(scenario: &Scenario) -> RunningFaults {
        let captions = captions(scenario).into_iter().map(|(at_ms, caption)| (frame_of(at_ms), caption));
        RunningFaults { faults: Faults::new(scenario.schedule.clone(), scenario.players), captions: captions.collect() }
    }

    /// What something is said of in this frame; taken out.
    pub fn take_caption(&mut self, frame: u32) -> Option<String> {
        self.captions.pop_front_if(|(at, _)| *at <= frame).map(|(_, caption)| caption)
    }

    /// What comes next after `frame`.
    pub fn upcoming(&self, frame: u32) -> Option<Upcoming> {
        let (at, caption) = self.captions.front()?;
        Some(Upcoming { caption: caption.clone(), frames: at.saturating_sub(frame) })
    }
}

/// The first frame of 1/60 s that is not before a moment.
fn frame_of(ms: u32) -> u32 {
    u32::try_from((u64::from(ms) * u64::from(FRAMES_PER_SECOND)).div_ceil(1000)).unwrap_or(u32::MAX)
}

/// What the time axis says and when, in ms, ascending: that each fault begins, that it ends, and that the session was no
/// longer.
fn captions(scenario: &Scenario) -> Vec<(u32, String)> {
    let mut captions = Vec::new();
    for fault in &scenario.schedule.0 {
        captions.push((fault.at_ms, format!("{}: {}", name(fault.who), tell(fault.what))));
        if let Some(end) = fault.end_ms().filter(|end| *end > fault.at_ms) {
            captions.push((end, format!("{}: {} ends", name(fault.who), word(fault.what))));
        }
    }
    captions.push((scenario.length_ms, "end of the scenario".to_owned()));
    captions.sort_by_key(|(at_ms, _)| *at_ms);
    captions
}

fn name(who: Who) -> String {
    match who {
        Who::Server => "server".to_owned(),
        Who::Player(0) => "you (p0)".to_owned(),
        Who::Player(player) => format!("p{player}"),
    }
}

/// The first word of a fault's text.
fn word(what: What) -> String {
    let text = what.to_string();
    text.split(':').next().unwrap_or_default().to_owned()
}

/// A fault as a person reads it.
fn tell(what: What) -> String {
    let toward = |way: Way| match way {
        Way::Both => String::new(),
        way => format!(" {way}"),
    };
    match what {
        What::Latency { way, ms } | What::Jitter { way, ms } => format!("{}{} {ms} ms", word(what), toward(way)),
        What::Loss { way, percent } | What::Duplicates { way, percent } | What::Reordering { way, percent } => {
            format!("{}{} {percent} %", word(what), toward(way))
        }
        What::Bursts { way, percent, mean } => format!("{percent} %{} lost in bursts of {mean}", toward(way)),
        What::FrameRate { fps } => format!("{fps} frames per second"),
        What::Batched => "reads once per frame".to_owned(),
        What::Stall => "stalls".to_owned(),
        What::Drift { ppm } => format!("clock drifts {ppm} ppm"),
        What::Step { ms } => format!("clock steps {ms} ms"),
        What::Leave { politely } => if politely { "leaves" } else { "is gone without a word" }.to_owned(),
        What::Join => "joins".to_owned(),
        What::Event { .. } => "pushes your cube".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "faults=0:p0:latency:both:40,3000-500:p1:loss:down:100,4000:s:event:7&seed=9&players=3&ms=6000";

    #[test]
    fn each_fault_has_a_caption_when_it_begins_and_when_it_ends() {
        let (scenario, _) = Scenario::of_link(LINK).expect("well-formed");
        let captions = super::captions(&scenario);
        let told: Vec<_> = captions.iter().map(|(at_ms, caption)| (*at_ms, &caption[..])).collect();
        let expected = [
            (0, "you (p0): latency 40 ms"),
            (3000, "p1: loss down 100 %"),
            (3500, "p1: loss ends"),
            (4000, "server: pushes your cube"),
            (6000, "end of the scenario"),
        ];
        assert_eq!(told, expected);
    }
}
