//! The libraries that are measured, and in which ways each of them is used.

mod foretell;
mod lightyear;
mod protocol;
mod settings;

use crate::peer::Peer;
use settings::Settings;

/// A library, used in one way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// Foretell by default.
    Foretell,
    /// lightyear by default.
    Lightyear,
    /// lightyear, which may roll back as far as it may predict.
    LightyearDeep,
    /// lightyear with inputs that wait, so that it predicts 7 ticks at most.
    LightyearDelay,
    /// Foretell, with states every 100 ms.
    ForetellSparse,
    /// lightyear, which may roll back as far, with states every 100 ms as in its examples.
    LightyearSparse,
}

impl Library {
    /// In the order of columns.
    pub const ALL: [Library; 6] = [
        Library::Foretell,
        Library::Lightyear,
        Library::LightyearDeep,
        Library::LightyearDelay,
        Library::ForetellSparse,
        Library::LightyearSparse,
    ];

    /// As it is told in tables.
    pub fn name(self) -> &'static str {
        match self {
            Library::Foretell => "foretell",
            Library::Lightyear => "lightyear",
            Library::LightyearDeep => "lightyear, 100 ticks",
            Library::LightyearDelay => "lightyear, balanced",
            Library::ForetellSparse => "foretell, 10 Hz",
            Library::LightyearSparse => "lightyear, 100 ticks, 10 Hz",
        }
    }

    /// A session that begins.
    pub fn start(self) -> Box<dyn Peer> {
        let settings = Settings {
            is_sparse: matches!(self, Library::ForetellSparse | Library::LightyearSparse),
            is_deep: matches!(self, Library::LightyearDeep | Library::LightyearSparse),
            is_delayed: self == Library::LightyearDelay,
        };
        match self {
            Library::Foretell | Library::ForetellSparse => Box::new(foretell::Session::new(settings)),
            _ => Box::new(lightyear::Session::new(settings)),
        }
    }
}
