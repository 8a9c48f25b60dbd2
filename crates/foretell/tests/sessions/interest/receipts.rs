//! Who hears about a hit where not everybody sees everybody.

use super::woods::WITHIN;
use crate::common::Buttons;
use core::time::Duration;
use foretell::session::HitReceipt;
use foretell::{
    Client, ClientConfig, Entity, Frame, Instant, InterestRules, Messages, Owned, PlayerId, Rules, Server,
    ServerConfig, ServerFrame, Simulate, State, Step, Table, Tick, Visibility, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::Conditions;
use std::collections::{BTreeMap, BTreeSet};

const SNIPER: PlayerId = PlayerId::new(1);
const NEAR: PlayerId = PlayerId::new(2);
const FAR: PlayerId = PlayerId::new(3);
/// Does not see the sniper.
const BLIND: PlayerId = PlayerId::new(4);

#[derive(State, Clone, Copy)]
struct Soldier {
    #[state(position)]
    at: [f32; 3],
}

/// The first shoots at everybody.
#[derive(World, Default)]
struct Field {
    soldiers: Table<Soldier>,
}

impl Simulate for Field {
    type Input = Buttons;

    fn step(&mut self, step: &mut Step<'_, Buttons>) {
        for joined in step.joined() {
            let x = if joined.player == FAR { 500.0 } else { f32::from(joined.player.get()) };
            self.soldiers.spawn(step, joined.player, Soldier { at: [x, 0.0, 0.0] });
        }
        if step.is_authority() && step.tick() > Tick::new(180) && step.tick().get().is_multiple_of(32) {
            let all = self.soldiers.iter().map(|one| Owned { entity: one.entity(), owner: one.owner() });
            let others: Vec<_> = all.filter(|of| of.owner != SNIPER).collect();
            others.into_iter().for_each(|victim| step.hit(SNIPER, victim));
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        Some(self)
    }
}

impl InterestRules for Field {
    fn visibility(&self, viewer: PlayerId, entity: Entity) -> Visibility {
        let is_sniper = self.soldiers.get(entity).is_some_and(|one| one.owner() == SNIPER);
        if viewer == BLIND && is_sniper { Visibility::Hidden } else { Visibility::SHOWN }
    }
}

/// Whose hits the server has reported, and of whose each player was told.
#[derive(Default)]
struct Told {
    reported: BTreeSet<PlayerId>,
    told: BTreeMap<PlayerId, BTreeSet<PlayerId>>,
}

impl Driver<Field> for Told {
    fn input(&mut self, _player: usize, _tick: Tick) -> Buttons {
        Buttons::default()
    }

    fn after_client(&mut self, _player: usize, _at: Moment, client: &Client<Field>, frame: &Frame<'_>) {
        let receipts = frame.messages.iter().filter_map(|message| message.get::<HitReceipt>());
        let victims = receipts.map(|receipt| receipt.victim.owner);
        self.told.entry(client.player().unwrap_or(PlayerId::SERVER)).or_default().extend(victims);
    }

    fn after_server(&mut self, _now: Instant, _server: &Server<Field>, frame: &ServerFrame<'_>) {
        self.reported.extend(frame.receipts.iter().map(|receipt| receipt.victim.owner));
    }
}

#[test]
fn nobody_is_told_of_a_hit_on_or_by_somebody_whom_they_do_not_see_and_it_counts() {
    let rules = Rules { messages: Messages::new().with::<HitReceipt>(), ..Rules::new(Field::schema()) };
    let config = ServerConfig { interest: WITHIN, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Field::default(), 3);
    for _ in 0..4 {
        let conditions = Conditions { latency: Duration::from_millis(20), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        simulation.add_player(PlayerOptions { client, host, conditions, world: Field::default() });
    }
    let mut told = Told::default();
    simulation.run_until(Instant::from_micros(6_000_000), &mut told);
    assert_eq!(told.reported, BTreeSet::from([NEAR, FAR, BLIND]), "each hit counts");
    let of = |player| told.told[&player].iter().copied().collect::<Vec<_>>();
    assert_eq!(of(SNIPER), [NEAR, BLIND], "who is far is in nobody's view");
    assert_eq!([NEAR, FAR, BLIND].map(of), [vec![NEAR], vec![], vec![]]);
}
