//! What was done in a frame, as captions for the time axis: events, steps of scripts, and changes of controls.

use crate::controls::{Key, Settings, control, presets};
use crate::frame::Mark;
use crate::recording::event::Event;

/// What was done since the last frame.
#[derive(Clone, Debug, Default)]
pub struct AxisMarks {
    done: Vec<Mark>,
    /// The controls that were changed, each once.
    set: Vec<Key>,
}

impl AxisMarks {
    /// An event that is not a script.
    pub fn note_event(&mut self, event: Event) {
        let caption =
            if event == Event::Stall { "your machine stalls".to_owned() } else { event.name().replace('_', " ") };
        self.done.push(Mark { kind: "event", caption });
    }

    /// A script's step begins, or a fault begins or ends.
    pub fn note_script(&mut self, caption: String) {
        self.done.push(Mark { kind: "script", caption });
    }

    /// A control was changed.
    pub fn note_set(&mut self, key: Key) {
        if key != Key::Scene && !self.set.contains(&key) {
            self.set.push(key);
        }
    }

    /// Everything, and forgets it. Several changes of the network that make up a preset are told as that one.
    pub fn take(&mut self, settings: &Settings) -> Vec<Mark> {
        let of_network = self.set.iter().filter(|key| key.is_network()).count();
        let preset = (of_network > 1).then(|| presets::presets().into_iter().find(|preset| preset.holds(settings)));
        let mut captions = Vec::new();
        if let Some(preset) = preset.flatten() {
            self.set.retain(|key| !key.is_network());
            captions.push(format!("preset {}", preset.name));
        }
        captions.extend(self.set.drain(..).map(|key| {
            let control = control(key);
            format!("{} {}", control.label, control.tell(settings.code(key)))
        }));
        let mut marks = core::mem::take(&mut self.done);
        marks.extend(captions.into_iter().map(|caption| Mark { kind: "set", caption }));
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_is_one_mark_and_a_slider_another() {
        let (mut marks, mut settings) = (AxisMarks::default(), presets::default_settings());
        assert_eq!(marks.take(&settings), []);
        let preset = presets::named("terrible").expect("a preset");
        preset.apply(&mut settings);
        [Key::Latency, Key::Loss, Key::Latency, Key::Bots, Key::Scene].into_iter().for_each(|key| marks.note_set(key));
        marks.note_event(Event::Impulse);
        let told = |marks: Vec<Mark>| marks.into_iter().map(|mark| mark.caption).collect::<Vec<_>>();
        assert_eq!(told(marks.take(&settings)), ["impulse", "preset terrible", "bots 3"]);
        settings.set(Key::Latency, 200);
        marks.note_set(Key::Latency);
        assert_eq!(told(marks.take(&settings)), ["one-way latency 200 ms"]);
        assert_eq!(marks.take(&settings), []);
    }
}
