//! What comes late, or is shown late, is shown.

use super::woods::{Session, WITHIN, Woods, config, thing};
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{Client, ClientConfig, Interest, Rules, SendRate, World};
use foretell_sim::netsim::Conditions;

fn latency(ms: u64) -> Conditions {
    Conditions { latency: Duration::from_millis(ms), ..Conditions::default() }
}

/// Runs until a millisecond in which somebody is sent something, or nobody is.
fn run_until(session: &mut Session, is_sent: bool) {
    for _ in 0..200 {
        let mut sent = false;
        session.watch(1, |_, told| sent = told.iter().any(|told| !told.bytes.is_empty()));
        if sent == is_sent {
            return;
        }
    }
}

#[test]
fn what_comes_back_is_shown_though_that_it_was_hidden_is_told_later() {
    for (late_ms, begin_ms) in [60, 90, 110, 130].into_iter().flat_map(|late| (0..6).map(move |begin| (late, begin))) {
        let mut world = Woods::default();
        world.add(thing(0), [-70.0, 0.0, 0.0]);
        world.facts.has_rules = true;
        let mut session = Session::new(world, config(WITHIN, SendRate::Hz(16)), Predict::Own, 1);
        session.run(2000 + begin_ms * 11);
        // The snapshot in which it is cloaked is late; in the next one it is there again.
        [true, false].into_iter().for_each(|is_sent| run_until(&mut session, is_sent));
        session.world.facts.cloaked.push(thing(0));
        session.conditions = latency(30 + late_ms);
        [true, false].into_iter().for_each(|is_sent| run_until(&mut session, is_sent));
        session.world.facts.cloaked.clear();
        session.conditions = latency(30);
        session.run(3000);
        assert_eq!(session.others(0), [thing(0)]);
        assert_eq!(session.drawn(0), [thing(0)], "{late_ms} ms late, {begin_ms}");
        let is_over = |event: &ClientEvent| matches!(event, ClientEvent::Despawned { .. });
        assert!(!session.players[0].events.iter().any(is_over), "{late_ms} ms late, {begin_ms}");
    }
}

#[test]
fn what_is_there_for_a_short_while_is_shown_however_far_behind_others_are_shown() {
    let mut world = Woods::default();
    world.add(thing(0), [-70.0, 0.0, 0.0]);
    let mut session = Session::new(world, config(Interest::Everything, SendRate::Hz(16)), Predict::Own, 1);
    let (playout_wait_max, late_snapshots_max) = (Duration::from_secs(2), 0.0);
    let patient = ClientConfig { playout_wait_max, late_snapshots_max, ..ClientConfig::default() };
    session.players[0].client = Client::new(Rules::new(Woods::schema()), patient, 1);
    // What is very late for a while makes the delay longer than half a second.
    session.conditions = Conditions { jitter: Duration::from_millis(1200), ..latency(30) };
    session.run(8_000);
    session.conditions = latency(30);
    session.run(1_500);
    // For how many milliseconds each is drawn that is there for 200.
    let mut drawn_ms = [0; 20];
    let mut note = |session: &mut Session, ms: u64| {
        for _ in 0..ms {
            session.run(1);
            session.drawn(0).iter().for_each(|of| drawn_ms[usize::from(of.counter())] += 1);
        }
    };
    for nth in 1..20 {
        session.world.add(thing(nth), [-72.0, 0.0, 0.0]);
        note(&mut session, 200);
        session.world.remove(thing(nth));
        note(&mut session, 50);
    }
    note(&mut session, 3000);
    assert!(drawn_ms[2..].iter().all(|ms| *ms > 120), "{drawn_ms:?}");
}
