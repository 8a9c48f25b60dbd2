//! What is known of the ticks of a timeline: the own inputs, those of other players, and which ticks are canonical; and what of it
//! their steps were given.

use super::remote_inputs::{RelayedInput, RemoteInputs};
use crate::time::{Tick, TickRate, TickRing};
use crate::world::{Input, InputStatus, PlayerId, PlayerInput, PredictionSet, ROW_WORDS_MAX};
use alloc::vec::Vec;

/// How many of its own inputs a client remembers at least: 16 s at 64 Hz, the article's ring (R14). Never fewer than
/// states.
pub const INPUTS_KEPT: u32 = 1024;

/// What the step of one tick was given.
#[derive(Clone, Debug)]
pub(super) struct StepInputs<I> {
    /// Ascending by player.
    pub inputs: Vec<PlayerInput<I>>,
    /// Whether the step was [canonical](crate::world::Step::canonical).
    pub canonical: bool,
}

impl<I: Input> StepInputs<I> {
    /// The input of one player; `None` where the step was given none.
    fn of(&self, player: PlayerId) -> Option<I> {
        let found = self.inputs.binary_search_by_key(&player, |input| input.player).ok();
        found.map(|at| self.inputs[at].input)
    }
}

/// In what a tick was simulated otherwise than it would be with what is known now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outdated {
    /// The own input: the authority has told that it applied another one.
    pub own_input: bool,
    /// The input of another player.
    pub others_input: bool,
    /// Whether the tick is canonical.
    pub canonical: bool,
    /// What was changed ahead of the authority: it has refused a change that the step has made or found.
    pub change: bool,
}

impl Outdated {
    /// Whether in anything at all.
    pub(super) fn any(self) -> bool {
        self != Outdated::default()
    }

    /// In what either of two ticks was.
    #[must_use]
    pub(super) fn or(self, other: Outdated) -> Outdated {
        Outdated {
            own_input: self.own_input || other.own_input,
            others_input: self.others_input || other.others_input,
            canonical: self.canonical || other.canonical,
            change: self.change || other.change,
        }
    }
}

/// What is known of the inputs of all players, by tick, and of canonical ticks; and what of that the last steps were given.
pub(super) struct InputHistory<I> {
    own: TickRing<PlayerInput<I>>,
    /// What steps were given, of as many ticks as states are remembered.
    given: TickRing<StepInputs<I>>,
    others: RemoteInputs<I>,
    /// Whether there are no own inputs: not even neutral ones.
    has_none: bool,
    /// The canonical ticks that are known, ascending, of about two horizons.
    canonical: Vec<Tick>,
    /// Whether anything was told that has not been compared with what the steps were given.
    news: bool,
}

impl<I: Input> InputHistory<I> {
    /// Nothing is known yet. The inputs of others are remembered for `horizon` ticks, the own ones for at least as long.
    pub(super) fn new(horizon: u32, rate: TickRate) -> InputHistory<I> {
        InputHistory {
            own: TickRing::new(INPUTS_KEPT.max(horizon + 1) as usize),
            given: TickRing::new(horizon as usize + 2),
            others: RemoteInputs::new(horizon, rate),
            has_none: false,
            canonical: Vec::new(),
            news: false,
        }
    }

    /// There are no own inputs, not even neutral ones.
    pub(super) fn have_none(&mut self) {
        self.has_none = true;
    }

    /// Remembers the own input of a tick.
    pub(super) fn give(&mut self, tick: Tick, input: PlayerInput<I>) {
        self.own.set(tick, input);
    }

    /// The own input of a tick; `None` where none was given.
    pub(super) fn own(&self, tick: Tick) -> Option<&PlayerInput<I>> {
        self.own.get(tick)
    }

    /// Remembers what was told of another player's inputs, when the newest state is `present`.
    pub(super) fn tell(
        &mut self,
        present: Tick,
        player: PlayerId,
        fresh_until: Tick,
        told: impl Iterator<Item = (Tick, RelayedInput<I>)>,
    ) {
        self.news |= self.others.tell(present, player, fresh_until, told);
    }

    /// Whether inputs of another player were told of late.
    pub(super) fn knows(&self, player: PlayerId) -> bool {
        self.others.knows(player)
    }

    /// Forgets the players of whom nothing was told since `oldest`.
    pub(super) fn forget_silent_players(&mut self, oldest: Tick) {
        self.others.forget_before(oldest);
    }

    /// Remembers that a tick is canonical, and forgets those before `oldest`.
    pub(super) fn announce(&mut self, tick: Tick, oldest: Tick) {
        if let Err(at) = self.canonical.binary_search(&tick)
            && oldest <= tick
        {
            self.canonical.insert(at, tick);
            self.canonical.retain(|canonical| *canonical >= oldest);
            self.news = true;
        }
    }

    /// The canonical ticks that are known, ascending.
    pub(super) fn canonical(&self) -> &[Tick] {
        &self.canonical
    }

    /// Whether a tick is known to be canonical.
    pub(super) fn is_canonical(&self, tick: Tick) -> bool {
        self.canonical.binary_search(&tick).is_ok()
    }

    /// What the step of a tick is to be given by what is known now, on a client that simulates `predicted`; it is remembered.
    pub(super) fn gather(&mut self, tick: Tick, predicted: &PredictionSet) -> &StepInputs<I> {
        let mut inputs = self.given.evict(tick).map_or_else(Vec::new, |before| before.inputs);
        inputs.clear();
        inputs.extend(predicted.stepped().iter().filter_map(|player| self.of(*player, predicted.player(), tick)));
        self.given.set(tick, StepInputs { inputs, canonical: self.is_canonical(tick) });
        self.given(tick)
    }

    /// What the step of a tick was given last, which is one of those that are remembered.
    pub(super) fn given(&self, tick: Tick) -> &StepInputs<I> {
        self.given.get(tick).expect("the step was simulated")
    }

    /// The input of a predicted player as it is known now: the own one, or what was told or is guessed of another's.
    fn of(&self, player: PlayerId, own: PlayerId, tick: Tick) -> Option<PlayerInput<I>> {
        let neutral = PlayerInput { player, input: I::default(), status: InputStatus::Neutral, presented: None };
        if player == PlayerId::SERVER || self.has_none && player == own {
            return None;
        }
        if player != own {
            return self.others.input(player, tick);
        }
        match self.others.told(own, tick) {
            // The authority had none in time.
            Some(told) => told.input.map(|input| PlayerInput { input, status: told.status, ..neutral }),
            None => Some(self.own(tick).copied().unwrap_or(neutral)),
        }
    }

    /// Whether there may be outdated ticks: something was told since this was last [settled](InputHistory::note_compared).
    pub(super) fn has_news(&self) -> bool {
        self.news
    }

    /// All ticks were compared with what is known now; whether any is outdated.
    pub(super) fn note_compared(&mut self, is_outdated: bool) {
        self.news = is_outdated;
    }

    /// In what a tick is outdated by what its step was given.
    pub(super) fn outdated(&self, tick: Tick, predicted: &PredictionSet) -> Outdated {
        let (own, given) = (predicted.player(), self.given(tick));
        let differs = |player| !are_same(given.of(player), self.of(player, own, tick).map(|input| input.input));
        Outdated {
            own_input: self.others.told(own, tick).is_some() && differs(own),
            others_input: others(predicted).any(differs),
            canonical: self.is_canonical(tick) != given.canonical,
            change: false,
        }
    }

    /// Whether the step of a tick was given another input of another player than the authority applied, as far as it has
    /// told; or it has not.
    pub(super) fn is_misguessed(&self, player: PlayerId, tick: Tick) -> bool {
        self.others.told(player, tick).is_none_or(|told| !are_same(self.given(tick).of(player), told.input))
    }
}

/// Whether a step makes the same of both: an input that is equal may differ in bits, as -0.0 does from 0.0.
fn are_same<I: Input>(one: Option<I>, other: Option<I>) -> bool {
    let words = |input: I| {
        let mut words = [0; ROW_WORDS_MAX];
        input.write(&mut words);
        words
    };
    one == other && one.map(words) == other.map(words)
}

/// The players of whom entities are predicted, without the own one and the server.
pub(super) fn others(predicted: &PredictionSet) -> impl Iterator<Item = PlayerId> {
    let own = predicted.player();
    predicted.stepped().iter().copied().filter(move |player| *player != own && *player != PlayerId::SERVER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollback::test_world::{ME, Push, THEM};

    const NOW: Tick = Tick::new(100);

    fn everyone() -> PredictionSet {
        let mut predicted = PredictionSet::own(ME);
        [PlayerId::SERVER, THEM].into_iter().for_each(|player| predicted.insert(player));
        predicted
    }

    fn inputs() -> InputHistory<Push> {
        let mut inputs = InputHistory::new(64, TickRate::hz(64));
        let status = InputStatus::Received;
        inputs.give(NOW, PlayerInput { player: ME, input: Push::of(1), status, presented: None });
        inputs
    }

    fn tell(inputs: &mut InputHistory<Push>, player: PlayerId, input: Option<Push>) {
        let told = RelayedInput { input, status: InputStatus::Repeated };
        inputs.tell(NOW, player, NOW, [(NOW, told)].into_iter());
    }

    fn pushes(inputs: &mut InputHistory<Push>) -> Vec<(PlayerId, i32)> {
        inputs.gather(NOW, &everyone()).inputs.iter().map(|input| (input.player, input.input.force)).collect()
    }

    #[test]
    fn a_step_is_given_the_own_input_and_what_is_known_of_others_and_never_one_of_the_server() {
        let mut inputs = inputs();
        assert_eq!(pushes(&mut inputs), [(ME, 1), (THEM, 0)]);
        tell(&mut inputs, THEM, Some(Push::of(7)));
        assert_eq!(pushes(&mut inputs), [(ME, 1), (THEM, 7)]);
        tell(&mut inputs, THEM, None);
        assert_eq!(pushes(&mut inputs), [(ME, 1)], "one who is left where they are is not stepped");
    }

    #[test]
    fn what_the_authority_applied_takes_the_place_of_the_own_input() {
        let mut inputs = inputs();
        tell(&mut inputs, ME, Some(Push::of(5)));
        assert_eq!(pushes(&mut inputs), [(ME, 5), (THEM, 0)]);
        assert_eq!(inputs.own(NOW).map(|input| input.input), Some(Push::of(1)), "which is remembered all the same");
        tell(&mut inputs, ME, None);
        assert_eq!(pushes(&mut inputs), [(THEM, 0)]);
    }

    #[test]
    fn a_tick_is_outdated_in_what_was_told_otherwise_than_its_step_was_given() {
        let mut inputs = inputs();
        let given = inputs.gather(NOW, &everyone()).inputs[0];
        let outdated = |inputs: &InputHistory<Push>| inputs.outdated(NOW, &everyone());
        inputs.give(NOW, PlayerInput { input: Push::of(2), ..given });
        assert!(!outdated(&inputs).any(), "nobody has told of another own input");
        tell(&mut inputs, ME, Some(Push::of(1)));
        tell(&mut inputs, THEM, Some(Push::of(0)));
        assert!(inputs.has_news() && !outdated(&inputs).any(), "what was told is what was used");
        tell(&mut inputs, THEM, Some(Push::of(3)));
        assert_eq!(outdated(&inputs), Outdated { others_input: true, ..Outdated::default() });
        tell(&mut inputs, ME, None);
        inputs.announce(NOW, Tick::ZERO);
        let all = Outdated { own_input: true, others_input: true, canonical: true, change: false };
        assert_eq!(outdated(&inputs), all);
        inputs.gather(NOW, &everyone());
        assert!(!outdated(&inputs).any(), "simulated again it no longer is");
    }

    #[derive(foretell::Input, Clone, Copy, Default, PartialEq)]
    struct Stick {
        y: f32,
    }

    #[test]
    fn an_input_that_is_equal_and_of_other_bits_is_another_one() {
        let mut inputs: InputHistory<Stick> = InputHistory::new(64, TickRate::hz(64));
        inputs.gather(NOW, &everyone());
        for (y, is_another) in [(0.0, false), (-0.0, true)] {
            let told = RelayedInput { input: Some(Stick { y }), status: InputStatus::Received };
            inputs.tell(NOW, THEM, NOW, [(NOW, told)].into_iter());
            assert_eq!(inputs.outdated(NOW, &everyone()).others_input, is_another, "{y}");
            assert_eq!(inputs.is_misguessed(THEM, NOW), is_another, "{y}");
        }
    }

    #[test]
    fn a_guess_counts_as_wrong_until_the_authority_has_told_the_same() {
        let mut inputs = inputs();
        inputs.gather(NOW, &everyone());
        assert!(inputs.is_misguessed(THEM, NOW), "nothing is told");
        tell(&mut inputs, THEM, Some(Push::of(0)));
        assert!(!inputs.is_misguessed(THEM, NOW));
        tell(&mut inputs, THEM, Some(Push::of(2)));
        assert!(inputs.is_misguessed(THEM, NOW));
    }

    #[test]
    fn canonical_ticks_are_known_once_each_in_order_and_forgotten_with_what_is_too_old() {
        let mut inputs = inputs();
        [9, 3, 9, 7].into_iter().for_each(|tick| inputs.announce(Tick::new(tick), Tick::ZERO));
        assert_eq!(inputs.canonical(), [3, 7, 9].map(Tick::new));
        inputs.note_compared(false);
        inputs.announce(Tick::new(2), Tick::new(5));
        assert!(!inputs.has_news(), "one that is too old is not taken in");
        inputs.announce(Tick::new(12), Tick::new(8));
        assert_eq!(inputs.canonical(), [9, 12].map(Tick::new));
        assert!(inputs.is_canonical(Tick::new(12)) && inputs.has_news());
    }
}
