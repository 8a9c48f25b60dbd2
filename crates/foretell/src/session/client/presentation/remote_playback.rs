//! Others as they are shown: the playout cursor, their curves, and the proxies that a step sees of them.
//!
//! Between two states that are known when the cursor comes to the first nothing changes. But a state that comes while
//! others are extrapolated, or between two that they are shown between, says that they are elsewhere; one that comes after
//! those two bends a curve that goes by neighbours, and each new one moves who is shown ahead of the cursor. So do a jump
//! of the cursor, and another curve. All that is hidden by an offset, as a correction is.

use super::error_offsets::{ErrorOffsets, STANDING};
use super::followers::{Drawing, Followers};
use super::playout_clock::PlayoutClock;
use super::playout_reader::{ComponentSamples, Pace, PlayoutReader, RemoteRow, Seen};
use super::unsmoothed_state::{Motion, Sources, UnsmoothedState};
use crate::motion::vector;
use crate::rollback::NewestPredictions;
use crate::session::client::entity_curves::EntityCurves;
use crate::session::client::snapshots::Revision;
use crate::session::curves::Curve;
use crate::session::curves::{RowBuffer, velocity_of};
use crate::time::{TickRate, TickTime};
use crate::world::{ComponentId, ComponentSchema, PredictionSet, ROW_WORDS_MAX, Row, Rows, Schema};
use alloc::vec::Vec;

/// Everything about others that is shown, from the start of a session to its end.
pub(crate) struct RemotePlayback {
    pub playout: PlayoutClock,
    rate: TickRate,
    /// By which curves they were shown in the last update, and by which states.
    pub curves: EntityCurves,
    seen: Option<Seen>,
    followers: Followers,
    /// Their rows at the cursor, written before each step.
    proxies: Rows,
    /// Where and by what they were written last, if by nothing but what is known.
    written: Option<Seen>,
    /// Those of them that stay as they are written.
    staying: StayingRows,
}

impl RemotePlayback {
    pub(crate) fn new(schema: &Schema, rate: TickRate, curve: Curve) -> RemotePlayback {
        RemotePlayback {
            playout: PlayoutClock::new(rate),
            rate,
            curves: EntityCurves::new(curve),
            seen: None,
            followers: Followers::new(),
            proxies: Rows::new(schema),
            written: None,
            staying: StayingRows::new(schema),
        }
    }

    /// What is shown.
    pub(crate) fn visual<'a>(&'a self, sources: &'a Sources<'a>) -> UnsmoothedState<'a> {
        let remote = self.samples(sources);
        UnsmoothedState { sources, remote, curves: &self.curves, followers: &self.followers }
    }

    pub(crate) fn proxies(&self) -> &Rows {
        &self.proxies
    }

    /// The rows of a component that were written before the last step, where they are what is shown now as well: a frame mostly shows
    /// the instant of its update.
    pub(crate) fn written(&self, others: &ComponentSamples<'_>) -> Option<&Rows> {
        self.written.filter(|written| others.is_as_it_was(*written)).map(|_| &self.proxies)
    }

    /// A step has been made with the proxies: what has changed in them is known.
    pub(crate) fn settle_proxies(&mut self) {
        self.proxies.settle();
    }

    /// Other entities will be predicted: who is not any more is a proxy from now on, who may be gone when the cursor does not
    /// see them.
    pub(crate) fn note_switch(&mut self, newest: &Rows, wanted: &PredictionSet) {
        newest.iter().filter(|row| !wanted.contains(row.owned())).for_each(|row| self.proxies.set_words(row));
        self.proxies.drop_predicted(wanted);
        self.staying.clear();
        self.written = None;
    }

    /// Writes the rows of others at the cursor. Returns where it stands, when there are any.
    pub(crate) fn write_proxies(&mut self, sources: &Sources<'_>) -> Option<TickTime> {
        let remote = self.samples(sources)?;
        let RemotePlayback { curves, followers, proxies, staying, written, .. } = self;
        let may_stay = sources.authority.is_empty() && !curves.any_leads();
        if !may_stay {
            staying.clear();
        }
        *written = may_stay.then(|| remote.seen());
        let visual = UnsmoothedState { sources, remote: Some(remote), curves, followers };
        let mut writer = ProxyWriter { visual: &visual, proxies, staying, may_stay, count: 0 };
        sources.schema.ids().for_each(|component| writer.write_component(component, remote.component(component)));
        let count = writer.count;
        if proxies.len() > count {
            proxies.retain(|key, _| remote.get(key).is_some());
        }
        (!proxies.is_empty()).then_some(remote.points().cursor)
    }

    /// Keeps what is shown of others where it was, where something has changed about them; from now on they are shown by the
    /// curves `wanted`. After the offsets were captured.
    pub(crate) fn hide_changes(&mut self, sources: &Sources<'_>, wanted: &EntityCurves, offsets: &mut ErrorOffsets) {
        let Some(remote) = self.samples(sources) else { return };
        let seen = self.seen.replace(remote.seen()).unwrap_or(remote.seen());
        let leapt_from = self.playout.leapt_from();
        let before = remote.as_seen(seen, leapt_from.unwrap_or(remote.points()));
        let RemotePlayback { curves, followers, staying, written, .. } = self;
        if leapt_from.is_some() {
            staying.clear();
        }
        followers.advance(sources.now);
        let predicted = sources.predicted.players;
        let has_other_rate = seen.interval != remote.seen().interval;
        // Otherwise nothing has changed but where something new is known.
        let may_all_change = leapt_from.is_some() || has_other_rate || curves != wanted || curves.any_leads();
        for id in sources.schema.ids().filter(|id| sources.schema.component(*id).has_pose()) {
            let (before, remote, component) =
                (before.component(id), remote.component(id), sources.schema.component(id));
            let leaps = leapt_from.is_some() || before.behind() != remote.behind();
            let mut hiding = Hiding { sources, component, before, remote, offsets, followers };
            let all = 0..if may_all_change { hiding.remote.count() } else { 0 };
            let news = (!may_all_change).then(|| hiding.remote.perhaps_bent(seen, wanted)).into_iter().flatten();
            for nth in all.chain(news) {
                let entity = hiding.remote.entity(nth);
                let (shown, after) = (curves.of(entity), wanted.of(entity));
                let has_leapt = leaps && after != Curve::Hold;
                if shown == after && !has_leapt && !hiding.remote.is_bent(nth, after, seen) {
                    continue;
                }
                let Some(RemoteRow { row, .. }) = hiding.remote.seek(nth) else { continue };
                if !predicted.contains(row.owned()) && !sources.authority.has_begun(entity) {
                    hiding.hide(nth, shown, after);
                }
            }
        }
        if curves != wanted {
            curves.clone_from(wanted);
            *written = None;
        }
    }

    /// Nobody follows those any more who are gone, or shown by curves that follow nobody: at the end of an update, when it is known where
    /// they were shown last.
    pub(crate) fn drop_followers(&mut self, sources: &Sources<'_>) {
        let (remote, predicted) = (self.samples(sources), sources.predicted.players);
        let RemotePlayback { curves, followers, .. } = self;
        followers.retain(|entity| {
            let placed = remote.as_ref().and_then(|remote| remote.placed(entity));
            curves.of(entity).following().is_some() && placed.is_some_and(|other| !predicted.contains(other.owned()))
        });
    }

    /// What is known of others where they are shown; `None` where nothing is.
    pub(crate) fn samples<'a>(&self, sources: &Sources<'a>) -> Option<PlayoutReader<'a>> {
        let pace = Pace { rate: self.rate, interval: self.playout.interval_ticks() };
        let teleport_m = sources.config.correction.unwrap_or_default().teleport_m();
        PlayoutReader::new(sources.snapshots, sources.schema, self.playout.points_at(sources.now)?, pace, teleport_m)
    }
}

/// Rows that are written as they are until anything new is known of them.
#[derive(Debug)]
struct StayingRows {
    /// By component and ring: in which update what is written was known; 0 where it may change.
    known_in: Vec<Vec<u32>>,
}

impl StayingRows {
    fn new(schema: &Schema) -> StayingRows {
        StayingRows { known_in: schema.ids().map(|_| Vec::new()).collect() }
    }

    fn clear(&mut self) {
        self.known_in.iter_mut().for_each(Vec::clear);
    }

    fn of(&mut self, component: ComponentId) -> StayingRowsOf<'_> {
        StayingRowsOf { known_in: &mut self.known_in[usize::from(component.0)] }
    }
}

/// Those of one component.
struct StayingRowsOf<'a> {
    known_in: &'a mut Vec<u32>,
}

impl StayingRowsOf<'_> {
    #[inline]
    fn has(&self, of: Revision) -> bool {
        self.known_in.get(of.ring) == Some(&of.known_in)
    }

    fn note(&mut self, of: Revision, stays: bool) {
        if self.known_in.len() <= of.ring {
            self.known_in.resize(of.ring + 1, 0);
        }
        self.known_in[of.ring] = if stays { of.known_in } else { 0 };
    }
}

/// Writes proxies, component by component.
struct ProxyWriter<'a> {
    visual: &'a UnsmoothedState<'a>,
    proxies: &'a mut Rows,
    staying: &'a mut StayingRows,
    /// Whether what rests is written as it was told.
    may_stay: bool,
    /// How many are written, or were.
    count: usize,
}

impl ProxyWriter<'_> {
    /// Writes the rows of a component, of which those that stay are there already.
    fn write_component(&mut self, component: ComponentId, mut others: ComponentSamples<'_>) {
        let Sources { predicted, schema, authority, .. } = self.visual.sources;
        let schema = schema.component(component);
        let mut staying = self.staying.of(component);
        let mut into: RowBuffer = [0; ROW_WORDS_MAX];
        for (nth, revision) in others.revisions().enumerate() {
            if staying.has(revision) {
                self.count += 1;
                continue;
            }
            let Some(RemoteRow { row, stays }) = others.seek(nth) else { continue };
            if is_predicted(row, schema, predicted) {
                continue;
            }
            others.draw(self.visual.drawing(row.entity), &mut into);
            authority.put_captured(schema, row.key(), &mut into);
            self.proxies.set_words(Row { words: &into[..row.words.len()], ..row });
            staying.note(revision, stays && self.may_stay);
            self.count += 1;
        }
    }
}

/// Whether a row is simulated here, or is of an entity that another player has by now, as whose it is.
fn is_predicted(row: Row<'_>, component: &ComponentSchema, states: &NewestPredictions<'_>) -> bool {
    let owner = || states.newest.and_then(|rows| rows.owner(row.entity));
    states.simulate(&row, component.prediction())
        || states.players.contains(row.owned()) && owner().is_some_and(|owner| owner != row.owner)
}

/// What hides that entities are elsewhere by their rows of a component.
struct Hiding<'a> {
    sources: &'a Sources<'a>,
    component: &'a ComponentSchema,
    /// As they were shown by what was known in the update before.
    before: ComponentSamples<'a>,
    remote: ComponentSamples<'a>,
    offsets: &'a mut ErrorOffsets,
    followers: &'a mut Followers,
}

impl Hiding<'_> {
    /// Takes in what has changed about the entity of the row that was looked at last, the nth, which was shown by one curve and
    /// will be by another, and leaves it where it was shown.
    fn hide(&mut self, nth: usize, before: Curve, after: Curve) {
        let (Sources { now, config, .. }, entity) = (self.sources, self.remote.entity(nth));
        let drawing = self.followers.drawing(entity, before, *now);
        let shown = self.before.seek(nth).and_then(|_| motion(self.component, &mut self.before, drawing));
        match after.following() {
            Some(following) => {
                if let Some(told) = self.remote.told_motion() {
                    self.followers.follow(entity, following, told, config.correction.as_ref());
                }
            }
            None => self.followers.remove(entity),
        }
        let drawing = self.followers.drawing(entity, after, *now);
        let Some(from) = shown.filter(|_| config.correction.is_some()) else { return };
        let Some(to) = motion(self.component, &mut self.remote, drawing) else { return };
        if from.pose == to.pose {
            return;
        }
        let offset = self.offsets.at(entity, *now, STANDING, from.teleports);
        // How far is far goes by the speed; who turned around stood still for a moment.
        let speed = vector::length(from.velocity).max(vector::length(to.velocity));
        let from = Motion { pose: offset.shown(from.pose), ..from };
        self.offsets.hide(entity, [&from, &to], speed, *now);
    }
}

/// Where an entity is by the row that was looked at last and how fast, without its offset.
fn motion(component: &ComponentSchema, of: &mut ComponentSamples<'_>, drawing: Drawing) -> Option<Motion> {
    let mut words: RowBuffer = [0; ROW_WORDS_MAX];
    of.draw(drawing, &mut words)?;
    let (pose, velocity) = (component.pose(&words), velocity_of(component, &words));
    Some(Motion { pose, velocity, teleports: component.teleports(&words), is_predicted: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, PURSE, SHIP};

    #[test]
    fn a_row_stays_as_it_is_written_until_anything_new_is_known_of_it() {
        let mut staying = StayingRows::new(&test_states::schema());
        let of = |ring: usize, known_in: u32| Revision { ring, known_in };
        staying.of(SHIP).note(of(3, 7), true);
        staying.of(SHIP).note(of(4, 7), false);
        assert!(staying.of(SHIP).has(of(3, 7)));
        assert!(!staying.of(SHIP).has(of(3, 8)), "something new is known");
        assert!(!staying.of(SHIP).has(of(4, 7)), "it may change");
        assert!(!staying.of(SHIP).has(of(2, 7)) && !staying.of(SHIP).has(of(9, 7)));
        assert!(!staying.of(PURSE).has(of(3, 7)), "it is another component's");
        staying.of(SHIP).note(of(3, 8), false);
        assert!(!staying.of(SHIP).has(of(3, 8)));
        staying.of(SHIP).note(of(3, 8), true);
        staying.clear();
        assert!(!staying.of(SHIP).has(of(3, 8)));
    }
}
