//! A world by itself: whether its steps are exact, so that a client can predict with it.

mod attendance;
mod out_of_sync;
mod script;
mod truth;

pub use out_of_sync::{OutOfSync, Stepped};

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::type_name;
use foretell::session::Rules;
use foretell::time::Tick;
use foretell::world::{Delivery, Message, Newcomer, PlayerId, ReceivedMessage, Simulate, World};
use script::Script;

/// The input of a player for a tick.
type Press<'a, W> = dyn FnMut(PlayerId, Tick) -> <W as Simulate>::Input + 'a;
/// What is known of somebody who joins in a tick.
type Introduce<'a> = dyn FnMut(Newcomer, Tick) -> Newcomer + 'a;
/// A message of a player in the step of a tick.
type Say<'a> = dyn FnMut(PlayerId, Tick) -> Option<ReceivedMessage> + 'a;

/// Steps a world without a network, in four ways, and compares the rows of every tick in every bit: straight on twice,
/// with every tick saved, loaded and stepped again, with rollbacks of eight ticks, and from adopted rows. Where the same world is
/// stepped again its [effects](foretell::Step::effects) and [hits](foretell::Step::hits) have to be the same, too. What fails here can't be predicted
/// by any client.
///
/// Two players take part; the second joins after a second, leaves every three seconds, and comes back a second later. What they
/// press, what is known of them and what they say in steps is yours to give; a step that is simulated again has the same. They see
/// others as these were three ticks ago ([`Step::rewound`](foretell::Step::rewound)), but in exact sessions, where all is seen in the present.
///
/// Rows are adopted in [canonical](foretell::Step::canonical) steps alone: there they are all that a step may depend on. They are
/// adopted by worlds that are eight ticks behind, and are told what was removed since. Where the rules are
/// [exact](Rules::exact) that is done once more as a client does it, and everything has to be the same, whosever it is.
///
/// ```
/// # use foretell::{Input, Message, Messages, Newcomer, Rules, Simulate, State, Step, Table, World};
/// # use serde::{Deserialize, Serialize};
/// # #[derive(Input, Clone, Copy, PartialEq, Default)]
/// # struct Buttons { right: bool }
/// # #[derive(State, Clone, Copy, Default)]
/// # struct Cube { #[state(position)] x: [f32; 1], paint: u8 }
/// # #[derive(Serialize, Deserialize, Message)]
/// # #[message(in_step)]
/// # struct Paint(u8);
/// # #[derive(World, Default)]
/// # struct Arena { cubes: Table<Cube> }
/// # impl Simulate for Arena {
/// #     type Input = Buttons;
/// #     fn step(&mut self, step: &mut Step<'_, Buttons>) {
/// #         self.cubes.remove_left(step);
/// #         for joined in step.joined() {
/// #             let paint = joined.data.first().copied().unwrap_or_default();
/// #             self.cubes.spawn(step, joined.player, Cube { paint, ..Cube::default() });
/// #         }
/// #         for mut cube in self.cubes.simulated(step) {
/// #             for Paint(paint) in step.messages_of(cube.owner()) { cube.paint = *paint; }
/// #             if step.input(cube.owner()).is_some_and(|player| player.input.right) { cube.x[0] += 0.1; }
/// #         }
/// #     }
/// # }
/// use foretell_sim::harness::SyncTest;
///
/// let rules = Rules { messages: Messages::new().with::<Paint>(), ..Rules::new(Arena::schema()) };
/// SyncTest::new(rules, Arena::default)
///     .input(|_player, tick| Buttons { right: tick.get() % 40 < 20 })
///     .joins(|newcomer, _tick| Newcomer { data: vec![7], ..newcomer })
///     .says(|_player, tick| (tick.get() % 30 == 0).then_some(Paint(tick.get() as u8)))
///     .run(300)
///     .expect("every client can predict it");
/// ```
pub struct SyncTest<'a, W: World> {
    rules: Rules,
    make: Box<dyn Fn() -> W + 'a>,
    input: Box<Press<'a, W>>,
    joins: Box<Introduce<'a>>,
    says: Vec<Box<Say<'a>>>,
}

impl<'a, W: World> SyncTest<'a, W> {
    /// Of the worlds that `make` makes, under these rules. Players press nothing, nothing is known of them, and they say nothing.
    pub fn new(rules: Rules, make: impl Fn() -> W + 'a) -> SyncTest<'a, W> {
        SyncTest {
            rules,
            make: Box::new(make),
            input: Box::new(|_, _| W::Input::default()),
            joins: Box::new(|newcomer, _| newcomer),
            says: Vec::new(),
        }
    }

    /// With what a player presses in a tick.
    #[must_use]
    pub fn input(mut self, input: impl FnMut(PlayerId, Tick) -> W::Input + 'a) -> SyncTest<'a, W> {
        self.input = Box::new(input);
        self
    }

    /// With what is known of somebody who joins in a tick: an account, data, another seat. A spectator has no input, and says nothing.
    #[must_use]
    pub fn joins(mut self, joins: impl FnMut(Newcomer, Tick) -> Newcomer + 'a) -> SyncTest<'a, W> {
        self.joins = Box::new(joins);
        self
    }

    /// With what a player says in the step of a tick, if anything. Said again for each type of message; in a step they stand in
    /// this order.
    ///
    /// # Panics
    /// When the rules have no such message, or it is not [in steps](Delivery::InStep).
    #[must_use]
    pub fn says<M: Message>(mut self, mut says: impl FnMut(PlayerId, Tick) -> Option<M> + 'a) -> SyncTest<'a, W> {
        let kind = self.rules.messages.kinds().iter().find(|kind| kind.name() == M::NAME);
        let kind = kind.unwrap_or_else(|| panic!("the rules have no message {}", type_name::<M>()));
        assert_eq!(kind.delivery(), Delivery::InStep, "what is in no step is none of the world's: {kind:?}");
        self.says.push(Box::new(move |player, tick| Some(ReceivedMessage::of(player, says(player, tick)?))));
        self
    }

    /// The same with messages of any type.
    pub(super) fn hears(mut self, says: impl FnMut(PlayerId, Tick) -> Option<ReceivedMessage> + 'a) -> SyncTest<'a, W> {
        self.says.push(Box::new(says));
        self
    }

    /// Looks at the world for so many ticks.
    ///
    /// # Errors
    /// The first difference, with tick, entity and field.
    ///
    /// # Panics
    /// When `ticks` is 0, when the world publishes rows that are not of the rules' schema, and when [`joins`](SyncTest::joins) makes
    /// another player of somebody.
    pub fn run(mut self, ticks: u32) -> Result<(), OutOfSync> {
        assert!(ticks > 0, "a world is looked at for at least one tick, not for 0");
        let mut script = Script::write(&mut self, ticks);
        let make = &self.make;
        let truth = script.straight_on(&mut make());
        script.anew(&mut make(), &truth)?;
        script.after_load(&mut make(), &truth)?;
        script.again(&mut make(), &truth)?;
        script.canonical = true;
        let truth = script.straight_on(&mut make());
        script.adopted(make, &truth)?;
        if self.rules.exact { script.of_client(make, &truth) } else { Ok(()) }
    }

    /// The same for a client's world alone: it adopts what the server's has published when both players are there, and is
    /// stepped from there on as the first one's client does, in three ways. What a server keeps to itself is not looked at, so
    /// that a world in which this fails is wrong in any case.
    pub(super) fn run_client(mut self) -> Result<(), OutOfSync> {
        let (begins, ticks) = attendance::of_client(&self.rules);
        let mut script = Script::write(&mut self, ticks);
        let published = script.straight_on(&mut (self.make)()).into_rows(begins);
        script.begin_as_client(begins, &published);
        let make = || {
            let mut world = (self.make)();
            world.adopt(script.first());
            world
        };
        let truth = script.straight_on(&mut make());
        script.anew(&mut make(), &truth)?;
        script.after_load(&mut make(), &truth)?;
        script.again(&mut make(), &truth)
    }
}
