//! A world by itself that is told who joins, what players say, and what they saw: whatever it does with that which is no function of
//! the step is named.

use foretell::world::AccountName;
use foretell::{
    Effect, EffectKind, Input, Message, Messages, Newcomer, PlayerId, Rules, Seat, Simulate, State, Step, Table, Tick,
    World,
};
use foretell_sim::harness::{OutOfSync, Scenario, Stepped, SyncTest};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// What is wrong with a world.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
enum Flaw {
    #[default]
    Nothing,
    /// What is bought is put aside outside of what is saved, and counts in the next step.
    KeepsMessage,
    /// How far the other was is kept outside of what is saved, and counts in the next step.
    KeepsView,
    /// Who joins gets a body when the step is not a re-simulation.
    JoinsTheFirstTime,
    /// What is known of who has joined is kept outside of what is published, and counts in each step.
    KeepsData,
    HitsTheFirstTime,
    TellsTheFirstTime,
    /// What is bought is handed over by the authority alone.
    SellsAtTheServer,
}

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    right: bool,
    fires: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Fighter {
    #[state(position)]
    x: [f64; 1],
    strength: u8,
    gold: u32,
    wounds: u32,
}

#[derive(Serialize, Deserialize, Message, Clone, Copy)]
#[message(in_step)]
struct Buy(u32);

#[derive(Serialize, Deserialize, Message, Clone, Copy)]
#[message(in_step)]
struct Pay(u32);

#[derive(World, Default)]
struct Duel {
    fighters: Table<Fighter>,
    #[world(constant)]
    flaw: Flaw,
    /// What stands nowhere else.
    #[world(constant)]
    aside: u32,
    #[world(constant)]
    seen: f64,
    #[world(constant)]
    known: BTreeMap<PlayerId, u8>,
}

const HIT: EffectKind = EffectKind(3);

impl Duel {
    fn join(&mut self, step: &mut Step<'_, Keys>) {
        self.fighters.remove_left(step);
        for joined in step.joined().iter().filter(|joined| joined.seat == Seat::Player) {
            let strength = joined.data.first().copied().unwrap_or_default();
            self.known.insert(joined.player, strength);
            let gold = joined.account.as_ref().map_or(0, |account| account.len() as u32);
            if self.flaw != Flaw::JoinsTheFirstTime || step.first_time() {
                self.fighters.spawn(step, joined.player, Fighter { strength, gold, ..Fighter::default() });
            }
        }
    }

    /// What a fighter sees of the other, and hits.
    fn fight(&mut self, step: &mut Step<'_, Keys>, player: PlayerId) -> f64 {
        let past = step.rewound(player);
        let Some((of, other)) = past.states::<Fighter>().next() else { return 0.0 };
        let once = step.first_time();
        if step.input(player).is_some_and(|input| input.input.fires) {
            if self.flaw != Flaw::HitsTheFirstTime || once {
                step.hit(player, of);
            }
            if self.flaw != Flaw::TellsTheFirstTime || once {
                step.effect(HIT, of.entity);
            }
        }
        let seen = std::mem::replace(&mut self.seen, other.x[0]);
        if self.flaw == Flaw::KeepsView { seen } else { other.x[0] }
    }
}

impl Simulate for Duel {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.join(step);
        let owners: Vec<_> = self.fighters.iter().map(|fighter| fighter.owner()).collect();
        let seen: BTreeMap<_, _> = owners.into_iter().map(|owner| (owner, self.fight(step, owner))).collect();
        for mut fighter in self.fighters.simulated(step) {
            let owner = fighter.owner();
            for Buy(item) in step.messages_of(owner) {
                let item = match self.flaw {
                    Flaw::KeepsMessage => std::mem::replace(&mut self.aside, *item),
                    Flaw::SellsAtTheServer if !step.is_authority() => 0,
                    _ => *item,
                };
                fighter.gold = fighter.gold.wrapping_sub(item);
            }
            for Pay(gold) in step.messages_of(owner) {
                // In their order: what is paid is doubled after what is bought.
                fighter.gold = fighter.gold.wrapping_add(*gold).wrapping_mul(2);
            }
            let strength = if self.flaw == Flaw::KeepsData {
                self.known.get(&owner).copied().unwrap_or_default()
            } else {
                fighter.strength
            };
            if step.input(owner).is_some_and(|input| input.input.right) {
                fighter.x[0] += f64::from(strength) * 0.01 + 0.001 * seen.get(&owner).copied().unwrap_or_default();
            }
        }
    }
}

fn rules() -> Rules {
    Rules { messages: Messages::new().with::<Buy>().with::<Pay>(), ..Rules::new(Duel::schema()) }
}

fn keys(player: PlayerId, tick: Tick) -> Keys {
    Keys { right: tick.get() % 40 < 30, fires: (tick.get() + u32::from(player.get())).is_multiple_of(7) }
}

fn test(rules: Rules, flaw: Flaw) -> SyncTest<'static, Duel> {
    SyncTest::new(rules, move || Duel { flaw, ..Duel::default() })
        .input(keys)
        .joins(|newcomer, tick| Newcomer {
            account: Some(AccountName::from("anna")),
            data: vec![5 + newcomer.player.get() as u8 + tick.get() as u8 / 64],
            ..newcomer
        })
        .says(|player, tick| (tick.get() % 11 == u32::from(player.get())).then_some(Buy(tick.get())))
        .says(|_, tick| tick.get().is_multiple_of(13).then_some(Pay(3)))
}

fn found(flaw: Flaw) -> OutOfSync {
    test(rules(), flaw).run(400).expect_err("it is wrong")
}

#[test]
fn nothing_is_found_wrong_with_a_world_that_believes_the_step_alone() {
    assert_eq!(test(rules(), Flaw::Nothing).run(400), Ok(()));
    let exact = Rules { exact: true, ..rules() };
    assert_eq!(test(exact, Flaw::Nothing).run(400), Ok(()));
}

#[test]
fn what_is_kept_of_a_message_or_a_view_outside_of_the_saved_state_is_named() {
    for (flaw, field) in [(Flaw::KeepsMessage, "gold"), (Flaw::KeepsView, "x")] {
        let found = found(flaw);
        assert_eq!((found.stepped, found.field.as_deref()), (Stepped::AfterLoad, Some(field)), "{flaw:?}: {found}");
    }
}

#[test]
fn what_no_row_tells_of_the_data_of_a_join_is_named() {
    let found = found(Flaw::KeepsData);
    assert_eq!((found.stepped, found.field.as_deref()), (Stepped::Adopted, Some("x")), "{found}");
}

#[test]
fn who_joins_in_the_first_simulation_alone_is_named() {
    let found = found(Flaw::JoinsTheFirstTime);
    assert_eq!(
        (found.stepped, found.tick, found.entity.spawned_for()),
        (Stepped::Again, Tick::new(1), PlayerId::new(1)),
        "{found}"
    );
}

#[test]
fn a_hit_or_an_effect_that_a_resimulation_does_not_say_again_is_named() {
    for (flaw, said) in [(Flaw::HitsTheFirstTime, "a hit of player"), (Flaw::TellsTheFirstTime, "effect 3 of")] {
        let found = found(flaw);
        assert_eq!((found.stepped, &found.field), (Stepped::Again, &None), "{flaw:?}: {found}");
        assert!(found.to_string().contains(said) && found.to_string().contains("first_time"), "{flaw:?}: {found}");
    }
}

#[test]
fn what_a_client_of_an_exact_session_says_counts_for_it_at_once_and_what_others_say_comes_as_rows() {
    let found = test(Rules { exact: true, ..rules() }, Flaw::SellsAtTheServer).run(400).expect_err("it is wrong");
    assert_eq!((found.stepped, found.field.as_deref()), (Stepped::AsClient, Some("gold")), "{found}");
    // Where nobody predicts what they buy it may be so.
    assert_eq!(test(rules(), Flaw::SellsAtTheServer).run(400), Ok(()));
}

#[test]
fn a_spectator_presses_and_says_nothing() {
    let asked = Cell::new(0);
    let looks_on = |newcomer: Newcomer, _| Newcomer { seat: Seat::Spectator, ..newcomer };
    let mut test = SyncTest::new(rules(), Duel::default).joins(looks_on);
    test = test.input(|_, _| {
        asked.set(asked.get() + 1);
        Keys::default()
    });
    test = test.says(|_, _| {
        asked.set(asked.get() + 1);
        Some(Buy(1))
    });
    assert_eq!((test.run(300), asked.get()), (Ok(()), 0));
}

#[test]
fn a_scenario_looks_at_its_world_with_what_its_clients_ask_with() {
    let scenario = |flaw: Flaw| {
        let scenario = Scenario::new(rules(), move || Duel { flaw, ..Duel::default() });
        let scenario = scenario.ask(|player, request| request.with_data([7 + player as u8]).expect("it is short"));
        scenario.bot(|view, _| keys(view.player, view.tick)).without("unexplained").search(0)
    };
    let failure = scenario(Flaw::KeepsData).run(1).expect_err("it is wrong");
    let world = failure.world().expect("the world is found to be wrong");
    assert_eq!((world.stepped, world.field.as_deref()), (Stepped::Adopted, Some("x")), "{failure}");
}

#[test]
fn a_scenarios_world_by_itself_is_played_by_the_scenarios_players_in_its_ticks() {
    const NAMES: [&[u8]; 1] = [b"Anna"];
    let newest = Rc::new(Cell::new(0));
    let seen = newest.clone();
    let scenario = Scenario::new(rules(), Duel::default).length(Duration::from_secs(3)).search(0);
    let scenario = scenario.ask(|player, request| request.with_data(NAMES[player]).expect("it is short"));
    let scenario = scenario.says(|view, _| NAMES[view.index].first().map(|letter| Pay(u32::from(*letter))));
    let scenario = scenario.bot(move |view, random| {
        seen.set(seen.get().max(view.tick.get()));
        Keys { right: random.chance(0.5), fires: NAMES[view.index].len() as u32 == view.tick.get() % 8 }
    });
    scenario.run(1).expect("no check complains");
    assert!((100..1_000).contains(&newest.get()), "{}", newest.get());
}

#[test]
fn a_world_that_runs_by_itself_hears_its_effects() {
    let mut world = Duel::default();
    let joined = [1, 2].map(|player| Newcomer::new(PlayerId::new(player)));
    let rate = rules().tick_rate;
    let inputs = [1, 2].map(|player| foretell::PlayerInput {
        player: PlayerId::new(player),
        input: Keys { right: true, fires: true },
        status: foretell::InputStatus::Received,
        presented: None,
    });
    let side = foretell::world::Side::Server;
    world.step(&mut Step::new(Tick::new(1), rate, side, &inputs).with_players(&joined, &[]));
    let mut rows = foretell::Rows::new(&Duel::schema());
    world.publish(&mut rows);
    let (schema, tick) = (Duel::schema(), Tick::new(2));
    let past = foretell::world::PastState::new(&rows, &schema);
    let mut step = Step::new(tick, rate, side, &inputs).with_past(&past);
    world.step(&mut step);
    let shot: Vec<_> = step.hits().map(|(rewind, victim)| (rewind.player, victim.owner)).collect();
    assert_eq!(shot, [(PlayerId::new(1), PlayerId::new(2)), (PlayerId::new(2), PlayerId::new(1))]);
    let is_hit = |effect: &Effect| effect.kind == HIT && effect.tick == tick;
    assert!(step.effects().len() == 2 && step.effects().iter().all(is_hit));
}
