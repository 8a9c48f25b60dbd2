//! A congestion window that does not move, and how QUIC is set up around it.

use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wtransport::quinn::congestion::{Controller, ControllerFactory};
use wtransport::quinn::{IdleTimeout, TransportConfig, VarInt};

/// Bytes that may be under way: the largest rate (1 MB/s) over a round trip of 250 ms. The windows that
/// QUIC has by default shrink with each loss, and then a datagram waits for the acknowledgement of others: at 10% loss
/// and 600 packets/s the 99th percentile of the round trip rises from 57 to 592 ms. A tick that waits is worth nothing,
/// so it is the rate that is limited, before the datagram is handed over: [`RateLimit`](crate::rate_limit::RateLimit).
const WINDOW_BYTES: u64 = 256 * 1024;

/// A window of constant size.
#[derive(Clone, Copy, Debug)]
struct FixedWindow;

impl Controller for FixedWindow {
    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _lost_bytes: u64) {}

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn initial_window(&self) -> u64 {
        WINDOW_BYTES
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for FixedWindow {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// How either end sets up QUIC. What one connection can make the other end keep is bounded: 64 kB of datagrams and
/// 128 kB of streams that nobody has read yet, 4 streams both ways (a session and its reliable stream take two) and 8
/// one way (HTTP/3 takes three, and browsers grease).
///
/// # Panics
/// When `idle` is longer than 2^62 ms.
pub(crate) fn transport_config(idle: Duration) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(Arc::new(FixedWindow))
        .max_idle_timeout(Some(IdleTimeout::try_from(idle).expect("an idle timeout of less than 2^62 ms")))
        .keep_alive_interval(Some((idle / 4).min(Duration::from_secs(1))))
        .datagram_receive_buffer_size(Some(64 * 1024))
        // Nobody wants a datagram that has waited for longer than a few ticks; of too many the oldest are dropped.
        .datagram_send_buffer_size(32 * 1024)
        .stream_receive_window(VarInt::from_u32(32 * 1024))
        .receive_window(VarInt::from_u32(128 * 1024))
        .send_window(128 * 1024)
        .max_concurrent_bidi_streams(VarInt::from_u32(4))
        .max_concurrent_uni_streams(VarInt::from_u32(8));
    config
}
