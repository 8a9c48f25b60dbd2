//! Quantities that are no motion, over a whole session: what is blended goes over from state to state as its entity does,
//! what is not steps (P11).

use core::time::Duration;
use foretell::session::client::{EntityMode, PoseSource};
use foretell::{
    Client, ClientConfig, Curve, Entity, Frame, Input, Instant, Owned, PlayerId, Rules, SendRate, ServerConfig,
    Simulate, State, Step, Table, Tick, Views, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};

/// How much brighter in a tick.
const BRIGHTER: f32 = 0.25;
/// Ticks from snapshot to snapshot.
const INTERVAL: u16 = 6;

#[derive(State, Clone, Copy, PartialEq, Default, Debug)]
struct Lantern {
    #[state(position)]
    place: [f32; 2],
    #[state(blended)]
    glow: f32,
    #[state(blended)]
    colours: [f64; 5],
    /// The same as the glow, and not blended.
    told: f32,
    ticks: u32,
}

#[derive(Input, Clone, Copy, PartialEq, Default, Debug)]
struct Nothing(bool);

/// Lanterns of the server's, that become brighter.
#[derive(World, Default)]
struct Lanterns(Table<Lantern>);

const fn lantern(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, nth)
}

/// One for each curve, and one that is predicted.
const PREDICTED: Entity = lantern(Curve::ALL.len() as u16);

impl Simulate for Lanterns {
    type Input = Nothing;

    fn step(&mut self, step: &mut Step<'_, Nothing>) {
        for mut it in self.0.simulated(step) {
            it.place[0] += 0.01;
            it.glow += BRIGHTER;
            it.colours[4] -= 2.0;
            (it.told, it.ticks) = (it.glow, it.ticks + 1);
        }
    }
}

/// Looks at every lantern in every frame.
#[derive(Default)]
struct Watch {
    /// By curve: in how many frames it was shown between two states, and in how many of these it had a brightness of its
    /// own, that no state has told.
    between: [(u32, u32); Curve::ALL.len()],
    /// In how many frames something was shown beyond the newest state.
    beyond: u32,
    /// The same of the predicted one, and what it was before.
    predicted: (u32, u32),
    before: f32,
}

impl Driver<Lanterns> for Watch {
    fn input(&mut self, _player: usize, _tick: Tick) -> Nothing {
        Nothing(true)
    }

    fn after_client(&mut self, _player: usize, at: Moment, client: &Client<Lanterns>, _frame: &Frame<'_>) {
        if at.now < Instant::from_micros(4_000_000) {
            return;
        }
        let cursor = client.playout_cursor(at.local).expect("others are shown").as_ticks();
        let mut views = Views::new();
        client.present(at.local, &mut views);
        for view in &views {
            let it: Lantern = view.get().expect("a lantern");
            let is_told = it.glow == it.told;
            let due = (it.told, f64::from(it.ticks));
            assert_eq!(due.0, it.ticks as f32 * BRIGHTER, "what is plain steps, all of it together");
            if view.entity == PREDICTED {
                assert_eq!(view.source, PoseSource::Predicted);
                assert!(it.glow >= self.before && it.glow <= it.told + BRIGHTER, "{it:?} after {}", self.before);
                self.before = it.glow;
                self.predicted = (self.predicted.0 + 1, self.predicted.1 + u32::from(!is_told));
                continue;
            }
            let nth = usize::from(view.entity.counter());
            let curve = Curve::ALL[nth];
            let is_between = view.source == PoseSource::Interpolated;
            if !is_between || curve == Curve::Hold {
                assert!(is_told && it.colours[4] == -2.0 * due.1, "{curve:?} holds what is no motion: {it:?}");
                self.beyond += u32::from(!curve.leads() && !is_between);
                continue;
            }
            let ahead = cursor - due.1;
            assert!((0.0..4.0 * f64::from(INTERVAL)).contains(&ahead), "{curve:?} at {cursor}: {it:?}");
            let expected = cursor * f64::from(BRIGHTER);
            assert!((f64::from(it.glow) - expected).abs() < 1e-3, "{curve:?} at {cursor}: {it:?}");
            assert!(
                (it.colours[4] + 2.0 * cursor).abs() < 1e-6 && it.colours[0] == 0.0,
                "{curve:?} at {cursor}: {it:?}"
            );
            self.between[nth].0 += 1;
            self.between[nth].1 += u32::from(!is_told);
        }
    }
}

#[test]
fn what_is_blended_is_shown_as_it_was_at_the_cursor_and_what_is_plain_steps() {
    let mut lanterns = Lanterns::default();
    for nth in 0..=PREDICTED.counter() {
        lanterns.0.insert(Owned { entity: lantern(nth), owner: PlayerId::SERVER }, Lantern::default());
    }
    let config = ServerConfig { snapshot_rate: SendRate::Hz(64 / INTERVAL), ..ServerConfig::default() };
    let mut simulation = Simulation::new(Rules::new(Lanterns::schema()), config, lanterns, 5);
    let conditions = Conditions {
        latency: Duration::from_millis(50),
        jitter: Duration::from_millis(20),
        loss: Loss::Uniform(0.1),
        ..Conditions::default()
    };
    let (client, host) = (ClientConfig::default(), HostOptions::at(144));
    simulation.add_player(PlayerOptions { client, host, conditions, world: Lanterns::default() });
    for (nth, curve) in (0..).zip(Curve::ALL) {
        simulation.players[0].client.show_with(lantern(nth), curve);
    }
    simulation.players[0].client.set_mode(PREDICTED, Some(EntityMode::Predicted));
    let mut watch = Watch::default();
    simulation.run_until(Instant::from_micros(20_000_000), &mut watch);
    for (curve, (frames, own)) in Curve::ALL.into_iter().zip(watch.between) {
        let moves = curve != Curve::Hold && !curve.leads();
        assert_eq!(frames > 2000, moves, "{curve:?}: {frames} frames");
        assert!(!moves || own > frames * 9 / 10, "{curve:?}: {own} of {frames} frames");
    }
    assert!(watch.beyond > 0 && watch.predicted.0 > 2000, "{} {:?}", watch.beyond, watch.predicted);
    assert!(watch.predicted.1 > watch.predicted.0 / 2, "between two ticks it has a brightness of its own");
}
