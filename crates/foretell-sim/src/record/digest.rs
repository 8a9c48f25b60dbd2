//! What a recording and its replay are compared by: state and counters, in one number.

use foretell::session::client::{Client, ClientStats, Outcomes, PredictionStats};
use foretell::session::server::{PeerStats, Server};
use foretell::world::{Rows, World};

/// FNV-1a over numbers.
struct Digest(u64);

impl Digest {
    fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    fn mix(&mut self, numbers: &[u64]) {
        for byte in numbers.iter().flat_map(|number| number.to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The predicted rows of the present, what has come of the authority's samples, and what was sent.
pub(super) fn client_digest<W: World>(client: &Client<W>) -> u64 {
    let mut digest = Digest::new();
    let rows = client.predicted(client.tick()).map_or(0, Rows::digest);
    digest.mix(&[rows, u64::from(client.tick().get())]);
    let ClientStats { network, clock, inputs, prediction, .. } = client.stats();
    let Outcomes { received, agreed, corrected, superseded, resync, asked, waiting } = prediction.outcomes;
    digest.mix(&[received, agreed, corrected, superseded, resync, asked, waiting]);
    let PredictionStats { corrections, teleports, rollbacks, resimulated, resyncs, .. } = prediction;
    digest.mix(&[corrections, teleports, rollbacks, resimulated, resyncs]);
    digest.mix(&[network.datagrams_received, network.bytes_received, network.refused, inputs.substituted]);
    digest.mix(&[network.datagrams_sent, inputs.sent, network.bytes_sent, clock.speed.to_bits()]);
    digest.0
}

/// The published rows, the players, and what came of their inputs.
pub(super) fn server_digest<W: World>(server: &Server<W>) -> u64 {
    let mut digest = Digest::new();
    digest.mix(&[server.rows().digest(), u64::from(server.tick().get()), server.totals().malformed]);
    for player in server.players() {
        let Some(stats) = server.stats(player) else { continue };
        let PeerStats { datagrams_received, inputs, offences, snapshots_sent, bytes_sent } = *stats;
        digest.mix(&[u64::from(player.get()), u64::from(server.is_lost(player)), datagrams_received, inputs.applied]);
        digest.mix(&[inputs.missed, inputs.late, offences.total(), snapshots_sent, bytes_sent]);
    }
    digest.0
}
