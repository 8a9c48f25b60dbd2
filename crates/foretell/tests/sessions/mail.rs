//! The check of messages: quiet while they come as they should, and heard where one does not.

use foretell::{Input, Message, Messages, PlayerId, Rules, Simulate, State, Step, Table, Tick, World};
use foretell_sim::harness::check::{Check, ClientSeen, ServerSeen};
use foretell_sim::harness::{FaultMix, Scenario};
use serde::{Deserialize, Deserializer, Serialize};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    right: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Shopper {
    #[state(position)]
    x: [f32; 1],
    bought: u32,
}

#[derive(World, Default)]
struct Shop {
    shoppers: Table<Shopper>,
}

impl Simulate for Shop {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        self.shoppers.remove_left(step);
        for joined in step.joined() {
            self.shoppers.spawn(step, joined.player, Shopper::default());
        }
        for mut shopper in self.shoppers.simulated(step) {
            for Buy(item) in step.messages_of(shopper.owner()) {
                shopper.bought = shopper.bought.wrapping_mul(31).wrapping_add(*item);
            }
            if step.input(shopper.owner()).is_some_and(|player| player.input.right) {
                shopper.x[0] += 0.1;
            }
        }
    }
}

macro_rules! lines {
    ($($name:ident $delivery:ident),*) => {$(
        #[derive(Serialize, Deserialize, Message)]
        #[message($delivery)]
        struct $name(Vec<u8>);
    )*};
}

lines!(Line ordered, Gift unordered, Wind newest, Spark unreliable);

#[derive(Serialize, Deserialize, Message)]
#[message(in_step)]
struct Buy(u32);

#[derive(Serialize, Deserialize, Message)]
#[message(in_step)]
struct Bow(u8);

/// Read as something else than what was written, now and then.
#[derive(Serialize, Message)]
struct Bent(u32);

impl<'de> Deserialize<'de> for Bent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Bent, D::Error> {
        u32::deserialize(from).map(|number| Bent(if number % 64 == 63 { 0 } else { number }))
    }
}

thread_local! {
    static READ: Cell<u32> = const { Cell::new(0) };
}

/// Read as something else by every second who reads it: by the server, where its client has read it first.
#[derive(Serialize, Message)]
#[message(in_step)]
struct Fickle(u32);

impl<'de> Deserialize<'de> for Fickle {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fickle, D::Error> {
        let read = READ.replace(READ.get() + 1);
        u32::deserialize(from).map(|number| Fickle(number + read % 2))
    }
}

fn messages() -> Messages {
    let kinds =
        Messages::new().with::<Line>().with::<Gift>().with::<Wind>().with::<Spark>().with::<Buy>().with::<Bow>();
    kinds.with::<Bent>().with::<Fickle>()
}

fn shop() -> Scenario<Shop> {
    let rules = Rules { messages: messages(), ..Rules::new(Shop::schema()) };
    Scenario::new(rules, Shop::default).bot(|_, random| Keys { right: random.chance(0.5) })
}

/// How many of each kind have come to the server, from it, and in its steps.
type Counts = Rc<RefCell<BTreeMap<(&'static str, &'static str), u32>>>;

struct Count(Counts);

impl Count {
    fn add(&self, end: &'static str, kind: &'static str) {
        *self.0.borrow_mut().entry((end, kind)).or_default() += 1;
    }
}

impl Check<Shop> for Count {
    fn name(&self) -> &'static str {
        "count"
    }
    fn after_server(&mut self, seen: &ServerSeen<'_, Shop>) -> Result<(), String> {
        seen.frame.messages.iter().for_each(|message| self.add("server", message.name()));
        seen.heard.iter().flat_map(|step| &step.messages).for_each(|letter| self.add("step", letter.kind.name()));
        Ok(())
    }
    fn after_client(&mut self, seen: &ClientSeen<'_, Shop>) -> Result<(), String> {
        seen.frame.messages.iter().for_each(|message| self.add("client", message.name()));
        Ok(())
    }
}

/// Everybody says everything, both ways.
fn talkative() -> (Scenario<Shop>, Counts) {
    fn now_and_then(random: &mut foretell_sim::netsim::SplitMix64) -> Option<Vec<u8>> {
        let most = if random.chance(0.02) { 4000 } else { 20 };
        random.chance(0.05).then(|| (0..random.next_u64() % most).map(|_| random.next_u64() as u8).collect())
    }
    let counts = Counts::default();
    let counted = counts.clone();
    let scenario = shop()
        .says(|_, random| now_and_then(random).map(Line))
        .says(|_, random| now_and_then(random).map(Gift))
        .says(|_, random| now_and_then(random).map(Wind))
        .says(|_, random| now_and_then(random).map(Spark))
        .says(|view, random| random.chance(0.05).then(|| Buy(view.tick.get())))
        .says(|_, random| random.chance(0.05).then_some(Bow(1)))
        .tells(|_, _, random| now_and_then(random).map(Line))
        .tells(|_, _, random| now_and_then(random).map(Gift))
        .tells(|_, _, random| now_and_then(random).map(Wind))
        .tells(|_, _, random| now_and_then(random).map(Spark))
        .check(move || Count(counted.clone()));
    (scenario, counts)
}

fn assert_all_have_come(counts: &Counts) {
    let counts = counts.borrow();
    for end in ["server", "client"] {
        for kind in ["Line", "Gift", "Wind", "Spark"] {
            assert!(counts.get(&(end, kind)).is_some_and(|count| *count > 50), "{end} {kind}: {counts:?}");
        }
    }
    assert!(["Buy", "Bow"].iter().all(|kind| counts[&("step", *kind)] > 50), "{counts:?}");
}

#[test]
fn whatever_goes_wrong_no_message_is_lost_doubled_or_in_another_step() {
    let (scenario, counts) = talkative();
    scenario.players(3).faults(FaultMix::default()).seeds(0..12).expect("no check complains");
    assert_all_have_come(&counts);
}

#[test]
#[ignore = "minutes; for nights"]
fn whatever_goes_wrong_no_message_is_lost_doubled_or_in_another_step_in_many_seeds() {
    talkative().0.players(3).faults(FaultMix::default()).seeds(0..400).expect("no check complains");
}

#[test]
fn who_sits_at_the_server_says_and_is_told_everything_too() {
    let (scenario, counts) = talkative();
    scenario.players(1).hosted().faults(FaultMix::default()).seeds(0..3).expect("no check complains");
    let (alone, alone_counts) = talkative();
    alone.hosted().players(0).run(1).expect("no check complains");
    assert!(alone_counts.borrow()[&("step", "Buy")] > 20);
    assert!(counts.borrow()[&("server", "Line")] > 50);
}

#[test]
fn what_comes_as_something_else_is_named_and_shrunk_to_a_test() {
    let scenario = shop().players(2).faults(FaultMix::default());
    let failure = scenario.says(|view, _| Some(Bent(view.tick.get()))).run(3).expect_err("every 64th is another");
    assert_eq!((failure.check(), failure.schedule().0.len()), ("mail", 0), "{failure}");
    assert!(failure.what().contains("Bent of player 1") && failure.what().contains("was never said so"), "{failure}");
    assert!(failure.to_string().contains("fn seed_3_mail_"), "{failure}");
    let told = shop().tells(|_, tick, _| Some(Bent(tick.get()))).run(3).expect_err("on the other way as well");
    assert_eq!((told.check(), told.what().contains("was never said so")), ("mail", true), "{told}");
    shop().without("mail").says(|view, _| Some(Bent(view.tick.get()))).run(3).expect("nobody looks");
}

#[test]
fn what_is_another_in_the_step_of_the_server_is_named() {
    READ.set(0);
    let scenario = shop().says(|view, _| view.tick.get().is_multiple_of(32).then_some(Fickle(7))).without("world");
    let failure = scenario.search(0).run(1).expect_err("the server reads another");
    assert_eq!(failure.check(), "mail", "{failure}");
    assert!(failure.what().contains("Fickle of player 1"), "{failure}");
}

#[test]
fn a_scenarios_world_by_itself_is_told_what_is_said_in_steps() {
    #[derive(World, Default)]
    struct Forgetful {
        shoppers: Table<Shopper>,
        #[world(constant)]
        last: u32,
    }
    impl Simulate for Forgetful {
        type Input = Keys;
        fn step(&mut self, step: &mut Step<'_, Keys>) {
            for joined in step.joined() {
                self.shoppers.spawn(step, joined.player, Shopper::default());
            }
            for mut shopper in self.shoppers.simulated(step) {
                for Buy(item) in step.messages_of(shopper.owner()) {
                    shopper.bought += std::mem::replace(&mut self.last, *item);
                }
            }
        }
    }
    let rules = Rules { messages: messages(), ..Rules::new(Forgetful::schema()) };
    let scenario = Scenario::new(rules, Forgetful::default).says(|view, _| Some(Buy(view.tick.get() % 7)));
    let scenario = scenario.without("unexplained").without("calm").without("convergence").without("silence").search(0);
    let failure = scenario.run(1).expect_err("it is wrong");
    assert_eq!(failure.check(), "world", "{failure}");
    assert!(failure.what().contains("field `bought`"), "{failure}");
}

#[test]
fn everybody_is_asked_what_they_say_once_for_each_tick_whatever_their_frame_rate() {
    type Asked = Rc<RefCell<BTreeMap<String, Vec<u32>>>>;
    let asked = Asked::default();
    let note = |who: &'static str| {
        let asked = asked.clone();
        move |number: usize, tick: Tick| {
            asked.borrow_mut().entry(format!("{who} {number}")).or_default().push(tick.get());
            None::<Line>
        }
    };
    let (says, tells) = (note("player"), note("to"));
    let scenario = shop().players(2).hosted().schedule("0:p0:fps:30,0:s:drift:10000,3000-500:p1:stall");
    let scenario = scenario.says(move |view, _| says(view.index, view.tick));
    let scenario = scenario.tells(move |player, tick, _| tells(usize::from(player.get()), tick));
    scenario.length(Duration::from_secs(6)).run(1).expect("no check complains");
    let asked = asked.borrow();
    assert_eq!(asked.len(), 6, "{:?}", asked.keys());
    for (who, ticks) in asked.iter() {
        let in_turn = ticks.windows(2).all(|two| two[1] == two[0] + 1);
        assert!(in_turn && ticks.len() > 300, "{who}: {ticks:?}");
    }
}

#[test]
fn the_newest_message_in_the_bytes_of_those_before_it_has_come_where_one_of_them_has() {
    let scenario = shop().tells(|_, tick, _| (300..=310).contains(&tick.get()).then(|| Wind(vec![3])));
    let scenario = scenario.says(|_, _| Some(Wind(vec![7])));
    scenario.schedule("4600-300:p0:loss:down:100,8000-200:p0:loss:both:50").run(1).expect("no check complains");
}

#[test]
#[should_panic(expected = "the rules have no message")]
fn what_the_rules_do_not_have_can_not_be_said() {
    let rules = Rules::new(Shop::schema());
    let _ = Scenario::new(rules, Shop::default).tells(|_: PlayerId, _, _| Some(Line(Vec::new())));
}
