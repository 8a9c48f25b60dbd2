//! What one player's screen shows of the pile, and what is measured of it.

use super::super::lanes::{Figure, Lane};
use super::bodies::{self, Bodies, Teller, Told};
use foretell::motion::Pose;
use foretell::motion::vector::{length, sub};
use foretell::session::client::{ClientStats, Corrected, Source};
use foretell::{Client, Entity, Frame, Instant, PlayerId, Tick};
use foretell_pile::{DRIVER, Pile, Thing};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Over how many frames is measured.
const WINDOW: usize = 300;
/// A correction of less than this, in metres, is not drawn, and of less than ten times this not told.
const SEEN_M: f64 = 0.002;

/// What counts up, by frame.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    corrected: u64,
    down: u64,
    asked: u64,
    agreed: u64,
    compared: u64,
    resimulated: u64,
    cpu_us: u64,
}

/// A player's screen.
#[derive(Debug, Default)]
pub struct Screen {
    exact: bool,
    player: Option<PlayerId>,
    /// What is shown, and where the own cube is.
    shown: Vec<Told>,
    own: Option<[f64; 3]>,
    places: BTreeMap<Entity, [f64; 3]>,
    ghost: Vec<Told>,
    corrected: Vec<Told>,
    sentence: Option<String>,
    /// When which snapshot comes; ascending by arrival only if the network lets it be.
    coming: Vec<(Instant, Tick)>,
    newest: Option<Tick>,
    /// In this frame: how far the own cube is from where it is simulated, or has jumped, in metres; how many bodies were
    /// corrected, and ticks simulated again.
    off_m: f64,
    bodies: usize,
    resimulated: u32,
    cpu_us: u64,
    corrections: u64,
    counted: VecDeque<Counters>,
    /// How far the own cube was corrected, by frame of the screen.
    own_corrections: VecDeque<(u64, f64)>,
    frames: u64,
    tellers: [Teller; 3],
}

impl Screen {
    /// Of a session that is exact, or not.
    pub fn new(exact: bool) -> Screen {
        Screen { exact, ..Screen::default() }
    }

    /// Where the own cube is shown.
    pub fn own(&self) -> Option<[f64; 3]> {
        self.own
    }

    /// Whose screen it is, once they have joined.
    pub fn player(&self) -> Option<PlayerId> {
        self.player
    }

    /// Forgets what belongs to the last frame alone.
    pub fn begin_frame(&mut self) {
        self.corrected.clear();
        (self.off_m, self.bodies, self.resimulated, self.sentence) = (0.0, 0, 0, None);
    }

    /// A snapshot of this tick comes at that instant.
    pub fn note_coming(&mut self, at: Instant, tick: Tick) {
        self.coming.push((at, tick));
    }

    /// Looks at the client after its update at `now`, which shows the instant `local` of its clock and has taken so long.
    pub fn look(
        &mut self,
        (now, local): (Instant, Instant),
        client: &Client<Pile>,
        (frame, cpu_us): (&Frame<'_>, u64),
    ) {
        self.player = client.player();
        // The part of the update that was not for new ticks.
        let ran = u64::from(frame.resimulated + frame.ticks).max(1);
        self.cpu_us += cpu_us * u64::from(frame.resimulated) / ran;
        self.corrections += frame.corrections.len() as u64;
        self.bodies += frame.corrections.len();
        self.resimulated += frame.resimulated;
        self.coming.retain(|(at, tick)| {
            if *at <= now {
                self.newest = self.newest.max(Some(*tick));
            }
            *at > now
        });
        self.note_own(frame.corrections);
        self.show(local, client, frame.corrections);
    }

    fn note_own(&mut self, corrections: &[Corrected]) {
        let own = |entity: Entity| entity.kind() == DRIVER && Some(entity.player()) == self.player;
        let Some(mine) = corrections.iter().find(|corrected| own(corrected.entity)) else { return };
        self.own_corrections.push_back((self.frames, mine.misprediction_m));
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

    fn show(&mut self, local: Instant, client: &Client<Pile>, corrections: &[Corrected]) {
        self.shown.clear();
        self.own = None;
        let mut places = BTreeMap::new();
        client.present(local, |view| {
            let (entity, pose) = (view.entity, view.pose());
            let predicted = view.source == Source::Predicted;
            self.shown.push(bodies::told(entity, pose, i16::from(!predicted)));
            places.insert(entity, pose.position);
            let simulated = sub(pose.position, view.offset.position());
            let before = self.places.get(&entity).copied().unwrap_or(simulated);
            let corrected =
                corrections.iter().any(|corrected| corrected.entity == entity && corrected.shown_m > SEEN_M);
            if corrected {
                self.corrected.push(bodies::correction(bodies::number(entity), before, simulated));
            }
            if entity.kind() == DRIVER && Some(entity.player()) == self.player {
                self.own = Some(pose.position);
                let jump = if corrected { length(sub(before, pose.position)) } else { 0.0 };
                self.off_m = self.off_m.max(view.offset.distance()).max(jump);
            }
        });
        self.places = places;
    }

    /// The newest snapshot that has come, out of what the server has stated: of those bodies that are known here.
    pub fn take_ghost(&mut self, truth: &VecDeque<(Tick, Vec<Told>)>) {
        let stated = truth.iter().rev().find(|(tick, _)| Some(*tick) == self.newest);
        if let Some((_, rows)) = stated {
            let known: BTreeSet<i16> = self.shown.iter().map(|row| row[0]).collect();
            self.ghost.clear();
            self.ghost.extend(rows.iter().filter(|row| known.contains(&row[0])));
        }
    }

    /// What happened to the own cube in this frame, in a sentence.
    pub fn take_sentence(&mut self) -> Option<String> {
        self.sentence.take()
    }

    /// Its lane in this frame.
    pub fn lane(
        &mut self,
        (name, explain): (&'static str, &'static str),
        server: &[Told],
        stats: &ClientStats,
    ) -> Lane {
        let outcomes = stats.outcomes;
        self.counted.push_back(Counters {
            corrected: self.corrections,
            down: stats.bytes_received,
            asked: outcomes.asked,
            agreed: outcomes.agreed,
            compared: outcomes.agreed + outcomes.asked + outcomes.corrected,
            resimulated: stats.resimulated,
            cpu_us: self.cpu_us,
        });
        if self.counted.len() > WINDOW + 1 {
            self.counted.pop_front();
        }
        self.frames += 1;
        self.own_corrections.retain(|(frame, _)| frame + WINDOW as u64 * 4 > self.frames);
        let down = self.per_second(60, |counters| counters.down) / 1000.0;
        Lane {
            name,
            explain,
            cubes: Vec::new(),
            figures: self.figures(),
            chart: [self.off_m * 100.0, as_f64(self.bodies as u64), f64::from(self.resimulated), down].map(Some).into(),
            bodies: Some(self.bodies(server)),
        }
    }

    fn bodies(&mut self, server: &[Told]) -> Bodies {
        let [shown, truth, snapshot] = &mut self.tellers;
        let (client, server, ghost) = (shown.tell(&self.shown), truth.tell(server), snapshot.tell(&self.ghost));
        let whole = self.frames == 1;
        let own = self.player.map_or(0, PlayerId::get);
        Bodies { own, whole, client, server, ghost, corrected: bodies::text(&self.corrected) }
    }

    fn figures(&self) -> Vec<Figure> {
        let figure = |label, value, unit, digits| Figure { label, value, unit, digits };
        let over = |of: fn(&Counters) -> u64| self.per_second(WINDOW, of);
        let share = over(|counters| counters.agreed) / over(|counters| counters.compared);
        vec![
            figure("correction p99", self.own_correction_p99_m() * 100.0, "cm", 1),
            figure("bodies corrected", over(|counters| counters.corrected), "/s", 0),
            figure(if self.exact { "digests agreed" } else { "states agreed" }, share * 100.0, "%", 1),
            figure("states asked for", over(|counters| counters.asked), "/s", 1),
            figure("down", self.per_second(60, |counters| counters.down) / 1000.0, "kB/s", 1),
            figure("simulated again", over(|counters| counters.resimulated), "ticks/s", 0),
            figure("its CPU time", over(|counters| counters.cpu_us) / 1000.0, "ms/s", 1),
        ]
    }

    /// How fast a counter went up in the last so many frames.
    fn per_second(&self, frames: usize, of: impl Fn(&Counters) -> u64) -> f64 {
        let Some(newest) = self.counted.back() else { return 0.0 };
        let passed = frames.min(self.counted.len() - 1);
        let oldest = &self.counted[self.counted.len() - 1 - passed];
        as_f64(of(newest).saturating_sub(of(oldest))) * 60.0 / as_f64(passed.max(1) as u64)
    }

    fn own_correction_p99_m(&self) -> f64 {
        let mut sizes: Vec<f64> = self.own_corrections.iter().map(|(_, metres)| *metres).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        sizes.get((sizes.len() * 99 / 100).min(sizes.len().saturating_sub(1))).copied().unwrap_or(0.0)
    }
}

/// All bodies of rows as they are told.
pub fn told_of(rows: &foretell::Rows) -> Vec<Told> {
    let pose = |thing| {
        let (Thing::Driver { body } | Thing::Small { body }) = thing;
        Pose { position: body.position.map(f64::from), rotation: body.rotation.map(f64::from) }
    };
    rows.states().map(|(entity, thing)| bodies::told(entity, pose(thing), 0)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counters of a session")]
fn as_f64(count: u64) -> f64 {
    count as f64
}
