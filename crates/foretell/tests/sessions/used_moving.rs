//! What is under way and is used: who uses it sees that at once, and it goes on as it is told.

use crate::budgets::link;
use foretell::session::client::{ClientEvent, PoseSource};
use foretell::{
    Client, ClientConfig, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig, Simulate,
    State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use std::time::Duration;

/// In which tick each player uses the tram.
const RUNG: Tick = Tick::new(300);
const GOES_MPS: f64 = 5.0;
const FRAME_HZ: u32 = 60;

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Keys {
    rings: bool,
    hails: bool,
    stops: bool,
    takes: bool,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Pawn {
    #[state(position)]
    at: [f64; 3],
    /// Where the last step found the tram.
    tram_at: f64,
}

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Tram {
    #[state(position)]
    at: [f64; 3],
    #[state(velocity)]
    velocity: [f64; 3],
    /// Who has rung its bell; nobody is `PlayerId::SERVER`.
    rung_by: PlayerId,
    seats: u8,
}

/// Of the tram, besides.
#[derive(State, Clone, Copy, PartialEq, Debug)]
enum Sign {
    Free { since: Tick },
    Hailed { by: PlayerId },
}

const TRAM: Owned = Owned { entity: Entity::new(PlayerId::SERVER, Tick::ZERO, 0), owner: PlayerId::SERVER };

#[derive(World, Clone, Default)]
struct Street {
    pawns: Table<Pawn>,
    trams: Table<Tram>,
    signs: Table<Sign>,
}

impl Simulate for Street {
    type Input = Keys;

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            self.pawns.spawn(step, joined.player, Pawn::default());
        }
        for mut pawn in self.pawns.simulated(step) {
            let Some(Keys { rings, hails, stops, takes }) = step.input(pawn.owner()).map(|player| player.input) else {
                continue;
            };
            let Some(tram) = self.trams.get(TRAM.entity).map(|tram| *tram) else { continue };
            pawn.tram_at = tram.at[0];
            if rings
                && tram.rung_by == PlayerId::SERVER
                && let Some(mut tram) = self.trams.change(step, pawn.owned(), TRAM.entity)
            {
                tram.rung_by = pawn.owner();
            }
            if hails
                && matches!(self.signs.get(TRAM.entity).as_deref(), Some(Sign::Free { .. }))
                && let Some(mut sign) = self.signs.change(step, pawn.owned(), TRAM.entity)
            {
                *sign = Sign::Hailed { by: pawn.owner() };
            }
            if stops && let Some(mut tram) = self.trams.change(step, pawn.owned(), TRAM.entity) {
                tram.velocity = [0.0; 3];
            }
            if takes && let Some(mut tram) = self.trams.change(step, pawn.owned(), TRAM.entity) {
                tram.rung_by = pawn.owner();
                if step.is_authority() {
                    self.trams.set_owner(TRAM.entity, pawn.owner());
                    self.signs.set_owner(TRAM.entity, pawn.owner());
                }
            }
        }
        for mut tram in self.trams.simulated(step) {
            tram.at[0] += tram.velocity[0] * step.seconds();
            // Another field is another in many states.
            tram.seats = (step.tick().get() / 8 % 20) as u8;
        }
    }
}

/// One player rings, and perhaps another whose inputs are there first; or one stops it, or makes it their own.
#[derive(Default)]
struct Watch {
    stops: bool,
    takes: bool,
    hails: bool,
    views: Views,
    /// Where the tram was shown in each frame, and where the step that was made last has found it.
    shown: Vec<f64>,
    found: Vec<f64>,
    /// By whom it was rung, as that was shown: by nobody, the own player, the other.
    rung_by: String,
    predicted_frames: u32,
    /// How many frames after the step the bell was shown to be rung.
    late_frames: Option<u32>,
    answers: [u32; 2],
}

impl Driver<Street> for Watch {
    fn input(&mut self, _player: usize, tick: Tick) -> Keys {
        // Who stops it rings after that.
        let rings = tick.get() == RUNG.get() + if self.stops { 2 } else { 0 };
        let (hails, rings) = (self.hails && rings, rings && !self.takes && !self.hails);
        Keys { rings, hails, stops: self.stops && tick == RUNG, takes: self.takes && tick == RUNG }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Street>, frame: &Frame<'_>) {
        if player != 0 || frame.tick < Tick::new(RUNG.get() - 60) {
            return;
        }
        client.present(at.local, &mut self.views);
        let (view, own) = (self.views.get(TRAM.entity).expect("it is there"), client.player().expect("joined"));
        let pawn = self.views.iter().find_map(|view| view.get::<Pawn>().filter(|_| view.owner == own)).expect("joined");
        self.shown.push(view.pose().position[0]);
        self.found.push(pawn.tram_at);
        self.predicted_frames += u32::from(view.source == PoseSource::Predicted);
        let tram = view.get::<Tram>().expect("it is one");
        let sign = self.views.of(TRAM.entity).find_map(|view| view.get::<Sign>()).expect("it has one");
        let hailed_by = if let Sign::Hailed { by } = sign { Some(by) } else { None };
        let rung_by = match hailed_by.unwrap_or(tram.rung_by) {
            PlayerId::SERVER => '-',
            player if player == own => 'o',
            _ => 'x',
        };
        if !self.rung_by.ends_with(rung_by) {
            self.rung_by.push(rung_by);
        }
        self.late_frames = match self.late_frames {
            None if frame.tick > RUNG => Some(0),
            Some(frames) if self.rung_by.len() < 2 => Some(frames + 1),
            late => late,
        };
        for event in frame.events {
            self.answers[0] += u32::from(matches!(event, ClientEvent::ChangeConfirmed { .. }));
            self.answers[1] += u32::from(matches!(event, ClientEvent::ChangeRefused { .. }));
        }
    }
}

/// One player `latency_ms` away rings, and the others at once, too.
fn watch(mut watch: Watch, latency_ms: &[u64], snapshot_rate: SendRate) -> Watch {
    let config = ServerConfig { snapshot_rate, ..ServerConfig::default() };
    let mut street = Street::default();
    street.trams.insert(TRAM, Tram { velocity: [GOES_MPS, 0.0, 0.0], ..Tram::default() });
    street.signs.insert(TRAM, Sign::Free { since: Tick::ZERO });
    let mut simulation = Simulation::new(Rules::new(Street::schema()), config, street, 1);
    for latency_ms in latency_ms {
        let (client, world) = (ClientConfig::default(), Street::default());
        let (host, conditions) = (HostOptions::at(FRAME_HZ), link(*latency_ms));
        simulation.add_player(PlayerOptions { client, host, conditions, world });
    }
    simulation.run_until(Instant::ZERO + Duration::from_secs(8), &mut watch);
    watch
}

/// How far from its speed what goes steadily is shown to go, or found, at most, in metres a frame.
fn unsteady_m(of: &[f64]) -> f64 {
    let steady_m = GOES_MPS / f64::from(FRAME_HZ);
    of.windows(2).map(|two| (two[1] - two[0] - steady_m).abs()).fold(0.0, f64::max)
}

const LINKS: [(u64, SendRate); 4] =
    [(20, SendRate::EveryTick), (80, SendRate::EveryTick), (80, SendRate::Hz(20)), (150, SendRate::Hz(30))];

#[test]
fn what_is_under_way_and_used_is_shown_as_used_at_once_and_goes_on() {
    for (latency_ms, rate) in LINKS {
        let case = format!("{latency_ms} ms, {rate:?}");
        let watch = watch(Watch::default(), &[latency_ms], rate);
        assert_eq!((watch.answers, watch.late_frames), ([1, 0], Some(0)), "{case}");
        assert_eq!(watch.rung_by, "-o", "{case}");
        assert_eq!(watch.predicted_frames, 0, "{case}: its place is told");
        assert!(unsteady_m(&watch.shown) < 0.02, "{case}: {} m", unsteady_m(&watch.shown));
        // A frame has one tick or two, which find it at the same place.
        assert!(unsteady_m(&watch.found) < 0.1, "{case}: {} m", unsteady_m(&watch.found));
    }
}

#[test]
fn what_is_under_way_and_used_by_two_goes_on_on_the_screen_of_who_comes_second() {
    for (latency_ms, rate) in LINKS {
        let case = format!("{latency_ms} ms, {rate:?}");
        let watch = watch(Watch::default(), &[latency_ms, 5], rate);
        assert_eq!(watch.answers, [0, 1], "{case}");
        assert_eq!(watch.rung_by, "-ox", "{case}");
        // It is held up for a moment where it goes over to what the other has made of it, and catches up; it never stands, nor leaps.
        assert!(unsteady_m(&watch.shown) < 0.08, "{case}: {} m", unsteady_m(&watch.shown));
    }
}

#[test]
fn what_is_under_way_goes_on_where_what_two_have_made_another_says_nothing_of_its_place() {
    for (latency_ms, rate) in LINKS {
        let case = format!("{latency_ms} ms, {rate:?}");
        let watch = watch(Watch { hails: true, ..Watch::default() }, &[latency_ms, 5], rate);
        assert_eq!((watch.answers, &*watch.rung_by), ([0, 1], "-ox"), "{case}");
        assert!(unsteady_m(&watch.shown) < 0.08, "{case}: {} m", unsteady_m(&watch.shown));
    }
}

#[test]
fn what_is_under_way_and_stopped_and_used_stands_where_it_was_stopped() {
    for (latency_ms, rate) in LINKS {
        let case = format!("{latency_ms} ms, {rate:?}");
        let watch = watch(Watch { stops: true, ..Watch::default() }, &[latency_ms], rate);
        assert_eq!(watch.answers, [2, 0], "{case}");
        assert!(watch.predicted_frames > 3, "{case}: {}", watch.predicted_frames);
        let back_m = watch.shown.windows(2).map(|two| two[0] - two[1]).fold(0.0, f64::max);
        assert!(back_m < 1e-6, "{case}: {back_m} m");
    }
}

#[test]
fn what_is_under_way_and_taken_goes_on_and_over_to_the_present() {
    for (latency_ms, rate) in LINKS {
        let case = format!("{latency_ms} ms, {rate:?}");
        let watch = watch(Watch { takes: true, ..Watch::default() }, &[latency_ms], rate);
        assert_eq!((watch.late_frames, &*watch.rung_by), (Some(0), "-o"), "{case}");
        let slowest_m = watch.shown.windows(2).map(|two| two[1] - two[0]).fold(f64::MAX, f64::min);
        let fastest_m = watch.shown.windows(2).map(|two| two[1] - two[0]).fold(0.0, f64::max);
        assert!(slowest_m > 0.08, "{case}: {slowest_m} m in a frame");
        // It goes over to the present, which is some way ahead: in 0.1 to 0.4 s, as far as it goes in these and a round trip.
        assert!(fastest_m < 0.45, "{case}: {fastest_m} m in a frame");
    }
}
