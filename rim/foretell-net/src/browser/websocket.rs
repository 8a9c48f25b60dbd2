//! WebSocket of the browser: for networks that let no UDP pass, and browsers that have no WebTransport.

use crate::browser::Clock;
use crate::browser::bindings::{MessageEvent, WebSocket};
use crate::browser::link::{Ear, Farewell, Link, Order, closing, message};
use crate::framing;
use crate::join::{ConnectError, Joined, Target, read_answer, unreached};
use crate::transport::Closed;
use foretell::session::DATAGRAM_MAX;
use futures_channel::mpsc;
use futures_util::StreamExt;
use js_sys::{ArrayBuffer, Uint8Array};
use std::sync::Arc;
use wasm_bindgen::prelude::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;

/// What waits in the browser behind more than so much comes too late, and is not sent.
const WAITING_BYTES_MAX: usize = 16 * DATAGRAM_MAX;

/// What the browser tells of a socket.
enum Event {
    Open,
    Message(Vec<u8>),
    Closed,
}

/// A socket of the browser's, which is closed when nobody has it any more.
struct Socket {
    socket: WebSocket,
    _handlers: [Closure<dyn FnMut(JsValue)>; 3],
}

impl Socket {
    fn open(target: &Target) -> Result<(Socket, mpsc::UnboundedReceiver<Event>), ConnectError> {
        let url = target.url.replacen("https", "wss", 1);
        let socket = WebSocket::new(&url).map_err(|error| unreached(message(&error)))?;
        socket.set_binary_type("arraybuffer");
        let (events, heard) = mpsc::unbounded();
        let handler = |event: fn(JsValue) -> Event| {
            let events = events.clone();
            // Who does not listen any more has let go of the socket.
            Closure::new(move |told| drop(events.unbounded_send(event(told))))
        };
        let handlers = [handler(|_| Event::Open), handler(read), handler(|_| Event::Closed)];
        let function = |at: usize| Some(handlers[at].as_ref().unchecked_ref());
        socket.set_on_open(function(0));
        socket.set_on_message(function(1));
        socket.set_on_close(function(2));
        Ok((Socket { socket, _handlers: handlers }, heard))
    }

    /// Bytes that the browser has not sent yet.
    fn waiting(&self) -> usize {
        self.socket.buffered_amount() as usize
    }

    /// Whether it was handed over.
    fn send(&self, bytes: &[u8]) -> bool {
        self.socket.send(bytes).is_ok()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.socket.set_on_open(None);
        self.socket.set_on_message(None);
        self.socket.set_on_close(None);
        self.socket.close_socket();
    }
}

/// A text is no message of ours: it becomes an empty one, which isn't either.
fn read(event: JsValue) -> Event {
    let data = event.unchecked_into::<MessageEvent>().data();
    Event::Message(data.dyn_ref::<ArrayBuffer>().map_or(Vec::new(), |bytes| Uint8Array::new(bytes).to_vec()))
}

pub(crate) async fn ask_by_socket(target: &Target, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
    let (socket, mut events) = Socket::open(target)?;
    if !matches!(events.next().await, Some(Event::Open)) || !socket.send(&framing::control(request)) {
        return Err(unreached("the WebSocket was not opened"));
    }
    let answer = match events.next().await {
        Some(Event::Message(bytes)) => framing::read_control(&bytes).map(<[u8]>::to_vec),
        _ => None,
    };
    let (session, ticket) = read_answer(answer.as_deref())?;
    let ear = Arc::new(Ear::new(clock));
    let (link, orders) = Link::new(Arc::clone(&ear), target.idle_timeout);
    spawn_local(listen(events, ear));
    spawn_local(write(socket, orders));
    Ok(Joined { session, ticket, transport: Box::new(link), farewell: Farewell })
}

async fn listen(mut events: mpsc::UnboundedReceiver<Event>, ear: Arc<Ear>) {
    while let Some(Event::Message(bytes)) = events.next().await {
        if let Err(why) = framing::take(&ear.inbox, ear.hear(), &bytes) {
            return ear.inbox.close(why);
        }
    }
    ear.inbox.close(Closed::Lost);
}

/// Does what the player asks for, and says why when it is over.
async fn write(socket: Socket, mut orders: mpsc::Receiver<Order>) {
    let mut why = Closed::Lost;
    while let Some(order) = orders.next().await {
        match order {
            Order::Datagram(datagram) if socket.waiting() <= WAITING_BYTES_MAX => {
                socket.send(&framing::datagram(&datagram));
            }
            Order::Datagram(_) => {}
            Order::Tell(message) => {
                socket.send(&framing::control(&message));
            }
            Order::Close(said) => {
                why = said;
                break;
            }
        }
    }
    // The browser sends what it was given before it closes.
    socket.send(&framing::control(&closing(why)));
}
