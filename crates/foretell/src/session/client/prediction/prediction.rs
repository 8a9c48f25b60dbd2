//! The world ahead of the authority: its timeline, and how it is reconciled with the authority's states.
//!
//! At most one comparison per update, with the newest state whose tick is simulated. In an exact session what the server has
//! told of inputs is simulated first; what comes of it is what the server has, by its digest, or the state is asked for.

use super::cause_evidence::ComparedTicks;
use super::change_outcomes;
use super::effects::{Effects, Now};
use super::let_go::LetGo;
use super::near_entities::Predictable;
use super::predicted_entities::{Known, PredictedEntities};
use super::reconciler::{Comparison, Reconciler};
use crate::rollback::{NewestPredictions, Timeline};
use crate::session::Rules;
use crate::session::client::client_settings::ClientSettings;
use crate::session::client::correction_causes::Causes;
use crate::session::client::snapshots::{Compared, Look, Snapshot, Snapshots, ToldInputs, Tracks};
use crate::session::client::update_log::UpdateLog;
use crate::session::client::update_report::ClientEvent;
use crate::session::exact_row_codec::proof_of;
use crate::time::{Tick, TickTime};
use crate::world::{Owned, PlayerId, PredictionSet, Rows, Tolerance, World};
use alloc::vec::Vec;
use core::time::Duration;

/// The longest history that is kept.
const HORIZON_MAX: Duration = Duration::from_secs(60);
/// Without news of a player's inputs for so long beyond two snapshots, the guess begins to decay.
const GUESS_KEPT: Duration = Duration::from_millis(100);
/// Without news for so long, a player is not predicted any more.
const SILENT: Duration = Duration::from_millis(500);

/// Lives from the start of a session to its end.
pub(crate) struct Prediction<W: World> {
    pub timeline: Timeline<W>,
    pub reconciler: Reconciler,
    pub effects: Effects,
    targets: PredictedEntities,
    let_go: LetGo,
    /// In an exact session: the newest state whose digest was not that of the prediction, while no other is known.
    pub asks: Option<Tick>,
    /// How many snapshots in a row it has started again from, because they were older than the horizon.
    beyond_horizon: u32,
}

/// From where to start again.
#[derive(Clone, Copy)]
pub(crate) struct Restart {
    pub tick: Tick,
    /// Up to where the stored inputs are replayed.
    pub until: Tick,
    /// Where others are shown.
    pub cursor: Option<TickTime>,
}

impl<W: World> Prediction<W> {
    pub(crate) fn new(settings: &ClientSettings, player: PlayerId) -> Prediction<W> {
        let (Rules { schema, tick_rate, .. }, config) = (&settings.rules, &settings.config);
        let horizon = tick_rate.ticks_in(config.horizon.min(HORIZON_MAX));
        let mut timeline = Timeline::new(schema, player, *tick_rate, horizon, config.checkpoint_interval);
        if settings.spectates() {
            timeline.have_no_inputs();
        }
        Prediction {
            timeline,
            reconciler: Reconciler::new(schema, player),
            effects: Effects::new(),
            targets: PredictedEntities::new(schema, player),
            let_go: LetGo::new(schema),
            asks: None,
            beyond_horizon: 0,
        }
    }

    /// In an exact session everything is predicted from the start, at which the state is `full`.
    pub(crate) fn predict_everything(&mut self, rules: &Rules, full: &Rows) {
        if rules.exact {
            self.reconciler.causes.be_exact();
            self.targets.want_everything(full);
            self.timeline.predict(self.targets.wanted());
        }
    }

    /// Begins with the authority's state of `tick`, and simulates up to `until`. The server has no inputs for these ticks
    /// either, and uses the neutral one as the client does.
    pub(crate) fn start(&mut self, world: &mut W, tick: Tick, full: &Rows, until: Tick) {
        self.timeline.restart(world, tick, full, until);
        self.reconciler.causes.missed_inputs.begin(until);
        self.reconciler.causes.begin(tick, until);
        self.note_derived(tick);
        self.effects.begin(tick);
        self.note_runs(tick, until);
    }

    /// How much it remembers.
    pub(crate) fn kept(&self) -> usize {
        self.reconciler.kept() + self.timeline.changes().changes.len()
    }

    /// Takes in a snapshot that has just been completed. Returns of how many ticks it can't tell all effects.
    pub(crate) fn note_snapshot(&mut self, snapshot: &Snapshot) -> u32 {
        snapshot.canonical.iter().for_each(|canonical| self.timeline.announce(*canonical));
        self.reconciler.causes.note_told(snapshot);
        self.reconciler.causes.note_contacts(snapshot, self.timeline.predicted());
        let own = self.timeline.predicted().player();
        change_outcomes::note_told(self.timeline.changes_mut(), snapshot, own, &mut self.reconciler.causes);
        self.effects.note_told(snapshot)
    }

    /// Until when what is told now of an input of another is used as it is: the clock has come to the tick `at`, and snapshots
    /// are `interval` ticks apart.
    pub(crate) fn fresh_until(&self, at: Tick, interval: u32, settings: &ClientSettings) -> Tick {
        at.max(self.timeline.present()) + settings.rules.tick_rate.ticks_in(GUESS_KEPT) + 2 * interval
    }

    /// Keeps what a snapshot has told of the inputs of others that are to be predicted.
    pub(crate) fn note_relayed(
        &mut self,
        told: ToldInputs<'_, W::Input>,
        snapshots: &Snapshots,
        settings: &ClientSettings,
        fresh_until: Tick,
    ) {
        let Prediction { timeline, targets, .. } = self;
        for (player, told) in told.by_player() {
            let is_own = player == targets.wanted().player();
            let is_used = || timeline.predicted().stepped().contains(&player);
            let may_want = || is_used() || targets.may_want(player, snapshots, settings);
            let is_wanted = settings.rules.exact || !is_own && may_want();
            // A player without an entity is not worth the memory.
            let has_entity = || snapshots.rows()?.iter().find(|row| row.owner == player);
            if is_wanted && (timeline.knows_inputs_of(player) || has_entity().is_some()) {
                timeline.tell(player, fresh_until, told);
            }
        }
    }

    /// The newest state to compare with, which is simulated and known. What is older than it is superseded.
    pub(crate) fn state_to_compare(&self, snapshots: &mut Snapshots) -> Option<Tick> {
        let (settled, compared) = (self.timeline.settled(), self.reconciler.compared());
        let whole = snapshots.open().rev().filter(|snapshot| snapshot.proof.is_none());
        let chosen = whole.map(|snapshot| snapshot.tick).find(|tick| *tick <= settled);
        let chosen = chosen.filter(|tick| *tick > compared);
        snapshots.supersede(chosen.unwrap_or(compared.next()));
        chosen
    }

    /// Whether a state is too old to be compared.
    pub(crate) fn is_beyond_horizon(&mut self, tick: Tick) -> bool {
        let is_beyond = tick < self.timeline.oldest();
        self.beyond_horizon = if is_beyond { self.beyond_horizon + 1 } else { 0 };
        is_beyond
    }

    /// Whether every state is too old.
    pub(crate) fn is_always_beyond_horizon(&self) -> bool {
        self.beyond_horizon > 1
    }

    /// Compares the authority's state of `tick` with its prediction. Returns what was found, and between which states.
    pub(crate) fn compare(
        &mut self,
        tick: Tick,
        snapshots: &Snapshots,
        settings: &ClientSettings,
    ) -> (Compared, ComparedTicks) {
        let Prediction { timeline, reconciler, targets, let_go, .. } = self;
        let snapshot = snapshots.get(tick).expect("the chosen snapshot is there");
        let handed = targets.note_owners(snapshot, snapshots, NewestPredictions::of(timeline));
        let span = ComparedTicks { since: reconciler.compared(), tick };
        // Where everything is predicted, whose it is does not matter for that.
        let handed = if settings.rules.exact { &[] } else { handed };
        reconciler.take_in(&snapshot.rows, handed, timeline, tick);
        let_go.keep(timeline, snapshot, snapshots, &mut reconciler.authority);
        let is_canonical = timeline.canonical().contains(&tick);
        let tolerance = if is_canonical { Tolerance::none() } else { settings.config.tolerance };
        let predicted = timeline.rows(tick).expect("the chosen snapshot is not older than the horizon");
        let found = reconciler.compare(&Comparison { tick, predicted, schema: &settings.rules.schema, tolerance });
        self.asks = self.asks.filter(|asked| !is_canonical || *asked > tick);
        self.note_derived(tick);
        self.reconciler.causes.advance_to(tick, found.stayed);
        (found, span)
    }

    /// Puts the authority's state, which was found to differ, into the place of the predicted one.
    pub(crate) fn correct(
        &mut self,
        world: &mut W,
        span: ComparedTicks,
        settings: &ClientSettings,
        log: &mut UpdateLog,
    ) {
        self.blame(world, span, settings, log);
        log.roll_back(self.timeline.present().since(span.tick));
        self.reconciler.corrections.note_again(span.tick, Causes::default());
        self.timeline.rewrite(world, span.tick, &self.reconciler.authority);
        self.reconciler.causes.note_rewritten();
    }

    /// Finds a cause for what nothing known explains of the differences between two states.
    fn blame(&mut self, world: &mut W, window: ComparedTicks, settings: &ClientSettings, log: &mut UpdateLog) {
        if self.reconciler.has_unexplained() && settings.rules.exact {
            let cause = self.cause_of_unexplained(world, window);
            self.reconciler.blame(cause);
            self.note_apart(cause, window, log);
        } else if self.reconciler.has_unexplained() && !self.timeline.repeats(world, window.since, window.tick) {
            self.reconciler.blame(Causes::NONDETERMINISM);
        } else if self.targets.are_in_part() {
            self.reconciler.blame(self.reconciler.causes.cause_in_part());
        }
    }

    /// Decides whom to predict, from the state of `known` on. Whether that changes, or whose something predicted is, of which another
    /// component may be known by that.
    pub(crate) fn choose(&mut self, known: &Known<'_>, settings: &ClientSettings) -> bool {
        let Prediction { timeline, targets, .. } = self;
        timeline.forget_silent_players(settings.rules.tick_rate.ticks_in(SILENT));
        let (states, horizon) = (NewestPredictions::of(timeline), timeline.horizon());
        let is_known = |player| player == PlayerId::SERVER || timeline.knows_inputs_of(player);
        targets.choose(known, &Predictable { states, horizon, is_known: &is_known }, settings);
        self.targets.wanted() != self.timeline.predicted() || !settings.rules.exact && self.targets.any_just_handed()
    }

    /// How far around its own entities it is to be told those of others exactly, in metres, 0 wherever they are; `None` where it
    /// predicts nothing of others.
    pub(crate) fn exact_within_m(&self, settings: &ClientSettings) -> Option<u32> {
        let predicts = || self.timeline.predicted().predicts_others() && !settings.spectates();
        settings.predicts_within_m().or_else(|| predicts().then_some(0))
    }

    /// Whom to predict.
    pub(crate) fn wanted(&self) -> &PredictionSet {
        self.targets.wanted()
    }

    /// What is predicted and is to be so no more, ascending, each entity once: by the newest predicted rows, and where it has ended in them
    /// by what others are shown as.
    pub(crate) fn left(&self, newest: &Rows, tracks: &Tracks, look: &Look) -> Vec<Owned> {
        let (before, wanted) = (self.timeline.predicted(), self.targets.wanted());
        let shown = tracks.first_components(look).filter(|of| before.contains(*of));
        let all = newest.iter().map(|row| row.owned()).chain(shown);
        let mut left: Vec<Owned> = all.filter(|of| !wanted.contains(*of)).collect();
        left.sort_by_key(|of| of.entity);
        left.dedup_by_key(|of| of.entity);
        left
    }

    /// Predicts them, from the state of `tick` on, which has been compared.
    pub(crate) fn switch(&mut self, world: &mut W, tick: Tick, snapshots: &mut Snapshots, log: &mut UpdateLog) {
        let mut full = snapshots.state(tick, self.targets.wanted()).expect("it has just been compared");
        self.let_go.put(&self.reconciler.authority, self.targets.wanted(), &mut full);
        let ran = self.timeline.switch(world, tick, self.targets.wanted(), &full);
        snapshots.recount(self.targets.wanted());
        log.resimulate(ran);
        self.note_runs(tick, self.timeline.present());
        self.reconciler.corrections.note_again(tick, Causes::OTHERS);
    }

    /// Simulates again from where an input of another player is known to be another than was used, or something of others was
    /// changed that the authority has not changed. One that is under way lands first, so that it ends.
    pub(crate) fn revise(&mut self, log: &mut UpdateLog) {
        let (settled, present) = (self.timeline.settled(), self.timeline.present());
        let outdated = self.timeline.outdated(self.reconciler.compared());
        let Some(tick) = outdated.filter(|tick| settled == present || *tick >= settled) else { return };
        if settled == present {
            log.roll_back(present.since(tick));
        }
        let by = self.timeline.outdated_by(tick);
        let causes = [
            (by.own_input, Causes::OWN_INPUT),
            (by.others_input, Causes::RELAYED_INPUT),
            (by.change, Causes::OTHERS),
            (by.canonical, Causes::DERIVED),
        ];
        let causes = causes.into_iter().filter(|(holds, _)| *holds);
        self.timeline.revisit(tick);
        self.reconciler.corrections.note_again(tick, causes.fold(Causes::default(), |set, (_, cause)| set.with(cause)));
    }

    /// Simulates again, `budget` ticks at most. Whether that has reached the present.
    pub(crate) fn resimulate(&mut self, world: &mut W, budget: u32, log: &mut UpdateLog) -> bool {
        let from = self.timeline.settled();
        let ran = self.timeline.resimulate(world, budget);
        self.note_runs(from, from + ran);
        log.resimulate(ran);
        self.timeline.settled() == self.timeline.present()
    }

    /// Starts again from the full state of a tick, and replays the stored inputs: the snapshot is older than the horizon, or
    /// the client has slept.
    pub(crate) fn restart(&mut self, world: &mut W, restart: Restart, snapshots: &mut Snapshots, log: &mut UpdateLog) {
        let Restart { tick, until, cursor } = restart;
        let Some(full) = snapshots.state(tick, self.targets.wanted()) else { return };
        self.reconciler.adopt(&full, self.timeline.predicted(), tick, until);
        let replayed = self.timeline.restart(world, tick, &full, until);
        snapshots.settle_adopted(tick);
        self.effects.skip(&effects_now(&self.timeline, snapshots, cursor));
        self.note_runs(tick, until);
        // Of these ticks not every own input is known.
        let unknown = tick.until(until).rev().find(|tick| self.timeline.input(*tick).is_none());
        self.reconciler.causes.begin(tick, unknown.map_or(tick, Tick::next));
        self.note_derived(tick);
        log.stats.prediction.resyncs += 1;
        log.resimulate(replayed);
        log.events.push(ClientEvent::Resynced { tick, replayed });
    }

    /// In an exact session: compares the newest digest of a state with what was simulated from all relayed inputs; where
    /// that is no longer remembered, asks for the state.
    pub(crate) fn prove(&mut self, world: &mut W, snapshots: &mut Snapshots, log: &mut UpdateLog) {
        let (settled, since) = (self.timeline.settled(), self.reconciler.compared());
        let until = self.timeline.outdated(since).map_or(settled, |tick| tick.min(settled));
        let proofs = snapshots.open().filter_map(|snapshot| Some((snapshot.tick, snapshot.proof?)));
        let chosen = proofs.filter(|(tick, _)| (since.next()..=until).contains(tick)).max();
        snapshots.supersede_proofs(chosen.map_or(since.next(), |(tick, _)| tick));
        let Some((tick, proof)) = chosen else { return };
        if let Some(predicted) = self.timeline.rows(tick).filter(|rows| proof == proof_of(rows)) {
            snapshots.settle_proved(tick, predicted);
            self.reconciler.causes.agree(tick, self.timeline.canonical());
            self.timeline.confirm(tick);
            self.asks = None;
            return;
        }
        snapshots.settle_asked(tick);
        self.asks = Some(tick);
        let window = ComparedTicks { since, tick };
        self.reconciler.causes.take_in(&self.timeline, tick);
        if !self.reconciler.causes.is_explained(tick) {
            let cause = self.cause_of_unexplained(world, window);
            self.note_apart(cause, window, log);
        }
    }

    /// Why a state is another than was predicted, where the one before was not and nothing is known that explains it.
    fn cause_of_unexplained(&mut self, world: &mut W, window: ComparedTicks) -> Causes {
        let repeats = self.timeline.repeats(world, window.since, window.tick);
        if repeats { Causes::ENDS_DIFFER } else { Causes::NONDETERMINISM }
    }

    /// The ends have agreed in the first of two states, and for this cause do not in the second.
    fn note_apart(&mut self, cause: Causes, ComparedTicks { since, tick }: ComparedTicks, log: &mut UpdateLog) {
        self.reconciler.causes.part(cause);
        if cause == Causes::ENDS_DIFFER {
            log.events.push(ClientEvent::EndsDiffer { since, tick });
        }
    }

    /// What is not published is not known to be the authority's at the state of `tick`, but where that is canonical.
    fn note_derived(&mut self, tick: Tick) {
        let is_canonical = self.timeline.canonical().contains(&tick);
        self.reconciler.causes.note_whole(tick, is_canonical);
    }

    /// Simulates the next tick, with these rows of others.
    pub(crate) fn advance(&mut self, world: &mut W, proxies: &Rows) {
        let tick = self.timeline.present();
        self.timeline.advance(world, proxies);
        self.effects.note_run(tick, self.timeline.effects(tick));
    }

    /// Takes in what the steps of these ticks have said, where it is remembered.
    fn note_runs(&mut self, from: Tick, until: Tick) {
        for tick in from.max(self.timeline.oldest()).until(until) {
            self.effects.note_run(tick, self.timeline.effects(tick));
        }
    }

    /// Tells what has become of its changes of others', and ends those of which as much is shown as was told.
    pub(crate) fn settle_changes(
        &mut self,
        settings: &ClientSettings,
        snapshots: &Snapshots,
        cursor: Option<TickTime>,
        log: &mut UpdateLog,
    ) {
        let present = self.timeline.present();
        let now = change_outcomes::KnownNow { settings, snapshots, present, cursor };
        change_outcomes::settle(self.timeline.changes_mut(), &now, log);
    }

    /// Tells what is to be told of effects now.
    pub(crate) fn settle_effects(&mut self, snapshots: &Snapshots, cursor: Option<TickTime>, log: &mut UpdateLog) {
        let now = effects_now(&self.timeline, snapshots, cursor);
        log.stats.prediction.effects_cancelled += self.effects.settle(&now, &mut log.events);
    }
}

fn effects_now<'a, W: World>(timeline: &'a Timeline<W>, snapshots: &'a Snapshots, cursor: Option<TickTime>) -> Now<'a> {
    Now { present: timeline.present(), cursor, predicted: timeline.predicted(), snapshots }
}
