//! The files of the page for browsers, as `cargo xtask web` has written them: read when they are asked for.

use std::path::{Path, PathBuf};

/// What a browser is given.
pub struct File {
    pub kind: &'static str,
    pub bytes: Vec<u8>,
}

/// Where the page is looked for, first to last.
pub fn folders(configured: Option<&Path>) -> Vec<PathBuf> {
    if let Some(folder) = configured {
        return vec![folder.to_owned()];
    }
    let program = std::env::current_exe().unwrap_or_default();
    program.ancestors().skip(1).take(2).map(|folder| folder.join("web")).collect()
}

/// The file of this path in the first of the folders that has a page.
pub fn find(folders: &[PathBuf], path: &str) -> Option<File> {
    let name = match path.strip_prefix('/')? {
        "" => "index.html",
        name => name,
    };
    let kind = kind(name)?;
    let folder = folders.iter().find(|folder| folder.join("index.html").is_file())?;
    Some(File { kind, bytes: std::fs::read(folder.join(name)).ok()? })
}

/// Whether there is a page at all.
pub fn is_built(folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| folder.join("index.html").is_file())
}

/// What a file of this name is; `None` for a name that none of the page has: it leads nowhere else.
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

    #[test]
    fn only_files_of_the_folder_itself_are_found_and_only_of_kinds_that_a_page_has() {
        let root = std::env::temp_dir().join(format!("foretell-page-{}", std::process::id()));
        let (folder, folders) = (root.join("web"), [root.join("none"), root.join("web")]);
        std::fs::create_dir_all(&folder).expect("writable");
        assert!(!is_built(&folders) && find(&folders, "/").is_none());
        for name in ["index.html", "play.js", "key.pem", ".hidden.js", "../above.js"] {
            std::fs::write(folder.join(name), name).expect("writable");
        }
        assert!(is_built(&folders));
        assert_eq!(find(&folders, "/").expect("the page").bytes, b"index.html");
        assert_eq!(find(&folders, "/play.js").expect("a module").kind, "text/javascript; charset=utf-8");
        let odd =
            ["", "/key.pem", "/.hidden.js", "/../above.js", "/..%2fabove.js", "/none.js", "/web", "//play.js", "/.js"];
        assert!(odd.iter().all(|path| find(&folders, path).is_none()));
        std::fs::remove_dir_all(&root).expect("removable");
    }
}
