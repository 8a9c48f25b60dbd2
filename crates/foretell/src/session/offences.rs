//! What a player asked for and did not get.

/// Why something that a client sent was refused, or held to what is allowed (E4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Offence {
    /// A number that is not finite.
    NotFinite,
    /// More time than has passed: an input too far ahead, a clock that runs too fast or backwards.
    Time,
    /// A position farther away than the entity could have gone.
    Speed,
    /// A direction longer than one.
    Direction,
    /// A position so far away that no movement explains it.
    Teleport,
    /// An entity, or a field of one, that is not the player's to write.
    Ownership,
    /// An acknowledgement of what was never sent.
    Acknowledgement,
    /// A request beyond the number that is answered in a second, or of who holds as many entities as allowed: in an exact session none.
    Request,
    /// Messages beyond [`message_rate_max`](crate::ServerConfig::message_rate_max), or that are none of their kind.
    Message,
    /// Inputs of a spectator, or what only players may ask for.
    Spectator,
    /// A claim to have shown others as they were longer ago than its client can have shown them, or as they will be: counted for
    /// each input, and held to what can be ([`Step::rewound`](crate::Step::rewound)).
    View,
}

impl Offence {
    /// All of them, in the order in which [`Offences::entries`] tells them.
    pub const ALL: [Offence; 11] = [
        Offence::NotFinite,
        Offence::Time,
        Offence::Speed,
        Offence::Direction,
        Offence::Teleport,
        Offence::Ownership,
        Offence::Acknowledgement,
        Offence::Request,
        Offence::Message,
        Offence::Spectator,
        Offence::View,
    ];
}

/// How often each [`Offence`] was noted of one player, since their admission. An honest client over a bad network may get
/// entries of [`Offence::Time`]; a few are no proof of anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Offences {
    counts: [u64; Offence::ALL.len()],
}

impl Offences {
    /// Counts one offence.
    pub fn note(&mut self, offence: Offence) {
        self.note_times(offence, 1);
    }

    /// Counts an offence that happened `times` times.
    pub fn note_times(&mut self, offence: Offence, times: u64) {
        let count = &mut self.counts[offence as usize];
        *count = count.saturating_add(times);
    }

    /// How often `offence` was noted.
    #[must_use]
    pub fn count(&self, offence: Offence) -> u64 {
        self.counts[offence as usize]
    }

    /// How much was noted altogether.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |total, count| total.saturating_add(*count))
    }

    /// What was noted at least once, with its count, in the order of [`Offence::ALL`].
    pub fn entries(&self) -> impl Iterator<Item = (Offence, u64)> {
        Offence::ALL.into_iter().map(|offence| (offence, self.count(offence))).filter(|(_, count)| *count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn each_offence_has_a_count_of_its_own_and_only_noted_ones_are_told() {
        let mut offences = Offences::default();
        for (times, offence) in Offence::ALL.into_iter().enumerate().skip(1) {
            offences.note_times(offence, times as u64);
        }
        let told: Vec<_> = offences.entries().collect();
        assert_eq!(told.len(), Offence::ALL.len() - 1);
        assert!(told.iter().all(|(offence, count)| Offence::ALL[usize::try_from(*count).expect("small")] == *offence));
        assert_eq!(offences.total(), 55);
    }
}
