//! What the player sees: entities and their lives, others at the playout cursor, and the offsets that hide corrections.

use super::error_offsets::{ErrorOffsets, STANDING};
use super::lifecycles::Lifecycles;
use super::playout_clock::Points;
use super::playout_reader::{RemoteRow, Seen};
use super::remote_playback::RemotePlayback;
use super::unsmoothed_state::{Motion, Sources, UnsmoothedState};
use super::views::{RestOfStates, Views};
use crate::motion::{Pose, VisualOffset, vector};
use crate::session::client::client_settings::{ClientSettings, Moment};
use crate::session::client::entity_curves::EntityCurves;
use crate::session::client::snapshots::{Snapshot, Snapshots, Tracks};
use crate::session::client::update_report::{ClientEvent, Landed};
use crate::session::curves::PoseSource;
use crate::session::curves::{RowBuffer, apply, placed_row, velocity_of};
use crate::time::Tick;
use crate::world::{
    ComponentId, Entity, PlayerId, PredictionSet, ROW_WORDS_MAX, Row, RowKey, Schema, State, copy, read_state,
};
use alloc::vec::Vec;

/// Lives from the start of a session to its end.
pub(crate) struct Presentation {
    pub remote: RemotePlayback,
    offsets: ErrorOffsets,
    lifecycles: Lifecycles,
    /// What was shown of others at the end of the last update.
    told: Option<Told>,
}

/// By what others were shown at the end of an update.
#[derive(Clone, Copy)]
struct Told {
    seen: Seen,
    points: Points,
}

impl Presentation {
    pub(crate) fn new(moment: Moment<'_>, player: PlayerId) -> Presentation {
        let ClientSettings { rules, config, .. } = moment.settings;
        let (schema, rate) = (&rules.schema, rules.tick_rate);
        Presentation {
            remote: RemotePlayback::new(schema, rate, config.curve),
            offsets: ErrorOffsets::new(),
            lifecycles: Lifecycles::new(player),
            told: None,
        }
    }

    /// Remembers what is shown, before anything is corrected.
    pub(crate) fn capture(&mut self, sources: &Sources<'_>) {
        self.offsets.capture(&self.remote.visual(sources));
    }

    /// The same of others that will be predicted.
    pub(crate) fn capture_others(&mut self, sources: &Sources<'_>, wanted: &PredictionSet) {
        let visual = self.remote.visual(sources);
        self.offsets.capture_others(&visual, wanted);
        let newest = sources.predicted.newest.expect("the present is remembered");
        self.remote.note_switch(newest, wanted);
    }

    /// A correction has reached the present, or the clock has leapt: what has moved stays where it was shown, and goes over.
    pub(crate) fn land(&mut self, sources: &Sources<'_>) {
        self.offsets.land(&self.remote.visual(sources));
    }

    /// What its player has made of another's entity was refused or withdrawn, and it may have ended.
    pub(crate) fn note_undone(&mut self, sources: &Sources<'_>, entity: Entity) {
        let told = self.remote.visual(sources).motion(entity);
        told.into_iter().for_each(|told| self.lifecycles.note_pose(entity, told.pose));
    }

    /// Where another's entity is shown that is placed by this row, which its player has made.
    pub(crate) fn placed_by(&self, sources: &Sources<'_>, row: Row<'_>) -> Motion {
        let component = sources.schema.component(row.component);
        let (pose, teleports) = (component.pose(row.words), component.teleports(row.words));
        let offset = self.offsets.at(row.entity, sources.now, STANDING, teleports);
        Motion { pose: offset.shown(pose), velocity: STANDING, teleports, is_predicted: true }
    }

    /// What has become of another's entity is told from now on, and was shown there: it goes over.
    pub(crate) fn go_over_from(&mut self, sources: &Sources<'_>, entity: Entity, before: &Motion) {
        let told = self.remote.visual(sources).motion(entity).filter(|told| !told.is_predicted);
        told.iter().for_each(|told| {
            self.offsets.hide(entity, [before, told], vector::length(told.velocity), sources.now);
        });
    }

    /// Nothing was corrected since the capture.
    pub(crate) fn keep(&mut self) {
        self.offsets.keep();
    }

    /// What the correction that has just landed did to an entity.
    pub(crate) fn landed(&self, entity: Entity) -> Landed {
        self.offsets.landed(entity)
    }

    /// The entities that are simulated elsewhere since something has landed, and how far, in metres.
    pub(crate) fn moved(&self) -> impl Iterator<Item = (Entity, f64)> {
        self.offsets.moved()
    }

    /// Keeps what is shown of others where it was, where something has changed about them; from now on they are shown by the
    /// curves `wanted`.
    pub(crate) fn hide_changes(&mut self, sources: &Sources<'_>, wanted: &EntityCurves) {
        self.remote.hide_changes(sources, wanted, &mut self.offsets);
    }

    /// Where an entity is shown and how fast it is, with its offset.
    pub(crate) fn shown(&self, sources: &Sources<'_>, entity: Entity) -> Option<Motion> {
        let motion = self.remote.visual(sources).motion(entity)?;
        let offset = self.offsets.at(entity, sources.now, STANDING, motion.teleports);
        Some(Motion { pose: offset.shown(motion.pose), ..motion })
    }

    /// Lets an entity that was shown `before` and is elsewhere go over from there.
    pub(crate) fn hide_jump(&mut self, sources: &Sources<'_>, entity: Entity, before: Motion) {
        let Some(after) = self.remote.visual(sources).motion(entity) else { return };
        let speed = vector::length(before.velocity).max(vector::length(after.velocity));
        self.offsets.hide(entity, [&before, &after], speed, sources.now);
    }

    /// What is shown of an entity is its state: it has no offset any more.
    pub(crate) fn drop_offset(&mut self, entity: Entity) {
        self.offsets.clear(entity);
    }

    /// The row of an entity that is not predicted which its holder writes, as it is shown; `None` where there is none.
    pub(crate) fn held(&self, sources: &Sources<'_>, entity: Entity) -> Option<(RowKey, RowBuffer)> {
        let visual = self.remote.visual(sources);
        let key = visual.held(entity)?;
        Some((key, self.draw_held(&visual, key)?))
    }

    /// All of its state as it is shown; `None` where that is of another type.
    pub(crate) fn held_state<S: State>(&self, sources: &Sources<'_>, entity: Entity) -> Option<S> {
        let (visual, components) = (self.remote.visual(sources), || sources.schema.components_of::<S>());
        let held = visual.held(entity)?.component;
        components().find(|component| *component == held)?;
        let row = |(nth, component)| Some((nth, self.draw_held(&visual, RowKey { component, entity })?));
        read_state(components().enumerate().filter_map(row))
    }

    fn draw_held(&self, visual: &UnsmoothedState<'_>, key: RowKey) -> Option<RowBuffer> {
        let mut words: RowBuffer = [0; ROW_WORDS_MAX];
        visual.draw_held(key, &mut words)?;
        let component = visual.sources.schema.component(key.component);
        let offset = self.offsets.at(key.entity, visual.sources.now, STANDING, component.teleports(&words));
        apply(offset, component, &mut words);
        Some(words)
    }

    /// Which entities the authority has had, by what has come since the last update.
    pub(crate) fn confirm<'a>(&mut self, of: impl Iterator<Item = &'a Snapshot>, snapshots: &Snapshots) {
        of.for_each(|snapshot| self.lifecycles.confirm(snapshot, snapshots));
    }

    /// Takes in the newest predicted state.
    pub(crate) fn note_predicted(&mut self, sources: &Sources<'_>) {
        let Some(newest) = sources.predicted.newest else { return };
        self.lifecycles.note_predicted(newest, |row| pose_in(row, sources.schema));
    }

    /// Others that the cursor has come to, or left behind.
    pub(crate) fn pass(&mut self, sources: &Sources<'_>) {
        let Some(cursor) = self.remote.playout.at_instant(sources.now) else { return };
        let (snapshots, predicted) = (sources.snapshots, sources.predicted.players);
        let Presentation { remote, offsets, lifecycles, told } = self;
        let told =
            told.map(|told| LastShown { told, sources: Sources { now: told.points.now, ..*sources }, remote, offsets });
        lifecycles.pass(snapshots, cursor, predicted, |entity, until| {
            // Where it came and went since then nobody has seen it.
            let last = || pose_told(snapshots.tracks(), sources.schema, entity, until);
            told.as_ref().and_then(|told| told.pose(entity)).or_else(last)
        });
    }

    /// At the end of an update, when the state `compared` was compared: ends what is on neither side any more, and remembers
    /// where everything is shown. Returns how many predicted entities the authority has never had.
    pub(crate) fn finish(&mut self, sources: &Sources<'_>, compared: Tick) -> u64 {
        let snapshot = sources.snapshots.get(compared);
        let withdrawn = snapshot.map_or(0, |snapshot| {
            let is_hidden = |entity| sources.snapshots.is_hidden(entity, compared);
            let is_there = |entity| snapshot.rows.has(entity) || sources.snapshots.has(entity);
            self.lifecycles.end(compared, is_there, is_hidden)
        });
        let Presentation { offsets, lifecycles, .. } = self;
        offsets.drop_ended(sources.now, |entity, next| lifecycles.is_shown(entity, next));
        self.note_shown(sources);
        let samples = self.remote.samples(sources);
        self.told = samples.map(|of| Told { seen: of.seen(), points: of.points() });
        self.remote.drop_followers(sources);
        withdrawn
    }

    /// Hands over what has happened to entities since the last call.
    pub(crate) fn take_events(&mut self, into: &mut Vec<ClientEvent>) {
        self.lifecycles.take_events(into);
    }

    /// The session is over, and with it everything that was there. Returns how many the authority has never had.
    pub(crate) fn end_all(&mut self, into: &mut Vec<ClientEvent>) -> u64 {
        let withdrawn = self.lifecycles.end_all();
        self.take_events(into);
        withdrawn
    }

    /// Remembers where predicted entities are shown now.
    fn note_shown(&mut self, sources: &Sources<'_>) {
        let Presentation { remote, offsets, lifecycles, .. } = self;
        let visual = remote.visual(sources);
        let Some(newest) = sources.predicted.newest else { return };
        let mut into = [0; ROW_WORDS_MAX];
        lifecycles.note_poses(|entity| {
            let row = placed_row(newest, entity, sources.schema)?;
            show_predicted(&visual, offsets, row, &mut into);
            Some(sources.schema.component(row.component).pose(&into))
        });
    }

    /// Fills `views` with every entity: the predicted ones first, then the others, each group ascending.
    pub(crate) fn present(&self, sources: &Sources<'_>, views: &mut Views) {
        let visual = self.remote.visual(sources);
        let Some(newest) = sources.predicted.newest else { return };
        let mut words = [0; ROW_WORDS_MAX];
        for component in first_components(sources.schema) {
            views.begin(component);
            for row in newest.component(component) {
                let offset = show_predicted(&visual, &self.offsets, row, &mut words);
                let rest = RestOfStates { rows: Some(newest), told: visual.remote.as_ref(), changes: None };
                views.push(Row { words: &words[..row.words.len()], ..row }, PoseSource::Predicted, offset, rest);
            }
        }
        self.present_others(&visual, views);
    }

    fn present_others(&self, visual: &UnsmoothedState<'_>, views: &mut Views) {
        let (Some(remote), Sources { schema, predicted, .. }) = (&visual.remote, visual.sources) else { return };
        let mut words = [0; ROW_WORDS_MAX];
        for id in first_components(schema) {
            let prediction = schema.component(id).prediction();
            let (mut next, mut next_written, mut others) = (0, 0, remote.component(id));
            let written = self.remote.written(&others);
            views.begin(id);
            let mut given = visual.given_after(id, None);
            for nth in 0..others.count() {
                let Some(RemoteRow { row, .. }) = others.seek(nth) else { continue };
                if predicted.simulate(&row, prediction) || !self.lifecycles.is_shown(row.entity, &mut next) {
                    continue;
                }
                self.push_given(visual, &mut given, Some(row.entity), views);
                let written = written.and_then(|rows| rows.get_near(row.key(), &mut next_written));
                let is_written = written.map(|written| copy(written, &mut words)).is_some();
                let source = if is_written {
                    Some(others.source())
                } else {
                    others.draw(visual.drawing(row.entity), &mut words)
                };
                let made = source.and_then(|source| visual.put_made(row, source, &mut words));
                let Some(source) = made else { continue };
                let offset = self.offset_other(visual, row.key(), &mut words);
                views.push(Row { words: &words[..row.words.len()], ..row }, source, offset, rest_of_others(visual));
            }
            self.push_given(visual, &mut given, None, views);
        }
    }

    /// The rows that others have been given here and that are not told, up to this entity: `given` is the next.
    fn push_given<'a>(
        &self,
        visual: &UnsmoothedState<'a>,
        given: &mut Option<Row<'a>>,
        until: Option<Entity>,
        views: &mut Views,
    ) {
        while let Some(row) = given.filter(|row| until.is_none_or(|until| row.entity < until)) {
            if self.lifecycles.is_shown(row.entity, &mut 0) {
                let mut words = [0; ROW_WORDS_MAX];
                copy(row, &mut words);
                let offset = self.offset_other(visual, row.key(), &mut words);
                let row = Row { words: &words[..row.words.len()], ..row };
                views.push(row, PoseSource::Predicted, offset, rest_of_others(visual));
            }
            *given = visual.given_after(row.component, Some(row.entity));
        }
    }

    /// Moves a row of another's by its offset, which it returns.
    fn offset_other(&self, visual: &UnsmoothedState<'_>, key: RowKey, words: &mut RowBuffer) -> VisualOffset {
        let Sources { schema, now, .. } = visual.sources;
        let component = schema.component(key.component);
        let offset = self.offsets.at(key.entity, *now, STANDING, component.teleports(words));
        apply(offset, component, words);
        offset
    }
}

/// Where the rest of what is shown of others stands.
fn rest_of_others<'a>(visual: &'a UnsmoothedState<'a>) -> RestOfStates<'a> {
    RestOfStates { rows: None, told: visual.remote.as_ref(), changes: Some(visual.sources.predicted.changes) }
}

/// The components by which an entity is shown.
fn first_components(schema: &Schema) -> impl Iterator<Item = ComponentId> {
    schema.ids().filter(|component| schema.is_first(*component))
}

/// Draws a row of the newest predicted state as it is shown. Returns the offset in it.
fn show_predicted(
    visual: &UnsmoothedState<'_>,
    offsets: &ErrorOffsets,
    row: Row<'_>,
    into: &mut RowBuffer,
) -> VisualOffset {
    visual.draw_predicted(row, into);
    let Sources { schema, now, .. } = visual.sources;
    let component = schema.component(row.component);
    if !component.has_pose() {
        return VisualOffset::NONE;
    }
    let offset = offsets.at(row.entity, *now, velocity_of(component, row.words), component.teleports(into));
    apply(offset, component, into);
    offset
}

/// The pose that a row says; `None` where it says none.
fn pose_in(row: Row<'_>, schema: &Schema) -> Option<Pose> {
    let component = schema.component(row.component);
    component.has_pose().then(|| component.pose(row.words))
}

/// Where an entity was by the last state up to this one in which it was there that is remembered.
fn pose_told(tracks: &Tracks, schema: &Schema, entity: Entity, until: Tick) -> Option<Pose> {
    let mut placed = schema.ids().filter(|id| schema.component(*id).has_pose());
    placed.find_map(|component| {
        let (_, words) = tracks.last(RowKey { component, entity }, until)?;
        Some(schema.component(component).pose(words))
    })
}

/// Others as they were shown at the end of the last update: some of them are gone since.
struct LastShown<'a> {
    told: Told,
    /// At the instant of that update.
    sources: Sources<'a>,
    remote: &'a RemotePlayback,
    offsets: &'a ErrorOffsets,
}

impl LastShown<'_> {
    /// `None` where it was not shown.
    fn pose(&self, entity: Entity) -> Option<Pose> {
        let LastShown { told: Told { seen, points }, sources, remote, offsets } = self;
        let samples = remote.samples(sources)?.as_seen(*seen, *points);
        let motion = UnsmoothedState { remote: Some(samples), ..remote.visual(sources) }.motion(entity)?;
        Some(offsets.at(entity, sources.now, STANDING, motion.teleports).shown(motion.pose))
    }
}
