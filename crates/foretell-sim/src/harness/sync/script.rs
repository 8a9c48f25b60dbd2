//! The steps that a world is looked at by, and how they are compared.

use super::attendance::{self, changes, is_there, players};
use super::truth::{Said, Truth, Unsaid};
use super::{OutOfSync, Stepped, SyncTest};
use crate::harness::check::{NamedRow, difference};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use foretell::session::Rules;
use foretell::time::{Tick, TickTime};
use foretell::world::{
    ComponentSchema, Input, InputStatus, Leaver, Newcomer, PastState, PlayerId, PlayerInput, PredictionSet,
};
use foretell::world::{ReceivedMessage, RemovedRow, Rows, Seat, Side, Step, Tolerance, World};

/// How many ticks back the deep rollback goes.
const DEPTH: u32 = 8;
/// How many ticks back players see others: a step that judges by what they saw ([`Step::rewound`]) finds the state of then.
const SEEN_BACK: u32 = 3;

/// A tick, what has been by then, and whether it has been stepped before.
#[derive(Clone, Copy)]
struct At<'t> {
    tick: Tick,
    truth: &'t Truth,
    again: bool,
}

/// What a step is given besides the world.
struct Given<I> {
    /// Of who is there and plays, ascending by player.
    inputs: Vec<PlayerInput<I>>,
    /// Ascending by player.
    messages: Vec<ReceivedMessage>,
    joined: Vec<Newcomer>,
    left: Vec<Leaver>,
}

/// The steps, and how they are compared.
pub(super) struct Script<I> {
    rules: Rules,
    side: Side,
    /// By tick.
    given: Vec<Given<I>>,
    /// Whether every step is.
    pub(super) canonical: bool,
    /// Whether the client whose side it is predicts everything.
    predicts_all: bool,
    /// The state that it begins with, and its rows: none for a server's, which publishes what it has.
    begins: Tick,
    first: Rows,
    ticks: u32,
}

impl<I: Input> Script<I> {
    pub(super) fn write<W: World<Input = I>>(test: &mut SyncTest<'_, W>, ticks: u32) -> Script<I> {
        let mut seats = Vec::new();
        let given = Tick::ZERO.until(Tick::new(ticks)).map(|tick| Given::write(test, tick, &mut seats)).collect();
        let rules = test.rules.clone();
        Script {
            first: Rows::new(&rules.schema),
            rules,
            side: Side::Server,
            given,
            canonical: false,
            predicts_all: false,
            begins: Tick::ZERO,
            ticks,
        }
    }

    /// From state `begins` on as the first player's client, which knows of no inputs and messages but its own, and of nobody who
    /// comes or goes.
    pub(super) fn begin_as_client(&mut self, begins: Tick, published: &Rows) {
        let own = PlayerId::new(1);
        (self.side, self.begins) = (Side::Client(own), begins);
        let seen = published.seen_by(&self.rules.schema, own);
        seen.for_each(|row| self.first.set_words(row));
        self.first.settle();
        for given in &mut self.given {
            given.inputs.retain(|input| input.player == own);
            given.keep_of_client(own);
        }
    }

    /// The rows that a client begins with.
    pub(super) fn first(&self) -> &Rows {
        &self.first
    }

    fn step<W: World<Input = I>>(&self, world: &mut W, at: At<'_>, rows: &mut Rows) -> Said {
        let At { tick, truth, again } = at;
        let Given { inputs, messages, joined, left } = &self.given[tick.get() as usize];
        let everything = self.everything();
        let seen = seen(&self.rules, tick).unwrap_or(tick).max(self.begins);
        let past = PastState::new(truth.rows(seen), &self.rules.schema);
        let step = Step::new(tick, self.rules.tick_rate, self.side, inputs).with_players(joined, left);
        let step = step.with_messages(messages).with_past(&past).on_canonical(self.canonical);
        let step = if self.predicts_all { step.predicting(&everything) } else { step };
        let mut step = if again { step.again() } else { step };
        world.step(&mut step);
        world.publish(rows);
        rows.settle();
        Said::by(&step)
    }

    fn ticks(&self) -> impl DoubleEndedIterator<Item = Tick> + use<I> {
        self.begins.until(Tick::new(self.ticks))
    }

    /// The rows of the first state, and of the state after every tick, and what each has said.
    pub(super) fn straight_on<W: World<Input = I>>(&self, world: &mut W) -> Truth {
        let mut rows = self.first_rows(world);
        let mut truth = Truth::new(self.begins, rows.clone());
        for tick in self.ticks() {
            let said = self.step(world, At { tick, truth: &truth, again: false }, &mut rows);
            truth.push(&rows, said);
        }
        truth
    }

    fn first_rows<W: World<Input = I>>(&self, world: &mut W) -> Rows {
        let mut rows = self.first.clone();
        world.publish(&mut rows);
        rows.settle();
        rows
    }

    pub(super) fn anew<W: World<Input = I>>(&self, world: &mut W, truth: &Truth) -> Result<(), OutOfSync> {
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            let said = self.step(world, At { tick, truth, again: false }, &mut rows);
            self.compare(Stepped::Anew, tick.next(), truth.rows(tick.next()), &rows)?;
            compare_said(Stepped::Anew, tick, truth, &said)
        })
    }

    pub(super) fn after_load<W: World<Input = I>>(&self, world: &mut W, truth: &Truth) -> Result<(), OutOfSync> {
        let mut saved = W::Saved::default();
        let mut rows = self.first_rows(world);
        self.ticks().try_for_each(|tick| {
            world.save(&mut saved);
            self.step(world, At { tick, truth, again: false }, &mut rows);
            world.load(&saved);
            // What was published last is what followed the step to this state.
            rows.copy_rows(truth.rows(tick));
            let said = self.step(world, At { tick, truth, again: false }, &mut rows);
            self.compare(Stepped::AfterLoad, tick.next(), truth.rows(tick.next()), &rows)?;
            compare_said(Stepped::AfterLoad, tick, truth, &said)
        })
    }

    pub(super) fn again<W: World<Input = I>>(&self, world: &mut W, truth: &Truth) -> Result<(), OutOfSync> {
        let mut saved: Vec<_> = (0..DEPTH).map(|_| W::Saved::default()).collect();
        let mut rows = self.first_rows(world);
        let slot = |tick: Tick| (tick.get() % DEPTH) as usize;
        for tick in self.ticks() {
            world.save(&mut saved[slot(tick)]);
            self.step(world, At { tick, truth, again: false }, &mut rows);
            let from = tick.next().back(DEPTH).filter(|from| *from >= self.begins);
            let Some(from) = from else { continue };
            world.take(&mut saved[slot(from)]);
            rows.copy_rows(truth.rows(from));
            for tick in from.until(tick.next()) {
                world.save(&mut saved[slot(tick)]);
                let said = self.step(world, At { tick, truth, again: true }, &mut rows);
                self.compare(Stepped::Again, tick.next(), truth.rows(tick.next()), &rows)?;
                compare_said(Stepped::Again, tick, truth, &said)?;
            }
        }
        Ok(())
    }

    /// Only what belongs to players is compared: a server may keep to itself how it moves its own.
    pub(super) fn adopted<W: World<Input = I>>(&self, make: &impl Fn() -> W, truth: &Truth) -> Result<(), OutOfSync> {
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
            let mut before = truth.rows(tick).clone();
            for row in rows.iter() {
                if before.words(row.key()).is_none() {
                    before.name_removed(RemovedRow { key: row.key(), owner: row.owner });
                }
            }
            world.adopt(&before);
            rows.copy_rows(&before);
            self.step(world, At { tick, truth, again: false }, rows);
            let truth = of_players(truth.rows(tick.next()));
            self.compare(Stepped::Adopted, tick.next(), &truth, &of_players(rows))
        })
    }

    /// The same on a client that predicts everything. What who comes or goes changes in the world comes as rows, and so does what
    /// others say.
    pub(super) fn of_client<W: World<Input = I>>(
        mut self,
        make: &impl Fn() -> W,
        truth: &Truth,
    ) -> Result<(), OutOfSync> {
        let own = PlayerId::new(1);
        (self.side, self.predicts_all) = (Side::Client(own), true);
        let alike: Vec<_> = self.given.iter_mut().map(|given| given.keep_of_client(own)).collect();
        let mut ticks = self.ticks().skip(1).filter(|tick| alike[tick.get() as usize]);
        ticks.try_for_each(|tick| {
            let mut world = make();
            world.adopt(truth.rows(tick));
            let mut rows = truth.rows(tick).clone();
            self.step(&mut world, At { tick, truth, again: false }, &mut rows);
            self.compare(Stepped::AsClient, tick.next(), truth.rows(tick.next()), &rows)
        })
    }

    /// Everything is predicted, by the first player's client.
    fn everything(&self) -> PredictionSet {
        let mut everything = PredictionSet::own(PlayerId::new(1));
        everything.insert_all();
        everything
    }

    fn compare(&self, stepped: Stepped, tick: Tick, truth: &Rows, rows: &Rows) -> Result<(), OutOfSync> {
        if truth.iter().eq(rows.iter()) {
            return Ok(());
        }
        let schema = &self.rules.schema;
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

impl<I: Input> Given<I> {
    /// What the step of a tick is given. `seats` has who is there, and as what.
    fn write<W: World<Input = I>>(
        test: &mut SyncTest<'_, W>,
        tick: Tick,
        seats: &mut Vec<(PlayerId, Seat)>,
    ) -> Given<I> {
        let SyncTest { rules, input, joins, says, .. } = test;
        let rules = &*rules;
        let change = |comes: bool| {
            players().filter(move |player| changes(rules, *player, tick) && is_there(rules, *player, tick) == comes)
        };
        let why = attendance::departure(rules, tick);
        let left: Vec<_> = change(false).map(|player| Leaver { player, why }).collect();
        let mut introduce = |player: PlayerId| {
            let joined = joins(Newcomer::new(player), tick);
            assert_eq!(joined.player, player, "who joins is who joins: `joins` leaves the player as it is");
            joined
        };
        let joined: Vec<_> = change(true).map(&mut introduce).collect();
        seats.retain(|(player, _)| left.iter().all(|left| left.player != *player));
        seats.extend(joined.iter().map(|joined| (joined.player, joined.seat)));
        seats.sort_unstable();
        let playing = || seats.iter().filter(|(_, seat)| *seat == Seat::Player).map(|(player, _)| *player);
        let status = InputStatus::Received;
        let presented = seen(rules, tick).map(TickTime::start_of);
        let inputs = playing().map(|player| PlayerInput { player, input: input(player, tick), status, presented });
        let inputs = inputs.collect();
        let messages =
            playing().flat_map(|player| says.iter_mut().filter_map(move |says| says(player, tick)).collect::<Vec<_>>());
        Given { inputs, messages: messages.collect(), joined, left }
    }

    /// Leaves what a client's step is told of all but inputs. Whether that is everything.
    fn keep_of_client(&mut self, own: PlayerId) -> bool {
        let Given { messages, joined, left, .. } = self;
        let count = messages.len();
        messages.retain(|message| message.from() == own);
        let is_all = messages.len() == count && joined.is_empty() && left.is_empty();
        joined.clear();
        left.clear();
        is_all
    }
}

/// What a step has said is the same.
fn compare_said(stepped: Stepped, tick: Tick, truth: &Truth, said: &Said) -> Result<(), OutOfSync> {
    let found = truth.said(tick).difference(said);
    found.map_or(Ok(()), |Unsaid { entity, what }| {
        Err(OutOfSync { stepped, tick: tick.next(), entity, field: None, what })
    })
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
