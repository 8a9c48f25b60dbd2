//! Who takes part when a world is looked at by itself.

use foretell::session::{Departure, Rules};
use foretell::time::Tick;
use foretell::world::{PlayerId, Reason};

/// How many players take part; they join one after the other, a second apart.
const PLAYERS: u16 = 2;
/// How many seconds after the first has joined the last of them leaves, and comes back a second later; and so on.
const LEAVES_EVERY_S: u32 = 3;
/// A client's world is looked at for so many ticks, and so many after the last player has joined.
const CLIENT_TICKS: u32 = 96;
const CLIENT_AFTER: u32 = 16;

/// Everybody who takes part at any time, ascending.
pub(super) fn players() -> impl Iterator<Item = PlayerId> {
    (1..=PLAYERS).map(PlayerId::new)
}

/// In which tick a client's world is looked at from, and how many ticks that takes.
pub(super) fn of_client(rules: &Rules) -> (Tick, u32) {
    let begins = joins(PlayerId::new(PLAYERS), rate(rules)) + CLIENT_AFTER;
    (begins, begins.get() + CLIENT_TICKS)
}

/// Whether a player takes part in a tick.
pub(super) fn is_there(rules: &Rules, player: PlayerId, tick: Tick) -> bool {
    let rate = rate(rules);
    let is_away = player.get() == PLAYERS && tick.get() / rate % (LEAVES_EVERY_S + 1) == LEAVES_EVERY_S;
    tick >= joins(player, rate) && !is_away
}

/// Whether a player comes or goes in a tick.
pub(super) fn changes(rules: &Rules, player: PlayerId, tick: Tick) -> bool {
    let before = tick.back(1).is_some_and(|before| is_there(rules, player, before));
    is_there(rules, player, tick) != before
}

/// How it has come that somebody leaves in a tick: in another way each time.
pub(super) fn departure(rules: &Rules, tick: Tick) -> Departure {
    let times = tick.get() / (rate(rules) * (LEAVES_EVERY_S + 1));
    let ways = [Departure::GoodBye(Reason::EMPTY), Departure::Lost, Departure::Removed(Reason::from("idle"))];
    ways[times as usize % ways.len()]
}

/// When a player joins for the first time.
fn joins(player: PlayerId, rate: u32) -> Tick {
    Tick::new(u32::from(player.get() - 1) * rate)
}

fn rate(rules: &Rules) -> u32 {
    u32::from(rules.tick_rate.get())
}
