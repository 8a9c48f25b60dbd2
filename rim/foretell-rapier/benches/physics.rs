//! What a world of rigid bodies costs: a step, what is saved and published, a rebuild, and a rollback of 16 ticks.

use criterion::{Criterion, criterion_group, criterion_main};
use foretell::world::Side;
use foretell::{Entity, Owned, PlayerId, Rows, Schema, State, Step, Tick, TickRate};
use foretell_rapier::rapier3d::prelude::{ColliderBuilder, RigidBodyBuilder, Vector};
use foretell_rapier::{Blueprint, Body, Physics, Plan};
use std::hint::black_box;

/// How far back a rollback goes.
const DEPTH: u32 = 16;

/// A small cube that may fall asleep, or may not.
#[derive(State, Clone, Copy)]
enum Small {
    Sleepy {
        #[state(flatten)]
        body: Body,
    },
    Awake {
        #[state(flatten)]
        body: Body,
    },
}

impl Blueprint for Small {
    fn plan(&self, _entity: Entity) -> Plan {
        let body = RigidBodyBuilder::dynamic().can_sleep(matches!(self, Small::Sleepy { .. }));
        Plan::new(body).with(ColliderBuilder::cuboid(0.2, 0.2, 0.2))
    }
}

fn small(awake: bool, body: Body) -> Small {
    if awake { Small::Awake { body } } else { Small::Sleepy { body } }
}

fn step(physics: &mut Physics, tick: u32) {
    let step = Step::<()>::new(Tick::new(tick), TickRate::default(), Side::Server, &[]);
    physics.prepare(&step);
    physics.advance(&step);
}

/// A field of cubes that lie side by side, and one that is pushed through them.
fn field(cubes: u16, awake: bool) -> Physics {
    let floor = ColliderBuilder::cuboid(50.0, 0.5, 50.0).translation(Vector::new(0.0, -0.5, 0.0));
    let mut physics = Physics::new([0.0, -9.81, 0.0], [floor]);
    let side = f32::from(cubes).sqrt().ceil();
    for nth in 0..cubes {
        let (x, z) = (f32::from(nth) % side, (f32::from(nth) / side).floor());
        let entity = Entity::new(PlayerId::SERVER, Tick::ZERO, nth);
        let body = Body::at([x * 0.45, 0.2, z * 0.45]);
        physics.insert(Owned { entity, owner: PlayerId::SERVER }, &small(awake, body));
    }
    (0..64).for_each(|tick| step(&mut physics, tick));
    let first = physics.entities().next().expect("there are some");
    let mut body = physics.body_mut(first).expect("it has one");
    body.set_linvel(Vector::new(6.0, 0.0, 4.0), true);
    (64..72).for_each(|tick| step(&mut physics, tick));
    physics
}

fn bench(c: &mut Criterion) {
    for (cubes, awake, name) in
        [(100, false, "100 sleepy"), (100, true, "100 awake"), (901, false, "901 sleepy"), (901, true, "901 awake")]
    {
        let start = field(cubes, awake);
        let mut group = c.benchmark_group(name);
        group.sample_size(10).warm_up_time(std::time::Duration::from_millis(200));
        group.measurement_time(std::time::Duration::from_millis(800));
        let mut physics = start.clone();
        group.bench_function("clone", |b| b.iter(|| physics.clone_from(black_box(&start))));
        let mut rows = Rows::new(&Schema::of::<Small>());
        group.bench_function("publish", |b| {
            b.iter(|| {
                start.publish(&mut rows, |_, body| small(awake, body));
                rows.settle();
            });
        });
        group.bench_function("rebuild", |b| b.iter(|| physics.rebuild()));
        let mut bare = start.clone();
        let run = |physics: &mut Physics| (72..72 + DEPTH).for_each(|tick| step(physics, tick));
        group.bench_function("16 steps", |b| {
            b.iter_batched_ref(|| start.clone(), run, criterion::BatchSize::LargeInput);
        });
        group.bench_function("rollback of 16 ticks", |b| {
            b.iter(|| {
                bare.clone_from(&start);
                for tick in 72..72 + DEPTH {
                    step(&mut bare, tick);
                    bare.publish(&mut rows, |_, body| small(awake, body));
                    rows.settle();
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
