//! Who plays in a run: the person, the bots, and whose machine is whose.

use crate::recording::scenario::PLAYERS_MAX;
use core::time::Duration;
use foretell::{PlayerId, Tick, TickRate};
use foretell_plan::bots::Bots;
use foretell_plan::{Keys, Session};

/// The person's number among the players; the others are bots.
pub const HUMAN: usize = 0;

/// From so far on the recorded keys are played for the person: there they lead through the middle of the room.
const AHEAD: Duration = Duration::from_secs(6);

/// The players, their keys and their machines.
#[derive(Clone, Debug)]
pub struct Players {
    rate: TickRate,
    bots: Bots,
    /// Whose machine is whose, where players come and go as faults have it; else each has the index of its player.
    seats: Vec<usize>,
    /// Whether a bot plays for the person.
    pub bot: bool,
    /// The keys that the person holds.
    pub keys: u8,
    /// The person's player, once they have joined.
    pub human: Option<PlayerId>,
}

impl Players {
    /// Before anybody has joined.
    pub fn new(seed: u64, rate: TickRate, bot: bool, keys: u8) -> Players {
        let players = usize::from(PLAYERS_MAX);
        let session = Session { tick_rate: rate.get(), players, input: Keys::Recorded, ..Session::default() };
        Players { rate, bots: Bots::new(&session, seed), seats: Vec::new(), bot, keys, human: None }
    }

    /// The next machine belongs to the player of this number.
    pub fn seat(&mut self, player: usize) {
        self.seats.push(player);
        if player == HUMAN {
            self.human = None;
        }
    }

    /// The number of the player whose machine it is.
    pub fn player_at(&self, machine: usize) -> usize {
        self.seats.get(machine).copied().unwrap_or(machine)
    }

    /// The person's machine; the newest, when they have come several times.
    pub fn machine(&self) -> Option<usize> {
        if self.seats.is_empty() { Some(HUMAN) } else { self.seats.iter().rposition(|player| *player == HUMAN) }
    }

    /// The keys that count in a tick.
    pub fn keys_of(&self, player: usize, tick: Tick) -> u8 {
        match player {
            HUMAN if !self.bot => self.keys,
            HUMAN => self.bots.bits(player, tick + self.rate.ticks_in(AHEAD)),
            player => self.bots.bits(player, tick),
        }
    }
}
