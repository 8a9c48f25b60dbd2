//! The libraries that are measured, and in which ways each of them is used.

mod foretell;
mod lightyear;
mod protocol;
mod settings;

use crate::case::Case;
use crate::peer::Peer;
use settings::Settings;

/// A library, used in one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// Foretell by default.
    Foretell,
    /// lightyear by default.
    Lightyear,
    /// lightyear, which may roll back as far as it may predict, and shows others as late as the link asks for.
    LightyearTuned,
    /// lightyear with inputs that wait, so that it predicts 7 ticks at most.
    LightyearDelay,
    /// Foretell with inputs that wait where the round trip is longer than 100 ms.
    ForetellDelay,
    /// Foretell, with states every 100 ms.
    ForetellSparse,
    /// The same with states every 100 ms, as in its examples.
    LightyearTunedSparse,
}

impl Library {
    /// In the order of columns.
    pub const ALL: [Library; 7] = [
        Library::Foretell,
        Library::Lightyear,
        Library::LightyearTuned,
        Library::ForetellDelay,
        Library::LightyearDelay,
        Library::ForetellSparse,
        Library::LightyearTunedSparse,
    ];

    /// As it is told in tables.
    pub fn name(self) -> &'static str {
        match self {
            Library::Foretell => "foretell",
            Library::Lightyear => "lightyear",
            Library::LightyearTuned => "lightyear, tuned",
            Library::LightyearDelay => "lightyear, balanced",
            Library::ForetellDelay => "foretell, above 100 ms",
            Library::ForetellSparse => "foretell, 10 Hz",
            Library::LightyearTunedSparse => "lightyear, tuned, 10 Hz",
        }
    }

    /// A session that begins over such links.
    pub fn start(self, case: Case) -> Box<dyn Peer> {
        let settings = Settings {
            case,
            is_sparse: matches!(self, Library::ForetellSparse | Library::LightyearTunedSparse),
            is_tuned: matches!(self, Library::LightyearTuned | Library::LightyearTunedSparse),
            is_delayed: matches!(self, Library::ForetellDelay | Library::LightyearDelay),
        };
        match self {
            Library::Foretell | Library::ForetellDelay | Library::ForetellSparse => {
                Box::new(foretell::Session::new(settings))
            }
            _ => Box::new(lightyear::Session::new(settings)),
        }
    }
}
