//! The file of a server's tickets: their key, which numbers they have had, and which of them mean nothing any more.
//!
//! It is a line for each fact, of which the last of a kind counts: `key BASE64`, `next NUMBER`, `floor NUMBER`, and for each
//! account `ended NUMBER MILLISECONDS ACCOUNT`, with times since 1970. With any other line, or half of one, all tickets of before
//! have expired. A thread of its own writes it: disks make others wait.

use crate::account::{Account, UnixTime};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use tracing::{error, warn};

/// Numbers of tickets are lower: nobody makes so many, and the next one always exists.
const NUMBER_MAX: u64 = 1 << 62;

/// Fewer have been made since the last number that a damaged file has.
const LOST_MAX: u64 = 1 << 40;

/// The end of an account's tickets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct End {
    /// Tickets with lower numbers mean nothing.
    pub before: u64,
    /// By then all of them have expired.
    pub until: UnixTime,
}

/// What the file says.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    pub key: [u8; 32],
    /// Higher than the number of any ticket.
    pub next: u64,
    /// Tickets with lower numbers have expired.
    pub floor: u64,
    pub ended: BTreeMap<Account, End>,
}

impl Kept {
    /// Of a server that has given no ticket.
    pub(crate) fn new(key: [u8; 32]) -> Kept {
        Kept { key, next: 0, floor: 0, ended: BTreeMap::new() }
    }

    /// What a file says; `None` where there is none.
    ///
    /// # Errors
    /// When it can't be read, or has no key.
    pub(crate) fn read(path: &Path) -> io::Result<Option<Kept>> {
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let (mut key, mut kept) = (None, Kept::new([0; 32]));
        // They are written at once, at first.
        let mut is_damaged = !["\nnext ", "\nfloor "].iter().all(|kind| text.contains(kind));
        for line in text.split_inclusive('\n') {
            match Fact::read(line) {
                Some(Fact::Key(says)) => key = Some(says),
                Some(Fact::Next(number)) => kept.next = number,
                Some(Fact::Floor(number)) => kept.floor = number,
                Some(Fact::Ended(account, end)) => drop(kept.ended.insert(account, end)),
                None => is_damaged = true,
            }
        }
        if is_damaged {
            warn!(path = %path.display(), "a part is missing, maybe the end of some tickets: all of before have expired");
            kept.next += LOST_MAX;
            kept.floor = kept.next;
        }
        let no_key = || io::Error::new(ErrorKind::InvalidData, format!("{} has no key: delete it", path.display()));
        kept.key = key.ok_or_else(no_key)?;
        Ok(Some(kept))
    }

    fn text(&self) -> String {
        let facts = [Fact::Key(self.key), Fact::Next(self.next), Fact::Floor(self.floor)];
        let ended = self.ended.iter().map(|(account, end)| Fact::Ended(account.clone(), *end));
        facts.into_iter().chain(ended).map(|fact| fact.line()).collect()
    }

    fn lines(&self) -> usize {
        3 + self.ended.len()
    }
}

/// A line of the file.
pub(crate) enum Fact {
    Key([u8; 32]),
    Next(u64),
    Floor(u64),
    Ended(Account, End),
}

impl Fact {
    fn line(&self) -> String {
        let mut line = String::new();
        let written = match self {
            Fact::Key(key) => writeln!(line, "key {}", URL_SAFE_NO_PAD.encode(key)),
            Fact::Next(number) => writeln!(line, "next {number}"),
            Fact::Floor(number) => writeln!(line, "floor {number}"),
            // A name may have spaces, and no line feeds.
            Fact::Ended(account, End { before, until }) => writeln!(line, "ended {before} {} {account}", until.0),
        };
        written.expect("texts take everything");
        line
    }

    fn read(line: &str) -> Option<Fact> {
        let (kind, says) = line.strip_suffix('\n')?.split_once(' ')?;
        let number = |text: &str| text.parse().ok().filter(|number| *number < NUMBER_MAX);
        match kind {
            "key" => Some(Fact::Key(URL_SAFE_NO_PAD.decode(says).ok()?.try_into().ok()?)),
            "next" => number(says).map(Fact::Next),
            "floor" => number(says).map(Fact::Floor),
            "ended" => {
                let mut parts = says.splitn(3, ' ');
                let before = number(parts.next()?)?;
                let until = UnixTime(parts.next()?.parse().ok()?);
                Some(Fact::Ended(Account::new(parts.next()?)?, End { before, until }))
            }
            _ => None,
        }
    }
}

enum Order {
    Append(String),
    Replace(String),
}

/// The file, kept up to date. Dropping it waits until all is written.
pub(crate) struct TicketFile {
    /// How many lines there are.
    lines: usize,
    /// Something was not written.
    has_failed: Arc<AtomicBool>,
    /// Until it is dropped.
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl TicketFile {
    /// Writes the file anew, and makes its folder where there is none.
    ///
    /// # Errors
    /// When that can't be done.
    pub(crate) fn start(path: PathBuf, kept: &Kept) -> io::Result<TicketFile> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = replace(&path, &kept.text())?;
        let (orders, taken) = mpsc::channel();
        let has_failed = Arc::new(AtomicBool::new(false));
        let failed = Arc::clone(&has_failed);
        let thread = std::thread::Builder::new().name("tickets".into()).spawn(move || {
            for order in taken {
                let done = match order {
                    Order::Append(line) => file.write_all(line.as_bytes()).and_then(|()| file.sync_data()),
                    Order::Replace(text) => replace(&path, &text).map(|new| file = new),
                };
                if let Err(error) = done {
                    failed.store(true, Relaxed);
                    error!(%error, path = %path.display(), "tickets could not be kept: they end with this server");
                    if let Err(error) = damage(&path) {
                        error!(%error, path = %path.display(), "delete it: with it ended tickets admit after a restart");
                    }
                }
            }
        })?;
        Ok(TicketFile { lines: kept.lines(), has_failed, orders: Some(orders), thread: Some(thread) })
    }

    /// Notes one more of what is kept. Where lines have become many, or one could not be written, the file is written anew.
    pub(crate) fn note(&mut self, fact: &Fact, kept: &Kept) {
        let order = if self.lines < 2 * kept.lines() + 1024 && !self.has_failed.swap(false, Relaxed) {
            self.lines += 1;
            Order::Append(fact.line())
        } else {
            self.lines = kept.lines();
            Order::Replace(kept.text())
        };
        // Who takes orders ends after who gives them.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

impl Drop for TicketFile {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Writes the file anew, for nobody else to read; whoever is killed meanwhile has the old one.
fn replace(path: &Path, text: &str) -> io::Result<File> {
    let new = path.with_extension("new");
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    OpenOptions::new().append(true).open(path)
}

/// Where something is missing, the last line is made half of one, so that the next start can tell. It takes no room on a disk.
fn damage(path: &Path) -> io::Result<()> {
    let whole = fs::read(path)?;
    if whole.ends_with(b"\n") {
        OpenOptions::new().write(true).open(path)?.set_len(whole.len() as u64 - 1)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str) -> Account {
        Account::new(name).expect("a name")
    }

    /// A path in a folder of the test's own, which is gone at its end.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Place {
            let folder = std::env::temp_dir().join(format!("foretell-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("a folder");
            Place(folder.join("tickets"))
        }

        fn text(&self) -> String {
            fs::read_to_string(&self.0).expect("a file")
        }

        fn read(&self) -> Kept {
            Kept::read(&self.0).expect("readable").expect("there")
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = self.0.parent().map(fs::remove_dir_all);
        }
    }

    #[test]
    fn what_was_noted_last_is_there_at_the_next_start_and_the_file_does_not_grow_for_ever() {
        let place = Place::new("tickets-kept");
        assert!(Kept::read(&place.0).expect("readable").is_none());
        let mut kept = Kept::new([7; 32]);
        let mut file = TicketFile::start(place.0.clone(), &kept).expect("writable");
        let mut end = |kept: &mut Kept, name: &str, before: u64| {
            let end = End { before, until: UnixTime(before + 100) };
            kept.ended.insert(account(name), end);
            file.note(&Fact::Ended(account(name), end), kept);
        };
        end(&mut kept, "alice in chains", 5);
        for before in 8..5000 {
            end(&mut kept, "bob", before);
        }
        (kept.next, kept.floor) = (6000, 3);
        file.note(&Fact::Next(6000), &kept);
        file.note(&Fact::Floor(3), &kept);
        drop(file);
        assert!(place.text().lines().count() < 2100);
        assert!(place.read() == kept);
    }

    #[test]
    fn with_any_part_of_it_missing_all_tickets_of_before_have_expired_and_without_the_key_it_is_refused() {
        let place = Place::new("tickets-odd");
        let whole = Fact::Key([1; 32]).line() + "next 400\nfloor 3\nended 12 90 bob\n";
        fs::write(&place.0, &whole).expect("writable");
        assert!((place.read().floor, place.read().ended.len()) == (3, 1));
        for length in whole.find("next").expect("there")..whole.len() {
            fs::write(&place.0, &whole[..length]).expect("writable");
            // Between two lines nobody can tell.
            let is_between = length >= whole.find("ended").expect("there") && whole.as_bytes()[length - 1] == b'\n';
            assert!(is_between || place.read().floor >= LOST_MAX, "{length}");
        }
        let odd =
            ["next 18446744073709551615", "ended 5 x y", "ended -1 5 a", "floor", "", "else 4", "ended 1 2 ", "\0\0"];
        for odd in odd {
            fs::write(&place.0, format!("{whole}{odd}\n")).expect("writable");
            assert!(place.read().floor == 400 + LOST_MAX, "{odd}");
        }
        for keyless in ["", "next 4\nkey AAAA\n"] {
            fs::write(&place.0, keyless).expect("writable");
            let error = Kept::read(&place.0).err().expect("refused").to_string();
            assert!(error.contains("no key"), "{error}");
        }
    }

    #[test]
    fn on_a_full_disk_the_file_says_that_something_is_missing() {
        let place = Place::new("tickets-damaged");
        let mut kept = Kept::new([7; 32]);
        kept.next = 9;
        drop(TicketFile::start(place.0.clone(), &kept).expect("writable"));
        assert!(place.read().floor == 0);
        damage(&place.0).expect("possible");
        damage(&place.0).expect("and nothing more is cut off");
        assert!(place.read().floor == 9 + LOST_MAX);
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_it_and_what_could_not_be_written_is_written_with_the_next() {
        let place = Place::new("tickets-full");
        let mut kept = Kept::new([7; 32]);
        let mut file = TicketFile::start(place.0.clone(), &kept).expect("writable");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&place.0).expect("there").permissions());
        assert_eq!(mode & 0o777, 0o600);
        file.has_failed.store(true, Relaxed);
        kept.ended.insert(account("alice"), End { before: 1, until: UnixTime(9) });
        kept.next = 5;
        file.note(&Fact::Next(5), &kept);
        drop(file);
        assert!(place.read() == kept, "alice's end too");
    }
}
