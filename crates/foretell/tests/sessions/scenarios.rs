//! Scenarios: healthy worlds pass whatever goes wrong, and what fails is shrunk to a test that fails again.

use crate::common::Buttons;
use crate::common::f64_mass::{Body, Masses};
use crate::common::projectiles::{Keys, Range};
use crate::common::scenario::masses;
use core::time::Duration;
use foretell::{ClientConfig, Instant, PlayerId, Rules, SendRate, ServerConfig, Tick, World};
use foretell_sim::harness::check::{Bytes, Check, ClientSeen};
use foretell_sim::harness::{
    BotView, Driver, Fault, FaultMix, HostOptions, Leaving, PlayerOptions, Scenario, Schedule, Simulation, SyncTest,
    Way, What, Who,
};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};
use proptest::prelude::*;

#[test]
fn two_hundred_seeds_of_faults_pass() {
    let seen = masses().seeds(0..200).expect("no check complains");
    assert_eq!((seen.seeds, seen.simulated), (200, Duration::from_secs(3000)));
    assert!(seen.figures.minutes > 50.0 && seen.figures.corrections > 1000, "{seen:?}");
}

/// Just after a join the ways become longer by half, and the clocks are one per cent apart. Beside the little that was measured before,
/// nothing of that drift is certain for four seconds; meanwhile the clock leads by what it may make of the last round trip.
#[test]
fn a_drift_that_can_not_be_known_yet_makes_no_input_late() {
    for (drift_ppm, joins_ms) in
        [-9_243, 9_243, -5_000].into_iter().flat_map(|ppm| [7_236, 7_286, 7_336].map(|ms| (ppm, ms)))
    {
        let schedule =
            format!("0:p0:latency:both:147,0:p0:drift:{drift_ppm},6959-781:p0:latency:both:94,{joins_ms}:p0:join");
        masses().players(1).schedule(&schedule).run(1765).expect("no check complains");
    }
}

#[test]
fn who_leaves_while_nothing_comes_is_gone_soon_after_something_does() {
    let schedule = "6015:p0:leave:politely,5246-836:p1:loss:both:100";
    masses().players(2).length(Duration::from_millis(9000)).schedule(schedule).run(117).expect("no check complains");
}

#[test]
fn a_seed_and_its_schedule_are_the_same_run() {
    for seed in 100..105 {
        let drawn = FaultMix::default().draw(seed, 3, 15_000).to_string();
        let runs = [masses().run(seed), masses().run(seed), masses().schedule(&drawn).run(seed)];
        let [one, again, given] = runs.map(|run| run.expect("no check complains"));
        assert_eq!((one, one), (again, given));
    }
}

#[test]
fn the_world_of_the_tests_is_in_sync() {
    let input = |player: PlayerId, tick: Tick| {
        let part = u64::from(tick.get() / 8) ^ u64::from(player.get()) << 32;
        Buttons::from_bits(SplitMix64::new(part).next_u64())
    };
    assert_eq!(SyncTest::new(Rules::new(Masses::schema()), Masses::default).input(input).run(1000), Ok(()));
}

#[test]
fn figures_say_what_the_players_saw() {
    let seen = |faults: &str| masses().players(2).schedule(faults).run(7).expect("no check complains").figures;
    let calm = seen("0:p0:latency:both:40,0:p1:latency:both:40");
    assert_eq!((calm.corrections, calm.frozen_ms, calm.input_miss_share), (0, 0.0, 0.0), "{calm:?}");
    assert!((calm.minutes * 60.0 - 26.0).abs() < 1.0 && calm.step_excess_m.max < 1e-9, "{calm:?}");
    let pushed = seen("0:p0:latency:both:40,0:p1:latency:both:40,5000:s:event:1");
    assert_eq!((pushed.corrections, pushed.correction_m.count, pushed.teleports), (1, 1, 0));
    assert!(pushed.correction_m.max > 0.01 && pushed.step_excess_m.max > 1e-4, "{pushed:?}");
    assert!(pushed.step_excess_m.max < pushed.correction_m.max, "it is hidden: {pushed:?}");
    let deaf = seen("0:p0:latency:both:40,0:p1:latency:both:40,4000-1000:p0:loss:down:100");
    assert!((500.0..1100.0).contains(&deaf.frozen_ms) && deaf.not_playing_share > 0.01, "{deaf:?}");
    let late = seen("0:p0:latency:both:40,0:p1:latency:both:40,4000-1000:p0:loss:up:100");
    assert!((0.02..0.06).contains(&late.input_miss_share), "64 of two times 900: {late:?}");
    let slow = seen("0:p0:latency:both:40,0:p1:latency:both:40,4000-4000:p0:jitter:down:100");
    assert!(slow.playout_delay_ms.max > calm.playout_delay_ms.max + 50.0, "{slow:?}");
    let worst = calm.worst(pushed).worst(deaf);
    assert_eq!((worst.frozen_ms, worst.correction_m.max), (deaf.frozen_ms, pushed.correction_m.max));
}

/// A screen shows two frames or four in a step of the server.
#[test]
fn how_long_others_stood_still_is_seen_at_any_frame_rate() {
    for fps in [30, 120, 240] {
        let faults = format!("0:p0:latency:both:40,0:p0:fps:{fps},4000-1000:p0:loss:down:100");
        let seen = masses().players(2).schedule(&faults).run(7).expect("no check complains").figures;
        assert!((500.0..1100.0).contains(&seen.frozen_ms), "{fps}: {seen:?}");
    }
}

#[test]
fn frames_of_who_never_gets_in_are_not_played() {
    let dead = |_| [Loss::Uniform(1.0), Loss::Uniform(1.0)].map(|loss| Conditions { loss, ..Conditions::default() });
    let seen = masses().players(2).schedule("").links(dead).run(1).expect("no check complains").figures;
    assert_eq!((seen.minutes, seen.not_playing_share), (0.0, 1.0), "{seen:?}");
}

#[test]
fn bytes_that_are_lost_on_their_way_were_sent_all_the_same() {
    let sent = |faults: &str| masses().players(2).schedule(faults).run(7).expect("no check complains").figures;
    let (calm, lossy) = (sent("").down_bytes_per_s, sent("0:p0:loss:down:40,0:p1:loss:down:40").down_bytes_per_s);
    let twice = sent("0:p0:duplicates:down:100,0:p1:duplicates:down:100").down_bytes_per_s;
    assert!(calm > 1_000.0 && lossy > 0.9 * calm && twice < 1.1 * calm, "{calm} {lossy} {twice}");
}

#[test]
fn a_stall_that_has_no_length_disturbs_nothing() {
    struct Quiet;
    impl Check<Masses> for Quiet {
        fn name(&self) -> &'static str {
            "quiet"
        }
        fn after_client(&mut self, seen: &ClientSeen<'_, Masses>) -> Result<(), String> {
            let disturbed = seen.now > Instant::from_micros(9_000_000) && seen.quiet < Duration::from_secs(4);
            if disturbed { Err(format!("quiet for {:?}", seen.quiet)) } else { Ok(()) }
        }
    }
    masses().players(1).schedule("0:p0:latency:both:40,5:p0:stall").check(|| Quiet).run(1).expect("nothing happens");
}

#[test]
fn both_ends_agree_where_one_state_is_sent_per_second() {
    let server = ServerConfig { snapshot_rate: SendRate::Hz(1), ..ServerConfig::default() };
    masses().players(2).server(server).schedule("").run(1).expect("no check complains");
}

/// What a call says that panics.
fn said(call: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(call).expect_err("it is refused");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or(panic.downcast_ref::<&str>().map(|said| said.to_string()))
        .expect("words")
}

#[test]
fn a_scenario_that_can_not_mean_what_it_says_is_refused_in_a_sentence() {
    let run = |scenario: Scenario<Masses>| scenario.length(Duration::from_millis(100)).run(1).map(|_| ()).expect("run");
    let short = |ms| move || masses().length(Duration::from_millis(ms)).run(1).map(|_| ()).expect("run");
    for (said, fault, accepted) in [
        (said(short(5_000)), "of 5000 ms has no room for faults", "the last 7000 ms"),
        (said(short(7_500)), "of 7500 ms has no room for faults", "after 500 ms"),
        (said(move || run(masses().schedule("").without("nonsense"))), "`nonsense`", "there are outcomes, once, "),
        (said(move || run(masses().schedule("5:p3:stall"))), "`5:p3:stall`", "p0 to p2"),
        (said(move || run(masses().schedule("5:p0:rain"))), "`5:p0:rain`", "at[-length]:who:what"),
        (said(|| drop(masses().players(0))), "not 0", "1 to 255 players"),
        (said(|| drop(masses().length(Duration::ZERO))), "not 0ns", "from 1 ms to 49 days"),
        (said(|| drop(masses().length(Duration::MAX))), "not 1844", "from 1 ms to 49 days"),
        (said(|| drop(masses().seeds(5..5))), "none", "at least one seed"),
    ] {
        assert!(said.contains(fault) && said.contains(accepted), "{said}");
    }
    let without_all = ["outcomes", "world", "never starved"];
    run(without_all.into_iter().fold(masses().schedule(""), Scenario::without).check(|| NeverStarved));
    run(masses().faults(FaultMix::default().most(0)));
}

#[test]
fn seventy_players_are_within_their_bytes_and_a_budget_of_ones_own_holds() {
    let crowd = || {
        let server = ServerConfig { players_max: 70, ..ServerConfig::default() };
        masses().players(70).server(server).length(Duration::from_millis(2500)).schedule("").without("world")
    };
    crowd().run(1).expect("no check complains");
    let failure = *crowd().search(0).check(|| Bytes::new(16_000, 64_000)).run(1).expect_err("it is too much");
    assert_eq!(failure.check(), "bytes");
    assert!(failure.what().ends_with("at most 64000 are allowed"), "{failure}");
}

/// Everybody walks to and fro, and shoots.
fn shooters() -> Scenario<Range> {
    Scenario::new(Rules::new(Range::schema()), Range::default)
        .players(3)
        .bot(|_, random| {
            let [walks, fires] = [random.next_u64() % 3, random.next_u64() % 4];
            Keys { right: walks == 1, left: walks == 2, fire: fires == 0 }
        })
        .faults(FaultMix::default())
        .search(0)
}

#[test]
fn a_shot_of_who_was_somewhere_else_is_no_divergence() {
    // Who is hit is corrected in calm, too; so many shots need more bytes; and the world counts its own first times.
    ["calm", "bytes", "world"]
        .into_iter()
        .fold(shooters(), Scenario::without)
        .seeds(0..100)
        .expect("no check complains");
}

/// Complains when a machine is far from the first for long.
#[derive(Default)]
struct Together(u32);

impl Check<Masses> for Together {
    fn name(&self) -> &'static str {
        "together"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, Masses>) -> Result<(), String> {
        let Some(rows) = seen.truth.rows(seen.truth.newest()).filter(|rows| rows.len() == 2) else { return Ok(()) };
        let places: Vec<_> = rows.states::<Body>().map(|(_, body)| body.position[0]).collect();
        let is_apart = (places[0] - places[1]).abs() > 1.5;
        self.0 = if is_apart { self.0 + 1 } else { 0 };
        if self.0 > 360 { Err(format!("{places:?}")) } else { Ok(()) }
    }
}

#[test]
fn a_bot_that_follows_what_its_client_shows_stays_near_it_and_one_that_does_not_look_does_not() {
    let scenario = |looks: bool| {
        let bot = move |view: &BotView<'_>, random: &mut SplitMix64| {
            let side = random.next_u64().is_multiple_of(2);
            if view.index == 0 || !looks {
                return Buttons { left: side, right: !side, ..Buttons::default() };
            }
            let x = |own: bool| {
                let bodies = view.rows.states::<Body>();
                bodies.filter(|(of, _)| (of.owner == view.player) == own).map(|(_, body)| body.position[0]).next()
            };
            let (Some(own), Some(other)) = (x(true), x(false)) else { return Buttons::default() };
            Buttons { left: other < own - 0.3, right: other > own + 0.3, ..Buttons::default() }
        };
        let latencies = "0:p0:latency:both:40,0:p1:latency:both:40";
        masses()
            .players(2)
            .bot(bot)
            .schedule(latencies)
            .length(Duration::from_secs(40))
            .check(Together::default)
            .search(0)
    };
    scenario(true).seeds(0..5).expect("it follows");
    assert_eq!(scenario(false).seeds(0..5).expect_err("it goes anywhere").check(), "together");
}

/// Complains when the second player's client has been starved.
struct NeverStarved;

impl Check<Masses> for NeverStarved {
    fn name(&self) -> &'static str {
        "never starved"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, Masses>) -> Result<(), String> {
        let starved = seen.frame.state == foretell::ClientState::Starved && seen.machine == 1;
        if starved { Err("it is starved".to_owned()) } else { Ok(()) }
    }
}

fn scenario() -> Scenario<Masses> {
    masses().check(|| NeverStarved)
}

/// What a failure of `scenario` prints, pasted.
mod pasted {
    use super::scenario;

    #[test]
    #[should_panic(expected = "never starved: it is starved")]
    fn seed_104_never_starved_155d() {
        let length = core::time::Duration::from_millis(3300);
        let scenario = scenario().players(2).length(length).schedule("3000-302:p1:loss:down:100");
        scenario.run(104).expect("no check complains");
    }
}

#[test]
fn a_failure_is_shrunk_to_its_one_cause_and_printed_as_a_test_that_fails_again() {
    let faults = "0:p0:latency:both:80,0:p1:latency:both:20,0:p2:fps:30,1000-500:p2:loss:up:30,1200:p2:leave:politely,\
                  3000-2100:p1:loss:down:100,5200:s:event:3,6000-900:p0:jitter:both:30";
    let failure = *scenario().schedule(faults).run(104).expect_err("the second player is starved");
    assert_eq!(failure.check(), "never starved");
    assert_eq!(failure.schedule().to_string(), "3000-302:p1:loss:down:100", "{failure}");
    assert_eq!(failure.link(), None, "the lab does not play this game");
    let in_lab = *scenario().in_lab().schedule(faults).run(104).expect_err("the second player is starved");
    let link = in_lab.link().expect("the lab is said to play it");
    assert_eq!(link, "#faults=3000-302:p1:loss:down:100&seed=104&players=2&ms=3300");
    assert_eq!(failure, *scenario().schedule(faults).run(104).expect_err("again"), "shrinking is deterministic");
    let lines = |text: &str| text.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>();
    let (pasted, printed) = (lines(include_str!("scenarios.rs")), lines(&failure.test()));
    assert!(pasted.windows(5).any(|lines| lines == &printed[1..6]), "{failure}");
    let longer = *scenario().search(0).schedule("3000-400:p1:loss:down:100").run(104).expect_err("it is starved");
    assert_ne!(longer.test().lines().nth(1), failure.test().lines().nth(1), "another name, though of the same seed");
    assert!(failure.to_string().ends_with(&failure.test()), "{failure}");
    assert!(in_lab.to_string().contains(&failure.test()) && in_lab.to_string().ends_with(&link), "{in_lab}");
    let crowd = *scenario().in_lab().players(9).search(0).schedule("3000-400:p1:loss:down:100").run(1).expect_err("so");
    assert_eq!(crowd.link(), None, "the lab has room for eight");
}

/// What the scenarios have found in the core, each pasted from a failure.
mod found {
    use super::{Masses, Scenario, masses};

    fn alone(ms: u64, faults: &str) -> Scenario<Masses> {
        masses().players(1).length(core::time::Duration::from_millis(ms)).schedule(faults)
    }

    #[test]
    fn a_client_that_starts_again_sends_no_datagram_without_its_input() {
        alone(6157, "5484-649:p0:stall").run(15).expect("no check complains");
    }

    #[test]
    fn a_server_that_skips_time_reports_no_margin_from_before() {
        let faults = "0:p0:latency:both:125,0:s:batched,4796-1549:p0:stall,4629-2000:s:stall,2250-1183:s:stall";
        alone(12_000, faults).run(409).expect("no check complains");
    }

    #[test]
    fn a_client_that_sleeps_while_its_clock_waits_comes_back_in_front_of_the_server() {
        alone(15_000, "4646-1116:p0:stall,1055-2000:s:stall").run(1424).expect("no check complains");
    }

    #[test]
    fn a_client_that_plays_ticks_anew_after_a_stall_of_the_server_asks_and_steps_alike() {
        alone(9_000, "5979-1166:s:stall,7138-507:p0:stall").run(460).expect("no check complains");
        let faults = "0:p0:latency:both:113,5878-540:p0:stall,4045-1729:s:stall";
        alone(9_000, faults).run(686).expect("no check complains");
    }

    #[test]
    fn a_stall_or_a_way_that_is_short_for_a_moment_does_not_make_a_drift_forgotten() {
        alone(11_000, "0:p0:drift:-9230,0:s:drift:4263,4542-2462:p0:stall").run(33_956).expect("no check complains");
        let faults = "0:p0:latency:both:106,0:s:drift:8227,7506-82:p0:latency:up:33";
        alone(12_000, faults).run(32_196).expect("no check complains");
    }

    #[test]
    fn a_client_whose_clock_is_set_back_comes_back_in_front_of_the_server() {
        alone(9_000, "921:p0:step:-301").run(2).expect("no check complains");
        alone(9_000, "0:p0:latency:both:50,921:p0:step:-2000").run(2).expect("no check complains");
    }
}

fn any_way() -> impl Strategy<Value = Way> {
    prop::sample::select(vec![Way::Up, Way::Down, Way::Both])
}

fn any_fault() -> impl Strategy<Value = Fault> {
    let of_links =
        (any_way(), 0_u32..=100, 0_u32..=10_000, 1_u32..=100, 0_u32..6).prop_map(|(way, percent, ms, mean, kind)| {
            match kind {
                0 => What::Latency { way, ms },
                1 => What::Jitter { way, ms },
                2 => What::Loss { way, percent },
                3 => What::Bursts { way, percent: percent / 2, mean },
                4 => What::Duplicates { way, percent },
                _ => What::Reordering { way, percent },
            }
        });
    let of_machines = prop_oneof![
        (5_u32..=240).prop_map(|fps| What::FrameRate { fps }),
        Just(What::Batched),
        Just(What::Stall),
        (-50_000..=50_000).prop_map(|ppm| What::Drift { ppm }),
        (-60_000..=60_000).prop_map(|ms| What::Step { ms }),
    ];
    let of_players = prop_oneof![any::<bool>().prop_map(|politely| What::Leave { politely }), Just(What::Join)];
    let of_server = any::<u32>().prop_map(|number| What::Event { number });
    let player = any::<u8>().prop_map(Who::Player);
    let who = prop_oneof![
        (player.clone(), of_links),
        (player.clone(), of_players),
        (prop_oneof![player, Just(Who::Server)], of_machines),
        (Just(Who::Server), of_server),
    ];
    (any::<u32>(), any::<Option<u32>>(), who).prop_map(|(at_ms, length_ms, (who, what))| {
        let length_ms = length_ms.filter(|_| !what.happens_once());
        Fault { at_ms, length_ms, who, what }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schedule_is_its_text(faults in prop::collection::vec(any_fault(), 0..20)) {
        let schedule = Schedule(faults);
        let text = schedule.to_string();
        prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || ":,-".contains(c)), "{}", text);
        prop_assert_eq!(text.parse(), Ok(schedule));
    }

    #[test]
    fn any_text_is_a_schedule_or_refused(text in "[0-9a-z:,-]{0,40}") {
        if let Ok(schedule) = text.parse::<Schedule>() {
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }
}

#[test]
fn what_is_out_of_range_or_of_nobody_is_no_fault() {
    let refused = [
        "",
        "5:p0",
        "5:p0:loss:up",
        "5:p0:loss:up:101",
        "5:p0:loss:up:-1",
        "5:s:loss:up:5",
        "5:p0:event:1",
        "5:s:join",
        "5:p0:fps:4",
        "5:p0:drift:50001",
        "5:p256:stall",
        "-5:p0:stall",
        "5-:p0:stall",
        "5-9:p0:join",
        "5:p0:stall:1",
        "5:p0:bursts:up:51:2",
        "5:p0:bursts:up:5:0",
        "5:p0:leave:loudly",
        "5:p0:latency:sideways:5",
    ];
    for text in refused {
        assert!(text.parse::<Fault>().is_err(), "{text}");
    }
    let error = "5:p0:rain".parse::<Schedule>().expect_err("there is no rain");
    assert!(error.to_string().starts_with("`5:p0:rain` is no fault"), "{error}");
}

/// Presses nothing.
struct Idle;

impl Driver<Masses> for Idle {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }
}

fn simulation(reads_per_frame: bool) -> Simulation<Masses> {
    let mut simulation = Simulation::new(Rules::new(Masses::schema()), ServerConfig::default(), Masses::default(), 1);
    for _ in 0..2 {
        simulation.add_player(PlayerOptions {
            client: ClientConfig::default(),
            host: HostOptions { reads_per_frame, ..HostOptions::at(10) },
            conditions: Conditions { latency: Duration::from_millis(30), ..Conditions::default() },
            world: Masses::default(),
        });
    }
    simulation.run_until(Instant::from_micros(3_000_000), &mut Idle);
    simulation
}

#[test]
fn a_machine_that_is_taken_away_leaves_politely_or_in_silence() {
    for (how, players) in [(Leaving::Politely, 1), (Leaving::Silently, 2)] {
        let mut simulation = simulation(false);
        simulation.remove_player(0, how);
        let (gone, at) = (&simulation.players[0], simulation.players[0].client.tick());
        assert!(gone.is_gone() && !simulation.players[1].is_gone());
        simulation.run_until(Instant::from_micros(4_000_000), &mut Idle);
        assert_eq!(simulation.players[0].client.tick(), at, "it runs no more frames");
        assert_eq!(simulation.server.server.players().count(), players, "{how:?}");
        assert!(simulation.players[1].client.tick() > at, "the other plays on");
    }
}

#[test]
fn a_machine_that_reads_its_socket_once_per_frame_takes_datagrams_for_later_than_they_are() {
    let rtt = |reads_per_frame| simulation(reads_per_frame).players[0].client.stats().network.rtt.as_millis();
    let (when_due, per_frame) = (rtt(false), rtt(true));
    assert!((60..62).contains(&when_due) && (90..130).contains(&per_frame), "{when_due} {per_frame}");
}
