//! What is asked of a library: a server and its clients, that play a crowd tick by tick.

use crate::crowd::Change;
use foretell_bench::Spent;
use foretell_crowd::Body;

/// What the ends have taken of the processor, and what has gone down.
#[derive(Clone, Copy, Default, Debug)]
pub struct Costs {
    /// The server's ticks: what has come is taken in, changes are found, messages are written and handed to the transport.
    pub server: Spent,
    /// The clients' ticks, each one of one client: the same of what they are sent.
    pub client: Spent,
    /// What was handed to the server's transport for all clients, without the headers of a network.
    pub bytes_down: u64,
}

/// A server that has a crowd, and clients who see all of it. They are connected from the start, or will be after some ticks.
pub trait Peer {
    /// Writes what has changed into the server's world, outside of what is timed.
    fn write(&mut self, changes: &[Change]);

    /// A tick of the server, then one of each client.
    fn tick(&mut self, costs: &mut Costs);

    /// Whether each client has so many entities.
    fn all_have(&mut self, count: usize) -> bool;

    /// Whether a client has something else than this, beyond the precision that the library was asked for.
    fn diverges(&mut self, truth: &[Body]) -> bool;
}

/// The bits of a body, as something that can be sorted.
pub fn bits(body: &Body) -> [u32; 10] {
    let [x, y, z] = body.position.map(f32::to_bits);
    let [a, b, c, d] = body.rotation.map(f32::to_bits);
    let [u, v, w] = body.velocity.map(f32::to_bits);
    [x, y, z, a, b, c, d, u, v, w]
}

/// Whether these are the same bodies bit by bit, whichever is which.
pub fn are_same<'a>(held: impl Iterator<Item = Body>, truth: impl Iterator<Item = &'a Body>) -> bool {
    let mut held: Vec<_> = held.map(|body| bits(&body)).collect();
    let mut truth: Vec<_> = truth.map(bits).collect();
    held.sort_unstable();
    truth.sort_unstable();
    held == truth
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_the_same_in_any_order_and_different_by_one_bit() {
        let bodies = [Body::first(0, 9), Body::first(1, 9), Body::first(2, 9)];
        assert!(are_same(bodies.into_iter().rev(), bodies.iter()));
        assert!(!are_same(bodies.into_iter().skip(1), bodies.iter()));
        let mut other = bodies;
        other[1].velocity[2] += f32::MIN_POSITIVE;
        assert!(!are_same(other.into_iter(), bodies.iter()));
    }
}
