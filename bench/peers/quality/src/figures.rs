//! What a run comes to, in figures: the same for every library, from what it has drawn and from the server's past.

use crate::fit::Fit;
use crate::past::Past;
use crate::peer::{At, Shown};
use crate::run::{Drawn, Recorded};
use crate::scene::{PLAYERS, TICK_HZ, TICK_US};
use crate::spread::Spread;
use crate::stops;
use serde::{Deserialize, Serialize};

/// A simulated body is right again within this distance, in metres.
const RIGHT_M: f64 = 0.01;
/// A drawn one is where nobody sees a difference.
const UNSEEN_M: f64 = 0.05;
/// A body is right again when it stays so for this number of frames.
const STAYS_FRAMES: usize = 12;
/// What speed allows from frame to frame is the fastest that a body was within a second.
const SPEED_STATES: u32 = TICK_HZ as u32;

/// What a run comes to. Both clients are in each of them.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// How often a client has rolled back, per minute.
    pub rollbacks_per_min: f64,
    /// How many ticks it has simulated again, per minute.
    pub resimulated_per_min: f64,
    /// From a blow on the server until the own body is simulated within 1 cm of it, in ms.
    pub simulated_right_ms: Spread,
    /// The same until it is drawn within 5 cm of it.
    pub drawn_right_ms: Spread,
    /// The percentage of blows after which it was not drawn right until the next one.
    pub never_right_percent: f64,
    /// How far the own body is drawn from where the server had it in that state, in metres.
    pub own_error_m: Spread,
    /// How far it is simulated from there, at the newest state.
    pub simulated_error_m: Spread,
    /// How far it moves from one frame to the next beyond what its speed allows, in metres.
    pub own_jump_m: Spread,
    /// How far the other is drawn from where the server had it in the shown state, in metres.
    pub other_error_m: Spread,
    /// How long ago the other was in truth as it is drawn: the one delay by which it fits the server's past best, in ms.
    pub fitted_delay_ms: f64,
    /// How far it is drawn from where the server had it so long ago, in metres.
    pub fitted_error_m: Spread,
    /// How far beyond the place at which it stops it is drawn, per stop, in metres.
    pub overshoot_m: Spread,
    /// As for the own body.
    pub other_jump_m: Spread,
    /// How long ago the server was in the state in which the other is drawn, in ms.
    pub delay_ms: Spread,
    /// How much later it will be in the state in which the own body is drawn, in ms.
    pub lead_ms: Spread,
    /// How long an input waits before it counts, in ms.
    pub input_delay_ms: f64,
    /// Bytes per second from one client, without headers.
    pub up_bytes_per_s: f64,
    /// Bytes per second to one client, without headers.
    pub down_bytes_per_s: f64,
    /// An update of the server, one per tick, in microseconds of the processor.
    pub server_us: f64,
    /// A frame of a client.
    pub client_us: f64,
    /// The percentage of frames in which a client did not show both bodies.
    pub blank_percent: f64,
}

/// What a client has shown, one after the other.
struct Player<'a> {
    number: usize,
    past: &'a Past,
    frames: Vec<(u64, Shown)>,
    fit: Fit,
}

impl Figures {
    /// Of a run.
    pub fn of(recorded: &Recorded) -> Figures {
        let players: [_; PLAYERS] = core::array::from_fn(|number| Player::new(number, recorded));
        let drawn: usize = recorded.drawn.iter().map(Vec::len).sum();
        let shown: usize = players.iter().map(|player| player.frames.len()).sum();
        let seconds = recorded.measured_us as f64 / 1e6;
        let per_client = |count: u64| count as f64 / PLAYERS as f64;
        let costs = &recorded.costs;
        let all = |of: &dyn Fn(&Player<'_>) -> Vec<f64>| {
            let samples = players.iter().flat_map(of);
            Spread::of(samples.collect())
        };
        let blows = |of: fn(&Shown) -> At, off_m| all(&|player| player.right_again(recorded, of, off_m));
        let drawn_right_ms = blows(|shown| shown.own, UNSEEN_M);
        let never = 1.0 - drawn_right_ms.count as f64 / recorded.blows().count().max(1) as f64;
        let [own, other]: [fn(&Shown) -> At; 2] = [|shown| shown.own, |shown| shown.other];
        Figures {
            rollbacks_per_min: per_client(costs.counts.rollbacks) / seconds * 60.0,
            resimulated_per_min: per_client(costs.counts.resimulated) / seconds * 60.0,
            simulated_right_ms: blows(|shown| shown.simulated, RIGHT_M),
            drawn_right_ms,
            never_right_percent: never * 100.0,
            own_error_m: all(&|player| player.errors(player.number, own)),
            simulated_error_m: all(&|player| player.errors(player.number, |shown| shown.simulated)),
            own_jump_m: all(&|player| player.jumps(player.number, own)),
            other_error_m: all(&|player| player.errors(player.other(), other)),
            fitted_delay_ms: all(&|player| vec![player.fit.delay_ms]).mean,
            fitted_error_m: all(&|player| player.fit.errors.clone()),
            overshoot_m: all(&|player| player.overshoots()),
            other_jump_m: all(&|player| player.jumps(player.other(), other)),
            delay_ms: all(&|player| player.behind(other)),
            lead_ms: all(&|player| player.behind(own).iter().map(|behind| -behind).collect()),
            input_delay_ms: all(&|player| player.input_delays()).mean,
            up_bytes_per_s: per_client(costs.up) / seconds,
            down_bytes_per_s: per_client(costs.down) / seconds,
            server_us: costs.server.mean_us(),
            client_us: costs.client.mean_us(),
            blank_percent: (drawn - shown) as f64 / drawn.max(1) as f64 * 100.0,
        }
    }
}

impl Recorded {
    /// For each blow: whose, in which update of the server it was given, and when the same player gets the next one. The last ones
    /// count only where there is time enough after them.
    pub fn blows(&self) -> impl Iterator<Item = Blow> + '_ {
        let end = crate::run::QUIET_US + self.measured_us;
        let pushes = &self.script.pushes;
        pushes.iter().enumerate().filter_map(move |(nth, push)| {
            let next = pushes[nth + 1..].iter().find(|next| next.player == push.player)?;
            let given_us = push.at_us.next_multiple_of(TICK_US);
            Some(Blow { player: push.player, given_us, until_us: next.at_us.min(end) })
        })
    }
}

/// A blow.
#[derive(Clone, Copy, Debug)]
pub struct Blow {
    /// To whom.
    pub player: usize,
    /// When.
    pub given_us: u64,
    /// When the same player gets the next one.
    pub until_us: u64,
}

impl<'a> Player<'a> {
    fn new(number: usize, recorded: &'a Recorded) -> Player<'a> {
        let shown = |drawn: &Drawn| Some((drawn.at_us, drawn.shown?));
        let frames: Vec<_> = recorded.drawn[number].iter().filter_map(shown).collect();
        let others: Vec<_> = frames.iter().map(|(at_us, shown)| (*at_us, shown.other.position)).collect();
        let fit = Fit::of(&recorded.past, other(number), &others);
        Player { number, past: &recorded.past, frames, fit }
    }

    fn other(&self) -> usize {
        other(self.number)
    }

    /// Where a body is drawn, against where the server had it in that state. The last frames, ahead of the last state, are
    /// left out.
    fn errors(&self, body: usize, of: fn(&Shown) -> At) -> Vec<f64> {
        self.frames.iter().filter_map(|(_, shown)| self.past.error(body, of(shown))).collect()
    }

    fn jumps(&self, body: usize, of: fn(&Shown) -> At) -> Vec<f64> {
        let excess = |pair: &[(u64, Shown)]| {
            let [(before_us, before), (now_us, now)] = pair else { return 0.0 };
            let (before, now) = (of(before), of(now));
            let moved = (now.position[0] - before.position[0]).hypot(now.position[1] - before.position[1]);
            let seconds = (now_us - before_us) as f64 / 1e6;
            (moved - self.past.fastest(body, now.state, SPEED_STATES) * seconds).max(0.0)
        };
        self.frames.windows(2).map(excess).collect()
    }

    /// How long ago the server was in the state that is drawn, in ms; negative where it is not there yet.
    fn behind(&self, of: fn(&Shown) -> At) -> Vec<f64> {
        let behind = |(at_us, shown): &(u64, Shown)| Some(self.past.state_at(*at_us)? - of(shown).state);
        self.frames.iter().filter_map(behind).map(in_ms).collect()
    }

    fn input_delays(&self) -> Vec<f64> {
        self.frames.iter().map(|(_, shown)| in_ms(shown.input_delay_ticks)).collect()
    }

    /// By the fitted delay, not by what the client says.
    fn overshoots(&self) -> Vec<f64> {
        let delay = self.fit.delay_ms * 1_000.0 / TICK_US as f64;
        let at = |(at_us, shown): &(u64, Shown)| {
            Some(At { state: self.past.state_at(*at_us)? - delay, position: shown.other.position })
        };
        stops::overshoots(self.past, self.other(), &self.frames.iter().filter_map(at).collect::<Vec<_>>())
    }

    /// For each blow to this player, how long until the own body is as near as this to where the server had it, in ms.
    /// Those after which it is not are left out.
    fn right_again(&self, recorded: &Recorded, of: fn(&Shown) -> At, off_m: f64) -> Vec<f64> {
        let mine = recorded.blows().filter(|blow| blow.player == self.number);
        mine.filter_map(|blow| self.right_after(blow, of, off_m)).collect()
    }

    fn right_after(&self, blow: Blow, of: fn(&Shown) -> At, off_m: f64) -> Option<f64> {
        let place = |at_us: u64| self.frames.partition_point(|(frame, _)| *frame < at_us);
        let after = &self.frames[place(blow.given_us)..place(blow.until_us)];
        let is_right =
            |(_, shown): &(u64, Shown)| self.past.error(self.number, of(shown)).is_some_and(|error| error < off_m);
        let stays = after.windows(STAYS_FRAMES).find(|frames| frames.iter().all(is_right))?;
        Some((stays[0].0 - blow.given_us) as f64 / 1000.0)
    }
}

fn other(player: usize) -> usize {
    PLAYERS - 1 - player
}

fn in_ms(ticks: f64) -> f64 {
    ticks * TICK_US as f64 / 1000.0
}
