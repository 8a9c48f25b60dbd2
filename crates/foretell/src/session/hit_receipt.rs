//! The receipt of a shot: by what moment it was judged, why by that, and what the time is made of.

use crate::time::{Tick, TickRate};
use crate::world::{Delivery, Message, Owned, PlayerId, RewindMoment};
use core::time::Duration;
use serde::{Deserialize, Serialize};

/// What the way between the server and one client is made of, as the server has measured it of late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Ways {
    /// How far apart its datagrams of inputs are sent, on average: so long what is pressed may wait until it is an input and on its way. A frame where
    /// frames are longer than ticks and than [`ClientConfig::send_rate`](crate::ClientConfig::send_rate) asks for, and those otherwise, as
    /// no more of its frames is told. Zero of who sits at the server, and before two have come.
    pub frame: Duration,
    /// The fastest way there and back, with what the client waited before it answered: a frame.
    pub round_trip: Duration,
    /// How long its inputs wait for their tick.
    pub wait: Duration,
    /// How far behind the newest state that it has it shows others.
    pub playout: Duration,
}

/// A hit as the server has judged it: for who shot, for who was hit, and for whoever wants to know whether the game is fair.
///
/// The server tells it to both, each hit to who shot and to whose entity was hit, where it is among the
/// [messages](crate::Rules::messages) of the session: `Messages::new().with::<HitReceipt>()`. Where not everybody
/// [sees](crate::InterestRules) everything, who does not see the other is not told: who shot has to see what was hit, and who was hit
/// anything of who shot's. The hit itself counts, and is in [`ServerFrame::receipts`](crate::ServerFrame::receipts), also where neither sees the other.
///
/// What a screen and a mouse take besides is in none of it: nothing is told of that.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct HitReceipt {
    /// The tick of the shot's step.
    pub tick: Tick,
    /// How long a tick is.
    pub rate: TickRate,
    /// Who shot, what its client claimed to have shown, what of that was used, and why.
    pub rewind: RewindMoment,
    /// Who or what was hit.
    pub victim: Owned,
    /// How far from where it was judged the shooter may have been shown the victim, in metres: as far as the loss of either state
    /// beside that moment makes it, and half a step of the claim. Where the victim is told more rarely, as the budget is small, it may
    /// be more. Who is not judged as claimed is off by that besides.
    pub error_m: f64,
    /// Of who shot.
    pub shooter_ways: Ways,
    /// Of whose entity was hit; `None` where that is nobody's who plays.
    pub victim_ways: Option<Ways>,
}

impl Message for HitReceipt {
    const NAME: &'static str = "HitReceipt";
    const DELIVERY: Delivery = Delivery::Unordered;
    const BYTES_MAX: u32 = 256;
}

impl HitReceipt {
    /// Who shot.
    #[must_use]
    pub fn shooter(&self) -> PlayerId {
        self.rewind.player
    }

    /// How far back the victim was judged.
    #[must_use]
    pub fn rewound(&self) -> Duration {
        Duration::from_secs_f64(self.rewind.ticks_before(self.tick) * self.rate.seconds())
    }

    /// How long a tick is.
    fn tick_time(&self) -> Duration {
        Duration::from_secs_f64(self.rate.seconds())
    }

    /// How far behind the newest state the shooter showed others: what the ways and the wait for the tick leave of how far back it was
    /// judged, and of the tick in which the state was made from which that counts.
    #[must_use]
    pub fn shooter_playout(&self) -> Duration {
        (self.rewound() + self.tick_time())
            .saturating_sub(self.shooter_ways.round_trip.saturating_add(self.shooter_ways.wait))
    }

    /// How long after it was safe on its own screen the victim may have been hit, at most, until it is told: how far back it was
    /// judged, its own way and wait, and a tick. Without a client of its own it is how far back alone.
    #[must_use]
    pub fn after_cover(&self) -> Duration {
        let tick = self.tick_time();
        let ways = self.victim_ways.map(|ways| ways.round_trip.saturating_add(ways.wait).saturating_add(tick));
        self.rewound().saturating_add(ways.unwrap_or_default())
    }

    /// How much earlier the shooter saw the victim come out than the victim saw the shooter, if it was the shooter that came out, at
    /// most: its frame, its way to the server, its wait and a tick, the way to the victim, and how late the victim shows others (a peeker's
    /// advantage, in the terms that Riot has published for VALORANT).
    #[must_use]
    pub fn peek(&self) -> Duration {
        let Ways { frame, round_trip, wait, .. } = self.shooter_ways;
        let own = frame.saturating_add(round_trip / 2).saturating_add(wait).saturating_add(self.tick_time());
        let others = self.victim_ways.map(|ways| (ways.round_trip / 2).saturating_add(ways.playout));
        own.saturating_add(others.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::TickTime;
    use crate::world::{Entity, RewindBound};

    #[test]
    fn the_sums_of_a_receipt_are_of_its_ways() {
        let ways = |round_trip, wait, playout| {
            let [round_trip, wait, playout] = [round_trip, wait, playout].map(Duration::from_millis);
            Ways { frame: Duration::from_millis(17), round_trip, wait, playout }
        };
        let (player, tick) = (PlayerId::new(1), Tick::new(100));
        let used = TickTime::start_of(Tick::new(90));
        let receipt = HitReceipt {
            tick,
            rate: TickRate::hz(50),
            rewind: RewindMoment { player, claimed: Some(used), used, bound: RewindBound::Claim },
            victim: Owned { entity: Entity::new(player, tick, 0), owner: PlayerId::new(2) },
            error_m: 0.0,
            shooter_ways: ways(100, 10, 70),
            victim_ways: Some(ways(60, 5, 40)),
        };
        let sums = |of: &HitReceipt| {
            [of.rewound(), of.shooter_playout(), of.after_cover(), of.peek()].map(|sum| sum.as_millis())
        };
        // A tick of 20 ms. Ten of them back; 200 + 20 less 110; 200 and 65 and 20; 17 and 50 and 10 and 20, and 30 and 40.
        assert_eq!(sums(&receipt), [200, 110, 285, 167]);
        assert_eq!(sums(&HitReceipt { victim_ways: None, ..receipt }), [200, 110, 200, 97]);
        // A server may say anything.
        let most =
            Ways { frame: Duration::MAX, round_trip: Duration::MAX, wait: Duration::MAX, playout: Duration::MAX };
        let hostile = HitReceipt { shooter_ways: most, victim_ways: Some(most), ..receipt };
        assert_eq!([hostile.after_cover(), hostile.peek()], [Duration::MAX; 2]);
        assert_eq!(hostile.shooter_playout(), Duration::ZERO);
    }
}
