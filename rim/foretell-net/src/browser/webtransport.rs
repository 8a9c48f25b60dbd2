//! WebTransport of the browser: three tasks for each connection, for datagrams in, messages in, and all that goes out.

use crate::browser::Clock;
use crate::browser::bindings::{Datagrams, ReadResult, Reader, Stream, WebTransport, Writable, Writer};
use crate::browser::link::{Ear, FAREWELL, Farewell, Link, Order, closing, message};
use crate::browser::tasks::{sleep, within};
use crate::framing::take_message;
use crate::join::{ConnectError, Joined, Target, read_answer, unreached};
use crate::join_url::CertificateHash;
use crate::pieces::Pieces;
use crate::transport::Closed;
use futures_channel::mpsc;
use futures_util::StreamExt;
use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::time::Duration;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};

/// How many datagrams the browser keeps that the page has not read yet; by default it is one.
const WAITING_MAX: u32 = 64;

/// A session of the browser's, which is closed when nobody has it any more.
struct Session(WebTransport);

impl Session {
    /// Ends it, and with it what is under way.
    fn close(&self, why: Closed) {
        let info = Object::new();
        set(&info, "closeCode", &JsValue::from(why.code() as u32));
        // It may be closed already.
        let _ = self.0.close(&info);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.close(Closed::Lost);
    }
}

/// A session on which nothing was shown yet.
pub(crate) struct Reached {
    session: Rc<Session>,
    stream: Stream,
    ear: Arc<Ear>,
    idle_timeout: Duration,
}

pub(crate) async fn reach_by_webtransport(target: &Target, clock: Clock) -> Result<Reached, ConnectError> {
    let ear = Arc::new(Ear::new(clock));
    let session =
        WebTransport::new(&target.url, &options(&target.hashes)).map_err(|error| unreached(message(&error)))?;
    let session = Rc::new(Session(session));
    spawn_local(listen_for_end(session.0.closed(), Arc::clone(&ear)));
    settled(session.0.ready()).await?;
    session.0.datagrams().set_incoming_high_water_mark(WAITING_MAX);
    let stream: Stream = settled(session.0.create_bidirectional_stream()).await?.unchecked_into();
    Ok(Reached { session, stream, ear, idle_timeout: target.idle_timeout })
}

impl Reached {
    /// Asks for a place.
    pub(crate) async fn ask(self, request: &[u8]) -> Result<Joined, ConnectError> {
        let Reached { session, stream, ear, idle_timeout } = self;
        let (writer, reader) = (stream.stream_writable().get_writer(), stream.stream_readable().get_reader());
        settled(writer.write(&Uint8Array::from(request))).await?;
        let mut pieces = Pieces::default();
        let answer = read_message(&reader, &mut pieces).await;
        let (number, ticket) = read_answer(answer.as_deref())?;
        let (link, orders) = Link::new(Arc::clone(&ear), idle_timeout);
        let datagrams = session.0.datagrams();
        spawn_local(read_datagrams(datagrams.readable().get_reader(), Arc::clone(&ear)));
        spawn_local(read_messages(reader, pieces, Rc::downgrade(&session), Arc::clone(&ear)));
        spawn_local(write(session, writable(&datagrams).get_writer(), writer, orders));
        Ok(Joined { session: number, ticket, transport: Box::new(link), farewell: Farewell })
    }
}

/// The certificates by which the server is known; without any the browser asks its authorities.
fn options(hashes: &[CertificateHash]) -> Object {
    let known = Array::new();
    for hash in hashes {
        let one = Object::new();
        set(&one, "algorithm", &JsValue::from_str("sha-256"));
        set(&one, "value", &Uint8Array::from(&hash[..]));
        known.push(&one);
    }
    let options = Object::new();
    set(&options, "requireUnreliable", &JsValue::TRUE);
    if !hashes.is_empty() {
        set(&options, "serverCertificateHashes", &known);
    }
    options
}

fn set(object: &Object, name: &str, value: &JsValue) {
    Reflect::set(object, &JsValue::from_str(name), value).expect("an object of our own takes everything");
}

/// Where datagrams go in, by whichever name this browser has for it.
fn writable(datagrams: &Datagrams) -> Writable {
    datagrams.create_writable().unwrap_or_else(|_| datagrams.writable())
}

async fn settled(promise: Promise) -> Result<JsValue, ConnectError> {
    JsFuture::from(promise).await.map_err(|error| unreached(message(&error)))
}

/// The next piece of a stream; `None` when there is none, or the connection is over.
async fn read(reader: &Reader) -> Option<Vec<u8>> {
    let result: ReadResult = JsFuture::from(reader.read()).await.ok()?.unchecked_into();
    (!result.done()).then(|| result.value().to_vec())
}

/// The next message, without its length; `None` when the stream ends, or claims that one is longer than any is.
async fn read_message(reader: &Reader, pieces: &mut Pieces) -> Option<Vec<u8>> {
    loop {
        if let Some(message) = pieces.next().ok()? {
            return Some(message);
        }
        pieces.push(&read(reader).await?);
    }
}

async fn read_datagrams(reader: Reader, ear: Arc<Ear>) {
    while let Some(datagram) = read(&reader).await {
        ear.inbox.datagram(ear.hear(), &datagram);
    }
}

async fn read_messages(reader: Reader, mut pieces: Pieces, session: Weak<Session>, ear: Arc<Ear>) {
    while let Some(message) = read_message(&reader, &mut pieces).await {
        ear.hear();
        if let Err(why) = take_message(&ear.inbox, &message) {
            return ear.inbox.close(why);
        }
    }
    // The stream is as long as the connection. When it ends because that does, the reason comes a moment later.
    sleep(FAREWELL).await;
    if ear.inbox.closed().is_none() {
        ear.inbox.close(Closed::Violation);
        session.upgrade().inspect(|session| session.close(Closed::Violation));
    }
}

/// Does what the player asks for, and says why when it is over.
async fn write(session: Rc<Session>, datagrams: Writer, stream: Writer, mut orders: mpsc::Receiver<Order>) {
    let mut why = Closed::Lost;
    while let Some(order) = orders.next().await {
        // What fails here, fails because the connection is over: the reason is heard elsewhere.
        let _ = match order {
            Order::Datagram(datagram) => put(&datagrams, &datagram).await,
            Order::Tell(message) => put(&stream, &message).await,
            Order::Close(said) => {
                why = said;
                break;
            }
        };
    }
    // To the other end a session that a browser has closed without a word is a good-bye.
    within(FAREWELL, put(&stream, &closing(why))).await;
    session.close(why);
}

async fn put(writer: &Writer, bytes: &[u8]) -> Result<JsValue, JsValue> {
    JsFuture::from(writer.write(&Uint8Array::from(bytes))).await
}

/// The browser tells why a session has ended where the other end has said so by its rules, else that it failed.
async fn listen_for_end(closed: Promise, ear: Arc<Ear>) {
    let why = match JsFuture::from(closed).await {
        Ok(info) => {
            let code = Reflect::get(&info, &JsValue::from_str("closeCode")).ok().and_then(|code| code.as_f64());
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes are u32")]
            code.map_or(Closed::Lost, |code| Closed::from_code(code as u64))
        }
        Err(_) => Closed::Lost,
    };
    ear.inbox.close(why);
}
