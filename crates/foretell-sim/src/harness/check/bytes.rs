//! What a player costs.

use super::{Check, ClientSeen, Each, ServerSeen};
use alloc::string::String;
use core::time::Duration;
use foretell::session::Rules;
use foretell::time::Instant;
use foretell::world::{Input, World, word_bits};

/// No player's second costs more bytes than these, without headers of IP and UDP. Seconds lie back to back.
///
/// What is not said follows from the session: as much as complete states of the most entities that there were need at the
/// tick rate, and the inputs of all players in 16 copies; besides, 16,000 bytes per second to the server and 64,000 from it.
#[derive(Clone, Debug, Default)]
pub struct Bytes {
    /// To the server, in bytes per second.
    pub up: Option<u64>,
    /// From the server, in bytes per second.
    pub down: Option<u64>,
    /// The largest complete state so far, in bytes.
    state: u64,
    sent: Each<Second>,
    received: Each<Second>,
}

impl Bytes {
    /// With this budget in bytes per second, to the server and from it.
    pub fn new(up: u64, down: u64) -> Bytes {
        Bytes { up: Some(up), down: Some(down), ..Bytes::default() }
    }
}

const UP_BESIDES: u64 = 16_000;
const DOWN_BESIDES: u64 = 64_000;
/// How often an input is sent.
const COPIES: u64 = 16;
/// What says whose row it is, at most.
const NAME_BYTES: u64 = 12;

/// What the inputs of one player need at most, in bytes per second.
fn of_inputs<I: Input>(rules: &Rules) -> u64 {
    let bits: u64 = word_bits(I::columns().iter()).iter().map(|bits| u64::from(*bits)).sum();
    (bits / 8 + 1) * COPIES * u64::from(rules.tick_rate.get())
}

/// A second that is being counted.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    began: Instant,
    before: u64,
}

impl Second {
    /// Takes in a counter, and ends the second where it is time. The bytes per second of one that was too much.
    fn count(&mut self, now: Instant, bytes: u64, most: u64) -> Option<u64> {
        let passed = now.since(self.began);
        if passed < Duration::from_secs(1) {
            return None;
        }
        // A player's number that is given again starts with a counter at 0.
        let counted = bytes.saturating_sub(self.before);
        *self = Second { began: now, before: bytes };
        let per_second = u128::from(counted) * 1_000_000 / passed.as_micros();
        u64::try_from(per_second).ok().filter(|bytes| *bytes > most)
    }
}

impl<W: World> Check<W> for Bytes {
    fn name(&self) -> &'static str {
        "bytes"
    }

    fn after_server(&mut self, seen: &ServerSeen<'_, W>) -> Result<(), String> {
        let state = seen.server.rows().iter().map(|row| 4 * row.words.len() as u64 + NAME_BYTES).sum();
        self.state = self.state.max(state);
        let inputs = seen.server.players().count() as u64 * of_inputs::<W::Input>(&seen.setting.rules);
        let states = self.state * u64::from(seen.setting.rules.tick_rate.get());
        let down = self.down.unwrap_or(DOWN_BESIDES + states + inputs);
        for player in seen.server.players() {
            let bytes = seen.server.stats(player).map_or(0, |stats| stats.bytes_sent);
            let second = self.received.of(usize::from(player.get()));
            if let Some(bytes) = second.count(seen.now, bytes, down) {
                return Err(format!("{player} is sent {bytes} bytes per second; at most {down} are allowed"));
            }
        }
        Ok(())
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let up = self.up.unwrap_or_else(|| UP_BESIDES + of_inputs::<W::Input>(&seen.setting.rules));
        match self.sent.of(seen.machine).count(seen.now, seen.stats.network.bytes_sent, up) {
            Some(bytes) => Err(format!("the client sends {bytes} bytes per second; at most {up} are allowed")),
            None => Ok(()),
        }
    }
}
