//! A world in which everything has a secret, and a session of it whose datagrams can be read.

use foretell::session::client::{ClientEvent, PoseSource, Predict, View};
use foretell::{
    Client, ClientConfig, EffectKind, Entity, Group, Input, Instant, Interest, InterestRules, Look, Outbox, Owned,
    PeerId, PlayerId, Rows, Rules, SendRate, Server, ServerConfig, Simulate, State, Step, Table, Tick, Visibility,
    World,
};
use foretell_sim::netsim::{Conditions, Link, SplitMix64};
use std::collections::BTreeMap;

pub const RADIUS_M: f32 = 40.0;
pub const LEAVES_AT_M: f32 = 48.0;
pub const WITHIN: Interest = Interest::Within { radius_m: RADIUS_M, leaves_at_m: LEAVES_AT_M };

/// What a secret begins with: that of a row, another in each tick of three, so that what moves is told with it; of an effect,
/// of an input.
pub const OF_ROW: [u64; 3] = [0x4b_1d5e_c735, 0x4b_4d5e_c735, 0x4b_5d5e_c735];
/// The same of what its owner, everybody else, or its team may see.
pub const OF_OWNER: [u64; 3] = [0x4b_6d5e_c735, 0x4b_7d5e_c735, 0x4b_8d5e_c735];
pub const OF_OTHERS: [u64; 3] = [0x4b_9d5e_c735, 0x4b_ad5e_c735, 0x4b_bd5e_c735];
pub const OF_TEAM: [u64; 3] = [0x4b_cd5e_c735, 0x4b_dd5e_c735, 0x4b_ed5e_c735];
pub const OF_EFFECT: u64 = 0x4b_2d5e_c735;
pub const OF_INPUT: u64 = 0x4b_3d5e_c735;
const CRY: EffectKind = EffectKind(1);
pub const TEAM: Group = Group(0);

/// Which entity a secret is of: a number below 2^24.
pub fn number_of(entity: Entity) -> u64 {
    let (player, tick) = (u64::from(entity.spawned_for().get()), u64::from(entity.tick().get()));
    player << 21 | (tick & 0x7ff) << 10 | u64::from(entity.counter())
}

fn secret(what: u64, entity: Entity) -> u64 {
    what << 24 | number_of(entity)
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Being {
    #[state(position)]
    pub place: [f32; 3],
    secret: u64,
}

/// Another component of the same entities, which says nothing of where they are.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Health {
    left: u8,
    secret: u64,
}

/// What not everybody sees.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Kit {
    pub nth: u8,
    #[state(audience = owner)]
    pub owners: u64,
    #[state(audience = others)]
    pub others: u64,
    #[state(audience = group(TEAM))]
    pub teams: u64,
}

impl Kit {
    fn of(entity: Entity, nth: usize) -> Kit {
        let [owners, others, teams] = [OF_OWNER, OF_OTHERS, OF_TEAM].map(|what| secret(what[nth], entity));
        Kit { nth: nth as u8, owners, others, teams }
    }
}

/// Of which others than its team know nothing at all.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(audience = group(TEAM))]
pub struct Hideout {
    pub secret: u64,
}

/// On whom a being sits.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Rides {
    #[state(parent)]
    pub on: Option<Entity>,
}

/// A camera.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
#[state(audience = owner)]
pub struct Camera {
    #[state(position)]
    place: [f32; 3],
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Pace {
    pub secret: u64,
    pub right: bool,
    pub left: bool,
}

#[derive(World, Clone, Default)]
pub struct Woods {
    pub beings: Table<Being>,
    pub healths: Table<Health>,
    pub cameras: Table<Camera>,
    pub kits: Table<Kit>,
    pub hideouts: Table<Hideout>,
    pub rides: Table<Rides>,
    /// What the server alone knows.
    #[world(constant)]
    pub facts: Facts,
}

#[derive(Clone, Default)]
pub struct Facts {
    pub has_rules: bool,
    pub is_lively: bool,
    pub are_bolts_seated: bool,
    pub spectators: Vec<PlayerId>,
    pub cloaked: Vec<Entity>,
    pub flags: Vec<Entity>,
    pub heavy: Vec<Entity>,
    pub eye: Option<[f64; 3]>,
    /// On which side players are, and what is no player's.
    pub teams: BTreeMap<PlayerId, u8>,
    pub sides: BTreeMap<Entity, u8>,
}

impl Facts {
    /// Whether a player is told what the team of an entity may see, if it sees it.
    pub fn is_told(&self, viewer: PlayerId, of: Owned) -> bool {
        viewer == of.owner || self.has_rules && self.is_in_group(viewer, of)
    }

    fn is_in_group(&self, viewer: PlayerId, of: Owned) -> bool {
        let side = self.sides.get(&of.entity).or_else(|| self.teams.get(&of.owner));
        side.is_some() && side == self.teams.get(&viewer)
    }
}

impl Woods {
    pub fn add(&mut self, entity: Entity, place: [f32; 3]) {
        let of = Owned { entity, owner: entity.spawned_for() };
        self.beings.insert(of, Being { place, secret: secret(OF_ROW[0], entity) });
        self.healths.insert(of, Health { left: 100, secret: secret(OF_ROW[0], entity) });
        self.kits.insert(of, Kit::of(entity, 0));
    }

    pub fn add_hideout(&mut self, entity: Entity) {
        let of = Owned { entity, owner: PlayerId::SERVER };
        self.hideouts.insert(of, Hideout { secret: secret(OF_TEAM[0], entity) });
    }

    /// From now on it sits there.
    pub fn seat(&mut self, entity: Entity, on: Option<Entity>) {
        let owner = self.beings.get(entity).map_or(PlayerId::SERVER, |being| being.owner());
        self.rides.insert(Owned { entity, owner }, Rides { on });
    }

    pub fn give(&mut self, entity: Entity, owner: PlayerId) {
        self.beings.set_owner(entity, owner);
        self.healths.set_owner(entity, owner);
        self.rides.set_owner(entity, owner);
        self.kits.set_owner(entity, owner);
    }

    pub fn remove(&mut self, entity: Entity) {
        self.beings.remove(entity);
        self.healths.remove(entity);
        self.kits.remove(entity);
        self.rides.remove(entity);
    }

    pub fn add_camera(&mut self, player: PlayerId, place: [f32; 3]) -> Entity {
        let entity = Entity::new(player, Tick::new(7777), 0);
        self.cameras.insert(Owned { entity, owner: player }, Camera { place });
        entity
    }

    fn live(&mut self, step: &mut Step<'_, Pace>) {
        let tick = step.tick().get();
        let mut random = SplitMix64::new(u64::from(tick));
        let mut metres = |most: f32| (random.next_u64() % 10_000) as f32 / 10_000.0 * most - most / 2.0;
        for mut being in self.beings.iter_mut().filter(|being| being.owner() == PlayerId::SERVER) {
            being.place[0] += metres(1.0);
            being.place[2] += metres(1.0);
            being.secret = secret(OF_ROW[tick as usize % 3], being.entity());
        }
        for mut kit in self.kits.iter_mut() {
            if kit.owner() == PlayerId::SERVER || tick % 16 == 0 {
                *kit = Kit::of(kit.entity(), tick as usize % 3);
            }
        }
        for mut hideout in self.hideouts.iter_mut() {
            hideout.secret = secret(OF_TEAM[tick as usize % 3], hideout.entity());
            if tick % 16 == 0 {
                let secret = secret(OF_EFFECT, hideout.entity());
                let word = |shift: u32| f32::from_bits((secret >> shift) as u32);
                step.effect_at(CRY, hideout.entity(), [word(0), word(32), 0.0]);
            }
        }
        if tick % 2 == 0 {
            let bolt = step.spawn(PlayerId::SERVER);
            self.add(bolt, [metres(400.0), 0.0, metres(20.0)]);
            // By its place it is where what it sits on is not.
            if self.facts.are_bolts_seated && tick % 32 == 0 {
                self.seat(bolt, Some(thing((tick / 32 * 37 % 200) as u16)));
            }
        }
        let is_over =
            |entity: Entity| entity.tick() > Tick::ZERO && entity.tick().get() + entity.tick().get() % 13 < tick;
        let bolts =
            self.beings.iter().map(|being| being.entity()).filter(|entity| entity.spawned_for() == PlayerId::SERVER);
        let over: Vec<Entity> = bolts.filter(|entity| is_over(*entity)).collect();
        over.into_iter().for_each(|entity| self.remove(entity));
        for being in self.beings.iter().filter(|being| (tick + u32::from(being.entity().counter())) % 16 == 0) {
            let secret = secret(OF_EFFECT, being.entity());
            let word = |shift: u32| f32::from_bits((secret >> shift) as u32);
            step.effect_at(CRY, being.entity(), [word(0), word(32), 0.0]);
        }
    }
}

impl Simulate for Woods {
    type Input = Pace;

    fn step(&mut self, step: &mut Step<'_, Pace>) {
        for joined in step.joined() {
            let entity = step.spawn(joined.player);
            self.add(entity, [f32::from(joined.player.get()) * 80.0 - 160.0, 0.0, 0.0]);
        }
        if step.is_authority() && self.facts.is_lively {
            self.live(step);
        }
        for mut being in self.beings.simulated(step) {
            let Some(player) = step.input(being.owner()) else { continue };
            being.place[0] += f32::from(i8::from(player.input.right) - i8::from(player.input.left)) * 0.5;
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        self.facts.has_rules.then_some(self)
    }
}

impl InterestRules for Woods {
    fn look(&self, viewer: PlayerId, look: &mut Look) {
        if self.facts.spectators.contains(&viewer) {
            look.interest = Interest::Everything;
        }
        self.facts.flags.iter().for_each(|flag| look.always(*flag));
        self.facts.eye.into_iter().for_each(|at| look.eye(at));
    }

    fn visibility(&self, _viewer: PlayerId, entity: Entity) -> Visibility {
        match entity {
            _ if self.facts.cloaked.contains(&entity) => Visibility::Hidden,
            _ if self.facts.heavy.contains(&entity) => Visibility::Shown { weight: 4.0 },
            _ => Visibility::SHOWN,
        }
    }

    fn is_in_group(&self, viewer: PlayerId, group: Group, of: Owned) -> bool {
        group == TEAM && self.facts.is_in_group(viewer, of)
    }
}

pub struct Player {
    pub client: Client<Woods>,
    pub world: Woods,
    links: [Link; 2],
    pub events: Vec<ClientEvent>,
}

/// What the server has sent, and to whom.
pub struct Told {
    pub player: PlayerId,
    pub bytes: Vec<u8>,
}

pub struct Session {
    pub server: Server<Woods>,
    pub world: Woods,
    pub players: Vec<Player>,
    pub conditions: Conditions,
    /// Which way each player goes.
    pub paces: Vec<Pace>,
    ms: u64,
    outbox: Outbox,
}

impl Session {
    pub fn new(world: Woods, config: ServerConfig, predict: Predict, players: u64) -> Session {
        let rules = Rules::new(Woods::schema());
        let client = ClientConfig { predict, ..ClientConfig::default() };
        let player = |nth: u64| Player {
            client: Client::new(rules.clone(), client, nth + 1),
            world: Woods::default(),
            links: [Link::new(nth, 7 * nth + 1), Link::new(3 * nth, 5 * nth + 1)],
            events: Vec::new(),
        };
        Session {
            server: Server::new(rules.clone(), config, 1, Instant::ZERO),
            world,
            players: (0..players).map(player).collect(),
            conditions: Conditions { latency: core::time::Duration::from_millis(30), ..Conditions::default() },
            paces: vec![Pace::default(); usize::try_from(players).expect("few")],
            ms: 0,
            outbox: Outbox::new(),
        }
    }

    pub fn run(&mut self, ms: u64) {
        self.watch(ms, |_, _| ());
    }

    /// Runs, and hands over the datagrams of the server as they are sent, each millisecond.
    pub fn watch(&mut self, ms: u64, mut look: impl FnMut(&Session, &[Told])) {
        for _ in 0..ms {
            self.ms += 1;
            let now = Instant::from_micros(self.ms * 1000);
            for (nth, player) in self.players.iter_mut().enumerate() {
                while let Some(delivery) = player.links[0].receive(now) {
                    self.server.receive(now, PeerId(nth as u64), delivery.bytes).expect("nothing is bent");
                }
            }
            self.server.update(now, &mut self.world, &mut self.outbox);
            let mut told = Vec::new();
            for (to, datagram) in self.outbox.iter() {
                let nth = usize::try_from(to.0).expect("few");
                self.players[nth].links[1].send(now, datagram, &self.conditions);
                let player = self.server.players().find(|player| self.server.peer_of(*player) == Some(to));
                told.extend(player.map(|player| Told { player, bytes: datagram.to_vec() }));
            }
            self.outbox.clear();
            look(self, &told);
            for nth in 0..self.players.len() {
                self.update_client(now, nth);
            }
        }
    }

    fn update_client(&mut self, now: Instant, nth: usize) {
        let Session { players, conditions, outbox, paces, .. } = self;
        let player = &mut players[nth];
        while let Some(delivery) = player.links[1].receive(now) {
            player.client.receive(now, delivery.bytes).expect("nothing is bent");
        }
        if self.ms % 15 == nth as u64 % 15 {
            let own = player.client.player().map_or(0, |player| u64::from(player.get()));
            let pace = Pace { secret: OF_INPUT << 24 | own, ..paces[nth] };
            let frame = player.client.update(now, &mut player.world, &mut |_| pace, outbox);
            player.events.extend_from_slice(frame.events);
            for (_, datagram) in outbox.iter() {
                player.links[0].send(now, datagram, conditions);
            }
            outbox.clear();
        }
    }

    pub fn player(&self, nth: usize) -> PlayerId {
        self.players[nth].client.player().expect("they have joined")
    }

    /// What a player's client has of others.
    pub fn others(&self, nth: usize) -> Vec<Entity> {
        let (_, rows) = self.players[nth].client.newest_snapshot().expect("a state");
        let me = self.player(nth);
        rows.states::<Being>().filter(|(of, _)| of.owner != me).map(|(of, _)| of.entity).collect()
    }

    /// What of others is drawn for a player now, ascending.
    pub fn drawn(&self, nth: usize) -> Vec<Entity> {
        let (mut views, me) = (foretell::Views::new(), self.player(nth));
        self.players[nth].client.present(Instant::from_micros(self.ms * 1000), &mut views);
        let others = views.iter().filter(|view| view.owner != me && view.get::<Being>().is_some());
        others.map(|view| view.entity).collect()
    }

    /// The kits that are shown to a player, and whether they are predicted.
    pub fn drawn_kits(&self, nth: usize) -> Vec<(Owned, Kit, bool)> {
        let mut views = foretell::Views::new();
        self.players[nth].client.present(Instant::from_micros(self.ms * 1000), &mut views);
        let of = |view: View<'_>| {
            let of = Owned { entity: view.entity, owner: view.owner };
            Some((of, view.get::<Kit>()?, view.source == PoseSource::Predicted))
        };
        views.iter().filter_map(of).collect()
    }

    /// What a player may see at most, and must see at least when nothing changes any more.
    pub fn visible(&self, viewer: PlayerId, within_m: f32) -> Vec<Entity> {
        let (rows, facts) = (self.server.rows(), &self.world.facts);
        let eyes = eyes_of(rows, viewer, facts);
        let is_near = |place: [f32; 3]| eyes.iter().any(|eye| far(*eye, place) <= f64::from(within_m));
        let is_cloaked = |entity| facts.has_rules && facts.cloaked.contains(&entity);
        let is_seen = |entity: Entity| {
            let root = root_of(rows, entity);
            let place = rows.state::<Being>(root).expect("a being").place;
            let is_everything = facts.has_rules && facts.spectators.contains(&viewer);
            let is_flag = facts.has_rules && facts.flags.iter().any(|flag| root_of(rows, *flag) == root);
            let is_shown = rows.owner(root) == Some(viewer) || !is_cloaked(root);
            is_shown && !is_cloaked(entity) && (is_everything || is_flag || is_near(place))
        };
        let all = rows.states::<Being>().filter(|(of, _)| of.owner != viewer);
        all.map(|(of, _)| of.entity).filter(|entity| is_seen(*entity)).collect()
    }
}

/// On whom it sits that sits on nobody: itself where that is nobody, or goes in a circle.
pub fn root_of(rows: &Rows, entity: Entity) -> Entity {
    let mut root = entity;
    for _ in 0..1000 {
        match rows.state::<Rides>(root).and_then(|rides| rides.on).filter(|on| rows.has(*on)) {
            Some(on) => root = on,
            None => return root,
        }
    }
    entity
}

fn eyes_of(rows: &Rows, viewer: PlayerId, facts: &Facts) -> Vec<[f64; 3]> {
    let own = rows.states::<Being>().filter(|(of, _)| of.owner == viewer);
    let beings = own.map(|(of, _)| rows.state::<Being>(root_of(rows, of.entity)).expect("a being").place);
    let cameras = rows.states::<Camera>().filter(|(of, _)| of.owner == viewer).map(|(_, camera)| camera.place);
    let own = beings.chain(cameras).map(|place| place.map(f64::from));
    own.chain(facts.eye.filter(|_| facts.has_rules)).collect()
}

pub fn far(eye: [f64; 3], place: [f32; 3]) -> f64 {
    (0..3).map(|axis| (eye[axis] - f64::from(place[axis])).powi(2)).sum::<f64>().sqrt()
}

/// A thing of the server's.
pub fn thing(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

/// With this many snapshots in a second.
pub fn config(interest: Interest, rate: SendRate) -> ServerConfig {
    ServerConfig { interest, snapshot_rate: rate, relay_inputs: true, ..ServerConfig::default() }
}
