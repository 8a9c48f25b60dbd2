//! Deliberate bugs are caught by the harness, and named: each world or client here is wrong in one way.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use crate::common::scenario::masses;
use core::cell::Cell;
use core::time::Duration;
use foretell::{
    ClientConfig, Group, InterestRules, Owned, PlayerId, Rows, Rules, Schema, Simulate, State, Step, Table, Tick, World,
};
use foretell_sim::harness::{Failure, Scenario, Stepped, SyncTest};
use foretell_sim::netsim::SplitMix64;
use std::rc::Rc;

/// What is wrong with a world.
#[derive(Clone, Copy, PartialEq)]
enum Quirk {
    Nothing,
    /// `save` forgets the fuel.
    ForgetsFuel,
    /// The step reads a clock that counts all steps of all worlds.
    ReadsClock,
    /// Carts pull each other in the order in which they stand in memory, which is another one after `adopt`.
    KeepsNoOrder,
    /// A step is not the same in a re-simulation.
    KicksTheFirstTime,
    /// `adopt` leaves what was removed.
    RemovesNothing,
    /// The server moves something of its own by what only its world holds: no fault.
    KeepsWind,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Cart {
    #[state(position)]
    position: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
    fuel: u16,
}

/// Two carts for each player.
#[derive(Clone)]
struct Carts {
    quirk: Quirk,
    clock: Rc<Cell<u64>>,
    carts: Vec<(Owned, Cart)>,
    /// No part of what is saved.
    wind: f64,
}

impl Carts {
    fn step_cart(&mut self, index: usize, buttons: Buttons, step: &Step<'_, Buttons>) {
        let owner = self.carts[index].0.owner;
        let ahead = self.carts[..index].iter().rfind(|(of, _)| of.owner == owner).map(|(_, cart)| *cart);
        let Cart { position, velocity, fuel } = &mut self.carts[index].1;
        if buttons.right && *fuel > 0 {
            (velocity[0], *fuel) = (velocity[0] + 0.5, *fuel - 1);
        }
        if buttons.left {
            *fuel = (*fuel + 2).min(40);
        }
        if self.quirk == Quirk::KeepsNoOrder {
            velocity[0] += 0.01 * ahead.map_or(0.0, |ahead| ahead.position[0] - position[0]);
        }
        if self.quirk == Quirk::ReadsClock && self.clock.get() > CLOCK_BEGINS && self.clock.get().is_multiple_of(61) {
            velocity[2] += 0.001;
        }
        if self.quirk == Quirk::KicksTheFirstTime && buttons.jump && step.first_time() {
            velocity[2] += 0.1;
        }
        for axis in 0..3 {
            velocity[axis] *= 0.95;
            position[axis] += velocity[axis] * step.seconds();
        }
    }
}

impl Carts {
    /// A leaf of nobody's in the wind.
    fn blow(&mut self, step: &mut Step<'_, Buttons>) {
        self.wind += 0.01;
        let leaf = self.carts.iter_mut().find(|(of, _)| of.owner == PlayerId::SERVER);
        match leaf {
            Some((_, leaf)) => leaf.position[1] += self.wind,
            None => self.carts.push((spawn(step, PlayerId::SERVER), Cart::default())),
        }
    }
}

fn spawn(step: &mut Step<'_, Buttons>, owner: PlayerId) -> Owned {
    Owned { entity: step.spawn(owner), owner }
}

impl Simulate for Carts {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.clock.set(self.clock.get() + 1);
        for joined in step.joined() {
            for _ in 0..2 {
                self.carts.insert(0, (spawn(step, joined.player), Cart { fuel: 20, ..Cart::default() }));
            }
        }
        self.carts.retain(|(of, _)| !step.has_left(of.owner));
        if self.quirk != Quirk::KeepsNoOrder {
            self.carts.sort_unstable_by_key(|(of, _)| *of);
        }
        if self.quirk == Quirk::KeepsWind && step.is_authority() {
            self.blow(step);
        }
        for index in 0..self.carts.len() {
            if let Some(input) = step.input(self.carts[index].0.owner) {
                self.step_cart(index, input.input, step);
            }
        }
    }
}

/// By hand, as these are worlds whose hands make mistakes.
impl World for Carts {
    type Saved = Vec<(Owned, Cart)>;

    fn schema() -> Schema {
        Schema::of::<Cart>()
    }

    fn save(&self, into: &mut Self::Saved) {
        into.clone_from(&self.carts);
    }

    fn load(&mut self, from: &Self::Saved) {
        let before = std::mem::replace(&mut self.carts, from.clone());
        if self.quirk == Quirk::ForgetsFuel {
            for (of, cart) in before {
                let known = self.carts.iter_mut().find(|(known, _)| *known == of);
                known.into_iter().for_each(|(_, known)| known.fuel = cart.fuel);
            }
        }
    }

    fn publish(&mut self, rows: &mut Rows) {
        rows.retain(|_, of| self.carts.iter().any(|(known, _)| *known == of));
        self.carts.iter().for_each(|(of, cart)| rows.set(*of, cart));
    }

    fn adopt(&mut self, rows: &Rows) {
        if self.quirk != Quirk::RemovesNothing {
            self.carts.retain(|(of, _)| rows.removed().iter().all(|removed| removed.key.entity != of.entity));
        }
        for (of, cart) in rows.states::<Cart>() {
            match self.carts.iter_mut().find(|(known, _)| *known == of) {
                Some((_, known)) => *known = cart,
                None => self.carts.push((of, cart)),
            }
        }
        self.carts.sort_unstable_by_key(|(of, _)| *of);
    }
}

/// Makes worlds that share a clock.
fn carts(quirk: Quirk) -> impl Fn() -> Carts {
    let clock = Rc::new(Cell::new(0));
    move || Carts { quirk, clock: clock.clone(), carts: Vec::new(), wind: 0.0 }
}

fn scenario(quirk: Quirk) -> Scenario<Carts> {
    Scenario::new(Rules::new(Carts::schema()), carts(quirk))
        .bot(|_, random| Buttons::from_bits(random.next_u64() & 31))
        .event(|world, _| world.carts.iter_mut().for_each(|(_, cart)| cart.velocity[0] += 3.0))
        .schedule("0:p0:latency:both:150,4000:s:event:1,4500:s:event:2,6000-500:p0:loss:up:100,8000:s:event:3")
}

fn sync(quirk: Quirk) -> Result<(), (Stepped, Option<String>)> {
    let input = |player: PlayerId, tick: Tick| {
        let part = u64::from(tick.get() / 8) ^ u64::from(player.get()) << 32;
        Buttons::from_bits(SplitMix64::new(part).next_u64() & 31)
    };
    let test = SyncTest::new(Rules::new(Carts::schema()), carts(quirk)).input(input);
    test.run(500).map_err(|found| (found.stepped, found.field))
}

fn failure(quirk: Quirk) -> Failure {
    *scenario(quirk).run(1).expect_err("it is wrong")
}

fn named(field: &str) -> Option<String> {
    Some(field.to_owned())
}

#[test]
fn nothing_is_found_wrong_with_a_world_in_which_nothing_is_wrong() {
    assert_eq!(sync(Quirk::Nothing), Ok(()));
    scenario(Quirk::Nothing).seeds(0..10).expect("no check complains");
}

#[test]
fn what_a_server_keeps_to_itself_is_no_fault_of_a_clients_world() {
    // The server's wind is neither saved nor published, and moves nothing that a player predicts.
    scenario(Quirk::KeepsWind).seeds(0..3).expect("no check complains");
    assert_eq!(sync(Quirk::KeepsWind), Err((Stepped::AfterLoad, named("position"))));
}

#[test]
fn a_field_that_save_forgets_is_named() {
    assert_eq!(sync(Quirk::ForgetsFuel), Err((Stepped::AfterLoad, named("fuel"))));
    // Mostly a client adopts the whole state right after it has loaded, so that nothing of it shows in a session.
    let failure = *scenario(Quirk::ForgetsFuel).seeds(0..5).expect_err("it is wrong");
    assert_eq!((failure.check(), failure.seed(), failure.schedule().0.len()), ("world", 0, 0), "{failure}");
    assert!(failure.what().contains("field `fuel`") && failure.what().contains("load forgets"), "{failure}");
    let world = failure.world().expect("the world is found to be wrong");
    assert_eq!((world.stepped, &world.field), (Stepped::AfterLoad, &named("fuel")), "{failure}");
    scenario(Quirk::ForgetsFuel).without("world").run(0).expect("nothing shows");
    // A client that simulates few ticks again in an update goes back and forth while it does, and loads what was saved.
    let client = ClientConfig { resimulation_budget: 2, ..ClientConfig::default() };
    let failure = scenario(Quirk::ForgetsFuel).client(client).run(1).expect_err("it is wrong");
    assert_eq!(failure.check(), "unexplained", "{failure}");
    let world = failure.world().expect("the world is found to be wrong");
    assert_eq!((world.stepped, &world.field), (Stepped::AfterLoad, &named("fuel")), "{failure}");
    assert!(failure.to_string().contains("save or load forgets something"), "{failure}");
}

/// Before that many steps of all worlds nobody reads the clock: both ends go the same way, and something is simulated again.
const CLOCK_BEGINS: u64 = 300;
const NOT_DETERMINISTIC: &str = "comes to something else when it is simulated again";

#[test]
fn a_world_that_reads_a_clock_is_named() {
    assert_eq!(sync(Quirk::ReadsClock), Err((Stepped::Anew, named("position"))));
    let failure = failure(Quirk::ReadsClock);
    assert_eq!(failure.check(), "unexplained", "{failure}");
    assert!(failure.what().contains(NOT_DETERMINISTIC), "{failure}");
    assert_eq!(failure.world().expect("the world is wrong").stepped, Stepped::Anew, "{failure}");
}

#[test]
fn an_order_that_differs_on_the_two_ends_is_named() {
    let field = named("position");
    assert_eq!(sync(Quirk::KeepsNoOrder), Err((Stepped::Adopted, field.clone())));
    let failure = failure(Quirk::KeepsNoOrder);
    assert_eq!(failure.check(), "unexplained", "{failure}");
    assert!(failure.what().contains("has no cause"), "each end by itself is deterministic: {failure}");
    assert!(failure.what().contains("field `position`"), "{failure}");
    for suspect in ["HashMap", "`sin`", "`is_authority`"] {
        assert!(failure.what().contains(suspect), "{failure}");
    }
    let world = failure.world().expect("the world is wrong");
    assert_eq!((world.stepped, &world.field), (Stepped::Adopted, &field), "{failure}");
}

#[test]
fn what_adopt_should_have_removed_and_has_not_is_named() {
    assert_eq!(sync(Quirk::RemovesNothing), Err((Stepped::Adopted, None)));
}

#[test]
fn a_step_that_differs_in_a_resimulation_is_named() {
    assert_eq!(sync(Quirk::KicksTheFirstTime), Err((Stepped::Again, named("position"))));
    let failure = failure(Quirk::KicksTheFirstTime);
    assert_eq!(failure.check(), "unexplained", "{failure}");
    assert_eq!(failure.world().expect("the world is wrong").stepped, Stepped::Again, "{failure}");
}

#[test]
fn a_correction_while_nothing_happens_is_caught() {
    let perturbed = || Masses { perturb_at: Some(Tick::new(700)), ..Masses::default() };
    let quiet = || Scenario::new(Rules::new(Masses::schema()), perturbed).schedule("0:p0:latency:both:30");
    let calm = quiet().without("unexplained").run(1).expect_err("it is corrected");
    assert_eq!((calm.check(), calm.at().as_secs()), ("calm", 10), "{calm}");
    let unexplained = quiet().run(1).expect_err("and nobody knows why");
    assert_eq!(unexplained.check(), "unexplained", "{unexplained}");
}

#[test]
fn inputs_that_are_late_on_a_network_that_jitters_all_the_time_are_caught() {
    let jittered = |late_inputs_max: f64| {
        let client = ClientConfig { late_inputs_max, ..ClientConfig::default() };
        let length = Duration::from_secs(30);
        masses().players(1).client(client).length(length).schedule("0:p0:latency:both:30,0:p0:jitter:both:40").run(1)
    };
    jittered(0.003).expect("a client that waits for what is late");
    let late = jittered(0.5).expect_err("one that does not");
    assert_eq!(late.check(), "punctual", "{late}");
    assert!(late.what().contains("with nothing but jitter"), "{late}");
}

#[test]
fn what_is_expected_of_the_figures_fails_by_its_own_words() {
    let scenario = masses().expect("nothing is ever corrected", |seen| seen.corrections == 0);
    let failure = (100..200).find_map(|seed| scenario.run(seed).err()).expect("a push is corrected");
    assert_eq!(failure.check(), "nothing is ever corrected");
    assert_eq!(failure.schedule().0.len(), 1, "one fault is enough: {failure}");
    let link = format!("#faults={}&seed={}", failure.schedule(), failure.seed());
    let failure = scenario.in_lab().run(failure.seed()).expect_err("again");
    assert!(failure.link().expect("the lab is said to play it").starts_with(&link));
}

/// Of whom everybody else is a mate.
#[derive(State, Clone, Copy, Default)]
struct Mate {
    #[state(position)]
    x: [f32; 1],
    #[state(audience = group(Group(0)))]
    health: u8,
    #[state(audience = others)]
    disguise: u8,
}

#[derive(World, Default)]
struct Mates {
    mates: Table<Mate>,
}

impl Simulate for Mates {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        self.mates.remove_left(step);
        for joined in step.joined() {
            self.mates.spawn(step, joined.player, Mate { x: [0.0], health: 100, disguise: 7 });
        }
        for mut mate in self.mates.simulated(step) {
            if step.input(mate.owner()).is_some_and(|player| player.input.right) {
                (mate.x[0], mate.health) = (mate.x[0] + 0.1, mate.health.wrapping_sub(1));
            }
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        Some(self)
    }
}

impl InterestRules for Mates {
    fn is_in_group(&self, viewer: PlayerId, _group: Group, of: Owned) -> bool {
        (viewer.get() + of.owner.get()).is_multiple_of(2)
    }
}

#[test]
fn what_a_group_or_others_alone_are_told_is_compared_and_no_fault() {
    let scenario = Scenario::new(Rules::new(Mates::schema()), Mates::default).players(4);
    let scenario = scenario.bot(|_, random| Buttons { right: random.chance(0.5), ..Buttons::default() });
    scenario.seeds(0..2).expect("mates are told each other's health");
}
