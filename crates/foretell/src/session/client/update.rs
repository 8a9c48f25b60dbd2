//! One update of a running session: clock, reconciliation, new ticks, datagrams.

use super::curves::Curves;
use super::error_offsets::RowBuffer;
use super::remote_window::RemoteWindow;
use super::{ClientConfig, ClientEvent, ClientStats, Corrected, InputDelay, Session};
use crate::session::authority::AuthorityCodec;
use crate::session::{Outbox, Rules};
use crate::time::{Instant, Tick, TickTime};
use crate::world::{Entity, InputStatus, PlayerId, PlayerInput, ROW_WORDS_MAX, Row, Schema, World};
use alloc::vec::Vec;
use core::time::Duration;

/// A client that is further behind its own clock than this starts again from a snapshot instead of simulating what it
/// slept through.
const CATCH_UP: Duration = Duration::from_millis(500);
/// After a sleep, the clock is trusted to have gone on as the server's has for so long without a snapshot that fits to it.
const CLOCK_TRUSTED: Duration = Duration::from_millis(250);
/// A client whose updates are further apart than this stood still, or its clock was set: longer than a frame at 5 per second.
const STOOD_STILL: Duration = Duration::from_millis(250);
/// Behind a snapshot's tick by more than this, the clock jumps.
const BEHIND_TICKS: u32 = 2;
/// Without a snapshot for so long, the clock is not steered any more.
const COAST_AFTER: Duration = Duration::from_millis(500);

/// How many rows are looked at together, whether they all rest.
const RESTING_ROWS: usize = 32;

/// What an update ran.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct TickCounts {
    pub ticks: u32,
    pub resimulated: u32,
}

/// One update of a running session, with everything that it may touch.
pub(super) struct Update<'a, W: World> {
    pub now: Instant,
    pub session: &'a mut Session<W>,
    pub config: &'a ClientConfig,
    pub rules: &'a Rules,
    /// For which players it was asked to predict their entities, or not to.
    pub wishes: &'a [(PlayerId, bool)],
    /// The same for single entities.
    pub singles: &'a [(Entity, bool)],
    /// By which curves others are to be shown.
    pub curves: &'a Curves,
    pub input_widths: &'a [u8],
    pub shared_code: &'a AuthorityCodec,
    pub stats: &'a mut ClientStats,
    pub corrections: &'a mut Vec<Corrected>,
    pub events: &'a mut Vec<ClientEvent>,
}

impl<W: World> Update<'_, W> {
    pub(super) fn play(
        &mut self,
        world: &mut W,
        input: &mut dyn FnMut(Tick) -> W::Input,
        outbox: &mut Outbox,
    ) -> TickCounts {
        let Session { pacing, playout, server_rate, connection, .. } = &mut *self.session;
        pacing.advance(self.now, server_rate);
        playout.advance(self.now, server_rate, connection.rtt_min() / 2);
        if self.now.since(self.session.connection.last_snapshot()) > COAST_AFTER {
            self.session.pacing.coast();
        }
        self.session.delay_inputs(self.config.input_delay);
        let catches_up = self.catch_up();
        self.watch_clock(catches_up);
        self.confirm();
        let asleep = self.session.due() > self.rules.tick_rate.ticks_in(CATCH_UP).max(1);
        let replayed = if asleep || self.session.resyncing.is_some() { self.wake(world) } else { 0 };
        let resimulated = replayed + self.reconcile(world);
        self.session.hide_news(self.now, (&self.rules.schema, self.config), self.curves);
        self.settle_holds();
        let leaps = self.session.pacing.take_leap() || catches_up;
        if leaps {
            self.capture();
        }
        self.session.note_predicted(&self.rules.schema, self.events);
        let mut ticks = 0;
        while self.session.resyncing.is_none() && self.session.due() > 0 {
            self.session.run_tick(self.now, world, input, &self.rules.schema);
            self.session.note_predicted(&self.rules.schema, self.events);
            ticks += 1;
        }
        if leaps {
            self.hide_leap();
        }
        self.session.timeline.seek_present(world);
        self.tell();
        self.send(outbox);
        TickCounts { ticks, resimulated }
    }

    /// A client whose ticks are behind those of a snapshot sends every input too late: its clock goes to where inputs come
    /// in time. So after a sleep while the clock waited, and when the caller's clock was set back. Whether it did.
    fn catch_up(&mut self) -> bool {
        let at = self.session.pacing.at();
        let newest = self.session.snapshots.newest().map(|snapshot| snapshot.tick);
        if newest.is_none_or(|newest| newest.since(at.tick() + self.session.input_delay) <= BEHIND_TICKS) {
            return false;
        }
        let up = self.session.connection.rtt_min().as_secs_f64() / 2.0 * f64::from(self.rules.tick_rate.get());
        let lead = self.session.lead_ticks(self.now);
        self.session.restart_clock(at + TickTime::ticks(up + f64::from(BEHIND_TICKS) - lead));
        true
    }

    /// Remembers when the own clock was set or stood still: what follows from it has that as a cause.
    fn watch_clock(&mut self, catches_up: bool) {
        let session = &mut *self.session;
        let last = core::mem::replace(&mut session.updated, self.now);
        if self.now < last || self.now.since(last) > STOOD_STILL || catches_up {
            let compared = session.reconciler.compared();
            session.reconciler.missed_inputs.note_off_clock(session.timeline.present(), compared);
        }
    }

    /// The clock has leapt to where the server's will be, and the predicted entities with it: that is hidden as a
    /// correction is.
    fn hide_leap(&mut self) {
        let (visual, offsets) = self.session.visual_state(self.now, (&self.rules.schema, self.config));
        offsets.land(&visual);
        offsets.keep();
    }

    /// After a sleep: starts again from the newest snapshot, without simulating what it slept through. Waits for one that
    /// fits to how far the clock has gone on: others may have come before the sleep, or during it. When none comes soon
    /// the clock is what has not gone on as the server's has.
    fn wake(&mut self, world: &mut W) -> u32 {
        let session = &mut *self.session;
        let waited = self.now.since(*session.resyncing.get_or_insert(self.now));
        let compared = session.reconciler.compared();
        let newest = session.snapshots.newest().map(|snapshot| snapshot.tick);
        let Some(tick) = newest.filter(|tick| *tick > compared) else { return 0 };
        let until = session.pacing.at().tick().next();
        let fits = session.fits(tick, until, self.config.limits(self.rules.tick_rate).most);
        if !fits && waited < CLOCK_TRUSTED {
            return 0;
        }
        self.capture();
        let until = if fits { until } else { self.session.place_anew(tick) };
        self.resync(world, tick, until)
    }
}

impl<W: World> Session<W> {
    /// How many ticks have begun and are not simulated.
    pub(super) fn due(&self) -> u32 {
        self.pacing.at().tick().next().since(self.timeline.present())
    }

    /// Up to which of the ticks from `tick` to `until` not every own input is known.
    pub(super) fn blind_until(&self, tick: Tick, until: Tick) -> Tick {
        let unknown = tick.until(until).rev().find(|tick| self.timeline.input(*tick).is_none());
        unknown.map_or(tick, Tick::next)
    }

    /// Sets for how many ticks inputs wait: more at once, fewer as the clock gains what they are asked for later.
    fn delay_inputs(&mut self, by: InputDelay) {
        let wanted = by.ticks(self.connection.rtt(), self.pacing.rate(), self.wanted_delay);
        self.wanted_delay = wanted;
        let missing = self.pacing.delay_inputs(wanted);
        self.input_delay = wanted.max(self.input_delay.min(wanted + missing));
    }

    fn run_tick(&mut self, now: Instant, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input, schema: &Schema) {
        let tick = self.timeline.present();
        self.authority.run(tick);
        let presented = self.write_proxies(now, schema);
        let until = (tick + self.input_delay).next();
        for asked in self.unasked.max(tick).until(until) {
            let (player, status) = (self.player, InputStatus::Received);
            let input = input(asked);
            self.timeline.give(asked, PlayerInput { player, input, status, presented });
            self.pacing.note_tick(asked);
        }
        self.unasked = self.unasked.max(until);
        self.timeline.advance(world, &self.proxies);
        self.effects.note_run(tick, self.timeline.effects(tick));
    }

    /// The rows of other entities at the playout cursor, and the names of those that are gone. Returns where the cursor
    /// stands, when there are any.
    fn write_proxies(&mut self, now: Instant, schema: &Schema) -> Option<TickTime> {
        let points = self.playout.points_at(now)?;
        let remote = RemoteWindow::new(&self.snapshots, points, self.timeline.rate())?;
        self.proxies.settle();
        let may_rest = self.authority.is_empty() && !self.curves.any_leads();
        let mut count = 0;
        for component in schema.ids() {
            let about = (component, schema.component(component));
            let may_rest = may_rest && remote.is_aligned(component);
            let (mut next, mut nexts, mut start) = (0, [0; 4], 0);
            while start < remote.rows().count_rows(component) {
                let end = (start + RESTING_ROWS).min(remote.rows().count_rows(component));
                if may_rest && remote.rest(about, start..end, (&self.proxies, next)) {
                    (next, count) = (next + end - start, count + end - start);
                    nexts = [end; 4];
                } else {
                    let rows = (start..end).map(|nth| remote.rows().nth_of(component, nth));
                    for row in rows.filter(|row| !self.timeline.predicted().contains(row.owned())) {
                        let mut into: RowBuffer = [0; ROW_WORDS_MAX];
                        let how = (self.curves.of(row.entity), &self.followers);
                        remote.draw(about.1, (row, &remote.window(row, &mut nexts)), how, &mut into);
                        self.authority.put_captured(about.1, row.key(), &mut into);
                        self.proxies.set_near(Row { words: &into[..row.words.len()], ..row }, &mut next);
                        count += 1;
                    }
                }
                start = end;
            }
        }
        if self.proxies.len() > count {
            self.proxies.retain(|key, _| remote.has(key));
        }
        (!self.proxies.is_empty()).then_some(points.cursor)
    }

    /// Whether a clock that has come to `until` may have got the state of `tick` now: it is ahead of it by no more than a
    /// round trip and the largest slack, and what is slept through at once.
    fn fits(&self, tick: Tick, until: Tick, most_micros: i64) -> bool {
        let most = self.connection.rtt_of_late() + Duration::from_micros(most_micros.unsigned_abs()) + CATCH_UP;
        (tick..=tick + self.pacing.rate().ticks_in(most)).contains(&until)
    }

    /// The clock is to stand at `at` from now on, as it and the server's have not gone on alike.
    fn restart_clock(&mut self, at: TickTime) {
        self.pacing.restart(at);
        self.server_rate.note_clock_set();
    }

    /// Sets the clock a round trip and two ticks ahead of `tick`, as at a start, and forgets what was known of the way.
    fn place_anew(&mut self, tick: Tick) -> Tick {
        let until = tick + self.pacing.rate().ticks_in(self.connection.rtt_of_late()) + 2;
        self.restart_clock(TickTime::start_of(until) - TickTime::from_millionths(1));
        self.connection.begin_anew();
        self.unasked = until;
        until
    }

    /// Up to where a state older than the horizon is simulated: the present. But a client that is ahead by far more than
    /// a round trip, because the server stood still, goes back to where it would start: the server has refused its inputs
    /// anyway.
    pub(super) fn replay_until(&mut self, tick: Tick) -> Tick {
        let present = self.timeline.present();
        let rtt = self.pacing.rate().ticks_in(self.connection.rtt());
        if present.since(tick) <= 2 * self.timeline.horizon() + 2 * rtt {
            return present;
        }
        self.place_anew(tick)
    }

    /// How far the clock leads the server's, in ticks, as estimated from the newest snapshot and half a round trip.
    pub(super) fn lead_ticks(&self, now: Instant) -> f64 {
        let Some(newest) = self.snapshots.newest() else { return 0.0 };
        let rate = f64::from(self.pacing.rate().get());
        let on_the_way = now.since(newest.came).as_secs_f64() + self.connection.rtt_min().as_secs_f64() / 2.0;
        (self.pacing.at_instant(now) - newest.sent).as_ticks() - on_the_way * rate
    }
}
