//! Receipts of hits: what a step has said, with what is known of the ways of those who took part.

use super::admission::Roster;
use super::peer::Peer;
use crate::session::{HitReceipt, Ways};
use crate::time::{Tick, TickRate};
use crate::world::{Hit, PlayerId};

/// The receipt of a hit in the step of `tick`.
pub(super) fn receipt<I>(hit: &Hit, tick: Tick, rate: TickRate, roster: &Roster<Peer<I>>) -> HitReceipt {
    let ways = |player: PlayerId| -> Option<Ways> { Some(roster.member(player)?.peer.view_age.ways(rate)) };
    let Hit { rewind, victim, error_m } = *hit;
    let shooter_ways = ways(rewind.player).unwrap_or_default();
    HitReceipt { tick, rate, rewind, victim, error_m, shooter_ways, victim_ways: ways(victim.owner) }
}
