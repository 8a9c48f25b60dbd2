//! How a program is told to play: where it is started, or in the address of its page.

use crate::net::Connect;
use crate::play::Play;

impl Play {
    /// As who starts the program says, while a game is made: with the arguments `server` or `host`, or `URL NAME`, which joins; in a
    /// browser by the page's own address, where `?NAME#URL` joins. `None` where nothing of that is said.
    ///
    /// A server is at port 4433 of this machine, lets in anybody under any name, also in pages of `http://localhost:8000`, and prints
    /// where it is joined.
    ///
    /// Where `NAME` is none, or `URL` no server's, [`NotConnected`](crate::NotConnected) says so.
    pub fn as_told() -> Option<Play> {
        Play::told(&said().iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn told(said: &[&str]) -> Option<Play> {
        match *said {
            #[cfg(not(target_arch = "wasm32"))]
            ["server"] => Some(Play::Serve(crate::Serve::in_development())),
            #[cfg(not(target_arch = "wasm32"))]
            ["host"] => Some(Play::Host(crate::Serve::in_development())),
            [url, name] => Some(Play::Connect(Connect::under_any_name(url, name))),
            _ => None,
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn said() -> Vec<String> {
    // What is no text is no name and no address either: that is said then.
    std::env::args_os().skip(1).map(|said| said.to_string_lossy().into_owned()).collect()
}

#[cfg(target_arch = "wasm32")]
fn said() -> Vec<String> {
    let Some(location) = web_sys::window().map(|page| page.location()) else { return Vec::new() };
    let as_written = |name: String| js_sys::decode_uri_component(&name).map_or(name, String::from);
    let name = location.search().map(as_written);
    // Without the marks before them.
    let parts = [location.hash(), name].map(|part| Some(part.ok()?.get(1..)?.to_owned()));
    parts.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::start::start;
    use bevy_ecs::prelude::World;
    use foretell::{Input, Instant, Rules, Schema, SessionConfig};

    #[derive(Input, Clone, Copy, PartialEq, Default)]
    struct Keys {
        right: bool,
    }

    #[test]
    fn who_has_no_name_is_told_so_when_the_session_begins() {
        for name in ["", "a\nb", &"a".repeat(65)] {
            let play = Play::told(&["https://localhost:4433", name]).expect("it joins");
            let config = SessionConfig::new(Rules::new(Schema::default()));
            let why = start::<Keys>(play, &mut World::new(), config, Instant::ZERO).err().expect("it does not begin");
            assert!(why.starts_with("a name has 1 to 64 bytes"), "{why}");
        }
        assert!(Play::told(&["serve"]).is_none(), "nothing of what it knows");
    }
}
