//! One update of a running session: clock, reconciliation, new ticks, datagrams.

use super::playout::Playout;
use super::shown::RowBuffer;
use super::view::proxy_row;
use super::{ClientConfig, ClientEvent, ClientStats, Corrected, Session, is_paced};
use crate::rollback::{INPUTS_KEPT, InputStatus, PlayerInput, ROW_WORDS_MAX, Schema, World};
use crate::session::{Outbox, Rules};
use crate::time::{Instant, Tick, TickTime};
use core::time::Duration;

/// A client that is further behind its own clock than this starts again from a snapshot instead of simulating what it
/// slept through.
const CATCH_UP: Duration = Duration::from_millis(500);
/// Without a snapshot for so long, the clock is not steered any more.
const COAST_AFTER: Duration = Duration::from_millis(500);

/// What an update ran.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Done {
    pub ticks: u32,
    pub resimulated: u32,
}

/// One update of a running session, with everything that it may touch.
pub(super) struct Turn<'a, W: World> {
    pub now: Instant,
    pub session: &'a mut Session<W>,
    pub config: &'a ClientConfig,
    pub rules: &'a Rules,
    pub input_widths: &'a [u8],
    pub stats: &'a mut ClientStats,
    pub corrections: &'a mut Vec<Corrected>,
    pub events: &'a mut Vec<ClientEvent>,
}

impl<W: World> Turn<'_, W> {
    pub(super) fn play(&mut self, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input, outbox: &mut Outbox) -> Done {
        self.session.pacing.advance(self.now);
        self.session.playout.advance(self.now);
        if self.now.since(self.session.connection.last_snapshot()) > COAST_AFTER {
            self.session.pacing.coast();
        }
        self.confirm();
        let asleep = self.session.due() > self.rules.tick_rate.ticks_in(CATCH_UP).max(1);
        let replayed = if asleep || self.session.resyncing { self.wake(world) } else { 0 };
        let resimulated = replayed + self.reconcile(world);
        self.session.note_predicted(&self.rules.schema, self.events);
        let mut ticks = 0;
        while self.session.due() > 0 {
            self.session.run_tick(self.now, world, input, &self.rules.schema);
            self.session.note_predicted(&self.rules.schema, self.events);
            ticks += 1;
        }
        self.session.timeline.seek_present(world);
        self.tell();
        self.send(outbox);
        Done { ticks, resimulated }
    }

    /// After a sleep: starts again from the newest snapshot. Without one that is newer than what was compared, the
    /// clock goes back to the present, and the client waits for it. Where the server waits for inputs nothing was
    /// missed.
    fn wake(&mut self, world: &mut W) -> u32 {
        let until = self.session.pacing.at().tick().next();
        let compared = self.session.reconciler.compared();
        let newest = self.session.snapshots.newest().map(|snapshot| snapshot.tick);
        let fresh = newest.filter(|tick| *tick > compared && until.since(*tick) < INPUTS_KEPT);
        if let Some(tick) = fresh.filter(|_| is_paced(self.rules)) {
            self.capture();
            return self.resync(world, tick, until.max(tick));
        }
        self.session.resyncing = is_paced(self.rules);
        self.session.pacing.jump(TickTime::start_of(self.session.timeline.present()));
        0
    }
}

impl<W: World> Session<W> {
    /// How many ticks have begun and are not simulated.
    pub(super) fn due(&self) -> u32 {
        self.pacing.at().tick().next().since(self.timeline.present())
    }

    fn run_tick(&mut self, now: Instant, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input, schema: &Schema) {
        let tick = self.timeline.present();
        let presented = self.write_proxies(now, schema);
        let status = InputStatus::Received;
        let input = PlayerInput { player: self.player, input: input(tick), status, presented };
        self.pacing.note_tick(tick);
        self.timeline.advance(world, input, &self.proxies);
        self.effects.note_run(tick, self.timeline.effects(tick));
    }

    /// The rows of other entities at the playout cursor, and the names of those that are gone. Returns where the cursor
    /// stands, when there are any.
    fn write_proxies(&mut self, now: Instant, schema: &Schema) -> Option<TickTime> {
        let at = self.playout.at_instant(now)?;
        let (Some(before), after) = Playout::around(&self.snapshots, at) else { return None };
        let player = self.player;
        self.proxies.settle();
        self.proxies.retain(|entity| before.rows.words(entity).is_some());
        let mut row: RowBuffer = [0; ROW_WORDS_MAX];
        for (entity, words) in before.rows.iter().filter(|(entity, _)| entity.player() != player) {
            let kind = schema.kind(entity.kind());
            proxy_row(
                kind,
                (before.tick, words),
                after.and_then(|after| Some((after.tick, after.rows.words(entity)?))),
                (at, self.pacing.rate()),
                &mut row,
            );
            self.proxies.set_words(entity, &row[..words.len()]);
        }
        (!self.proxies.is_empty()).then_some(at)
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
        let until = tick + rtt + 2;
        self.pacing.jump(TickTime::start_of(until) - TickTime::from_millionths(1));
        self.connection.sent_input = None;
        until
    }

    /// How far the clock leads the server's, in ticks, as estimated from the newest snapshot and half a round trip.
    pub(super) fn lead_ticks(&self, now: Instant) -> f64 {
        let Some(newest) = self.snapshots.newest() else { return 0.0 };
        let rate = f64::from(self.pacing.rate().get());
        let on_the_way = now.since(newest.came).as_secs_f64() + self.connection.rtt_min().as_secs_f64() / 2.0;
        (self.pacing.at_instant(now) - newest.sent).as_ticks() - on_the_way * rate
    }
}
