//! How often messages are sent: at most once in a tick, soon again after an outage, and nothing to who is away that would be old.

use crate::common::Buttons;
use crate::common::f64_mass::Masses;
use foretell::{
    Client, ClientConfig, Frame, Instant, Message, Messages, Rules, Server, ServerConfig, ServerFrame, Tick, To, World,
};
use foretell_sim::harness::{Driver, HostOptions, Moment, PlayerOptions, Sent, ServerHost, Simulation};
use foretell_sim::netsim::{Conditions, Loss};
use serde::{Deserialize, Serialize};
use std::time::Duration;

#[derive(Serialize, Deserialize, Message)]
#[message(newest)]
struct Aim(u32);

#[derive(Serialize, Deserialize, Message)]
struct Line(u32);

#[derive(Serialize, Deserialize, Message)]
#[message(unreliable)]
struct Wave(u32);

#[derive(Serialize, Deserialize, Message)]
struct Drawing(Vec<u8>);

const LATENCY: Duration = Duration::from_millis(25);

/// A player whose frames are not those of ticks, and what they and the server have to say.
#[derive(Default)]
struct Talk {
    /// Whether they say where they aim, in each frame.
    aims: bool,
    /// The size in bytes of a drawing that the player sends, and when it came.
    draws: Option<usize>,
    drawn: Option<Instant>,
    /// What the server says before its next step.
    line: Option<Line>,
    waves: bool,
    /// What has come to the player: the newest line, and waves.
    lines: Vec<(Instant, u32)>,
    waved: Vec<u32>,
    aimed: u32,
    /// How many datagrams the player has sent since the last step, and at most between two.
    sent: u32,
    sent_most: u32,
}

impl Driver<Masses> for Talk {
    fn input(&mut self, _: usize, tick: Tick) -> Buttons {
        Buttons { right: tick.get() % 64 < 32, ..Buttons::default() }
    }

    fn before_server(&mut self, now: Instant, host: &mut ServerHost<Masses>) {
        if let Some(line) = self.line.take() {
            host.server.send(To::All, &line).expect("somebody plays");
        }
        if self.waves {
            host.server.send(To::All, &Wave((now.micros() / 1000) as u32)).expect("somebody plays");
        }
    }

    fn after_server(&mut self, now: Instant, _: &Server<Masses>, frame: &ServerFrame<'_>) {
        if frame.messages.iter().any(|message| message.get::<Drawing>().is_some()) {
            self.drawn = Some(now);
        }
        self.aimed += frame.messages.iter().filter(|message| message.get::<Aim>().is_some()).count() as u32;
        (self.sent_most, self.sent) = (self.sent_most.max(self.sent), 0);
    }

    fn before_client(&mut self, _: usize, _: Moment, client: &mut Client<Masses>) {
        if self.aims {
            // Before they play it is refused.
            let _ = client.send(&Aim(7));
        }
        if let Some(bytes) = self.draws.take() {
            client.send(&Drawing(vec![3; bytes])).expect("they play");
        }
    }

    fn after_client(&mut self, _: usize, at: Moment, _: &Client<Masses>, frame: &Frame<'_>) {
        for message in frame.messages {
            self.lines.extend(message.get().map(|Line(number)| (at.now, *number)));
            self.waved.extend(message.get().map(|Wave(number)| *number));
        }
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        self.sent += u32::from(sent.to_server);
    }
}

fn session() -> Simulation<Masses> {
    session_with(ClientConfig::default())
}

fn session_with(client: ClientConfig) -> Simulation<Masses> {
    let messages = Messages::new().with::<Aim>().with::<Line>().with::<Wave>().with::<Drawing>();
    let rules = Rules { messages, ..Rules::new(Masses::schema()) };
    let config = ServerConfig { message_rate_max: u32::MAX, ..ServerConfig::default() };
    let mut simulation = Simulation::new(rules, config, Masses::default(), 1);
    let conditions = Conditions { latency: LATENCY, ..Conditions::default() };
    let (host, world) = (HostOptions::at(144), Masses::default());
    simulation.add_player(PlayerOptions { client, host, conditions, world });
    simulation
}

fn run(simulation: &mut Simulation<Masses>, ms: u64, talk: &mut Talk) {
    simulation.run_until(simulation.now() + Duration::from_millis(ms), talk);
}

#[test]
fn who_says_something_in_each_frame_sends_it_once_in_a_tick() {
    let (mut simulation, mut talk) = (session(), Talk { aims: true, ..Talk::default() });
    run(&mut simulation, 2000, &mut talk);
    (talk.sent_most, talk.aimed) = (0, 0);
    run(&mut simulation, 5000, &mut talk);
    // A datagram of inputs and one of messages in a tick, of which two may fall between two steps.
    assert!(talk.sent_most <= 4, "{}", talk.sent_most);
    assert!((290..=330).contains(&talk.aimed), "{}", talk.aimed);
}

#[test]
fn however_much_is_said_at_whatever_rate_it_goes_in_two_datagrams_per_tick() {
    let mut simulation = session_with(ClientConfig { message_rate: 10_000_000, ..ClientConfig::default() });
    let mut talk = Talk::default();
    run(&mut simulation, 2000, &mut talk);
    (talk.sent_most, talk.draws) = (0, Some(300_000));
    let began = simulation.now();
    run(&mut simulation, 5000, &mut talk);
    // With one of inputs; what two ticks send may fall between two steps.
    assert!((3..=6).contains(&talk.sent_most), "{}", talk.sent_most);
    // 157 pairs of fragments of 960 bytes, at 64 ticks per second.
    let took = talk.drawn.map(|at| at.since(began));
    assert!(took.is_some_and(|took| took < Duration::from_millis(3200)), "{took:?}");
}

/// Nothing gets through in either direction for so long.
fn cut_off(simulation: &mut Simulation<Masses>, ms: u64, talk: &mut Talk) {
    let cut = Conditions { loss: Loss::Uniform(1.0), latency: LATENCY, ..Conditions::default() };
    let open = set_link(simulation, cut);
    run(simulation, ms, talk);
    set_link(simulation, open);
}

/// Returns how it was.
fn set_link(simulation: &mut Simulation<Masses>, conditions: Conditions) -> Conditions {
    let player = &mut simulation.players[0];
    player.down_conditions = conditions.clone();
    core::mem::replace(&mut player.up_conditions, conditions)
}

#[test]
fn the_last_message_before_an_outage_comes_as_soon_as_the_link_is_back() {
    for outage_ms in [900, 1400, 3000, 6000] {
        let (mut simulation, mut talk) = (session(), Talk::default());
        run(&mut simulation, 2000, &mut talk);
        talk.line = Some(Line(1));
        run(&mut simulation, 500, &mut talk);
        talk.line = Some(Line(2));
        cut_off(&mut simulation, outage_ms, &mut talk);
        let back = simulation.now();
        run(&mut simulation, 1000, &mut talk);
        let came = talk.lines.iter().find(|(_, number)| *number == 2).map(|(at, _)| at.since(back).as_millis());
        assert!(came.is_some_and(|ms| ms < 250), "{outage_ms} ms: {came:?}");
    }
}

#[test]
fn who_comes_back_is_not_told_what_was_unreliable_while_they_were_lost() {
    let (mut simulation, mut talk) = (session(), Talk { waves: true, ..Talk::default() });
    run(&mut simulation, 2000, &mut talk);
    assert!(talk.waved.len() > 50);
    // Lost after ten seconds.
    cut_off(&mut simulation, 14_000, &mut talk);
    let back_ms = (simulation.now().micros() / 1000) as u32;
    talk.waved.clear();
    run(&mut simulation, 5000, &mut talk);
    let oldest = talk.waved.iter().min().expect("they are back");
    assert!(*oldest + 200 > back_ms, "{} ms old", back_ms - oldest);
}
