//! The engine: hosts take turns in the order of virtual time.

use super::{Host, HostOptions};
use crate::netsim::{Conditions, Fate, Link, SplitMix64};
use alloc::vec::Vec;
use foretell::JoinRequest;
use foretell::session::client::{Client, ClientConfig, Frame, Views};
use foretell::session::host::{LocalPlayer, ServerSide};
use foretell::session::server::{Server, ServerConfig, ServerFrame};
use foretell::session::{Outbox, PeerId, Rules};
use foretell::time::{Instant, Tick};
use foretell::world::World;

/// What a test, a sweep or the lab does in a session: plays, interferes, and looks on.
pub trait Driver<W: World> {
    /// The input of a player for a new tick of theirs.
    fn input(&mut self, player: usize, tick: Tick) -> W::Input;

    /// Just before the server updates: the place for events of the game's own.
    fn before_server(&mut self, now: Instant, server: &mut ServerHost<W>) {
        let _ = (now, server);
    }

    /// After the server has updated.
    fn after_server(&mut self, now: Instant, server: &Server<W>, frame: &ServerFrame<'_>) {
        let _ = (now, server, frame);
    }

    /// The input of the player who [sits at the server](Simulation::seat_player), for a tick that is stepped next. By default
    /// they press nothing.
    fn local_input(&mut self, tick: Tick) -> W::Input {
        let _ = tick;
        W::Input::default()
    }

    /// After the server has updated, for the player who sits at it; `seat` is ready to present at `at.local`.
    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, W>, frame: &Frame<'_>) {
        let _ = (at, seat, frame);
    }

    /// Just before a client updates: the place for calls of the game's own.
    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<W>) {
        let _ = (player, at, client);
    }

    /// After a client has updated; `client` is ready to present at `at.local`.
    fn after_client(&mut self, player: usize, at: Moment, client: &Client<W>, frame: &Frame<'_>) {
        let _ = (player, at, client, frame);
    }

    /// After a datagram was given to a player's link: what it is, and what becomes of it.
    fn after_send(&mut self, sent: &Sent<'_>) {
        let _ = sent;
    }
}

/// A datagram that was just given to a link.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The virtual time.
    pub now: Instant,
    /// Whose link.
    pub player: usize,
    /// Whether it goes to the server, or comes from there.
    pub to_server: bool,
    /// The bytes; [`inspect`](foretell::session::inspect) tells which ticks they are about.
    pub datagram: &'a [u8],
    /// What becomes of it.
    pub fate: Fate,
}

/// An instant of a simulation, as a player's machine sees it and in truth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    /// The virtual time, the same for all machines.
    pub now: Instant,
    /// What the machine's clock shows.
    pub local: Instant,
}

/// How a player goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Leaving {
    /// Says good-bye, three times, over the link as it is.
    Politely,
    /// Is gone without a word; the server is not told.
    Silently,
}

/// Who sits at the server, and the server.
pub struct LocalSeat<'a, W: World> {
    /// The player.
    pub player: &'a LocalPlayer,
    /// The authority.
    pub server: &'a Server<W>,
}

impl<W: World> LocalSeat<'_, W> {
    /// Fills `views` with what the player is shown at `now`, on the server's clock.
    pub fn present(&self, now: Instant, views: &mut Views) {
        self.player.present(now, self.server, views);
    }
}

/// The machine of the server.
pub struct ServerHost<W: World> {
    /// The authority.
    pub server: Server<W>,
    /// The player who [sits at it](Simulation::seat_player).
    pub local: Option<LocalPlayer>,
    /// Its world.
    pub world: W,
    /// Its frames and clock.
    pub host: Host,
    outbox: Outbox,
}

/// The machine of a player, and the link between it and the server.
pub struct PlayerHost<W: World> {
    /// The predicting end.
    pub client: Client<W>,
    /// Its world.
    pub world: W,
    /// Its frames and clock.
    pub host: Host,
    /// The way to the server.
    pub up: Link,
    /// The way from the server.
    pub down: Link,
    /// The conditions of the way to the server; may change at any time.
    pub up_conditions: Conditions,
    /// The conditions of the way from the server; may change at any time.
    pub down_conditions: Conditions,
    outbox: Outbox,
    gone: bool,
}

impl<W: World> PlayerHost<W> {
    /// Whether the player has left.
    pub fn is_gone(&self) -> bool {
        self.gone
    }
}

/// What a player brings along.
pub struct PlayerOptions<W> {
    /// How the client decides.
    pub client: ClientConfig,
    /// The machine.
    pub host: HostOptions,
    /// The network, in both directions.
    pub conditions: Conditions,
    /// A world without entities: everything in it comes from the server.
    pub world: W,
}

/// A whole session on virtual time.
pub struct Simulation<W: World> {
    /// The server's machine.
    pub server: ServerHost<W>,
    /// The players' machines, in the order of their coming: each has its links by its place, so that none may be moved or removed.
    pub players: Vec<PlayerHost<W>>,
    rules: Rules,
    seeds: SplitMix64,
    now: Instant,
}

impl<W: World> Simulation<W> {
    /// A session without players, at virtual time 0, with the server's loop at its tick rate. Its epoch is 0.
    pub fn new(rules: Rules, config: ServerConfig, world: W, seed: u64) -> Simulation<W> {
        let host = Host::new(HostOptions::at(u32::from(rules.tick_rate.get())), Instant::ZERO);
        let server = Server::new(rules.clone(), config, 0, Instant::ZERO);
        let server = ServerHost { server, local: None, world, host, outbox: Outbox::new() };
        Simulation { server, players: Vec::new(), rules, seeds: SplitMix64::new(seed), now: Instant::ZERO }
    }

    /// From now on a player sits at the server, as in host mode, or in a game that is played alone; the driver is asked for
    /// [their input](Driver::local_input), and told of [what they see](Driver::after_local). Its frames are theirs: give its
    /// [machine](ServerHost::host) as many as a screen shows.
    pub fn seat_player(&mut self, player: LocalPlayer) {
        self.server.local = Some(player);
    }

    /// Adds a player, who begins to join now. Returns their index.
    pub fn add_player(&mut self, options: PlayerOptions<W>) -> usize {
        self.add_player_who(options, |request| request)
    }

    /// The same of one whose client asks as `say` makes it: what is to be known of its player, or that it looks on.
    pub fn add_player_who(&mut self, options: PlayerOptions<W>, say: impl FnOnce(JoinRequest) -> JoinRequest) -> usize {
        let mut link = || Link::new(self.seeds.next_u64(), self.seeds.next_u64());
        let (up, down) = (link(), link());
        let request = say(JoinRequest::new(self.seeds.next_u64()));
        self.players.push(PlayerHost {
            client: Client::new(self.rules.clone(), options.client, request),
            world: options.world,
            host: Host::new(options.host, self.now),
            up,
            down,
            up_conditions: options.conditions.clone(),
            down_conditions: options.conditions,
            outbox: Outbox::new(),
            gone: false,
        });
        self.players.len() - 1
    }

    /// Takes a player's machine away, now; what it has sent is still on its way. The others keep their index, and its
    /// client can still be looked at. Does nothing when it is gone already.
    ///
    /// # Panics
    /// When there is no such player, or the conditions of the link are not [valid](Conditions::validate).
    pub fn remove_player(&mut self, player: usize, how: Leaving) {
        let PlayerHost { client, up, up_conditions, outbox, gone, .. } = &mut self.players[player];
        if core::mem::replace(gone, true) || how == Leaving::Silently {
            return;
        }
        (0..3).for_each(|_| client.leave(outbox));
        for (_, datagram) in outbox.iter() {
            up.send(self.now, datagram, up_conditions);
        }
        outbox.clear();
    }

    /// What both ends agree on.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The virtual time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Runs every frame of every machine up to and with `until`. Of frames at the same instant the server's is first,
    /// then the players' by index. A machine reads what is due in its frames; when that counts as received is up to
    /// [`HostOptions::reads_per_frame`].
    ///
    /// # Panics
    /// When the conditions of a player's link are not [valid](Conditions::validate).
    pub fn run_until(&mut self, until: Instant, driver: &mut impl Driver<W>) {
        loop {
            let players = self.players.iter().enumerate().filter(|(_, player)| !player.gone);
            let next = players.map(|(index, player)| (player.host.next_frame(), Some(index)));
            let first = next.chain([(self.server.host.next_frame(), None)]).min().expect("the server is always there");
            if first.0 > until {
                break;
            }
            self.now = first.0;
            match first.1 {
                None => self.run_server(driver),
                Some(player) => self.run_player(player, driver),
            }
        }
        self.now = self.now.max(until);
    }

    fn run_server(&mut self, driver: &mut impl Driver<W>) {
        let ServerHost { server, local, host, .. } = &mut self.server;
        if !host.take_frame() {
            return;
        }
        local.iter_mut().for_each(|player| player.join(server));
        for (index, player) in self.players.iter_mut().enumerate() {
            while let Some(delivery) = player.up.receive(self.now) {
                // A malformed datagram is counted by the server.
                let _ = server.receive(host.arrival(delivery.due, self.now), PeerId(index as u64), delivery.bytes);
            }
        }
        driver.before_server(self.now, &mut self.server);
        let ServerHost { server, local, world, host, outbox } = &mut self.server;
        let at = Moment { now: self.now, local: host.local(self.now) };
        match local {
            Some(player) => {
                let side = ServerSide { server, world, outbox };
                player.update(at.local, side, &mut |tick| driver.local_input(tick));
                driver.after_server(self.now, server, &server.frame());
                driver.after_local(at, &LocalSeat { player, server }, &player.frame());
            }
            None => {
                server.update(at.local, world, outbox);
                driver.after_server(self.now, server, &server.frame());
            }
        }
        for (peer, datagram) in outbox.iter() {
            let Ok(index) = usize::try_from(peer.0) else { continue };
            let Some(player) = self.players.get_mut(index).filter(|player| !player.gone) else { continue };
            let fate = player.down.send(self.now, datagram, &player.down_conditions);
            driver.after_send(&Sent { now: self.now, player: index, to_server: false, datagram, fate });
        }
        outbox.clear();
    }

    fn run_player(&mut self, index: usize, driver: &mut impl Driver<W>) {
        let PlayerHost { client, world, host, up, down, up_conditions, outbox, .. } = &mut self.players[index];
        if !host.take_frame() {
            return;
        }
        while let Some(delivery) = down.receive(self.now) {
            // A malformed datagram is counted by the client.
            let _ = client.receive(host.arrival(delivery.due, self.now), delivery.bytes);
        }
        let local = host.local(self.now);
        driver.before_client(index, Moment { now: self.now, local }, client);
        client.update(local, world, &mut |tick| driver.input(index, tick), outbox);
        driver.after_client(index, Moment { now: self.now, local }, client, &client.frame(local));
        for (_, datagram) in outbox.iter() {
            let fate = up.send(self.now, datagram, up_conditions);
            driver.after_send(&Sent { now: self.now, player: index, to_server: true, datagram, fate });
        }
        outbox.clear();
    }
}
