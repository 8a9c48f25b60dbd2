//! How the connection of a player fares, as figures and words.

use foretell::session::client::{ClientStats, Corrected};
use foretell::{ClientState, World};
use foretell_net::{Connected, Gateway, Hosting, Player};

/// What is told of a connection.
#[derive(Default)]
pub struct ConnectionStatus {
    before: ClientStats,
    /// The largest correction so far, in metres, as it was to be seen or hidden.
    largest_m: f64,
    /// In words.
    pub state: String,
    /// Round trip, in milliseconds.
    pub rtt_ms: f64,
    /// How much earlier than needed inputs come, in ticks; negative for late.
    pub margin_ticks: f64,
    /// Corrections since the beginning.
    pub corrections: u64,
    /// Bytes per second, up and down.
    pub bytes_per_s: [f64; 2],
    /// By which address others join, where the server is here.
    pub address: Option<String>,
    /// Bytes that the others were sent and have sent, where the server is here.
    of_others: [u64; 2],
}

impl ConnectionStatus {
    /// Corrections of one update.
    pub fn corrections(&mut self, corrections: &[Corrected]) {
        self.largest_m = corrections.iter().map(|correction| correction.shown_m).fold(self.largest_m, f64::max);
    }

    /// The figures of now, `seconds` after those before.
    pub fn take<W: World>(&mut self, player: &Player<W>, seconds: f64) {
        let stats = player.client().stats();
        #[expect(clippy::cast_precision_loss, reason = "bytes of a quarter of a second")]
        let per_s = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        self.bytes_per_s = [
            per_s(stats.network.bytes_sent, self.before.network.bytes_sent),
            per_s(stats.network.bytes_received, self.before.network.bytes_received),
        ];
        (self.rtt_ms, self.margin_ticks) = (stats.network.rtt.as_secs_f64() * 1e3, stats.inputs.margin_ticks);
        (self.corrections, self.before) = (stats.prediction.corrections, stats);
        self.state = state(player);
    }

    /// The figures of now, where the server is here: nothing lies between.
    pub fn take_here<W: World>(&mut self, hosting: &Hosting<W>, seconds: f64) {
        let traffic = hosting.gateway().map(Gateway::traffic).unwrap_or_default();
        let now = [traffic.sent_bytes, traffic.received_bytes];
        #[expect(clippy::cast_precision_loss, reason = "bytes of a quarter of a second")]
        let per_s = |nth: usize| now[nth].saturating_sub(self.of_others[nth]) as f64 / seconds;
        (self.bytes_per_s, self.of_others) = ([per_s(0), per_s(1)], now);
        let others = match hosting.host().server().players().count() {
            2 => "1 other".to_owned(),
            all => format!("{} others", all.saturating_sub(1)),
        };
        // In the terminal's own screen what was printed before is not to be seen.
        self.state = match &self.address {
            Some(address) => format!("hosting at {address}, {others}"),
            None => "playing alone".to_owned(),
        };
    }

    /// On one line.
    pub fn line(&self) -> String {
        format!(
            "{} | round trip {:.1} ms, margin {:+.2} ticks, {} corrections (largest {:.3} m), up {:.1} kB/s, down {:.1} kB/s",
            self.state,
            self.rtt_ms,
            self.margin_ticks,
            self.corrections,
            self.largest_m,
            self.bytes_per_s[0] / 1e3,
            self.bytes_per_s[1] / 1e3,
        )
    }
}

fn state<W: World>(player: &Player<W>) -> String {
    if let Some(within) = player.ends_within() {
        return format!("the server ends within {} s", within.as_secs());
    }
    if player.connected() == Connected::Rejoining {
        return "connection lost, coming back".to_owned();
    }
    let words = match player.client().state(player.clock().now()) {
        ClientState::Joining => "joining",
        ClientState::Playing => "playing",
        ClientState::Starved => "no snapshots: predicting on",
        ClientState::Behind => "catching up",
        ClientState::Resyncing => "starting again from a snapshot",
        ClientState::Lost => "lost",
        ClientState::Refused(_) => "refused",
    };
    words.to_owned()
}
