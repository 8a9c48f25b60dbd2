//! Steps: by the server's own clock, or by arriving inputs.

use super::{CATCH_UP_TICKS_MAX, Server, ServerEvent};
use crate::rollback::{InputStatus, PlayerId, Side, Step, World};
use crate::session::{GapPolicy, Outbox, Stepping};
use crate::time::{Instant, Tick};

impl<W: World> Server<W> {
    /// One step for every tick that has begun; behind by too many, the oldest are skipped.
    pub(super) fn step_by_clock(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) {
        let end = self.clock.at().tick().next();
        let first = end.back(CATCH_UP_TICKS_MAX).unwrap_or(Tick::ZERO);
        if first > self.next {
            self.skip_to(first);
        }
        while self.next < end {
            self.gather_inputs();
            if self.rules.exact {
                self.plan_canonical();
            }
            self.step(world, self.next, None);
            self.next = self.next.next();
            if self.rules.exact {
                self.keep_image(self.next);
            }
            if self.next.get().is_multiple_of(self.config.snapshot_interval.max(1)) {
                for index in 0..self.peers.len() {
                    self.send_state(now, index, self.next, outbox);
                }
            }
        }
    }

    /// The server stood still: the ticks before `first` will never be simulated. What came of late says nothing of the way
    /// that it took.
    fn skip_to(&mut self, first: Tick) {
        self.frame.events.push(ServerEvent::SkippedTicks(first.since(self.next)));
        self.next = first;
        for peer in &mut self.peers {
            peer.skip_to(first);
            peer.forget_arrivals();
        }
    }

    /// Every player's input of the next tick, ascending by player.
    fn gather_inputs(&mut self) {
        self.inputs.clear();
        for peer in &mut self.peers {
            let tick = peer.buffer.next();
            let taken = peer.buffer.take(peer.player, self.config.gap);
            if taken.is_some_and(|input| input.status == InputStatus::Received) {
                peer.stats.inputs_applied += 1;
            } else if peer.buffer.expects(tick) {
                peer.note_missed(1);
            }
            self.inputs.extend(taken);
        }
    }

    /// The article's server (R8, R18): for each player every input that has come, and what the gap policy makes of the
    /// missing ones before it, one step each.
    pub(super) fn step_by_arrivals(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) {
        for index in 0..self.peers.len() {
            while self.peers[index].buffer.next() < self.peers[index].planned {
                let tick = self.peers[index].buffer.next();
                let player = self.peers[index].player;
                let taken = self.peers[index].buffer.take(player, self.config.gap);
                let received = taken.is_some_and(|input| input.status == InputStatus::Received);
                self.peers[index].stats.inputs_applied += u64::from(received);
                if taken.is_none() && self.config.gap == GapPolicy::Skip {
                    continue;
                }
                self.inputs.clear();
                self.inputs.extend(taken);
                self.step(world, tick, Some(player));
                self.next = self.next.next();
                self.peers[index].steps += 1;
                if self.peers[index].steps.is_multiple_of(self.config.snapshot_interval.max(1)) {
                    self.send_snapshot(now, index, tick.next(), outbox);
                }
            }
        }
    }

    /// `stepped` is the one player whose input steps the world, where inputs do.
    fn step(&mut self, world: &mut W, tick: Tick, stepped: Option<PlayerId>) {
        self.note_changes_outside_of_steps(world, tick);
        self.adopt_held(world, tick);
        let said = core::mem::take(&mut self.said);
        let step = Step::new(tick, self.rules.tick_rate, Side::Server, &self.inputs).saying(said);
        let step = step.with_players(&self.joined, &self.left).telling(&self.contacts_of_step);
        let step = step.holding(self.holds.entities()).on_canonical(self.exact.is_canonical(tick));
        world.step(&step);
        let said = step.into_said();
        self.said = said;
        if self.rules.stepping == Stepping::Clock {
            self.note_contacts(tick);
        }
        world.publish(&mut self.published);
        self.spread_news(tick, stepped);
        self.settle();
        self.changes.note_touched(&self.met, self.next.next());
        if self.rules.exact && !(self.joined.is_empty() && self.left.is_empty()) {
            self.owe_all(tick.next());
        }
        self.joined.clear();
        self.left.clear();
        self.frame.steps += 1;
    }
}
