//! Work beside the caller's, and waiting: by tokio.

use std::time::Duration;
use tokio::runtime::Handle;

pub(crate) use tokio::time::sleep;

/// Where a client's work runs when its caller is not in a runtime.
pub(crate) struct Tasks(Handle);

impl Tasks {
    /// The runtime in which it is called.
    pub(crate) fn here() -> Tasks {
        Tasks(Handle::current())
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(work);
    }
}

/// What comes of `work`, if it does within so long.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(time, work).await.ok()
}
