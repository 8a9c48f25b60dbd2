//! A link with numbered datagrams.

use super::architecture::FrameInput;
use foretell::Instant;
use foretell_sim::netsim::Link;

/// NumberedLink datagrams of numbers; those that come after a newer one are not read.
pub struct NumberedLink {
    link: Link,
    sent: u64,
    newest: Option<u64>,
}

impl NumberedLink {
    /// Nothing is under way.
    pub fn new(seed: u64) -> NumberedLink {
        NumberedLink { link: Link::new(seed, !seed), sent: 0, newest: None }
    }

    /// Sends the next datagram.
    pub fn send(&mut self, input: &FrameInput<'_>, numbers: impl IntoIterator<Item = f64>) {
        let mut bytes = self.sent.to_le_bytes().to_vec();
        numbers.into_iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        self.link.send(input.now, &bytes, input.conditions);
        self.sent += 1;
    }

    /// The numbers of a datagram that has come.
    pub fn receive(&mut self, now: Instant) -> Option<Vec<f64>> {
        loop {
            let delivery = self.link.receive(now)?;
            let (words, _) = delivery.bytes.as_chunks::<8>();
            let number = u64::from_le_bytes(words[0]);
            if self.newest < Some(number) {
                self.newest = Some(number);
                return Some(words[1..].iter().map(|word| f64::from_le_bytes(*word)).collect());
            }
        }
    }
}
