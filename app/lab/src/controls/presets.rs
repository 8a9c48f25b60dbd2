//! Named network conditions: those of the plans.

use super::settings::Settings;
use foretell_plan::Plan;
use foretell_sim::netsim::Conditions;

/// The preset that a run starts with: one on which there is something to see.
pub const DEFAULT: &str = "antipodes";

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

/// All presets, from the best network to the worst: the built-in plans of one network each, the same both ways, that
/// nothing else is done to.
pub fn presets() -> Vec<Preset> {
    let plain = foretell_plan::presets()
        .into_iter()
        .filter(|plan| plan.grid.is_single() && plan.network.is_plain() && plan.session.impulses_per_min == 0.0);
    plain
        .map(|Plan { name, explain, network, .. }| Preset { name, explain, conditions: network.conditions() })
        .collect()
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
