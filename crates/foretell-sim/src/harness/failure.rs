//! A failure as a person reads it: what does not hold, the smallest way to see it, and a test to paste.

use super::run::{Found, Plan};
use super::{OutOfSync, Schedule};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

/// What does not hold in a scenario, and the smallest way to see it that was found.
#[derive(Clone, PartialEq)]
pub struct Failure {
    pub(super) plan: Plan,
    pub(super) found: Found,
    /// How many runs the search for the smallest has taken.
    pub(super) runs: u32,
    /// What [`SyncTest`](super::SyncTest) says of the world.
    pub(super) world: Option<OutOfSync>,
    /// Whether the lab can show it.
    pub(super) is_in_lab: bool,
}

impl Failure {
    /// The name of the check that complains, or what was expected.
    pub fn check(&self) -> &str {
        &self.found.check
    }

    /// What does not hold, in a sentence.
    pub fn what(&self) -> &str {
        &self.found.what
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.plan.seed
    }

    /// The smallest faults that still fail.
    pub fn schedule(&self) -> &Schedule {
        &self.plan.schedule
    }

    /// When it is found in the smallest run, since the start of the session.
    pub fn at(&self) -> Duration {
        Duration::from_micros(self.found.at.micros())
    }

    /// What is wrong with the world itself, where [`SyncTest`](super::SyncTest) finds something with the same bots.
    pub fn world(&self) -> Option<&OutOfSync> {
        self.world.as_ref()
    }

    /// A test that fails in the same way, for a file in which `scenario()` makes the scenario.
    pub fn test(&self) -> String {
        let Plan { seed, players, length_ms, schedule } = &self.plan;
        let name = self.name();
        format!(
            "#[test]\nfn {name}() {{\n    let length = core::time::Duration::from_millis({length_ms});\n    \
             let scenario = scenario().players({players}).length(length).schedule(\"{schedule}\");\n    \
             scenario.run({seed}).expect(\"no check complains\");\n}}\n"
        )
    }

    /// Of the seed and the check, as a test may be called, and of a number that other faults and players change: of one
    /// seed several things may be found.
    fn name(&self) -> String {
        let check = self.check().to_ascii_lowercase();
        let words: Vec<_> = check.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let hash = self
            .fragment()
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        format!("seed_{}_{}_{:04x}", self.seed(), words.join("_"), hash >> 16)
    }

    /// What follows the address of the lab's page to see it there: `#faults=...&seed=...&players=...&ms=...`. The faults
    /// are as in [`Schedule`], and `ms` is the length of the session. `None` where the lab does not play this game, or not
    /// with so many players ([`Scenario::in_lab`](super::Scenario::in_lab)).
    pub fn link(&self) -> Option<String> {
        self.is_in_lab.then(|| self.fragment())
    }

    fn fragment(&self) -> String {
        let Plan { seed, players, length_ms, schedule } = &self.plan;
        format!("#faults={schedule}&seed={seed}&players={players}&ms={length_ms}")
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failure { plan, found, runs, world, .. } = self;
        writeln!(f, "{}: {}", found.check, found.what)?;
        write!(f, "seed {}, {:.3} s after the start", plan.seed, self.at().as_secs_f64())?;
        if let Some(player) = found.player {
            write!(f, ", at the machine of player p{player}")?;
        }
        writeln!(f)?;
        if let Some(world) = world {
            writeln!(f, "the world itself: {world}")?;
        }
        let (faults, schedule) = (plan.schedule.0.len(), &plan.schedule);
        writeln!(f, "the smallest faults that still fail ({faults} of them, after {runs} runs): {schedule}")?;
        write!(f, "as a test, where `scenario()` makes the scenario:\n\n{}", self.test())?;
        match self.link() {
            Some(link) => write!(f, "\nin the lab: foretell lab, and {link}"),
            None => Ok(()),
        }
    }
}

/// As [`Display`](fmt::Display): what a test prints that unwraps it is for a person.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl core::error::Error for Failure {}
