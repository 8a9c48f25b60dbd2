//! How a program is told to play: where it is started, or in the address of its page.

use crate::net::{Connect, insecure_token};
use crate::play::Play;

impl Play {
    /// As who starts the program says, while a game is made: with the arguments `server` or `host`, or `URL NAME`, which joins; in a
    /// browser by the page's own address, where `?NAME#URL` joins. `None` where nothing of that is said.
    ///
    /// A server is at port 4433 of this machine, lets in anybody under any name, also in pages of `http://localhost:8000`, and prints
    /// where it is joined.
    ///
    /// # Panics
    /// Where `NAME` does not have 1 to 64 bytes.
    pub fn as_told() -> Option<Play> {
        match said().iter().map(String::as_str).collect::<Vec<_>>()[..] {
            #[cfg(not(target_arch = "wasm32"))]
            ["server"] => Some(Play::Serve(crate::Serve::in_development())),
            #[cfg(not(target_arch = "wasm32"))]
            ["host"] => Some(Play::Host(crate::Serve::in_development())),
            [url, name] => {
                Some(Play::Connect(Connect::to(url, insecure_token(name).expect("a name of 1 to 64 bytes"))))
            }
            _ => None,
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
fn said() -> Vec<String> {
    std::env::args().skip(1).collect()
}

#[cfg(target_arch = "wasm32")]
fn said() -> Vec<String> {
    let Some(location) = web_sys::window().map(|page| page.location()) else { return Vec::new() };
    let name = location.search().and_then(|name| js_sys::decode_uri_component(&name)).map(String::from);
    // Without the marks before them.
    let parts = [location.hash(), name].map(|part| Some(part.ok()?.get(1..)?.to_owned()));
    parts.into_iter().flatten().collect()
}
