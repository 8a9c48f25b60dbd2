//! What a user says of a test: their world, who plays, what goes wrong, and what is expected.

use super::check::{self, Check, Setting};
use super::failure::Failure;
use super::figures::{Figures, Summary};
use super::run::{Found, Plan, run};
use super::shrink::shrink;
use super::talk::Talk;
use super::world_check::WORLD;
use super::{BotView, FaultMix, Schedule, Who};
use crate::netsim::{Conditions, SplitMix64};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::JoinRequest;
use foretell::session::Rules;
use foretell::session::client::ClientConfig;
use foretell::session::server::ServerConfig;
use foretell::time::Instant;
use foretell::world::{Simulate, World};

/// A bot: the input of a player for a tick, by what it knows, with random numbers.
type Bot<W> = dyn Fn(&BotView<'_>, &mut SplitMix64) -> <W as Simulate>::Input;
/// What an event of the game's own does to the server's world.
type Event<W> = dyn Fn(&mut W, &mut SplitMix64);
/// What the link of a player does without faults, to the server and from there.
type Links = dyn Fn(usize) -> [Conditions; 2];
/// Makes a check for a run.
type MakeCheck<W> = dyn Fn() -> Box<dyn Check<W>>;
/// What the client of a player asks for a place with.
type Ask = dyn Fn(usize, JoinRequest) -> JoinRequest;
/// What is expected of the figures.
type Holds = dyn Fn(&Figures) -> bool;

/// A session to be run again and again, each time as another seed says, while every [check](super::check) looks on.
///
/// A run is a function of the scenario and the seed. What fails is [shrunk](Failure) to the fewest and shortest faults.
///
/// ```
/// # use foretell::{Input, Rules, Simulate, State, Step, Table, World};
/// # #[derive(Input, Clone, Copy, PartialEq, Default)]
/// # struct Buttons { right: bool }
/// # #[derive(State, Clone, Copy, Default)]
/// # struct Cube { #[state(position)] x: [f32; 1] }
/// # #[derive(World, Default)]
/// # struct Arena { cubes: Table<Cube> }
/// # impl Simulate for Arena {
/// #     type Input = Buttons;
/// #     fn step(&mut self, step: &mut Step<'_, Buttons>) {
/// #         self.cubes.remove_left(step);
/// #         for joined in step.joined() { self.cubes.spawn(step, joined.player, Cube::default()); }
/// #         for mut cube in self.cubes.simulated(step) {
/// #             if step.input(cube.owner()).is_some_and(|player| player.input.right) { cube.x[0] += 0.1; }
/// #         }
/// #     }
/// # }
/// use foretell_sim::harness::{FaultMix, Scenario};
///
/// // In a test of your own game:
/// Scenario::new(Rules::new(Arena::schema()), Arena::default)
///     .players(2)
///     .bot(|_view, random| Buttons { right: random.chance(0.5) })
///     .faults(FaultMix::default())
///     .expect("corrections are hidden well", |seen| seen.step_excess_m.p99 < 0.3)
///     .expect("nobody is shown frozen for three seconds", |seen| seen.frozen_ms < 3000.0)
///     .seeds(0..5)
///     .expect("no check complains");
/// ```
pub struct Scenario<W: World> {
    pub(super) make: Box<dyn Fn() -> W>,
    pub(super) setting: Setting,
    pub(super) event: Option<Box<Event<W>>>,
    links: Option<Box<Links>>,
    pub(super) ask: Box<Ask>,
    pub(super) talk: Talk,
    bot: Box<Bot<W>>,
    is_in_lab: bool,
    is_hosted: bool,
    players: u8,
    length_ms: u32,
    faults: Faults,
    checks: Vec<Box<MakeCheck<W>>>,
    pub(super) without: Vec<&'static str>,
    expected: Vec<(String, Box<Holds>)>,
    pub(super) search: u32,
}

/// How many players the lab has room for.
const LAB_PLAYERS_MAX: u8 = 8;

/// Where faults come from.
enum Faults {
    Drawn(FaultMix),
    Given(Schedule),
}

impl<W: World> Scenario<W> {
    /// A session under these rules. `make` makes a world: the server's, and each client's. A client's starts without
    /// entities, so what a world has of its own it has to make in the authority's first step.
    ///
    /// One player who presses nothing, 15 s, no faults.
    pub fn new(rules: Rules, make: impl Fn() -> W + 'static) -> Scenario<W> {
        Scenario {
            make: Box::new(make),
            setting: Setting { rules, client: ClientConfig::default(), server: ServerConfig::default() },
            event: None,
            links: None,
            ask: Box::new(|_, request| request),
            talk: Talk::default(),
            bot: Box::new(|_, _| W::Input::default()),
            is_in_lab: false,
            is_hosted: false,
            players: 1,
            length_ms: 15_000,
            faults: Faults::Given(Schedule::default()),
            checks: Vec::new(),
            without: Vec::new(),
            expected: Vec::new(),
            search: 300,
        }
    }

    /// With so many players, from 1 to 255. Default 1.
    ///
    /// # Panics
    /// When there are none, and it is not [hosted](Scenario::hosted).
    #[must_use]
    pub fn players(mut self, players: u8) -> Scenario<W> {
        assert!(players > 0 || self.is_hosted, "a scenario has 1 to 255 players, not 0");
        self.players = players;
        self
    }

    /// With sessions of this length, in whole ms, from 1 ms to 49 days. Default 15 s.
    ///
    /// # Panics
    /// When it is shorter or longer.
    #[must_use]
    pub fn length(mut self, length: Duration) -> Scenario<W> {
        let length_ms = u32::try_from(length.as_millis()).ok().filter(|ms| *ms > 0);
        self.length_ms = length_ms.unwrap_or_else(|| panic!("a session lasts from 1 ms to 49 days, not {length:?}"));
        self
    }

    /// With clients that decide like this.
    #[must_use]
    pub fn client(mut self, config: ClientConfig) -> Scenario<W> {
        self.setting.client = config;
        self
    }

    /// With a server that decides like this.
    #[must_use]
    pub fn server(mut self, config: ServerConfig) -> Scenario<W> {
        self.setting.server = config;
        self
    }

    /// With one player more, the last, who sits at the server, which renders 60 frames per second: host mode. With no other
    /// players it is a game that is played alone.
    #[must_use]
    pub fn hosted(mut self) -> Scenario<W> {
        self.is_hosted = true;
        self
    }

    /// Who plays: the input of a player for a tick, by what is to be [seen](BotView) at their client. Its random numbers
    /// are the same for 16 ticks in a row, as a person holds a key for a while.
    ///
    /// ```
    /// # use foretell_sim::harness::Scenario;
    /// # use foretell::{Input, State, World};
    /// # #[derive(Input, Clone, Copy, PartialEq, Default)]
    /// # struct Keys { left: bool, right: bool }
    /// # #[derive(State, Clone, Copy)]
    /// # struct Cube { #[state(position)] x: [f32; 1] }
    /// # fn with<W: World<Input = Keys>>(scenario: Scenario<W>) -> Scenario<W> {
    /// // Goes where somebody else is.
    /// scenario.bot(|view, _| {
    ///     let cubes = || view.rows.states::<Cube>().map(|(of, cube)| (of.owner == view.player, cube.x[0]));
    ///     let (Some((_, own)), Some((_, other))) = (cubes().find(|(own, _)| *own), cubes().find(|(own, _)| !*own)) else {
    ///         return Keys::default();
    ///     };
    ///     Keys { left: other < own, right: other > own }
    /// })
    /// # }
    /// ```
    #[must_use]
    pub fn bot(mut self, bot: impl Fn(&BotView<'_>, &mut SplitMix64) -> W::Input + 'static) -> Scenario<W> {
        self.bot = Box::new(bot);
        self
    }

    /// The game is the one that `foretell lab` plays, with its rules: a failure says where to see it there.
    #[must_use]
    pub fn in_lab(mut self) -> Scenario<W> {
        self.is_in_lab = true;
        self
    }

    /// What an [event](super::What::Event) of the game's own does to the server's world, outside of a step.
    #[must_use]
    pub fn event(mut self, event: impl Fn(&mut W, &mut SplitMix64) + 'static) -> Scenario<W> {
        self.event = Some(Box::new(event));
        self
    }

    /// Over links that do this where no fault says otherwise, of the player of this index: to the server, and from there; a
    /// mobile network, say. Default: perfect ones. Checks that wait for calm have nothing to say then.
    #[must_use]
    pub fn links(mut self, links: impl Fn(usize) -> [Conditions; 2] + 'static) -> Scenario<W> {
        self.links = Some(Box::new(links));
        self
    }

    /// With clients that ask as this makes it, by the player's index; of who sits at the server it is what is said of them that counts.
    /// Default: players of whom nothing is said.
    #[must_use]
    pub fn ask(mut self, ask: impl Fn(usize, JoinRequest) -> JoinRequest + 'static) -> Scenario<W> {
        self.ask = Box::new(ask);
        self
    }

    /// With faults that each seed draws from this mix. A run panics when the session is too short for any before the calm at its end.
    #[must_use]
    pub fn faults(mut self, mix: FaultMix) -> Scenario<W> {
        self.faults = Faults::Drawn(mix);
        self
    }

    /// With exactly these faults, as a failure prints them. A run panics when they are of players who are not there.
    ///
    /// # Panics
    /// When the text is not a [`Schedule`].
    #[must_use]
    pub fn schedule(mut self, faults: &str) -> Scenario<W> {
        self.faults = Faults::Given(faults.parse().unwrap_or_else(|error| panic!("{error}")));
        self
    }

    /// With one more check, made anew for every run; in the place of the one that has its name, if there is one.
    #[must_use]
    pub fn check<C: Check<W> + 'static>(mut self, make: impl Fn() -> C + 'static) -> Scenario<W> {
        self.checks.push(Box::new(move || Box::new(make())));
        self
    }

    /// Without the check of this name, where it does not suit a game. A run panics when there is none.
    #[must_use]
    pub fn without(mut self, check: &'static str) -> Scenario<W> {
        self.without.push(check);
        self
    }

    /// With something that the figures of every run must show; `what` says it in a sentence.
    #[must_use]
    pub fn expect(mut self, what: &str, holds: impl Fn(&Figures) -> bool + 'static) -> Scenario<W> {
        self.expected.push((what.to_owned(), Box::new(holds)));
        self
    }

    /// With at most so many runs to search for the smallest faults. Default 300; 0 reports a failure as it is.
    #[must_use]
    pub fn search(mut self, runs: u32) -> Scenario<W> {
        self.search = runs;
        self
    }

    /// Runs one seed.
    ///
    /// # Errors
    /// What does not hold, with the smallest faults that still show it.
    ///
    /// # Panics
    /// When a check was taken [out](Scenario::without) that there is not, the [schedule](Scenario::schedule) has faults
    /// of players who are not there, or the session is too short for its [faults](Scenario::faults).
    pub fn run(&self, seed: u64) -> Result<Summary, Box<Failure>> {
        let plan = self.plan(seed);
        let simulated = Duration::from_millis(u64::from(plan.length_ms));
        match run(self, &plan) {
            Ok(figures) => Ok(Summary { seeds: 1, simulated, figures }),
            Err(found) => Err(Box::new(shrink(self, plan, found))),
        }
    }

    /// Runs these seeds one after the other, up to the first that fails.
    ///
    /// # Errors
    /// As [`run`](Scenario::run).
    ///
    /// # Panics
    /// As [`run`](Scenario::run), and when there are no seeds.
    pub fn seeds(&self, seeds: impl IntoIterator<Item = u64>) -> Result<Summary, Box<Failure>> {
        let mut all = Summary::default();
        for seed in seeds {
            let one = self.run(seed)?;
            all.seeds += 1;
            all.simulated += one.simulated;
            all.figures = all.figures.worst(one.figures);
        }
        assert!(all.seeds > 0, "a scenario is run with at least one seed, and these are none");
        Ok(all)
    }

    fn plan(&self, seed: u64) -> Plan {
        let (players, length_ms) = (self.players, self.length_ms);
        let schedule = match &self.faults {
            Faults::Drawn(mix) => {
                mix.assert_has_room(length_ms);
                mix.draw(seed, players, length_ms)
            }
            Faults::Given(schedule) => schedule.clone(),
        };
        let absent = |who: Who| matches!(who, Who::Player(player) if player >= players);
        if let Some(fault) = schedule.0.iter().find(|fault| absent(fault.who)) {
            let last = players.saturating_sub(1);
            panic!(
                "`{fault}` is of a player who is not there; the players of this scenario are p0 to p{last}, and s is \
                    the server"
            );
        }
        Plan { seed, players, length_ms, schedule }
    }

    /// Whether the lab can play it, which has room for so many players.
    pub(super) fn is_in_lab(&self, players: u8) -> bool {
        self.is_in_lab && players <= LAB_PLAYERS_MAX && !self.has_own_links() && !self.is_hosted
    }

    /// The index of the player who sits at the server, beside this number of others; `None` where nobody does.
    pub(super) fn local_index(&self, players: u8) -> Option<u8> {
        self.is_hosted.then_some(players)
    }

    pub(super) fn has_own_links(&self) -> bool {
        self.links.is_some()
    }

    /// What a player's link does without faults, to the server and from there.
    pub(super) fn links_of(&self, player: u8) -> [Conditions; 2] {
        self.links.as_ref().map(|links| links(usize::from(player))).unwrap_or_default()
    }

    /// How many players it has, with who sits at the server.
    pub(super) fn everybody(&self) -> usize {
        usize::from(self.players) + usize::from(self.is_hosted)
    }

    /// The input of a player: a function of the seed and what they see. Its random numbers are the same for so many ticks.
    pub(super) fn input(&self, seed: u64, view: &BotView<'_>, held: u32) -> W::Input {
        let mut mixed = SplitMix64::new(seed ^ (view.index as u64) << 48);
        let seed = mixed.next_u64() ^ u64::from(view.tick.get() / held);
        (self.bot)(view, &mut SplitMix64::new(seed))
    }

    /// The checks of a run.
    pub(super) fn fresh_checks(&self) -> Vec<Box<dyn Check<W>>> {
        let mut checks = check::all::<W>();
        for make in &self.checks {
            let check = make();
            checks.retain(|known| known.name() != check.name());
            checks.push(check);
        }
        let names: Vec<_> = checks.iter().map(|check| check.name()).chain([WORLD]).collect();
        if let Some(unknown) = self.without.iter().find(|name| !names.contains(name)) {
            panic!("there is no check `{unknown}` to be taken out; there are {}", names.join(", "));
        }
        checks.retain(|check| !self.without.contains(&check.name()));
        checks
    }

    /// The figures, if they are as expected.
    pub(super) fn judge(&self, figures: Figures, at: Instant) -> Result<Figures, Found> {
        match self.expected.iter().find(|(_, holds)| !holds(&figures)) {
            None => Ok(figures),
            Some((check, _)) => {
                Err(Found { check: check.clone(), what: format!("it is not so: {figures:?}"), at, player: None })
            }
        }
    }
}
