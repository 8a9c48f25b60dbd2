//! The world as this client has it: predicted, reconciled with the authority's states, and shown.

use super::authority::AuthorityGrants;
use super::authority_handoff::AuthorityHandoff;
use super::client_settings::{ClientSettings, Moment};
use super::prediction::{Known, Prediction, Restart};
use super::presentation::{Motion, Presentation, Sources, Views};
use super::snapshots::{ChangedWords, GoingOver, Snapshots};
use super::update_log::UpdateLog;
use super::update_report::ClientEvent;
use crate::session::Rules;
use crate::time::{Tick, TickTime};
use crate::world::{Entity, PlayerId, RowKey, Rows, State, World};
use alloc::vec::Vec;

/// Lives from the start of a session to its end.
pub(super) struct LocalWorld<W: World> {
    pub player: PlayerId,
    pub snapshots: Snapshots,
    pub prediction: Prediction<W>,
    pub authority: AuthorityGrants,
    pub presentation: Presentation,
}

impl<W: World> LocalWorld<W> {
    pub(super) fn new(moment: Moment<'_>, player: PlayerId, snapshots: Snapshots) -> LocalWorld<W> {
        LocalWorld {
            player,
            snapshots,
            prediction: Prediction::new(moment.settings, player),
            authority: AuthorityGrants::new(),
            presentation: Presentation::new(moment, player),
        }
    }

    /// Begins at state 0, of which nothing has come.
    pub(super) fn begin(&mut self, world: &mut W, settings: &ClientSettings) {
        self.prediction.predict_everything(&settings.rules, &Rows::new(&settings.rules.schema));
        self.prediction.timeline.begin(world, Tick::ZERO);
    }

    /// What there was of an earlier session ends.
    pub(super) fn follow(&mut self, former: Option<&mut LocalWorld<W>>, log: &mut UpdateLog) {
        let outcomes = former.as_ref().map(|former| former.snapshots.outcomes());
        self.snapshots.begin(outcomes.unwrap_or_default());
        if let Some(former) = former {
            log.stats.prediction.withdrawn += former.presentation.end_all(&mut log.events);
            self.prediction.timeline.follow(&former.prediction.timeline);
        }
    }

    /// Begins at the newest snapshot, and simulates up to `until`.
    pub(super) fn start(&mut self, world: &mut W, until: Tick, settings: &ClientSettings) {
        let newest = self.snapshots.newest().expect("it was there a moment ago").tick;
        let full = self.snapshots.state(newest, self.prediction.timeline.predicted()).expect("it is there");
        self.prediction.predict_everything(&settings.rules, &full);
        for canonical in self.snapshots.complete().flat_map(|snapshot| &snapshot.canonical) {
            self.prediction.timeline.announce(*canonical);
        }
        self.prediction.start(world, newest, &full, until);
    }

    /// What is shown is made of this.
    pub(super) fn sources<'a>(&'a self, moment: Moment<'a>) -> Sources<'a> {
        Sources::new(moment, &self.prediction.timeline, &self.snapshots, &self.authority)
    }

    /// What is shown is made of the first, and changes the second.
    fn split<'a>(&'a mut self, moment: Moment<'a>) -> (Sources<'a>, &'a mut Presentation) {
        let LocalWorld { prediction, snapshots, authority, presentation, .. } = self;
        (Sources::new(moment, &prediction.timeline, snapshots, authority), presentation)
    }

    /// Remembers what is shown, before anything is corrected.
    pub(super) fn capture(&mut self, moment: Moment<'_>) {
        let (sources, presentation) = self.split(moment);
        presentation.capture(&sources);
    }

    /// Reconciliation begins: chooses the state to compare, where there is one. In an exact session what is known to have
    /// been otherwise is simulated first.
    pub(super) fn begin_reconciliation(
        &mut self,
        moment: Moment<'_>,
        world: &mut W,
        log: &mut UpdateLog,
    ) -> Option<Tick> {
        self.prediction.timeline.allow(self.budget(moment));
        if moment.settings.rules.exact {
            self.capture(moment);
            self.revise(moment, world, log);
        }
        let chosen = self.prediction.state_to_compare(&mut self.snapshots);
        self.capture(moment);
        chosen
    }

    /// Reconciles with the state of a tick, where there is one to compare, and goes on with a re-simulation under way.
    pub(super) fn reconcile(&mut self, moment: Moment<'_>, world: &mut W, state: Option<Tick>, log: &mut UpdateLog) {
        let changed = self.shown_as_changed(moment);
        if let Some(tick) = state {
            self.compare(moment.settings, world, tick, log);
            self.switch(moment, world, tick, log);
            self.prediction.timeline.confirm(tick);
        }
        self.revise(moment, world, log);
        self.show_undone(moment, &changed);
    }

    fn compare(&mut self, settings: &ClientSettings, world: &mut W, tick: Tick, log: &mut UpdateLog) {
        let (found, span) = self.prediction.compare(tick, &self.snapshots, settings);
        self.snapshots.settle_compared(tick, &found);
        log.stats.prediction.misprediction_m = found.misprediction_m;
        if found.different + found.surplus > 0 {
            self.prediction.correct(world, span, settings, log);
        }
    }

    /// The entities of others that are shown as their player has made them, or were before something was refused just now, and where;
    /// ascending.
    fn shown_as_changed(&self, moment: Moment<'_>) -> Vec<(Entity, Option<Motion>)> {
        let changes = self.prediction.timeline.changes().changes;
        let shown = |entity| {
            let (sources, schema) = (self.sources(moment), &moment.settings.rules.schema);
            let mut keys = changes.rows_changed(entity).map(|row| row.key);
            let placed = keys.find(|key| schema.component(key.component).has_pose());
            match placed.and_then(|key| changes.before_refusal(key)) {
                Some(found) if found.stays() => Some(self.presentation.placed_by(&sources, found.row()?)),
                _ => self.presentation.shown(&sources, entity),
            }
        };
        changes.entities().into_iter().map(|entity| (entity, shown(entity))).collect()
    }

    /// What was refused, or is not made any more by the step that made it, is shown as it was told last, where somebody else has changed
    /// what the player had, too. It goes over from where it was.
    fn show_undone(&mut self, moment: Moment<'_>, changed: &[(Entity, Option<Motion>)]) {
        let LocalWorld { prediction, snapshots, authority, presentation, .. } = self;
        let (timeline, schema) = (&prediction.timeline, &moment.settings.rules.schema);
        let is_settled = timeline.settled() == timeline.present();
        for entity in timeline.changes().changes.undone(is_settled) {
            let sources = Sources::new(moment, timeline, snapshots, authority);
            let Some(look) = presentation.remote.samples(&sources).map(|remote| remote.look()) else { break };
            presentation.note_undone(&sources, entity);
            let undone = timeline.changes().changes.rows_undone(entity);
            let undone = undone.map(|row| ChangedWords { key: row.key, words: row.altered() }).collect::<Vec<_>>();
            let mut told = Rows::new(schema);
            snapshots.rows().into_iter().flat_map(|rows| rows.of(entity)).for_each(|row| told.set_words(row));
            told.settle();
            let (of, player) = (snapshots.owned(entity), prediction.wanted().player());
            snapshots.go_over(&GoingOver { schema, of, player, to: &told, undone: Some(&undone), look });
            let sources = Sources::new(moment, timeline, snapshots, authority);
            let before = changed.iter().filter(|(of, _)| *of == entity).filter_map(|(_, before)| before.as_ref());
            before.for_each(|before| presentation.go_over_from(&sources, entity, before));
        }
        if is_settled {
            self.prediction.timeline.changes_mut().forget_withdrawn();
        }
    }

    /// Predicts whom it is asked to predict, from the state of `tick` on, which has been compared.
    fn switch(&mut self, moment: Moment<'_>, world: &mut W, tick: Tick, log: &mut UpdateLog) {
        let LocalWorld { prediction, snapshots, authority, presentation, .. } = self;
        let Some(snapshot) = snapshots.get(tick) else { return };
        let shown = presentation.remote.samples(&Sources::new(moment, &prediction.timeline, snapshots, authority));
        let shown = shown.map(|remote| remote.look());
        let known = Known { snapshot, snapshots, shown, authority };
        if prediction.choose(&known, moment.settings) {
            let sources = Sources::new(moment, &prediction.timeline, snapshots, authority);
            presentation.capture_others(&sources, prediction.wanted());
            if let (Some(newest), Some(look)) = (prediction.timeline.rows(prediction.timeline.present()), shown) {
                let (schema, player) = (&moment.settings.rules.schema, prediction.wanted().player());
                for of in prediction.left(newest, snapshots.tracks(), &look) {
                    snapshots.go_over(&GoingOver { schema, of, player, to: newest, undone: None, look });
                }
            }
            prediction.switch(world, tick, snapshots, log);
        }
    }

    /// Simulates again what is known to have been otherwise, within the budget, and lands what has reached the present.
    fn revise(&mut self, moment: Moment<'_>, world: &mut W, log: &mut UpdateLog) {
        self.prediction.revise(log);
        if self.prediction.resimulate(world, self.budget(moment), log) {
            self.land(moment, log);
        }
    }

    /// How many ticks this update simulates again at most.
    fn budget(&self, moment: Moment<'_>) -> u32 {
        moment.settings.config.resimulation_budget.max(self.due(moment.at) + 2)
    }

    /// How many ticks have begun and are not simulated.
    pub(super) fn due(&self, at: TickTime) -> u32 {
        at.tick().next().since(self.prediction.timeline.present())
    }

    /// Starts again from a state, without comparing, and replays the stored inputs.
    pub(super) fn restart(&mut self, moment: Moment<'_>, world: &mut W, from: Restart, log: &mut UpdateLog) {
        let cursor = self.presentation.remote.playout.at_instant(moment.now);
        self.prediction.restart(world, Restart { cursor, ..from }, &mut self.snapshots, log);
        self.land(moment, log);
    }

    /// The corrections that have reached the present: their visual offsets, and their records.
    fn land(&mut self, moment: Moment<'_>, log: &mut UpdateLog) {
        if self.prediction.reconciler.corrections.is_empty() {
            return self.presentation.keep();
        }
        let (sources, presentation) = self.split(moment);
        presentation.land(&sources);
        let tolerance = &moment.settings.config.tolerance;
        let tolerated = |moved_m: f64| moved_m * moved_m <= tolerance.position_sqr_m;
        let Prediction { reconciler, timeline, .. } = &mut self.prediction;
        reconciler.follow(self.presentation.moved().filter(|(_, moved_m)| !tolerated(*moved_m)));
        for pending in reconciler.corrections.land() {
            log.correct(pending.landed(timeline.present(), self.presentation.landed(pending.entity)));
        }
    }

    /// The clock has leapt to where the server's will be, and the predicted entities with it: that is hidden as a correction
    /// is.
    pub(super) fn hide_leap(&mut self, moment: Moment<'_>) {
        let (sources, presentation) = self.split(moment);
        presentation.land(&sources);
        presentation.keep();
    }

    /// Asks for what the game wants authority over. What was spawned here, or made something that its owner may move, stays predicted
    /// until it is shown as the server has it; only then is it asked for.
    pub(super) fn ask_wanted(&mut self, moment: Moment<'_>) {
        let LocalWorld { prediction: Prediction { timeline, .. }, snapshots, authority, presentation, .. } = self;
        let Rules { schema, exact, .. } = &moment.settings.rules;
        let remote = presentation.remote.samples(&Sources::new(moment, timeline, snapshots, authority));
        let look = remote.map(|remote| remote.look());
        let is_shown = |key: RowKey| look.is_some_and(|look| snapshots.tracks().has(key, &look));
        let rows = timeline.rows(timeline.present());
        let shared = |entity| rows?.of(entity).find(|row| schema.component(row.component).is_shared());
        authority.ask_wanted(|entity| *exact || shared(entity).is_none_or(|row| is_shown(row.key())));
    }

    /// Hides what has changed about others; what this client moves itself begins and ends.
    pub(super) fn follow_others(&mut self, moment: Moment<'_>, events: &mut Vec<ClientEvent>) {
        let (sources, presentation) = self.split(moment);
        presentation.hide_changes(&sources, &moment.settings.curves);
        let LocalWorld { player, prediction, snapshots, authority, presentation } = self;
        let timeline = &prediction.timeline;
        AuthorityHandoff { moment, timeline, snapshots, authority, presentation }.settle(*player, events);
    }

    /// The next tick is about to be simulated: writes the rows of others at the cursor. Returns where it stands, when there
    /// are any.
    pub(super) fn write_proxies(&mut self, moment: Moment<'_>) -> Option<TickTime> {
        self.authority.run(self.prediction.timeline.present());
        let (sources, presentation) = self.split(moment);
        presentation.remote.write_proxies(&sources)
    }

    /// Simulates the next tick.
    pub(super) fn advance(&mut self, world: &mut W) {
        self.prediction.advance(world, self.presentation.remote.proxies());
        self.presentation.remote.settle_proxies();
    }

    /// Which entities the authority has had, by what has come since the last update.
    pub(super) fn confirm(&mut self, events: &mut Vec<ClientEvent>) {
        self.presentation.confirm(self.snapshots.open(), &self.snapshots);
        self.presentation.take_events(events);
    }

    /// Takes in the newest predicted state.
    pub(super) fn note_predicted(&mut self, moment: Moment<'_>, events: &mut Vec<ClientEvent>) {
        let (sources, presentation) = self.split(moment);
        presentation.note_predicted(&sources);
        presentation.take_events(events);
    }

    /// Tells what the update has brought: at its end, when the world stands at the present.
    pub(super) fn tell(&mut self, moment: Moment<'_>, log: &mut UpdateLog) {
        let compared = self.prediction.reconciler.compared();
        let (sources, presentation) = self.split(moment);
        presentation.confirm(sources.snapshots.get(compared).into_iter(), sources.snapshots);
        presentation.pass(&sources);
        presentation.take_events(&mut log.events);
        let cursor = presentation.remote.playout.at_instant(moment.now);
        self.prediction.settle_effects(&self.snapshots, cursor, log);
        self.prediction.settle_changes(moment.settings, &self.snapshots, cursor, log);
        let (sources, presentation) = self.split(moment);
        log.stats.prediction.withdrawn += presentation.finish(&sources, compared);
        presentation.take_events(&mut log.events);
        let interval = self.presentation.remote.playout.interval_ticks();
        self.snapshots.end_update(cursor, interval);
    }

    /// Fills `views` with every entity.
    pub(super) fn present(&self, moment: Moment<'_>, views: &mut Views) {
        self.presentation.present(&self.sources(moment), views);
    }

    /// The state of an entity that the game moves, as it is shown; `None` where it does not move it, or that is of another type.
    pub(super) fn held<S: State>(&self, moment: Moment<'_>, entity: Entity) -> Option<S> {
        self.authority.is_moved(entity).then_some(())?;
        self.presentation.held_state(&self.sources(moment), entity)
    }
}
