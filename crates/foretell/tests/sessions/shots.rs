//! Shots: what a player aims at is judged where it saw it, however slow its link is, and nobody gains by what it claims.

use core::cell::RefCell;
use core::time::Duration;
use foretell::SendRate;
use foretell::hits::{Cast, Shape};
use foretell::motion::vector::{length, sub};
use foretell::session::{HitReceipt, Offence, Ways};
use foretell::{
    Client, ClientConfig, EffectKind, Entity, Frame, Input, Instant, Messages, PlayerId, RewindBound, Rules,
    ServerConfig, ServerFrame, Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation, SyncTest};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeMap;
use std::rc::Rc;

const HIT: EffectKind = EffectKind(0);
const RUNS_MPS: f32 = 5.0;
/// Behind this wall nobody can be hit by the server's present.
const COVER_X: f32 = 0.0;
const RADIUS_M: f64 = 0.3;
/// By then everybody is in play and has been told of everything.
const SETTLED: Tick = Tick::new(180);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    run: [i8; 2],
    fires: bool,
    aim: [f32; 3],
}

#[derive(State, Clone, Copy, Default)]
struct Runner {
    #[state(position)]
    at: [f32; 3],
    #[state(velocity)]
    velocity: [f32; 3],
    /// Counts down to where it turns, of those that nobody plays.
    turns_in: u8,
}

/// Where an entity is, in metres.
type Place = (Entity, [f64; 3]);

/// What was seen where: by clients in their steps, and by the server when it looked back for the same.
#[derive(Default)]
struct Log {
    shown: BTreeMap<(PlayerId, Tick), Vec<Place>>,
    /// How far they are apart, in metres, with the bound that the server has for it.
    off: Vec<(f64, f64)>,
    /// How many were found by looking back.
    found: usize,
    /// The last state in which each was out in the open.
    open: BTreeMap<Entity, Tick>,
}

#[derive(World, Default)]
struct Range {
    runners: Table<Runner>,
    #[world(constant)]
    log: Rc<RefCell<Log>>,
}

impl Range {
    fn shoot(&self, step: &mut Step<'_, Keys>, shooter: PlayerId, from: [f32; 3]) {
        let past = step.rewound(shooter);
        let Some(input) = step.input(shooter).filter(|input| input.presented.is_some()) else { return };
        let seen: Vec<_> = past.poses().map(|(of, pose)| (of.entity, pose.position)).collect();
        let log = &mut *self.log.borrow_mut();
        log.found += seen.len();
        if !step.is_authority() {
            log.shown.entry((shooter, step.tick())).or_insert(seen);
        } else if let Some(shown) = log.shown.remove(&(shooter, step.tick())).filter(|_| step.tick() >= SETTLED) {
            for (entity, at) in shown {
                let found = seen.iter().find(|(seen, _)| *seen == entity);
                log.off.extend(found.map(|(_, seen)| (length(sub(at, *seen)), past.error_m(entity))));
            }
        }
        if input.input.fires {
            let cast = Cast::ray(from.map(f64::from), sub(input.input.aim.map(f64::from), from.map(f64::from)), 200.0);
            // Who is behind the wall is seen by nobody.
            let open = past.poses().filter(|(_, pose)| pose.position[0] < f64::from(COVER_X));
            let targets = open.map(|(of, pose)| (of, Shape::Sphere { radius: RADIUS_M }, pose));
            if let Some(hit) = cast.first(targets) {
                step.effect(HIT, hit.of.entity);
                step.hit(shooter, hit.of);
            }
        }
    }
}

impl Simulate for Range {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.runners.remove_left(step);
        for joined in step.joined() {
            self.runners.spawn(
                step,
                joined.player,
                Runner { at: [-0.9, 0.0, f32::from(joined.player.get()) * 4.0], ..Runner::default() },
            );
        }
        if step.is_authority() && step.tick() == Tick::new(1) {
            for nth in 0..6_u8 {
                let at = [f32::from(nth) - 3.0, 0.0, -2.0 * f32::from(nth)];
                self.runners.spawn(step, PlayerId::SERVER, Runner { at, velocity: [0.0; 3], turns_in: 5 * nth });
            }
        }
        let shooters: Vec<_> = self.runners.simulated(step).map(|one| (one.owner(), one.at)).collect();
        for (player, at) in shooters {
            self.shoot(step, player, [at[0], at[1] + 1.0, at[2]]);
        }
        let (tick, dt) = (step.tick(), step.seconds() as f32);
        for mut one in self.runners.simulated(step) {
            let (owner, entity) = (one.owner(), one.entity());
            if let Some(input) = step.input(owner) {
                one.velocity =
                    [f32::from(input.input.run[0]) * RUNS_MPS, 0.0, f32::from(input.input.run[1]) * RUNS_MPS];
            } else if owner == PlayerId::SERVER {
                // A turn of its own way every so often.
                one.turns_in = one.turns_in.checked_sub(1).unwrap_or(37);
                if one.turns_in == 0 {
                    let angle =
                        (entity.bits() as u32).wrapping_mul(31).wrapping_add(tick.get().wrapping_mul(2_654_435_761))
                            % 628;
                    let angle = angle as f32 / 100.0;
                    let [sin, cos] = [foretell::math::f32::sin(angle), foretell::math::f32::cos(angle)];
                    one.velocity = [RUNS_MPS * cos, 0.0, RUNS_MPS * sin];
                }
            }
            let velocity = one.velocity;
            (0..3).for_each(|axis| one.at[axis] += velocity[axis] * dt);
            if step.is_authority() && one.at[0] < COVER_X {
                self.log.borrow_mut().open.insert(entity, tick.next());
            }
        }
    }
}

/// Everybody runs to and fro, and shoots at what is drawn.
#[derive(Default)]
struct Bots {
    views: Views,
    drawn: BTreeMap<usize, [f32; 3]>,
    predicted: u32,
    taken_back: u32,
    receipts: Vec<HitReceipt>,
    /// Those that each player was told.
    told: BTreeMap<PlayerId, Vec<HitReceipt>>,
    /// When each player's client first simulated a tick, and how much later than it is safe somebody was hit.
    simulated: BTreeMap<(usize, Tick), Instant>,
    late: Vec<(Duration, Duration)>,
    /// How far each player's client has shown others behind its newest state, in ticks: the sum, and of how many frames.
    playout: BTreeMap<PlayerId, (f64, u32)>,
    log: Rc<RefCell<Log>>,
}

impl Driver<Range> for Bots {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        let turn = (tick.get() / 23).wrapping_add(5 * player as u32) % 7;
        let run = [[1, 0], [0, 1], [-1, 0], [1, 1], [0, -1], [-1, -1], [0, 0]][turn as usize];
        let aim = self.drawn.get(&player).copied();
        Keys {
            run,
            fires: aim.is_some() && (tick.get() + player as u32).is_multiple_of(5),
            aim: aim.unwrap_or_default(),
        }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Range>, frame: &Frame<'_>) {
        use foretell::session::client::ClientEvent;
        for event in frame.events {
            match event {
                ClientEvent::Effect { effect, .. } if effect.kind == HIT => self.predicted += 1,
                ClientEvent::EffectCancelled(_) => self.taken_back += 1,
                _ => {}
            }
        }
        let told = frame.messages.iter().filter_map(|message| message.get::<HitReceipt>());
        let told = told.map(|receipt| (client.player().expect("they play"), *receipt));
        told.for_each(|(player, receipt)| self.told.entry(player).or_default().push(receipt));
        self.simulated.entry((player, client.tick())).or_insert(at.now);
        client.present(at.local, &mut self.views);
        if let Some(player) = client.player().filter(|_| at.now > Instant::from_micros(5_000_000)) {
            let (sum, count) = self.playout.entry(player).or_default();
            (*sum, *count) = (*sum + client.stats().playout.delay_ticks, *count + 1);
        }
        let own = client.player();
        let mut others = self.views.iter().filter(|view| Some(view.owner) != own);
        let nth = (at.now.micros() / 300_000) as usize % 11;
        let aimed = others.nth(nth).map(|view| view.pose().position.map(|x| x as f32));
        self.drawn.remove(&player);
        self.drawn.extend(aimed.map(|aimed| (player, aimed)));
    }

    fn after_server(&mut self, now: Instant, _server: &foretell::Server<Range>, frame: &ServerFrame<'_>) {
        self.receipts.extend_from_slice(frame.receipts);
        let log = self.log.borrow();
        for receipt in frame.receipts.iter().filter(|receipt| receipt.victim_ways.is_some()) {
            let Some(open) = log.open.get(&receipt.victim.entity) else { continue };
            // In the state after this one it was behind the wall, which its own client made in the step of the tick before.
            let safe = self.simulated.get(&(usize::from(receipt.victim.owner.get()).wrapping_sub(1), open.next()));
            if let Some(safe) = safe.filter(|_| *open < receipt.tick) {
                self.late.push((now.since(*safe), receipt.after_cover()));
            }
        }
    }
}

struct Session {
    simulation: Simulation<Range>,
    bots: Bots,
}

impl Session {
    fn new(config: ServerConfig, latencies_ms: &[u64], seed: u64) -> Session {
        let log = Rc::new(RefCell::new(Log::default()));
        let world = || Range { runners: Table::default(), log: Rc::clone(&log) };
        let rules = Rules { messages: Messages::new().with::<HitReceipt>(), ..Rules::new(Range::schema()) };
        let mut simulation = Simulation::new(rules, config, world(), seed);
        for latency in latencies_ms {
            let conditions = Conditions {
                latency: Duration::from_millis(*latency),
                jitter: Duration::from_millis(*latency.min(&10)),
                loss: Loss::Uniform(0.05),
                ..Conditions::default()
            };
            let (client, host) = (ClientConfig::default(), HostOptions::at(60));
            simulation.add_player(PlayerOptions { client, host, conditions, world: world() });
        }
        Session { simulation, bots: Bots { log: Rc::clone(&log), ..Bots::default() } }
    }

    fn run(&mut self, seconds: u64) {
        self.simulation.run_until(Instant::from_micros(seconds * 1_000_000), &mut self.bots);
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * share) as usize]
}

/// Half of the way that who runs makes in one of 64 ticks in a second.
const HALF_A_TICK_M: f64 = RUNS_MPS as f64 / 128.0;
/// One way, in ms.
const LATENCIES_MS: [u64; 6] = [0, 25, 50, 75, 110, 145];

#[test]
fn what_is_drawn_is_found_again_within_half_a_ticks_way_at_any_round_trip_and_predicted_hits_are_confirmed() {
    let config = ServerConfig { rewind_max: Duration::from_millis(500), ..ServerConfig::default() };
    let mut session = Session::new(config, &LATENCIES_MS, 11);
    session.run(30);
    let Session { simulation, bots } = &session;
    let log = bots.log.borrow();
    let off = sorted(log.off.iter().map(|(off, _)| *off).collect());
    println!("of {} seen: p50 {:.5} m, p99.9 {:.4} m", off.len(), quantile(&off, 0.5), quantile(&off, 0.999));
    assert!(off.len() > 100_000 && quantile(&off, 0.5) < 0.001 && quantile(&off, 0.999) < HALF_A_TICK_M);
    let bounded = log.off.iter().filter(|(off, bound)| *off <= *bound + 1e-3).count();
    // Where two states in a row are lost it is more.
    assert!(bounded as f64 > 0.998 * off.len() as f64, "{bounded} of {} are within the bound of the error", off.len());
    println!("{} of {} predicted hits are taken back", bots.taken_back, bots.predicted);
    assert!(bots.predicted > 1000 && 1000 * bots.taken_back < bots.predicted);
    let server = &simulation.server.server;
    for player in server.players() {
        let offences = server.offences(player).expect("they play");
        assert_eq!(offences.count(Offence::View), 0, "{player:?} has claimed nothing that can't be");
        let of_player = || bots.receipts.iter().filter(|receipt| receipt.shooter() == player);
        assert!(of_player().count() > 50 && of_player().all(|receipt| receipt.rewind.bound == RewindBound::Claim));
        // Who shot and who was hit are told, but for what is under way still, and nobody else is.
        let is_of = |receipt: &&HitReceipt| [receipt.shooter(), receipt.victim.owner].contains(&player);
        let (told, all) = (&bots.told[&player], bots.receipts.iter().filter(is_of).count());
        assert!(told.iter().all(|receipt| is_of(&receipt) && bots.receipts.contains(receipt)));
        assert!(told.len() <= all && 20 * told.len() > 19 * all, "{player:?} is told {} of {all}", told.len());
        // What a shot is made of is what it was made of: the network, and how far behind others are shown.
        let round_trip = Duration::from_millis(2 * LATENCIES_MS[usize::from(player.get()) - 1]);
        let ways = round_trip..=round_trip + Duration::from_millis(40);
        for receipt in of_player() {
            assert!(ways.contains(&receipt.shooter_ways.round_trip), "{receipt:?}");
        }
        let playouts = of_player().map(|receipt| receipt.shooter_playout().as_secs_f64() * 64.0);
        let said = playouts.sum::<f64>() / of_player().count() as f64;
        let (shown, count) = bots.playout[&player];
        let shown = shown / f64::from(count);
        println!("{player}: others are shown {shown:.2} ticks behind, and {said:.2} are said");
        assert!((said - shown).abs() < 0.25, "{player}: {shown} ticks behind, and {said} are said");
    }
    assert_eq!(server.totals().hits.hits, bots.receipts.len() as u64);
}

#[test]
fn nobody_is_hit_later_after_cover_than_the_receipt_says_and_the_cap_bounds_what_a_slow_link_makes_of_it() {
    let mut session = Session::new(ServerConfig::default(), &LATENCIES_MS, 12);
    session.run(60);
    let Session { simulation, bots } = &session;
    let late = sorted(bots.late.iter().map(|(late, _)| late.as_secs_f64() * 1000.0).collect());
    println!("of {} hit in cover: p50 {:.0} ms, p99 {:.0} ms", late.len(), quantile(&late, 0.5), quantile(&late, 0.99));
    assert!(late.len() > 50 && quantile(&late, 0.99) < 420.0);
    assert!(bots.late.iter().all(|(late, said)| late <= said), "{:?}", bots.late);
    let cap = Duration::from_millis(251);
    assert!(bots.receipts.iter().all(|receipt| receipt.rewound() <= cap));
    let is_capped = |receipt: &&HitReceipt| receipt.rewind.bound == RewindBound::Cap;
    let capped = bots.receipts.iter().filter(is_capped).count();
    assert_eq!(simulation.server.server.totals().hits.bounded, capped as u64, "a slow link is no offence");
    let slowest = |receipt: &&HitReceipt| receipt.shooter() == PlayerId::new(6);
    assert!(capped > 50 && bots.receipts.iter().filter(slowest).all(|receipt| is_capped(&receipt)));
    let offences_of = simulation.server.server.players().filter_map(|player| simulation.server.server.offences(player));
    assert_eq!(offences_of.map(|offences| offences.count(Offence::View)).sum::<u64>(), 0);
}

#[test]
fn how_long_a_frame_of_who_shoots_takes_is_in_the_receipt_where_it_is_longer_than_a_tick() {
    let frames = [(20, 50.0), (30, 33.3), (60, 16.7), (240, 15.6)];
    let mut session = Session::new(ServerConfig::default(), &[30; 4], 15);
    for (player, (fps, _)) in session.simulation.players.iter_mut().zip(frames) {
        player.host.set_frames_per_second(Instant::ZERO, fps);
    }
    session.run(30);
    for (nth, (fps, expected_ms)) in (1..).zip(frames) {
        let shot =
            session.bots.receipts.iter().rfind(|receipt| receipt.shooter() == PlayerId::new(nth)).expect("it hits");
        let Ways { frame, round_trip, wait, .. } = shot.shooter_ways;
        let frame_ms = frame.as_secs_f64() * 1000.0;
        println!("{fps} frames per second: {frame_ms:.1} ms");
        assert!((frame_ms - expected_ms).abs() < 0.15 * expected_ms, "{fps} frames per second: {frame_ms} ms");
        assert!(shot.peek() > frame + round_trip / 2 + wait);
    }
}

#[test]
fn a_server_that_keeps_no_past_judges_by_the_present_and_who_is_slow_misses() {
    let config = ServerConfig { rewind_max: Duration::ZERO, ..ServerConfig::default() };
    let mut session = Session::new(config, &[75, 75, 75], 13);
    session.run(20);
    let Session { bots, .. } = &session;
    assert!(bots.receipts.iter().all(|receipt| receipt.rewound() == Duration::ZERO));
    assert!(5 * bots.taken_back > bots.predicted, "{} of {}", bots.taken_back, bots.predicted);
}

#[test]
fn who_is_told_less_often_than_each_tick_hits_as_well() {
    let config = ServerConfig { snapshot_rate: SendRate::Hz(20), ..ServerConfig::default() };
    let mut session = Session::new(config, &[10, 40], 14);
    session.run(30);
    let log = session.bots.log.borrow();
    let off = sorted(log.off.iter().map(|(off, _)| *off).collect());
    println!("of {} seen: p50 {:.5} m, p99 {:.4} m", off.len(), quantile(&off, 0.5), quantile(&off, 0.99));
    // A state that is lost leaves 94 ms between two, in which who turns at once has gone another way.
    assert!(off.len() > 10_000 && quantile(&off, 0.5) < 0.001 && quantile(&off, 0.99) < HALF_A_TICK_M / 2.0);
}

#[test]
fn a_world_by_itself_looks_back_as_one_in_a_session_does() {
    let log = Rc::new(RefCell::new(Log::default()));
    let world = || Range { runners: Table::default(), log: Rc::clone(&log) };
    let input = |player: PlayerId, tick: Tick| {
        let run = [i8::from(tick.get() % 40 < 20), i8::from(player.get() == 1)];
        Keys { run, fires: true, aim: [-1.0, 0.0, 8.0] }
    };
    assert_eq!(SyncTest::new(Rules::new(Range::schema()), world).input(input).run(300), Ok(()));
    assert!(log.borrow().found > 1000, "others were there to be seen");
}
