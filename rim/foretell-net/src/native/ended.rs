//! Which tickets mean nothing any more: those of an account from before its last good-bye or removal. Where that is kept in
//! a file it holds after the next start, too.
//!
//! The file is a line for each, `at until account`, with times in milliseconds since 1970; of an account the newest counts.
//! A thread of its own writes it: disks make others wait.

use crate::native::account::{Account, UnixTime};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;
use tracing::{error, warn};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct End {
    /// Tickets of this time and older ones mean nothing.
    at: UnixTime,
    /// By then all of them have expired.
    until: UnixTime,
}

/// The accounts whose tickets have ended, until those have expired.
#[derive(Default)]
pub(crate) struct Ended {
    by_account: BTreeMap<Account, End>,
    file: Option<Keeper>,
}

impl Ended {
    /// What a file says, as of `now`; it is made where there is none, and kept up to date from now on.
    ///
    /// # Errors
    /// When it can't be read or written.
    pub(crate) fn kept_in(path: &Path, now: UnixTime) -> io::Result<Ended> {
        let text = match fs::read(path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut ended = Ended::default();
        for line in text.split_inclusive('\n') {
            match read(line) {
                Some((account, end)) if ended.at(&account).is_none_or(|at| at < end.at) => {
                    ended.by_account.insert(account, end);
                }
                Some(_) => {}
                // The last one may be half written.
                None => warn!(path = %path.display(), "a line that says nothing of ended tickets"),
            }
        }
        ended.forget_expired(now);
        let lines = ended.by_account.len();
        ended.file = Some(Keeper::start(path.to_owned(), &ended.lines(), lines)?);
        Ok(ended)
    }

    /// The tickets of an account of before `at`, and of that time, mean nothing from now on; by `until` they have expired.
    pub(crate) fn note(&mut self, account: &Account, at: UnixTime, until: UnixTime) {
        let end = End { at, until };
        self.by_account.insert(account.clone(), end);
        let Some(file) = &mut self.file else { return };
        if file.lines < 2 * self.by_account.len() + 1024 {
            file.lines += 1;
            file.order(Order::Append(line(account, end)));
        } else {
            let (lines, text) = (self.by_account.len(), self.lines());
            let Some(file) = &mut self.file else { return };
            file.lines = lines;
            file.order(Order::Replace(text));
        }
    }

    /// Tickets of this account from then and from before mean nothing.
    pub(crate) fn at(&self, account: &Account) -> Option<UnixTime> {
        self.by_account.get(account).map(|end| end.at)
    }

    /// When tickets were ended last.
    pub(crate) fn newest(&self) -> UnixTime {
        self.by_account.values().map(|end| end.at).max().unwrap_or_default()
    }

    pub(crate) fn len(&self) -> usize {
        self.by_account.len()
    }

    pub(crate) fn forget_expired(&mut self, now: UnixTime) {
        self.by_account.retain(|_, end| end.until > now);
    }

    fn lines(&self) -> String {
        self.by_account.iter().fold(String::new(), |all, (account, end)| all + &line(account, *end))
    }
}

fn line(account: &Account, end: End) -> String {
    let mut line = String::new();
    // A name may have spaces, and no line feeds.
    writeln!(line, "{} {} {account}", end.at.0, end.until.0).expect("texts take everything");
    line
}

fn read(line: &str) -> Option<(Account, End)> {
    let mut parts = line.strip_suffix('\n')?.splitn(3, ' ');
    let mut time = || Some(UnixTime(parts.next()?.parse().ok()?));
    let end = End { at: time()?, until: time()? };
    Some((Account::new(parts.next()?)?, end))
}

enum Order {
    Append(String),
    Replace(String),
}

/// Keeps the file. Dropping it waits until all is written.
struct Keeper {
    /// How many lines there are.
    lines: usize,
    /// Until it is dropped.
    orders: Option<mpsc::Sender<Order>>,
    thread: Option<JoinHandle<()>>,
}

impl Keeper {
    fn start(path: PathBuf, text: &str, lines: usize) -> io::Result<Keeper> {
        let mut file = replace(&path, text)?;
        let (orders, taken) = mpsc::channel();
        let thread = std::thread::Builder::new().name("ended tickets".into()).spawn(move || {
            for order in taken {
                let done = match order {
                    Order::Append(line) => file.write_all(line.as_bytes()),
                    Order::Replace(text) => replace(&path, &text).map(|new| file = new),
                };
                if let Err(error) = done {
                    error!(%error, path = %path.display(), "ended tickets could not be kept: after a restart they admit");
                }
            }
        })?;
        Ok(Keeper { lines, orders: Some(orders), thread: Some(thread) })
    }

    fn order(&self, order: Order) {
        // Who takes orders ends after who gives them.
        let _ = self.orders.as_ref().map(|orders| orders.send(order));
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Writes the file anew; whoever is killed meanwhile has the old one.
fn replace(path: &Path, text: &str) -> io::Result<File> {
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(&new, path)?;
    OpenOptions::new().append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(name: &str) -> Account {
        Account::new(name).expect("a name")
    }

    #[test]
    fn what_was_ended_is_ended_for_the_next_server_and_is_forgotten_when_it_has_expired() {
        let folder = std::env::temp_dir().join(format!("foretell-ended-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("ended");
        let open = |now| Ended::kept_in(&path, UnixTime(now)).expect("a file");
        let mut ended = open(0);
        ended.note(&account("alice in chains"), UnixTime(5), UnixTime(100));
        ended.note(&account("bob"), UnixTime(6), UnixTime(50));
        ended.note(&account("bob"), UnixTime(7), UnixTime(60));
        drop(ended);
        // As by who was killed while writing.
        fs::write(&path, [&fs::read(&path).expect("a file")[..], b"12 90 b\xc3"].concat()).expect("writable");
        let mut ended = open(10);
        assert_eq!(ended.at(&account("alice in chains")), Some(UnixTime(5)));
        assert_eq!((ended.at(&account("bob")), ended.at(&account("carol"))), (Some(UnixTime(7)), None));
        assert_eq!(ended.newest(), UnixTime(7));
        for number in 8..5000 {
            ended.note(&account("bob"), UnixTime(number), UnixTime(100));
        }
        drop(ended);
        assert!(fs::read_to_string(&path).expect("a file").lines().count() < 2000, "it does not grow for ever");
        assert_eq!(open(99).at(&account("bob")), Some(UnixTime(4999)));
        assert_eq!(open(100).len(), 0);
        fs::remove_dir_all(&folder).expect("it was there");
    }
}
