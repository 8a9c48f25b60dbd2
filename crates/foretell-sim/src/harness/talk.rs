//! What a scenario's bots say, and what its server tells them.

use super::check::Letter;
use super::{BotView, Scenario, ServerHost, Spied};
use crate::netsim::SplitMix64;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::type_name;
use foretell::To;
use foretell::session::client::Client;
use foretell::session::{Rules, SendError};
use foretell::time::Tick;
use foretell::world::{Delivery, Message, MessageKind, PlayerId, ReceivedMessage, World};

/// What a player says in a tick, by what it sees.
type Say = dyn Fn(&BotView<'_>, &mut SplitMix64) -> Option<ReceivedMessage>;
/// What the server tells a player in a tick.
type Tell = dyn Fn(PlayerId, Tick, &mut SplitMix64) -> Option<ReceivedMessage>;

/// All that is said in a scenario, beside inputs.
#[derive(Default)]
pub(super) struct Talk {
    says: Vec<(Kind, Box<Say>)>,
    tells: Vec<(Kind, Box<Tell>)>,
}

/// A kind of message, and its number in the rules.
#[derive(Clone, Copy)]
struct Kind {
    number: usize,
    kind: MessageKind,
}

impl<W: World> Scenario<W> {
    /// With what players say: asked once for each of a client's ticks, with what is to be seen there; where an update has run several,
    /// for all of them before the next one. Where a client starts again further on, nobody is asked about the ticks between. Said again
    /// for each type of message. Its random numbers are other ones in each tick. What has no room is not said.
    ///
    /// # Panics
    /// When the rules have no such message. A run panics where one is longer than its kind may be.
    #[must_use]
    pub fn says<M: Message>(
        mut self,
        says: impl Fn(&BotView<'_>, &mut SplitMix64) -> Option<M> + 'static,
    ) -> Scenario<W> {
        let kind = Kind::of::<M>(&self.setting.rules);
        let say = move |view: &BotView<'_>, random: &mut SplitMix64| {
            Some(ReceivedMessage::of(view.player, says(view, random)?))
        };
        self.talk.says.push((kind, Box::new(say)));
        self
    }

    /// With what the server tells each player: asked once for each of its ticks, of everybody who is there.
    ///
    /// # Panics
    /// When the rules have no such message, or it is [in steps](Delivery::InStep), which players alone say. A run panics where one is
    /// longer than its kind may be.
    #[must_use]
    pub fn tells<M: Message>(
        mut self,
        tells: impl Fn(PlayerId, Tick, &mut SplitMix64) -> Option<M> + 'static,
    ) -> Scenario<W> {
        let kind = Kind::of::<M>(&self.setting.rules);
        assert_ne!(kind.kind.delivery(), Delivery::InStep, "a server says nothing in steps: {:?}", kind.kind);
        let tell = move |player: PlayerId, tick: Tick, random: &mut SplitMix64| {
            Some(ReceivedMessage::of(PlayerId::SERVER, tells(player, tick, random)?))
        };
        self.talk.tells.push((kind, Box::new(tell)));
        self
    }
}

impl Kind {
    fn of<M: Message>(rules: &Rules) -> Kind {
        let kinds = rules.messages.kinds();
        let number = kinds.iter().position(|kind| kind.name() == M::NAME);
        let number = number.unwrap_or_else(|| panic!("the rules have no message {}", type_name::<M>()));
        Kind { number, kind: kinds[number] }
    }
}

impl Talk {
    /// What a client's player says in a tick.
    pub(super) fn say<W: World>(&self, seed: u64, view: &BotView<'_>, client: &mut Client<Spied<W>>) -> Vec<Letter> {
        let said = self.said(seed, view);
        said.filter(|(number, letter)| was_taken(client.send_bytes(*number, &letter.bytes)))
            .map(|said| said.1)
            .collect()
    }

    /// The same of the player who sits at the server.
    pub(super) fn say_here<W: World>(
        &self,
        seed: u64,
        view: &BotView<'_>,
        host: &mut ServerHost<Spied<W>>,
    ) -> Vec<Letter> {
        let ServerHost { server, local: Some(local), .. } = host else { return Vec::new() };
        let said = self.said(seed, view);
        said.filter(|(number, letter)| was_taken(local.send_bytes(server, *number, &letter.bytes)))
            .map(|said| said.1)
            .collect()
    }

    /// What the server tells everybody in a tick.
    pub(super) fn tell<W: World>(&self, seed: u64, tick: Tick, host: &mut ServerHost<Spied<W>>) -> Vec<Letter> {
        let mut said = Vec::new();
        if self.tells.is_empty() {
            return said;
        }
        let players: Vec<_> = host.server.players().collect();
        for player in players {
            let random = random(seed ^ 0x7465_6c6c, usize::from(player.get()), tick);
            for ((Kind { number, kind }, tell), mut random) in self.tells.iter().zip(random) {
                let told = tell(player, tick, &mut random).and_then(|message| kind.bytes_of(&message));
                let Some(bytes) = told else { continue };
                if was_taken(host.server.send_bytes(To::Player(player), *number, &bytes)) {
                    said.push(Letter { player, kind: *kind, bytes });
                }
            }
        }
        said
    }

    /// What is said in steps, for a world by itself.
    pub(super) fn in_steps(&self) -> impl Iterator<Item = &Say> {
        self.says.iter().filter(|(kind, _)| kind.kind.delivery() == Delivery::InStep).map(|(_, say)| &**say)
    }

    fn said(&self, seed: u64, view: &BotView<'_>) -> impl Iterator<Item = (usize, Letter)> {
        self.says.iter().zip(random(seed, view.index, view.tick)).filter_map(
            |((Kind { number, kind }, say), mut random)| {
                let message = say(view, &mut random)?;
                Some((*number, Letter { player: view.player, kind: *kind, bytes: kind.bytes_of(&message)? }))
            },
        )
    }
}

/// Random numbers for a tick of somebody: others for each kind of message.
pub(super) fn random(seed: u64, index: usize, tick: Tick) -> impl Iterator<Item = SplitMix64> {
    let mut seeds = SplitMix64::new(seed ^ (index as u64) << 48 ^ u64::from(tick.get()) << 8);
    core::iter::repeat_with(move || SplitMix64::new(seeds.next_u64()))
}

/// Whether it is on its way.
fn was_taken(result: Result<(), SendError>) -> bool {
    match result {
        Ok(()) => true,
        Err(SendError::Full | SendError::NotPlaying) => false,
        Err(why) => panic!("a scenario says what can't be said: {why}"),
    }
}
