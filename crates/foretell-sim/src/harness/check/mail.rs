//! Messages come as their kinds say, and those in steps are in the same step on both ends.

use super::letters::{HeardStep, Letter, Log, Mailbox};
use super::{Check, ClientSeen, Each, LocalSeen, ServerSeen};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::session::client::{ClientEvent, ClientState, Frame};
use foretell::session::server::ServerEvent;
use foretell::time::{Instant, Tick};
use foretell::world::{InputStatus, Messages, PlayerId, World};

/// Of what a scenario [says](crate::harness::Scenario::says) and [tells](crate::harness::Scenario::tells), each message comes as its
/// kind says, to the bytes: ordered ones and those in steps once and in order, unordered ones once, the newest in any case and nothing that is
/// older than what has come, unreliable ones at most once. Some time after the last fault nothing is missing.
///
/// A message in a step is in the step of the same tick on both ends, in every simulation of it, where the server has had the player's
/// input of that tick in time; where it has not, it is in a later one.
#[derive(Default)]
pub struct Mail {
    /// From each player to the server, and what of it has come there.
    up: BTreeMap<PlayerId, (Log, Mailbox)>,
    /// From the server to each player, and what of it has come to them.
    down: BTreeMap<PlayerId, (Log, Mailbox)>,
    steps: BTreeMap<PlayerId, BothSteps>,
    /// By machine: who it has played as last.
    players: Each<Option<PlayerId>>,
}

/// So long after the last fault, beyond two round trips, what was said so long ago has come. In calm it takes a round trip; what
/// was lost before is sent again after a second at most.
const COMES_WITHIN: Duration = Duration::from_secs(4);
/// For so many ticks it is kept what was in their steps.
const TICKS_KEPT: u32 = 512;

/// The messages of a player in steps, on both ends.
#[derive(Default)]
struct BothSteps {
    /// Before this tick a session of the client's that is over may have given inputs.
    from: Tick,
    /// On the client, as it was simulated last.
    predicted: BTreeMap<Tick, Vec<Letter>>,
    /// On the server, where the client's input was there in time.
    received: BTreeMap<Tick, Vec<Letter>>,
}

impl BothSteps {
    /// Another session of the client's begins.
    fn begin(&mut self) {
        let newest = self.predicted.last_key_value().map(|(tick, _)| tick.next());
        self.from = self.from.max(newest.unwrap_or(Tick::ZERO));
        self.predicted.clear();
    }

    /// The client has simulated a step, perhaps again.
    fn predict(&mut self, tick: Tick, messages: Vec<Letter>) -> Result<(), String> {
        let before = self.predicted.insert(tick, messages);
        let received = self.received.get(&tick).filter(|_| tick >= self.from);
        let (Some(received), Some(before)) = (received, before) else { return self.compare(tick) };
        let now = &self.predicted[&tick];
        if !now.ends_with(&before) {
            return Err(format!(
                "what is said in {tick:?} is another when it is simulated again: at first {before:02x?}, then {now:02x?}, on \
                 the server {received:02x?}"
            ));
        }
        self.compare(tick)
    }

    /// The server has simulated a step, whose input has come in time or not.
    fn receive(&mut self, tick: Tick, messages: Vec<Letter>, in_time: bool) -> Result<(), String> {
        if in_time {
            self.received.insert(tick, messages);
        }
        let old = tick.back(TICKS_KEPT).unwrap_or(Tick::ZERO);
        for kept in [&mut self.received, &mut self.predicted] {
            while kept.first_key_value().is_some_and(|(tick, _)| *tick < old) {
                kept.pop_first();
            }
        }
        self.compare(tick)
    }

    /// What has come too late for an earlier step stands before what belongs to this one.
    fn compare(&self, tick: Tick) -> Result<(), String> {
        let (Some(predicted), Some(received)) = (self.predicted.get(&tick), self.received.get(&tick)) else {
            return Ok(());
        };
        if tick < self.from || received.ends_with(predicted) {
            return Ok(());
        }
        Err(format!("what is said in {tick:?} is {predicted:02x?} on the client, and {received:02x?} on the server"))
    }
}

impl Mail {
    /// What has come to a player. Another session of theirs may begin after that.
    fn come(&mut self, from: PlayerId, player: PlayerId, frame: &Frame<'_>, kinds: &Messages) -> Result<(), String> {
        let (log, mailbox) = self.down.entry(from).or_default();
        for letter in frame.messages.iter().filter_map(|message| Letter::of(message, kinds)) {
            mailbox.take(&Letter { player: from, ..letter }, log)?;
        }
        if frame.events.iter().any(|event| matches!(event, ClientEvent::Joined(_))) {
            self.up.entry(player).or_default().0.begin();
            self.down.entry(player).or_default().1 = Mailbox::default();
            self.steps.entry(player).or_default().begin();
        }
        Ok(())
    }

    fn say(&mut self, letters: &[Letter], now: Instant) {
        letters.iter().for_each(|letter| self.up.entry(letter.player).or_default().0.say(letter, now));
    }
}

impl<W: World> Check<W> for Mail {
    fn name(&self) -> &'static str {
        "mail"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let kinds = &seen.setting.rules.messages;
        for event in seen.frame.events {
            if let ServerEvent::Joined(player) | ServerEvent::MessagesReset(player) = event {
                self.down.entry(*player).or_default().0.begin();
            }
        }
        self.say(seen.said_here, seen.now);
        for letter in seen.said {
            self.down.entry(letter.player).or_default().0.say(letter, seen.now);
        }
        for letter in seen.frame.messages.iter().filter_map(|message| Letter::of(message, kinds)) {
            let (log, mailbox) = self.up.entry(letter.player).or_default();
            mailbox.take(&letter, log)?;
        }
        for HeardStep { tick, messages } in seen.heard {
            for letter in messages {
                let (log, mailbox) = self.up.entry(letter.player).or_default();
                mailbox.take(letter, log)?;
            }
            for applied in seen.applied.iter().filter(|applied| applied.tick == *tick) {
                let player = applied.input.player;
                let own = messages.iter().filter(|letter| letter.player == player).cloned().collect();
                let in_time = applied.input.status == InputStatus::Received;
                self.steps.entry(player).or_default().receive(*tick, own, in_time)?;
            }
        }
        Ok(())
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let Some(player) = seen.client.player() else { return Ok(()) };
        self.say(seen.said, seen.now);
        let before = self.players.of(seen.machine).replace(player).unwrap_or(player);
        self.come(before, player, seen.frame, &seen.setting.rules.messages)?;
        let steps = self.steps.entry(player).or_default();
        for HeardStep { tick, messages } in seen.heard {
            steps.predict(*tick, messages.clone())?;
        }
        if seen.quiet < COMES_WITHIN + 2 * seen.stats.network.rtt || seen.frame.state != ClientState::Playing {
            return Ok(());
        }
        for (log, mailbox) in [self.up.get(&player), self.down.get(&player)].into_iter().flatten() {
            mailbox.look_for_lost(log, seen.now, COMES_WITHIN)?;
        }
        Ok(())
    }

    fn after_local(&mut self, seen: &LocalSeen<'_>) -> Result<(), String> {
        self.come(seen.player, seen.player, seen.frame, seen.kinds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::world::ReceivedMessage;
    use foretell::{Message, Messages};
    use serde::{Deserialize, Serialize};

    #[derive(Serialize, Deserialize, Message)]
    #[message(in_step)]
    struct Buy(u32);

    fn letters(numbers: &[u32]) -> Vec<Letter> {
        let kinds = Messages::new().with::<Buy>();
        let letter = |number: &u32| Letter::of(&ReceivedMessage::of(PlayerId::new(1), Buy(*number)), &kinds);
        numbers.iter().filter_map(letter).collect()
    }

    /// What a client has in the step of tick 9, each time that it is simulated, and the server then.
    fn compare(predicted: &[&[u32]], received: &[u32], in_time: bool) -> Result<(), String> {
        let (mut steps, tick) = (BothSteps::default(), Tick::new(9));
        steps.predict(tick, letters(predicted[0]))?;
        steps.receive(tick, letters(received), in_time)?;
        predicted[1..].iter().try_for_each(|again| steps.predict(tick, letters(again)))
    }

    #[test]
    fn a_message_in_another_step_of_the_server_is_caught_where_the_input_has_come_in_time() {
        assert_eq!(compare(&[&[1, 2]], &[1, 2], true), Ok(()));
        assert_eq!(compare(&[&[2]], &[1, 2], true), Ok(()), "one has come too late for an earlier step");
        assert!(compare(&[&[1, 2]], &[1], true).expect_err("one is missing").contains("on the client"));
        assert!(compare(&[&[1]], &[], true).is_err());
        assert_eq!(compare(&[&[1]], &[], false), Ok(()), "it was late, as the input was");
    }

    #[test]
    fn a_resimulation_that_forgets_a_message_is_caught() {
        assert_eq!(compare(&[&[1], &[1], &[1]], &[1], true), Ok(()));
        assert!(compare(&[&[1], &[]], &[1], true).expect_err("it is gone").contains("simulated again"));
        assert_eq!(compare(&[&[1], &[]], &[], false), Ok(()), "it was put off");
    }

    #[test]
    fn another_session_is_compared_from_where_the_one_before_has_ended() {
        let mut steps = BothSteps::default();
        assert_eq!(steps.predict(Tick::new(9), letters(&[1])), Ok(()));
        steps.begin();
        assert_eq!(steps.predict(Tick::new(9), letters(&[2])), Ok(()));
        assert_eq!(steps.receive(Tick::new(9), letters(&[1]), true), Ok(()), "the input was of the session before");
        assert_eq!(steps.predict(Tick::new(10), letters(&[2])), Ok(()));
        assert!(steps.receive(Tick::new(10), letters(&[]), true).is_err());
    }
}
