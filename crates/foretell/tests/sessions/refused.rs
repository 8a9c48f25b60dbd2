//! What two players use within a round trip: who comes second sees it as they have made it, and then as the other has, not as it was before
//! both.

use crate::budgets::link;
use foretell::session::client::{Causes, ClientEvent};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use std::time::Duration;

/// In which tick the first player uses everything; the second does so later.
const USED: u32 = 300;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    uses: bool,
    pushes: bool,
}

/// Can be pushed as far as clients know, and is fixed.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Statue {
    #[state(position)]
    at: [f64; 3],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    at: [f64; 3],
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Lamp {
    is_lit: bool,
}

/// Starts when it is used.
#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Lift {
    #[state(position)]
    at: [f64; 3],
    goes: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Coin {
    #[state(position)]
    at: [f64; 3],
}

#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Crate {
    Free {
        #[state(position)]
        at: [f64; 3],
    },
    Held {
        #[state(position)]
        at: [f64; 3],
        by: PlayerId,
    },
}

const fn thing(nth: u16) -> Owned {
    Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, nth), owner: PlayerId::SERVER }
}

const LAMP: Owned = thing(0);
const LIFT: Owned = thing(1);
const COIN: Owned = thing(2);
const CRATE: Owned = thing(3);
const STATUE: Owned = thing(4);
const COIN_AT: [f64; 3] = [3.0, 0.0, 0.0];

#[derive(World, Clone, Default)]
struct Hall {
    pawns: Table<Pawn>,
    lamps: Table<Lamp>,
    lifts: Table<Lift>,
    coins: Table<Coin>,
    crates: Table<Crate>,
    statues: Table<Statue>,
}

impl Hall {
    fn furnished() -> Hall {
        let mut hall = Hall::default();
        hall.lamps.insert(LAMP, Lamp::default());
        hall.lifts.insert(LIFT, Lift::default());
        hall.coins.insert(COIN, Coin { at: COIN_AT });
        hall.crates.insert(CRATE, Crate::Free { at: [1.0, 0.0, 0.0] });
        hall.statues.insert(STATUE, Statue::default());
        hall
    }

    /// The pawn of a player uses what nobody has used yet.
    fn take(&mut self, step: &mut Step<'_, Keys>, pawn: Owned) {
        if self.lamps.get(LAMP.entity).is_some_and(|lamp| !lamp.is_lit)
            && let Some(mut lamp) = self.lamps.change(step, pawn, LAMP.entity)
        {
            lamp.is_lit = true;
        }
        if self.lifts.get(LIFT.entity).is_some_and(|lift| !lift.goes)
            && let Some(mut lift) = self.lifts.change(step, pawn, LIFT.entity)
        {
            lift.goes = true;
        }
        if self.coins.get(COIN.entity).is_some() && step.change(pawn, COIN) {
            self.coins.remove(COIN.entity);
        }
        if let Some(Crate::Free { at }) = self.crates.get(CRATE.entity).map(|it| *it)
            && let Some(mut held) = self.crates.change(step, pawn, CRATE.entity)
        {
            *held = Crate::Held { at, by: pawn.owner };
        }
    }
}

impl Simulate for Hall {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
        }
        let pawns: Vec<Owned> = self.pawns.simulated(step).map(|pawn| pawn.owned()).collect();
        for pawn in pawns {
            let Some(Keys { uses, pushes }) = step.input(pawn.owner).map(|player| player.input) else { continue };
            if uses {
                self.take(step, pawn);
            }
            if pushes
                && !step.is_authority()
                && let Some(mut statue) = self.statues.change(step, pawn, STATUE.entity)
            {
                statue.at[0] += 1.0 / 16.0;
            }
        }
        for mut lift in self.lifts.simulated(step).filter(|lift| lift.goes) {
            lift.at[1] += 1.0 / 64.0;
        }
    }
}

/// What the second player sees of each thing, one letter for each way in which it is shown after another.
#[derive(Default)]
struct Watch {
    /// How many ticks after the first the second uses all.
    later: u32,
    seen: [String; 4],
    refused: usize,
    /// Where the coin was shown last, by the event of its end.
    ended_at: Option<[f64; 3]>,
    /// Whether everything of the server's is predicted, and by what that was corrected then.
    predicts: bool,
    causes: Causes,
    views: Views,
}

impl Driver<Hall> for Watch {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        Keys { uses: tick.get() == USED + if player == 1 { self.later } else { 0 }, pushes: false }
    }

    fn before_client(&mut self, _player: usize, _at: Moment, client: &mut Client<Hall>) {
        client.predict(PlayerId::SERVER, self.predicts);
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Hall>, frame: &Frame<'_>) {
        if player != 1 || frame.tick < Tick::new(USED - 60) {
            return;
        }
        self.refused += frame.events.iter().filter(|event| matches!(event, ClientEvent::ChangeRefused { .. })).count();
        let of_things = frame.corrections.iter().filter(|of| of.entity.spawned_for() == PlayerId::SERVER);
        self.causes = of_things.fold(self.causes, |causes, of| causes.with(of.causes));
        for event in frame.events {
            if let ClientEvent::Despawned { entity, pose, .. } = event
                && *entity == COIN.entity
            {
                self.ended_at = Some(pose.position);
            }
        }
        client.present(at.local, &mut self.views);
        let (views, own) = (&self.views, client.player().expect("joined"));
        let now = [
            views
                .get(LAMP.entity)
                .and_then(|view| view.get::<Lamp>())
                .map_or('?', |lamp| if lamp.is_lit { 'L' } else { 'd' }),
            views
                .get(LIFT.entity)
                .and_then(|view| view.get::<Lift>())
                .map_or('?', |lift| if lift.goes { 'G' } else { 's' }),
            if views.get(COIN.entity).is_some() { 'c' } else { '-' },
            match views.get(CRATE.entity).and_then(|view| view.get::<Crate>()) {
                Some(Crate::Held { by, .. }) if by == own => 'O',
                Some(Crate::Held { .. }) => 'H',
                Some(Crate::Free { .. }) => 'f',
                None => '?',
            },
        ];
        for (seen, now) in self.seen.iter_mut().zip(now) {
            if !seen.ends_with(now) {
                seen.push(now);
            }
        }
    }
}

fn watch(mut watch: Watch, latency_ms: u64, snapshot_rate: SendRate) -> Watch {
    let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Hall::schema()), config, Hall::furnished(), 1);
    for latency_ms in [10, latency_ms] {
        let (client, world) = (ClientConfig::default(), Hall::default());
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions: link(latency_ms), world });
    }
    simulation.run_until(Instant::ZERO + Duration::from_secs(8), &mut watch);
    watch
}

#[test]
fn who_comes_second_sees_what_they_made_of_it_and_then_what_the_first_has() {
    let (mut wrong, mut refused) = (Vec::new(), 0);
    for latency_ms in [20, 50, 120, 200] {
        for rate in [SendRate::EveryTick, SendRate::Hz(20)] {
            for later in [0, 1, 2, 5, 8] {
                let watch = watch(Watch { later, ..Watch::default() }, latency_ms, rate);
                refused += watch.refused;
                assert_eq!(watch.ended_at, Some(COIN_AT), "{later} later, {latency_ms} ms, {rate:?}");
                let expected: [&[&str]; 4] = [&["dL"], &["sG"], &["c-"], &["fOH", "fH"]];
                for (seen, expected) in watch.seen.iter().zip(expected) {
                    let case = format!("{later} later, {latency_ms} ms, {rate:?}");
                    wrong.extend((!expected.contains(&&**seen)).then(|| format!("{case}: {seen}")));
                }
            }
        }
    }
    assert!(refused > 80, "{refused}");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Pushes the statue for nine ticks.
#[derive(Default)]
struct Push {
    views: Views,
    /// Where it was shown in each frame.
    shown: Vec<f64>,
    refused: usize,
}

impl Driver<Hall> for Push {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        Keys { uses: false, pushes: (USED..USED + 9).contains(&tick.get()) }
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Hall>, frame: &Frame<'_>) {
        client.present(at.local, &mut self.views);
        self.refused += frame.events.iter().filter(|event| matches!(event, ClientEvent::ChangeRefused { .. })).count();
        self.shown.extend(self.views.get(STATUE.entity).map(|view| view.pose().position[0]));
    }
}

#[test]
fn what_is_pushed_for_some_ticks_and_refused_goes_back_to_where_it_stands_without_a_jump() {
    for (latency_ms, snapshot_rate) in
        [(20, SendRate::EveryTick), (80, SendRate::EveryTick), (80, SendRate::Hz(20)), (150, SendRate::Hz(30))]
    {
        let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
        let mut simulation = Simulation::new(Rules::new(Hall::schema()), config, Hall::furnished(), 1);
        let (client, world) = (ClientConfig::default(), Hall::default());
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions: link(latency_ms), world });
        let mut push = Push::default();
        simulation.run_until(Instant::ZERO + Duration::from_secs(8), &mut push);
        let (case, most) =
            (format!("{latency_ms} ms, {snapshot_rate:?}"), push.shown.iter().copied().fold(0.0, f64::max));
        assert!(push.refused > 0 && most > 0.05, "{case}: {} refused, {most} m", push.refused);
        assert!(
            push.shown.iter().all(|at| *at > -0.02),
            "{case}: {:?}",
            push.shown.iter().copied().fold(0.0, f64::min)
        );
        let back = push.shown.windows(2).map(|two| two[0] - two[1]).fold(0.0, f64::max);
        assert!(back < 0.15, "{case}: {back} m back in a frame, of {most}");
        assert_eq!(push.shown.last(), Some(&0.0), "{case}");
    }
}

#[test]
fn what_another_player_does_to_what_is_predicted_is_a_cause_by_its_name() {
    let watch = watch(Watch { later: 1000, predicts: true, ..Watch::default() }, 50, SendRate::EveryTick);
    assert!(watch.causes.contains(Causes::OTHERS), "{:?}", watch.causes);
    assert!(!watch.causes.is_unexplained(), "{:?}", watch.causes);
}
