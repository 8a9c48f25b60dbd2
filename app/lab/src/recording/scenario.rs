//! A scenario that failed, as its failure prints it for the lab: the link, and what it sets.

use super::varint;
use super::varint::INTEGER_MAX;
use crate::controls::{Key, Settings, control};
use core::ops::RangeInclusive;
use foretell_sim::harness::{Fault, Schedule};

/// The longest text of faults that is read.
pub const TEXT_MAX: usize = 4096;
/// How many players there are at most: the person and seven bots.
pub const PLAYERS_MAX: u8 = 8;
/// The beginning of a link of faults.
const BEGINNING: &str = "faults=";

/// What went wrong in a scenario.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scenario {
    pub schedule: Schedule,
    /// 1 to [`PLAYERS_MAX`]; the person is player 0 of the schedule.
    pub players: u8,
    /// How long the scenario's session was, in ms.
    pub length_ms: u32,
}

impl Scenario {
    /// Whether a link is one of faults, and not of a run.
    pub fn is_link(link: &str) -> bool {
        link.starts_with(BEGINNING)
    }

    /// Reads `faults=<text>&seed=<n>&players=<n>&ms=<n>`; the seed comes beside.
    ///
    /// # Errors
    /// A sentence that names what is wrong, and what is accepted.
    pub fn of_link(link: &str) -> Result<(Scenario, u64), String> {
        let text = part(link, "faults")?;
        let seed = number(link, "seed", 0..=INTEGER_MAX)?;
        let players = number(link, "players", 1..=u64::from(PLAYERS_MAX))?;
        let length_ms = number(link, "ms", 1..=u64::from(u32::MAX))?;
        Ok((Scenario::read(text, as_small(players), as_small(length_ms))?, seed))
    }

    /// From the text of the schedule.
    ///
    /// # Errors
    /// A sentence that names the first text that is no fault, and what is accepted.
    pub fn read(text: &str, players: u8, length_ms: u32) -> Result<Scenario, String> {
        if text.len() > TEXT_MAX {
            return Err(format!("the faults are too long: at most {TEXT_MAX} characters are read"));
        }
        let schedule = text.parse::<Schedule>().map_err(|error| format!("{error}; this run is without faults"))?;
        Ok(Scenario { schedule, players, length_ms })
    }

    /// The link, as a failure prints it.
    #[cfg(test)]
    pub fn link(&self, seed: u64) -> String {
        let Scenario { schedule, players, length_ms } = self;
        format!("{BEGINNING}{schedule}&seed={seed}&players={players}&ms={length_ms}")
    }

    /// Appends it to a recording's bytes.
    pub fn put(&self, bytes: &mut Vec<u8>) {
        let text = self.schedule.to_string();
        let numbers = [u64::from(self.players), u64::from(self.length_ms), text.len() as u64];
        numbers.into_iter().for_each(|number| varint::put(bytes, number));
        bytes.extend(text.bytes());
    }

    /// Takes it off a recording's bytes; `None` where they are damaged.
    pub fn take(rest: &mut &[u8]) -> Option<Scenario> {
        let players =
            u8::try_from(varint::take_at_most(rest, u64::from(PLAYERS_MAX))?).ok().filter(|players| *players > 0)?;
        let length_ms = u32::try_from(varint::take(rest)?).ok()?;
        let length = usize::try_from(varint::take_at_most(rest, TEXT_MAX as u64)?).ok()?;
        let (text, after) = rest.split_at_checked(length)?;
        *rest = after;
        Scenario::read(core::str::from_utf8(text).ok()?, players, length_ms).ok()
    }

    /// The controls of a scenario: a network without delay and a snapshot per tick, which are the library's defaults, and the
    /// players; where there are no others, in the scene of the own cube.
    pub fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        let snapshot_rate =
            control(Key::SnapshotRate).code(&control(Key::TickRate).value(settings.code(Key::TickRate)));
        settings.set(Key::SnapshotRate, snapshot_rate.expect("one of its rates"));
        settings.set(Key::Other, 0);
        if let Some(bots) = self.players.checked_sub(2) {
            settings.set(Key::Bots, u16::from(bots));
            settings.set(Key::Scene, 1);
        }
        settings
    }

    /// What is left of it when so many ms have passed: what lasts begins anew.
    #[must_use]
    pub fn since(&self, ms: u32) -> Scenario {
        let left = |fault: &Fault| {
            let over = fault.end_ms().is_some_and(|end| end <= ms) && ms > 0;
            let passed = ms.saturating_sub(fault.at_ms);
            let length_ms = fault.length_ms.map(|length| length.saturating_sub(passed));
            (!over).then_some(Fault { at_ms: fault.at_ms.saturating_sub(ms), length_ms, ..*fault })
        };
        Scenario {
            schedule: Schedule(self.schedule.0.iter().filter_map(left).collect()),
            length_ms: self.length_ms.saturating_sub(ms).max(1),
            ..*self
        }
    }
}

/// The value of a part of a link.
fn part<'a>(link: &'a str, name: &str) -> Result<&'a str, String> {
    let parts = link.split('&').filter_map(|part| part.split_once('='));
    parts
        .filter(|(known, _)| *known == name)
        .map(|(_, value)| value)
        .next_back()
        .ok_or_else(|| format!("the link has no {name}; one of faults is faults=<faults>&seed=<n>&players=<n>&ms=<n>"))
}

fn number(link: &str, name: &str, accepted: RangeInclusive<u64>) -> Result<u64, String> {
    let number = part(link, name)?.parse().ok();
    number.filter(|number| accepted.contains(number)).ok_or_else(|| {
        let (least, most) = (accepted.start(), accepted.end());
        format!("{name} in the link must be a whole number from {least} to {most}")
    })
}

/// A number that has been looked at.
fn as_small<T: TryFrom<u64> + Default>(number: u64) -> T {
    T::try_from(number).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::SendRate;

    const LINK: &str = "faults=0:p0:latency:both:40,3000-500:p1:loss:down:100,4000:s:event:7&seed=9&players=3&ms=6000";

    #[test]
    fn a_link_of_faults_comes_back_and_says_who_plays() {
        let (scenario, seed) = Scenario::of_link(LINK).expect("well-formed");
        assert_eq!((scenario.link(seed), scenario.players, scenario.length_ms), (LINK.to_owned(), 3, 6000));
        assert_eq!((scenario.settings().bots(), scenario.settings().server().snapshot_rate), (2, SendRate::Hz(64)));
        let alone = Scenario { players: 1, ..scenario };
        assert_eq!(alone.settings().bots(), 0);
    }

    #[test]
    fn a_malformed_link_gets_a_sentence_with_the_fault_and_the_form() {
        for (link, told) in [
            ("faults=30:p0:rain&seed=1&players=2&ms=9", "`30:p0:rain` is no fault; one is at[-length]:who:what"),
            ("faults=&seed=1&players=9&ms=9", "players in the link must be a whole number from 1 to 8"),
            ("faults=&seed=x&players=2&ms=9", "seed in the link must be a whole number from 0"),
            ("faults=&seed=1&players=2", "the link has no ms; one of faults is faults=<faults>&seed=<n>"),
        ] {
            let error = Scenario::of_link(link).expect_err(link);
            assert!(error.starts_with(told), "{link}: {error}");
        }
        let long = format!("faults={}&seed=1&players=2&ms=9", "0:p0:stall,".repeat(400));
        assert!(Scenario::of_link(&long).is_err_and(|error| error.contains("too long")));
    }

    #[test]
    fn what_has_passed_is_left_out_and_what_lasts_begins_anew() {
        let (scenario, seed) = Scenario::of_link(LINK).expect("well-formed");
        assert_eq!(scenario.since(0), scenario);
        let rest = "faults=0:p0:latency:both:40,0-300:p1:loss:down:100,800:s:event:7&seed=9&players=3&ms=2800";
        assert_eq!(scenario.since(3200).link(seed), rest);
        assert_eq!(scenario.since(9000).schedule.to_string(), "0:p0:latency:both:40");
    }
}
