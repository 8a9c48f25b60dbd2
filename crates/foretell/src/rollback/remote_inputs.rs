//! The inputs of other players: what the authority has told of them, and the guess where it has told nothing.

use crate::time::{Tick, TickRate, TickRing};
use crate::world::{INPUTS_AHEAD_MAX, Input, InputStatus, PlayerId, PlayerInput};
use alloc::vec::Vec;
use core::time::Duration;

/// Of how many players inputs are remembered; more are not predicted.
const PLAYERS_MAX: usize = 256;

/// In how long a guessed input decays to the neutral one when nothing is told any more.
const GUESS_DECAYS_IN: Duration = Duration::from_millis(150);

/// What the authority has told of one input.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RelayedInput<I> {
    /// What it applies in that tick; `None` when it leaves the player where they are.
    pub input: Option<I>,
    /// How that came about.
    pub status: InputStatus,
}

/// What is known of one player.
#[derive(Clone, Debug)]
struct PlayerInputs<I> {
    player: PlayerId,
    told: TickRing<RelayedInput<I>>,
    newest: Option<Tick>,
    /// Up to here the last known input is used as it is, and from here on it decays.
    fresh_until: Tick,
}

/// The inputs of other players as far as they are known. Ascending by player.
#[derive(Clone, Debug)]
pub(super) struct RemoteInputs<I> {
    players: Vec<PlayerInputs<I>>,
    /// How many ticks before the present are remembered of each player.
    horizon: u32,
    /// In how many ticks a guess decays to the neutral input.
    decay_ticks: u32,
}

impl<I: Input> RemoteInputs<I> {
    /// None yet; those of `horizon` ticks are remembered.
    pub(super) fn new(horizon: u32, rate: TickRate) -> RemoteInputs<I> {
        RemoteInputs { players: Vec::new(), horizon, decay_ticks: rate.ticks_in(GUESS_DECAYS_IN).max(1) }
    }

    /// Remembers what was told of `player`, when the newest state is `present`. Ticks that no one asks for any more, or
    /// not for long, are left out. Returns whether there was room for the player.
    pub(super) fn tell(
        &mut self,
        present: Tick,
        player: PlayerId,
        fresh_until: Tick,
        told: impl Iterator<Item = (Tick, RelayedInput<I>)>,
    ) -> bool {
        let Some(at) = self.index_for(player) else { return false };
        let known = &mut self.players[at];
        known.fresh_until = known.fresh_until.max(fresh_until);
        for (tick, told) in told {
            if present.since(tick) <= self.horizon && tick.since(present) < INPUTS_AHEAD_MAX {
                known.told.set(tick, told);
                known.newest = known.newest.max(Some(tick));
            }
        }
        true
    }

    fn index_for(&mut self, player: PlayerId) -> Option<usize> {
        match self.players.binary_search_by_key(&player, |known| known.player) {
            Ok(at) => Some(at),
            Err(_) if self.players.len() == PLAYERS_MAX => None,
            Err(at) => {
                let told = TickRing::new(self.horizon as usize + 1 + INPUTS_AHEAD_MAX as usize);
                self.players.insert(at, PlayerInputs { player, told, newest: None, fresh_until: Tick::ZERO });
                Some(at)
            }
        }
    }

    /// Forgets players of whom nothing was told for so long that nothing told of them matters any more.
    pub(super) fn forget_before(&mut self, oldest: Tick) {
        self.players.retain(|known| known.fresh_until >= oldest);
    }

    fn known(&self, player: PlayerId) -> Option<&PlayerInputs<I>> {
        let at = self.players.binary_search_by_key(&player, |known| known.player).ok()?;
        Some(&self.players[at])
    }

    /// Whether anything was told of a player of late.
    pub(super) fn knows(&self, player: PlayerId) -> bool {
        self.known(player).is_some()
    }

    /// What the authority has told of one input.
    pub(super) fn told(&self, player: PlayerId, tick: Tick) -> Option<RelayedInput<I>> {
        self.known(player)?.told.get(tick).copied()
    }

    /// The input to simulate a tick with: the one that was told, or a guess; `None` when the player is left where they
    /// are.
    pub(super) fn input(&self, player: PlayerId, tick: Tick) -> Option<PlayerInput<I>> {
        let (input, status) = match self.known(player) {
            None => (I::default(), InputStatus::Neutral),
            Some(known) => match known.told.get(tick) {
                Some(told) => (told.input?, told.status),
                None => known.guess(tick, self.horizon, self.decay_ticks),
            },
        };
        Some(PlayerInput { player, input, status, presented: None })
    }
}

impl<I: Input> PlayerInputs<I> {
    /// The last known input before `tick`, decayed by how long nothing was told. Not by how far the tick is ahead of what is
    /// known: from a round trip of 150 ms on that would correct everybody who walks straight on, with each snapshot.
    fn guess(&self, tick: Tick, horizon: u32, decay_ticks: u32) -> (I, InputStatus) {
        let neutral = (I::default(), InputStatus::Neutral);
        let overdue = tick.since(self.fresh_until);
        let Some(newest) = self.newest.filter(|_| overdue < decay_ticks) else { return neutral };
        let from = newest.min(tick);
        let remembered = from.back(horizon).unwrap_or(Tick::ZERO);
        let last = remembered.until(from.next()).rev().find_map(|tick| self.told.get(tick)?.input);
        let Some(last) = last else { return neutral };
        let decayed = if overdue == 0 { last } else { last.decayed(f64::from(overdue) / f64::from(decay_ticks)) };
        (decayed, InputStatus::Repeated)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::{Push, THEM};

    fn received(force: i32) -> RelayedInput<Push> {
        RelayedInput { input: Some(Push::of(force)), status: InputStatus::Received }
    }

    fn relayed(told: &[(u32, RelayedInput<Push>)]) -> RemoteInputs<Push> {
        // Ten ticks in 150 ms.
        let mut relayed = RemoteInputs::new(64, TickRate::hz(70));
        let told = told.iter().map(|(tick, told)| (Tick::new(*tick), *told));
        relayed.tell(Tick::new(100), THEM, Tick::new(108), told);
        relayed
    }

    fn at(relayed: &RemoteInputs<Push>, tick: u32) -> Option<(i32, InputStatus)> {
        relayed.input(THEM, Tick::new(tick)).map(|input| (input.input.force, input.status))
    }

    #[test]
    fn what_was_told_is_used_and_the_last_known_input_is_the_guess() {
        let held = RelayedInput { input: None, status: InputStatus::Repeated };
        let relayed = relayed(&[(90, received(3)), (91, held), (95, received(5))]);
        assert_eq!(at(&relayed, 89), Some((0, InputStatus::Neutral)), "nothing is known before it");
        assert_eq!(at(&relayed, 90), Some((3, InputStatus::Received)));
        assert_eq!(at(&relayed, 91), None, "left where they are");
        assert_eq!(at(&relayed, 94), Some((3, InputStatus::Repeated)), "a gap is guessed from what is before it");
        assert_eq!(at(&relayed, 95), Some((5, InputStatus::Received)));
        assert_eq!(at(&relayed, 107), Some((5, InputStatus::Repeated)));
    }

    #[test]
    fn a_guess_decays_to_neutral_when_nothing_is_told() {
        let relayed = relayed(&[(99, received(5))]);
        let guesses: Vec<_> = (108..120).map(|tick| at(&relayed, tick)).collect();
        assert_eq!(guesses[..10], [Some((5, InputStatus::Repeated)); 10]);
        assert_eq!(guesses[10..], [Some((0, InputStatus::Neutral)); 2]);
    }

    #[test]
    fn ticks_far_from_the_present_are_not_remembered_and_players_without_news_are_forgotten() {
        let mut relayed = relayed(&[(20, received(1)), (100 + INPUTS_AHEAD_MAX, received(2)), (99, received(5))]);
        assert_eq!([20, 164, 99].map(|tick| relayed.told(THEM, Tick::new(tick)).is_some()), [false, false, true]);
        relayed.forget_before(Tick::new(108));
        assert!(relayed.knows(THEM));
        relayed.forget_before(Tick::new(109));
        assert!(!relayed.knows(THEM));
    }
}
