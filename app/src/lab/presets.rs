//! Named network conditions.

use super::controls::Key;
use super::settings::Settings;

/// The preset that a run starts with.
pub const DEFAULT: &str = "wifi";

/// The controls that a preset sets; all others stay as they are.
const SET: [Key; 8] = [
    Key::Latency,
    Key::Jitter,
    Key::Ordering,
    Key::Loss,
    Key::BurstLength,
    Key::Duplicates,
    Key::Reordering,
    Key::Rate,
];

/// Conditions of a network under a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    pub name: String,
    /// One sentence.
    pub explain: String,
    /// The values of the controls in [`SET`] that are not 0 or the first choice.
    pub values: Vec<(Key, f64)>,
}

impl Preset {
    /// Sets the network as this preset has it.
    pub fn apply(&self, settings: &mut Settings) {
        for key in SET {
            let value = self.values.iter().find(|(of, _)| *of == key).map(|(_, value)| *value);
            settings.set(key, value.map_or(0, |value| key.control().nearest(value)));
        }
    }

    /// Whether the network is as this preset has it.
    pub fn holds(&self, settings: &Settings) -> bool {
        let mut applied = *settings;
        self.apply(&mut applied);
        applied == *settings
    }
}

/// All presets, from the best network to the worst.
pub fn presets() -> Vec<Preset> {
    let fifo = (Key::Ordering, 1.0);
    let preset = |name: &str, explain: &str, values: Vec<(Key, f64)>| Preset {
        name: name.to_owned(),
        explain: explain.to_owned(),
        values,
    };
    vec![
        preset("perfect", "No delay, no loss: what remains is the cost of the tick.", vec![]),
        preset("lan", "A cable in the same house.", vec![(Key::Latency, 1.0), (Key::Jitter, 1.0), fifo]),
        preset(
            "wifi",
            "A home network by radio, and a server in the same country.",
            vec![(Key::Latency, 20.0), (Key::Jitter, 10.0), (Key::Loss, 0.5), (Key::BurstLength, 2.0), fifo],
        ),
        preset(
            "4g",
            "A telephone on the move.",
            vec![
                (Key::Latency, 40.0),
                (Key::Jitter, 30.0),
                (Key::Loss, 1.0),
                (Key::BurstLength, 3.0),
                (Key::Rate, 2000.0),
                fifo,
            ],
        ),
        preset(
            "bad",
            "Another continent, a full line and a weak radio at once.",
            vec![
                (Key::Latency, 125.0),
                (Key::Jitter, 60.0),
                (Key::Loss, 10.0),
                (Key::BurstLength, 3.0),
                (Key::Duplicates, 1.0),
                (Key::Reordering, 2.0),
            ],
        ),
    ]
}

/// The preset of this name.
///
/// # Errors
/// A sentence that names those there are.
pub fn named(name: &str) -> Result<Preset, String> {
    let mut presets = presets();
    match presets.iter().position(|preset| preset.name == name) {
        Some(index) => Ok(presets.swap_remove(index)),
        None => {
            let names: Vec<_> = presets.iter().map(|preset| preset.name.as_str()).collect();
            Err(format!("there is no preset of this name; accepted are {}", names.join(", ")))
        }
    }
}

/// The settings of a run for which none are asked.
pub fn default_settings() -> Settings {
    let mut settings = Settings::default();
    if let Ok(preset) = named(DEFAULT) {
        preset.apply(&mut settings);
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_preset_holds_after_it_was_applied_and_no_other_does() {
        for preset in presets() {
            let mut settings = Settings::default();
            preset.apply(&mut settings);
            let holding: Vec<_> = presets().into_iter().filter(|other| other.holds(&settings)).collect();
            assert_eq!(holding, [preset]);
        }
    }
}
