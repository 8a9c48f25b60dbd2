//! How long ago what one client shows of others may be, by what the server has measured of its link.
//!
//! An input's age of view is its client's lead over the newest state that it had then, and how far behind that it showed others: an
//! interval between states, and as much as their lateness varies. The lead is measured with each datagram: the tick of its newest
//! input less the state that it acknowledges. Who acknowledges late looks slower than they are; what that gains
//! [`ServerConfig::rewind_max`](crate::ServerConfig::rewind_max) bounds.

use crate::session::Ways;
use crate::session::windowed_extreme::WindowedExtreme;
use crate::time::{Instant, Tick, TickRate, TickTime};
use crate::world::{PlayerId, RewindBound, RewindMoment};
use core::time::Duration;

/// The least lead and the fastest round trip count for so long,
const OF_LATE: Duration = Duration::from_secs(2);
/// and how much the lead varies for so long: a client that has seen late states once shows others later for as long.
const VARIED: Duration = Duration::from_secs(30);
/// Beyond the interval and what varies a client may show others so much later, in ticks: the quarter and the rounded lateness by which
/// it does, where it stands between ticks, and one in its favour.
const SPARE_TICKS: f64 = 2.5;
/// A client that slept is no slower than that: its datagrams count as so many ticks apart at most.
const APART_TICKS_MAX: f64 = 16.0;
/// A mean follows by so much of what is new in it.
const MEAN_OF: f64 = 1.0 / 16.0;

/// What a datagram of inputs says of its client's view.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewSample {
    /// Its number.
    pub sequence: u16,
    /// The tick of its newest input, and where that says that others were shown.
    pub newest: Tick,
    pub presented: Option<TickTime>,
    /// The newest state that the client had.
    pub state: Tick,
    /// Where the server's clock stood when it came.
    pub at: TickTime,
    pub now: Instant,
}

/// How far back a step may look.
#[derive(Clone, Copy, Debug)]
pub(super) struct RewindLimits {
    pub tick: Tick,
    /// How many ticks one state is sent after the other.
    pub sent: u32,
    /// How many ticks back at most, whoever it is.
    pub cap_ticks: u32,
    /// From when on anything is remembered; `None` where nothing is.
    pub oldest: Option<TickTime>,
}

/// By which moment somebody is judged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Judged {
    pub rewind: RewindMoment,
    /// Whether the client can't have shown what it claims.
    pub is_impossible: bool,
}

/// Of one client. Lives as long as somebody has the place under one ticket.
#[derive(Clone, Debug)]
pub(super) struct ViewAge {
    least_lead: WindowedExtreme<TickTime>,
    round_trip: WindowedExtreme<TickTime>,
    /// The least and the greatest lead for longer.
    least: WindowedExtreme<TickTime>,
    most: WindowedExtreme<TickTime>,
    /// How long inputs wait for their tick, and how far behind the newest state others are shown; means, in ticks.
    wait_ticks: Option<f64>,
    playout_ticks: Option<f64>,
    /// The number of the newest datagram, and the tick of its newest input.
    last: Option<(u16, Tick)>,
    /// By how many ticks datagrams are apart where they are sent; a mean.
    apart_ticks: Option<f64>,
}

impl ViewAge {
    pub fn new() -> ViewAge {
        ViewAge {
            least_lead: WindowedExtreme::new(OF_LATE, TickTime::min),
            round_trip: WindowedExtreme::new(OF_LATE, TickTime::min),
            least: WindowedExtreme::new(VARIED, TickTime::min),
            most: WindowedExtreme::new(VARIED, TickTime::max),
            wait_ticks: None,
            playout_ticks: None,
            last: None,
            apart_ticks: None,
        }
    }

    /// A datagram has come that is newer than those before.
    pub fn note(&mut self, sample: ViewSample) {
        let ViewSample { sequence, newest, presented, state, at, now } = sample;
        if let Some((before, of)) = self.last.replace((sequence, newest)) {
            // Those between them were lost, or come late.
            let count = f64::from(sequence.wrapping_sub(before).max(1));
            follow(&mut self.apart_ticks, (f64::from(newest.since(of)) / count).min(APART_TICKS_MAX));
        }
        let (newest, state) = (TickTime::start_of(newest), TickTime::start_of(state));
        let lead = newest - state;
        self.least_lead.note(lead, now);
        self.least.note(lead, now);
        self.most.note(lead, now);
        // A state is there, and sent, when the tick before it begins.
        self.round_trip.note((at - state + TickTime::ticks(1.0)).max(TickTime::default()), now);
        follow(&mut self.wait_ticks, (newest - at).as_ticks().max(0.0));
        if let Some(presented) = presented {
            follow(&mut self.playout_ticks, (state - presented).as_ticks().max(0.0));
        }
    }

    /// How long before the tick of an input what its client showed then may be at most; `None` before anything was measured. States
    /// are `sent` ticks apart.
    pub fn most(&self, sent: u32) -> Option<TickTime> {
        let varies = self.most.get()? - self.least.get()?;
        Some(self.least_lead.get()? + varies + TickTime::ticks(f64::from(sent) + SPARE_TICKS))
    }

    /// By which moment a player is judged in a step whose input says that others were shown at `claimed`.
    pub fn judge(&self, player: PlayerId, claimed: Option<TickTime>, terms: &RewindLimits) -> Judged {
        let now = TickTime::start_of(terms.tick);
        let back = |ticks: TickTime| (now - ticks).max(TickTime::default());
        let Some(claim) = claimed.filter(|claim| *claim <= now) else {
            let rewind = RewindMoment { player, claimed, used: now, bound: RewindBound::Present };
            return Judged { rewind, is_impossible: claimed.is_some() };
        };
        let measured = self.most(terms.sent).map(back);
        let bounds = [
            (RewindBound::Measured, measured.unwrap_or_default()),
            (RewindBound::Cap, back(TickTime::start_of(Tick::new(terms.cap_ticks)))),
            (RewindBound::History, terms.oldest.unwrap_or(now)),
        ];
        let mut rewind = RewindMoment { player, claimed, used: claim, bound: RewindBound::Claim };
        for (bound, oldest) in bounds {
            if rewind.used < oldest.min(now) {
                (rewind.used, rewind.bound) = (oldest.min(now), bound);
            }
        }
        Judged { rewind, is_impossible: measured.is_some_and(|measured| claim < measured) }
    }

    /// What the way to the client and back is made of.
    pub fn ways(&self, rate: TickRate) -> Ways {
        let duration = |ticks: f64| Duration::from_secs_f64(ticks.max(0.0) * rate.seconds());
        Ways {
            frame: duration(self.apart_ticks.unwrap_or(0.0)),
            round_trip: duration(self.round_trip.get().unwrap_or_default().as_ticks()),
            wait: duration(self.wait_ticks.unwrap_or(0.0)),
            playout: duration(self.playout_ticks.unwrap_or(0.0)),
        }
    }
}

/// Moves a mean towards a value.
fn follow(mean: &mut Option<f64>, value: f64) {
    let before = mean.unwrap_or(value);
    *mean = Some(before + MEAN_OF * (value - before));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A client whose newest state is so many ticks before its inputs when they are made, and which shows others two ticks later.
    fn note(age: &mut ViewAge, tick: u32, lead: u32) {
        let (newest, state) = (Tick::new(tick), Tick::new(tick - lead));
        let presented = Some(TickTime::start_of(state) - TickTime::ticks(2.0));
        let (at, now) =
            (TickTime::start_of(newest) - TickTime::ticks(0.5), Instant::from_micros(u64::from(tick) * 10_000));
        age.note(ViewSample { sequence: 0, newest, presented, state, at, now });
    }

    #[test]
    fn how_far_apart_datagrams_are_sent_is_measured_whatever_is_lost_of_them() {
        let mut age = ViewAge::new();
        assert_eq!(age.ways(TickRate::hz(100)).frame, Duration::ZERO);
        let (at, now) = (TickTime::start_of(Tick::new(500)), Instant::ZERO);
        // Three ticks in each, and of three datagrams one comes; numbers wrap.
        let mut sequence = 65_000_u16;
        for nth in 0..134 {
            let (newest, state) = (Tick::new(1000 + 9 * nth), Tick::new(900));
            age.note(ViewSample { sequence, newest, presented: None, state, at, now });
            sequence = sequence.wrapping_add(3);
        }
        assert_eq!(age.ways(TickRate::hz(100)).frame, Duration::from_millis(30));
        let newest = Tick::new(100_000);
        age.note(ViewSample { sequence, newest, presented: None, state: newest, at, now });
        assert!(age.ways(TickRate::hz(100)).frame < Duration::from_millis(40), "it has slept once");
    }

    #[test]
    fn a_view_is_at_most_as_old_as_the_lead_and_what_it_varies_by_and_an_interval_ask_for() {
        let mut age = ViewAge::new();
        assert_eq!(age.most(1), None);
        (100..200).for_each(|tick| note(&mut age, tick, 6));
        assert_eq!(age.most(1), Some(TickTime::ticks(6.0 + 1.0 + 2.5)));
        assert_eq!(age.most(3), Some(TickTime::ticks(6.0 + 3.0 + 2.5)));
        let ways = age.ways(TickRate::hz(100));
        let ms = [ways.round_trip, ways.wait, ways.playout].map(|of| of.as_millis());
        assert_eq!(ms, [65, 5, 20]);
        // A state that comes late makes the next ones shown later, for long.
        note(&mut age, 200, 9);
        assert_eq!(age.most(1), Some(TickTime::ticks(9.0 + 1.0 + 2.5)));
        (201..1200).for_each(|tick| note(&mut age, tick, 6));
        assert_eq!(age.most(1), Some(TickTime::ticks(9.0 + 1.0 + 2.5)));
        (1200..8000).for_each(|tick| note(&mut age, tick, 4));
        assert_eq!(age.most(1), Some(TickTime::ticks(4.0 + 1.0 + 2.5)), "another way, and nothing has varied since");
    }

    proptest! {
        #[test]
        fn no_claim_gains_anything_beyond_what_can_be_shown_on_the_link_and_the_cap(
            lead in 0_u32..40, sent in 1_u32..6, cap_ticks in 0_u32..32, oldest in 0_u32..600,
            claimed in proptest::option::of(-100_000_000_i64..700_000_000), is_measured: bool,
        ) {
            let mut age = ViewAge::new();
            (400..500).filter(|_| is_measured).for_each(|tick| note(&mut age, tick, lead));
            let (tick, now) = (Tick::new(500), TickTime::ticks(500.0));
            let terms = RewindLimits { tick, sent, cap_ticks, oldest: Some(TickTime::start_of(Tick::new(oldest))) };
            let claimed = claimed.map(TickTime::from_millionths);
            let Judged { rewind, is_impossible } = age.judge(PlayerId::new(1), claimed, &terms);
            let back = (now - rewind.used).as_ticks();
            prop_assert!((0.0..=f64::from(cap_ticks)).contains(&back));
            let most = age.most(sent);
            prop_assert!(most.is_none_or(|most| back <= most.as_ticks() + 1e-9));
            prop_assert!(rewind.used >= TickTime::start_of(Tick::new(oldest.min(500))));
            match claimed {
                Some(claim) if claim <= now => {
                    let can_be = most.is_none_or(|most| now - claim <= most);
                    prop_assert_eq!(is_impossible, !can_be);
                    prop_assert!(rewind.used >= claim);
                    prop_assert_eq!(rewind.used == claim, rewind.bound == RewindBound::Claim);
                }
                claim => {
                    prop_assert_eq!(is_impossible, claim.is_some());
                    prop_assert_eq!((rewind.used, rewind.bound), (now, RewindBound::Present));
                }
            }
        }
    }
}
