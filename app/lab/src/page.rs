//! The files of the page, inside of the program: no request goes anywhere else.

/// One file.
pub struct File {
    /// Where it is asked for.
    pub path: &'static str,
    pub kind: &'static str,
    pub bytes: &'static [u8],
}

macro_rules! files {
    ($($name:literal: $kind:ident),* $(,)?) => {
        &[$(File { path: concat!("/", $name), kind: $kind, bytes: include_bytes!(concat!("page/", $name)) }),*]
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const SVG: &str = "image/svg+xml";
const JS: &str = "text/javascript; charset=utf-8";

/// All files of the page: a new one needs a line here.
const FILES: &[File] = files! {
    "index.html": HTML,
    "style.css": CSS,
    "scenes.css": CSS,
    "shots.css": CSS,
    "icon.svg": SVG,
    "address.js": JS,
    "ages.js": JS,
    "app.js": JS,
    "arena.js": JS,
    "benches.js": JS,
    "bodies.js": JS,
    "card.js": JS,
    "causes.js": JS,
    "changes.js": JS,
    "charts.js": JS,
    "conditions.js": JS,
    "connection.js": JS,
    "controls.js": JS,
    "crowd.js": JS,
    "duel.js": JS,
    "element.js": JS,
    "events.js": JS,
    "hall.js": JS,
    "headline.js": JS,
    "history.js": JS,
    "input.js": JS,
    "lane.js": JS,
    "lanes.js": JS,
    "link.js": JS,
    "log.js": JS,
    "loop.js": JS,
    "matrix.js": JS,
    "meaning.js": JS,
    "note.js": JS,
    "packets.js": JS,
    "picture.js": JS,
    "pile.js": JS,
    "pointer.js": JS,
    "prediction.js": JS,
    "projection.js": JS,
    "questions.js": JS,
    "readout.js": JS,
    "roles.js": JS,
    "room.js": JS,
    "scale.js": JS,
    "scripts.js": JS,
    "shortcuts.js": JS,
    "shots.js": JS,
    "socket.js": JS,
    "solids.js": JS,
    "status.js": JS,
    "steps.js": JS,
    "strip.js": JS,
    "tabs.js": JS,
    "theme.js": JS,
    "toolbar.js": JS,
    "tones.js": JS,
    "tour.js": JS,
};

/// The file of this path; `/` is the page itself.
pub fn find(path: &str) -> Option<&'static File> {
    let path = if path == "/" { "/index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_asks_for_all_of_its_modules_at_once() {
        let page = find("/").and_then(|file| str::from_utf8(file.bytes).ok()).expect("the page itself");
        let asked = |path: &str, how: &str| page.matches(&format!(r#"{how}="{}">"#, &path[1..])).count();
        for File { path, .. } in FILES.iter().filter(|file| file.kind == JS && file.path != "/app.js") {
            assert_eq!(asked(path, r#"<link rel="modulepreload" href"#), 1, "{path}");
        }
        let all = page.matches("modulepreload").count();
        assert_eq!(all + 1, FILES.iter().filter(|file| file.kind == JS).count());
    }
}
