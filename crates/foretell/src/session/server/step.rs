//! Steps, by the server's own clock.

use super::{CATCH_UP_TICKS_MAX, Server, ServerEvent};
use crate::session::Outbox;
use crate::time::{Instant, Tick};
use crate::world::{InputStatus, Side, Step, World};

impl<W: World> Server<W> {
    /// One step for every tick that has begun; behind by too many, the oldest are skipped.
    pub(super) fn run_steps(&mut self, now: Instant, world: &mut W, outbox: &mut Outbox) {
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
            self.step(world, self.next);
            self.next = self.next.next();
            if self.rules.exact {
                self.keep_image(self.next);
            }
            if self.next.get().is_multiple_of(self.config.snapshot_interval.max(1)) {
                for index in 0..self.peers.len() {
                    self.send_state(now, index, self.next, outbox);
                }
                if self.rules.exact && self.exact.is_too_large(self.published.len()) {
                    self.turn_away();
                }
            }
        }
    }

    /// The server stood still: the ticks before `first` will never be simulated. What came of late says nothing of the way
    /// that it took.
    fn skip_to(&mut self, first: Tick) {
        self.frame.events.push(ServerEvent::SkippedTicks(first.since(self.next)));
        self.next = first;
        if self.rules.exact {
            self.note_unforeseen(first.next());
        }
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

    fn step(&mut self, world: &mut W, tick: Tick) {
        self.note_changes_outside_of_steps(world, tick);
        self.adopt_held(world, tick);
        let output = core::mem::take(&mut self.output);
        let step = Step::new(tick, self.rules.tick_rate, Side::Server, &self.inputs).with_output(output);
        let step = step.with_players(&self.joined, &self.left).holding(self.authority.entities());
        let mut step = step.on_canonical(self.exact.is_canonical(tick));
        world.step(&mut step);
        self.output = step.into_output();
        self.note_contacts(tick);
        world.publish(&mut self.published);
        self.spread_news(tick);
        self.settle();
        self.row_versions.note_touched(&self.output.contacts, self.next.next());
        if self.rules.exact && !(self.joined.is_empty() && self.left.is_empty()) {
            self.note_unforeseen(tick.next());
        }
        self.joined.clear();
        self.left.clear();
        self.frame.steps += 1;
    }
}
