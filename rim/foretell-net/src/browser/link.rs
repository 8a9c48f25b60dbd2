//! A connection of the browser's as a [`Transport`]: queues between the page's frames and the tasks that have the objects
//! of JavaScript.

use crate::browser::{Clock, sleep};
use crate::control::Control;
use crate::inbox::{Inbox, Quota};
use crate::silence::Silence;
use crate::transport::{Came, Closed, PathFacts, Transport, Unsent};
use foretell::Instant;
use foretell::session::DATAGRAM_MAX;
use futures_channel::mpsc;
use js_sys::{Error, Object};
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen::{JsCast, JsValue};

/// How much waits at most for the browser to take it: more than that comes too late.
const ORDERS_MAX: usize = 16;
/// For so long the other end may take in a farewell before the connection is cut.
pub(super) const FAREWELL: Duration = Duration::from_millis(300);

/// What a player asks of a connection.
pub(super) enum Order {
    Datagram(Vec<u8>),
    Tell(Vec<u8>),
    Close(Closed),
}

/// What a connection hears, and for how long it has heard nothing.
#[derive(Debug)]
pub(super) struct Ear {
    pub inbox: Inbox,
    clock: Clock,
    silence: Silence,
}

impl Ear {
    pub(super) fn new(clock: Clock) -> Ear {
        Ear { inbox: Inbox::new(Quota::FROM_SERVER), clock, silence: Silence::begin(clock.now()) }
    }

    /// Something has come now.
    pub(super) fn hear(&self) -> Instant {
        self.silence.end();
        self.clock.now()
    }

    fn is_silent_for(&self, time: Duration) -> bool {
        self.silence.lasts(self.clock.now()) >= time
    }
}

/// A connection that was admitted. Dropping it cuts the connection: to the other end it is lost.
pub(super) struct Link {
    ear: Arc<Ear>,
    orders: mpsc::Sender<Order>,
    idle_timeout: Duration,
    facts: PathFacts,
}

impl Link {
    /// A connection that hears by `ear`; and what it is asked to do, for the task that does it. When that ends without a
    /// word the connection is to be closed as lost.
    pub(super) fn new(ear: Arc<Ear>, idle_timeout: Duration) -> (Link, mpsc::Receiver<Order>) {
        let (orders, taken) = mpsc::channel(ORDERS_MAX);
        let facts = PathFacts { datagram_max: DATAGRAM_MAX, ..PathFacts::default() };
        (Link { ear, orders, idle_timeout, facts }, taken)
    }

    fn order(&mut self, order: Order) -> Result<(), Unsent> {
        self.orders.try_send(order).map_err(|error| if error.is_full() { Unsent::HeldBack } else { Unsent::Closed })
    }
}

impl Transport for Link {
    fn send(&mut self, datagram: &[u8]) -> Result<(), Unsent> {
        if datagram.len() > DATAGRAM_MAX {
            return Err(Unsent::TooLong);
        }
        self.order(Order::Datagram(datagram.to_vec()))?;
        self.facts.sent += 1;
        Ok(())
    }

    fn tell(&mut self, message: &[u8]) -> Result<(), Unsent> {
        self.order(Order::Tell(message.to_vec()))
    }

    /// What comes stands for the acknowledgements, which browsers do not tell: the server sends in every tick.
    fn drain(&mut self, each: &mut dyn FnMut(Came<'_>)) {
        let acks = &mut self.facts.acks;
        self.ear.inbox.drain(&mut |came| {
            *acks += 1;
            each(came);
        });
    }

    fn path(&self) -> PathFacts {
        self.facts
    }

    fn closed(&self) -> Option<Closed> {
        self.ear.inbox.closed().or_else(|| self.ear.is_silent_for(self.idle_timeout).then_some(Closed::Lost))
    }

    fn close(&mut self, why: Closed) {
        self.ear.inbox.close(why);
        let _ = self.order(Order::Close(why));
        self.orders.close_channel();
    }
}

/// What waits until the other end knows of a close.
pub(crate) struct Farewell;

impl Farewell {
    /// The browser does not tell.
    pub(crate) async fn wait(&mut self) {
        sleep(FAREWELL).await;
    }
}

/// The last message of the stream.
pub(super) fn closing(why: Closed) -> Vec<u8> {
    Control::Closing(why).framed()
}

/// What an error of JavaScript says.
pub(super) fn message(error: &JsValue) -> String {
    match error.dyn_ref::<Error>() {
        Some(error) => String::from(error.message()),
        None => String::from(Object::from(error.clone()).to_string()),
    }
}
