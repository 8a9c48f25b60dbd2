//! Named network conditions.

use super::settings::Settings;
use core::time::Duration;
use foretell::netsim::{Conditions, Loss, Ordering, RateLimit, Reordering};

/// The preset that a run starts with.
pub const DEFAULT: &str = "wifi";

/// Conditions of a network under a name.
#[derive(Clone, PartialEq, Debug)]
pub struct Preset {
    pub name: String,
    /// One sentence.
    pub explain: String,
    /// Of either direction.
    pub conditions: Conditions,
}

impl Preset {
    /// Sets the controls of the network as this preset has it; the others stay.
    pub fn apply(&self, settings: &mut Settings) {
        settings.set_network(&self.conditions);
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
    let cable = Conditions { ordering: Ordering::Fifo, ..Conditions::default() };
    let delayed = |latency, jitter| Conditions {
        latency: Duration::from_millis(latency),
        jitter: Duration::from_millis(jitter),
        ..cable
    };
    let bursts = |rate, mean_length| Loss::Bursts { rate, mean_length };
    let of = |name: &str, explain: &str, conditions| Preset {
        name: name.to_owned(),
        explain: explain.to_owned(),
        conditions,
    };
    vec![
        of("perfect", "No delay, no loss: whatever is corrected here is the netcode's own doing.", cable),
        of("lan", "A cable in the same house.", delayed(1, 1)),
        of(
            "wifi",
            "A home network by radio, and a server in the same country.",
            Conditions { loss: bursts(0.005, 2.0), ..delayed(20, 10) },
        ),
        of(
            "4g",
            "A telephone on the move.",
            Conditions {
                loss: bursts(0.01, 3.0),
                rate: Some(RateLimit { bytes_per_s: 250_000, queue_bytes: 125_000 }),
                ..delayed(40, 30)
            },
        ),
        of(
            "bad",
            "Another continent, a full line and a weak radio at once.",
            Conditions {
                ordering: Ordering::Independent,
                loss: bursts(0.1, 3.0),
                duplicates: 0.01,
                reordering: Reordering { rate: 0.02, ..Reordering::default() },
                ..delayed(125, 60)
            },
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
    fn the_default_is_there_and_each_preset_holds_alone_after_it_was_applied() {
        assert!(named(DEFAULT).is_ok_and(|preset| preset.holds(&default_settings())));
        for preset in presets() {
            let mut settings = Settings::default();
            preset.apply(&mut settings);
            let holding: Vec<_> = presets().into_iter().filter(|other| other.holds(&settings)).collect();
            assert_eq!(holding, [preset]);
        }
    }

    #[test]
    fn the_controls_of_a_preset_make_its_conditions() {
        for preset in presets() {
            let mut settings = Settings::default();
            preset.apply(&mut settings);
            assert_eq!(settings.conditions(), preset.conditions, "{}", preset.name);
        }
    }
}
