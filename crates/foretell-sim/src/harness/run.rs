//! One run of a scenario: a seed, its faults, both ends, and the checks that look on.

use super::apply::{Disturbances, FaultStage, Faults};
use super::bot_view::TICKS_HELD;
use super::check::{Applied, Check, ClientSeen, Letter, LocalSeen, ServerSeen, Setting};
use super::figures::{Figures, Gauge};
use super::spied::{Shared, Spied, Truth};
use super::{
    BotView, Driver, HostOptions, LocalSeat, Moment, PlayerOptions, Scenario, Schedule, ServerHost, Simulation,
};
use crate::netsim::{Conditions, SplitMix64};
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::JoinRequest;
use foretell::session::Rules;
use foretell::session::client::{Client, Frame, Views};
use foretell::session::host::LocalPlayer;
use foretell::session::server::{Server, ServerFrame};
use foretell::time::{Instant, Tick};
use foretell::world::{PlayerId, Rows, World};

/// Everything that a run is a function of, beside the scenario.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Plan {
    pub seed: u64,
    pub players: u8,
    pub length_ms: u32,
    pub schedule: Schedule,
}

/// What a check has found.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Found {
    /// The name of the check, or what was expected.
    pub check: String,
    /// What does not hold.
    pub what: String,
    /// The virtual time.
    pub at: Instant,
    /// The player whose machine it was found at.
    pub player: Option<u8>,
}

/// A run is looked at in slices of so much, to end it when something is found.
const SLICE_MS: u32 = 250;
/// For how many ticks the bots' inputs are remembered.
const INPUTS_REMEMBERED: usize = 1024;

/// Runs a plan. The figures, or the first thing that does not hold.
pub(super) fn run<W: World>(scenario: &Scenario<W>, plan: &Plan) -> Result<Figures, Found> {
    let truth = Truth::new(&scenario.setting.rules.schema);
    let rules = scenario.setting.rules.clone();
    let (world, notes) = Spied::new((scenario.make)(), &rules.messages, Some(truth));
    let mut simulation = Simulation::new(rules, scenario.setting.server, world, plan.seed);
    let local = scenario.local_index(plan.players).map(|index| {
        let request = (scenario.ask)(usize::from(index), JoinRequest::new(0));
        let player = LocalPlayer::new(scenario.setting.client.show).with_data(request.data());
        simulation.seat_player(player.expect("a request says no more than anybody may"));
        Machine::new(index, notes.clone(), &scenario.setting.rules)
    });
    let mut watch = Watch {
        scenario,
        plan,
        checks: scenario.fresh_checks(),
        notes,
        machines: Vec::new(),
        local,
        stepped: Vec::new(),
        told: (None, Vec::new()),
        of_player: BTreeMap::new(),
        disturbances: Disturbances::of(&plan.schedule),
        present: 0,
        views: Views::new(),
        gauge: Gauge::default(),
        applied: Vec::new(),
        found: None,
    };
    let mut faults = Faults::new(plan.schedule.clone(), plan.players);
    let within = |faults: &Faults| faults.next_ms().filter(|moment| *moment < plan.length_ms);
    while let Some(moment) = within(&faults) {
        faults.begin(&mut simulation, &mut watch);
        faults.hold(&mut simulation, |machine| scenario.links_of(watch.machines[machine].player));
        watch.present = faults.present();
        let until = within(&faults).unwrap_or(plan.length_ms);
        let mut now = moment;
        while now < until && watch.found.is_none() {
            now = until.min(now + SLICE_MS);
            simulation.run_until(Instant::from_micros(u64::from(now) * 1000), &mut watch);
        }
    }
    match watch.found {
        Some(found) => Err(found),
        None => scenario.judge(watch.gauge.figures(), simulation.now()).and_then(|figures| {
            scenario.look_at_world(plan.seed)?;
            Ok(figures)
        }),
    }
}

/// Plays and looks on.
struct Watch<'a, W: World> {
    scenario: &'a Scenario<W>,
    plan: &'a Plan,
    checks: Vec<Box<dyn Check<W>>>,
    /// Of the server's world.
    notes: Shared<W::Input>,
    machines: Vec<Machine<W>>,
    /// That of the server, where somebody sits at it.
    local: Option<Machine<W>>,
    /// The ticks that the server's last update has stepped.
    stepped: Vec<Tick>,
    /// The last tick of which the server was asked what it tells, and what it was made to tell since its last update.
    told: (Option<Tick>, Vec<Letter>),
    of_player: BTreeMap<PlayerId, usize>,
    disturbances: Disturbances,
    /// How many machines are there.
    present: usize,
    /// Of the client that is looked at.
    views: Views,
    gauge: Gauge,
    /// Reused from one update of the server to the next.
    applied: Vec<Applied<W::Input>>,
    found: Option<Found>,
}

/// A player's machine.
struct Machine<W: World> {
    player: u8,
    notes: Shared<W::Input>,
    asked: Vec<Tick>,
    /// The last tick that its bot was asked about what it says, and what it has said since the last update.
    said: (Option<Tick>, Vec<Letter>),
    /// What the bot sees: the client's player, and the rows as they are shown.
    sees: (PlayerId, Rows),
    /// By tick, modulo its length.
    given: Vec<Option<(Tick, W::Input)>>,
}

impl<W: World> Machine<W> {
    /// That of the player of this index.
    fn new(player: u8, notes: Shared<W::Input>, rules: &Rules) -> Machine<W> {
        let given = (0..INPUTS_REMEMBERED).map(|_| None).collect();
        let sees = (PlayerId::SERVER, Rows::new(&rules.schema));
        Machine { player, notes, asked: Vec::new(), said: (None, Vec::new()), sees, given }
    }

    /// The input of its bot for a tick.
    fn input(&mut self, scenario: &Scenario<W>, seed: u64, tick: Tick) -> W::Input {
        let input = scenario.input(seed, &self.view(tick), TICKS_HELD);
        self.asked.push(tick);
        self.given[tick.get() as usize % INPUTS_REMEMBERED] = Some((tick, input));
        input
    }

    /// What its bot sees when it is asked about a tick.
    fn view(&self, tick: Tick) -> BotView<'_> {
        let (player, rows) = &self.sees;
        BotView { index: usize::from(self.player), tick, player: *player, rows }
    }

    /// Its player is shown this.
    fn see(&mut self, player: PlayerId, views: &Views) {
        self.sees.0 = player;
        self.sees.1.clear();
        views.iter().for_each(|view| self.sees.1.set_words(view.row()));
    }

    fn given(&self, tick: Tick) -> Option<W::Input> {
        let given = self.given[tick.get() as usize % INPUTS_REMEMBERED].as_ref();
        given.filter(|(of, _)| *of == tick).map(|(_, input)| *input)
    }
}

/// The ticks after the last one up to this, which becomes the last one. This one alone where there was none before it, where it lies
/// before that, and where these are more than `most`.
fn ticks_since(last: &mut Option<Tick>, now: Tick, most: u32) -> impl Iterator<Item = Tick> + use<> {
    let first = match last.replace(now) {
        Some(last) if last <= now && now.since(last) <= most => last.get() + 1,
        _ => now.get(),
    };
    (first..=now.get()).map(Tick::new)
}

impl<W: World> Watch<'_, W> {
    /// For how long nothing has gone wrong, if nothing has but faults; over links of the scenario's own something may at any time.
    fn calm(&self, beside_faults: Duration) -> Duration {
        if self.scenario.has_own_links() { Duration::ZERO } else { beside_faults }
    }

    /// How many ticks an update may go on by; where it is more, as after another start, nobody is asked about those between.
    fn passed_over_max(&self) -> u32 {
        let Setting { rules, client, .. } = &self.scenario.setting;
        rules.tick_rate.ticks_in(client.horizon)
    }

    fn note(&mut self, result: Result<(), (&'static str, String)>, at: Instant, player: Option<u8>) {
        if let (Err((check, what)), None) = (result, &self.found) {
            self.found = Some(Found { check: check.to_owned(), what, at, player });
        }
    }
}

impl<W: World> FaultStage<Spied<W>> for Watch<'_, W> {
    fn ask(&self, player: usize, request: JoinRequest) -> JoinRequest {
        (self.scenario.ask)(player, request)
    }

    fn newcomer(&mut self, player: usize) -> PlayerOptions<Spied<W>> {
        let (world, notes) = Spied::new((self.scenario.make)(), &self.scenario.setting.rules.messages, None);
        let player = u8::try_from(player).unwrap_or(u8::MAX);
        self.machines.push(Machine::new(player, notes, &self.scenario.setting.rules));
        let client = self.scenario.setting.client;
        PlayerOptions { client, host: HostOptions::at(60), conditions: Conditions::default(), world }
    }

    fn event(&mut self, world: &mut Spied<W>, number: u32) {
        if let Some(event) = &self.scenario.event {
            event(&mut world.world, &mut SplitMix64::new(u64::from(number)));
        }
    }
}

impl<W: World> Driver<Spied<W>> for Watch<'_, W> {
    fn input(&mut self, machine: usize, tick: Tick) -> W::Input {
        self.machines[machine].input(self.scenario, self.plan.seed, tick)
    }

    fn local_input(&mut self, tick: Tick) -> W::Input {
        let machine = self.local.as_mut().expect("whoever is asked for an input is there");
        machine.input(self.scenario, self.plan.seed, tick)
    }

    fn before_client(&mut self, machine: usize, _: Moment, client: &mut Client<Spied<W>>) {
        let (most, machine) = (self.passed_over_max(), &mut self.machines[machine]);
        if client.player() != Some(machine.sees.0) {
            machine.said.0 = None;
            return;
        }
        for tick in ticks_since(&mut machine.said.0, client.tick(), most) {
            let said = self.scenario.talk.say(self.plan.seed, &machine.view(tick), client);
            machine.said.1.extend(said);
        }
    }

    fn before_server(&mut self, _: Instant, host: &mut ServerHost<Spied<W>>) {
        let (now, talk, seed) = (host.server.tick(), &self.scenario.talk, self.plan.seed);
        let most = self.passed_over_max();
        for tick in ticks_since(&mut self.told.0, now, most) {
            self.told.1.extend(talk.tell(seed, tick, host));
        }
        let Some(machine) = self.local.as_mut().filter(|machine| machine.sees.0 != PlayerId::SERVER) else { return };
        for tick in ticks_since(&mut machine.said.0, now, most) {
            machine.said.1.extend(talk.say_here(seed, &machine.view(tick), host));
        }
    }

    fn after_local(&mut self, at: Moment, seat: &LocalSeat<'_, Spied<W>>, frame: &Frame<'_>) {
        let (Some(machine), None) = (&mut self.local, &self.found) else { return };
        seat.present(at.local, &mut self.views);
        machine.see(seat.player.player().unwrap_or(PlayerId::SERVER), &self.views);
        let asked = core::mem::take(&mut machine.asked);
        let (player, sees, notes) = (machine.player, machine.sees.0, self.notes.borrow());
        let Some(truth) = &notes.truth else { return };
        let kinds = &self.scenario.setting.rules.messages;
        let seen =
            LocalSeen { player: sees, kinds, frame, asked: &asked, stepped: &self.stepped, views: &self.views, truth };
        let result =
            self.checks.iter_mut().try_for_each(|check| check.after_local(&seen).map_err(|what| (check.name(), what)));
        drop(notes);
        self.note(result, at.now, Some(player));
    }

    fn after_server(&mut self, now: Instant, server: &Server<Spied<W>>, frame: &ServerFrame<'_>) {
        if self.found.is_some() {
            return;
        }
        let mut notes = self.notes.borrow_mut();
        let (stepped, inputs) = (core::mem::take(&mut notes.steps), core::mem::take(&mut notes.inputs));
        let (heard, said) = (core::mem::take(&mut notes.heard), core::mem::take(&mut self.told.1));
        drop(notes);
        let said_here = self.local.as_mut().map(|machine| core::mem::take(&mut machine.said.1)).unwrap_or_default();
        let seated = server.local_player();
        self.stepped.clone_from(&stepped);
        self.applied.clear();
        self.applied.extend(inputs.iter().map(|(tick, input)| {
            let of_player = || Some(&self.machines[*self.of_player.get(&input.player)?]);
            let local = self.local.as_ref().filter(|_| seated == Some(input.player));
            let given = local.or_else(of_player).and_then(|machine| machine.given(*tick));
            Applied { tick: *tick, input: *input, given }
        }));
        let seen = ServerSeen {
            now,
            server,
            frame,
            stepped: &stepped,
            applied: &self.applied,
            said: &said,
            said_here: &said_here,
            heard: &heard,
            machines: self.present + usize::from(seated.is_some()),
            local: seated,
            quiet: self.calm(self.disturbances.quiet(None, now)),
            setting: &self.scenario.setting,
        };
        self.gauge.after_server(&seen);
        let result =
            self.checks.iter_mut().try_for_each(|check| check.after_server(&seen).map_err(|what| (check.name(), what)));
        self.note(result, now, None);
    }

    fn after_client(&mut self, index: usize, at: Moment, client: &Client<Spied<W>>, frame: &Frame<'_>) {
        if self.found.is_some() {
            return;
        }
        let machine = &mut self.machines[index];
        let player = machine.player;
        if let Some(player) = client.player() {
            self.of_player.insert(player, index);
            client.present(at.local, &mut self.views);
            machine.see(player, &self.views);
        } else {
            self.views = Views::new();
        }
        let asked = core::mem::take(&mut machine.asked);
        let said = core::mem::take(&mut machine.said.1);
        let mut notes = machine.notes.borrow_mut();
        let (stepped, heard) = (core::mem::take(&mut notes.steps), core::mem::take(&mut notes.heard));
        drop(notes);
        let notes = self.notes.borrow();
        let Some(truth) = &notes.truth else { return };
        let seen = ClientSeen {
            now: at.now,
            local: at.local,
            machine: index,
            seat: (self.scenario.ask)(usize::from(player), JoinRequest::new(0)).seat(),
            client,
            frame,
            stats: &client.stats(),
            asked: &asked,
            stepped: &stepped,
            said: &said,
            heard: &heard,
            quiet: self.calm(self.disturbances.quiet(Some(player), at.now)),
            quiet_beside_jitter: self.calm(self.disturbances.quiet_beside_jitter(Some(player), at.now)),
            views: &self.views,
            truth,
            setting: &self.scenario.setting,
        };
        self.gauge.after_client(&seen);
        let result =
            self.checks.iter_mut().try_for_each(|check| check.after_client(&seen).map_err(|what| (check.name(), what)));
        drop(notes);
        self.note(result, at.now, Some(player));
    }
}
