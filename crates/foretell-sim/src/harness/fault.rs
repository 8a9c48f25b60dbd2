//! Faults as data: what goes wrong when, for how long and with whom; as values, and as text for a link or a test.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// One thing that goes wrong.
///
/// Its text is `at[-length]:who:what`, times in milliseconds: `3000-500:p0:loss:down:100`. Its own times are whole
/// milliseconds for that reason: what a failure prints is what was run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Fault {
    /// When it begins, in ms since the session's start.
    pub at_ms: u32,
    /// How long it lasts, in ms; `None` for what lasts to the end, or happens once.
    pub length_ms: Option<u32>,
    /// Whose machine or link.
    pub who: Who,
    /// What happens.
    pub what: What,
}

/// Whose machine or link a fault is in. In text: `s`, or `p` and the number.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Who {
    /// The server's machine. It has no link of its own.
    Server,
    /// The machine and link of the player of this number, from 0.
    Player(u8),
}

/// Which direction of a player's link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Way {
    /// To the server.
    Up,
    /// From the server.
    Down,
    /// Both.
    Both,
}

/// What goes wrong. Without faults a link is perfect and without delay, and a machine runs at 60 Hz (the server at its
/// tick rate) with a true clock. Of faults of one kind that overlap, the one that stands last in the schedule counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum What {
    /// The one-way delay is so long, 0 to 10,000 ms.
    Latency {
        /// Which direction.
        way: Way,
        /// The delay.
        ms: u32,
    },
    /// Each datagram is delayed by up to so much more, 0 to 10,000 ms.
    Jitter {
        /// Which direction.
        way: Way,
        /// The most.
        ms: u32,
    },
    /// Each datagram is lost with this probability, 0 to 100; 100 is total loss.
    Loss {
        /// Which direction.
        way: Way,
        /// The probability.
        percent: u32,
    },
    /// Datagrams are lost in bursts.
    Bursts {
        /// Which direction.
        way: Way,
        /// The share that is lost, 0 to 50.
        percent: u32,
        /// The mean length of a burst, 1 to 100 datagrams.
        mean: u32,
    },
    /// Each datagram comes twice with this probability, 0 to 100.
    Duplicates {
        /// Which direction.
        way: Way,
        /// The probability.
        percent: u32,
    },
    /// Each datagram is held back for 70 ms with this probability, 0 to 100.
    Reordering {
        /// Which direction.
        way: Way,
        /// The probability.
        percent: u32,
    },
    /// The machine runs its loop so often per second, 5 to 240.
    FrameRate {
        /// How often.
        fps: u32,
    },
    /// The machine reads its socket once per frame: [`HostOptions::reads_per_frame`](super::HostOptions).
    Batched,
    /// The machine stands still: a tab asleep, a server that stalls. Without a length it does nothing.
    Stall,
    /// The machine's clock gains so many parts per million, at most 50,000 either way.
    Drift {
        /// How many.
        ppm: i32,
    },
    /// The machine's clock steps once by so much, at most 60,000 ms either way.
    Step {
        /// How far.
        ms: i32,
    },
    /// The player leaves.
    Leave {
        /// Whether they say good-bye.
        politely: bool,
    },
    /// The player comes: late, when it is their first fault of coming and going; else once more.
    Join,
    /// An event of the game's own on the server, outside of a step: the scenario's [`event`](super::Scenario::event).
    Event {
        /// Which: the seed of what is random in it.
        number: u32,
    },
}

impl Fault {
    /// When it ends, in ms; `None` for what lasts to the end. What happens once ends when it begins.
    pub fn end_ms(&self) -> Option<u32> {
        if self.what.happens_once() { Some(self.at_ms) } else { Some(self.at_ms.saturating_add(self.length_ms?)) }
    }

    /// Whether it lasts at this moment, in ms: from its beginning up to, but without, its end.
    pub fn lasts_at(&self, ms: u32) -> bool {
        self.at_ms <= ms && self.end_ms().is_none_or(|end| ms < end)
    }
}

impl What {
    /// Whether it has no length.
    pub fn happens_once(self) -> bool {
        matches!(self, What::Step { .. } | What::Leave { .. } | What::Join | What::Event { .. })
    }

    /// Whether a session can be steady while it lasts. If so only its beginning and its end disturb.
    pub(super) fn is_steady(self) -> bool {
        match self {
            What::Latency { .. } | What::Batched | What::Drift { .. } | What::Duplicates { .. } => true,
            What::FrameRate { fps } => fps >= 30,
            _ => false,
        }
    }

    /// Whether a fault of this kind may stand for this one of machines.
    fn fits(self, who: Who) -> bool {
        let of_machines = matches!(
            self,
            What::FrameRate { .. } | What::Batched | What::Stall | What::Drift { .. } | What::Step { .. }
        );
        let of_server = matches!(self, What::Event { .. });
        of_machines || (who == Who::Server) == of_server
    }

    fn is_in_range(self) -> bool {
        match self {
            What::Latency { ms, .. } | What::Jitter { ms, .. } => ms <= 10_000,
            What::Loss { percent, .. } | What::Duplicates { percent, .. } | What::Reordering { percent, .. } => {
                percent <= 100
            }
            What::Bursts { percent, mean, .. } => percent <= 50 && (1..=100).contains(&mean),
            What::FrameRate { fps } => (5..=240).contains(&fps),
            What::Drift { ppm } => ppm.unsigned_abs() <= 50_000,
            What::Step { ms } => ms.unsigned_abs() <= 60_000,
            What::Batched | What::Stall | What::Leave { .. } | What::Join | What::Event { .. } => true,
        }
    }
}

/// What goes wrong in a session, in the order in which faults of one kind override each other. In text the faults stand
/// one after the other, with commas between them; no character of it needs an escape in a link.
#[derive(Clone, PartialEq, Eq, Debug, Default, Hash)]
pub struct Schedule(pub Vec<Fault>);

/// A text that is no fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MalformedFault(String);

impl fmt::Display for MalformedFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no fault; one is at[-length]:who:what, such as 3000-500:p0:loss:down:100", self.0)
    }
}

impl core::error::Error for MalformedFault {}

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Who::Server => write!(f, "s"),
            Who::Player(player) => write!(f, "p{player}"),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Way::Up => "up",
            Way::Down => "down",
            Way::Both => "both",
        })
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Latency { way, ms } => write!(f, "latency:{way}:{ms}"),
            What::Jitter { way, ms } => write!(f, "jitter:{way}:{ms}"),
            What::Loss { way, percent } => write!(f, "loss:{way}:{percent}"),
            What::Bursts { way, percent, mean } => write!(f, "bursts:{way}:{percent}:{mean}"),
            What::Duplicates { way, percent } => write!(f, "duplicates:{way}:{percent}"),
            What::Reordering { way, percent } => write!(f, "reordering:{way}:{percent}"),
            What::FrameRate { fps } => write!(f, "fps:{fps}"),
            What::Batched => write!(f, "batched"),
            What::Stall => write!(f, "stall"),
            What::Drift { ppm } => write!(f, "drift:{ppm}"),
            What::Step { ms } => write!(f, "step:{ms}"),
            What::Leave { politely } => write!(f, "leave:{}", if *politely { "politely" } else { "silently" }),
            What::Join => write!(f, "join"),
            What::Event { number } => write!(f, "event:{number}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.at_ms)?;
        if let Some(length) = self.length_ms {
            write!(f, "-{length}")?;
        }
        write!(f, ":{}:{}", self.who, self.what)
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            write!(f, "{}{fault}", if index > 0 { "," } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Fault {
    type Err = MalformedFault;

    fn from_str(text: &str) -> Result<Fault, MalformedFault> {
        read(text).ok_or_else(|| MalformedFault(text.to_owned()))
    }
}

impl FromStr for Schedule {
    type Err = MalformedFault;

    fn from_str(text: &str) -> Result<Schedule, MalformedFault> {
        let faults = text.split(',').map(str::trim).filter(|fault| !fault.is_empty());
        faults.map(str::parse).collect::<Result<_, _>>().map(Schedule)
    }
}

/// A fault from its text; `None` where a part is missing, unknown, out of range or one too many.
fn read(text: &str) -> Option<Fault> {
    let mut parts = text.split(':');
    let when = parts.next()?;
    let (at, length) = when.split_once('-').map_or((when, None), |(at, length)| (at, Some(length)));
    let who = match parts.next()? {
        "s" => Who::Server,
        player => Who::Player(player.strip_prefix('p')?.parse().ok()?),
    };
    let what = read_what(&mut parts)?;
    let length_ms = length.map(|length| length.parse().ok()).map_or(Some(None), |length| length.map(Some))?;
    let fault = Fault { at_ms: at.parse().ok()?, length_ms, who, what };
    let fits = what.fits(who) && what.is_in_range() && (length.is_none() || !what.happens_once());
    (fits && parts.next().is_none()).then_some(fault)
}

fn read_what<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<What> {
    Some(match parts.next()? {
        "latency" => What::Latency { way: read_way(parts)?, ms: read_number(parts)? },
        "jitter" => What::Jitter { way: read_way(parts)?, ms: read_number(parts)? },
        "loss" => What::Loss { way: read_way(parts)?, percent: read_number(parts)? },
        "bursts" => What::Bursts { way: read_way(parts)?, percent: read_number(parts)?, mean: read_number(parts)? },
        "duplicates" => What::Duplicates { way: read_way(parts)?, percent: read_number(parts)? },
        "reordering" => What::Reordering { way: read_way(parts)?, percent: read_number(parts)? },
        "fps" => What::FrameRate { fps: read_number(parts)? },
        "batched" => What::Batched,
        "stall" => What::Stall,
        "drift" => What::Drift { ppm: read_number(parts)? },
        "step" => What::Step { ms: read_number(parts)? },
        "leave" => match parts.next()? {
            "politely" => What::Leave { politely: true },
            "silently" => What::Leave { politely: false },
            _ => return None,
        },
        "join" => What::Join,
        "event" => What::Event { number: read_number(parts)? },
        _ => return None,
    })
}

fn read_way<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<Way> {
    match parts.next()? {
        "up" => Some(Way::Up),
        "down" => Some(Way::Down),
        "both" => Some(Way::Both),
        _ => None,
    }
}

fn read_number<'a, T: FromStr>(parts: &mut impl Iterator<Item = &'a str>) -> Option<T> {
    parts.next()?.parse().ok()
}
