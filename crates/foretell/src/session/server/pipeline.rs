//! The parts of a server, and the order in which a datagram, an update and a step go through them.

use super::admission::{Capacity, Member, Roster};
use super::authoritative_state::AuthoritativeState;
use super::authority::{AuthorityArbiter, Sender};
use super::config::{ServerConfig, Settings};
use super::exact_sessions::{ExactSession, Lead};
use super::hit_receipts::receipt;
use super::host_player::{LocalInput, LocalStep};
use super::inputs::{InputDatagramReader, OfferedInput};
use super::message_router::MessageRouter;
use super::peer::Peer;
use super::replication::{InterestSettings, StepReport};
use super::roster_dispatch::RosterDispatch;
use super::simulation::{DueStep, Simulation};
use super::state_sender::{SendRound, StateSender};
use super::stats::ServerTotals;
use super::tick_schedule::TickSchedule;
use super::update_log::UpdateLog;
use super::update_report::{LateInput, ServerEvent};
use super::view_age::{RewindLimits, ViewSample};
use crate::session::datagram::DatagramKind;
use crate::session::{Offence, Outbox, PeerId, Refusal};
use crate::time::{Instant, Tick, TickTime};
use crate::wire::{BitReader, Malformed};
use crate::world::{Input, PastState, PlayerId, RewindSource, World};
use alloc::vec::Vec;
use core::time::Duration;

/// Whoever is silent for less is not lost.
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
/// Round trips count of those who were heard of so lately.
const HEARD_OF_LATE: Duration = Duration::from_secs(1);

/// All that a server consists of, but for who looks on.
pub(super) struct Pipeline<I> {
    pub settings: Settings,
    pub schedule: TickSchedule,
    /// Who is here, and what is known of each.
    pub roster: Roster<Peer<I>>,
    /// The datagram that is being read.
    datagram: InputDatagramReader<I>,
    simulation: Simulation<I>,
    pub state: AuthoritativeState,
    pub authority: AuthorityArbiter,
    exact: ExactSession,
    state_sender: StateSender<I>,
    pub log: UpdateLog,
    /// With the inputs of those who have left.
    totals: ServerTotals,
}

impl<I: Input> Pipeline<I> {
    pub fn new(settings: Settings, epoch: u8, now: Instant) -> Pipeline<I> {
        let Settings { rules, .. } = &settings;
        let rule_parts = rules.parts_with::<I>().into_iter().map(|(_, hash)| hash).collect();
        Pipeline {
            schedule: TickSchedule::new(rules.tick_rate, now),
            roster: Roster::new(epoch, rule_parts),
            datagram: InputDatagramReader::new(&rules.schema),
            simulation: Simulation::new(),
            state: AuthoritativeState::new(&rules.schema),
            authority: AuthorityArbiter::new(&rules.schema, rules.tick_rate),
            exact: ExactSession::new(rules),
            state_sender: StateSender::new(rules),
            log: UpdateLog::with_room(),
            totals: ServerTotals::default(),
            settings,
        }
    }

    /// Takes in a datagram.
    pub fn receive(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        let now = self.schedule.note_arrival(now);
        let result = self.read(now, peer, datagram);
        self.follow_roster();
        self.totals.malformed += u64::from(result.is_err());
        result
    }

    /// Admits who is at `peer`, or sits at the server, without a handshake; `None` where there is no place left.
    pub fn join(&mut self, peer: Option<PeerId>, data: Vec<u8>) -> Option<PlayerId> {
        let (capacity, next) = (self.capacity(), self.schedule.next());
        let player = self.roster.join(peer, data, &capacity, Peer::new(next, &self.settings.rules.messages));
        self.follow_roster();
        player
    }

    /// Changes who is here, and tells all parts of it.
    pub fn change_roster<T>(&mut self, change: impl FnOnce(&mut Roster<Peer<I>>) -> T) -> T {
        let result = change(&mut self.roster);
        self.follow_roster();
        result
    }

    /// Goes on to `now`. Returns that without the steps back of the caller's clock.
    pub fn begin_update(&mut self, now: Instant) -> Instant {
        let now = self.schedule.note(now);
        self.log.begin();
        self.schedule.advance(now);
        now
    }

    /// Who has been silent for too long is lost, and who was lost for too long has left.
    pub fn notice_silence(&mut self, now: Instant) {
        let ServerConfig { timeout, keep_lost, .. } = self.settings.config;
        self.change_roster(|roster| roster.notice_silence(now, timeout.max(TIMEOUT_MIN), keep_lost));
    }

    /// Answers the hellos that have come since the last update.
    pub fn answer_hellos(&mut self, now: Instant, outbox: &mut Outbox) {
        self.roster.answer_hellos(self.schedule.at(now), outbox);
    }

    /// The server stood still: the oldest of too many ticks will never be simulated. What came of late says nothing of the
    /// way that it took.
    pub fn skip_behind(&mut self) {
        let skipped = self.schedule.skip_behind();
        if skipped == 0 {
            return;
        }
        let first = self.schedule.next();
        self.log.note_own(ServerEvent::SkippedTicks(skipped));
        self.exact.note_unforeseen(first.next());
        for Member { peer, .. } in self.roster.joined_mut() {
            peer.skip_to(first);
            peer.arrivals.forget();
        }
    }

    /// Takes the input of `tick`, the next one, of a player who sits at the server.
    pub fn take_local(&mut self, player: PlayerId, tick: Tick, LocalInput { input, presented }: LocalInput<I>) {
        let is_finite = self.datagram.is_finite(&input);
        if let Some(Member { peer, .. }) = self.roster.member_mut(player) {
            peer.offer(&OfferedInput { tick, input, presented, is_finite });
        }
    }

    /// What a step that is over has brought about, as a player who sits at the server may see it.
    pub fn local_step<'a>(&'a self, world: &'a impl World, player: PlayerId) -> LocalStep<'a> {
        let Pipeline { settings, schedule, state, authority, simulation, .. } = self;
        let interest_settings = InterestSettings::new(settings, world.interest_rules());
        let (tick, output) = (schedule.next(), simulation.output());
        LocalStep { player, tick, state, authority, interest_settings, output }
    }

    /// Lets those join who ask to, where the game does: it is asked with the world as the next step finds it.
    pub fn admit(&mut self, world: &impl World, outbox: &mut Outbox) {
        let capacity = self.capacity();
        self.change_roster(|roster| roster.admit_asking(&capacity, |newcomer| world.admit(newcomer), outbox));
    }

    /// Takes every player's input of `tick`, the next one. In an exact session, announces a canonical tick when somebody
    /// waits for one.
    pub fn gather_inputs(&mut self, tick: Tick) {
        let past = self.settings.past();
        let here = self.roster.joined().find(|member| member.place.is_local());
        self.state.begin_step(tick, past, here.map(|member| member.player));
        let oldest = self.state.past().oldest();
        let terms = RewindLimits { tick, sent: past.sent, cap_ticks: past.ticks, oldest };
        if self.simulation.gather(&mut self.roster, self.settings.config.gap, &terms) {
            self.exact.note_unforeseen(tick.next());
        }
        let lead = |member: &Member<Peer<I>>| {
            let Member { player, peer, .. } = member;
            let round_trip = peer.acks.acknowledged().map(|known| tick.since(known));
            let ahead = peer.buffer.newest().map_or(0, |newest| newest.since(tick));
            let is_heard = self.roster.silence(member) < HEARD_OF_LATE;
            Lead { player: *player, ticks: round_trip.map(|round_trip| round_trip + ahead).filter(|_| is_heard) }
        };
        let here = self.roster.joined().filter(|member| !member.place.is_lost());
        self.exact.plan(tick, self.settings.snapshot_interval_ticks(), here.map(lead));
    }

    /// Takes in what has changed in the world.
    pub fn publish(&mut self, world: &mut impl World) {
        self.state.publish(world);
    }

    /// Steps the world through `tick`, the next one. What has been published and not settled was changed outside of steps.
    pub fn step(&mut self, world: &mut impl World<Input = I>, tick: Tick) {
        self.settle_changes_outside(tick);
        self.adopt_held(world, tick);
        let Pipeline { settings, roster, simulation, authority, exact, state, .. } = self;
        let (rate, present) = (settings.rules.tick_rate, PastState::new(state.rows(), state.schema()));
        let past: &dyn RewindSource = if settings.past().ticks > 0 { state.past() } else { &present };
        simulation.step(world, DueStep { tick, rate, past }, |step| {
            let join_leave_log = roster.join_leave_log();
            let step = step.with_players(join_leave_log.joined(), join_leave_log.left()).holding(authority.entities());
            step.on_canonical(exact.is_canonical(tick))
        });
        state.publish(world);
        let output = simulation.output();
        let interest_settings = InterestSettings::new(settings, world.interest_rules());
        let report = StepReport { tick, output, state, interest_settings };
        for Member { player, peer, .. } in roster.joined_mut().filter(|member| !member.place.is_local()) {
            peer.replica.note_step(*player, peer.acks.acknowledged(), report);
        }
        for hit in &output.hits {
            let receipt = receipt(hit, tick, rate, roster);
            MessageRouter { settings, roster, log: &mut self.log, next: tick }.tell_receipt(&receipt, report);
            self.totals.hits.note(&receipt);
            self.log.note_receipt(receipt);
        }
        state.settle(tick.next());
        state.note_contacts(tick, &output.contacts);
        if roster.settle_join_leave_log() {
            exact.note_unforeseen(tick.next());
        }
        self.log.note_step();
        self.schedule.finish_tick();
        self.exact.note_state(tick.next(), &self.state, self.settings.is_sent(tick.next()));
    }

    /// Sends messages, and the published state of `world`, if it is one that is sent.
    pub fn send(&mut self, now: Instant, world: &impl World, outbox: &mut Outbox) {
        let Pipeline { settings, schedule, roster, state, authority, exact, state_sender, log, .. } = self;
        state_sender.send_all(SendRound {
            now,
            settings,
            schedule,
            state,
            authority,
            exact,
            interest_settings: InterestSettings::new(settings, world.interest_rules()),
            roster,
            log,
            outbox,
        });
        if self.settings.is_sent(self.schedule.next()) {
            self.turn_away(self.schedule.next());
        }
    }

    /// The messages of all players.
    pub fn messages(&mut self) -> MessageRouter<'_, I> {
        let Pipeline { settings, roster, log, schedule, .. } = self;
        MessageRouter { settings, roster, log, next: schedule.next() }
    }

    /// The update is over.
    pub fn finish_update(&mut self) {
        self.log.finish();
    }

    /// With the inputs of those who are here.
    pub fn totals(&self) -> ServerTotals {
        let mut totals = self.totals;
        self.roster.members().iter().for_each(|member| totals.inputs.add(&member.peer.counters));
        totals
    }

    /// How much is kept of what has come and is not done with.
    pub fn kept(&self) -> usize {
        let of_peer = |peer: &Peer<I>| peer.buffer.kept() + peer.step_messages.kept() + peer.messages.kept();
        let of_peers: usize = self.roster.members().iter().map(|member| of_peer(&member.peer)).sum();
        of_peers + self.state.kept() + self.roster.kept() + self.log.kept()
    }

    /// How many may be admitted now.
    fn capacity(&self) -> Capacity {
        let ServerConfig { players_max, spectators_max, draining, .. } = self.settings.config;
        let too_large = self.exact.is_too_large(self.state.rows().len()).then_some(Refusal::TooLarge);
        let closed = draining.then_some(Refusal::Draining).or(too_large);
        Capacity { players_max: usize::from(players_max), spectators_max: usize::from(spectators_max), closed }
    }

    fn read(&mut self, now: Instant, peer: PeerId, datagram: &[u8]) -> Result<(), Malformed> {
        let mut reader = BitReader::new(datagram);
        let (capacity, next) = (self.capacity(), self.schedule.next());
        match DatagramKind::read(&mut reader)? {
            DatagramKind::Hello => {
                self.roster.read_hello(peer, reader, &capacity, || Peer::new(next, &self.settings.rules.messages))
            }
            DatagramKind::Messages => self.messages().receive(now, peer, reader),
            DatagramKind::Inputs => self.read_inputs(now, peer, reader),
            DatagramKind::Leave => self.roster.read_leave(peer, reader),
            _ => Err(Malformed::OutOfRange("message")),
        }
    }

    /// Takes in a datagram of inputs, if who sends it has a place. Nothing is simulated here.
    fn read_inputs(&mut self, now: Instant, address: PeerId, mut reader: BitReader<'_>) -> Result<(), Malformed> {
        let ticket = self.datagram.read_header(&mut reader)?;
        let Some(player) = self.roster.speaker(address, ticket) else { return Ok(()) };
        let Some(Member { peer, .. }) = self.roster.member_mut(player) else { return Ok(()) };
        // While the server stands still its clock goes on, and the ticks that the next update is going to skip take no room
        // from the inputs of those that it will simulate.
        peer.skip_to(self.schedule.first_kept(now));
        let anchor = peer.buffer.next();
        self.datagram.read(reader, anchor, &self.settings.rules.messages)?;
        let is_newer = peer.acks.note(self.datagram.sequence(), now);
        if is_newer {
            let is_player = !peer.spectates();
            peer.replica.want_exact(self.datagram.exact_within_m().filter(|_| is_player));
            peer.replica.name_baseline(self.datagram.snapshot());
            if let Some(received) = self.datagram.received()
                && let Some(sent) = peer.replica.note_received(received, now)
            {
                peer.messages.note_reached(sent);
            }
        }
        if let Some(known) = self.datagram.snapshot() {
            peer.acknowledge(known);
        }
        // A late copy does not bring back who is lost.
        self.roster.note_played(player, is_newer || self.datagram.newest() >= anchor);
        self.follow_roster();
        self.take_inputs(now, player, is_newer);
        Ok(())
    }

    /// Takes over what the datagram says of inputs and entities; `is_newer` if it was sent after all that came before.
    fn take_inputs(&mut self, now: Instant, player: PlayerId, is_newer: bool) {
        let Pipeline { settings, schedule, roster, datagram, state, authority, exact, log, .. } = self;
        let Some(Member { peer, place, .. }) = roster.member_mut(player) else { return };
        let (next, newest) = (schedule.next(), datagram.newest());
        peer.counters.stats.datagrams_received += 1;
        if !place.is_lost() {
            peer.counters.note_heard();
        }
        if is_newer {
            exact.note_agreement(player, peer.acks.acknowledged(), datagram.disagrees(next));
        }
        if peer.spectates() {
            let is_honest = datagram.is_of_spectator();
            peer.counters.stats.offences.note_times(Offence::Spectator, u64::from(!is_honest));
            return;
        }
        if is_newer {
            let at = schedule.at(now);
            peer.arrivals.note(newest, TickTime::start_of(newest) - at);
            if let Some(state) = peer.acks.acknowledged() {
                let presented = datagram.inputs().last().and_then(|input| input.presented);
                let sequence = datagram.sequence();
                peer.view_age.note(ViewSample { sequence, newest, presented, state, at, now });
            }
        }
        for offered in datagram.inputs() {
            if peer.offer(offered) {
                log.note_late(LateInput { player, tick: offered.tick, by: schedule.lateness(offered.tick, now) });
            }
        }
        let refused = peer.step_messages.take(player, datagram.messages(), &settings.rules.messages, next);
        let offences = &mut peer.counters.stats.offences;
        offences.note_times(Offence::Message, refused);
        // As for inputs, what the next update is going to skip takes no room.
        let (next, held_max) = (schedule.first_kept(now), settings.held_max());
        let knows = |entity| peer.replica.knows(entity, state);
        let mut sender = Sender { player, offences, now, newest, next, held_max, knows: &knows };
        authority.receive(&mut sender, datagram.shared(), state, log);
    }

    /// Tells all parts who has come, gone and moved.
    fn follow_roster(&mut self) {
        let Pipeline { settings, schedule, roster, exact, authority, totals, log, .. } = self;
        let (messages, next) = (&settings.rules.messages, schedule.next());
        RosterDispatch { messages, next, roster, exact, authority, totals, log }.notify();
    }

    /// What has changed since the last step was changed by the server itself (DESIGN: causes).
    fn settle_changes_outside(&mut self, tick: Tick) {
        let Pipeline { state, roster, .. } = self;
        let has_changed = state.settle_changes_outside(tick, |owner, event| {
            if let Some(Member { peer, .. }) = roster.member_mut(owner) {
                peer.replica.note_event(event);
            }
        });
        if has_changed {
            self.exact.note_unforeseen(tick.next());
        }
    }

    /// Takes what clients have captured of what they hold into the world, and back what they hold no more.
    fn adopt_held(&mut self, world: &mut impl World, tick: Tick) {
        let Pipeline { roster, state, authority, log, .. } = self;
        if let Some(rows) = authority.advance(tick, state, roster, log) {
            world.adopt(rows);
            state.publish(world);
            state.settle(tick.next());
        }
    }

    /// Turns away who can't be told anything, as it is too large: at once who has no state, and who plays when that has lasted
    /// for as long as a silence may.
    fn turn_away(&mut self, tick: Tick) {
        let Settings { rules, config } = &self.settings;
        let patience_ticks = rules.tick_rate.ticks_in(config.timeout.max(TIMEOUT_MIN));
        for index in (0..self.roster.members().len()).rev() {
            let &Member { player, ref peer, ref place } = &self.roster.members()[index];
            let known = peer.acks.acknowledged();
            let is_over = |since: Tick| known.is_none() || tick.since(since) >= patience_ticks;
            if !place.is_lost() && peer.replica.untold_since().is_some_and(is_over) {
                self.exact.note_too_large(player, known);
                self.roster.turn_away(player, Refusal::TooLarge);
            }
        }
        self.follow_roster();
    }
}
