//! Entities that become another variant, lose their body and get one again, and change hands: exactly.

use foretell::world::Side;
use foretell::{Entity, Input, Leaver, PlayerId, Role, Rows, Simulate, State, Step, Tick, TickRate, World};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, RigidBodyType, ShapeType, Vector};
use foretell_rapier::{Blueprint, Body, Gameplay, Plan, Scene};
use foretell_sim::harness::SyncTest;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Wish {
    /// Which thing, and what of it: to become another, to be taken, or to be pushed.
    which: u8,
    what: u8,
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Thing {
    Block {
        #[state(flatten)]
        body: Body,
        turns: u32,
    },
    Ball {
        turns: u32,
        #[state(flatten)]
        body: Body,
    },
    /// A ball that has burst: nothing is left of it but how often it was another.
    Burst { turns: u32 },
}

impl Thing {
    /// What it becomes: a block a ball, that nothing, and that a block again.
    fn turned(self, body: Body) -> Thing {
        match self {
            Thing::Block { turns, .. } => Thing::Ball { body: Body::default(), turns: turns + 1 },
            Thing::Ball { turns, .. } => Thing::Burst { turns: turns + 1 },
            Thing::Burst { turns } => Thing::Block { body, turns: turns + 1 },
        }
    }
}

impl Blueprint for Thing {
    fn plan(&self, _entity: Entity) -> Plan {
        let collider = match self {
            Thing::Block { .. } => ColliderBuilder::cuboid(0.2, 0.2, 0.2),
            _ => ColliderBuilder::ball(0.2).restitution(0.5),
        };
        Plan::new(RigidBodyBuilder::dynamic().linear_damping(0.2)).with(collider)
    }
}

struct Game;

impl Gameplay for Game {
    type Input = Wish;
    type State = Thing;

    fn step(scene: &mut Scene<Game>, step: &mut Step<'_, Wish>) {
        if step.tick() == Tick::ZERO && step.simulates(PlayerId::SERVER) {
            for nth in 0_u8..10 {
                let body = Body::at([f32::from(nth % 3) * 0.4, 0.2 + 0.4 * f32::from(nth / 3), 0.0]);
                scene.spawn(step, PlayerId::SERVER, Thing::Block { body, turns: 0 });
            }
        }
        for joined in step.joined() {
            let body = Body::at([-2.0, 1.0, f32::from(joined.player.get())]);
            scene.spawn(step, joined.player, Thing::Block { body, turns: 0 });
        }
        let all = scene.all(|_| true);
        for player in step.inputs() {
            let thing = all[usize::from(player.input.which) % all.len()];
            match player.input.what {
                0 => turn(scene, thing),
                1 => _ = scene.set_owner(thing, player.player),
                2 => _ = scene.set_owner(thing, PlayerId::SERVER),
                _ => {}
            }
        }
        for (thing, _) in scene.driven(step, |thing| thing.body().is_some()) {
            // One that has become a block in this step has no body yet.
            let Some(mut body) = scene.body_mut(thing) else { continue };
            body.apply_impulse(Vector::new(0.002, 0.001, -0.001), true);
        }
    }
}

fn turn(scene: &mut Scene<Game>, entity: Entity) {
    let place = Body::at([0.0, 3.0, 0.1 * f32::from(u8::try_from(entity.counter()).expect("few"))]);
    if let Some(thing) = scene.get_mut(entity) {
        *thing = thing.turned(place);
    }
}

fn scene() -> Scene<Game> {
    let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vector::new(0.0, -0.5, 0.0));
    Scene::new([0.0, -9.81, 0.0], [floor])
}

/// A tick of the server in which nobody wishes anything.
fn still(tick: u32) -> Step<'static, Wish> {
    Step::new(Tick::new(tick), TickRate::default(), Side::Server, &[])
}

/// The same on the client of a player who predicts what is theirs.
fn of_client(player: u16, tick: u32) -> Step<'static, Wish> {
    Step::new(Tick::new(tick), TickRate::default(), Side::Client(PlayerId::new(player)), &[])
}

fn rows_of(scene: &mut Scene<Game>) -> Rows {
    let mut rows = Rows::new(&Scene::<Game>::schema());
    scene.publish(&mut rows);
    rows
}

fn shape(scene: &Scene<Game>, entity: Entity) -> Option<ShapeType> {
    Some(scene.colliders(entity).next()?.shape().shape_type())
}

#[test]
fn whatever_becomes_another_variant_or_changes_hands_every_end_comes_to_the_same_bits() {
    let wish = |player: PlayerId, tick: Tick| {
        let drawn = tick.get().wrapping_mul(2_654_435_761).rotate_left(u32::from(player.get()) * 7);
        let [which, what, ..] = drawn.to_be_bytes();
        Wish { which, what: what % 12 }
    };
    assert_eq!(SyncTest::new(scene().rules(), scene).input(wish).run(400), Ok(()));
}

#[test]
fn a_block_that_becomes_a_ball_is_one_in_the_same_tick_where_it_was_and_is_nothing_when_that_has_burst() {
    let (mut server, mut client) = (scene(), scene());
    (0..20).for_each(|tick| server.step(&mut still(tick)));
    let mut rows = rows_of(&mut server);
    client.adopt(&rows);
    let block = server.all(|_| true)[9];
    let before = server.state(block).expect("a block has a body");
    for (nth, expected) in [Some(ShapeType::Ball), None, Some(ShapeType::Cuboid)].into_iter().enumerate() {
        rows.settle();
        turn(&mut server, block);
        server.publish(&mut rows);
        client.adopt(&rows);
        server.step(&mut still(20 + u32::try_from(nth).expect("few")));
        assert_eq!(shape(&server, block), expected);
        assert_eq!(shape(&client, block), expected, "as soon as its rows say so");
        if expected == Some(ShapeType::Ball) {
            assert_eq!(client.state(block).expect("a ball has a body").position, before.position);
        }
        server.publish(&mut rows);
        client.adopt(&rows);
        assert!(rows_of(&mut client).iter().eq(rows_of(&mut server).iter()));
        assert_eq!(rows.of(block).count(), 1, "it has one variant at a time");
    }
}

#[test]
fn who_is_given_a_body_predicts_it_from_then_on_and_who_had_it_shows_it() {
    let [one, other] = [1, 2].map(PlayerId::new);
    let mut server = scene();
    (0..5).for_each(|tick| server.step(&mut still(tick)));
    let block = server.all(|_| true)[9];
    assert!(server.set_owner(block, one));
    let mut rows = rows_of(&mut server);
    let mut clients = [scene(), scene()];
    let kinds = |clients: &mut [Scene<Game>; 2], rows: &Rows, tick| {
        for (player, client) in (1..).zip(clients.iter_mut()) {
            client.adopt(rows);
            client.step(&mut of_client(player, tick));
        }
        [0, 1].map(|nth| clients[nth].body(block).map(|body| body.body_type()))
    };
    let (predicted, shown) = (Some(RigidBodyType::Dynamic), Some(RigidBodyType::KinematicVelocityBased));
    assert_eq!(kinds(&mut clients, &rows, 5), [predicted, shown]);
    rows.settle();
    assert!(server.set_owner(block, other));
    server.publish(&mut rows);
    assert_eq!(rows.owner(block), Some(other));
    assert_eq!(kinds(&mut clients, &rows, 6), [shown, predicted]);
    assert_eq!(clients[0].owner(block), Some(other));
    assert_eq!(still(6).role(clients[0].owned().last().expect("there are some")), Role::Authority);
    // With who has it now it goes, whosever it was at first.
    server.step(&mut still(7).with_players(&[], &[Leaver::new(one)]));
    assert!(server.contains(block));
    server.step(&mut still(8).with_players(&[], &[Leaver::new(other)]));
    assert!(!server.contains(block) && server.get(block).is_none());
}
