//! The player who sits at the server: their place, their inputs, and what an update reports to their game.

use super::seen_states::SeenStates;
use crate::session::client::{ClientEvent, ClientState, Frame, JoinDataTooLong, JoinRequest, Show, Views};
use crate::session::server::{HostPlayer, LocalInput, LocalStep, Server};
use crate::session::{Outbox, Refusal, SendError};
use crate::time::{Instant, Tick, TickTime};
use crate::world::{Message, Messages, PlayerId, ReceivedMessage, World};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// The player of the program in which a [`Server`] runs, for who keeps the server elsewhere: in a loop of their own, in a test rig.
/// A [`Host`](super::Host) is both together.
///
/// They take a place with the first [update](LocalPlayer::update), or when they [join](LocalPlayer::join), and are told to the step as
/// everybody who [joins](crate::Step::joined). Update the server by it alone: in ticks that the server's own update steps nobody asks this
/// player, and the [gap policy](crate::ServerConfig::gap) makes up the input. One player sits at a server: there is no place for another.
pub struct LocalPlayer {
    show: Show,
    /// What is said of them when they join.
    data: Vec<u8>,
    place: Membership,
    events: Vec<ClientEvent>,
    /// Messages of the server to them.
    messages: Vec<ReceivedMessage>,
    /// How many of them the last frame has shown.
    told: usize,
    /// How many ticks the last update has stepped, and which is next.
    ticks: u32,
    next: Tick,
}

/// The server that a [`LocalPlayer`] sits at, and what its update works on.
pub struct ServerSide<'a, W: World> {
    /// The authority.
    pub server: &'a mut Server<W>,
    /// Its world.
    pub world: &'a mut W,
    /// What is to be sent to everybody else.
    pub outbox: &'a mut Outbox,
}

/// Whether the player is in the session.
enum Membership {
    /// They join with the first update.
    Waiting,
    /// There was none left for them.
    Refused,
    Taken(Box<OwnPlace>),
}

/// The place of the player.
struct OwnPlace {
    player: PlayerId,
    seen: SeenStates,
    /// What they were looking at since the last update.
    presented: Option<TickTime>,
}

/// The player in an update of the server.
struct Turn<'a, I> {
    own: &'a mut OwnPlace,
    input: &'a mut dyn FnMut(Tick) -> I,
}

impl<I> HostPlayer<I> for Turn<'_, I> {
    fn player(&self) -> PlayerId {
        self.own.player
    }

    fn input(&mut self, tick: Tick) -> LocalInput<I> {
        LocalInput { input: (self.input)(tick), presented: self.own.presented }
    }

    fn note_step(&mut self, step: LocalStep<'_>) {
        self.own.seen.note_step(&step);
    }
}

impl LocalPlayer {
    /// A player who is going to join, and who is shown what there is as `show` says: by default between the last two states.
    pub fn new(show: Show) -> LocalPlayer {
        LocalPlayer {
            show,
            data: Vec::new(),
            place: Membership::Waiting,
            events: Vec::with_capacity(16),
            messages: Vec::new(),
            told: 0,
            ticks: 0,
            next: Tick::ZERO,
        }
    }

    /// The same with what the game is to know of the player when they join, as of a client's: [`JoinRequest::with_data`]. Who has a place
    /// by now has joined without it.
    ///
    /// # Errors
    /// When it is longer than [`JOIN_DATA_MAX`](crate::world::JOIN_DATA_MAX), 1000 bytes.
    pub fn with_data(self, data: impl Into<Vec<u8>>) -> Result<LocalPlayer, JoinDataTooLong> {
        let data = JoinRequest::new(0).with_data(data)?.data().to_vec();
        Ok(LocalPlayer { data, ..self })
    }

    /// [Updates](Server::update) the server, with this player in it. `input` is called once for each tick, just before the tick is
    /// stepped, in order; nothing of the session is called back from it. What the update has done for everybody else is in
    /// [`Server::frame`]. An input with a number that is not finite is refused, as anybody's: the gap policy stands in, and the
    /// [offences](Server::offences) say so.
    ///
    /// In the frame nothing is ever corrected or simulated again. Its state is [`Playing`](ClientState::Playing), or
    /// [`Refused`](ClientState::Refused) where the session had no place left for this player.
    pub fn update<W: World>(
        &mut self,
        now: Instant,
        at: ServerSide<'_, W>,
        input: &mut dyn FnMut(Tick) -> W::Input,
    ) -> Frame<'_> {
        let ServerSide { server, world, outbox } = at;
        self.events.drain(..self.told);
        self.messages.clear();
        self.join(server);
        if let Membership::Taken(own) = &mut self.place {
            let mut turn = Turn { own, input };
            server.update_with(now, world, &mut turn, outbox);
            server.tell_here(own.player, &mut self.messages);
            let at = server.at(now);
            own.seen.finish(at, &mut self.events);
            own.presented = Some(own.seen.shown_at(at));
        } else {
            server.update(now, world, outbox);
        }
        (self.told, self.next, self.ticks) = (self.events.len(), server.tick(), server.frame().steps);
        self.frame()
    }

    /// Takes a place in the session, before anybody whose hello comes later; once. The next frame tells what has come of it.
    pub fn join<W: World>(&mut self, server: &mut Server<W>) {
        if !matches!(self.place, Membership::Waiting) {
            return;
        }
        let Some(player) = server.join_local(self.show, core::mem::take(&mut self.data)) else {
            self.place = Membership::Refused;
            return self.events.push(ClientEvent::Refused(Refusal::Full));
        };
        let seen = SeenStates::new(server.rules(), player, self.show);
        self.place = Membership::Taken(Box::new(OwnPlace { player, seen, presented: None }));
        self.events.push(ClientEvent::Joined(player));
    }

    /// Fills `views` with every entity as it is to be drawn at `now`, as far as this player may see it. Reads only; call it after
    /// [`update`](LocalPlayer::update), as often as frames are drawn.
    pub fn present<W: World>(&self, now: Instant, server: &Server<W>, views: &mut Views) {
        match &self.place {
            Membership::Taken(own) => own.seen.show(server.at(now), views),
            Membership::Waiting | Membership::Refused => views.clear(&server.rules().schema),
        }
    }

    /// Sends a message to the server, which has it in its next update, or, where it is part of a step, in its next step.
    ///
    /// # Errors
    /// [`SendError`]: nothing of it is sent.
    ///
    /// # Panics
    /// When the [rules](crate::Rules::messages) have no such kind.
    pub fn send<W: World, M: Message>(&self, server: &mut Server<W>, message: &M) -> Result<(), SendError> {
        let kind = server.rules().messages.number_of::<M>();
        self.send_bytes(server, kind, &Messages::encode(message))
    }

    /// The same as its bytes, of a kind by its number in the rules: what a tap was told can be sent again.
    ///
    /// # Errors
    /// As [`send`](LocalPlayer::send).
    ///
    /// # Panics
    /// When there is no kind of this number.
    pub fn send_bytes<W: World>(&self, server: &mut Server<W>, kind: usize, bytes: &[u8]) -> Result<(), SendError> {
        server.send_here(self.player().ok_or(SendError::NotPlaying)?, kind, bytes)
    }

    /// What the last update did.
    pub fn frame(&self) -> Frame<'_> {
        let LocalPlayer { next, ticks, events, messages, told, .. } = self;
        let (state, events) = (self.state(), &events[..*told]);
        Frame { state, tick: *next, ticks: *ticks, resimulated: 0, corrections: &[], events, messages }
    }

    /// How they fare.
    pub fn state(&self) -> ClientState {
        match self.place {
            Membership::Waiting => ClientState::Joining,
            Membership::Refused => ClientState::Refused(Refusal::Full),
            Membership::Taken(_) => ClientState::Playing,
        }
    }

    /// Who they are; `None` before the first update, and where there was no place.
    pub fn player(&self) -> Option<PlayerId> {
        match &self.place {
            Membership::Taken(own) => Some(own.player),
            Membership::Waiting | Membership::Refused => None,
        }
    }
}
