//! How old what clients have of the entities of others is.

use crate::timed::TimedCrowd;
use foretell::{Client, PlayerId, RowKey, Server, Tick};
use foretell_crowd::{Body, TICK_HZ};
use std::collections::BTreeMap;

/// So many that are nearest to a player's own entity are looked at by themselves.
const NEAREST: usize = 20;

/// An entity as it is in truth.
#[derive(Clone, Copy)]
struct Truth {
    owner: PlayerId,
    body: Body,
    /// The state in which it changed last.
    changed: Tick,
}

/// An entity of another as a client has it.
#[derive(Clone, Copy)]
struct Seen {
    /// From the client's own entity, squared.
    distance: f32,
    /// In ticks.
    age: u32,
}

/// The ages of all entities of others over ticks and clients.
#[derive(Default)]
pub struct Ages {
    /// How many were so many ticks old.
    by_ticks: Vec<u64>,
    /// The oldest of those that were nearest, in ticks; `None` where nothing was looked at.
    nearest_max: Option<u32>,
    /// The newest state.
    truth: BTreeMap<RowKey, Truth>,
    seen: Vec<Seen>,
}

impl Ages {
    /// The server has made another state. How many entities have changed in it.
    pub fn note(&mut self, server: &Server<TimedCrowd>) -> usize {
        let mut count = 0;
        for row in server.rows().iter() {
            let body: Body = server.rows().state(row.entity).expect("all entities are bodies");
            let truth = Truth { owner: row.owner, body, changed: server.tick() };
            let before = self.truth.entry(row.key()).or_insert(truth);
            if before.body != body {
                *before = truth;
                count += 1;
            }
        }
        count
    }

    /// Looks at what a client has, after the state was [noted](Ages::note). What has not changed since the state in which it
    /// was told is not old at all; what was never told is as old as the session. `false` where the client has nothing of its
    /// own yet: then there is nothing to look at.
    pub fn look(&mut self, client: &Client<TimedCrowd>, now: Tick) -> bool {
        let Ages { by_ticks, nearest_max, truth, seen, .. } = self;
        let own = truth.values().find(|one| Some(one.owner) == client.player());
        let Some(Truth { owner: player, body: from, .. }) = own.copied() else { return false };
        seen.clear();
        for (key, one) in truth.iter().filter(|(_, one)| one.owner != player) {
            let age = match client.told_in(*key) {
                Some(told) if told >= one.changed => 0,
                told => now.since(told.unwrap_or(Tick::ZERO)),
            };
            let distance = one.body.position.iter().zip(from.position).map(|(a, b)| (a - b) * (a - b)).sum();
            let place = age as usize;
            by_ticks.resize(by_ticks.len().max(place + 1), 0);
            by_ticks[place] += 1;
            seen.push(Seen { distance, age });
        }
        if seen.len() > NEAREST {
            seen.select_nth_unstable_by(NEAREST, |a, b| a.distance.total_cmp(&b.distance));
        }
        let nearest = seen.iter().take(NEAREST).map(|seen| seen.age).max();
        *nearest_max = (*nearest_max).max(nearest);
        true
    }

    /// The age that this share of all does not exceed, in ms; 1 for the oldest. `None` where nothing was looked at.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let all: u64 = self.by_ticks.iter().sum();
        let wanted = share * all as f64;
        let mut within = 0;
        let found = self.by_ticks.iter().position(|count| {
            within += count;
            within > 0 && within as f64 >= wanted
        });
        found.map(millis)
    }

    /// The oldest of those that were among the nearest twenty, in ms. `None` where nothing was looked at.
    pub fn nearest_max_ms(&self) -> Option<f64> {
        self.nearest_max.map(|ticks| millis(ticks as usize))
    }
}

fn millis(ticks: usize) -> f64 {
    ticks as f64 * 1_000.0 / f64::from(TICK_HZ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_the_least_age_that_so_many_do_not_exceed() {
        let ages = Ages { by_ticks: vec![0, 0, 0, 50, 49, 0, 1], ..Ages::default() };
        let ticks = |share| ages.quantile_ms(share).expect("some") * 60.0 / 1_000.0;
        let expected = [(0.0, 3.0), (0.5, 3.0), (0.51, 4.0), (0.99, 4.0), (0.995, 6.0), (1.0, 6.0)];
        for (share, ticks_expected) in expected {
            assert!((ticks(share) - ticks_expected).abs() < 1e-9, "{share}: {}", ticks(share));
        }
        assert_eq!(Ages::default().quantile_ms(0.5), None);
    }
}
