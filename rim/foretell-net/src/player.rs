//! A client that plays over a real network: a `foretell::Client`, its connection, and the way back when that breaks.

use crate::control::{Control, Refused};
use crate::credential::{Credential, ResumeTicket};
use crate::impairment::Impairment;
use crate::join::{ConnectError, Joined, Target, Via};
use crate::platform::{Clock, Tasks, within};
use crate::rate_limit::RateLimit;
use crate::transport::{Came, Closed, PathFacts};
use foretell::session::client::ResimulationBudget;
use foretell::{
    Client, ClientConfig, ClientState, Frame, Instant, JoinRequest, Outbox, Rules, Seat, Tick, Views, World,
};
use futures_channel::oneshot;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;
use tracing::{debug, info};

/// How a client joins.
#[derive(Clone)]
pub struct JoinConfig {
    /// What it has in common with the server.
    pub rules: Rules,
    /// What it decides by itself.
    pub client: ClientConfig,
    /// As what the player comes. Default [`Seat::Player`].
    pub seat: Seat,
    /// What the game is to know of the player when they join: at most
    /// [`JOIN_DATA_MAX`](foretell::world::JOIN_DATA_MAX) bytes of its own form. Default empty. The account the server knows
    /// by itself.
    pub data: Vec<u8>,
    /// For about so long one update may simulate again, by what ticks have cost on this machine so far; the rest is done in
    /// later updates. Default 8 ms: half of a frame at 60 Hz, so that the other half is left for drawing. No more than
    /// [`ClientConfig::resimulation_budget`] says, which stays as it is; `None` leaves it to that.
    pub resimulation_time: Option<Duration>,
    /// After so long without a packet the connection is lost. Default 10 s.
    pub idle_timeout: Duration,
    /// For so long it tries to come back after a loss. Default 5 minutes: a server that is started again.
    pub rejoin_for: Duration,
    /// By which protocol it connects. Default WebTransport, and WebSocket where that does not get through.
    pub via: Via,
}

impl JoinConfig {
    /// The defaults for a game with these rules.
    pub fn new(rules: Rules) -> JoinConfig {
        JoinConfig {
            rules,
            client: ClientConfig::default(),
            seat: Seat::Player,
            data: Vec::new(),
            resimulation_time: Some(Duration::from_millis(8)),
            idle_timeout: Duration::from_secs(10),
            rejoin_for: Duration::from_secs(300),
            via: Via::default(),
        }
    }
}

/// How the connection of a player is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Connected {
    /// There is one.
    Yes,
    /// There was one, and another is tried for.
    Rejoining,
    /// There is none, and there will be none, as one end wants it so.
    Closed(Closed),
    /// There is none, and there will be none: the server does not take this player back.
    Refused(Refused),
    /// There is none, and it has been tried for long enough.
    GivenUp,
}

enum Way {
    Open(Box<Joined>),
    Rejoining(oneshot::Receiver<Result<Joined, ConnectError>>),
    Over(Connected),
}

/// A player of a server. Call [`update`](Player::update) once per rendered frame, then [`present`](Player::present).
///
/// Dropping it cuts the connection, and the server keeps the place for a while: [`leave`](Player::leave) says good-bye.
pub struct Player<W: World> {
    client: Client<W>,
    outbox: Outbox,
    clock: Clock,
    /// What an update may simulate again, by what it has cost.
    allowance: Option<ResimulationBudget>,
    way: Way,
    rate_limit: RateLimit,
    impairment: Impairment,
    target: Target,
    session: u64,
    ticket: ResumeTicket,
    /// When it was updated last.
    updated: Instant,
    /// Before this the silence of the connection counts for nothing.
    patient_until: Instant,
    rejoin_for: Duration,
    ends_within: Option<Duration>,
    /// When that is over.
    ends_at: Option<Instant>,
    tasks: Tasks,
}

/// Connects to the server at `url`, of the form that [`Running::url`](crate::Running::url) gives, and asks for a place.
/// A native program has to call it in a runtime of tokio, in which the connection is kept.
///
/// # Errors
/// When the address is none, nobody answers there, the server does not admit the player, or more is to be said of them than
/// there is room for.
pub async fn connect<W: World>(
    url: &str,
    credential: impl Into<Credential>,
    config: JoinConfig,
) -> Result<Player<W>, ConnectError> {
    let request = JoinRequest::new(0).with_data(config.data.clone())?;
    let request = if config.seat == Seat::Spectator { request.as_spectator() } else { request };
    let clock = Clock::start();
    let target = Target::new(url, config.idle_timeout, config.via)?;
    let joined = target.join(&credential.into(), clock).await?;
    Ok(begin(config, request, target, clock, joined))
}

/// A player who was admitted.
fn begin<W: World>(
    config: JoinConfig,
    request: JoinRequest,
    target: Target,
    clock: Clock,
    joined: Joined,
) -> Player<W> {
    let now = clock.now();
    Player {
        allowance: config.resimulation_time.map(ResimulationBudget::new),
        client: Client::new(config.rules, config.client, request.with_nonce(joined.session)),
        outbox: Outbox::new(),
        clock,
        rate_limit: RateLimit::new(RATE_MAX, now),
        impairment: Impairment::new(joined.session),
        target,
        session: joined.session,
        ticket: joined.ticket.clone(),
        way: Way::Open(Box::new(joined)),
        updated: now,
        patient_until: now + YOUNG,
        rejoin_for: config.rejoin_for,
        ends_within: None,
        ends_at: None,
        tasks: Tasks::here(),
    }
}

/// What a client sends at most, in bytes per second: inputs, and in shared mode the rows of what it holds.
const RATE_MAX: u64 = 250_000;
/// A connection that is younger may not have carried a snapshot yet.
const YOUNG: Duration = Duration::from_secs(6);
/// Who is not updated for so long has made a pause of their own: a loading screen, a debugger, a laptop that slept.
const PAUSE: Duration = Duration::from_secs(1);
/// After it the connection has so long to be heard again: some round trips of a bad path.
const AFTER_PAUSE: Duration = Duration::from_secs(2);
/// Who leaves waits no longer for a connection to say it over: a handshake in which a packet is lost.
const LEAVING: Duration = Duration::from_secs(3);

impl<W: World> Player<W> {
    /// Takes in what has come, runs the ticks that are due, and sends what there is to send. Give it a world without
    /// entities; `input` is called once for each new tick.
    pub fn update(&mut self, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input) -> Frame<'_> {
        self.update_moving(world, |_, _, _| {}, input)
    }

    /// The same for a game that moves entities by frame: `capture` is called before the ticks are run, with their instant, to say where
    /// these are ([`Client::capture`]). By another reading of the clock a tick might begin in between, and be without its capture.
    pub fn update_moving(
        &mut self,
        world: &mut W,
        capture: impl FnOnce(&mut Client<W>, &mut W, Instant),
        input: &mut dyn FnMut(Tick) -> W::Input,
    ) -> Frame<'_> {
        // Silence is judged by all that has come.
        let over = self.take_in();
        let now = self.clock.now();
        self.note_pause(now);
        self.keep_connected(now, over);
        capture(&mut self.client, world, now);
        self.run(now, world, input);
        self.send(now);
        self.client.frame(now)
    }

    /// Runs the client; for this update the allowance lowers what its settings say.
    fn run(&mut self, now: Instant, world: &mut W, input: &mut dyn FnMut(Tick) -> W::Input) {
        let most = self.client.config_mut().resimulation_budget;
        let allowed = self.allowance.map_or(most, |allowance| allowance.ticks().min(most));
        self.client.config_mut().resimulation_budget = allowed;
        let frame = self.client.update(now, world, input, &mut self.outbox);
        let ran = frame.ticks + frame.resimulated;
        self.client.config_mut().resimulation_budget = most;
        if let Some(allowance) = &mut self.allowance {
            allowance.note(ran, self.clock.now().since(now));
        }
    }

    /// Fills `views` with each entity as it is to be drawn now.
    pub fn present(&self, views: &mut Views) {
        self.client.present(self.clock.now(), views);
    }

    /// The client of the session, to read.
    pub fn client(&self) -> &Client<W> {
        &self.client
    }

    /// The client of the session, for its settings and requests.
    pub fn client_mut(&mut self) -> &mut Client<W> {
        &mut self.client
    }

    /// The clock that it runs by.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// How the connection is.
    pub fn connected(&self) -> Connected {
        match &self.way {
            Way::Open(_) => Connected::Yes,
            Way::Rejoining(_) => Connected::Rejoining,
            Way::Over(how) => *how,
        }
    }

    /// What is known of the path, while there is one.
    pub fn path(&self) -> Option<PathFacts> {
        match &self.way {
            Way::Open(joined) => Some(joined.transport.path()),
            _ => None,
        }
    }

    /// How much worse its network is to be than it is, for who wants to feel what that does; seeded by the session's number.
    /// [`Player::path`] knows nothing of it, [`ClientStats::rtt`](foretell::session::client::ClientStats) does.
    pub fn impairment_mut(&mut self) -> &mut Impairment {
        &mut self.impairment
    }

    /// What it may come back with for ten minutes, also as another process: [`connect`] takes it. A secret.
    pub fn ticket(&self) -> &ResumeTicket {
        &self.ticket
    }

    /// The server has said that it ends within so long.
    pub fn ends_within(&self) -> Option<Duration> {
        self.ends_within
    }

    /// Says good-bye: the player leaves the session at once. While it is [rejoining](Connected::Rejoining) it waits up to 3 s for the
    /// server to be reached, to say it there; else the server keeps the place for a while.
    pub async fn leave(self) {
        self.leave_with("").await;
    }

    /// The same with a reason for those who stay ([`Departure::GoodBye`](foretell::session::Departure::GoodBye)): at most 120
    /// bytes, else it is cut.
    pub async fn leave_with(mut self, reason: &str) {
        let Some(mut joined) = self.way_out().await else { return };
        self.client.leave_with(reason, &mut self.outbox);
        for (_, datagram) in self.outbox.iter() {
            let _ = joined.transport.send(datagram);
        }
        joined.transport.close(Closed::Goodbye);
        joined.farewell.wait().await;
    }

    /// The connection to say good-bye over; where there is none any more, another one to the same place, if it comes soon.
    async fn way_out(&mut self) -> Option<Joined> {
        if matches!(&self.way, Way::Open(joined) if joined.transport.closed() == Some(Closed::Lost)) {
            self.rejoin();
        }
        match std::mem::replace(&mut self.way, Way::Over(Connected::GivenUp)) {
            Way::Open(joined) => Some(*joined),
            Way::Rejoining(coming) => {
                let joined = within(LEAVING, coming).await?.ok()?.ok()?;
                (joined.session == self.session).then_some(joined)
            }
            Way::Over(_) => None,
        }
    }

    /// Whoever makes a pause of their own can't tell whether the connection was silent meanwhile.
    fn note_pause(&mut self, now: Instant) {
        if now.since(self.updated) >= PAUSE {
            self.patient_until = self.patient_until.max(now + AFTER_PAUSE);
        }
        self.updated = now;
    }

    /// Notices that the connection is over, or not enough, and gets another.
    fn keep_connected(&mut self, now: Instant, over: Option<Closed>) {
        match &mut self.way {
            Way::Open(_) => {
                let state = self.client.state(now);
                let silent = state == ClientState::Lost && now >= self.patient_until;
                // Its last word may be lost, as it goes right after it.
                let has_ended = self.ends_at.is_some_and(|at| now >= at);
                let ended = Way::Over(Connected::Closed(Closed::ServerEnded));
                match over {
                    Some(Closed::Lost | Closed::TimedOut) if has_ended => self.way = ended,
                    Some(Closed::Lost) => self.rejoin(),
                    // Its game has stood still. A client whose joining took too long otherwise has given up, or was refused.
                    Some(Closed::TimedOut) if !matches!(state, ClientState::Refused(_)) => self.rejoin(),
                    Some(why) => self.way = Way::Over(Connected::Closed(why)),
                    None if silent && has_ended => self.way = ended,
                    None if silent => self.rejoin(),
                    None => {}
                }
            }
            Way::Rejoining(coming) => match coming.try_recv() {
                Ok(Some(Ok(joined))) => self.go_on(now, joined),
                Ok(Some(Err(ConnectError::Refused(why)))) => self.way = Way::Over(Connected::Refused(why)),
                Ok(None) => {}
                Ok(Some(Err(_))) | Err(_) => self.way = Way::Over(Connected::GivenUp),
            },
            Way::Over(_) => {}
        }
    }

    fn rejoin(&mut self) {
        info!("connection lost; coming back by ticket");
        let (mut told, coming) = oneshot::channel();
        let (target, clock, rejoin_for) = (self.target.clone(), self.clock, self.rejoin_for);
        let credential = Credential::ResumeTicket(self.ticket.clone());
        self.tasks.spawn(async move {
            let trying = pin!(target.come_back(&credential, clock, rejoin_for));
            // Once the player is gone nothing more is shown: the ticket would take the place from a newer connection.
            if let Either::Right((came, _)) = select(told.cancellation(), trying).await {
                let _ = told.send(came);
            }
        });
        self.way = Way::Rejoining(coming);
    }

    fn go_on(&mut self, now: Instant, joined: Joined) {
        if joined.session != self.session {
            // A ticket leads to its own session or to none.
            self.way = Way::Over(Connected::Closed(Closed::Violation));
            return;
        }
        info!("back");
        self.ticket = joined.ticket.clone();
        self.rate_limit = RateLimit::new(RATE_MAX, now);
        (self.ends_within, self.ends_at) = (None, None);
        self.patient_until = now + YOUNG;
        self.way = Way::Open(Box::new(joined));
    }

    /// Takes in what has come. Why the connection was over before that, if it was: what comes together with its end is taken in
    /// with the next update.
    fn take_in(&mut self) -> Option<Closed> {
        let now = self.clock.now();
        let Way::Open(joined) = &mut self.way else { return None };
        let over = joined.transport.closed();
        let (client, ticket) = (&mut self.client, &mut self.ticket);
        let (ends_within, ends_at) = (&mut self.ends_within, &mut self.ends_at);
        self.impairment.drain(now, &mut *joined.transport, &mut |came| match came {
            // What is malformed changes nothing.
            Came::Datagram(at, bytes) => drop(client.receive(at, bytes)),
            Came::Message(message) => match Control::read(message) {
                Some(Control::ResumeTicket(newer)) => {
                    *ticket = ResumeTicket::from_bytes(newer).unwrap_or_else(|| ticket.clone());
                }
                Some(Control::Draining { seconds }) => {
                    let within = Duration::from_secs(seconds.into());
                    (*ends_within, *ends_at) = (Some(within), Some(now + within));
                }
                Some(Control::LastDatagram(datagram)) => drop(client.receive(now, datagram)),
                _ => debug!("an odd message"),
            },
        });
        over
    }

    fn send(&mut self, now: Instant) {
        if let Way::Open(joined) = &mut self.way {
            self.rate_limit.note(now, &joined.transport.path());
            self.impairment.let_go(now, &mut *joined.transport);
            for (_, datagram) in self.outbox.iter() {
                if self.rate_limit.allows_client(now, datagram.len()) {
                    self.impairment.send(now, datagram, &mut *joined.transport);
                }
            }
        }
        self.outbox.clear();
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests;
