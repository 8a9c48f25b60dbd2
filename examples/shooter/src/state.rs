//! What is kept and told: the tables of the world, what players press and say, who joins, and who sees what.

use crate::game::Game;
use crate::ground::Ground;
use foretell::{Field, Group, Input, Interest, InterestRules, Look, Message, Messages, Newcomer, Owned, PlayerId};
use foretell::{Rules, Seat, State, Text, TickRate, World};
use serde::{Deserialize, Serialize};

/// Those of one team.
pub const TEAM: Group = Group(0);

/// What a player presses.
#[derive(Input, Clone, Copy, PartialEq, Default)]
pub struct Keys {
    pub right: i8,
    pub up: i8,
    /// 65,536 are a whole turn.
    pub aim: u16,
    pub fires: bool,
    pub opens: bool,
}

#[derive(Field, Serialize, Deserialize, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Weapon {
    #[default]
    Rifle,
    Crossbow,
}

#[derive(State, Clone, Copy, Default)]
pub struct Soldier {
    #[state(position, precision = 0.02)]
    pub at: [f32; 2],
    #[state(velocity, precision = 0.1)]
    pub velocity: [f32; 2],
    /// How often it came back to life elsewhere: nobody is shown on the way there.
    #[state(teleports)]
    pub respawns: u8,
    pub weapon: Weapon,
    /// 256 are a whole turn.
    #[state(audience = others)]
    pub aim: u8,
    #[state(audience = group(TEAM))]
    pub health: u8,
    #[state(audience = owner)]
    pub ammunition: u8,
    /// The tick from which it can shoot again.
    #[state(audience = owner)]
    pub ready: u32,
}

/// Of a soldier, what never changes.
#[derive(State, Clone, Copy, Default)]
pub struct Badge {
    pub name: Text<16>,
    pub team: u8,
}

/// One of those who wander about.
#[derive(State, Clone, Copy, Default)]
pub struct Wanderer {
    #[state(position, precision = 0.02)]
    pub at: [f32; 2],
    #[state(velocity, precision = 0.1)]
    pub velocity: [f32; 2],
}

#[derive(State, Clone, Copy)]
pub struct Bolt {
    #[state(position, precision = 0.02)]
    pub at: [f32; 2],
    #[state(velocity, precision = 0.1)]
    pub velocity: [f32; 2],
    /// The tick in which it falls.
    pub falls: u32,
}

#[derive(State, Clone, Copy)]
pub struct Pickup {
    #[state(position)]
    pub at: [f32; 2],
    /// The tick from which it lies there.
    pub back: u32,
}

/// It says when it will be open before it is, so that every client knows in time.
#[derive(State, Clone, Copy)]
pub struct Door {
    #[state(position)]
    pub at: [f32; 2],
    pub number: u8,
    pub opens: u32,
    pub closes: u32,
}

/// To who joins.
#[derive(Serialize, Deserialize, Message)]
pub struct Map(pub Ground);

/// From a player, to all or to the own team; from the server, of whom.
#[derive(Serialize, Deserialize, Message, Clone)]
#[message(bytes_max = 600)]
pub struct Chat {
    pub from: PlayerId,
    pub to_team: bool,
    pub text: String,
}

/// The hits of each player, when the match is over.
#[derive(Serialize, Deserialize, Message)]
#[message(newest)]
pub struct Scores {
    pub hits: Vec<(PlayerId, u32)>,
    pub is_over: bool,
}

/// A player takes another weapon in the hand.
#[derive(Serialize, Deserialize, Message)]
#[message(in_step)]
pub struct Take(pub Weapon);

pub fn rules() -> Rules {
    let messages = Messages::new().with::<Map>().with::<Chat>().with::<Scores>().with::<Take>();
    Rules { tick_rate: TickRate::hz(30), messages, ..Rules::new(Game::schema()) }
}

/// What a client says with its join: the team in the first byte, and the name. Who says nothing is somebody.
pub fn badge_of(newcomer: &Newcomer) -> Option<Badge> {
    let Some((team, name)) = newcomer.data.split_first() else {
        return Some(Badge { name: "somebody".into(), team: (newcomer.player.get() % 2) as u8 });
    };
    let name = core::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    (*team < 2).then_some(Badge { name: name.into(), team: *team })
}

impl Game {
    pub fn team_of(&self, player: PlayerId) -> Option<u8> {
        self.badges.owned_by(player).next().map(|badge| badge.team)
    }
}

impl InterestRules for Game {
    fn look(&self, _viewer: PlayerId, look: &mut Look) {
        if look.seat == Seat::Spectator {
            look.interest = Interest::Everything;
        }
    }

    fn is_in_group(&self, viewer: PlayerId, group: Group, of: Owned) -> bool {
        group == TEAM && self.team_of(viewer) == self.team_of(of.owner)
    }
}
