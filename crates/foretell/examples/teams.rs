//! Teams: who sees what of whom, what no client predicts, and what is told rarely; and names, which players bring along as they join.
//! A player changes sides in the middle.

use foretell::{
    Client, ClientConfig, Frame, Group, Input, Instant, InterestRules, Newcomer, Owned, PlayerId, Reason, Rules,
    ServerConfig,
};
use foretell::{Simulate, State, Step, Table, Text, Tick, Views, World};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use std::collections::BTreeMap;
use std::time::Duration;

const TEAM: Group = Group(0);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    forward: bool,
    lay_mine: bool,
    change_sides: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Soldier {
    /// Everybody sees it.
    #[state(position)]
    x: [f32; 1],
    /// Everybody reads it: what its player's client has said with the join.
    name: Text<16>,
    /// Its player alone.
    #[state(audience = owner)]
    ammunition: u8,
    /// Its team.
    #[state(audience = group(TEAM))]
    health: u8,
    /// Everybody but its player: what it looks like from outside.
    #[state(audience = others)]
    disguise: u8,
}

/// Its player laid it, and sees it when the server has it.
#[derive(State, Clone, Copy)]
#[state(predict = never)]
struct Mine {
    #[state(position)]
    x: [f32; 1],
}

/// Told at most ten times in a second: nobody aims at it.
#[derive(State, Clone, Copy)]
#[state(hz = 10)]
struct Bird {
    #[state(position)]
    x: [f32; 1],
    #[state(velocity)]
    speed: [f32; 1],
}

#[derive(World, Default)]
struct Match {
    soldiers: Table<Soldier>,
    mines: Table<Mine>,
    birds: Table<Bird>,
    /// Known to the server alone.
    #[world(saved)]
    teams: BTreeMap<PlayerId, u8>,
}

impl Simulate for Match {
    type Input = Keys;

    fn admit(&self, newcomer: &Newcomer) -> Result<(), Reason> {
        if name_of(newcomer).is_empty() { Err("say your name".into()) } else { Ok(()) }
    }

    fn step(&mut self, step: &mut Step<'_, Keys>) {
        for joined in step.joined() {
            let number = joined.player.get() as u8;
            self.teams.insert(joined.player, number % 2);
            let name = name_of(joined);
            let soldier =
                Soldier { x: [0.0], name, ammunition: 10 * number, health: 100 - number, disguise: number + 50 };
            self.soldiers.spawn(step, joined.player, soldier);
            self.birds.spawn(step, PlayerId::SERVER, Bird { x: [0.0], speed: [4.0] });
        }
        for mut bird in self.birds.simulated(step) {
            bird.x[0] += bird.speed[0] * step.seconds() as f32;
        }
        for player in step.inputs() {
            let place = self.soldiers.owned_by(player.player).next().map(|soldier| soldier.x);
            if let (Some(x), true) = (place, player.input.lay_mine) {
                self.mines.spawn(step, player.player, Mine { x });
            }
            if player.input.change_sides && step.is_authority() {
                self.teams.entry(player.player).and_modify(|team| *team = 1 - *team);
            }
        }
        for mut soldier in self.soldiers.simulated(step) {
            let forward = step.input(soldier.owner()).is_some_and(|player| player.input.forward);
            soldier.x[0] += if forward { 3.0 * step.seconds() as f32 } else { 0.0 };
        }
    }

    fn interest_rules(&self) -> Option<&dyn InterestRules> {
        Some(self)
    }
}

/// What a client has said of its player; no name where that is none.
fn name_of(newcomer: &Newcomer) -> Text<16> {
    core::str::from_utf8(&newcomer.data).unwrap_or_default().into()
}

impl InterestRules for Match {
    fn is_in_group(&self, viewer: PlayerId, group: Group, of: Owned) -> bool {
        group == TEAM && self.teams.get(&viewer) == self.teams.get(&of.owner)
    }
}

/// Who was seen to have which health by whom, and how mines came to be.
#[derive(Default)]
struct Game {
    views: Views,
    healths: BTreeMap<(usize, u16), u8>,
    names: BTreeMap<u16, String>,
    mines: BTreeMap<usize, String>,
}

/// The third player goes to the other team at this tick.
const CHANGES: u32 = 200;

impl Driver<Match> for Game {
    fn input(&mut self, player: usize, tick: Tick) -> Keys {
        let tick = tick.get();
        Keys { forward: true, lay_mine: player == 0 && tick == 100, change_sides: player == 2 && tick == CHANGES }
    }

    fn after_client(&mut self, player: usize, at: Moment, client: &Client<Match>, _frame: &Frame<'_>) {
        let Some(me) = client.player() else { return };
        client.present(at.local, &mut self.views);
        for view in &self.views {
            if let Some(soldier) = view.get::<Soldier>() {
                let is_own = view.owner == me;
                assert_eq!(soldier.ammunition > 0, is_own, "nobody sees another's ammunition");
                assert_eq!(soldier.disguise > 0, !is_own, "nobody sees their own disguise");
                self.healths.insert((player, view.owner.get()), soldier.health);
                self.names.insert(view.owner.get(), soldier.name.to_string());
            }
            if view.get::<Mine>().is_some() {
                self.mines.insert(player, format!("{:?}", view.source));
            }
        }
    }
}

/// Three seconds, and three more after the third player has changed sides.
pub fn main() {
    let mut session = Simulation::new(Rules::new(Match::schema()), ServerConfig::default(), Match::default(), 7);
    for (name, latency) in ["Anna", "Bob", "Carla"].into_iter().zip([20, 40, 60].map(Duration::from_millis)) {
        let conditions = Conditions { latency, loss: Loss::Uniform(0.02), ..Conditions::default() };
        let (client, host) = (ClientConfig::default(), HostOptions::at(60));
        let options = PlayerOptions { client, host, conditions, world: Match::default() };
        session.add_player_who(options, |request| request.with_data(name).expect("at most 1000 bytes"));
    }
    let mut game = Game::default();
    let first = session.players[0].client.player().map_or(1, PlayerId::get);
    for (seconds, mates) in [(3, [first, first + 2]), (6, [first + 1, first + 2])] {
        session.run_until(Instant::from_micros(seconds * 1_000_000), &mut game);
        for ((player, soldier), health) in &game.healths {
            let me = first + *player as u16;
            let (seer, seen) = (&game.names[&me], &game.names[soldier]);
            println!("after {seconds} s {seer} sees of {seen} a health of {health}");
            let are_mates = me == *soldier || mates.contains(&me) && mates.contains(soldier);
            assert_eq!(*health > 0, are_mates, "after {seconds} s, {me} of {soldier}");
        }
    }
    println!("the mine is {:?}", game.mines);
    assert!(game.mines.len() == 3 && game.mines.values().all(|source| source != "Predicted"));
}
