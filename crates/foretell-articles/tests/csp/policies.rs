//! What each policy of the article's client and server does, and the rules that stand in `redundancy.json`.

use crate::body::f64_mass::Body;
use crate::{Mass, Physics, Run, script};
use core::marker::PhantomData;
use foretell::motion::vector::squared_distance;
use foretell::{Instant, Tick};
use foretell_articles::csp::{
    ArrivalPlan, Client, ClientConfig, INPUTS_MAX, Reconciliation, Server, ServerConfig, since_state,
};
use foretell_sim::netsim::SplitMix64;
use proptest::prelude::*;
use serde_json::{Value, json};

fn cases(json: &str) -> Vec<Value> {
    let file: Value = serde_json::from_str(json).expect("the vectors are JSON");
    file["cases"].as_array().expect("a list of cases").clone()
}

fn u32_of(value: &Value) -> u32 {
    value.as_u64().and_then(|value| u32::try_from(value).ok()).expect("a 32-bit number")
}

fn tick_of(value: &Value) -> Tick {
    Tick::new(u32_of(value))
}

/// A run with impulses by the server and lost inputs.
fn config(seed: u64) -> Value {
    let mut config = cases(include_str!("../../../../vectors/csp_policies_f64.json"))[0]["config"].clone();
    config["gap_policy"] = "skip".into();
    config["redundant"] = false.into();
    config["seeds"] = json!([seed, seed + 100, 3]);
    config["loss"] = 0.25.into();
    config["latency_ms"] = 0.into();
    config
}

#[test]
fn redundancy_repeats_from_the_last_state_and_the_server_takes_what_is_new() {
    let cases = cases(include_str!("../../../../vectors/redundancy.json"));
    assert!(!cases.is_empty());
    for case in cases {
        if case["fn"] == "client_range" {
            let limit = case["limit"].as_u64().map(|limit| u32::try_from(limit).expect("small"));
            let range = since_state(tick_of(&case["last_state_tick"]), tick_of(&case["client_tick"]), limit);
            assert_eq!(range, (tick_of(&case["start"]), u32_of(&case["count"])), "{case}");
            continue;
        }
        let (next, start) = (tick_of(&case["server_tick"]), tick_of(&case["start"]));
        let expected = case["new"].as_bool().expect("a bool").then(|| ArrivalPlan {
            first: tick_of(&case["first_tick"]),
            applied: u32_of(&case["applied"]),
            gap: u32_of(&case["gap"]),
            next: tick_of(&case["next"]),
        });
        let plan = ArrivalPlan::of(next, start, u32_of(&case["count"]));
        assert_eq!(plan, expected, "{case}");
        let skipped = plan.map_or(0, |plan| plan.first.since(start));
        assert_eq!(skipped, u32_of(&case["start_i"]), "{case}");
    }
}

/// The article's server (R19): it simulates the inputs that come, and jumps over the ticks of those that do not.
#[test]
fn with_skip_the_server_simulates_the_inputs_that_came_and_nothing_else_whichever_were_lost() {
    let mut first_lost = 0;
    for seed in 1..=40 {
        let (mut run, mut alone) = (Run::<Body>::new(&config(seed)), Body::default());
        for (k, buttons) in (0..).zip(script(400)) {
            let lost = run.up.stats().lost;
            run.tick(k, buttons);
            if run.up.stats().lost == lost {
                alone.step(buttons, 1.0 / 64.0);
            }
            first_lost += u32::from(k == 0 && run.up.stats().lost > 0);
        }
        assert!(run.up.stats().lost > 50);
        assert_eq!(run.server.stats().steps, 400 - run.up.stats().lost, "seed {seed}");
        assert_eq!(run.server.state().place(), alone.place(), "seed {seed}");
    }
    assert!(first_lost > 5, "{first_lost}");
}

/// A client and a server over a way of 10 ticks there and back that loses nothing; the server pushes the body once a second.
/// What the client has counted, and how far the two are apart at last, when the body has come to rest.
fn pushed(reconciliation: Reconciliation) -> (foretell_articles::csp::ClientStats, f64) {
    let client = ClientConfig { reconciliation, ..ClientConfig::default() };
    let mut client = Client::new(Physics::<Body>(PhantomData), client, Body::default());
    let mut server = Server::new(Physics::<Body>(PhantomData), ServerConfig::default(), Body::default());
    let (mut up, mut down) = (Vec::new(), Vec::new());
    for (k, buttons) in (0_u64..).zip(script(640).into_iter().chain([Default::default(); 128])) {
        let mut datagram = Vec::new();
        client.tick(buttons, &mut datagram);
        up.push(datagram);
        if let Some(inputs) = k.checked_sub(5).and_then(|sent| up.get(usize::try_from(sent).ok()?)) {
            server.receive(inputs).expect("the client speaks the protocol");
        }
        let mut push = |tick: Tick, body: &mut Body| {
            if tick.get() < 640 && tick.get() % 64 == 63 {
                body.velocity[0] += 3.0;
            }
        };
        server.update(&mut push, &mut |state| down.push((k, state.to_vec())));
        for (_, state) in down.iter().filter(|(sent, _)| sent + 5 == k) {
            client.receive(state).expect("the server speaks the protocol");
        }
        client.reconcile(Instant::from_micros(k * 15_625));
    }
    (client.stats(), squared_distance(client.state().place(), server.state().place()).sqrt())
}

#[test]
fn without_reconciliation_a_push_is_never_seen_and_with_it_once_each() {
    let (off, far) = pushed(Reconciliation::Off);
    assert!(off.corrections == 0 && off.resimulated == 0 && far > 0.1, "{off:?}, {far} m");
    let (rolled, near) = pushed(Reconciliation::Rollback);
    assert!((1..=10).contains(&rolled.corrections) && near < 0.01, "{rolled:?}, {near} m");
}

#[test]
fn always_rolling_back_simulates_the_way_again_for_every_state() {
    let (rolled, _) = pushed(Reconciliation::Rollback);
    let (always, near) = pushed(Reconciliation::AlwaysRollback);
    assert_eq!(always.corrections, always.compared);
    assert!(always.resimulated > 20 * rolled.resimulated && near < 0.01, "{always:?}, {rolled:?}");
}

#[test]
fn snapping_simulates_nothing_again_and_is_wrong_for_as_long_as_the_body_moves() {
    let (rolled, _) = pushed(Reconciliation::Rollback);
    let (snapped, near) = pushed(Reconciliation::Snap);
    assert_eq!(snapped.resimulated, 0);
    assert!(snapped.corrections > 10 * rolled.corrections && near < 0.01, "{snapped:?}, {near} m");
}

/// R12: what is drawn as the last snapshot.
#[test]
fn the_last_snapshot_is_the_servers_state_of_its_tick_and_a_policy_may_change_on_the_way() {
    let mut client = Client::new(Physics::<Body>(PhantomData), ClientConfig::default(), Body::default());
    let mut server = Server::new(Physics::<Body>(PhantomData), ServerConfig::default(), Body::default());
    assert_eq!(client.snapshot(), None);
    let play = |ticks: u32, client: &mut Client<_>, server: &mut Server<_>| {
        for buttons in script(ticks) {
            let (mut inputs, mut states) = (Vec::new(), Vec::new());
            client.tick(buttons, &mut inputs);
            server.receive(&inputs).expect("the client speaks the protocol");
            server.update(&mut |_, body: &mut Body| body.velocity[0] += 0.5, &mut |state| states.push(state.to_vec()));
            states.iter().for_each(|state| client.receive(state).expect("the server speaks the protocol"));
            client.reconcile(Instant::ZERO);
        }
    };
    play(10, &mut client, &mut server);
    assert_eq!(client.snapshot(), Some((Tick::new(10), server.state())));
    assert_eq!((server.stats().states, client.stats().corrections), (10, 10));
    server.config_mut().snapshot_rate = foretell::SendRate::Hz(13);
    client.config_mut().reconciliation = Reconciliation::Off;
    play(10, &mut client, &mut server);
    assert_eq!((server.stats().states, client.stats().corrections), (12, 10));
}

/// R11: each player has a server of their own here, and a step for every input, however they come.
#[test]
fn inputs_that_come_together_are_all_simulated_in_their_order() {
    let mut client = Client::new(Physics::<Body>(PhantomData), ClientConfig::default(), Body::default());
    let mut server = Server::new(Physics::<Body>(PhantomData), ServerConfig::default(), Body::default());
    let mut datagrams = Vec::new();
    for buttons in script(48) {
        let mut datagram = Vec::new();
        client.tick(buttons, &mut datagram);
        datagrams.push(datagram);
    }
    datagrams.iter().for_each(|inputs| server.receive(inputs).expect("the client speaks the protocol"));
    let mut states = 0;
    server.update(&mut |_, _| {}, &mut |_| states += 1);
    assert_eq!((server.stats().steps, states, server.state()), (48, 48, client.state()));
}

/// A gap that is longer than what a server remembers is not filled up; it goes on from where the inputs do.
#[test]
fn a_player_who_comes_back_after_a_long_silence_is_not_simulated_through_it() {
    let (mut server, mut client) = (
        Server::new(Physics::<Body>(PhantomData), ServerConfig::default(), Body::default()),
        Client::new(Physics::<Body>(PhantomData), ClientConfig::default(), Body::default()),
    );
    let mut datagram = Vec::new();
    for _ in 0..5000 {
        datagram.clear();
        client.tick(crate::Buttons::default(), &mut datagram);
    }
    server.receive(&datagram).expect("the client speaks the protocol");
    server.update(&mut |_, _| {}, &mut |_| {});
    assert_eq!(server.next(), Tick::new(5000));
    assert!(server.stats().steps <= INPUTS_MAX as u64);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic_and_what_is_malformed_changes_nothing(
        bytes in prop::collection::vec(any::<u8>(), 0..200), seed in any::<u64>(),
    ) {
        let mut random = SplitMix64::new(seed);
        let mut client = Client::new(Physics::<Body>(PhantomData), ClientConfig::default(), Body::default());
        let mut server = Server::new(Physics::<Body>(PhantomData), ServerConfig::default(), Body::default());
        let (mut datagram, mut states) = (Vec::new(), Vec::new());
        client.tick(crate::Buttons::from_bits(random.next_u64() & 31), &mut datagram);
        server.receive(&datagram).expect("the client speaks the protocol");
        server.update(&mut |_, _| {}, &mut |state| states.extend_from_slice(state));
        for mut bytes in [bytes, datagram, states] {
            if !bytes.is_empty() {
                let at = usize::try_from(random.next_u64() % bytes.len() as u64).expect("small");
                bytes[at] ^= 1 << (random.next_u64() % 8);
            }
            let before = (server.next(), *server.state());
            let is_malformed = server.receive(&bytes).is_err();
            server.update(&mut |_, _| {}, &mut |_| {});
            if is_malformed {
                prop_assert_eq!((server.next(), *server.state()), before);
            }
            let _ = client.receive(&bytes);
            client.reconcile(Instant::ZERO);
        }
    }
}
