//! How a player fares, in words and in figures.

use foretell::ClientState;
use foretell::session::Refusal;
use foretell::session::client::Outcomes;
use foretell_arena::Game;
use foretell_net::{Closed, Connected, Player};

const OTHER_BUILD: &str = "This page and the server are of different versions: build the page again.";

/// In one word, and in a sentence.
pub fn of<G: Game>(player: &Player<G>) -> (&'static str, String) {
    match player.connected() {
        Connected::Yes => connected(player),
        Connected::Rejoining => ("rejoining", "Connection lost. Trying to come back.".into()),
        Connected::Closed(Closed::Incompatible) => ("outdated", OTHER_BUILD.into()),
        Connected::Closed(Closed::ServerEnded) => {
            ("gone", "The server has ended. This page joins again when it is back.".into())
        }
        // As where nothing that this page says is heard. One that has slept comes back by itself.
        Connected::Closed(Closed::TimedOut) => ("gone", "Joining took too long. Joining again.".into()),
        Connected::Closed(why) => match player.client().state(player.clock().now()) {
            // The game may have said it in words.
            ClientState::Refused(why) => ("over", format!("It is over: {why}.")),
            _ => ("over", format!("It is over: {why}.")),
        },
        Connected::Refused(why) => ("gone", format!("The server does not take you back: {why}. Joining again.")),
        Connected::GivenUp => ("gone", "Connection lost. This page joins again when the server is back.".into()),
    }
}

fn connected<G: Game>(player: &Player<G>) -> (&'static str, String) {
    let client = player.client();
    let (state, sentence) = match client.state(player.clock().now()) {
        ClientState::Joining => ("joining", "Joining."),
        ClientState::Refused(Refusal::Version | Refusal::Rules) => ("outdated", OTHER_BUILD),
        ClientState::Refused(why) => return ("over", format!("It is over: {why}.")),
        ClientState::Playing | ClientState::Behind => ("playing", ""),
        ClientState::Starved => ("trouble", "Nothing comes from the server: the others stand still."),
        ClientState::Resyncing => ("trouble", "Starting again from the server's state."),
        ClientState::Lost => ("trouble", "Nothing has come from the server for five seconds."),
    };
    if state == "playing" {
        let number = client.player().map_or(0, |player| player.get());
        let end =
            player.ends_within().map_or(String::new(), |time| format!(" The server ends in {} s.", time.as_secs()));
        return (state, format!("You are player {number}.{end}"));
    }
    (state, sentence.into())
}

/// Round trip, lead, delay of others, corrections, resyncs, bytes received, bytes sent, states that agreed, states compared.
pub fn figures<G: Game>(player: &Player<G>) -> Vec<f64> {
    let stats = player.client().stats();
    let tick_ms = 1000.0 / f64::from(G::rules().tick_rate.get());
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    let [corrections, resyncs, received, sent] = [
        stats.prediction.corrections,
        stats.prediction.resyncs,
        stats.network.bytes_received,
        stats.network.bytes_sent,
    ]
    .map(|count| count as f64);
    let Outcomes { agreed, corrected, asked, .. } = stats.prediction.outcomes;
    #[expect(clippy::cast_precision_loss, reason = "to be shown")]
    let [agreed, compared] = [agreed, agreed + corrected + asked].map(|count| count as f64);
    let rtt_ms = stats.network.rtt.as_secs_f64() * 1000.0;
    let (lead_ms, delay_ms) = (stats.clock.lead_ticks * tick_ms, stats.playout.delay_ticks * tick_ms);
    vec![rtt_ms, lead_ms, delay_ms, corrections, resyncs, received, sent, agreed, compared]
}
