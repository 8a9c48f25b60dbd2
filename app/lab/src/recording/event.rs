//! What can happen in a run besides keys and settings.

/// Something that happens, and not by a player's keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// The server pushes the player's cube by 3 m/s, outside of a step.
    Impulse,
    /// The server moves the player's cube by 4 m, outside of a step.
    Teleport,
    /// The player's machine runs nothing for 2 s.
    Stall,
    /// The local cube starts again from the client's state.
    Realign,
    /// The script "spike": the latency goes up and comes back.
    Spike,
    /// The script "blackout": nothing gets through for a while.
    Blackout,
    /// The script "bursts": losses in a row.
    Bursts,
    /// The script "server": the server's machine stands still.
    Server,
    /// The script "sleep": the person's machine stands still.
    Sleep,
    /// The first article's scene: the client's clock runs twice as fast for 5 s.
    DoubleClock,
    /// The first article's scene: the client's directions are three long for 5 s.
    TripleDirection,
    /// The first article's scene: the client sets itself elsewhere.
    ClientTeleport,
    /// The first article's scene: the client ignores the server for 5 s.
    IgnoredResync,
    /// The script "hiccup": nothing gets through for a moment.
    Hiccup,
    /// The scene of shared mode: who does not hold the cube gets it.
    HandOver,
    /// The script "slow link": the link takes little for a while.
    SlowLink,
}

impl Event {
    /// All of them, in the order of their tags in a link.
    pub const NAMED: [(Event, &'static str); 16] = [
        (Event::Impulse, "impulse"),
        (Event::Teleport, "teleport"),
        (Event::Stall, "stall"),
        (Event::Realign, "realign"),
        (Event::Spike, "spike"),
        (Event::Blackout, "blackout"),
        (Event::Bursts, "bursts"),
        (Event::Server, "server"),
        (Event::Sleep, "sleep"),
        (Event::DoubleClock, "double_clock"),
        (Event::TripleDirection, "triple_direction"),
        (Event::ClientTeleport, "client_teleport"),
        (Event::IgnoredResync, "ignored_resync"),
        (Event::Hiccup, "hiccup"),
        (Event::HandOver, "hand_over"),
        (Event::SlowLink, "slow_link"),
    ];

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        Event::NAMED[self as usize].1
    }

    /// The event of this name.
    ///
    /// # Errors
    /// A sentence that names those there are.
    pub fn named(name: &str) -> Result<Event, String> {
        let known = Event::NAMED.iter().find(|(_, known)| *known == name);
        known.map(|(event, _)| *event).ok_or_else(|| {
            let names = Event::NAMED.map(|(_, name)| name).join(", ");
            format!("there is no event of this name; accepted are {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_own_name_in_the_order_of_their_tags() {
        for (tag, (event, name)) in Event::NAMED.into_iter().enumerate() {
            assert_eq!((event as usize, event.name(), Event::named(name)), (tag, name, Ok(event)));
        }
    }
}
