//! What others were in the last states, and by which curve a client shows them between those: what shots are judged by.
//!
//! Kept is what changes, of what others are told of states with a position or rotation. A client is told states at intervals, rounded;
//! a row is drawn as it would be if all of those had come in time. Who sits at the server sees each state as it is, and a line from one
//! to the next.

use super::component_rewind_history::{ComponentRewindHistory, RewindEntry};
use super::row_versions::RowVersions;
use crate::motion::{Correction, vector};
use crate::session::curves::{Curve, RowBuffer, RowInterpolator, Sample, Span, velocity_of};
use crate::time::{Tick, TickRate, TickTime};
use crate::world::{
    AnyRow, ComponentId, Owned, PlayerId, ROW_WORDS_MAX, RewindMoment, RewindSource, RoundedRow, RowKey, Rows, Schema,
};
use alloc::collections::VecDeque;
use alloc::vec::Vec;

/// A claim says where a cursor stood in steps of so much of a tick; it is off by half of that at most.
const CLAIM_STEP: f64 = 1.0 / 256.0;

/// How far back it is kept, and how clients are told and show it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RewindTerms {
    /// How many ticks; with 0 nothing is kept.
    pub ticks: u32,
    /// How many ticks one state is sent after the other.
    pub sent: u32,
    pub rate: TickRate,
    pub curve: Curve,
}

impl RewindTerms {
    pub fn nothing(rate: TickRate) -> RewindTerms {
        RewindTerms { ticks: 0, sent: 1, rate, curve: Curve::default() }
    }
}

/// A component that is kept.
#[derive(Debug)]
struct Kept {
    table: ComponentRewindHistory,
    /// How it is rounded; `None` where it is told as it is.
    form: Option<RoundedRow>,
    /// How many ticks a turn of its rows takes, in which each is told at most once; and how many they are told apart at most, a multiple
    /// of what states are sent apart.
    turn: u32,
    apart: u32,
}

/// The states of the last ticks, as far as they are kept.
#[derive(Debug)]
pub(super) struct RewindHistory {
    schema: Schema,
    terms: RewindTerms,
    /// By component.
    kept: Vec<Option<Kept>>,
    /// What is gone, and in which state first; ascending.
    gone: VecDeque<(Tick, RowKey)>,
    /// The first state that is known; `None` where none is.
    begins: Option<Tick>,
    /// The state before the step that runs, and the one that is being made.
    present: Tick,
    newest: Tick,
    /// Who sits at the server.
    here: Option<PlayerId>,
}

impl RewindHistory {
    pub fn new(schema: &Schema, terms: RewindTerms) -> RewindHistory {
        let mut past = RewindHistory {
            schema: schema.clone(),
            terms,
            kept: Vec::new(),
            gone: VecDeque::new(),
            begins: None,
            present: Tick::ZERO,
            newest: Tick::ZERO,
            here: None,
        };
        past.begin();
        past
    }

    /// The step of `tick` is to look back by these terms; where they are others than before, all is forgotten. `here` is who sits at
    /// the server.
    pub fn begin_step(&mut self, tick: Tick, terms: RewindTerms, here: Option<PlayerId>) {
        (self.present, self.here) = (tick, here);
        if self.terms != terms {
            self.terms = terms;
            self.begin();
        }
    }

    /// From which moment on all is known.
    pub fn oldest(&self) -> Option<TickTime> {
        let begins = self.begins?;
        Some(TickTime::start_of(begins.max(self.present.back(self.terms.ticks).unwrap_or_default())))
    }

    fn begin(&mut self) {
        let RewindHistory { schema, terms, kept, .. } = self;
        let new = |id: ComponentId| {
            let component = schema.component(id);
            let [turn, apart] = [1, terms.sent].map(|sent| component.interval_ticks(terms.rate, sent));
            let form = Some(RoundedRow::new(component)).filter(|form| !form.is_exact());
            // Two states before the oldest moment and two after it, wherever between states it is.
            let ticks = terms.ticks + 4 * apart + 2;
            Kept { table: ComponentRewindHistory::new(component.words(), ticks), form, turn, apart }
        };
        kept.clear();
        if terms.ticks > 0 {
            kept.extend(schema.ids().map(|id| schema.is_in_past(id).then(|| new(id))));
        }
        self.gone.clear();
        self.begins = None;
    }

    /// Takes in what has changed in the rows: they are `state` now.
    pub fn note(&mut self, rows: &Rows, versions: &RowVersions, state: Tick) {
        if self.terms.ticks == 0 {
            return;
        }
        self.newest = state;
        if self.begins.is_none() {
            self.begins = Some(state);
            rows.iter().for_each(|row| self.put(row.key(), rows, versions, &mut 0));
            return;
        }
        let mut next = 0;
        rows.changed().iter().for_each(|key| self.put(*key, rows, versions, &mut next));
        for gone in rows.removed() {
            let table =
                self.kept[usize::from(gone.key.component.0)].as_mut().filter(|_| rows.words(gone.key).is_none());
            if let Some(Kept { table, .. }) = table {
                table.end(gone.key.entity, state);
                self.gone.push_back((state, gone.key));
            }
        }
        self.forget_gone();
    }

    fn put(&mut self, key: RowKey, rows: &Rows, versions: &RowVersions, next: &mut usize) {
        let Some(Kept { table, .. }) = &mut self.kept[usize::from(key.component.0)] else { return };
        if let Some(row) = rows.get_near(key, next) {
            let entry = RewindEntry { tick: self.newest, owner: row.owner, words: row.words };
            table.put(key.entity, entry, || versions.get(key).map_or(0, |version| version.slot));
        }
    }

    /// What has been gone for longer than anything is kept.
    fn forget_gone(&mut self) {
        let RewindHistory { kept, gone, terms, newest, .. } = self;
        let is_over = |(at, key): &&(Tick, RowKey)| {
            let kept = kept[usize::from(key.component.0)].as_ref();
            kept.is_some_and(|kept| newest.since(*at) > terms.ticks + 4 * kept.apart)
        };
        let count = gone.iter().take_while(is_over).count();
        if count == 0 {
            return;
        }
        for (nth, kept) in kept.iter_mut().enumerate() {
            let of_component = gone.range(..count).filter(|(_, key)| usize::from(key.component.0) == nth);
            let of_component = of_component.map(|(at, key)| (*at, key.entity));
            if let Some(Kept { table, .. }) = kept {
                table.forget_gone(of_component);
            }
        }
        gone.drain(..count);
    }

    fn kept(&self, component: ComponentId) -> Option<&Kept> {
        self.kept.get(usize::from(component.0))?.as_ref()
    }

    /// How a row is told to who is judged, and shown by them.
    fn telling(&self, Found { component, nth }: Found, to: PlayerId) -> Option<Telling<'_>> {
        let Kept { table, form, turn, apart } = self.kept(component)?;
        if self.here == Some(to) {
            let times = TellingTimes { sent: 1, turn: 1, slot: 0 };
            return Some(Telling { times, later: 0, form: None, curve: Curve::Linear });
        }
        let sent = self.terms.sent;
        let times = TellingTimes { sent, turn: *turn, slot: table.slot(nth) };
        Some(Telling { times, later: apart - sent, form: form.as_ref(), curve: self.curve() })
    }

    /// Draws a row as it is shown to whom it is told so, of which state `lost` has not come, where one is said.
    fn draw_without(&self, drawn: &Drawn<'_>, lost: Lost, into: &mut AnyRow) -> Option<Owned> {
        let Drawn { of: Found { component, nth }, at, telling: Telling { times, later, .. } } = *drawn;
        let table = &self.kept(component)?.table;
        let entity = table.entity(nth);
        if at >= TickTime::start_of(self.present) {
            let now = table.at(nth, self.newest)?;
            into[..now.words.len()].copy_from_slice(now.words);
            return Some(Owned { entity, owner: now.owner });
        }
        let owner = table.at(nth, times.sent_by(at.tick()))?.owner;
        // As far behind the cursor as it is told more rarely than states are sent, but not before it was there.
        let at = at - TickTime::ticks(f64::from(later));
        let began =
            times.sent_from(table.began(nth, times.sent_by(at.tick())).or_else(|| table.began(nth, self.newest))?);
        let at = at.max(TickTime::start_of(began));
        let before = times.told_by(at.tick()).max(began);
        self.draw_between(&Drawn { at, ..*drawn }, lost.around(before, &times), into)?;
        Some(Owned { entity, owner })
    }

    fn draw_between(&self, drawn: &Drawn<'_>, states: [Option<Tick>; 4], into: &mut AnyRow) -> Option<()> {
        let Drawn { of: Found { component, nth }, at, telling: Telling { form, curve, .. } } = *drawn;
        let table = &self.kept(component)?.table;
        let mut rounded: [RowBuffer; 4] = [[0; ROW_WORDS_MAX]; 4];
        let mut of: [Option<Sample<'_>>; 4] = [None; 4];
        for (state, (sample, words)) in states.into_iter().zip(of.iter_mut().zip(&mut rounded)) {
            let known = state.filter(|state| *state <= self.present);
            *sample = known.and_then(|state| Some((state, as_told(form, table.at(nth, state)?.words, words))));
        }
        // What is gone in between is not joined.
        of[3] = of[3].filter(|_| of[2].is_some());
        let mut samples = RowInterpolator { of, rests: false, at, rate: self.terms.rate };
        let ((_, words), schema) = (of[1]?, self.schema.component(component));
        if samples.rests(schema) || samples.cut_at_jumps(schema, curve, Correction::default().teleport_m()) {
            into[..words.len()].copy_from_slice(words);
        } else {
            let span = Span::new(samples.ticks(), at, self.terms.rate, curve);
            samples.draw(schema, curve, span.as_ref(), into);
        }
        Some(())
    }

    /// The curve at the cursor; who is shown ahead of it is judged by the default one.
    fn curve(&self) -> Curve {
        if self.terms.curve.leads() { Curve::default() } else { self.terms.curve }
    }
}

/// A row as it is told; as it is, where nothing of it is rounded.
fn as_told<'a>(form: Option<&RoundedRow>, words: &'a [u32], into: &'a mut RowBuffer) -> &'a [u32] {
    let Some(form) = form else { return words };
    let mut rounded = [0; RoundedRow::WORDS_MAX];
    let rounded = &mut rounded[..form.words()];
    form.round(words, rounded);
    form.restore(rounded, &mut into[..words.len()]);
    &into[..words.len()]
}

/// A row by its number.
#[derive(Clone, Copy)]
struct Found {
    component: ComponentId,
    nth: usize,
}

/// How a row is told to a player, and shown by them.
#[derive(Clone, Copy)]
struct Telling<'a> {
    times: TellingTimes,
    /// By how many ticks later than at the cursor it is shown.
    later: u32,
    /// How it is rounded; `None` where it is told as it is.
    form: Option<&'a RoundedRow>,
    curve: Curve,
}

/// What is drawn of a row, and at which point.
#[derive(Clone, Copy)]
struct Drawn<'a> {
    of: Found,
    at: TickTime,
    telling: Telling<'a>,
}

/// In which states a row is told while it changes.
#[derive(Clone, Copy, Debug)]
struct TellingTimes {
    /// How many ticks one state is sent after the other, and how many a turn takes: in the first state that is sent in one the row is
    /// told (see `RowSendRates`).
    sent: u32,
    turn: u32,
    /// The number of the row.
    slot: u32,
}

impl TellingTimes {
    /// The last state up to this one that is sent.
    fn sent_by(&self, tick: Tick) -> Tick {
        Tick::new(tick.get() - tick.get() % self.sent)
    }

    /// The first from this one on.
    fn sent_from(&self, tick: Tick) -> Tick {
        Tick::new(tick.get().next_multiple_of(self.sent))
    }

    /// How long the row has its turn already: turns begin where tick and number together come to a multiple.
    fn ticks_into_turn(&self, tick: Tick) -> u32 {
        (tick.get() % self.turn + self.slot % self.turn) % self.turn
    }

    /// The last state up to this one in which the row is told.
    fn told_by(&self, tick: Tick) -> Tick {
        let sent = self.sent_by(tick);
        self.sent_from(sent.back(self.ticks_into_turn(sent)).unwrap_or_default())
    }

    fn after(&self, state: Tick) -> Tick {
        self.sent_from(state + (self.turn - self.ticks_into_turn(state)))
    }

    fn before(&self, state: Tick) -> Option<Tick> {
        state.back(1).map(|before| self.told_by(before)).filter(|before| *before < state)
    }
}

/// Which state beside a point has not come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lost {
    None,
    Before,
    After,
}

impl Lost {
    /// The states around a point by which a row is drawn: two up to it, of which this is the second if it has come, and two after it.
    fn around(self, before: Tick, told: &TellingTimes) -> [Option<Tick>; 4] {
        let next = told.after(before);
        let earlier = told.before(before);
        match self {
            Lost::None => [earlier, Some(before), Some(next), Some(told.after(next))],
            Lost::Before => {
                [earlier.and_then(|earlier| told.before(earlier)), earlier, Some(next), Some(told.after(next))]
            }
            Lost::After => {
                let last = told.after(next);
                [earlier, Some(before), Some(last), Some(told.after(last))]
            }
        }
    }
}

impl RewindSource for RewindHistory {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn count(&self, component: ComponentId) -> usize {
        self.kept(component).map_or(0, |kept| kept.table.len())
    }

    fn find(&self, key: RowKey) -> Option<usize> {
        self.kept(key.component)?.table.find(key.entity)
    }

    fn draw(&self, component: ComponentId, nth: usize, by: &RewindMoment, into: &mut AnyRow) -> Option<Owned> {
        let of = Found { component, nth };
        let drawn = Drawn { of, at: by.used, telling: self.telling(of, by.player)? };
        self.draw_without(&drawn, Lost::None, into)
    }

    /// By how much it is shown elsewhere where either state beside the point was lost, and what half a step of a claim is worth. To who
    /// sits here nothing is lost, nor rounded.
    fn error_m(&self, key: RowKey, by: &RewindMoment) -> f64 {
        let of = self.find(key).map(|nth| Found { component: key.component, nth });
        let telling =
            of.filter(|_| self.here != Some(by.player)).and_then(|of| Some((of, self.telling(of, by.player)?)));
        let Some((of, telling)) = telling else { return 0.0 };
        let (drawn, schema) = (Drawn { of, at: by.used, telling }, self.schema.component(key.component));
        let mut row: AnyRow = [0; ROW_WORDS_MAX];
        if self.draw_without(&drawn, Lost::None, &mut row).is_none() {
            return 0.0;
        }
        let (place, speed) = (schema.pose(&row).position, vector::length(velocity_of(schema, &row)));
        let off = |lost: Lost| {
            let mut row: AnyRow = [0; ROW_WORDS_MAX];
            self.draw_without(&drawn, lost, &mut row)?;
            Some(vector::length(vector::sub(schema.pose(&row).position, place)))
        };
        let lost = [Lost::Before, Lost::After].into_iter().filter_map(off).fold(0.0, f64::max);
        lost + speed * self.terms.rate.seconds() * CLAIM_STEP / 2.0
    }
}

#[cfg(test)]
mod tests;
