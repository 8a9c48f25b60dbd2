//! Who sits at the server is shown what a client of theirs would be told, by the same rules.

use super::woods::{Being, Kit, LEAVES_AT_M, Pace, RADIUS_M, WITHIN, Woods, config, far, thing};
use foretell::session::client::{ClientEvent, PoseSource};
use foretell::{Entity, Host, Instant, Interest, Outbox, PlayerId, Rules, SendRate, Tick, Views, World};
use std::collections::{BTreeMap, BTreeSet};

const HOST: PlayerId = PlayerId::new(1);

/// A host who walks through the woods, to and fro.
struct Walk {
    host: Host<Woods>,
    world: Woods,
    views: Views,
    events: Vec<ClientEvent>,
    frames: u64,
}

impl Walk {
    fn new(world: Woods, interest: Interest) -> Walk {
        let rules = Rules::new(Woods::schema());
        let host = Host::new(rules, config(interest, SendRate::EveryTick), 0, Instant::ZERO);
        Walk { host, world, views: Views::new(), events: Vec::new(), frames: 0 }
    }

    fn frame(&mut self) {
        let now = Instant::from_micros(self.frames * 1_000_000 / 60);
        let mut input = |tick: Tick| {
            let right = (tick.get() / 128).is_multiple_of(2);
            Pace { right, left: !right, ..Pace::default() }
        };
        let frame = self.host.update(now, &mut self.world, &mut input, &mut Outbox::new());
        self.events.extend_from_slice(frame.events);
        self.host.present(now, &mut self.views);
        self.frames += 1;
    }

    fn place(&self, entity: Entity) -> Option<[f32; 3]> {
        self.world.beings.get(entity).map(|being| being.place)
    }

    /// How far every other's being is now.
    fn distances(&self) -> BTreeMap<Entity, f64> {
        let own = self.world.beings.owned_by(HOST).next().expect("their own").place.map(f64::from);
        let others = self.world.beings.iter().filter(|being| being.owner() != HOST);
        others.map(|being| (being.entity(), far(own, being.place))).collect()
    }

    fn shown(&self) -> BTreeSet<Entity> {
        let beings = self.views.iter().filter(|view| view.owner != HOST && view.get::<Being>().is_some());
        beings.map(|view| view.entity).collect()
    }
}

fn lively(has_rules: bool) -> Woods {
    let mut world = Woods::default();
    (0..100).for_each(|nth| world.add(thing(nth), [f32::from(nth) * 3.0 - 150.0, 0.0, 0.0]));
    (world.facts.is_lively, world.facts.has_rules) = (true, has_rules);
    world.facts.cloaked = (0..100).step_by(5).map(thing).collect();
    world
}

#[test]
fn a_host_is_shown_what_is_in_reach_and_not_cloaked_and_nothing_of_what_is_for_others() {
    for has_rules in [false, true] {
        let mut walk = Walk::new(lively(has_rules), WITHIN);
        for _ in 0..600 {
            walk.frame();
            let (distances, shown) = (walk.distances(), walk.shown());
            for (entity, distance) in &distances {
                let is_cloaked = has_rules && walk.world.facts.cloaked.contains(entity);
                let [must, may] =
                    [f64::from(RADIUS_M), f64::from(LEAVES_AT_M)].map(|most| *distance <= most && !is_cloaked);
                assert!(!must || shown.contains(entity), "{entity} is {distance} m away and not shown");
                assert!(may || !shown.contains(entity), "{entity} is {distance} m away and shown");
            }
            assert!(shown.iter().all(|entity| distances.contains_key(entity)), "what is gone is not shown");
            assert!(!shown.is_empty() && shown.len() < distances.len());
            for (view, kit) in walk.views.iter().filter_map(|view| Some((view, view.get::<Kit>()?))) {
                assert_eq!(
                    (view.source, kit.owners != 0, kit.others != 0),
                    (PoseSource::Authority, view.owner == HOST, view.owner != HOST)
                );
            }
        }
        let is_hidden = |event: &&ClientEvent| matches!(event, ClientEvent::Hidden { .. });
        assert!(walk.events.iter().filter(is_hidden).count() > 20);
    }
}

#[test]
fn what_leaves_the_view_of_a_host_is_hidden_comes_back_and_is_gone_when_it_ends() {
    let mut world = Woods::default();
    (0..2).for_each(|nth| world.add(thing(nth), [-80.0, 0.0, 3.0]));
    let mut walk = Walk::new(world, WITHIN);
    let places = [-80.0, 300.0, -80.0, 300.0, -80.0];
    for x in places {
        walk.world.beings.get_mut(thing(0)).expect("there").place[0] = x;
        (0..3).for_each(|_| walk.frame());
        assert_eq!((walk.shown().contains(&thing(0)), walk.place(thing(0)).is_some()), (x < 0.0, true));
    }
    walk.world.remove(thing(0));
    (0..3).for_each(|_| walk.frame());
    let letter = |event: &ClientEvent| match event {
        ClientEvent::Spawned(of) if *of == thing(0) => Some('S'),
        ClientEvent::Confirmed(of) if *of == thing(0) => Some('C'),
        ClientEvent::Hidden { entity, pose } if *entity == thing(0) => {
            assert!((pose.position[0] - -80.0).abs() < 1e-3, "it was seen there last: {pose:?}");
            Some('H')
        }
        ClientEvent::Shown(of) if *of == thing(0) => Some('V'),
        ClientEvent::Despawned { entity, .. } if *entity == thing(0) => Some('D'),
        _ => None,
    };
    assert_eq!(walk.events.iter().filter_map(letter).collect::<String>(), "SCHVHVD");
    assert_eq!(walk.shown().into_iter().collect::<Vec<_>>(), [thing(1)]);
}
