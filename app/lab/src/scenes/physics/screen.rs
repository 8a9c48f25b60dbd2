//! What one player's screen shows of the pile.

use super::measures::{FrameMeasures, ScreenMeasures};
use crate::frame::bodies::{self, Bodies, BodyDelta, BodyRow};
use crate::frame::lane::Lane;
use foretell::motion::Pose;
use foretell::motion::vector::{length, sub};
use foretell::session::client::{ClientStats, Corrected, PoseSource};
use foretell::{Client, Entity, Frame, Instant, PlayerId, Tick, Views};
use foretell_pile::{Pile, Thing};
use foretell_sim::harness::Moment;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A correction of less than this, in metres, is not drawn, and of less than ten times this not told.
const SEEN_M: f64 = 0.002;

/// What is said of a screen.
#[derive(Clone, Copy, Debug)]
pub struct ScreenText {
    pub name: &'static str,
    pub explain: &'static str,
}

/// What is drawn.
#[derive(Debug, Default)]
struct Picture {
    views: Views,
    shown: Vec<BodyRow>,
    /// Where the own cube is.
    own: Option<[f64; 3]>,
    places: BTreeMap<Entity, [f64; 3]>,
    /// The newest snapshot that has come.
    ghost: Vec<BodyRow>,
    /// The corrections of this frame.
    corrected: Vec<BodyRow>,
}

/// What the page has been told so far.
#[derive(Debug, Default)]
struct Told {
    shown: BodyDelta,
    truth: BodyDelta,
    ghost: BodyDelta,
}

/// A player's screen.
#[derive(Debug, Default)]
pub struct PileScreen {
    player: Option<PlayerId>,
    picture: Picture,
    told: Told,
    /// When which snapshot comes; ascending by arrival only if the network lets it be.
    coming: Vec<(Instant, Tick)>,
    /// The newest snapshot that has come.
    newest: Option<Tick>,
    /// Of this frame.
    now: FrameMeasures,
    /// What happened to the own cube in this frame.
    sentence: Option<String>,
    measures: ScreenMeasures,
}

impl PileScreen {
    /// Of a session that is exact, or not.
    pub fn new(exact: bool) -> PileScreen {
        PileScreen { measures: ScreenMeasures::new(exact), ..PileScreen::default() }
    }

    /// Where the own cube is shown.
    pub fn own(&self) -> Option<[f64; 3]> {
        self.picture.own
    }

    /// Whose screen it is, once they have joined.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// Forgets what belongs to the last frame alone.
    pub fn begin_frame(&mut self) {
        self.picture.corrected.clear();
        self.now = FrameMeasures::default();
        self.sentence = None;
    }

    /// A snapshot of this tick comes at that instant.
    pub fn note_coming(&mut self, at: Instant, tick: Tick) {
        self.coming.push((at, tick));
    }

    /// Looks at the client after its update, which has taken so long.
    pub fn look(&mut self, at: Moment, client: &Client<Pile>, frame: &Frame<'_>, cpu_us: u64) {
        self.player = client.player();
        // The part of the update that was not for new ticks.
        let ran = u64::from(frame.resimulated + frame.ticks).max(1);
        self.measures.note_update(frame.corrections.len(), cpu_us * u64::from(frame.resimulated) / ran);
        self.now.bodies += frame.corrections.len();
        self.now.resimulated += frame.resimulated;
        self.coming.retain(|(due, tick)| {
            if *due <= at.now {
                self.newest = self.newest.max(Some(*tick));
            }
            *due > at.now
        });
        self.note_own(frame.corrections);
        self.draw(at.local, client, frame.corrections);
    }

    fn note_own(&mut self, corrections: &[Corrected]) {
        let own = |entity: Entity| Some(entity.spawned_for()) == self.player;
        let Some(mine) = corrections.iter().find(|corrected| own(corrected.entity)) else { return };
        self.measures.note_own(mine);
        if mine.shown_m >= 10.0 * SEEN_M {
            let causes = mine.causes.names().collect::<Vec<_>>().join(", ");
            let causes = if causes.is_empty() { "unexplained" } else { &causes };
            let others = match corrections.len() - 1 {
                0 => String::new(),
                1 => ", with 1 body".to_owned(),
                others => format!(", with {others} bodies"),
            };
            self.sentence = Some(format!("corrected by {:.0} cm{others}: {causes}", mine.shown_m * 100.0));
        }
    }

    fn draw(&mut self, local: Instant, client: &Client<Pile>, corrections: &[Corrected]) {
        let Picture { views, shown, own, places, corrected: drawn, .. } = &mut self.picture;
        shown.clear();
        *own = None;
        let before = core::mem::take(places);
        client.present(local, views);
        for view in views.iter() {
            let (entity, pose) = (view.entity, view.pose());
            let predicted = view.source == PoseSource::Predicted;
            shown.push(bodies::row(entity, pose, i16::from(!predicted)));
            places.insert(entity, pose.position);
            let simulated = sub(pose.position, view.offset.position());
            let before = before.get(&entity).copied().unwrap_or(simulated);
            let corrected =
                corrections.iter().any(|corrected| corrected.entity == entity && corrected.shown_m > SEEN_M);
            if corrected {
                drawn.push(bodies::correction_row(bodies::body_number(entity), before, simulated));
            }
            if Some(entity.spawned_for()) == self.player {
                *own = Some(pose.position);
                let jump = if corrected { length(sub(before, pose.position)) } else { 0.0 };
                self.now.off_m = self.now.off_m.max(view.offset.distance()).max(jump);
            }
        }
    }

    /// Draws the newest snapshot that has come, out of what the server has stated: of those bodies that are known here.
    pub fn draw_ghost(&mut self, truth: &VecDeque<(Tick, Vec<BodyRow>)>) {
        let stated = truth.iter().rev().find(|(tick, _)| Some(*tick) == self.newest);
        if let Some((_, rows)) = stated {
            let Picture { shown, ghost, .. } = &mut self.picture;
            let known: BTreeSet<i16> = shown.iter().map(|row| row[0]).collect();
            ghost.clear();
            ghost.extend(rows.iter().filter(|row| known.contains(&row[0])));
        }
    }

    /// What happened to the own cube in this frame, in a sentence.
    pub fn take_sentence(&mut self) -> Option<String> {
        self.sentence.take()
    }

    /// Its lane in this frame.
    pub fn lane(&mut self, text: ScreenText, server: &[BodyRow], stats: &ClientStats) -> Lane {
        self.measures.note_frame(stats);
        Lane {
            name: text.name,
            explain: text.explain,
            figures: self.measures.figures(),
            chart: self.measures.chart(&self.now),
            bodies: Some(self.bodies(server)),
            ..Lane::default()
        }
    }

    fn bodies(&mut self, server: &[BodyRow]) -> Bodies {
        Bodies {
            own: self.player.map_or(0, PlayerId::get),
            whole: self.measures.frames() == 1,
            client: self.told.shown.encode(&self.picture.shown),
            server: self.told.truth.encode(server),
            ghost: self.told.ghost.encode(&self.picture.ghost),
            corrected: bodies::text(&self.picture.corrected),
        }
    }
}

/// All bodies of rows as they are told.
pub fn rows_of(rows: &foretell::Rows) -> Vec<BodyRow> {
    let pose = |thing| {
        let (Thing::Driver { body } | Thing::Small { body }) = thing;
        Pose { position: body.position.map(f64::from), rotation: body.rotation.map(f64::from) }
    };
    rows.states().map(|(of, thing)| bodies::row(of.entity, pose(thing), 0)).collect()
}
