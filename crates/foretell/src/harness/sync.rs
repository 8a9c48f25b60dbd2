//! A world by itself: whether its steps are exact, so that a client can predict with it.

use super::check::difference;
use crate::rollback::{Entity, PlayerId, PlayerInput, Rows, Schema, Side, Step, Tolerance, World};
use crate::rollback::{InputStatus, KindSchema};
use crate::session::Rules;
use crate::time::Tick;
use core::fmt;

/// How many ticks back the deep rollback goes.
const DEPTH: u32 = 8;
/// How many players take part; they join one after the other, a second apart.
const PLAYERS: u16 = 2;

/// How the world was stepped when it gave another result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Stepped {
    /// A second world was given the same steps: the step reads something outside of the world, such as a clock.
    Anew,
    /// Every tick was saved, stepped, loaded and stepped again: `save` or `load` forgets something.
    AfterLoad,
    /// It was rolled back by eight ticks, and these were simulated again, as in a re-simulation: `save` or `load` forgets
    /// something, or the step does something else when it is not the first time.
    Again,
    /// Another world adopted the published rows, and went on from there, as a client's does: the rows of players'
    /// entities lack something that the step reads, or the step depends on an order that `adopt` does not keep.
    Adopted,
}

/// The first difference that [`sync_test`] finds.
#[derive(Clone, PartialEq, Debug)]
pub struct OutOfSync {
    /// How the world was stepped.
    pub stepped: Stepped,
    /// The state that differs.
    pub tick: Tick,
    /// The first entity that differs.
    pub entity: Entity,
    /// The name of the first field that differs; `None` when the entity exists on one side only.
    pub field: Option<String>,
    what: String,
}

impl fmt::Display for OutOfSync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OutOfSync { stepped, tick, what, .. } = self;
        let (how, why) = match stepped {
            Stepped::Anew => (
                "a second world given the same steps differs",
                "the step reads something outside of the world: a clock, random numbers, something shared",
            ),
            Stepped::AfterLoad => {
                ("a world that is saved, loaded and stepped again differs", "save or load forgets something")
            }
            Stepped::Again => (
                "eight ticks simulated again differ",
                "save or load forgets something, or the step depends on first_time",
            ),
            Stepped::Adopted => (
                "a world that has adopted the published rows steps differently",
                "they lack something that the step reads, or the step depends on an order that adopt does not keep",
            ),
        };
        write!(f, "{how} at {tick:?}: {what} ({why})")
    }
}

impl core::error::Error for OutOfSync {}

/// Steps a world through so many ticks in four ways, and compares the rows of every tick in every bit: straight on twice,
/// with every tick saved, loaded and stepped again, with rollbacks of eight ticks, and from adopted rows. Two players
/// take part. What fails here can't be predicted by any client.
///
/// # Errors
/// The first difference, with tick, entity and field.
///
/// # Panics
/// When the world publishes rows that are not of the rules' schema.
pub fn sync_test<W: World>(
    rules: &Rules,
    make: impl Fn() -> W,
    input: impl FnMut(PlayerId, Tick) -> W::Input,
    ticks: u32,
) -> Result<(), OutOfSync> {
    let script = Script::write(rules, input, ticks);
    let truth = script.straight_on(&mut make());
    script.anew(&mut make(), &truth)?;
    script.after_load(&mut make(), &truth)?;
    script.again(&mut make(), &truth)?;
    script.adopted(make, &truth)
}

/// The steps, and how they are compared.
struct Script<'a, I> {
    rules: &'a Rules,
    /// By tick.
    inputs: Vec<Vec<PlayerInput<I>>>,
    ticks: u32,
}

impl<'a, I: crate::rollback::Input> Script<'a, I> {
    fn write(rules: &'a Rules, mut input: impl FnMut(PlayerId, Tick) -> I, ticks: u32) -> Script<'a, I> {
        let rate = u32::from(rules.tick_rate.get());
        let present = |tick: Tick| (1..=PLAYERS).map(PlayerId::new).filter(move |player| joins(*player, rate) <= tick);
        let of_tick = |tick: Tick| {
            let status = InputStatus::Received;
            let inputs =
                present(tick).map(|player| PlayerInput { player, input: input(player, tick), status, presented: None });
            inputs.collect()
        };
        Script { rules, inputs: Tick::ZERO.until(Tick::new(ticks)).map(of_tick).collect(), ticks }
    }

    fn step<W: World<Input = I>>(&self, world: &mut W, tick: Tick, rows: &mut Rows, again: bool) {
        let rate = u32::from(self.rules.tick_rate.get());
        let joined: Vec<_> = (1..=PLAYERS).map(PlayerId::new).filter(|player| joins(*player, rate) == tick).collect();
        let inputs = &self.inputs[tick.get() as usize];
        let step = Step::new(tick, self.rules.tick_rate, Side::Server, inputs).with_players(&joined, &[]);
        world.step(&if again { step.again() } else { step });
        world.publish(rows);
        rows.settle();
    }

    fn ticks(&self) -> impl DoubleEndedIterator<Item = Tick> + use<I> {
        Tick::ZERO.until(Tick::new(self.ticks))
    }

    /// The rows of state 0, and of the state after every tick.
    fn straight_on<W: World<Input = I>>(&self, world: &mut W) -> Vec<Rows> {
        let mut rows = self.first_rows(world);
        let mut truth = vec![rows.clone()];
        for tick in self.ticks() {
            self.step(world, tick, &mut rows, false);
            truth.push(rows.clone());
        }
        truth
    }

    fn first_rows<W: World<Input = I>>(&self, world: &W) -> Rows {
        let mut rows = Rows::new(&self.rules.schema);
        world.publish(&mut rows);
        rows.settle();
        rows
    }

    fn anew<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            self.step(world, tick, &mut rows, false);
            self.compare(Stepped::Anew, tick.next(), &truth[tick.next().get() as usize], &rows)
        })
    }

    fn after_load<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut saved = W::Saved::default();
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            world.save(&mut saved);
            self.step(world, tick, &mut rows, false);
            world.load(&saved);
            // What was published last is what followed the step to this state.
            rows.copy_rows(&truth[tick.get() as usize]);
            self.step(world, tick, &mut rows, false);
            self.compare(Stepped::AfterLoad, tick.next(), &truth[tick.next().get() as usize], &rows)
        })
    }

    fn again<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut saved: Vec<_> = (0..DEPTH).map(|_| W::Saved::default()).collect();
        let mut rows = self.first_rows(world);
        let slot = |tick: Tick| (tick.get() % DEPTH) as usize;
        for tick in self.ticks() {
            world.save(&mut saved[slot(tick)]);
            self.step(world, tick, &mut rows, false);
            let Some(from) = tick.next().back(DEPTH) else { continue };
            world.load(&saved[slot(from)]);
            rows.copy_rows(&truth[from.get() as usize]);
            for tick in from.until(tick.next()) {
                world.save(&mut saved[slot(tick)]);
                self.step(world, tick, &mut rows, true);
                self.compare(Stepped::Again, tick.next(), &truth[tick.next().get() as usize], &rows)?;
            }
        }
        Ok(())
    }

    /// Only what belongs to players is compared: a server may keep to itself how it moves its own.
    fn adopted<W: World<Input = I>>(&self, make: impl Fn() -> W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let of_players = |rows: &Rows| {
            let mut rows = rows.clone();
            rows.retain(|entity| entity.player() != PlayerId::SERVER);
            rows
        };
        // In tick 0 there is nothing to adopt.
        self.ticks().skip(1).try_for_each(|tick| {
            let before = &truth[tick.get() as usize];
            let mut world = make();
            world.adopt(before);
            let mut rows = before.clone();
            self.step(&mut world, tick, &mut rows, false);
            let truth = of_players(&truth[tick.next().get() as usize]);
            self.compare(Stepped::Adopted, tick.next(), &truth, &of_players(&rows))
        })
    }

    fn compare(&self, stepped: Stepped, tick: Tick, truth: &Rows, rows: &Rows) -> Result<(), OutOfSync> {
        if truth.iter().eq(rows.iter()) {
            return Ok(());
        }
        let schema: &Schema = &self.rules.schema;
        let named = truth.iter().chain(rows.iter()).map(|(entity, _)| entity);
        let entity = named.filter(|entity| truth.words(*entity) != rows.words(*entity)).min();
        let entity = entity.expect("rows that differ differ in an entity");
        let (one, other) = (truth.words(entity), rows.words(entity));
        let sides = (("at first", one), ("then", other));
        let what = difference(schema, (entity, &Tolerance::default()), sides.0, sides.1);
        let field = one.zip(other).and_then(|(one, other)| field(schema.kind(entity.kind()), one, other));
        Err(OutOfSync { stepped, tick, entity, field, what: what.unwrap_or_default() })
    }
}

/// The name of the first field in which two rows differ.
fn field(kind: &KindSchema, one: &[u32], other: &[u32]) -> Option<String> {
    let mut pairs = kind.fields(one).zip(kind.fields(other));
    let ((column, _), _) = pairs.find(|((_, one), (_, other))| one != other)?;
    Some(column.name.to_string())
}

/// When a player joins.
fn joins(player: PlayerId, rate: u32) -> Tick {
    Tick::new(u32::from(player.get() - 1) * rate)
}
