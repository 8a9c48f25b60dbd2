//! What the server knows of one player besides their place: the way to them, their inputs, and what they were sent.

use super::admission::Roster;
use super::authority::OffencesByPlayer;
use super::inputs::{IncomingStepMessages, InputArrivals, InputBuffer, Offered, OfferedInput};
use super::peer_acks::PeerAcks;
use super::peer_messages::PeerMessages;
use super::replication::Replica;
use super::stats::PeerCounters;
use super::view_age::{RewindLimits, ViewAge};
use crate::session::{GapPolicy, Offence, Offences};
use crate::time::Tick;
use crate::world::{InputStatus, Messages, PlayerId, PlayerInput, RewindMoment, Seat};

/// One player, from admission to leaving.
pub(super) struct Peer<I> {
    pub acks: PeerAcks,
    pub buffer: InputBuffer<I>,
    pub arrivals: InputArrivals,
    pub step_messages: IncomingStepMessages,
    pub view_age: ViewAge,
    pub counters: PeerCounters,
    pub replica: Replica,
    pub messages: PeerMessages,
    /// With whom of the others the next relayed inputs begin.
    pub relay_from: PlayerId,
}

impl<I: Copy + Default> Peer<I> {
    /// One whose first input may be of the tick `start`.
    pub fn new(start: Tick, messages: &Messages) -> Peer<I> {
        Peer {
            acks: PeerAcks::default(),
            buffer: InputBuffer::new(start),
            arrivals: InputArrivals::new(),
            step_messages: IncomingStepMessages::default(),
            view_age: ViewAge::new(),
            counters: PeerCounters::default(),
            replica: Replica::new(),
            messages: PeerMessages::new(messages),
            relay_from: PlayerId::SERVER,
        }
    }

    /// The same of who is there as something else.
    pub fn seated(mut self, seat: Seat) -> Peer<I> {
        self.replica.seat = seat;
        self
    }

    /// Whether they are a spectator, of whom no input is taken, and none is missed.
    pub fn spectates(&self) -> bool {
        self.replica.seat == Seat::Spectator
    }

    /// Somebody else plays here from now on, who may have nothing of what was sent; what waits is of who was here before.
    pub fn take_over(&mut self) {
        self.acks = PeerAcks::default();
        self.buffer.forget_waiting();
        self.step_messages.forget_client();
        self.arrivals.forget();
        self.view_age = ViewAge::new();
        self.counters.note_heard();
        self.replica.forget();
    }

    /// A hello has come, from where it plays if `is_here`: who asks may have nothing to tell anything against.
    pub fn note_hello(&mut self, is_here: bool) {
        if is_here {
            self.acks.note_hello();
        }
        self.replica.name_baseline(None);
    }

    /// A datagram has said that the complete snapshot of `tick` is there.
    pub fn acknowledge(&mut self, tick: Tick) {
        if tick > self.buffer.next() {
            // It was never sent.
            return self.counters.stats.offences.note(Offence::Acknowledgement);
        }
        self.acks.acknowledge(tick);
        self.buffer.acknowledge(tick);
        self.step_messages.acknowledge(tick);
        self.replica.acknowledge(tick);
    }

    /// Stores an input, or counts what is wrong with it. Whether it has come too late.
    pub fn offer(&mut self, offered: &OfferedInput<I>) -> bool {
        let stats = &mut self.counters.stats;
        if !offered.is_finite {
            stats.offences.note(Offence::NotFinite);
            return false;
        }
        match self.buffer.offer(offered.tick, offered.input, offered.presented) {
            Offered::Known | Offered::New => {}
            Offered::Refused => stats.offences.note(Offence::Time),
            Offered::Late => {
                stats.inputs.late += 1;
                return true;
            }
        }
        false
    }

    /// The input of the next tick, or what stands in for it; `None` where there is none to be applied.
    pub fn take_input(&mut self, player: PlayerId, gap: GapPolicy) -> Option<PlayerInput<I>> {
        let tick = self.buffer.next();
        if self.spectates() {
            self.buffer.pass_to(tick.next());
            return None;
        }
        let taken = self.buffer.take(player, gap);
        if taken.is_some_and(|input| input.status == InputStatus::Received) {
            self.counters.stats.inputs.applied += 1;
        } else if self.buffer.expects(tick) {
            self.counters.note_missing(1);
        }
        taken
    }

    /// By which moment the player is judged who makes this input; counts what can't be true.
    pub fn look_back(&mut self, input: &PlayerInput<I>, terms: &RewindLimits) -> RewindMoment {
        let judged = self.view_age.judge(input.player, input.presented, terms);
        if judged.is_impossible {
            self.counters.stats.offences.note(Offence::View);
        }
        judged.rewind
    }

    /// The player is lost.
    pub fn note_lost(&mut self) {
        self.counters.note_lost();
        self.messages.note_lost();
    }

    /// The player is back in their place with inputs alone.
    pub fn note_returned(&mut self) {
        self.acks.forget_newest();
        self.arrivals.forget();
    }

    /// The ticks before `first` will never be simulated.
    pub fn skip_to(&mut self, first: Tick) {
        if self.spectates() {
            return self.buffer.pass_to(first);
        }
        let missed = self.buffer.skip_to(first);
        self.counters.note_missing(u64::from(missed));
    }
}

impl<I> OffencesByPlayer for Roster<Peer<I>> {
    fn offences_mut(&mut self, player: PlayerId) -> Option<&mut Offences> {
        let member = self.member_mut(player).filter(|member| !member.place.is_lost())?;
        Some(&mut member.peer.counters.stats.offences)
    }
}
