//! What a player costs.

use super::{Check, ClientSeen, Each, ServerSeen};
use crate::rollback::World;
use crate::time::Instant;
use core::time::Duration;

/// No player's second costs more bytes than these, without headers of IP and UDP. Seconds lie back to back.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// To the server, in bytes per second. Default 16,000.
    pub up: u64,
    /// From the server, in bytes per second. Default 64,000.
    pub down: u64,
    sent: Each<Second>,
    received: Each<Second>,
}

impl Bytes {
    /// With this budget in bytes per second, to the server and from it.
    pub fn new(up: u64, down: u64) -> Bytes {
        Bytes { up, down, sent: Each::default(), received: Each::default() }
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Bytes::new(16_000, 64_000)
    }
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
        for player in seen.server.players() {
            let bytes = seen.server.stats(player).map_or(0, |stats| stats.bytes);
            let second = self.received.of(usize::from(player.get()));
            if let Some(bytes) = second.count(seen.now, bytes, self.down) {
                return Err(format!("{player} is sent {bytes} bytes per second; at most {} are allowed", self.down));
            }
        }
        Ok(())
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        match self.sent.of(seen.machine).count(seen.now, seen.stats.bytes_sent, self.up) {
            Some(bytes) => Err(format!("the client sends {bytes} bytes per second; at most {} are allowed", self.up)),
            None => Ok(()),
        }
    }
}
