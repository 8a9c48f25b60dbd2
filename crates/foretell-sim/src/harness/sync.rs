//! A world by itself: whether its steps are exact, so that a client can predict with it.

use super::check::{NamedRow, difference};
use alloc::string::String;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;
use foretell::session::Rules;
use foretell::time::{Tick, TickTime};
use foretell::world::{ComponentSchema, InputStatus, Newcomer, PastState, RemovedRow};
use foretell::world::{Entity, PlayerId, PlayerInput, Predicted, Rows, Schema, Side, Step, Tolerance, World};

/// How many ticks back the deep rollback goes.
const DEPTH: u32 = 8;
/// How many players take part; they join one after the other, a second apart.
const PLAYERS: u16 = 2;
/// How many seconds after the first has joined the last of them leaves, and comes back a second later; and so on.
const LEAVES_EVERY_S: u32 = 3;
/// How many ticks back players see others: a step that judges by what they saw ([`Step::rewound`]) finds the state of then.
const SEEN_BACK: u32 = 3;
/// A client's world is looked at for so many ticks, and so many after the last player has joined.
const CLIENT_TICKS: u32 = 96;
const CLIENT_AFTER: u32 = 16;

/// How the world was stepped when it gave another result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Stepped {
    /// A second world was given the same steps: the step reads something outside of the world, such as a clock.
    Anew,
    /// Every tick was saved, stepped, loaded and stepped again: `save` or `load` forgets something.
    AfterLoad,
    /// It was rolled back by eight ticks, and these were simulated again, as in a re-simulation: `save` or `take` forgets
    /// something, or the step does something else when it is not the first time.
    Again,
    /// Another world adopted the published rows, and went on from there, as a client's does: the rows of players'
    /// entities lack something that the step reads, the step depends on an order that `adopt` does not keep, or `adopt`
    /// leaves something there that was removed.
    Adopted,
    /// The same as the client of an [exact](Rules::exact) session does it, which predicts everything: the step does on the
    /// authority what it does not do there.
    AsClient,
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
                "the step reads something outside of the world: a clock, random numbers, the order of a HashMap, something \
                 shared",
            ),
            Stepped::AfterLoad => {
                ("a world that is saved, loaded and stepped again differs", "save or load forgets something")
            }
            Stepped::Again => (
                "eight ticks simulated again differ",
                "save or take (which is load, if the world has none) forgets something, or the step depends on first_time",
            ),
            Stepped::Adopted => (
                "a world that has adopted the published rows steps differently",
                "they lack something that the step reads, the step depends on an order that adopt does not keep, or adopt \
                 leaves something there that was removed",
            ),
            Stepped::AsClient => (
                "a client of an exact session, which has the same rows and inputs, steps differently",
                "only the authority did this: the step asks is_authority where it is to ask simulates; or the server's rows \
                 lack something that the step reads",
            ),
        };
        write!(f, "{how} at {tick:?}: {what} ({why})")
    }
}

impl core::error::Error for OutOfSync {}

/// Steps a world through so many ticks in four ways, and compares the rows of every tick in every bit: straight on twice,
/// with every tick saved, loaded and stepped again, with rollbacks of eight ticks, and from adopted rows. Two players
/// take part; the second joins after a second, leaves every three seconds, and comes back a second later. What fails here
/// can't be predicted by any client.
///
/// Rows are adopted in [canonical](Step::canonical) steps alone: there they are all that a step may depend on. They are
/// adopted by worlds that are eight ticks behind, and are told what was removed since. Where the rules are
/// [exact](Rules::exact) that is done once more as a client does it, and everything has to be the same, whosever it is.
///
/// # Errors
/// The first difference, with tick, entity and field.
///
/// # Panics
/// When `ticks` is 0, and when the world publishes rows that are not of the rules' schema.
pub fn sync_test<W: World>(
    rules: &Rules,
    make: impl Fn() -> W,
    input: impl FnMut(PlayerId, Tick) -> W::Input,
    ticks: u32,
) -> Result<(), OutOfSync> {
    assert!(ticks > 0, "a world is looked at for at least one tick, not for 0");
    let mut script = Script::write(rules, input, ticks);
    let truth = script.straight_on(&mut make());
    script.anew(&mut make(), &truth)?;
    script.after_load(&mut make(), &truth)?;
    script.again(&mut make(), &truth)?;
    script.canonical = true;
    let truth = script.straight_on(&mut make());
    script.adopted(&make, &truth)?;
    if rules.exact { script.of_client(&make, &truth) } else { Ok(()) }
}

/// The same for a client's world alone: it adopts what the server's has published when both players are there, and is
/// stepped from there on as the first one's client does, in three ways. What a server keeps to itself is not looked at, so
/// that a world in which this fails is wrong in any case.
pub(super) fn client_sync_test<W: World>(
    rules: &Rules,
    make: impl Fn() -> W,
    input: impl FnMut(PlayerId, Tick) -> W::Input,
) -> Result<(), OutOfSync> {
    let begins = joins(PlayerId::new(PLAYERS), u32::from(rules.tick_rate.get())) + CLIENT_AFTER;
    let mut script = Script::write(rules, input, begins.get() + CLIENT_TICKS);
    let published = script.straight_on(&mut make()).swap_remove(begins.get() as usize);
    script.begin_as_client(begins, &published);
    let make = || {
        let mut world = make();
        world.adopt(&script.first);
        world
    };
    let truth = script.straight_on(&mut make());
    script.anew(&mut make(), &truth)?;
    script.after_load(&mut make(), &truth)?;
    script.again(&mut make(), &truth)
}

/// A tick, and the rows of all states from the first on that have been by then.
#[derive(Clone, Copy)]
struct At<'t> {
    tick: Tick,
    truth: &'t [Rows],
}

/// The steps, and how they are compared.
struct Script<'a, I> {
    rules: &'a Rules,
    side: Side,
    /// By tick.
    inputs: Vec<Vec<PlayerInput<I>>>,
    /// Whether every step is.
    canonical: bool,
    /// Whether the client whose side it is predicts everything.
    predicts_all: bool,
    /// The state that it begins with, and its rows: none for a server's, which publishes what it has.
    begins: Tick,
    first: Rows,
    ticks: u32,
}

impl<'a, I: foretell::world::Input> Script<'a, I> {
    fn write(rules: &'a Rules, mut input: impl FnMut(PlayerId, Tick) -> I, ticks: u32) -> Script<'a, I> {
        let rate = u32::from(rules.tick_rate.get());
        let present = |tick: Tick| (1..=PLAYERS).map(PlayerId::new).filter(move |player| is_there(*player, tick, rate));
        let of_tick = |tick: Tick| {
            let status = InputStatus::Received;
            let presented = seen(rules, tick).map(TickTime::start_of);
            let inputs =
                present(tick).map(|player| PlayerInput { player, input: input(player, tick), status, presented });
            inputs.collect()
        };
        let inputs = Tick::ZERO.until(Tick::new(ticks)).map(of_tick).collect();
        Script {
            rules,
            side: Side::Server,
            inputs,
            canonical: false,
            predicts_all: false,
            begins: Tick::ZERO,
            first: Rows::new(&rules.schema),
            ticks,
        }
    }

    /// From state `begins` on as the first player's client, which knows no inputs but its own.
    fn begin_as_client(&mut self, begins: Tick, published: &Rows) {
        let own = PlayerId::new(1);
        (self.side, self.begins) = (Side::Client(own), begins);
        let seen = published.seen_by(&self.rules.schema, own);
        seen.for_each(|row| self.first.set_words(row));
        self.first.settle();
        self.inputs.iter_mut().for_each(|inputs| inputs.retain(|input| input.player == own));
    }

    fn step<W: World<Input = I>>(&self, world: &mut W, at: At<'_>, rows: &mut Rows, again: bool) {
        let At { tick, truth } = at;
        let rate = u32::from(self.rules.tick_rate.get());
        let change = |comes: bool| {
            let changed = |player: &PlayerId| changes(*player, tick, rate) && is_there(*player, tick, rate) == comes;
            let players = (1..=PLAYERS).map(PlayerId::new).filter(|_| self.side == Side::Server);
            players.filter(changed).collect::<Vec<_>>()
        };
        let (joined, left) = (change(true), change(false));
        let joined: Vec<_> = joined.into_iter().map(Newcomer::new).collect();
        let inputs = &self.inputs[tick.get() as usize];
        let everything = self.everything();
        let seen = seen(self.rules, tick).unwrap_or(tick).max(self.begins);
        let past = PastState::new(self.of(truth, seen), &self.rules.schema);
        let step = Step::new(tick, self.rules.tick_rate, self.side, inputs).with_players(&joined, &left);
        let step = step.with_past(&past).on_canonical(self.canonical);
        let step = if self.predicts_all { step.predicting(&everything) } else { step };
        world.step(&mut if again { step.again() } else { step });
        world.publish(rows);
        rows.settle();
    }

    fn ticks(&self) -> impl DoubleEndedIterator<Item = Tick> + use<I> {
        self.begins.until(Tick::new(self.ticks))
    }

    /// Of the rows of all states from the first on, those of `tick`.
    fn of<'r>(&self, truth: &'r [Rows], tick: Tick) -> &'r Rows {
        &truth[tick.since(self.begins) as usize]
    }

    /// The rows of the first state, and of the state after every tick.
    fn straight_on<W: World<Input = I>>(&self, world: &mut W) -> Vec<Rows> {
        let mut rows = self.first_rows(world);
        let mut truth = vec![rows.clone()];
        for tick in self.ticks() {
            self.step(world, At { tick, truth: &truth }, &mut rows, false);
            truth.push(rows.clone());
        }
        truth
    }

    fn first_rows<W: World<Input = I>>(&self, world: &mut W) -> Rows {
        let mut rows = self.first.clone();
        world.publish(&mut rows);
        rows.settle();
        rows
    }

    fn anew<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            self.step(world, At { tick, truth }, &mut rows, false);
            self.compare(Stepped::Anew, tick.next(), self.of(truth, tick.next()), &rows)
        })
    }

    fn after_load<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut saved = W::Saved::default();
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            world.save(&mut saved);
            self.step(world, At { tick, truth }, &mut rows, false);
            world.load(&saved);
            // What was published last is what followed the step to this state.
            rows.copy_rows(self.of(truth, tick));
            self.step(world, At { tick, truth }, &mut rows, false);
            self.compare(Stepped::AfterLoad, tick.next(), self.of(truth, tick.next()), &rows)
        })
    }

    fn again<W: World<Input = I>>(&self, world: &mut W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let mut saved: Vec<_> = (0..DEPTH).map(|_| W::Saved::default()).collect();
        let mut rows = self.first_rows(world);
        let slot = |tick: Tick| (tick.get() % DEPTH) as usize;
        for tick in self.ticks() {
            world.save(&mut saved[slot(tick)]);
            self.step(world, At { tick, truth }, &mut rows, false);
            let from = tick.next().back(DEPTH).filter(|from| *from >= self.begins);
            let Some(from) = from else { continue };
            world.take(&mut saved[slot(from)]);
            rows.copy_rows(self.of(truth, from));
            for tick in from.until(tick.next()) {
                world.save(&mut saved[slot(tick)]);
                self.step(world, At { tick, truth }, &mut rows, true);
                self.compare(Stepped::Again, tick.next(), self.of(truth, tick.next()), &rows)?;
            }
        }
        Ok(())
    }

    /// Only what belongs to players is compared: a server may keep to itself how it moves its own.
    fn adopted<W: World<Input = I>>(&self, make: &impl Fn() -> W, truth: &[Rows]) -> Result<(), OutOfSync> {
        let of_players = |rows: &Rows| {
            let mut rows = rows.clone();
            rows.retain(|_, of| of.owner != PlayerId::SERVER);
            rows
        };
        // Each with what it has published last.
        let mut behind: Vec<_> = (0..DEPTH).map(|_| (make(), Rows::new(&self.rules.schema))).collect();
        // In tick 0 there is nothing to adopt.
        self.ticks().skip(1).try_for_each(|tick| {
            let (world, rows) = &mut behind[(tick.get() % DEPTH) as usize];
            let mut before = self.of(truth, tick).clone();
            for row in rows.iter() {
                if before.words(row.key()).is_none() {
                    before.name_removed(RemovedRow { key: row.key(), owner: row.owner });
                }
            }
            world.adopt(&before);
            rows.copy_rows(&before);
            self.step(world, At { tick, truth }, rows, false);
            let truth = of_players(self.of(truth, tick.next()));
            self.compare(Stepped::Adopted, tick.next(), &truth, &of_players(rows))
        })
    }

    /// The same on a client that predicts everything. What who comes or goes changes in the world comes as rows.
    fn of_client<W: World<Input = I>>(mut self, make: &impl Fn() -> W, truth: &[Rows]) -> Result<(), OutOfSync> {
        (self.side, self.predicts_all) = (Side::Client(PlayerId::new(1)), true);
        let rate = u32::from(self.rules.tick_rate.get());
        let is_alike = |tick: &Tick| !(1..=PLAYERS).any(|player| changes(PlayerId::new(player), *tick, rate));
        let mut ticks = self.ticks().skip(1).filter(is_alike);
        ticks.try_for_each(|tick| {
            let mut world = make();
            world.adopt(self.of(truth, tick));
            let mut rows = self.of(truth, tick).clone();
            self.step(&mut world, At { tick, truth }, &mut rows, false);
            self.compare(Stepped::AsClient, tick.next(), self.of(truth, tick.next()), &rows)
        })
    }

    /// Everything is predicted, by the first player's client.
    fn everything(&self) -> Predicted {
        let mut everything = Predicted::own(PlayerId::new(1));
        everything.insert_all();
        everything
    }

    fn compare(&self, stepped: Stepped, tick: Tick, truth: &Rows, rows: &Rows) -> Result<(), OutOfSync> {
        if truth.iter().eq(rows.iter()) {
            return Ok(());
        }
        let schema: &Schema = &self.rules.schema;
        let named = truth.iter().chain(rows.iter()).map(|row| row.key());
        let key = named.filter(|key| truth.get(*key) != rows.get(*key)).min();
        let key = key.expect("rows that differ differ in an entity");
        let (one, other) = (truth.words(key), rows.words(key));
        let (first, then) = (NamedRow { name: "at first", words: one }, NamedRow { name: "then", words: other });
        let what = difference(schema, key, &Tolerance::default(), first, then);
        let field = one.zip(other).and_then(|(one, other)| field(schema.component(key.component), one, other));
        Err(OutOfSync { stepped, tick, entity: key.entity, field, what: what.unwrap_or_default() })
    }
}

/// The name of the first field in which two rows differ.
fn field(kind: &ComponentSchema, one: &[u32], other: &[u32]) -> Option<String> {
    let mut pairs = kind.fields(one).zip(kind.fields(other));
    let ((column, _), _) = pairs.find(|((_, one), (_, other))| one != other)?;
    Some(column.name.to_string())
}

/// Which state of others players see when they make their inputs of a tick; `None` where they see none in the past, as in an exact
/// session.
fn seen(rules: &Rules, tick: Tick) -> Option<Tick> {
    tick.back(SEEN_BACK).filter(|_| !rules.exact)
}

/// When a player joins for the first time.
fn joins(player: PlayerId, rate: u32) -> Tick {
    Tick::new(u32::from(player.get() - 1) * rate)
}

/// Whether a player takes part in a tick.
fn is_there(player: PlayerId, tick: Tick, rate: u32) -> bool {
    let is_away = player.get() == PLAYERS && tick.get() / rate % (LEAVES_EVERY_S + 1) == LEAVES_EVERY_S;
    tick >= joins(player, rate) && !is_away
}

/// Whether a player comes or goes in a tick.
fn changes(player: PlayerId, tick: Tick, rate: u32) -> bool {
    let before = tick.back(1).is_some_and(|before| is_there(player, before, rate));
    is_there(player, tick, rate) != before
}
