//! The plans in `plans/`, as they were when the program was built.

use super::plan::Plan;
use super::read::read;
use std::sync::LazyLock;

/// Their texts by file name.
const EMBEDDED: [(&str, &str); 17] = [
    ("plans/perfect.toml", include_str!("../../../plans/perfect.toml")),
    ("plans/lan.toml", include_str!("../../../plans/lan.toml")),
    ("plans/wifi.toml", include_str!("../../../plans/wifi.toml")),
    ("plans/4g.toml", include_str!("../../../plans/4g.toml")),
    ("plans/lte.toml", include_str!("../../../plans/lte.toml")),
    ("plans/transpacific.toml", include_str!("../../../plans/transpacific.toml")),
    ("plans/skewed.toml", include_str!("../../../plans/skewed.toml")),
    ("plans/satellite.toml", include_str!("../../../plans/satellite.toml")),
    ("plans/burst.toml", include_str!("../../../plans/burst.toml")),
    ("plans/antipodes.toml", include_str!("../../../plans/antipodes.toml")),
    ("plans/evdo.toml", include_str!("../../../plans/evdo.toml")),
    ("plans/terrible.toml", include_str!("../../../plans/terrible.toml")),
    ("plans/asymmetric.toml", include_str!("../../../plans/asymmetric.toml")),
    ("plans/changing.toml", include_str!("../../../plans/changing.toml")),
    ("plans/thrifty.toml", include_str!("../../../plans/thrifty.toml")),
    ("plans/impulses.toml", include_str!("../../../plans/impulses.toml")),
    ("plans/grid.toml", include_str!("../../../plans/grid.toml")),
];

/// All embedded plans, from good networks to bad ones.
pub fn presets() -> Vec<Plan> {
    static PRESETS: LazyLock<Vec<Plan>> = LazyLock::new(|| {
        let read = |(file, text)| read(file, text).expect("a test reads every embedded plan");
        EMBEDDED.into_iter().map(read).collect()
    });
    PRESETS.clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_plan_is_whole_and_named_as_its_file() {
        for ((file, text), plan) in EMBEDDED.iter().zip(presets()) {
            assert_eq!(*file, format!("plans/{}.toml", plan.name));
            assert!(!plan.explain.is_empty() && !plan.thresholds.is_empty(), "{file}");
            let is_file = |line: &str| line.starts_with("trace");
            assert!(!text.lines().any(is_file), "{file}: a trace would be looked for on the user's machine");
            for case in plan.cases() {
                assert_eq!(case.network.conditions().validate(), Ok(()), "{file}");
            }
        }
    }
}
