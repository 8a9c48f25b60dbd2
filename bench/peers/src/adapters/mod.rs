//! The libraries, each in a file of its own.

mod components;
mod foretell;
mod lightyear;
mod naia;
mod replicon;

use self::components::{One, Three};
use crate::case::Case;
use crate::peer::Peer;
use foretell_crowd::Body;

/// A library, and how it is used where there are several ways.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Library {
    /// Us, told to 1 mm, 0.001 of a rotation and 0.01 m/s.
    Foretell,
    /// Us, told all bits.
    ForetellExact,
    /// bevy_replicon with position, rotation and velocity in one component.
    Replicon,
    /// bevy_replicon with a component for each of them.
    RepliconThree,
    /// lightyear with all in one component.
    Lightyear,
    /// lightyear with a component for each.
    LightyearThree,
    /// naia with all in one component of three properties.
    Naia,
}

impl Library {
    /// In the order of the table.
    pub const ALL: [Library; 7] = [
        Library::Foretell,
        Library::ForetellExact,
        Library::Replicon,
        Library::RepliconThree,
        Library::Lightyear,
        Library::LightyearThree,
        Library::Naia,
    ];

    /// How it is called in the result.
    pub fn name(self) -> &'static str {
        match self {
            Library::Foretell => "foretell",
            Library::ForetellExact => "foretell, exact",
            Library::Replicon => "bevy_replicon",
            Library::RepliconThree => "bevy_replicon, 3 components",
            Library::Lightyear => "lightyear",
            Library::LightyearThree => "lightyear, 3 components",
            Library::Naia => "naia",
        }
    }

    /// Whether it plays a case in a time that one waits for: naia takes tenths of a second for a tick of 1,000 that move.
    pub fn plays(self, case: &Case) -> bool {
        self != Library::Naia || u32::from(case.changing()) * u32::from(case.clients) < 10_000
    }

    /// A server and its clients.
    pub fn start(self, case: &Case) -> Box<dyn Peer> {
        match self {
            Library::Foretell => Box::new(foretell::Session::<foretell::Rounded>::new(case)),
            Library::ForetellExact => Box::new(foretell::Session::<foretell::Exact>::new(case)),
            Library::Replicon => Box::new(replicon::Session::<One>::new(case)),
            Library::RepliconThree => Box::new(replicon::Session::<Three>::new(case)),
            Library::Lightyear => Box::new(lightyear::Session::<One>::new(case)),
            Library::LightyearThree => Box::new(lightyear::Session::<Three>::new(case)),
            Library::Naia => Box::new(naia::Session::new(case)),
        }
    }
}

/// Everybody before they have moved.
fn first_bodies(case: &Case) -> impl Iterator<Item = Body> + use<> {
    let entities = case.entities;
    (0..entities).map(move |nth| Body::first(nth, entities))
}
