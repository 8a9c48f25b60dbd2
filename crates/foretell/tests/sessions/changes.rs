//! What is the server's, changed ahead of it: coins that are picked up, tokens that are gone then, a gate that is opened.

use foretell::session::client::{Causes, Client, ClientEvent, Frame};
use foretell::{
    ClientConfig, Entity, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, ServerFrame, Simulate, State,
    Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{BotView, Driver, FaultMix, HostOptions, Moment, PlayerOptions, Scenario, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

const COINS: u8 = 12;
const REACH_M: f32 = 0.3;
const STEP_M: f32 = 0.1;
const GATE_M: f32 = 4.0;
const COIN_BACK: u32 = 150;
const GATE_STAYS: u32 = 120;
const TOKEN_FALLS: u32 = 60;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    way: i8,
    opens: bool,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Runner {
    #[state(position)]
    x: [f32; 1],
    coins: u32,
    tokens: u32,
}

/// It stays, and lies there again from a tick on. It is told rarely, and so shown later than others.
#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
#[state(hz = 12)]
struct Coin {
    #[state(position)]
    x: [f32; 1],
    back: u32,
}

/// Gone when somebody has it.
#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Token {
    #[state(position)]
    x: [f32; 1],
    /// The tick from which it can be had.
    from: u32,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Gate {
    closes: u32,
}

#[derive(World, Default)]
struct Course {
    runners: Table<Runner>,
    coins: Table<Coin>,
    tokens: Table<Token>,
    gates: Table<Gate>,
    /// Whether a token can be had in the tick in which it comes, which nobody foresees.
    #[world(constant)]
    at_once: bool,
}

impl Simulate for Course {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        let tick = step.tick().get();
        self.runners.remove_left(step);
        for joined in step.joined() {
            self.runners.spawn(step, joined.player, Runner::default());
        }
        if step.is_authority() {
            self.furnish(step);
        }
        for mut runner in self.runners.simulated(step) {
            let of = runner.owned();
            let Some(Keys { way, opens }) = step.input(of.owner).map(|player| player.input) else { continue };
            let gate = self.gates.iter().next().map(|gate| (gate.owned(), gate.closes));
            if let Some((gate, closes)) = gate.filter(|_| opens && (runner.x[0] - GATE_M).abs() < 1.0)
                && closes <= tick
                && let Some(mut gate) = self.gates.change(step, of, gate.entity)
            {
                gate.closes = tick + GATE_STAYS;
            }
            let is_open = self.gates.iter().any(|gate| gate.closes > tick);
            let to = runner.x[0] + f32::from(way.signum()) * STEP_M;
            let passes = (runner.x[0] < GATE_M) != (to < GATE_M);
            if let Some((gate, _)) = gate.filter(|_| passes) {
                // Whether it is open decides how it goes on, and another may have opened it.
                step.touch(of, gate);
            }
            if way != 0 && (is_open || !passes) {
                runner.x[0] = to;
            }
            let is_near = |x: f32| (x - to).abs() < REACH_M;
            let coin = self.coins.iter().find(|coin| coin.back <= tick && is_near(coin.x[0])).map(|coin| coin.entity());
            if let Some(mut coin) = coin.and_then(|coin| self.coins.change(step, of, coin)) {
                coin.back = tick + COIN_BACK;
                runner.coins += 1;
            }
            let token =
                self.tokens.iter().find(|token| token.from <= tick && is_near(token.x[0])).map(|token| token.entity());
            if let Some(token) = token.filter(|token| self.tokens.change(step, of, *token).is_some()) {
                self.tokens.remove(token);
                runner.tokens += 1;
            }
        }
    }
}

impl Course {
    /// What there is from the start, and a token now and then.
    fn furnish(&mut self, step: &mut Step<'_, Keys>) {
        if self.gates.is_empty() {
            self.gates.spawn(step, PlayerId::SERVER, Gate::default());
            for nth in 0..COINS {
                self.coins.spawn(step, PlayerId::SERVER, Coin { x: [f32::from(nth) - 6.0], back: 0 });
            }
        }
        let tick = step.tick().get();
        if tick.is_multiple_of(90) && self.tokens.len() < 4 {
            let x = (tick / 90 * 7 % 17) as f32 - 8.0;
            let from = tick + if self.at_once { 0 } else { TOKEN_FALLS };
            self.tokens.spawn(step, PlayerId::SERVER, Token { x: [x], from });
        }
    }
}

fn rules() -> Rules {
    Rules::new(Course::schema())
}

/// What players and bots press: a way for half a second, and the gate now and then.
fn presses(player: usize, tick: Tick, seed: u64) -> Keys {
    let mut random = SplitMix64::new(seed << 40 ^ (player as u64) << 32 ^ u64::from(tick.get() / 40));
    let way = (random.next_u64() % 3) as i8 - 1;
    Keys { way, opens: SplitMix64::new(u64::from(tick.get()) ^ seed).chance(0.1) }
}

/// What a client has of the course: the coins that are away, the tokens that lie there, and whether the gate is open.
#[derive(Default, PartialEq, Debug, Clone)]
struct Shown {
    coins: BTreeMap<Entity, u32>,
    tokens: BTreeSet<Entity>,
    gate: u32,
}

/// Looks at what everybody is shown.
#[derive(Default)]
struct Watch {
    seed: u64,
    /// Whether all press the same, and meet at each coin.
    together: bool,
    views: Views,
    shown: BTreeMap<usize, Shown>,
    own: BTreeMap<usize, Runner>,
    /// When a coin was last shown to be taken.
    changed: BTreeMap<usize, Tick>,
    /// Frames in which the own runner had something that lay there still, or lay there again.
    flickers: Vec<String>,
    confirmed: usize,
    refused: usize,
    corrections: Vec<Causes>,
    taken: BTreeSet<(PlayerId, u32, u32)>,
}

impl Driver<Course> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        presses(if self.together { 0 } else { player }, tick, self.seed)
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Course>, frame: &Frame<'_>) {
        for event in frame.events {
            self.confirmed += usize::from(matches!(event, ClientEvent::ChangeConfirmed { .. }));
            self.refused += usize::from(matches!(event, ClientEvent::ChangeRefused { .. }));
        }
        self.corrections.extend(frame.corrections.iter().map(|one| one.causes));
        client.present(at.local, &mut self.views);
        let mut shown = Shown::default();
        let mut own = None;
        for view in &self.views {
            if let Some(coin) = view.get::<Coin>() {
                shown.coins.insert(view.entity, coin.back);
            } else if view.get::<Token>().is_some() {
                shown.tokens.insert(view.entity);
            } else if let Some(gate) = view.get::<Gate>() {
                shown.gate = gate.closes;
            } else if Some(view.owner) == client.player() {
                own = view.get::<Runner>();
            }
        }
        let Some(own) = own else { return };
        let before = self.shown.insert(player, shown.clone()).unwrap_or_default();
        let had = self.own.insert(player, own).unwrap_or_default();
        let is_back = |(coin, back): (&Entity, &u32)| shown.coins.get(coin).is_some_and(|now| now < back);
        if before.coins.iter().any(is_back) || shown.gate < before.gate {
            self.flickers.push(format!("{player} in {}: {before:?} {shown:?}", client.tick()));
        }
        if before.tokens.len() < shown.tokens.len()
            && shown
                .tokens
                .iter()
                .any(|token| !before.tokens.contains(token) && token.tick().get() + 60 < client.tick().get())
        {
            self.flickers.push(format!("{player} in {}: a token is back", client.tick()));
        }
        // What was got in this frame is away since then, or since the frame before: others are not shown between two states.
        if shown.coins != before.coins {
            self.changed.insert(player, client.tick());
        }
        let is_late = self.changed.get(&player).is_none_or(|changed| client.tick().since(*changed) > 2);
        if own.coins > had.coins && is_late && !before.coins.is_empty() {
            self.flickers.push(format!("{player} in {}: what it has is there still", client.tick()));
        }
    }

    fn after_server(&mut self, _: Instant, server: &foretell::Server<Course>, _: &ServerFrame<'_>) {
        self.taken.extend(server.rows().states::<Runner>().map(|(of, one)| (of.owner, one.coins, one.tokens)));
    }
}

/// So many players over a link, for half a minute.
fn run(players: usize, conditions: &Conditions, together: bool, seed: u64) -> (Watch, Simulation<Course>) {
    run_at(SendRate::EveryTick, players, conditions, together, seed)
}

/// The same with states at this rate.
fn run_at(
    rate: SendRate,
    players: usize,
    conditions: &Conditions,
    together: bool,
    seed: u64,
) -> (Watch, Simulation<Course>) {
    let config = ServerConfig { snapshot_rate: rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules(), config, Course::default(), seed);
    let mut watch = Watch { seed, together, ..Watch::default() };
    for _ in 0..players {
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions: conditions.clone(), world: Course::default() });
    }
    simulation.run_until(Instant::from_micros(30_000_000), &mut watch);
    (watch, simulation)
}

fn totals(simulation: &Simulation<Course>) -> (u32, u32) {
    let runners = simulation.server.world.runners.iter();
    runners.fold((0, 0), |(coins, tokens), one| (coins + one.coins, tokens + one.tokens))
}

#[test]
fn what_one_player_alone_takes_and_opens_is_so_at_once_and_stays_so() {
    let conditions = Conditions { latency: Duration::from_millis(100), ..Conditions::default() };
    let (watch, simulation) = run(1, &conditions, false, 3);
    let (coins, tokens) = totals(&simulation);
    assert!(coins > 15 && tokens > 2, "{coins} {tokens}");
    assert_eq!(watch.flickers, Vec::<String>::new());
    assert_eq!((watch.corrections, watch.refused), (Vec::new(), 0));
    assert!(watch.confirmed as u32 >= coins + tokens + 3, "the gate too: {} of {coins} {tokens}", watch.confirmed);
}

#[test]
fn of_two_who_take_the_same_one_gets_it_and_the_other_is_told() {
    let (_, tokens) = of_two_one_gets_it(SendRate::EveryTick, Loss::Uniform(0.0), 5);
    assert!(tokens > 0);
}

#[test]
fn of_two_who_take_the_same_one_gets_it_where_states_are_rare_and_lost_too() {
    for seed in 0..4 {
        of_two_one_gets_it(SendRate::Hz(15), Loss::Uniform(0.05), seed);
    }
}

/// How many coins and tokens they have then.
fn of_two_one_gets_it(rate: SendRate, loss: Loss, seed: u64) -> (u32, u32) {
    let conditions = Conditions { latency: Duration::from_millis(80), loss, ..Conditions::default() };
    let (watch, simulation) = run_at(rate, 2, &conditions, true, seed);
    let (coins, tokens) = totals(&simulation);
    assert!(coins > 5, "{coins} {tokens}");
    assert!(watch.refused > 5, "{}", watch.refused);
    // Where datagrams are lost inputs come late, too.
    let is_explained = |causes: &Causes| {
        causes.contains(Causes::OTHERS) || loss != Loss::Uniform(0.0) && causes.contains(Causes::OWN_INPUT)
    };
    let unexplained = watch.corrections.iter().filter(|causes| !is_explained(causes)).count();
    assert_eq!(unexplained, 0, "{:?}", watch.corrections);
    // Who was late is told once for each, not in every tick until it is shown.
    assert!(watch.refused <= watch.confirmed, "{} refused, {} confirmed", watch.refused, watch.confirmed);
    (coins, tokens)
}

#[test]
fn whatever_a_link_does_what_is_shown_comes_to_what_the_server_has() {
    for seed in 0..8 {
        let conditions = Conditions {
            latency: Duration::from_millis(20 + 30 * (seed % 4)),
            jitter: Duration::from_millis(15),
            loss: Loss::Uniform(0.05 * (seed % 3) as f64),
            ..Conditions::default()
        };
        let (watch, mut simulation) = run(3, &conditions, false, seed);
        assert!(watch.confirmed > 20, "seed {seed}: {}", watch.confirmed);
        let mut still = Watch { seed, ..Watch::default() };
        struct Still<'a>(&'a mut Watch);
        impl Driver<Course> for Still<'_> {
            fn input(&mut self, _: usize, _: Tick) -> Keys {
                Keys::default()
            }

            fn after_client(&mut self, player: usize, at: Moment, client: &Client<Course>, frame: &Frame<'_>) {
                self.0.after_client(player, at, client, frame);
            }
        }
        simulation.run_until(Instant::from_micros(33_000_000), &mut Still(&mut still));
        let world = &simulation.server.world;
        for (player, shown) in &still.shown {
            let truth: BTreeMap<_, _> = world.coins.iter().map(|coin| (coin.entity(), coin.back)).collect();
            assert_eq!(shown.coins, truth, "seed {seed}, player {player}");
            assert_eq!(
                Some(shown.gate),
                world.gates.iter().next().map(|gate| gate.closes),
                "seed {seed}, player {player}"
            );
        }
    }
}

#[test]
fn what_the_server_alone_has_changed_explains_what_follows_from_it() {
    let conditions = Conditions { latency: Duration::from_millis(60), ..Conditions::default() };
    Scenario::new(rules(), || Course { at_once: true, ..Course::default() })
        .bot(|view: &BotView<'_>, _| Keys { opens: false, ..presses(0, view.tick, 2) })
        .links(move |_| [conditions.clone(), conditions.clone()])
        .without("calm")
        .expect("somebody stands where a token comes", |seen| seen.corrections > 0)
        .seeds(0..4)
        .expect("no check complains");
}

fn scenario(players: u8) -> Scenario<Course> {
    Scenario::new(rules(), Course::default)
        .players(players)
        .bot(|view: &BotView<'_>, random| Keys {
            way: presses(usize::from(view.player.get()), view.tick, 9).way,
            opens: random.chance(0.1),
        })
        .faults(FaultMix::default())
}

#[test]
fn no_check_complains_whatever_links_and_machines_do() {
    scenario(1).seeds(0..12).expect("no check complains");
    // Who runs for the same coin is corrected now and then, however calm the network is.
    scenario(3).without("calm").seeds(0..12).expect("no check complains");
}

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Deeds {
    hits: bool,
    loots: bool,
    lights: bool,
    opens: bool,
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Crate {
    #[state(position)]
    x: [f32; 1],
    wood: u8,
}

/// What is in a crate.
#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Loot {
    gold: u8,
}

/// Of a crate that is on fire.
#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Fire {
    by: u16,
}

/// A state of one sort or another.
#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Lid {
    Closed { locks: u8 },
    Open { by: u16 },
}

#[derive(State, Clone, Copy, Default, PartialEq, Debug)]
struct Thief {
    gold: u32,
}

/// Crates that are looted, lit, opened and broken by all.
#[derive(World, Default)]
struct Yard {
    thieves: Table<Thief>,
    crates: Table<Crate>,
    loot: Table<Loot>,
    fires: Table<Fire>,
    lids: Table<Lid>,
}

impl Simulate for Yard {
    type Input = Deeds;

    fn step(&mut self, step: &mut Step<'_, Deeds>) {
        self.thieves.remove_left(step);
        for joined in step.joined() {
            self.thieves.spawn(step, joined.player, Thief::default());
        }
        if step.is_authority() && step.tick().get().is_multiple_of(20) && self.crates.len() < 5 {
            let entity = self.crates.spawn(step, PlayerId::SERVER, Crate { x: [1.0], wood: 3 });
            let of = Owned { entity, owner: PlayerId::SERVER };
            self.loot.insert(of, Loot { gold: 1 });
            self.lids.insert(of, Lid::Closed { locks: 2 });
        }
        for mut thief in self.thieves.simulated(step) {
            let by = thief.owned();
            let Some(deeds) = step.input(by.owner).map(|player| player.input) else { continue };
            let first = self.crates.iter().next().map(|one| one.owned());
            let Some(of) = first.filter(|_| deeds != Deeds::default()) else { continue };
            if deeds.loots && self.loot.get(of.entity).is_some() && step.change(by, of) {
                self.loot.remove(of.entity);
                thief.gold += 1;
            }
            if deeds.lights && self.fires.get(of.entity).is_none() && step.change(by, of) {
                self.fires.insert(of, Fire { by: by.owner.get() });
            }
            if deeds.opens
                && let Some(lid) = self.lids.change(step, by, of.entity)
            {
                *lid.into_inner() = Lid::Open { by: by.owner.get() };
            }
            let broken =
                deeds.hits.then(|| self.crates.change(step, by, of.entity)).flatten().is_some_and(|mut one| {
                    one.wood -= 1;
                    one.wood == 0
                });
            if broken {
                self.crates.remove(of.entity);
                self.loot.remove(of.entity);
                self.fires.remove(of.entity);
                self.lids.remove(of.entity);
            }
        }
    }
}

/// Does anything now and then, or nothing any more.
struct Thieves {
    seed: u64,
    rest: bool,
    refused: usize,
    confirmed: usize,
    views: Views,
    /// Frames in which a crate that is there is shown without its lid.
    bare: usize,
}

impl Driver<Yard> for Thieves {
    fn input(&mut self, player: usize, tick: Tick) -> Deeds {
        let mut random = SplitMix64::new(self.seed << 40 ^ (player as u64) << 32 ^ u64::from(tick.get()));
        let mut may = |chance: f64| random.chance(chance) && !self.rest;
        Deeds { hits: may(0.04), loots: may(0.04), lights: may(0.03), opens: may(0.03) }
    }

    fn after_client(&mut self, _: usize, at: Moment, client: &Client<Yard>, frame: &Frame<'_>) {
        for event in frame.events {
            self.confirmed += usize::from(matches!(event, ClientEvent::ChangeConfirmed { .. }));
            self.refused += usize::from(matches!(event, ClientEvent::ChangeRefused { .. }));
        }
        client.present(at.local, &mut self.views);
        let is_known = |view: &foretell::View<'_>| view.entity.tick().get() + 120 < client.tick().get();
        for view in self.views.iter().filter(|view| view.get::<Crate>().is_some() && is_known(view)) {
            let is_bare = !self.views.of(view.entity).any(|view| view.get::<Lid>().is_some());
            self.bare += usize::from(is_bare);
        }
    }
}

#[test]
fn whatever_is_made_of_them_clients_come_to_have_what_the_server_has_and_nothing_else() {
    for seed in 0..6 {
        let config = ServerConfig { snapshot_rate: SendRate::Hz(20), ..ServerConfig::default() };
        let mut simulation = Simulation::new(Rules::new(Yard::schema()), config, Yard::default(), seed);
        let conditions =
            Conditions { latency: Duration::from_millis(70), loss: Loss::Uniform(0.05), ..Conditions::default() };
        for nth in 0..3 {
            let client = ClientConfig { checkpoint_interval: 1 + 3 * nth, ..ClientConfig::default() };
            let host = HostOptions::at(60);
            simulation.add_player(PlayerOptions {
                client,
                host,
                conditions: conditions.clone(),
                world: Yard::default(),
            });
        }
        let mut thieves = Thieves { seed, rest: false, refused: 0, confirmed: 0, views: Views::new(), bare: 0 };
        simulation.run_until(Instant::from_micros(20_000_000), &mut thieves);
        thieves.rest = true;
        simulation.run_until(Instant::from_micros(25_000_000), &mut thieves);
        assert!(thieves.confirmed > 60 && thieves.refused > 5, "{} {}", thieves.confirmed, thieves.refused);
        assert_eq!(thieves.bare, 0, "seed {seed}");
        let has = |yard: &Yard| {
            let fires: Vec<_> = yard.fires.iter().map(|one| (one.entity(), *one)).collect();
            let lids: Vec<_> = yard.lids.iter().map(|one| (one.entity(), *one)).collect();
            let crates: Vec<_> = yard.crates.iter().map(|one| (one.entity(), *one)).collect();
            let loot: Vec<_> = yard.loot.iter().map(|one| (one.entity(), *one)).collect();
            (crates, loot, fires, lids)
        };
        let truth = has(&simulation.server.world);
        for (nth, player) in simulation.players.iter().enumerate() {
            assert_eq!(has(&player.world), truth, "seed {seed}, player {nth}");
        }
    }
}
