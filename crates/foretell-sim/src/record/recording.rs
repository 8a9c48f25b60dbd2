//! Reading: what a recording says of itself, and what may be wrong with it.

use super::format::{Content, Frames};
use super::start::{Made, Start};
use core::fmt;
use foretell::session::Rules;
use foretell::time::{Instant, TickRate};
use foretell::wire::{BitReader, Malformed};
use foretell::world::Input;

/// What is wrong with a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RecordingError {
    /// It does not begin as a recording does.
    NotARecording,
    /// It was written in another version of the format.
    OtherVersion(u8),
    /// It is of a client where a server is asked for, or the other way round.
    OtherEnd,
    /// It is of another game, or of another version of it: the hashes of the rules differ.
    OtherGame {
        /// What the recording says.
        recorded: u64,
        /// What the rules and the input that were given have.
        given: u64,
    },
    /// It ends in the middle of a record, as when a program ended while it was written.
    BreaksOff {
        /// Where that record begins, in bytes.
        at: usize,
    },
    /// A record can't be as it is.
    Damaged {
        /// Where it begins, in bytes.
        at: usize,
        /// What is wrong with it.
        what: Malformed,
    },
}

impl fmt::Display for RecordingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingError::NotARecording => f.write_str("this is not a flight recording"),
            RecordingError::OtherVersion(version) => {
                write!(f, "the recording has version {version} of the format, which is not known here")
            }
            RecordingError::OtherEnd => f.write_str("the recording is of the other end of a session"),
            RecordingError::OtherGame { recorded, given } => write!(
                f,
                "the recording is of another game: its rules have the hash {recorded:016x}, and not {given:016x}"
            ),
            RecordingError::BreaksOff { at } => write!(f, "the recording breaks off in the record at byte {at}"),
            RecordingError::Damaged { at, what } => {
                write!(f, "the recording is damaged in the record at byte {at}: ")?;
                match what {
                    Malformed::TooShort => f.write_str("it ends before what it announces"),
                    Malformed::TooLong => f.write_str("it goes on after its end"),
                    Malformed::OutOfRange(field) => write!(f, "its {field} can't be"),
                }
            }
        }
    }
}

impl core::error::Error for RecordingError {}

/// How a recording ends that could be read to its last record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ending {
    /// It does not say: it was cut between two records, the program was stopped or has panicked, or the endpoint lives on.
    #[default]
    Missing,
    /// The endpoint was dropped.
    Dropped,
    /// It is as long as it may be.
    Limit,
}

/// A flight recording: of one client or one server, from its construction on.
#[derive(Clone, Debug)]
pub struct Recording<'a> {
    pub(super) start: Start,
    /// The records after the first.
    pub(super) frames: Frames<'a>,
}

impl<'a> Recording<'a> {
    /// Looks at the beginning of a recording.
    ///
    /// # Errors
    /// When it is none, or can't be read.
    pub fn open(bytes: &'a [u8]) -> Result<Recording<'a>, RecordingError> {
        let mut frames = Frames::new(bytes)?;
        let frame = frames.next().unwrap_or(Err(RecordingError::BreaksOff { at: bytes.len() }))?;
        let made = Made::Server { epoch: 0, now: Instant::ZERO };
        let mut start = Start { tick_rate: 1, rules_hash: 0, made };
        if frame.content != Content::Start {
            return Err(frame.damaged(Malformed::OutOfRange("place")));
        }
        let mut reader = BitReader::new(frame.body);
        let read = start.stream(&mut reader).and_then(|()| reader.finish());
        read.map_err(|what| frame.damaged(what))?;
        Ok(Recording { start, frames })
    }

    /// Whether it is a server's; else it is a client's.
    pub fn is_of_server(&self) -> bool {
        matches!(self.start.made, Made::Server { .. })
    }

    /// The rules of the session, for a game with these components, messages and fingerprints. Of fingerprints no recording tells:
    /// where they are others than the session's, nobody joins as it is run again.
    ///
    /// # Errors
    /// [`RecordingError::OtherGame`] when the recording was made with others.
    pub fn rules<I: Input>(&self, game: Rules) -> Result<Rules, RecordingError> {
        let Start { tick_rate, rules_hash: recorded, .. } = self.start;
        let mut rules = Rules { tick_rate: TickRate::hz(tick_rate), exact: false, ..game };
        let given = rules.hash_with::<I>();
        // Which of them it was is told by the hash alone.
        rules.exact = given != recorded;
        let is_of_game = recorded == rules.hash_with::<I>() && (!rules.exact || rules.can_be_exact());
        if is_of_game { Ok(rules) } else { Err(RecordingError::OtherGame { recorded, given }) }
    }
}
