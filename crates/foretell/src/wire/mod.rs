//! Bits on the wire: a writer, a reader, and the one trait over which every message runs in both directions.
//!
//! Knows no session. Invariants: bits are written least significant first; reading never panics, never allocates, and
//! fails with [`Malformed`] where the bytes end too early or claim what is not allowed.

mod bit_batch;
mod bits;
mod change_coding;
mod encoded_bits;

pub(crate) use bit_batch::BitBatch;
pub use bits::{BitReader, BitWriter, Malformed, Stream};
pub(crate) use bits::{small_bits, small_code};
pub use change_coding::{read_change, stream_change, write_change};
pub(crate) use encoded_bits::EncodedBits;
