//! What is done beside the frames of an app: a thread for its connections. In a browser that is its own affair.

use core::pin::Pin;

/// What is looked at in each frame, whether it is done; nobody wakes who waits for it.
pub(crate) type Begun<T> = Pin<Box<dyn Future<Output = T>>>;

#[cfg(not(target_arch = "wasm32"))]
mod native {
    use super::Begun;
    use tokio::runtime::{Builder, Runtime};

    /// A thread beside the app, in which its connections are kept.
    pub(crate) struct Background(Runtime);

    impl Background {
        pub fn new() -> Result<Background, String> {
            let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
            runtime.map(Background).map_err(|error| error.to_string())
        }

        /// Does something that begins work beside the app, or goes on with it.
        pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
            let _inside = self.0.enter();
            work()
        }

        /// Begins something that takes several frames.
        pub fn begin<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Begun<T> {
            Box::pin(work)
        }

        /// The last that is done: waits until it is.
        pub fn finish(self, work: impl Future<Output = ()> + 'static) {
            self.0.block_on(work);
        }

        /// Gives up what is under way, and waits for nothing of it.
        pub fn abandon(self) {
            self.0.shutdown_background();
        }
    }
}

#[cfg(target_arch = "wasm32")]
mod browser {
    use super::Begun;
    use core::cell::Cell;
    use core::future::poll_fn;
    use core::task::Poll;
    use std::rc::Rc;

    /// The event loop of the page, which comes by itself.
    pub(crate) struct Background;

    impl Background {
        pub fn new() -> Result<Background, String> {
            Ok(Background)
        }

        /// Does something that begins work beside the app, or goes on with it.
        pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
            work()
        }

        /// Begins something that takes several frames. It goes on between them: a page may take seconds for its first ones.
        pub fn begin<T: 'static>(&self, work: impl Future<Output = T> + 'static) -> Begun<T> {
            let done = Rc::new(Cell::new(None));
            let seen = Rc::clone(&done);
            wasm_bindgen_futures::spawn_local(async move { done.set(Some(work.await)) });
            Box::pin(poll_fn(move |_| seen.take().map_or(Poll::Pending, Poll::Ready)))
        }

        /// The last that is done: nothing in a page may wait for it.
        pub fn finish(self, work: impl Future<Output = ()> + 'static) {
            wasm_bindgen_futures::spawn_local(work);
        }

        /// Gives up what is under way, and waits for nothing of it.
        pub fn abandon(self) {}
    }
}

#[cfg(target_arch = "wasm32")]
pub(crate) use browser::Background;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use native::Background;
