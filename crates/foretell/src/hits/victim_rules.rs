//! What a game grants those who are hit in the past: a rule for who was safe by then, and one for who had a defence up.

use core::time::Duration;

/// What a defence that is up on the server is worth against a shot from before it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Defence {
    /// The shot does nothing. The default, as in Overwatch: what a player has seen come up on the server's word is not taken back.
    #[default]
    Spares,
    /// The shot does half of what it does.
    Halves,
    /// The shot does all: who shot has seen no defence.
    Counts,
}

/// Rules for who is hit. The default favours who shot, within [`rewind_max`](crate::ServerConfig::rewind_max), but for defences.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VictimRules {
    /// Who has been safe on the server for longer than this when the shot comes is spared: behind a wall, out of range, in a vehicle.
    /// Default `None`, nobody is: most players mind shots that are taken back more than those that come late, and the server goes
    /// back by no more than 250 ms in any case. 100 ms spare who has been in cover for as long as a hit is felt to be late.
    pub grace: Option<Duration>,
    /// What a defence is worth.
    pub defence: Defence,
}

/// What the game knows of a victim in the step of the shot: now, not when it was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VictimNow {
    /// For how long it could not have been hit; `None` if it could be.
    pub safe_for: Option<Duration>,
    /// Whether a defence is up.
    pub defends: bool,
}

/// What becomes of a hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It counts.
    Hit,
    /// It counts half.
    Half,
    /// It does not: the victim was safe for longer than the grace.
    Safe,
    /// It does not: a defence was up.
    Defended,
}

impl Verdict {
    /// How much of the damage is done: 1, a half, or 0.
    #[must_use]
    pub fn share(self) -> f32 {
        match self {
            Verdict::Hit => 1.0,
            Verdict::Half => 0.5,
            Verdict::Safe | Verdict::Defended => 0.0,
        }
    }
}

impl VictimRules {
    /// What becomes of a hit on who is so.
    #[must_use]
    pub fn judge(&self, victim: VictimNow) -> Verdict {
        let is_safe = victim.safe_for.zip(self.grace).is_some_and(|(safe_for, grace)| safe_for > grace);
        match self.defence {
            _ if is_safe => Verdict::Safe,
            Defence::Spares if victim.defends => Verdict::Defended,
            Defence::Halves if victim.defends => Verdict::Half,
            _ => Verdict::Hit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_safe_for_longer_than_the_grace_is_spared_and_a_defence_is_worth_what_the_rules_say() {
        let ms = Duration::from_millis;
        let verdict = |grace: Option<u64>, defence, safe_for: Option<u64>, defends| {
            let rules = VictimRules { grace: grace.map(ms), defence };
            rules.judge(VictimNow { safe_for: safe_for.map(ms), defends })
        };
        let default = Defence::default();
        assert_eq!(verdict(None, default, Some(10_000), false), Verdict::Hit);
        assert_eq!(
            [None, Some(100), Some(101)].map(|safe| verdict(Some(100), default, safe, false)),
            [Verdict::Hit, Verdict::Hit, Verdict::Safe]
        );
        let defended = [Defence::Spares, Defence::Halves, Defence::Counts].map(|of| verdict(Some(100), of, None, true));
        assert_eq!(defended.map(Verdict::share), [0.0, 0.5, 1.0]);
        assert_eq!(verdict(Some(1), Defence::Halves, Some(2), true), Verdict::Safe);
    }
}
