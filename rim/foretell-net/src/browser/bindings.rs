//! What is used of the browser's own classes. (`web-sys` has WebTransport behind a flag of the compiler.)

use js_sys::{Function, Object, Promise, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    pub(super) fn set_timeout(then: &Function, millis: i32);

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub(super) fn performance_now() -> f64;

    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues)]
    pub(super) fn get_random_values(bytes: &mut [u8]);
}

#[wasm_bindgen]
extern "C" {
    pub(super) type WebTransport;
    #[wasm_bindgen(constructor, catch)]
    pub(super) fn new(url: &str, options: &Object) -> Result<WebTransport, JsValue>;
    #[wasm_bindgen(method, getter)]
    pub(super) fn ready(this: &WebTransport) -> Promise;
    #[wasm_bindgen(method, getter)]
    pub(super) fn closed(this: &WebTransport) -> Promise;
    #[wasm_bindgen(method, getter)]
    pub(super) fn datagrams(this: &WebTransport) -> Datagrams;
    #[wasm_bindgen(method, js_name = createBidirectionalStream)]
    pub(super) fn create_bidirectional_stream(this: &WebTransport) -> Promise;
    #[wasm_bindgen(method, catch)]
    pub(super) fn close(this: &WebTransport, info: &Object) -> Result<(), JsValue>;

    pub(super) type Datagrams;
    #[wasm_bindgen(method, getter)]
    pub(super) fn readable(this: &Datagrams) -> Readable;
    /// Of browsers that do not have `createWritable` yet.
    #[wasm_bindgen(method, getter)]
    pub(super) fn writable(this: &Datagrams) -> Writable;
    #[wasm_bindgen(method, catch, js_name = createWritable)]
    pub(super) fn create_writable(this: &Datagrams) -> Result<Writable, JsValue>;
    #[wasm_bindgen(method, setter, js_name = incomingHighWaterMark)]
    pub(super) fn set_incoming_high_water_mark(this: &Datagrams, datagrams: u32);

    pub(super) type Stream;
    #[wasm_bindgen(method, getter, js_name = readable)]
    pub(super) fn stream_readable(this: &Stream) -> Readable;
    #[wasm_bindgen(method, getter, js_name = writable)]
    pub(super) fn stream_writable(this: &Stream) -> Writable;

    pub(super) type Readable;
    #[wasm_bindgen(method, js_name = getReader)]
    pub(super) fn get_reader(this: &Readable) -> Reader;

    pub(super) type Reader;
    #[wasm_bindgen(method)]
    pub(super) fn read(this: &Reader) -> Promise;

    pub(super) type ReadResult;
    #[wasm_bindgen(method, getter)]
    pub(super) fn done(this: &ReadResult) -> bool;
    #[wasm_bindgen(method, getter)]
    pub(super) fn value(this: &ReadResult) -> Uint8Array;

    pub(super) type Writable;
    #[wasm_bindgen(method, js_name = getWriter)]
    pub(super) fn get_writer(this: &Writable) -> Writer;

    pub(super) type Writer;
    #[wasm_bindgen(method)]
    pub(super) fn write(this: &Writer, chunk: &Uint8Array) -> Promise;
}

#[wasm_bindgen]
extern "C" {
    pub(super) type WebSocket;
    #[wasm_bindgen(constructor, catch)]
    pub(super) fn new(url: &str) -> Result<WebSocket, JsValue>;
    #[wasm_bindgen(method, setter, js_name = binaryType)]
    pub(super) fn set_binary_type(this: &WebSocket, kind: &str);
    #[wasm_bindgen(method, setter, js_name = onopen)]
    pub(super) fn set_on_open(this: &WebSocket, handler: Option<&Function>);
    #[wasm_bindgen(method, setter, js_name = onmessage)]
    pub(super) fn set_on_message(this: &WebSocket, handler: Option<&Function>);
    #[wasm_bindgen(method, setter, js_name = onclose)]
    pub(super) fn set_on_close(this: &WebSocket, handler: Option<&Function>);
    #[wasm_bindgen(method, getter, js_name = bufferedAmount)]
    pub(super) fn buffered_amount(this: &WebSocket) -> u32;
    #[wasm_bindgen(method, catch)]
    pub(super) fn send(this: &WebSocket, bytes: &[u8]) -> Result<(), JsValue>;
    #[wasm_bindgen(method, js_name = close)]
    pub(super) fn close_socket(this: &WebSocket);

    pub(super) type MessageEvent;
    #[wasm_bindgen(method, getter)]
    pub(super) fn data(this: &MessageEvent) -> JsValue;
}
