//! What is measured: crowds, how much of them changes, and how many see it.

use core::fmt;
use serde::{Deserialize, Serialize};

/// How much of a crowd changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// All of it, in each tick.
    Moving,
    /// 5 % of it, drawn anew in each tick, advance by one step.
    FivePercent,
    /// Nothing.
    Idle,
}

/// A crowd and who sees it. Everybody sees everything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// How much of it changes.
    pub kind: Kind,
    /// How many there are.
    pub entities: u16,
    /// How many clients see them.
    pub clients: u16,
    /// How long a message is on its way, in each direction, in ticks. With 0 a client has what a tick has sent before the next
    /// one, and the server its acknowledgement in the next one.
    pub delay_ticks: u32,
}

impl Case {
    const fn new(kind: Kind, entities: u16, clients: u16) -> Case {
        Case { kind, entities, clients, delay_ticks: 0 }
    }

    /// Over a link of so many ticks in each direction.
    const fn delayed(self, delay_ticks: u32) -> Case {
        Case { delay_ticks, ..self }
    }

    /// How many change in a tick.
    pub fn changing(&self) -> u16 {
        match self.kind {
            Kind::Moving => self.entities,
            Kind::FivePercent => self.entities / 20,
            Kind::Idle => 0,
        }
    }
}

/// In the order of the table. Three ticks each way are a round trip of 100 ms.
pub const CASES: [Case; 9] = [
    Case::new(Kind::Moving, 100, 1),
    Case::new(Kind::Moving, 100, 16),
    Case::new(Kind::Moving, 100, 64),
    Case::new(Kind::Moving, 1_000, 16),
    Case::new(Kind::Moving, 1_000, 64),
    Case::new(Kind::FivePercent, 901, 16),
    Case::new(Kind::FivePercent, 901, 16).delayed(3),
    Case::new(Kind::Moving, 100, 16).delayed(3),
    Case::new(Kind::Idle, 1_000, 16),
];

impl fmt::Display for Case {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { entities, clients, .. } = self;
        match self.kind {
            Kind::Moving => write!(to, "{entities} moving x {clients}")?,
            Kind::FivePercent => write!(to, "{entities}, {} of them change, x {clients}", self.changing())?,
            Kind::Idle => write!(to, "{entities} idle x {clients}")?,
        }
        match self.delay_ticks {
            0 => Ok(()),
            ticks => write!(to, ", round trip {} ms", 2 * ticks * 1_000 / 60),
        }
    }
}
