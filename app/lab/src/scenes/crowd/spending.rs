//! What the bytes are spent on that a player is sent, counted in the datagrams themselves.

use crate::clock::FRAMES_PER_SECOND;
use foretell::Rules;
use foretell::session::Traffic;
use foretell_crowd::Walk;
use std::collections::VecDeque;

/// Over how many frames is measured.
const WINDOW: usize = 30;

/// For what they are sent, in the order of the counts: the fields of the crowd's one component, what stands before each of its
/// rows, the person's own entity, and the rest.
const PURPOSES: [&str; 6] = ["position", "rotation", "velocity", "which one", "your own", "the rest"];

/// What counts up, in bits.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    all: u64,
    by_purpose: [u64; PURPOSES.len()],
}

/// Counters of that time.
pub struct Spending {
    traffic: Traffic<Walk>,
    /// Oldest first.
    counted: VecDeque<Counted>,
}

impl Spending {
    pub fn new(rules: &Rules) -> Spending {
        Spending { traffic: Traffic::new(rules), counted: VecDeque::from([Counted::default()]) }
    }

    /// The server sends this.
    pub fn note(&mut self, datagram: &[u8]) {
        self.traffic.note(datagram).expect("the server's datagrams are well-formed");
    }

    /// A frame is over.
    pub fn end_frame(&mut self) {
        let [shown] = self.traffic.shown() else { unreachable!("the crowd has one component") };
        let [position, rotation, velocity] = shown.fields[..] else { unreachable!("which has three fields") };
        let own = self.traffic.exact()[0].bits();
        let by_purpose = [position, rotation, velocity, shown.headers, own, self.traffic.rest()];
        self.counted.push_back(Counted { all: self.traffic.bits(), by_purpose });
        if self.counted.len() > WINDOW + 1 {
            self.counted.pop_front();
        }
    }

    /// All that is sent.
    pub fn bytes_per_s(&self) -> f64 {
        self.per_second(|counted| counted.all)
    }

    /// The same for each purpose.
    pub fn by_purpose(&self) -> impl Iterator<Item = (&'static str, f64)> {
        PURPOSES
            .into_iter()
            .enumerate()
            .map(|(nth, purpose)| (purpose, self.per_second(|counted| counted.by_purpose[nth])))
    }

    #[expect(clippy::cast_precision_loss, reason = "counters of half a second")]
    fn per_second(&self, of: impl Fn(&Counted) -> u64) -> f64 {
        let (Some(then), Some(now)) = (self.counted.front(), self.counted.back()) else { return 0.0 };
        let frames = (self.counted.len() - 1).max(1);
        (of(now) - of(then)) as f64 / 8.0 * f64::from(FRAMES_PER_SECOND) / frames as f64
    }
}
