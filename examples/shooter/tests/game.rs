//! The shooter by itself, in sessions with faults, and measured against what it may cost.

use foretell::{Client, Entity, Frame, Instant, Newcomer, PlayerId, Rows, Server, ServerFrame, Tick, To};
use foretell_sim::harness::check::{Check, ServerSeen};
use foretell_sim::harness::{BotView, Driver, FaultMix, Moment, Scenario, ServerHost, SyncTest};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use shooter::bots::{Bot, Seen};
use shooter::game::{Game, distance};
use shooter::ground::Ground;
use shooter::measure::{Report, Terms, lines, measure};
use shooter::play::{Play, data_of, server_config};
use shooter::state::{Keys, Map, Soldier, Take, Wanderer, Weapon, rules};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

fn known() -> Arc<OnceLock<Ground>> {
    Arc::new(OnceLock::from(Ground::make(1)))
}

fn presses(random: &mut SplitMix64) -> Keys {
    let mut way = || (random.next_u64() % 3) as i8 - 1;
    let (right, up) = (way(), way());
    Keys { right, up, aim: random.next_u64() as u16, fires: random.chance(0.5), opens: random.chance(0.2) }
}

/// What a bot of a scenario sees: the rows that its client shows.
fn seen(rows: &Rows, me: PlayerId) -> Seen {
    let soldiers = || rows.states::<Soldier>();
    let others = soldiers().filter(|(of, _)| of.owner != me).map(|(_, one)| (one.at, one.velocity));
    let wanderers = rows.states::<Wanderer>().map(|(_, one)| (one.at, one.velocity));
    Seen {
        me: soldiers().find(|(of, _)| of.owner == me).map(|(_, one)| one),
        targets: others.chain(wanderers).collect(),
        ..Seen::default()
    }
}

#[test]
fn the_game_is_a_function_of_its_inputs() {
    let ground = known();
    let input = |player: PlayerId, tick: Tick| {
        presses(&mut SplitMix64::new(u64::from(player.get()) << 32 | u64::from(tick.get() / 20)))
    };
    SyncTest::new(rules(), || Game::new(ground.clone()))
        .input(input)
        .joins(|newcomer, _| Newcomer { data: data_of(usize::from(newcomer.player.get())), ..newcomer })
        .says(|player, tick| {
            let takes = tick.get() % 50 == u32::from(player.get());
            takes.then_some(Take(if tick.get() % 100 < 50 { Weapon::Rifle } else { Weapon::Crossbow }))
        })
        .run(600)
        .expect("the same whatever is done again");
}

/// What soldiers did in a run, as the server has it: whether there was anything to check.
#[derive(Default)]
struct Deeds {
    /// Where each was first.
    first: BTreeMap<Entity, [f32; 2]>,
    /// By how much two of them have come further apart than they were first, at most; in metres.
    apart_m: f32,
    /// Which ways they went, to the left, right, down and up; standing is one of the nine.
    ways: BTreeSet<[bool; 4]>,
}

struct Look(Rc<RefCell<Deeds>>);

impl Check<Game> for Look {
    fn name(&self) -> &'static str {
        "look"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, Game>) -> Result<(), String> {
        let (rows, mut deeds) = (seen.server.rows(), self.0.borrow_mut());
        let soldiers: Vec<_> = rows.states::<Soldier>().map(|(of, one)| (of.entity, one)).collect();
        for (entity, Soldier { at, velocity: [x, y], .. }) in &soldiers {
            deeds.first.entry(*entity).or_insert(*at);
            deeds.ways.insert([*x < -1.0, *x > 1.0, *y < -1.0, *y > 1.0]);
            for (other, Soldier { at: others, .. }) in &soldiers {
                let Some(first) = deeds.first.get(other).map(|first| distance(deeds.first[entity], *first)) else {
                    continue;
                };
                deeds.apart_m = deeds.apart_m.max(distance(*at, *others) - first);
            }
        }
        Ok(())
    }
}

#[test]
fn no_check_complains_whatever_links_and_machines_do() {
    let (ground, aims) = (known(), Ground::make(1));
    let deeds = Rc::new(RefCell::new(Deeds::default()));
    let look = deeds.clone();
    let scenario = Scenario::new(rules(), move || Game::new(ground.clone()))
        .players(4)
        .server(server_config())
        .ask(|player, request| request.with_data(data_of(player)).expect("it is short"))
        .bot(move |view: &BotView<'_>, random| {
            let (keys, mut bot) = (presses(random), Bot::new(random.next_u64()));
            bot.keys = keys;
            bot.think(Instant::ZERO, &seen(view.rows, view.player), &aims);
            // Its ways are of one who remembers where it goes.
            Keys { aim: bot.keys.aim, fires: bot.keys.fires, ..keys }
        })
        .faults(FaultMix::default())
        // What others do to a player can't be known in time: then it is corrected.
        .without("calm")
        .check(move || Look(look.clone()));
    for seed in 0..6 {
        deeds.take();
        scenario.run(seed).expect("no check complains");
        let Deeds { apart_m, ways, .. } = deeds.take();
        assert!(apart_m > 5.0 && ways.len() == 9, "seed {seed}: they go their own ways, {ways:?} and {apart_m} m");
    }
}

#[test]
fn it_costs_and_plays_as_it_should_on_a_bad_network() {
    let terms = Terms { bots: 16, seconds: 30, rtt: Duration::from_millis(150), loss: 0.05, seed: 1 };
    let (report, _) = measure(terms);
    let Report { hits_predicted, hits_confirmed, bolt_hits_predicted, bolt_hits_confirmed, .. } = report;
    assert!(report.down_bytes_per_client_per_s < 3_900.0, "{report:#?}");
    assert!(report.moving_corrections_per_min < 2.0, "{report:#?}");
    assert!(hits_predicted > 200 && 100 * hits_confirmed >= 99 * hits_predicted, "{report:#?}");
    assert!(bolt_hits_predicted > 100 && 50 * bolt_hits_confirmed >= 49 * bolt_hits_predicted, "{report:#?}");
    assert!(report.chat_ms_p50 <= 250.0 && report.chats_heard > 100, "{report:#?}");
    assert!(report.map_bytes <= 55_000.0 && report.moving_corrections_while_the_map_comes == 0, "{report:#?}");
    assert!(report.shown_within_40_m > 0.95 && report.heard_the_end == 17, "{report:#?}");
    assert!(report.glue_lines < report.logic_lines, "{report:#?}");
}

/// A session in which everybody is sent the map once more in the middle of it.
struct Again {
    play: Play,
    at: Tick,
    maps: usize,
    unexplained: usize,
}

impl Driver<Game> for Again {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        self.play.input(player, tick)
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Game>) {
        self.play.before_server(now, host);
        if host.server.tick() == self.at {
            host.server.send(To::All, &Map(self.play.desk.ground.clone())).expect("a map has room");
        }
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Game>, _frame: &ServerFrame<'_>) {}

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Game>, frame: &Frame<'_>) {
        self.maps += frame.messages.iter().filter(|message| message.get::<Map>().is_some()).count();
        let is_by_others =
            |causes: foretell::session::client::Causes| causes.names().any(|name| name.contains("other"));
        self.unexplained += frame.corrections.iter().filter(|one| !is_by_others(one.causes)).count();
        self.play.after_client(player, at, client, frame);
    }
}

#[test]
fn a_map_that_comes_while_all_are_in_play_disturbs_no_prediction() {
    let conditions = Conditions { latency: Duration::from_millis(75), ..Conditions::default() };
    let (play, mut session) = Play::begin(8, &conditions, 3, Tick::new(9000));
    let mut again = Again { play, at: Tick::new(300), maps: 0, unexplained: 0 };
    session.run_until(Instant::from_micros(15_000_000), &mut again);
    assert_eq!((again.maps, again.unexplained), (18, 0));
}

/// A session in which it is looked at where soldiers come back to life.
struct Respawns {
    play: Play,
    /// Where each is, and how often it has come back.
    last: BTreeMap<Entity, ([f32; 2], u8)>,
    /// How often any has.
    count: u32,
}

impl Driver<Game> for Respawns {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        self.play.input(player, tick)
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Game>) {
        self.play.before_server(now, host);
    }

    fn after_server(&mut self, _now: Instant, server: &Server<Game>, _frame: &ServerFrame<'_>) {
        for (of, Soldier { at, respawns, .. }) in server.rows().states::<Soldier>() {
            let (was, before) = self.last.insert(of.entity, (at, respawns)).unwrap_or((at, respawns));
            let has_walked = distance(was, at) < 0.5;
            assert!(has_walked || before != respawns, "from {was:?} to {at:?} without saying that it is elsewhere");
            self.count += u32::from(before != respawns);
        }
    }

    fn before_client(&mut self, player: usize, at: Moment, client: &mut Client<Game>) {
        self.play.before_client(player, at, client);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Game>, frame: &Frame<'_>) {
        self.play.after_client(player, at, client, frame);
    }
}

#[test]
fn a_soldier_who_comes_back_to_life_elsewhere_says_so() {
    let (play, mut session) = Play::begin(16, &Conditions::default(), 4, Tick::new(9000));
    let mut respawns = Respawns { play, last: BTreeMap::new(), count: 0 };
    session.run_until(Instant::from_micros(60_000_000), &mut respawns);
    assert!(respawns.count > 0, "{} came back to life", respawns.count);
}

#[test]
fn who_looks_on_sees_all_and_a_team_hears_what_is_for_it() {
    let conditions =
        Conditions { latency: Duration::from_millis(30), loss: Loss::Uniform(0.02), ..Conditions::default() };
    let (mut play, mut session) = Play::begin(4, &conditions, 5, Tick::new(1300));
    session.run_until(Instant::from_micros(45_000_000), &mut play);
    let spectator = &play.seats[4];
    let shown = |is: fn(&foretell::View<'_>) -> bool| spectator.views.iter().filter(is).count();
    assert_eq!(shown(|view| view.get::<Wanderer>().is_some()), 200);
    assert_eq!(shown(|view| view.get::<Soldier>().is_some()), 4);
    assert!(spectator.seen.me.is_none() && spectator.is_over);
    let told: Vec<_> = spectator.heard.iter().filter(|chat| chat.to_team).collect();
    assert!(told.is_empty(), "it is in no team");
    assert!(spectator.heard.len() >= 4);
    for seat in &play.seats[..4] {
        let mut teams = seat.heard.iter().filter(|chat| chat.to_team).map(|chat| chat.from.get() % 2);
        let first = teams.next().expect("its team has spoken");
        assert!(teams.all(|team| team == first), "a team hears itself alone");
    }
}

#[test]
fn over_sockets_everybody_plays_to_the_end() {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    let (status, ends) = runtime.block_on(shooter::sockets::play(3, 4)).expect("a port of this machine");
    assert_eq!(ends, [true; 3]);
    assert!(status.totals.inputs.applied > 200 && status.totals.malformed == 0, "{status:?}");
}

#[test]
fn the_guide_says_how_many_lines_it_takes() {
    let [logic, glue] = lines();
    let said = format!("{logic} are the game, {glue} are what it needs");
    assert!(include_str!("../../../docs/SHOOTER.md").contains(&said), "{said}");
}
