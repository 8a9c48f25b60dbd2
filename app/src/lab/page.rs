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
const JS: &str = "text/javascript; charset=utf-8";

/// All files of the page: a new one needs a line here.
const FILES: &[File] = files! {
    "index.html": HTML,
    "style.css": CSS,
    "app.js": JS,
};

/// The file of this path; `/` is the page itself.
pub fn find(path: &str) -> Option<&'static File> {
    let path = if path == "/" { "/index.html" } else { path };
    FILES.iter().find(|file| file.path == path)
}
