//! `foretell sweep --record` and `foretell replay` as a person calls them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn scratch(test: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    std::fs::create_dir_all(&directory).expect("the target directory can be written");
    directory
}

fn foretell(directory: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_foretell");
    Command::new(program).args(arguments).current_dir(directory).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

const PLAN: &str = "name = 'windy'
[network]
latency_ms = 60
jitter_ms = 30
loss = 0.35
burst_length = 8
[session]
seconds = 6
seeds = [7]
players = 2
tick_rate = 60
impulses_per_min = 30
";

#[test]
fn a_recorded_row_is_replayed_to_the_same_and_its_corrections_are_told_with_their_causes() {
    let directory = scratch("replay");
    std::fs::write(directory.join("windy.toml"), PLAN).expect("written");
    let without = foretell(&directory, &["sweep", "windy.toml"]);
    let with = foretell(&directory, &["sweep", "windy.toml", "--record", "flights/windy"]);
    assert!(with.status.success(), "{with:?}");
    assert_eq!(text(&with.stdout), text(&without.stdout));
    for file in ["client-1", "client-2", "server"] {
        let replayed = foretell(&directory, &["replay", &format!("flights/windy/{file}.flight")]);
        assert!(replayed.status.success(), "{file}: {replayed:?}");
        let told = text(&replayed.stdout);
        let last = told.lines().last().expect("a summary");
        let digests: u32 =
            last.split("; ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a number").parse().expect("digits");
        assert!(digests >= 6 && last.ends_with("digests agreed"), "{last}");
        if file == "server" {
            assert!(told.contains("Joined") && last.starts_with("a server: 2 players"), "{told}");
        } else {
            let caused = told.lines().filter(|line| line.contains("own input late or substituted"));
            assert!(caused.count() > 0 && told.contains("server event"), "{told}");
            assert!(told.starts_with("when ") && last.starts_with("a client: "), "{told}");
        }
    }
}

#[test]
fn what_is_not_the_same_exits_with_1_and_what_can_not_be_replayed_with_2_and_a_sentence() {
    let directory = scratch("replay-broken");
    std::fs::write(directory.join("windy.toml"), PLAN).expect("written");
    assert!(foretell(&directory, &["sweep", "windy.toml", "--record", "."]).status.success());
    let whole = std::fs::read(directory.join("client-1.flight")).expect("it was written");
    // The hash of the rules begins 19 bits after the two bytes of the first record's frame.
    let other_game = [&whole[..12], &[whole[12] ^ 0x55], &whole[13..]].concat();
    // A record has two bytes at least, so of two neighbouring cuts one at most lies between two records.
    let cut_at = |at: usize| {
        std::fs::write(directory.join("cut.flight"), &whole[..at]).expect("written");
        text(&foretell(&directory, &["replay", "cut.flight"]).stderr).contains("cut between two records")
    };
    let middle = whole.len() / 2;
    let cut = &whole[..middle + usize::from(cut_at(middle))];
    // The last record, which says that it is the last, has two bytes.
    let endless = &whole[..whole.len() - 2];
    for (name, bytes, code, says) in [
        ("endless.flight", endless, 1, "not the same: the recording has no end: it was cut between two records, or "),
        ("cut.flight", cut, 1, "not the same: the recording breaks off in the record at byte "),
        ("game.flight", &other_game, 2, "error: game.flight can't be replayed: the recording is of another game: "),
        ("text.flight", b"hello", 2, "error: text.flight can't be replayed: this is not a flight recording"),
    ] {
        std::fs::write(directory.join(name), bytes).expect("written");
        let replayed = foretell(&directory, &["replay", name]);
        let told = text(&replayed.stderr);
        assert_eq!((replayed.status.code(), told.lines().count()), (Some(code), 1), "{told}");
        assert!(told.starts_with(says), "{told}");
    }
    let missing = foretell(&directory, &["replay", "nowhere.flight"]);
    assert_eq!(missing.status.code(), Some(2));
    // Somewhere in the middle a datagram is not the one that came.
    let mut changed = whole.clone();
    let diverged = (middle..middle + 4000).find_map(|at| {
        changed.copy_from_slice(&whole);
        changed[at] ^= 0x10;
        std::fs::write(directory.join("changed.flight"), &changed).expect("written");
        let replayed = foretell(&directory, &["replay", "changed.flight"]);
        let told = text(&replayed.stderr).to_owned();
        (replayed.status.code() == Some(1) && told.contains("the digests differ")).then_some(told)
    });
    let told = diverged.expect("some bit of what came matters");
    assert!(told.starts_with("not the same: from "), "{told}");
}
