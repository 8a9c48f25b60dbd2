//! The card of a shot: what both ends have noted of it, and the server's receipt, in numbers and in sentences.

use super::duel::{Shot, Target};
use crate::frame::duel::{Part, ReceiptCard, ShotCard};
use core::time::Duration;
use foretell::hits::Verdict;
use foretell::session::HitReceipt;
use foretell::time::TickTime;
use foretell::{PlayerId, RewindBound, RewindMoment, Tick, TickRate};

/// How long clients remember a shot that the server has not judged yet, in ticks: longer than any input is under way.
const KEPT_TICKS: u32 = 512;

/// What is common to all cards of a frame.
#[derive(Clone, Copy, Debug)]
pub struct CardTerms {
    pub rate: TickRate,
    pub rewind_max: Duration,
    pub grace: Option<Duration>,
}

/// The shots that are on their way into cards.
#[derive(Debug, Default)]
pub struct Cards {
    /// As the shooters' clients judged them, until the server has.
    predicted: Vec<Shot>,
    receipts: Vec<HitReceipt>,
    /// How many cards there were.
    count: u32,
}

impl Cards {
    /// A client has judged these.
    pub fn predict(&mut self, shots: impl IntoIterator<Item = Shot>) {
        self.predicted.extend(shots);
    }

    /// The server has given a receipt.
    pub fn note(&mut self, receipts: &[HitReceipt]) {
        self.receipts.extend_from_slice(receipts);
    }

    /// The card of a shot that the server has judged, of the player of this index.
    pub fn card(&mut self, shot: &Shot, by: usize, terms: CardTerms) -> ShotCard {
        let is_this = |player: PlayerId, tick| (player, tick) == (shot.by, shot.tick);
        let predicted = self.predicted.iter().find(|shot| is_this(shot.by, shot.tick)).copied();
        let told = predicted.is_some_and(|shot| shot.verdict.is_some());
        let receipt = self.receipts.iter().find(|receipt| is_this(receipt.shooter(), receipt.tick)).copied();
        self.predicted.retain(|one| one.by != shot.by || one.tick.get() + KEPT_TICKS > shot.tick.get());
        self.receipts.retain(|receipt| receipt.tick > shot.tick || receipt.shooter() != shot.by);
        let [claimed_ms, used_ms] = looks_back(&shot.rewind, shot.tick, terms.rate);
        let place = |of: fn(&Target) -> [f64; 3]| shot.target.as_ref().map(of);
        let number = self.count;
        self.count += 1;
        ShotCard {
            number,
            by,
            tick: shot.tick.get(),
            from: shot.from,
            end: shot.end,
            seen: predicted.and_then(|shot| shot.target).map(|target| target.rewound),
            rewound: place(|target| target.rewound),
            now: place(|target| target.now),
            outcome: outcome(shot.verdict),
            result: result(shot, by, told, terms),
            told,
            claimed_ms,
            used_ms: used_ms.unwrap_or(0.0),
            why: why(shot.rewind.bound, terms),
            clamped: !matches!(shot.rewind.bound, RewindBound::Claim | RewindBound::Present),
            receipt: receipt.as_ref().map(|receipt| receipt_card(receipt, by)),
        }
    }
}

/// How long before a tick is what a player claims to have seen in it, and what they are judged by, in ms.
pub fn looks_back(rewind: &RewindMoment, tick: Tick, rate: TickRate) -> [Option<f64>; 2] {
    let ms = |ticks: f64| ticks * rate.seconds() * 1000.0;
    let claimed = rewind.claimed.map(|claimed| ms((TickTime::start_of(tick) - claimed).as_ticks()));
    [claimed, Some(ms(rewind.ticks_before(tick)))]
}

fn outcome(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(verdict) if verdict.share() > 0.0 => "hit",
        Some(_) => "spared",
        None => "missed",
    }
}

/// What came of a shot, in a sentence.
fn result(shot: &Shot, by: usize, told: bool, terms: CardTerms) -> String {
    let [is, has] = if by == 0 { ["the other was", "the other had"] } else { ["you were", "you had"] };
    let safe_ms = shot.target.and_then(|target| target.safe_for).map(|safe| millis(safe).round());
    match (outcome(shot.verdict), safe_ms) {
        ("hit", None) => format!("Hit: {is} in the open."),
        ("hit", Some(safe)) if safe < 1.0 => format!("Hit: {has} just gone into cover."),
        ("hit", Some(safe)) => format!("Hit, though {has} been in cover for {safe} ms."),
        ("spared", safe) => {
            let grace = millis(terms.grace.unwrap_or_default());
            format!("Taken back: {has} been in cover for {} ms, and the grace is {grace} ms.", safe.unwrap_or(0.0))
        }
        _ if told => {
            let whose = if by == 0 { "Your" } else { "The other's" };
            format!("Missed. {whose} client told a hit, and took it back.")
        }
        _ => "Missed: no receipt.".to_owned(),
    }
}

/// Why a shot was judged by its moment, in a sentence.
fn why(bound: RewindBound, terms: CardTerms) -> String {
    match bound {
        RewindBound::Claim => "as claimed".to_owned(),
        RewindBound::Present => "the present: nothing older was claimed".to_owned(),
        RewindBound::Measured => "clamped: older than this link can show".to_owned(),
        RewindBound::Cap => format!("clamped: at most {} ms", terms.rewind_max.as_millis()),
        RewindBound::History => "clamped: older than is remembered".to_owned(),
    }
}

/// What the receipt says, with the parts of its sum as [`HitReceipt::peek`] adds them up.
fn receipt_card(receipt: &HitReceipt, by: usize) -> ReceiptCard {
    let (shooter, victim) = (receipt.shooter_ways, receipt.victim_ways.unwrap_or_default());
    let part = |name, time| Part { name, ms: millis(time) };
    let [frame, up, down, shown] = match by {
        0 => ["your frame", "your way", "their way", "their playout"],
        _ => ["their frame", "their way", "your way", "your playout"],
    };
    ReceiptCard {
        error_m: receipt.error_m,
        after_cover_ms: millis(receipt.after_cover()),
        peek_ms: millis(receipt.peek()),
        parts: [
            part(frame, shooter.frame),
            part(up, shooter.round_trip / 2),
            part("waiting", shooter.wait),
            part("a tick", Duration::from_secs_f64(receipt.rate.seconds())),
            part(down, victim.round_trip / 2),
            part(shown, victim.playout),
        ],
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
