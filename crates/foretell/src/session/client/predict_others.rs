//! Others predicted: what the server relays of their inputs, whose entities are predicted by it, and what is simulated
//! again when a guess was wrong.

use super::update::Update;
use super::{Causes, Client, ClientCall, Phase, Predict, Session};
use crate::rollback::RelayedInput;
use crate::session::relay::RelayLine;
use crate::time::{Instant, Tick};
use crate::wire::{BitReader, Malformed, Stream};
use crate::world::{Entity, Input, Owned, PlayerId, World};
use alloc::vec::Vec;
use core::time::Duration;

/// Without news of a player's inputs for so long beyond two snapshots, the guess begins to decay.
const GUESS_KEPT: Duration = Duration::from_millis(100);

/// Without news for so long, a player is not predicted any more.
const SILENT: Duration = Duration::from_millis(500);

/// The inputs of others in the datagram that is read.
pub(super) struct RelayReader<I> {
    line: RelayLine<I>,
    /// How many ticks before the snapshot's state, and what; those of one player side by side, ascending.
    told: Vec<(PlayerId, i64, RelayedInput<I>)>,
}

impl<I: Input> Default for RelayReader<I> {
    fn default() -> RelayReader<I> {
        RelayReader { line: RelayLine::with_room(), told: Vec::new() }
    }
}

impl<I: Input> RelayReader<I> {
    pub(super) fn read(&mut self, reader: &mut BitReader<'_>, widths: &[u8]) -> Result<(), Malformed> {
        self.told.clear();
        let mut more = false;
        reader.bool(&mut more)?;
        if !more {
            return Ok(());
        }
        while reader.take(1)? == 1 {
            let line = &mut self.line;
            line.stream(reader, widths)?;
            let back = (-i64::from(line.back)..).zip(&line.told);
            self.told.extend(back.filter_map(|(ahead, told)| Some((line.player, ahead, (*told)?))));
        }
        Ok(())
    }
}

/// How a client has an entity that it does not move itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EntityMode {
    /// Simulated here, ahead of the authority: shown where it is.
    Predicted,
    /// Taken from the authority's states: shown where it was.
    Interpolated,
}

impl<W: World> Client<W> {
    /// How a single entity is to be had, whatever holds for the others of its player; `None` is as these. Of the own player's
    /// it can be either; of another's predicted only if the server relays their inputs. It happens with the next
    /// snapshot; what is shown goes over smoothly. The world's step has to ask [`Step::role`](crate::world::Step::role)
    /// then, as an input does not say which of a player's entities it is to move.
    pub fn set_mode(&mut self, entity: Entity, mode: Option<EntityMode>) {
        self.call(&ClientCall::SetMode(entity, mode));
    }

    pub(super) fn set_single(&mut self, entity: Entity, mode: Option<EntityMode>) {
        self.singles.retain(|(known, _)| *known != entity);
        self.singles.extend(mode.map(|mode| (entity, mode == EntityMode::Predicted)));
    }

    /// Whether the entities of `player` are to be predicted, whatever [`ClientConfig::predict`](super::ClientConfig::predict)
    /// says; [`PlayerId::SERVER`] stands for what belongs to the server. It happens with the next snapshot, if the server
    /// relays the player's inputs; what is shown goes over smoothly. The own player is always predicted.
    pub fn predict(&mut self, player: PlayerId, yes: bool) {
        self.call(&ClientCall::Predict(player, yes));
    }

    pub(super) fn set_wish(&mut self, player: PlayerId, yes: bool) {
        match self.wishes.iter_mut().find(|(of, _)| *of == player) {
            Some((_, wish)) => *wish = yes,
            None => self.wishes.push((player, yes)),
        }
    }

    /// The players whose entities are predicted, ascending; the own one before the session begins is nobody.
    pub fn predicted_players(&self) -> &[PlayerId] {
        self.session().map_or(&[], |session| session.timeline.predicted().players())
    }

    /// Keeps what the snapshot of `tick` has told of the inputs of others that are to be predicted.
    pub(super) fn note_relayed(&mut self, now: Instant, tick: Tick) {
        let Phase::Playing(session) = &mut self.phase else { return };
        let patience = self.rules.tick_rate.ticks_in(GUESS_KEPT) + 2 * session.playout.interval_ticks();
        let fresh_until = session.pacing.at_instant(now).tick().max(session.timeline.present()) + patience;
        for told in self.heard.told.chunk_by(|a, b| a.0 == b.0) {
            let player = told[0].0;
            let is_told_all = self.rules.exact;
            if !is_told_all && player == session.player
                || !(is_told_all
                    || matches!(self.config.predict, Predict::Near { .. })
                    || wants(player, self.config.predict, &self.wishes)
                    || session.wants_single(player, &self.singles))
                || !session.has_seen(player)
            {
                continue;
            }
            let told = told.iter().filter_map(|(_, ahead, told)| Some((ahead_of(tick, *ahead)?, *told)));
            session.timeline.tell(player, fresh_until, told);
        }
    }
}

impl<W: World> Session<W> {
    /// Whether any single entity of a player is to be predicted.
    fn wants_single(&self, player: PlayerId, singles: &[(Entity, bool)]) -> bool {
        let newest = self.snapshots.newest();
        let owner = |entity: &Entity| newest.and_then(|newest| newest.rows.owner(*entity));
        singles.iter().any(|(entity, yes)| *yes && owner(entity) == Some(player))
    }

    /// Forgets what has changed hands so long ago that nothing says another owner.
    fn forget_handed(&mut self, now: Instant) {
        if self.owners.is_empty() {
            return;
        }
        let mut owners = core::mem::take(&mut self.owners);
        let remote = self.remote_window(now);
        owners.forget(|of| {
            let shown = remote.as_ref().and_then(|remote| remote.rows().owner(of.entity));
            shown.is_some_and(|shown| shown != of.owner) || self.timeline.has_of_another(of)
        });
        self.owners = owners;
    }

    /// Whether a player is worth the memory: one who has an entity.
    fn has_seen(&self, player: PlayerId) -> bool {
        let in_newest = || self.snapshots.newest()?.rows.iter().find(|row| row.owner == player);
        self.timeline.knows_inputs_of(player) || in_newest().is_some()
    }
}

fn ahead_of(tick: Tick, ahead: i64) -> Option<Tick> {
    let distance = u32::try_from(ahead.unsigned_abs()).ok()?;
    if ahead < 0 { tick.back(distance) } else { Some(tick + distance) }
}

fn wants(player: PlayerId, predict: Predict, wishes: &[(PlayerId, bool)]) -> bool {
    let wish = wishes.iter().find(|(of, _)| *of == player);
    wish.map_or(predict == Predict::Everyone, |(_, wish)| *wish)
}

impl<W: World> Update<'_, W> {
    /// Predicts whom it is asked to predict, from the snapshot of `tick` on, which has been compared. Returns how many
    /// ticks were simulated again.
    pub(super) fn switch(&mut self, world: &mut W, tick: Tick) -> u32 {
        self.choose(tick);
        let session = &mut *self.session;
        if session.wanted == *session.timeline.predicted() {
            return 0;
        }
        let wanted = session.wanted.clone();
        let (visual, offsets) = session.visual_state(self.now, (&self.rules.schema, self.config));
        offsets.capture_others(&visual, &wanted);
        // From now on they are proxies, which are gone when the cursor does not see them.
        let newest = session.timeline.rows(session.timeline.present()).expect("the present is remembered");
        newest.iter().filter(|row| !wanted.contains(row.owned())).for_each(|row| session.proxies.set_words(row));
        session.proxies.drop_predicted(&wanted);
        let full = &session.snapshots.get(tick).expect("it has just been compared").rows;
        let ran = session.timeline.switch(world, tick, &wanted, full);
        let received = &mut self.stats.outcomes.received;
        *received = received.wrapping_add_signed(session.snapshots.recount(&wanted));
        self.stats.resimulated += u64::from(ran);
        session.note_runs(tick, session.timeline.present());
        session.reconciler.note_again(tick, Causes::OTHERS);
        ran
    }

    /// Whose entities are to be predicted: of those in the snapshot of `tick`.
    fn choose(&mut self, tick: Tick) {
        let session = &mut *self.session;
        if self.rules.exact {
            session.timeline.forget_silent_players(self.rules.tick_rate.ticks_in(SILENT));
            let Some(snapshot) = session.snapshots.get(tick) else { return };
            session.wanted.clear();
            session.wanted.insert_all();
            snapshot.rows.iter().for_each(|row| session.wanted.insert(row.owner));
            return;
        }
        session.wanted.clear();
        session.forget_handed(self.now);
        let singly = !self.singles.is_empty() || !session.authority.is_empty() || !session.owners.is_empty();
        if self.config.predict == Predict::Own && self.wishes.is_empty() && !singly {
            return;
        }
        session.timeline.forget_silent_players(self.rules.tick_rate.ticks_in(SILENT));
        let Some(snapshot) = session.snapshots.get(tick) else { return };
        for row in snapshot.rows.iter() {
            let player = row.owner;
            let told = player == PlayerId::SERVER || session.timeline.knows_inputs_of(player);
            if told && wants(player, self.config.predict, self.wishes) {
                session.wanted.insert(player);
            }
        }
        if let Predict::Near { within_m, until_m } = self.config.predict {
            session.choose_near(tick, (within_m, until_m), &self.rules.schema, self.wishes);
        }
        let Some(snapshot) = session.snapshots.get(tick) else { return };
        for of in session.owners.handed() {
            let yes = session.wanted.contains(*of);
            session.wanted.insert_single(*of, yes);
        }
        for (entity, yes) in self.singles {
            let Some(owner) = snapshot.rows.owner(*entity) else { continue };
            let is_told =
                [session.player, PlayerId::SERVER].contains(&owner) || session.timeline.knows_inputs_of(owner);
            if is_told || !yes {
                session.wanted.insert_single(Owned { entity: *entity, owner }, *yes);
            }
        }
        for entity in session.authority.unpredicted(tick) {
            let owner = snapshot.rows.owner(entity).unwrap_or(entity.spawned_for());
            session.wanted.insert_single(Owned { entity, owner }, false);
        }
    }

    /// Simulates again from where an input of another player is known to be another than was used. One that is under way
    /// lands first, so that it ends.
    pub(super) fn revise(&mut self) {
        let session = &mut *self.session;
        let (settled, present) = (session.timeline.settled(), session.timeline.present());
        let outdated = session.timeline.outdated(session.reconciler.compared());
        let Some(tick) = outdated.filter(|tick| settled == present || *tick >= settled) else { return };
        if settled == present {
            self.stats.rollbacks += 1;
            self.stats.rollback_ticks_max = self.stats.rollback_ticks_max.max(present.since(tick));
        }
        let [own, others, canonical] = session.timeline.outdated_by(tick);
        let causes = [(own, Causes::OWN_INPUT), (others, Causes::RELAYED_INPUT), (canonical, Causes::DERIVED)];
        let causes = causes.into_iter().filter(|(holds, _)| *holds);
        session.timeline.revisit(tick);
        session.reconciler.note_again(tick, causes.fold(Causes::default(), |set, (_, cause)| set.with(cause)));
    }
}
