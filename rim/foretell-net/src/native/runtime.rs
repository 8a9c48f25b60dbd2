//! Where many connections are cheap: one thread that rests, and then does everything that has come meanwhile.

use std::io;
use std::thread::sleep;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// For so long a thread rests that has nothing to do.
const REST: Duration = Duration::from_millis(1);

/// A runtime of tokio for a server, or for many clients in one program: of one thread, which rests for a millisecond
/// whenever it has nothing to do. Datagrams wait for that long at most, and are then read in batches; without it each
/// wakes a thread, which costs as much as all the rest (`docs/MEASURED.md`). A program that does other work
/// as well gives it a thread of its own.
///
/// # Errors
/// When the system gives it no means to wait for sockets.
pub fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().on_thread_park(|| sleep(REST)).build()
}
