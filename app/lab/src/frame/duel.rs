//! A duel as the page gets it: the walls of each picture, and every shot with what the server's receipt says of it.

use serde::Serialize;

/// What is drawn of a duel besides the cubes.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DuelPicture {
    /// The pieces of the wall: the least x and z, and the largest, in metres.
    pub walls: Vec<[f64; 4]>,
    /// Which player looks: 0 is the person.
    pub viewer: usize,
}

/// A shot as the server has judged it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ShotCard {
    /// Counted from 0.
    pub number: u32,
    /// Who shot: 0 is the person.
    pub by: usize,
    pub tick: u32,
    /// From where to where it went, in metres.
    pub from: [f64; 3],
    pub end: [f64; 3],
    /// Where the shooter's screen had the other.
    pub seen: Option<[f64; 3]>,
    /// Where the server found the other when it looked back.
    pub rewound: Option<[f64; 3]>,
    /// Where the server had the other by then.
    pub now: Option<[f64; 3]>,
    /// `hit`, `spared` or `missed`.
    pub outcome: &'static str,
    /// The same in a sentence, with why.
    pub result: String,
    /// Whether the shooter's client told a hit at once.
    pub told: bool,
    /// How long before the shot's tick was what its client says that it showed; `None` where it said nothing.
    pub claimed_ms: Option<f64>,
    /// How long before it was what it was judged by.
    pub used_ms: f64,
    /// Why that, in a sentence.
    pub why: String,
    /// Whether it was judged by another moment than was claimed.
    pub clamped: bool,
    /// Of a hit, the server's receipt.
    pub receipt: Option<ReceiptCard>,
}

/// What a receipt says besides.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReceiptCard {
    /// How far from where it was judged the victim may have been drawn, in metres.
    pub error_m: f64,
    /// For how long it may have been safe on its own screen, at most.
    pub after_cover_ms: f64,
    /// How much earlier the shooter sees it than is seen, where it was the shooter that came out.
    pub peek_ms: f64,
    /// What that is made of, in order.
    pub parts: [Part; 6],
}

/// A part of a sum.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Part {
    pub name: &'static str,
    pub ms: f64,
}
