//! The inputs of others in a timeline: told ones against those that were used, and whose entities are predicted.

use super::{RelayedInput, Timeline};
use crate::time::Tick;
use crate::world::{Entity, Owned, PlayerId, Predicted, RemovedRow, Row, Rows, World};
use alloc::vec::Vec;

impl<W: World> Timeline<W> {
    /// Remembers what was told of another player's inputs. Up to tick `fresh_until` the last of them is the guess for what
    /// was not told; from there on the guess decays.
    pub fn tell(
        &mut self,
        player: PlayerId,
        fresh_until: Tick,
        told: impl Iterator<Item = (Tick, RelayedInput<W::Input>)>,
    ) {
        self.relayed.tell(self.present, player, fresh_until, told);
    }

    /// The authority's step of `tick` is [canonical](crate::world::Step::canonical): so is every simulation of it from now on.
    pub fn announce(&mut self, tick: Tick) {
        // Who starts again does it from before the oldest state that is remembered.
        let oldest = self.present.back(2 * self.horizon()).unwrap_or(Tick::ZERO);
        if let Err(at) = self.canonical.binary_search(&tick)
            && oldest <= tick
        {
            self.canonical.insert(at, tick);
            self.canonical.retain(|canonical| *canonical >= oldest);
            self.relayed.news = true;
        }
    }

    /// The canonical ticks that are known, ascending.
    pub fn canonical(&self) -> &[Tick] {
        &self.canonical
    }

    /// Whether the authority's step of `tick` is known to be canonical.
    pub fn is_canonical(&self, tick: Tick) -> bool {
        self.canonical.binary_search(&tick).is_ok()
    }

    /// Whose entities are predicted, before anything is.
    pub(crate) fn predict(&mut self, predicted: &Predicted) {
        self.predicted.clone_from(predicted);
    }

    /// Whether inputs of another player were told of late.
    pub fn knows_inputs_of(&self, player: PlayerId) -> bool {
        self.relayed.knows(player)
    }

    /// Forgets the inputs of players of whom nothing was told for so many ticks after what was told was fresh.
    pub fn forget_silent_players(&mut self, ticks: u32) {
        self.relayed.forget_before(self.present.back(ticks).unwrap_or(Tick::ZERO));
    }

    /// The others whose inputs in the ticks before state `tick`, from `since` on, were not what the authority applied, as
    /// far as it has told; or it has not.
    pub(crate) fn misguessed(&self, since: Tick, tick: Tick, into: &mut Vec<PlayerId>) {
        into.clear();
        let others = self.predicted.stepped().iter().filter(|player| self.is_another(**player));
        into.extend(others.filter(|player| {
            since.max(self.oldest).until(tick.min(self.present)).any(|tick| {
                let told = self.relayed.told(**player, tick);
                told.is_none_or(|told| self.used(**player, tick) != told.input)
            })
        }));
    }

    /// Adds the entities that those of other players touched here in the ticks before state `tick`, from `since` on.
    pub(crate) fn touched(&self, since: Tick, tick: Tick, into: &mut Vec<Entity>) {
        for tick in since.max(self.oldest).until(tick.min(self.present)) {
            into.extend_from_slice(&self.slots[self.index(tick)].output.contacts);
        }
    }

    /// The first tick from `since` on that was simulated otherwise than it would be now: with another input of another
    /// player, or of the own one that the authority has told; or not as the canonical one that it is.
    pub fn outdated(&mut self, since: Tick) -> Option<Tick> {
        if !self.relayed.news {
            return None;
        }
        let mut ticks = since.max(self.oldest).until(self.present);
        let found = ticks.find(|tick| self.outdated_in(*tick) != [false; 3]);
        self.relayed.news = found.is_some();
        found
    }

    /// By what the ticks from `tick` on were simulated otherwise than they would be now: by the own input, by another
    /// player's, by not being canonical.
    pub(crate) fn outdated_by(&self, tick: Tick) -> [bool; 3] {
        tick.until(self.present).fold([false; 3], |by, tick| {
            let here = self.outdated_in(tick);
            core::array::from_fn(|nth| by[nth] || here[nth])
        })
    }

    fn outdated_in(&self, tick: Tick) -> [bool; 3] {
        let differs = |player| self.used(player, tick) != self.input_of(player, tick).map(|input| input.input);
        let own = self.predicted.player();
        let is_own = self.relayed.told(own, tick).is_some() && differs(own);
        let mut others = self.predicted.stepped().iter().filter(|player| self.is_another(**player));
        let is_others = others.any(|player| differs(*player));
        [is_own, is_others, self.is_canonical(tick) != self.slots[self.index(tick)].canonical]
    }

    /// Simulates the ticks from `tick` on again, from the stored state and with the inputs that are known by then: the
    /// next [`resimulate`](Timeline::resimulate) begins there, or before it. One that is under way and will come to `tick`
    /// just goes on.
    ///
    /// # Panics
    /// When `tick` is not remembered.
    pub fn revisit(&mut self, tick: Tick) {
        assert!(self.oldest <= tick && tick < self.present, "only a remembered tick can be simulated again");
        if self.again_from.is_some_and(|from| from <= tick) {
            return;
        }
        self.checkpoints.forget_aside(Some(self.present));
        self.predictor.note(tick);
        self.again_from = Some(tick);
    }

    /// Whether an entity belongs to another player in any state that is remembered, or in what is written before its step.
    pub(crate) fn has_of_another(&self, of: Owned) -> bool {
        self.oldest.until(self.present.next()).any(|tick| {
            let slot = &self.slots[self.index(tick)];
            [&slot.rows, &slot.proxies].iter().any(|rows| rows.owner(of.entity).is_some_and(|owner| owner != of.owner))
        })
    }

    /// Predicts the entities of other players than before, from the authority's full state of `tick` on, and simulates up
    /// to the present at once. Who is predicted no more goes on as a proxy where they were predicted to be, also in later
    /// re-simulations of these ticks. Returns how many ticks it simulated.
    ///
    /// # Panics
    /// When `tick` is not remembered, or the own player changes.
    pub fn switch(&mut self, world: &mut W, tick: Tick, predicted: &Predicted, full: &Rows) -> u32 {
        assert!(self.predicted.player() == predicted.player(), "the own player stays");
        // As the ticks before it were simulated.
        self.seek_to_rewrite(world, tick);
        let dropped = self.hand_over(tick, predicted, full);
        self.predicted.clone_from(predicted);
        self.switched = tick;
        let mut authority = full.clone();
        authority.copy_predicted(full, predicted);
        self.rewrite_with(world, tick, &authority, Some(&dropped));
        let present = self.present;
        self.simulate_again(world, present.since(tick))
    }

    /// Moves rows between what is predicted and what is written before each step, from state `tick` on. Returns the rows
    /// that the world may hold in state `tick` and that are not to be there.
    fn hand_over(&mut self, tick: Tick, predicted: &Predicted, full: &Rows) -> Vec<RemovedRow> {
        let removed = |row: Row<'_>| RemovedRow { key: row.key(), owner: row.owner };
        // What was written before the step to this state is in the world still.
        let before = tick.back(1).filter(|before| self.present.since(*before) <= self.horizon());
        let written = before.into_iter().flat_map(|before| self.slots[self.index(before)].proxies.iter());
        let arriving = written.filter(|row| predicted.contains(row.owned()));
        let leaving = self.slots[self.index(tick)].rows.iter().filter(|row| !predicted.contains(row.owned()));
        let is_gone = |row: &Row<'_>| full.words(row.key()).is_none();
        let dropped: Vec<_> = arriving.chain(leaving).filter(is_gone).map(removed).collect();
        let mut handed: Vec<RemovedRow> = Vec::new();
        for tick in tick.until(self.present.next()) {
            let index = self.index(tick);
            let slot = &mut self.slots[index];
            slot.proxies.drop_predicted(predicted);
            let mut kept = Vec::new();
            for row in slot.rows.iter().filter(|row| !predicted.contains(row.owned())) {
                if !dropped.contains(&removed(row)) {
                    slot.proxies.set_words(row);
                    kept.push(removed(row));
                }
            }
            // What had ceased to exist in the prediction ceases to exist as a proxy too.
            handed.iter().filter(|row| !kept.contains(row)).for_each(|row| slot.proxies.name_removed(*row));
            slot.rows.retain(|_, of| predicted.contains(of));
            slot.rows.settle();
            handed = kept;
        }
        dropped
    }

    /// Whether the ticks from state `from` up to state `tick`, simulated once more from what was saved and with the inputs
    /// and proxies that are stored, come to what is stored; true where that is not remembered.
    ///
    /// # Panics
    /// When `tick` is not remembered.
    pub(crate) fn repeats(&mut self, world: &mut W, from: Tick, tick: Tick) -> bool {
        if from < self.oldest || from >= tick {
            return true;
        }
        assert!(tick <= self.present, "only a remembered tick can be simulated again");
        self.seek(world, from);
        for tick in from.until(tick) {
            self.repeat(world, tick);
        }
        self.adopting.copy_predicted(&self.published, &self.predicted);
        self.adopting.iter().eq(self.slots[self.index(tick)].rows.iter())
    }

    /// Whether a predicted player is neither the own one nor the server.
    fn is_another(&self, player: PlayerId) -> bool {
        player != self.predicted.player() && player != PlayerId::SERVER
    }

    /// The input of another player that `tick` was simulated with.
    fn used(&self, player: PlayerId, tick: Tick) -> Option<W::Input> {
        let inputs = &self.slots[self.index(tick)].inputs;
        inputs.binary_search_by_key(&player, |input| input.player).ok().map(|at| inputs[at].input)
    }
}
