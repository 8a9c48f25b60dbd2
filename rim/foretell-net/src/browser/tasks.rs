//! Work beside the caller's, and waiting: by the page's event loop.

use crate::browser::bindings::set_timeout;
use futures_util::future::{Either, select};
use js_sys::Promise;
use std::pin::pin;
use std::time::Duration;
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// Where a client's work runs: there is one place.
pub(crate) struct Tasks;

impl Tasks {
    pub(crate) fn here() -> Tasks {
        Tasks
    }

    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        spawn_local(work);
    }
}

/// Waits for so long, at least.
pub(crate) async fn sleep(time: Duration) {
    let millis = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let promise = Promise::new(&mut |resolve, _| set_timeout(&resolve, millis));
    // A timer has no way to fail.
    let _ = JsFuture::from(promise).await;
}

/// In such steps it is counted how long something takes.
const STEP: Duration = Duration::from_millis(100);

/// What comes of `work`, if it does within so long. While the page stands still, as in its first frames, nothing can come: such a time
/// counts as one step.
pub(crate) async fn within<T>(time: Duration, work: impl Future<Output = T>) -> Option<T> {
    let waiting = async {
        for _ in 0..time.as_millis().div_ceil(STEP.as_millis()) {
            sleep(STEP).await;
        }
    };
    match select(pin!(work), pin!(waiting)).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}
