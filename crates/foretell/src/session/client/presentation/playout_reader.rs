//! Where others are shown at one point: the states of each row around the playout cursor, and the newest for whom is shown ahead of
//! it.

use super::followers::{AHEAD, Drawing, ToldMotion};
use super::playout_clock::Points;
use crate::session::client::entity_curves::EntityCurves;
use crate::session::client::snapshots::{KnownIn, Look, Rest, Revision, Since, Snapshots, Tracks};
use crate::session::curves::Curve;
use crate::session::curves::LastSpan;
use crate::session::curves::PoseSource;
use crate::session::curves::RowInterpolator;
use crate::session::curves::{RowBuffer, set_position};
use crate::time::{TickRate, TickTime};
use crate::world::{ComponentId, ComponentSchema, Entity, PredictionSet, Row, RowKey, Schema};

/// How fast the ticks are, and how many of them from one snapshot to the next.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub rate: TickRate,
    pub interval: u32,
}

/// By what others were shown: what was known, where the cursor stood, and how many ticks it was from one snapshot to the next.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    pub known: KnownIn,
    pub cursor: TickTime,
    pub interval: u32,
}

/// A row of another in the state up to where it is shown.
#[derive(Clone, Copy)]
pub(crate) struct RemoteRow<'a> {
    pub row: Row<'a>,
    /// Whether it is shown as it is until anything new is known of it.
    pub stays: bool,
}

/// All that is known where others are shown.
#[derive(Clone, Copy)]
pub(crate) struct PlayoutReader<'a> {
    tracks: &'a Tracks,
    schema: &'a Schema,
    known: KnownIn,
    points: Points,
    pace: Pace,
    /// The least way of a teleport, in metres.
    teleport_m: f64,
}

impl<'a> PlayoutReader<'a> {
    /// What is known around these points; `None` before the first state.
    pub(crate) fn new(
        snapshots: &'a Snapshots,
        schema: &'a Schema,
        points: Points,
        pace: Pace,
        teleport_m: f64,
    ) -> Option<PlayoutReader<'a>> {
        let (tracks, newest) = (snapshots.tracks(), snapshots.newest()?.tick);
        let known = KnownIn { update: tracks.update(), newest };
        Some(PlayoutReader { tracks, schema, known, points, pace, teleport_m })
    }

    /// The same as they were `seen`, at other points.
    pub(crate) fn as_seen(&self, seen: Seen, points: Points) -> PlayoutReader<'a> {
        PlayoutReader { known: seen.known, points, pace: Pace { interval: seen.interval, ..self.pace }, ..*self }
    }

    pub(crate) fn seen(&self) -> Seen {
        Seen { known: self.known, cursor: self.points.cursor, interval: self.pace.interval }
    }

    pub(crate) fn points(&self) -> Points {
        self.points
    }

    /// What is there at the cursor.
    pub(crate) fn look(&self) -> Look {
        Look { at: self.points.cursor, known: self.known, interval: self.pace.interval }
    }

    /// The rows of a component.
    pub(crate) fn component(&self, component: ComponentId) -> ComponentSamples<'a> {
        let (Pace { rate, interval }, schema) = (self.pace, self.schema.component(component));
        let ticks = schema.interval_ticks(rate, interval);
        let look = Look { interval: ticks, ..self.look() };
        let first = self.schema.first_in_state(component);
        let at = look.at - TickTime::ticks(f64::from(ticks - interval));
        ComponentSamples {
            tracks: self.tracks,
            component,
            schema,
            look,
            interval,
            teleport_m: self.teleport_m,
            nth: 0,
            samples: RowInterpolator { of: [None; 4], rests: false, at, rate },
            front: self.points.front,
            first: (first != component).then_some(first),
            next_first: 0,
            span: LastSpan::default(),
        }
    }

    /// Whether anything of an entity is there.
    pub(crate) fn has(&self, entity: Entity) -> bool {
        self.tracks.owner(entity, &self.look()).is_some()
    }

    /// A row that is there at the cursor.
    pub(crate) fn get(&self, key: RowKey) -> Option<Row<'a>> {
        let found = self.component(key.component).seek(self.tracks.find(key)?);
        found.map(|other| other.row)
    }

    /// The same, looked for at `next` first, which becomes the place of the one after it.
    pub(super) fn get_near(&self, key: RowKey, next: &mut usize) -> Option<Row<'a>> {
        let found = self.component(key.component).seek(self.tracks.find_near(key, next)?);
        found.map(|other| other.row)
    }

    /// Draws a row that is there at the cursor. Returns where it comes from.
    pub(crate) fn draw(&self, key: RowKey, drawing: Drawing, into: &mut RowBuffer) -> Option<PoseSource> {
        let mut component = self.component(key.component);
        component.seek(self.tracks.find(key)?)?;
        component.draw(drawing, into)
    }

    /// All rows of an entity that are there.
    pub(crate) fn of(&self, entity: Entity) -> impl Iterator<Item = Row<'a>> {
        self.schema.ids().filter_map(move |component| self.get(RowKey { component, entity }))
    }

    /// The rows of all entities that are not predicted, ascending.
    pub(crate) fn others(&self, predicted: &PredictionSet) -> impl Iterator<Item = Row<'a>> {
        let rows = self.schema.ids().flat_map(|component| self.component(component).rows());
        rows.filter(|row| !predicted.contains(row.owned()))
    }

    /// The row of an entity by which it is placed; any, where it has no place.
    pub(crate) fn placed(&self, entity: Entity) -> Option<Row<'a>> {
        let has_pose = |row: &Row<'_>| self.schema.component(row.component).has_pose();
        self.of(entity).find(has_pose).or_else(|| self.of(entity).next())
    }
}

/// The rows of a component where they are shown: in the order of their entities, in which each is found soonest after the one before.
pub(crate) struct ComponentSamples<'a> {
    tracks: &'a Tracks,
    component: ComponentId,
    schema: &'a ComponentSchema,
    /// What is there goes by the cursor.
    look: Look,
    /// How many ticks it is from one snapshot to the next.
    interval: u32,
    teleport_m: f64,
    front: TickTime,
    /// Which row was looked at last.
    nth: usize,
    /// Its states around where it is shown: as far behind the cursor as rows are told more rarely than snapshots come, so that mostly
    /// there is one state on each side.
    samples: RowInterpolator<'a>,
    /// The component that this one is nothing without.
    first: Option<ComponentId>,
    /// Where the next row of that mostly is.
    next_first: usize,
    span: LastSpan,
}

impl<'a> ComponentSamples<'a> {
    /// How many may be there.
    pub(crate) fn count(&self) -> usize {
        self.tracks.count(self.component)
    }

    pub(crate) fn entity(&self, nth: usize) -> Entity {
        self.tracks.entity(self.component, nth)
    }

    /// When anything new was known of each.
    pub(crate) fn revisions(&self) -> impl Iterator<Item = Revision> + use<'a> {
        self.tracks.revisions(self.component)
    }

    /// Of which anything new is known since they were `seen`.
    pub(crate) fn with_news(&self, seen: Seen) -> impl Iterator<Item = usize> + use<'a> {
        self.tracks.revised_since(self.component, seen.known.update)
    }

    /// The same, but for those that by none of the curves are [bent](Self::is_bent), as is soon seen.
    pub(crate) fn perhaps_bent(&self, seen: Seen, curves: &EntityCurves) -> impl Iterator<Item = usize> + use<'a> {
        let by_neighbours = curves.any(|curve| curve.goes_by_neighbours(self.schema));
        self.tracks.perhaps_bent_since(self.component, self.look_where_shown(), self.since(seen, by_neighbours))
    }

    /// Until when they were looked at who were `seen`.
    fn since(&self, seen: Seen, by_neighbours: bool) -> Since {
        Since { known: seen.known, at: seen.cursor - self.behind(), by_neighbours }
    }

    /// How far behind the cursor they are shown, as they are told more rarely than snapshots come.
    pub(crate) fn behind(&self) -> TickTime {
        self.look.at - self.samples.at
    }

    /// Whether it is looked at where it was `seen`, and nothing new is known of any since.
    pub(crate) fn is_as_it_was(&self, seen: Seen) -> bool {
        seen.cursor == self.look.at && seen.interval == self.interval && self.with_news(seen).next().is_none()
    }

    /// Looks at the nth; `None` where it is not there at the cursor, or is nothing without another that is not.
    #[inline]
    pub(crate) fn seek(&mut self, nth: usize) -> Option<RemoteRow<'a>> {
        let (component, entity) = (self.component, self.tracks.entity(self.component, nth));
        let (owner, mut rest) = self.tracks.around(component, nth, &self.look, &mut self.samples.of)?;
        if let Some(first) = self.first {
            self.tracks.owner_near(RowKey { component: first, entity }, &self.look, &mut self.next_first)?;
        }
        if self.samples.at < self.look.at {
            rest = self.seek_behind(nth)?;
        }
        self.samples.rests = rest != Rest::No;
        self.nth = nth;
        let row = Row { component, entity, owner, words: self.samples.before().1 };
        Some(RemoteRow { row, stays: rest == Rest::Stays })
    }

    /// Looks at it where it is shown; before the first state that is known, it is as in that.
    fn seek_behind(&mut self, nth: usize) -> Option<Rest> {
        let began = TickTime::start_of(self.tracks.began(self.component, nth, &self.look)?);
        let look = Look { at: self.samples.at.max(began), ..self.look };
        self.tracks.around(self.component, nth, &look, &mut self.samples.of).map(|(_, rest)| rest)
    }

    /// Those that are there.
    pub(crate) fn rows(mut self) -> impl Iterator<Item = Row<'a>> {
        (0..self.count()).filter_map(move |nth| self.seek(nth).map(|other| other.row))
    }

    /// Draws the row that was looked at last as its curve shows it. Returns where it comes from.
    #[inline]
    pub(crate) fn draw(&mut self, drawing: Drawing, into: &mut RowBuffer) -> Option<PoseSource> {
        if drawing.curve.leads() {
            return self.draw_ahead(drawing, into);
        }
        let samples = &mut self.samples;
        if samples.rests(self.schema) || samples.cut_at_jumps(self.schema, drawing.curve, self.teleport_m) {
            let (_, words) = samples.before();
            into[..words.len()].copy_from_slice(words);
            return Some(samples.source());
        }
        let span = self.span.get(samples.ticks(), drawing.curve, samples.at, samples.rate);
        Some(samples.draw(self.schema, drawing.curve, span, into))
    }

    /// Where the row that was looked at last comes from, at the cursor.
    #[inline]
    pub(crate) fn source(&self) -> PoseSource {
        self.samples.source()
    }

    fn draw_ahead(&self, drawing: Drawing, into: &mut RowBuffer) -> Option<PoseSource> {
        let told = self.told()?;
        let source = told.reckon(self.schema, Some(AHEAD), self.age_s(&told), into);
        // Of one that does not know yet where the entity was put there is no way on.
        let teleports = self.schema.teleports(into);
        if let Some(follower) = drawing.follower.filter(|follower| !follower.teleports.differ(teleports)) {
            set_position(self.schema, follower.position, into);
        }
        Some(source)
    }

    /// Whether what was told of a row since it was `seen` says that it is elsewhere than where it was shown, and not just where it goes
    /// from there.
    #[inline]
    pub(crate) fn is_bent(&self, nth: usize, curve: Curve, seen: Seen) -> bool {
        if curve.leads() {
            let is_revised = || self.tracks.revised(self.component, nth) > seen.known.update;
            return self.look.known.newest != seen.known.newest || is_revised();
        }
        // What holds is nothing but jumps.
        if self.tracks.revised(self.component, nth) <= seen.known.update || curve == Curve::Hold {
            return false;
        }
        let since = self.since(seen, curve.goes_by_neighbours(self.schema));
        self.tracks.is_bent(self.component, nth, &self.look_where_shown(), &since)
    }

    fn look_where_shown(&self) -> Look {
        Look { at: self.samples.at, ..self.look }
    }

    /// The newest state in which the row was told that was looked at last, and the one before it.
    fn told(&self) -> Option<RowInterpolator<'a>> {
        let [earlier, newest] = self.tracks.newest(self.component, self.nth, &self.look)?;
        let mut told =
            RowInterpolator { of: [earlier, newest, None, None], rests: false, at: self.front, ..self.samples };
        told.cut_at_jumps(self.schema, Curve::DeadReckoning, self.teleport_m);
        Some(told)
    }

    /// Where the entity was in that state whose row was looked at last, and how fast.
    pub(crate) fn told_motion(&self) -> Option<ToldMotion> {
        let told = self.told()?;
        let ((tick, words), (position, velocity)) = (told.before(), told.motion(self.schema));
        let (teleports, age_s) = (self.schema.teleports(words), self.age_s(&told));
        Some(ToldMotion { tick, position, velocity, teleports, age_s })
    }

    /// How old the second of these states is on the server by now, in seconds.
    fn age_s(&self, told: &RowInterpolator<'_>) -> f64 {
        (self.front - TickTime::start_of(told.before().0)).as_ticks().max(0.0) * told.rate.seconds()
    }
}

#[cfg(test)]
mod tests;
