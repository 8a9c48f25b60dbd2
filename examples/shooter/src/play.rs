//! A whole session: what the server's program and each player's do around their ends of it, and all of them on one virtual network.

use crate::bots::{Bot, Seen};
use crate::game::Game;
use crate::ground::Ground;
use crate::state::{Badge, Chat, Door, Keys, Map, Pickup, Scores, Soldier, Wanderer, rules};
use foretell::session::server::ServerEvent;
use foretell::{
    Client, ClientConfig, Frame, Instant, Interest, PlayerId, SendRate, Server, ServerConfig, Tick, To, Views,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, ServerHost, Simulation};
use foretell_sim::netsim::Conditions;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// At a round trip of 150 ms others are shown 330 ms in the past: two states at 15 Hz are 133 ms, and one of them may be lost. A shot is
/// to hit what was aimed at all the same.
const REWIND_MAX: Duration = Duration::from_millis(400);

pub fn server_config() -> ServerConfig {
    let interest = Interest::Within { radius_m: 40.0, leaves_at_m: 44.0 };
    let (snapshot_rate, rewind_max) = (SendRate::Hz(15), REWIND_MAX);
    ServerConfig { snapshot_rate, interest, rewind_max, spectators_max: 4, ..ServerConfig::default() }
}

/// What the client of a bot says of it as it joins: its team and its name.
pub fn data_of(nth: usize) -> Vec<u8> {
    let name = format!("bot {nth}");
    [&[nth as u8 % 2], name.as_bytes()].concat()
}

/// What the server's program does besides serving.
pub struct Desk {
    pub ground: Ground,
    pub ends: Tick,
    is_over: bool,
}

impl Desk {
    pub fn new(ground: Ground, ends: Tick) -> Desk {
        Desk { ground, ends, is_over: false }
    }

    /// After each update.
    pub fn serve(&mut self, server: &mut Server<Game>, game: &Game) {
        let newcomers = server.frame().events.iter().filter_map(|event| match event {
            ServerEvent::Joined(player) | ServerEvent::MessagesReset(player) => Some(*player),
            _ => None,
        });
        for player in newcomers.collect::<Vec<_>>() {
            server.send(To::Player(player), &Map(self.ground.clone())).expect("a map has room");
        }
        let said = server.frame().messages.iter().filter_map(|message| Some((message.from(), message.get()?)));
        let said = said.map(|(from, chat): (PlayerId, &Chat)| (from, Chat { from, ..chat.clone() }));
        for (from, chat) in said.collect::<Vec<_>>() {
            let hears = |player| !chat.to_team || game.team_of(player) == game.team_of(from);
            // A player whose queue is full does not get it.
            let _ = server.send_to_group(hears, &chat);
        }
        let is_over = server.tick() >= self.ends;
        if is_over && !self.is_over {
            self.is_over = true;
            let hits = game.hits.iter().map(|(player, hits)| (*player, *hits)).collect();
            server.send(To::All, &Scores { hits, is_over }).expect("scores have room");
        }
    }
}

/// A player's program around their client.
pub struct Seat {
    pub bot: Bot,
    pub ground: Arc<OnceLock<Ground>>,
    pub seen: Seen,
    pub views: Views,
    pub heard: Vec<Chat>,
    pub is_over: bool,
}

impl Seat {
    pub fn new(seed: u64) -> Seat {
        let (ground, seen, views) = (Arc::new(OnceLock::new()), Seen::default(), Views::new());
        Seat { bot: Bot::new(seed), ground, seen, views, heard: Vec::new(), is_over: false }
    }

    /// Before each update.
    pub fn act(&mut self, client: &mut Client<Game>) {
        // Where so much waits that it has no room, it is not said.
        let _ = self.bot.says.take().map(|chat| client.send(&chat));
        let _ = self.bot.takes.take().map(|take| client.send(&take));
    }

    /// After each update.
    pub fn look(&mut self, now: Instant, client: &Client<Game>) {
        let frame = client.frame(now);
        for message in frame.messages {
            if let Some(Map(ground)) = message.get() {
                let _ = self.ground.set(ground.clone());
            } else if let Some(chat) = message.get::<Chat>() {
                self.heard.push(chat.clone());
            } else if let Some(scores) = message.get::<Scores>() {
                self.is_over = scores.is_over;
            }
        }
        client.present(now, &mut self.views);
        if let (Some(me), true) = (client.player(), frame.ticks > 0) {
            self.see(me, client.tick());
            self.ground.get().into_iter().for_each(|ground| self.bot.think(now, &self.seen, ground));
        }
    }

    fn see(&mut self, me: PlayerId, tick: Tick) {
        let Seat { seen, views, .. } = self;
        *seen = Seen::default();
        let team = |of| views.of(of).find_map(|view| view.get::<Badge>()).map(|badge| badge.team);
        let own = views.iter().find(|view| view.owner == me && view.get::<Soldier>().is_some());
        let own_team = own.and_then(|own| team(own.entity));
        for view in &*views {
            if let Some(soldier) = view.get::<Soldier>() {
                if view.owner == me {
                    seen.me = Some(soldier);
                } else if team(view.entity) != own_team {
                    seen.targets.push((soldier.at, soldier.velocity));
                }
            } else if let Some(wanderer) = view.get::<Wanderer>() {
                seen.targets.push((wanderer.at, wanderer.velocity));
            } else if let Some(pickup) = view.get::<Pickup>().filter(|pickup| pickup.back <= tick.get()) {
                seen.pickups.push(pickup.at);
            } else if let Some(door) = view.get::<Door>() {
                seen.doors.push(door.at);
            }
        }
    }
}

/// All of them in one place.
pub struct Play {
    pub desk: Desk,
    pub seats: Vec<Seat>,
}

impl Play {
    /// A session of so many bots, and somebody who looks on.
    pub fn begin(bots: usize, conditions: &Conditions, seed: u64, ends: Tick) -> (Play, Simulation<Game>) {
        let ground = Ground::make(seed);
        let known = Arc::new(OnceLock::from(ground.clone()));
        let mut session = Simulation::new(rules(), server_config(), Game::new(known), seed);
        let mut play = Play { desk: Desk::new(ground, ends), seats: Vec::new() };
        for nth in 0..=bots {
            let seat = Seat::new(seed + 1 + nth as u64);
            let world = Game::new(seat.ground.clone());
            let (client, host) = (ClientConfig::default(), HostOptions::at(60));
            let options = PlayerOptions { client, host, conditions: conditions.clone(), world };
            session.add_player_who(options, |request| match nth == bots {
                true => request.as_spectator(),
                false => request.with_data(data_of(nth)).expect("a name is short"),
            });
            play.seats.push(seat);
        }
        (play, session)
    }
}

impl Driver<Game> for Play {
    fn input(&mut self, player: usize, _tick: Tick) -> Keys {
        self.seats[player].bot.keys
    }

    fn before_server(&mut self, _now: Instant, host: &mut ServerHost<Game>) {
        self.desk.serve(&mut host.server, &host.world);
    }

    fn before_client(&mut self, player: usize, _at: Moment, client: &mut Client<Game>) {
        self.seats[player].act(client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Game>, _frame: &Frame<'_>) {
        self.seats[player].look(at.local, client);
    }
}
