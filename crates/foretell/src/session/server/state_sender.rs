//! What goes out after a step: to each player messages, and with a state a header of what they alone are told, the inputs of others,
//! and the rows.

use super::admission::{Member, Roster};
use super::authoritative_state::AuthoritativeState;
use super::authority::AuthorityArbiter;
use super::config::Settings;
use super::exact_sessions::ExactSession;
use super::input_relay::{BITS_MAX_BESIDE_DIGEST, BITS_MAX_BESIDE_ROWS, InputRelay, RelayTerms};
use super::peer::Peer;
use super::replication::{Form, InterestSettings, Receiver, Replication, SnapshotSource};
use super::tick_schedule::TickSchedule;
use super::update_log::UpdateLog;
use super::update_report::ServerEvent;
use crate::session::messages::Sending;
use crate::session::send_allowance::Budget;
use crate::session::snapshot_header::{SnapshotHeader, SnapshotTiming};
use crate::session::{Outbox, Rules};
use crate::time::{Instant, Tick};
use crate::world::{Input, PlayerId};

/// What is sent after one step is made from, and where it goes.
pub(super) struct SendRound<'a, I> {
    pub now: Instant,
    pub settings: &'a Settings,
    pub schedule: &'a TickSchedule,
    pub state: &'a AuthoritativeState,
    pub authority: &'a AuthorityArbiter,
    pub exact: &'a mut ExactSession,
    pub interest_settings: InterestSettings<'a>,
    pub roster: &'a mut Roster<Peer<I>>,
    pub log: &'a mut UpdateLog,
    pub outbox: &'a mut Outbox,
}

/// Sends states. Its memory is used again.
pub(super) struct StateSender<I> {
    header: SnapshotHeader,
    relay: InputRelay<I>,
    replication: Replication,
}

impl<I: Input> StateSender<I> {
    pub fn new(rules: &Rules) -> StateSender<I> {
        let replication = Replication::new(&rules.schema, rules.tick_rate);
        StateSender { header: SnapshotHeader::default(), relay: InputRelay::new(), replication }
    }

    /// Sends messages to everybody who is here, and the published state, if it is one that is sent; in an exact session its digest, where that is enough, and the last
    /// canonical state, where it is owed.
    pub fn send_all(&mut self, mut round: SendRound<'_, I>) {
        let tick = round.schedule.next();
        let is_sent = round.settings.is_sent(tick);
        // The states of all ticks that are stepped at once share what may be sent; messages get what the last has left.
        let goes_on = round.schedule.due().is_some();
        for index in 0..round.roster.members().len() {
            let Member { player, place, peer } = &round.roster.members()[index];
            if place.is_lost() || place.is_local() || !place.has_joined() {
                continue;
            }
            let (player, known) = (*player, peer.acks.acknowledged());
            if is_sent {
                allow(&mut round, index);
            }
            send_messages(&mut round, index, is_sent || goes_on);
            if !is_sent {
                continue;
            }
            if let Some(image) = round.exact.image_for(player, known, tick) {
                self.send(&mut round, index, image, Form::Image);
                if round.roster.members()[index].peer.replica.untold_since().is_none() {
                    round.exact.note_told(player);
                }
            }
            if let Some(form) = round.exact.form_for(player, known, tick) {
                self.send(&mut round, index, tick, form);
            }
            // What the state has left.
            send_messages(&mut round, index, goes_on);
        }
    }

    /// Sends the state `tick` to one player.
    fn send(&mut self, round: &mut SendRound<'_, I>, index: usize, tick: Tick, form: Form) {
        if !round.roster.members_mut()[index].peer.acks.may_send() {
            return;
        }
        self.write_header(round, index, tick);
        let Settings { rules, .. } = round.settings;
        let rows = if form == Form::Image { round.exact.image() } else { round.state.rows() };
        let snapshot = SnapshotSource {
            tick,
            rows,
            state: round.state,
            authority: round.authority,
            form,
            interest_settings: round.interest_settings,
            rate: rules.tick_rate,
            now: round.now,
        };
        let Member { player, peer, .. } = &mut round.roster.members_mut()[index];
        self.replication.look(*player, &mut peer.replica, &snapshot);
        let relay_from = self.encode_relay(round.settings, round.roster, index, &snapshot);
        let Member { player, place, peer } = &mut round.roster.members_mut()[index];
        let Some(address) = place.address() else { return };
        let mut to = Receiver {
            player: *player,
            address,
            known: peer.acks.acknowledged().unwrap_or(Tick::ZERO),
            replica: &mut peer.replica,
            header: &mut self.header,
            relayed: relay_from.map(|_| self.relay.encoded()),
        };
        let report = self.replication.send(&mut to, &snapshot, round.outbox);
        if report.is_newly_crowded {
            round.log.note_own(ServerEvent::SnapshotTooLarge(*player));
        }
        if let Some(bytes) = report.bytes {
            peer.counters.stats.snapshots_sent += 1;
            peer.counters.stats.bytes_sent += bytes;
            peer.relay_from = relay_from.unwrap_or(peer.relay_from);
        }
    }

    /// Encodes the inputs of others, where they are told. Returns with whom to begin the next time.
    fn encode_relay(
        &mut self,
        settings: &Settings,
        roster: &Roster<Peer<I>>,
        index: usize,
        snapshot: &SnapshotSource<'_>,
    ) -> Option<PlayerId> {
        let Settings { rules, config } = settings;
        // Of a spectator nobody is predicted, and of who predicts only what is their own nobody else.
        let predicts_others = roster.members()[index].peer.replica.exact_within_m().is_some();
        let is_relayed = rules.exact || config.relay_inputs && predicts_others;
        if !is_relayed {
            return None;
        }
        let StateSender { relay, replication, .. } = self;
        let is_digest = matches!(snapshot.form, Form::Digest(_));
        let terms = RelayTerms {
            tick: snapshot.tick,
            rows: snapshot.rows,
            schema: &rules.schema,
            interval: settings.snapshot_interval_ticks(),
            bits_max: if is_digest { BITS_MAX_BESIDE_DIGEST } else { BITS_MAX_BESIDE_ROWS },
            of_others: config.relay_inputs,
            is_in_view: &|player| replication.shows_player(snapshot, player),
            is_exact: rules.exact,
        };
        Some(relay.encode(roster.members(), index, terms))
    }

    /// Everybody who is told something tells it for one player.
    fn write_header(&mut self, round: &mut SendRound<'_, I>, index: usize, tick: Tick) {
        let header = &mut self.header;
        let Member { player, place, peer } = &mut round.roster.members_mut()[index];
        let known = peer.acks.acknowledged();
        header.ticket = place.ticket();
        let heard = peer.acks.newest().map(|heard| {
            let ago = round.now.since(heard.at).as_micros() / 64;
            (heard.sequence, u16::try_from(ago).unwrap_or(u16::MAX))
        });
        header.timing = SnapshotTiming { heard, tick: tick.low16(), fraction: round.schedule.fraction_since(tick) };
        header.repeat = peer.replica.note_sending(tick);
        let inputs = &mut header.inputs;
        inputs.newest = peer.buffer.newest().map(Tick::low16);
        inputs.arrived = peer.arrivals.tell(&mut inputs.arrivals).low16();
        peer.buffer.ranges(tick, &mut inputs.substituted);
        peer.step_messages.tell(tick, &mut inputs.late_messages);
        round.authority.answers(*player, known, &mut header.answers);
        round.exact.tell(tick, known, &mut header.exact);
    }
}

/// Finds out how much may be sent to one player.
fn allow<I: Input>(round: &mut SendRound<'_, I>, index: usize) {
    let Member { peer, .. } = &mut round.roster.members_mut()[index];
    let budget = Budget { least: round.settings.config.budget_min, most: round.settings.config.budget };
    peer.replica.allow(budget, peer.messages.under_way(), round.now);
}

/// Sends what there is of messages, and may be sent now.
fn send_messages<I: Input>(round: &mut SendRound<'_, I>, index: usize, before_a_state: bool) {
    let Member { peer, place, .. } = &mut round.roster.members_mut()[index];
    let Some(address) = place.address() else { return };
    let (kinds, ticket) = (&round.settings.rules.messages, place.ticket());
    let sending = Sending { now: round.now, peer: address, ticket, kinds, before_a_state, datagrams_max: usize::MAX };
    peer.counters.stats.bytes_sent += peer.messages.send(sending, peer.replica.allowance(), round.outbox);
}
