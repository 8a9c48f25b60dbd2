//! The world of the scene: two who walk around a wall, and shoot at what they see.

use super::ground;
use core::time::Duration;
use foretell::hits::{Cast, Verdict, VictimNow, VictimRules};
use foretell::motion::vector::{add, length, scale, sub};
use foretell::{EffectKind, Input, Owned, PlayerId, RewindMoment, Rewound, Simulate, State, Step, Table, Tick, World};
use std::collections::BTreeMap;

/// Somebody was hit.
const HIT: EffectKind = EffectKind(0);
const WALK_MPS: f64 = 5.0;
/// From one shot to the next.
const RELOAD_S: f64 = 0.5;
/// Where they begin: the first player in front of the wall, the others behind it.
const STARTS: [[f32; 3]; 2] = [[-3.0, 0.0, -3.5], [0.5, 0.0, 1.8]];

/// What a player presses.
#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
pub struct Keys {
    /// To the right and up, or against it.
    pub walk: [i8; 2],
    pub fires: bool,
    /// At which place on their screen, x and z in metres.
    pub aim: [f32; 2],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
pub struct Fighter {
    /// In metres; y points up.
    #[state(position)]
    pub at: [f32; 3],
    #[state(velocity)]
    pub velocity: [f32; 3],
    /// The tick from which they can shoot again.
    #[state(audience = owner)]
    ready: u32,
}

/// Somebody as a shot found them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Target {
    pub of: Owned,
    /// On a client where its screen has them, on the server where it finds them when it looks back.
    pub rewound: [f64; 3],
    /// Where they are in this world by now.
    pub now: [f64; 3],
    /// How far from there the shooter may have seen them, in metres; 0 on a client.
    pub error_m: f64,
    /// For how long they could not have been hit by now; only the server knows.
    pub safe_for: Option<Duration>,
}

/// A shot as one end has judged it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shot {
    pub by: PlayerId,
    pub tick: Tick,
    pub from: [f64; 3],
    /// Where it ended: at the other player, or at the wall.
    pub end: [f64; 3],
    pub rewind: RewindMoment,
    /// The other player; `None` while there is none.
    pub target: Option<Target>,
    /// What came of it; `None` where it has met nobody.
    pub verdict: Option<Verdict>,
}

/// Two players, a wall between them, and a record of what was shot.
#[derive(World, Default)]
pub struct Duel {
    fighters: Table<Fighter>,
    /// The server's own: since when nobody can hit them.
    #[world(saved)]
    hidden: BTreeMap<PlayerId, Tick>,
    /// What the game grants those who are hit.
    #[world(constant)]
    pub rules: VictimRules,
    /// What was shot since somebody last took it out. No step reads it.
    #[world(constant)]
    pub shots: Vec<Shot>,
    /// By which moment each player was judged in the last step. No step reads it.
    #[world(constant)]
    pub rewinds: BTreeMap<PlayerId, (Tick, RewindMoment)>,
}

impl Duel {
    /// Where everybody is.
    pub fn places(&self) -> impl Iterator<Item = (PlayerId, [f64; 3])> {
        self.fighters.iter().map(|one| (one.owner(), wide(one.at)))
    }

    /// For how long nobody can have hit them.
    fn safe_for(&self, player: PlayerId, step: &Step<'_, Keys>) -> Option<Duration> {
        let since = self.hidden.get(&player).filter(|_| step.is_authority())?;
        Some(Duration::from_secs_f64(f64::from(step.tick().since(*since)) * step.seconds()))
    }

    fn come_and_go(&mut self, step: &mut Step<'_, Keys>) {
        self.fighters.remove_left(step);
        for joined in step.joined() {
            let at = STARTS[usize::from(joined.player.get() != 1)];
            self.fighters.spawn(step, joined.player, Fighter { at, ..Fighter::default() });
        }
    }

    /// Notes who is in cover from everybody else.
    fn note_hidden(&mut self, tick: Tick) {
        let places: Vec<_> = self.places().collect();
        for (player, at) in &places {
            let mut others = places.iter().filter(|(other, _)| other != player);
            if others.any(|(_, eye)| ground::seen_part(*eye, *at).is_some()) {
                self.hidden.remove(player);
            } else {
                self.hidden.entry(*player).or_insert(tick);
            }
        }
    }

    /// Who shoots in this step, from where and at what.
    fn triggers(&mut self, step: &Step<'_, Keys>) -> Vec<(PlayerId, [f64; 3], [f64; 3])> {
        let (tick, mut triggers) = (step.tick().get(), Vec::new());
        for mut fighter in self.fighters.simulated(step) {
            let Some(input) = step.input(fighter.owner()) else { continue };
            let Keys { fires, aim: [x, z], .. } = input.input;
            if fires && fighter.ready <= tick && x.is_finite() && z.is_finite() {
                fighter.ready = tick + ticks_in(RELOAD_S, step.seconds());
                triggers.push((fighter.owner(), wide(fighter.at), wide([x, 0.0, z])));
            }
        }
        triggers
    }

    /// A shot meets the other where the shooter sees them, if the wall is not in its way.
    fn shoot(&mut self, step: &mut Step<'_, Keys>, by: PlayerId, from: [f64; 3], aim: [f64; 3]) {
        let past = step.rewound(by);
        let far = ground::reach(from, aim);
        let cast = Cast::ray(from, sub(aim, from), far);
        let hit = cast.first(past.poses().map(|(of, pose)| (of, ground::BODY, pose)));
        let target = self.target(step, &past);
        let verdict = hit.map(|_| {
            let safe_for = target.and_then(|target| target.safe_for);
            self.rules.judge(VictimNow { safe_for, defends: false })
        });
        if let Some(hit) = hit {
            step.hit(by, hit.of);
            if verdict.is_some_and(|verdict| verdict.share() > 0.0) {
                step.effect(HIT, hit.of.entity);
            }
        }
        if step.first_time() {
            let along = if aim == from { [0.0; 3] } else { scale(sub(aim, from), 1.0 / length(sub(aim, from))) };
            let end = hit.map_or(add(from, scale(along, far)), |hit| hit.contact.at);
            let (tick, rewind) = (step.tick(), past.rewind());
            self.shots.push(Shot { by, tick, from, end, rewind, target, verdict });
        }
    }

    /// The other player as a shot finds them.
    fn target(&self, step: &Step<'_, Keys>, past: &Rewound<'_>) -> Option<Target> {
        let (of, pose) = past.poses().next()?;
        let now = self.places().find(|(player, _)| *player == of.owner).map_or(pose.position, |(_, at)| at);
        let (error_m, safe_for) = (past.error_m(of.entity), self.safe_for(of.owner, step));
        Some(Target { of, rewound: pose.position, now, error_m, safe_for })
    }

    fn walk(&mut self, step: &Step<'_, Keys>) {
        let seconds = step.seconds();
        for mut fighter in self.fighters.simulated(step) {
            let Some(input) = step.input(fighter.owner()) else { continue };
            let walk = input.input.walk.map(|along| f64::from(along.signum()));
            let pace = WALK_MPS / (walk[0].abs() + walk[1].abs()).max(1.0).sqrt();
            let from = wide(fighter.at);
            let to = ground::walk(from, walk.map(|along| along * pace * seconds));
            fighter.velocity = narrow(scale(sub(to, from), 1.0 / seconds));
            fighter.at = narrow(to);
        }
    }
}

impl Simulate for Duel {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.come_and_go(step);
        if step.is_authority() {
            self.note_hidden(step.tick());
            let judged = step.inputs().iter().map(|input| (input.player, step.rewound(input.player).rewind()));
            self.rewinds = judged.map(|(player, rewind)| (player, (step.tick(), rewind))).collect();
        }
        for (by, from, aim) in self.triggers(step) {
            self.shoot(step, by, from, aim);
        }
        self.walk(step);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some hundred at most")]
fn ticks_in(seconds: f64, tick_s: f64) -> u32 {
    (seconds / tick_s).round() as u32
}

fn wide(at: [f32; 3]) -> [f64; 3] {
    at.map(f64::from)
}

#[expect(clippy::cast_possible_truncation, reason = "places in a room")]
fn narrow(at: [f64; 3]) -> [f32; 3] {
    at.map(|lane| lane as f32)
}
