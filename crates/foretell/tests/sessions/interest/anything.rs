//! Whatever changes in what is there, whose it is, what is in reach and how a client asks for it, over any link: in the end a
//! client has what is in its view as the server has it, and nothing else.

use super::audiences::{check_hideouts, check_kits};
use super::woods::{Being, Health, LEAVES_AT_M, RADIUS_M, Session, WITHIN, Woods, config, thing};
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{Entity, Interest, PlayerId, SendRate, Tick};
use foretell_sim::netsim::{Conditions, Loss, Reordering, SplitMix64};

const THINGS: u16 = 60;

fn below(random: &mut SplitMix64, count: u16) -> u16 {
    (random.next_u64() % u64::from(count)) as u16
}

/// Something happens to one thing, or to what is seen.
fn change(session: &mut Session, random: &mut SplitMix64) {
    let entity = thing(below(random, THINGS));
    let owner = PlayerId::new(below(random, 3));
    let is_there = session.world.beings.get(entity).is_some();
    let facts = &mut session.world.facts;
    match below(random, 16) {
        0..3 if is_there => session.world.remove(entity),
        0..3 => session.world.add(entity, [f32::from(below(random, 200)) - 150.0, 0.0, 0.0]),
        3..6 if is_there => {
            let x = f32::from(below(random, 400)) - 250.0;
            session.world.beings.get_mut(entity).expect("there").place = [x, 0.0, 0.0];
        }
        6 if is_there => session.world.give(entity, owner),
        7 if facts.cloaked.contains(&entity) => facts.cloaked.retain(|of| *of != entity),
        7 => facts.cloaked.push(entity),
        8 => facts.spectators = vec![owner],
        9 => facts.has_rules = below(random, 3) > 0,
        10 => {
            let all = [WITHIN, WITHIN, Interest::Everything, Interest::Nearest(5)];
            session.server.config_mut().interest = all[usize::from(below(random, 4))];
        }
        11 if below(random, 4) == 0 => {
            // With this what others have is told exactly.
            let (of, is_on) = (PlayerId::new(9), below(random, 2) == 0);
            session.players[usize::from(below(random, 2))].client.predict(of, is_on);
        }
        12 => drop(facts.teams.insert(owner, below(random, 2) as u8)),
        13 => {
            let of = [entity, hideout(below(random, 4))][usize::from(below(random, 2))];
            facts.sides.insert(of, below(random, 2) as u8);
        }
        // One that is not there too, one that sits on this one, a player's.
        14 | 15 if is_there => {
            let own = session.world.beings.iter().find(|being| being.owner() == owner).map(|being| being.entity());
            let on = [None, own, Some(thing(below(random, THINGS))), Some(thing(below(random, THINGS)))];
            session.world.seat(entity, on[usize::from(below(random, 4))]);
        }
        _ => {}
    }
}

fn hideout(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, 500 + nth)
}

fn bad_link(random: &mut SplitMix64) -> Conditions {
    let ms = |ms: u16| Duration::from_millis(ms.into());
    Conditions {
        latency: ms(10 + below(random, 150)),
        jitter: ms(below(random, 40)),
        loss: Loss::Uniform(f64::from(below(random, 30)) / 100.0),
        reordering: Reordering { rate: 0.1, hold: ms(80) },
        ..Conditions::default()
    }
}

/// What each has is what is in view, as it is.
fn check(session: &Session, seed: u64) {
    for nth in 0..2 {
        let (me, has) = (session.player(nth), session.others(nth));
        let (near, all) = (session.visible(me, RADIUS_M), session.visible(me, LEAVES_AT_M));
        let lacking: Vec<&Entity> = near.iter().filter(|entity| !has.contains(entity)).collect();
        let surplus: Vec<&Entity> = has.iter().filter(|entity| !all.contains(entity)).collect();
        assert!(lacking.is_empty() && surplus.is_empty(), "seed {seed}, {me}: lacks {lacking:?}, has {surplus:?}");
        let (_, rows) = session.players[nth].client.newest_snapshot().expect("a state");
        let truth = session.server.rows();
        for entity in has {
            assert_eq!(rows.state::<Being>(entity), truth.state::<Being>(entity), "seed {seed}, {me}: {entity}");
            assert_eq!(rows.state::<Health>(entity), truth.state::<Health>(entity), "seed {seed}, {me}: {entity}");
            assert_eq!(rows.owner(entity), truth.owner(entity), "seed {seed}, {me}: {entity}");
        }
        let what = format!("seed {seed}");
        check_kits(session, nth, &what);
        check_hideouts(session, nth, &what);
    }
}

#[test]
fn whatever_has_changed_in_the_end_a_client_has_what_is_in_its_view_and_nothing_else() {
    // In the last ones something ends or is hidden just when it is not told exactly any more.
    for seed in (0..8).chain([31, 135, 179, 331, 1651]) {
        let mut random = SplitMix64::new(seed);
        let mut world = Woods::default();
        (0..THINGS).for_each(|nth| world.add(thing(nth), [f32::from(nth) * 4.0 - 150.0, 0.0, 0.0]));
        (0..4).for_each(|nth| world.add_hideout(hideout(nth)));
        let rate = if seed % 2 == 0 { SendRate::EveryTick } else { SendRate::Hz(16) };
        let mut session = Session::new(world, config(WITHIN, rate), Predict::Own, 2);
        session.run(1000);
        for _ in 0..4 {
            session.conditions = bad_link(&mut random);
            for _ in 0..40 {
                change(&mut session, &mut random);
                session.run(10 + u64::from(below(&mut random, 60)));
            }
            session.server.config_mut().interest = WITHIN;
            session.conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
            session.run(3000);
            check(&session, seed);
        }
        let events = session.players.iter().flat_map(|player| &player.events);
        let count = |of: fn(&ClientEvent) -> bool| events.clone().filter(|event| of(event)).count();
        let hidden = count(|event| matches!(event, ClientEvent::Hidden { .. }));
        let shown = count(|event| matches!(event, ClientEvent::Shown(_)));
        let gone = count(|event| matches!(event, ClientEvent::Despawned { .. }));
        assert!(hidden > 40 && shown > 20 && gone > 10, "seed {seed}: {hidden}, {shown} and {gone}");
    }
}
