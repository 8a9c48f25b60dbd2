//! Who a player is, beyond sessions and servers; and the clock by which tokens expire.

use crate::platform::unix_millis;
use foretell::world::AccountName;
use std::fmt;
use std::time::Duration;

/// The longest name of an account or of an audience, in bytes.
pub const NAME_MAX: usize = 64;

/// Who a player is: the name by which whoever issues tokens knows them. 1 to 64 bytes without control characters.
///
/// Its `Debug` is the name in quotes, with everything escaped that is not seen: so it stands in a log, where a name like
/// `x player=1` is no field of its own.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(Box<str>);

impl Account {
    /// The account of this name; `None` when it is empty, longer than 64 bytes, or has control characters.
    pub fn new(name: &str) -> Option<Account> {
        is_name(name).then(|| Account(name.into()))
    }

    /// The account as the session knows it: [`Server::identify`](foretell::Server::identify).
    pub fn name(&self) -> AccountName {
        AccountName::new(&self.0)
    }

    /// Its name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Account {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, out)
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && !name.chars().any(char::is_control)
}

/// A point in time that machines agree on, as far as their clocks do: milliseconds since 1970 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct UnixTime(pub u64);

impl UnixTime {
    /// What this machine's clock shows.
    pub fn now() -> UnixTime {
        UnixTime(unix_millis())
    }

    /// So much later.
    #[must_use]
    pub fn after(self, time: Duration) -> UnixTime {
        UnixTime(self.0.saturating_add(millis(time)))
    }

    /// So much earlier.
    #[cfg(not(target_arch = "wasm32"))]
    #[must_use]
    pub(crate) fn before(self, time: Duration) -> UnixTime {
        UnixTime(self.0.saturating_sub(millis(time)))
    }

    /// How long it is since `earlier`; zero when that is later.
    pub fn since(self, earlier: UnixTime) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
