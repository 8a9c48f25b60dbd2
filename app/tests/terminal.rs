//! What the program says in the terminal, and to the desktop, when it is started without a word.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A lab that ends with the test.
struct Lab(Child);

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the lab on a free port, with the programs of a folder alone; what it says until it has said all.
fn start(arguments: &[&str], programs: &Path) -> (Lab, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foretell"));
    command.args(["--port", "0"]).args(arguments).env("PATH", programs).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut lab = Lab(command.spawn().expect("it starts"));
    let said = BufReader::new(lab.0.stdout.take().expect("piped")).lines();
    let lines = said.map(|line| line.expect("text")).take(5).collect();
    (lab, lines)
}

#[test]
fn the_lab_says_in_five_lines_what_it_is_where_it_is_and_what_else_there_is() {
    let (_lab, lines) = start(&[], Path::new("/nowhere"));
    assert!(lines[0].starts_with("foretell lab: http://127.0.0.1:") && lines[0].ends_with('/'), "{lines:?}");
    let all = lines.join(" ");
    for word in ["bad network", "--open", "Ctrl-C", "serve", "join", "bots", "sweep", "replay", "--help"] {
        assert!(all.contains(word), "{word}: {all}");
    }
    assert_eq!(lines.len(), 5);
}

#[test]
fn when_it_is_asked_to_it_opens_a_browser_at_its_address() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("opener");
    fs::create_dir_all(&folder).expect("the target directory can be written");
    let (opener, asked) = (folder.join("xdg-open"), folder.join("asked"));
    let _ = fs::remove_file(&asked);
    fs::write(&opener, format!("#!/bin/sh\necho \"$@\" > {}\n", asked.display())).expect("written");
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("executable");
    let (_lab, lines) = start(&["--open"], &folder);
    let until = Instant::now() + Duration::from_secs(20);
    let address = loop {
        match fs::read_to_string(&asked) {
            Ok(address) if !address.is_empty() => break address,
            _ if Instant::now() > until => panic!("no browser was asked for"),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    assert_eq!(Some(address.trim()), lines[0].strip_prefix("foretell lab: "));
}
