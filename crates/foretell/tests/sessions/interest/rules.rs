//! The rules of interest, ready ones and the game's own.

use super::woods::{Health, LEAVES_AT_M, Pace, RADIUS_M, Rides, Session, WITHIN, Woods, config, far, thing};
use core::time::Duration;
use foretell::session::client::{ClientEvent, Predict};
use foretell::{Entity, Interest, Owned, PlayerId, SendRate, ServerConfig, Tick};
use foretell_sim::netsim::{Conditions, Loss, Reordering};

/// Things on a line along x, from -100 m, a fixed distance apart. The first player is at -80 m.
fn line(count: u16, apart_m: f32) -> Woods {
    let mut world = Woods::default();
    (0..count).for_each(|nth| world.add(thing(nth), [f32::from(nth) * apart_m - 100.0, 0.0, 0.0]));
    world
}

fn session(world: Woods, interest: Interest, players: u64) -> Session {
    Session::new(world, config(interest, SendRate::EveryTick), Predict::Own, players)
}

fn place(session: &mut Session, nth: u16, x: f32) {
    session.world.beings.get_mut(thing(nth)).expect("there").place = [x, 0.0, 0.0];
}

/// What a client was told about one entity, in order.
fn life(session: &Session, entity: Entity) -> String {
    let letter = |event: &ClientEvent| match event {
        ClientEvent::Spawned(of) if *of == entity => Some('S'),
        ClientEvent::Confirmed(of) if *of == entity => Some('C'),
        ClientEvent::Hidden { entity: of, .. } if *of == entity => Some('H'),
        ClientEvent::Shown(of) if *of == entity => Some('V'),
        ClientEvent::Despawned { entity: of, .. } if *of == entity => Some('D'),
        _ => None,
    };
    session.players[0].events.iter().filter_map(letter).collect()
}

#[test]
fn what_is_within_the_radius_is_there_with_all_its_components_and_stays_until_it_is_farther() {
    for predict in [Predict::Own, Predict::Everyone] {
        let mut session = Session::new(line(100, 2.0), config(WITHIN, SendRate::EveryTick), predict, 1);
        session.run(1500);
        let me = session.player(0);
        assert_eq!(session.others(0), session.visible(me, RADIUS_M));
        assert_eq!(session.others(0).len(), 31, "from -100 m to -40 m");
        let healths = |session: &Session| {
            let (_, rows) = session.players[0].client.newest_snapshot().expect("a state");
            rows.states::<Health>().count() - 1
        };
        assert_eq!(healths(&session), 31);
        // It walks 6 m to the right, and back.
        for right in [true, false] {
            session.paces[0] = Pace { right, left: !right, ..Pace::default() };
            session.run(200);
        }
        session.paces[0] = Pace::default();
        session.run(1000);
        let (all, has) = (session.visible(me, LEAVES_AT_M), session.others(0));
        assert!(has.iter().all(|entity| all.contains(entity)));
        assert!(has.len() > session.visible(me, RADIUS_M).len(), "what has been near stays");
        assert_eq!(healths(&session), has.len());
    }
}

#[test]
fn what_leaves_the_view_is_hidden_and_is_shown_again_and_what_ends_is_gone() {
    for predict in [Predict::Own, Predict::Everyone] {
        let mut session = Session::new(line(4, 2.0), config(WITHIN, SendRate::EveryTick), predict, 1);
        session.run(1500);
        for x in [500.0, -100.0, 300.0, -90.0] {
            place(&mut session, 0, x);
            session.run(700);
        }
        session.world.remove(thing(1));
        place(&mut session, 2, 500.0);
        session.run(700);
        // Nobody hears of its end.
        session.world.remove(thing(2));
        session.run(700);
        assert_eq!([0, 1, 2, 3].map(|nth| life(&session, thing(nth))), ["SCHVHV", "SCD", "SCH", "SC"], "{predict:?}");
    }
}

#[test]
fn what_was_own_and_is_given_away_out_of_view_is_hidden_though_the_client_has_heard_of_neither() {
    let mut session = session(line(4, 2.0), WITHIN, 1);
    session.world.facts.has_rules = true;
    session.run(1500);
    let me = session.player(0);
    let link = core::mem::replace(&mut session.conditions.loss, Loss::Uniform(1.0));
    session.world.give(thing(0), me);
    session.run(1000);
    session.world.give(thing(0), PlayerId::SERVER);
    session.world.facts.cloaked.push(thing(0));
    session.run(1000);
    session.conditions.loss = link;
    session.run(3000);
    assert_eq!((session.others(0), life(&session, thing(0)).as_str()), ([1, 2, 3].map(thing).to_vec(), "SCH"));
}

#[test]
fn over_any_link_each_life_is_told_in_order_and_ends_where_the_server_has_it() {
    for seed in 0..6_u32 {
        let mut world = line(60, 4.0);
        world.facts.is_lively = true;
        let mut session = session(world, WITHIN, 1);
        let ms = |ms: u32| Duration::from_millis(u64::from(ms));
        session.conditions = Conditions {
            latency: ms(20 + 40 * seed),
            jitter: ms(10 * seed),
            loss: Loss::Uniform(0.06 * f64::from(seed)),
            reordering: Reordering { rate: 0.1, hold: ms(100) },
            ..Conditions::default()
        };
        for second in 0..12 {
            session.paces[0] = Pace { right: second % 6 < 3, left: second % 6 >= 3, ..Pace::default() };
            session.run(1000);
        }
        (session.world.facts.is_lively, session.paces[0]) = (false, Pace::default());
        session.conditions = Conditions { latency: ms(30), ..Conditions::default() };
        session.run(3000);
        let me = session.player(0);
        let (near, all, has) = (session.visible(me, RADIUS_M), session.visible(me, LEAVES_AT_M), session.others(0));
        assert!(near.iter().all(|entity| has.contains(entity)) && has.iter().all(|entity| all.contains(entity)));
        let mut entities: Vec<Entity> = session.players[0].events.iter().filter_map(spawned).collect();
        entities.sort_unstable();
        let mut hidden = 0;
        for entity in entities.into_iter().filter(|entity| entity.spawned_for() == PlayerId::SERVER) {
            let life = life(&session, entity);
            let mut rest = life.strip_prefix("SC").unwrap_or_else(|| panic!("{entity}: {life}"));
            while let Some(after) = rest.strip_prefix("HV") {
                (rest, hidden) = (after, hidden + 1);
            }
            let ends = if has.contains(&entity) { &[""][..] } else { &["H", "D"] };
            assert!(ends.contains(&rest), "seed {seed}, {entity}: {life}");
            let is_there = session.server.rows().has(entity);
            assert!(rest != "D" || !is_there, "seed {seed}, {entity} is there still: {life}");
        }
        assert!(hidden > 5, "seed {seed}: {hidden}");
    }
}

fn spawned(event: &ClientEvent) -> Option<Entity> {
    if let ClientEvent::Spawned(entity) = event { Some(*entity) } else { None }
}

#[test]
fn an_own_entity_that_nobody_else_is_told_of_is_an_eye() {
    for interest in [WITHIN, Interest::Nearest(10)] {
        let mut session = session(line(200, 2.0), interest, 2);
        session.run(1000);
        let me = session.player(0);
        let camera = session.world.add_camera(me, [200.0, 0.0, 0.0]);
        session.run(1000);
        let near_camera = |session: &Session, nth: usize| {
            let near =
                |entity: &&Entity| far([200.0, 0.0, 0.0], [f32::from(entity.counter()) * 2.0 - 100.0, 0.0, 0.0]) < 9.0;
            let others = session.others(nth);
            others.iter().filter(|entity| entity.spawned_for() == PlayerId::SERVER).filter(near).count()
        };
        assert!(near_camera(&session, 0) >= 5, "{interest:?}: {}", near_camera(&session, 0));
        assert_eq!(near_camera(&session, 1), 0, "the camera is not the other's");
        assert!(!session.players[1].client.newest_snapshot().expect("a state").1.has(camera));
    }
}

#[test]
fn the_game_shows_all_to_a_spectator_the_flag_to_all_and_what_is_cloaked_to_none() {
    let mut world = line(200, 2.0);
    world.facts.has_rules = true;
    world.facts.flags = vec![thing(199)];
    world.facts.cloaked = vec![thing(10)];
    let mut session = session(world, WITHIN, 2);
    session.run(1000);
    let (me, other) = (session.player(0), session.player(1));
    assert_eq!(session.others(0), session.visible(me, RADIUS_M));
    assert!(session.others(0).contains(&thing(199)) && !session.others(0).contains(&thing(10)));
    session.world.facts.spectators = vec![me];
    session.run(1000);
    assert_eq!((session.others(0).len(), session.others(1)), (200, session.visible(other, RADIUS_M)));
    // What is cloaked under their eyes is hidden; who is no spectator any more sees what is near.
    session.world.facts.cloaked.push(thing(11));
    session.run(500);
    assert_eq!((session.others(0).len(), life(&session, thing(11))), (199, "SCH".into()));
    (session.world.facts.spectators, session.world.facts.eye) = (vec![], Some([150.0, 0.0, 0.0]));
    session.run(500);
    assert_eq!(session.others(0), session.visible(me, LEAVES_AT_M));
    assert!(session.others(0).contains(&thing(120)), "the game has put up an eye at 150 m");
    // From a limit to none, and back.
    session.world.facts.has_rules = false;
    session.server.config_mut().interest = Interest::Everything;
    session.run(500);
    assert_eq!(session.others(0).len(), 201);
    session.server.config_mut().interest = WITHIN;
    session.run(500);
    assert_eq!(session.others(0), session.visible(me, LEAVES_AT_M));
}

#[test]
fn of_a_weight_of_four_something_is_told_four_times_as_often() {
    let mut world = Woods::default();
    // All equally far.
    let place = |nth: u16| [-80.0, f32::from(nth % 2) * 40.0 - 20.0, 0.0];
    (0..400).for_each(|nth| world.add(thing(nth), place(nth)));
    world.facts.has_rules = true;
    world.facts.heavy = (0..40).map(thing).collect();
    let narrow = ServerConfig { budget: 24_000, ..config(WITHIN, SendRate::EveryTick) };
    let mut session = Session::new(world, narrow, Predict::Own, 1);
    session.run(4000);
    let mut ages = [Vec::new(), Vec::new()];
    for _ in 0..200 {
        (0..400).for_each(|nth| session.world.beings.get_mut(thing(nth)).expect("there").place[2] += 0.001);
        session.run(16);
        let (tick, rows) = session.players[0].client.newest_snapshot().expect("a state");
        for row in rows.iter().filter(|row| row.owner == PlayerId::SERVER && row.component.0 == 0) {
            let told = session.players[0].client.told_in(row.key()).unwrap_or(Tick::ZERO);
            ages[usize::from(row.entity.counter() < 40)].push(f64::from(tick.since(told)));
        }
    }
    let [light, heavy] = ages.map(|ages| ages.iter().sum::<f64>() / ages.len() as f64);
    assert!(light > 2.5 * heavy && light < 6.0 * heavy, "{light:.1} and {heavy:.1} ticks ago in the mean");
}

#[test]
fn what_never_moves_takes_no_places_of_the_nearest() {
    let mut world = line(400, 0.5);
    world.facts.is_lively = false;
    let mut session = session(world, Interest::Nearest(10), 1);
    session.run(3000);
    // Those from 150 to 169 walk, at 10 to 20 m from the player; a hundred that stand are nearer.
    let walks = |nth: u16| (150..170).contains(&nth);
    for _ in 0..60 {
        for nth in (0..400).filter(|nth| walks(*nth)) {
            session.world.beings.get_mut(thing(nth)).expect("there").place[2] += 0.01;
        }
        session.run(16);
    }
    session.run(500);
    let others = session.others(0);
    let walking = others.iter().filter(|entity| walks(entity.counter())).count();
    assert_eq!((walking, others.len()), (10, 20), "as many of those that stand");
}

#[test]
fn what_has_moved_and_stands_is_no_scenery_when_it_gains_or_loses_a_component() {
    let mut session = session(line(400, 0.5), Interest::Nearest(10), 1);
    session.run(3000);
    // Ten have walked, at 10 to 15 m from the player; forty that stand are nearer.
    for _ in 0..10 {
        (60..70).for_each(|nth| session.world.beings.get_mut(thing(nth)).expect("there").place[2] += 0.01);
        session.run(16);
    }
    session.run(500);
    session.world.seat(thing(65), None);
    session.run(500);
    session.world.rides.remove(thing(65));
    session.run(500);
    assert!(session.others(0).contains(&thing(65)));
    assert_eq!(life(&session, thing(65)), "SC");
}

#[test]
fn what_sits_on_another_is_seen_with_it_and_not_where_its_own_place_says() {
    for interest in [WITHIN, Interest::Nearest(3), Interest::Everything] {
        // At -100, 0, 100 and 200 m; the first player is at -80 m.
        let mut world = line(4, 100.0);
        for nth in 0..4 {
            let (rider, on_it) = (thing(10 + nth), thing(20 + nth));
            world.add(rider, [-79.0, 0.0, 0.0]);
            world.add(on_it, [f32::from(nth), 0.0, 0.0]);
            world.seat(on_it, Some(rider));
            world.seat(rider, Some(thing(nth)));
        }
        let mut session = session(world, interest, 1);
        session.run(1500);
        let with_riders = |all: &[u16]| {
            let riders = [0, 10, 20].into_iter().flat_map(|first| all.iter().map(move |nth| thing(first + nth)));
            riders.collect::<Vec<_>>()
        };
        let (near, far): (&[u16], &[u16]) = match interest {
            Interest::Within { .. } => (&[0], &[]),
            // Of those that have not moved: riders take no places from them.
            Interest::Nearest(_) => (&[0, 1, 2], &[3]),
            Interest::Everything => (&[0, 1, 2, 3], &[]),
        };
        assert_eq!(session.others(0), with_riders(near), "{interest:?}");
        // What takes a seat on what has been near, and is a little too far for the rest, is seen with it.
        if interest == WITHIN {
            place(&mut session, 0, -80.0 + (RADIUS_M + LEAVES_AT_M) / 2.0);
            session.run(700);
        }
        session.world.add(thing(30), [1000.0, 0.0, 0.0]);
        session.world.seat(thing(30), Some(thing(20)));
        session.run(700);
        assert_eq!(session.others(0).len(), 3 * near.len() + 1, "{interest:?}");
        // Off it, it is where it is.
        session.world.seat(thing(30), None);
        session.world.facts.has_rules = true;
        session.world.facts.cloaked = vec![thing(0)];
        session.world.facts.flags = far.iter().map(|nth| thing(20 + nth)).collect();
        session.run(1500);
        let left = session.others(0);
        assert_eq!(left.contains(&thing(30)), interest == Interest::Everything);
        let rest: Vec<_> = left.into_iter().filter(|entity| *entity != thing(30)).collect();
        let shown: Vec<_> = [&near[1..], far].concat();
        assert_eq!(
            rest,
            with_riders(&shown),
            "with what is hidden all on it is; with what is always seen, too: {interest:?}"
        );
    }
}

#[test]
fn who_sits_on_another_looks_from_there() {
    let mut session = session(line(4, 100.0), WITHIN, 1);
    session.run(1500);
    assert_eq!(session.others(0), [thing(0)]);
    let me = session.player(0);
    let own = session.world.beings.iter().find(|being| being.owner() == me).map(|being| being.entity());
    let own = own.expect("one that it moves");
    session.world.seat(own, Some(thing(3)));
    session.run(700);
    assert_eq!(session.others(0), [thing(3)]);
    // And has all that is on it in view.
    session.world.seat(own, None);
    session.world.seat(thing(3), Some(own));
    session.run(700);
    assert_eq!(session.others(0), [thing(0), thing(3)]);
    // So does one that is nowhere by itself.
    session.world.seat(thing(3), None);
    session.world.rides.insert(Owned { entity: thing(40), owner: me }, Rides { on: Some(thing(2)) });
    session.run(700);
    assert_eq!(session.others(0), [thing(0), thing(2)]);
}
