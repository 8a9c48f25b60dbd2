//! What a player makes of the end of a connection.

use super::*;
use crate::platform::Farewell;
use crate::transport::{Transport, Unsent};
use foretell::{Input, Simulate, State, Step, Table};

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Nothing {
    pressed: bool,
}

#[derive(State, Clone, Copy, Default)]
struct Stone {
    weight: u32,
}

#[derive(World, Default)]
struct Field {
    stones: Table<Stone>,
}

impl Simulate for Field {
    type Input = Nothing;

    fn step(&mut self, _: &mut Step<'_, Nothing>) {}
}

/// A connection whose last message comes, and then its end, when it has just been drained for the first time.
struct Ending {
    message: Vec<u8>,
    why: Closed,
    drained: usize,
}

impl Transport for Ending {
    fn send(&mut self, _: &[u8]) -> Result<(), Unsent> {
        Ok(())
    }

    fn tell(&mut self, _: &[u8]) -> Result<(), Unsent> {
        Ok(())
    }

    fn drain(&mut self, each: &mut dyn FnMut(Came<'_>)) {
        if self.drained == 1 {
            each(Came::Message(&self.message));
        }
        self.drained += 1;
    }

    fn path(&self) -> PathFacts {
        PathFacts::default()
    }

    fn closed(&self) -> Option<Closed> {
        (self.drained > 0).then_some(self.why)
    }

    fn close(&mut self, _: Closed) {}
}

/// What a player has made of the end of a connection, over which it was told right before that the server ends within `seconds`.
fn ended(why: Closed, seconds: u32) -> (Connected, Option<Duration>) {
    let message = Control::Draining { seconds }.framed()[2..].to_vec();
    let transport = Box::new(Ending { message, why, drained: 0 });
    let ticket = ResumeTicket::from_bytes(&[]).expect("short");
    let joined = Joined { session: 1, ticket, transport, farewell: Farewell(None) };
    let config = JoinConfig::new(Rules::new(Field::schema()));
    let target = Target::new("https://127.0.0.1:1/", config.idle_timeout, config.via).expect("an address");
    let mut player = begin(config, JoinRequest::new(0), target, Clock::start(), joined);
    let mut world = Field::default();
    for _ in 0..3 {
        player.update(&mut world, &mut |_| Nothing::default());
    }
    (player.connected(), player.ends_within())
}

#[tokio::test]
async fn the_last_words_of_a_server_are_heard_that_come_right_before_the_end_of_the_connection() {
    let heard = Some(Duration::from_secs(7));
    assert_eq!(ended(Closed::Removed, 7), (Connected::Closed(Closed::Removed), heard));
    // Until then it may still be there.
    for why in [Closed::Lost, Closed::TimedOut] {
        assert_eq!(ended(why, 7), (Connected::Rejoining, heard), "{why}");
    }
}

#[tokio::test]
async fn a_server_that_has_ended_as_it_said_is_not_asked_again() {
    for why in [Closed::Lost, Closed::TimedOut] {
        assert_eq!(ended(why, 0).0, Connected::Closed(Closed::ServerEnded), "{why}");
    }
}
