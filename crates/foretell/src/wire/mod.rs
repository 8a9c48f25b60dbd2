//! Bits on the wire: a writer, a reader, and the one trait over which every message runs in both directions.
//!
//! Knows no session. Invariants: bits are written least significant first; reading never panics, never allocates, and
//! fails with [`Malformed`] where the bytes end too early or claim what is not allowed.

mod bit_batch;
mod bit_stream;
mod encoded_bits;
mod same_as_previous;

pub(crate) use bit_batch::BitBatch;
pub use bit_stream::{BitReader, BitWriter, Malformed, Stream};
pub(crate) use bit_stream::{small_bits, small_code};
pub(crate) use encoded_bits::EncodedBits;
pub use same_as_previous::{read_change, stream_change, write_change};
