//! What a game has captured of an entity that it moves: what waits for its tick, what has run, and what of that goes up.

use crate::session::authority_codec::REST_TICKS;
use crate::session::client::frame_sampler::CAPTURES_MAX;
use crate::session::curves::RowBuffer;
use crate::time::Tick;
use crate::world::ROW_WORDS_MAX;
use alloc::collections::VecDeque;

/// How many wait for their ticks, at most: the newest.
const WAITING_MAX: usize = CAPTURES_MAX as usize;
/// How many a datagram brings up besides the newest, at most: the newest of them.
const BETWEEN_MAX: usize = 7;

/// A row as it was at the start of a tick.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Capture {
    pub tick: Tick,
    pub row: RowBuffer,
}

/// The captures of one entity.
#[derive(Clone, Debug)]
pub(crate) struct Captures {
    /// Those that wait for their ticks, ascending, `len <= WAITING_MAX`.
    waiting: VecDeque<Capture>,
    /// That of the newest tick that has run.
    newest: Capture,
    /// Those that have run since the last datagram, without the newest; ascending, `len <= BETWEEN_MAX`.
    between: VecDeque<Capture>,
    /// For how many ticks nothing has changed.
    still: u32,
}

impl Captures {
    pub(crate) fn new() -> Captures {
        Captures {
            waiting: VecDeque::with_capacity(WAITING_MAX),
            newest: Capture { tick: Tick::ZERO, row: [0; ROW_WORDS_MAX] },
            between: VecDeque::with_capacity(BETWEEN_MAX),
            still: 0,
        }
    }

    /// That of the newest tick that has run.
    pub(crate) fn newest(&self) -> &Capture {
        &self.newest
    }

    /// Those that have run since the last datagram, without the newest; newest first.
    pub(crate) fn between(&self) -> impl Iterator<Item = &Capture> {
        self.between.iter().rev()
    }

    /// Whether nothing has changed for [`REST_TICKS`].
    pub(crate) fn rests(&self) -> bool {
        self.still >= REST_TICKS
    }

    /// It counts as moved.
    pub(crate) fn wake(&mut self) {
        self.still = 0;
    }

    /// What has run so far is this row.
    pub(crate) fn begin(&mut self, row: &RowBuffer) {
        self.newest.row = *row;
        self.between.clear();
    }

    /// The state at the start of `tick`. Of one tick, and of a clock that was set back, the last counts.
    pub(crate) fn push(&mut self, tick: Tick, words: &[u32]) {
        while self.waiting.back().is_some_and(|known| known.tick >= tick) {
            self.waiting.pop_back();
        }
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
        }
        let mut row = [0; ROW_WORDS_MAX];
        row[..words.len()].copy_from_slice(words);
        self.waiting.push_back(Capture { tick, row });
    }

    /// The tick is about to be simulated: its captures are in it. Whether the server has to be told: it has moved, or begins to
    /// rest.
    pub(crate) fn run(&mut self, tick: Tick) -> bool {
        let before = self.newest;
        while let Some(capture) = self.waiting.pop_front_if(|capture| capture.tick <= tick) {
            self.newest.row = capture.row;
        }
        self.newest.tick = tick;
        if self.newest.row == before.row {
            self.still = self.still.saturating_add(1);
        } else {
            self.still = 0;
            if self.between.len() == BETWEEN_MAX {
                self.between.pop_front();
            }
            self.between.push_back(before);
        }
        self.still == 0 || self.still == REST_TICKS
    }

    /// No tick runs any more: the last one that waits counts at once. Whether there is one.
    pub(crate) fn finish(&mut self) -> bool {
        let last = self.waiting.pop_back();
        self.waiting.clear();
        self.newest = last.unwrap_or(self.newest);
        last.is_some()
    }

    /// A datagram was sent.
    pub(crate) fn note_sent(&mut self) {
        self.between.clear();
    }
}
