//! The files of the page for browsers, as `cargo xtask web` has written them: once in memory, and read again when they change.

use axum::body::Bytes;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// What a browser is given. A clone shares the bytes.
#[derive(Clone, Debug)]
pub struct File {
    pub kind: &'static str,
    pub bytes: Bytes,
}

/// How often it is looked whether they have changed.
const LOOKS: Duration = Duration::from_secs(1);
/// The names of a game's own module begin with this and the game's name.
const MODULE: &str = "foretell_";

/// The page's files.
#[derive(Debug)]
pub struct Bundle {
    folders: Vec<PathBuf>,
    module: String,
    looked: Option<Instant>,
    /// What was read, and when it was written.
    stamps: BTreeMap<PathBuf, SystemTime>,
    files: BTreeMap<String, File>,
    build: String,
}

impl Bundle {
    /// The files for this game in the configured folder, else in `web` beside the program or beside its folder.
    pub fn new(configured: Option<&Path>, game: &str) -> Bundle {
        let program = std::env::current_exe().unwrap_or_default();
        let beside = || program.ancestors().skip(1).take(2).map(|folder| folder.join("web")).collect();
        Bundle {
            folders: configured.map_or_else(beside, |folder| vec![folder.to_owned()]),
            module: format!("{MODULE}{game}"),
            looked: None,
            stamps: BTreeMap::new(),
            files: BTreeMap::new(),
            build: String::new(),
        }
    }

    /// The file of this path. It may be a second older than the one in the folder.
    pub fn find(&mut self, now: Instant, path: &str) -> Option<File> {
        self.look(now);
        let name = match path.strip_prefix('/')? {
            "" => "index.html",
            name => name,
        };
        self.files.get(name).cloned()
    }

    /// Whether there is a page at all.
    pub fn is_built(&mut self, now: Instant) -> bool {
        self.look(now);
        !self.files.is_empty()
    }

    /// What tells this page from one with other files.
    pub fn build(&mut self, now: Instant) -> &str {
        self.look(now);
        &self.build
    }

    /// Reads the files of the first folder that has a page, where they have changed. Where none has one, as while it is being
    /// replaced, they stay what they were.
    fn look(&mut self, now: Instant) {
        if self.looked.is_some_and(|looked| now.duration_since(looked) < LOOKS) {
            return;
        }
        self.looked = Some(now);
        let Some(folder) = self.folders.iter().find(|folder| folder.join("index.html").is_file()) else { return };
        let stamps = self.stamps(folder);
        if stamps == self.stamps {
            return;
        }
        let read = |path: &PathBuf| {
            let name = path.file_name()?.to_str()?.to_owned();
            let (kind, bytes) = (kind(&name)?, std::fs::read(path).ok()?.into());
            Some((name, File { kind, bytes }))
        };
        self.files = stamps.keys().filter_map(read).collect();
        self.stamps = stamps;
        self.build = digest(&self.files);
    }

    /// The files in a folder that a page has, without the modules of other games.
    fn stamps(&self, folder: &Path) -> BTreeMap<PathBuf, SystemTime> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let stamped = entries.filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            kind(&name)?;
            let is_other = name.strip_prefix(&self.module).is_none_or(|rest| !rest.starts_with(['.', '_']));
            if name.starts_with(MODULE) && is_other {
                return None;
            }
            let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((entry.path(), about.modified().ok()?))
        });
        stamped.collect()
    }
}

fn digest(files: &BTreeMap<String, File>) -> String {
    let mut hasher = DefaultHasher::new();
    for (name, file) in files {
        for part in [name.as_bytes(), &file.bytes] {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
    }
    format!("{:016x}", hasher.finish())
}

/// What a file of this name is; `None` for a name that none of the page has.
fn kind(name: &str) -> Option<&'static str> {
    let (stem, ending) = name.rsplit_once('.')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if stem.is_empty() || !stem.chars().all(plain) {
        return None;
    }
    Some(match ending {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        "wasm" => "application/wasm",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test, and its bundle of the arena.
    fn empty(name: &str) -> (PathBuf, Bundle) {
        let folder = std::env::temp_dir().join(format!("foretell-{name}-{}", std::process::id())).join("web");
        std::fs::create_dir_all(&folder).expect("writable");
        (folder.clone(), Bundle::new(Some(&folder), "arena"))
    }

    fn write(folder: &Path, names: &[&str]) {
        names.iter().for_each(|name| std::fs::write(folder.join(name), name).expect("writable"));
    }

    fn remove(folder: &Path) {
        std::fs::remove_dir_all(folder.parent().expect("above")).expect("removable");
    }

    #[test]
    fn only_files_of_the_folder_itself_are_found_and_only_of_kinds_that_a_page_has() {
        let (folder, mut bundle) = empty("page");
        let now = Instant::now();
        assert!(!bundle.is_built(now) && bundle.find(now, "/").is_none());
        write(&folder, &["index.html", "play.js", "key.pem", ".hidden.js", "../above.js"]);
        std::fs::create_dir(folder.join("folder.js")).expect("writable");
        let now = now + LOOKS;
        assert!(bundle.is_built(now));
        assert_eq!(bundle.find(now, "/").expect("the page").bytes, "index.html");
        assert_eq!(bundle.find(now, "/play.js").expect("a module").kind, "text/javascript; charset=utf-8");
        let odd = [
            "",
            "/key.pem",
            "/.hidden.js",
            "/../above.js",
            "/..%2fabove.js",
            "/none.js",
            "/web",
            "//play.js",
            "/.js",
            "/folder.js",
        ];
        assert!(odd.iter().all(|path| bundle.find(now, path).is_none()));
        remove(&folder);
    }

    #[test]
    fn of_the_games_modules_that_of_the_running_game_is_served_alone() {
        let (folder, mut bundle) = empty("modules");
        let own = ["foretell_arena.js", "foretell_arena_bg.wasm"];
        let others = ["foretell_pile.js", "foretell_pile_bg.wasm", "foretell_arena2.js", "foretell_.js"];
        write(&folder, &[&["index.html", "pile.js"], &own[..], &others].concat());
        let mut found = |name: &str| bundle.find(Instant::now(), &format!("/{name}")).is_some();
        assert!(own.iter().all(|name| found(name)) && found("pile.js"));
        assert!(!others.iter().any(|name| found(name)));
        remove(&folder);
    }

    #[test]
    fn who_asks_for_the_same_file_shares_its_bytes_until_it_is_written_again() {
        let (folder, mut bundle) = empty("shared");
        write(&folder, &["index.html"]);
        let now = Instant::now();
        let mut ask = |now| bundle.find(now, "/").expect("the page").bytes;
        let (one, two) = (ask(now), ask(now + LOOKS));
        assert_eq!(one.as_ptr(), two.as_ptr());
        let file = std::fs::File::options().write(true).open(folder.join("index.html")).expect("there");
        file.set_modified(SystemTime::now() + LOOKS).expect("ours");
        let three = ask(now + 2 * LOOKS);
        assert!(three == one && three.as_ptr() != one.as_ptr(), "read again");
        remove(&folder);
    }

    #[test]
    fn a_page_that_is_being_replaced_is_the_old_one_or_the_new_one() {
        let (folder, mut bundle) = empty("replaced");
        write(&folder, &["index.html", "old.js"]);
        let now = Instant::now();
        let old = bundle.build(now).to_owned();
        std::fs::rename(&folder, folder.with_extension("old")).expect("ours");
        assert!(bundle.find(now + LOOKS, "/old.js").is_some());
        std::fs::create_dir(&folder).expect("writable");
        write(&folder, &["index.html", "new.js"]);
        assert!(bundle.find(now + 2 * LOOKS, "/old.js").is_none());
        assert!(bundle.find(now + 2 * LOOKS, "/new.js").is_some());
        assert_ne!(bundle.build(now + 2 * LOOKS), old);
        remove(&folder);
    }
}
