//! A link in memory: what goes in comes out so many ticks later, in order, and nothing is lost.

use std::collections::VecDeque;

/// One direction of a link.
pub struct Link<M> {
    delay_ticks: u32,
    /// When each message is there, in ticks; ascending.
    on_the_way: VecDeque<(u32, M)>,
}

impl<M> Link<M> {
    /// Without messages.
    pub fn new(delay_ticks: u32) -> Link<M> {
        Link { delay_ticks, on_the_way: VecDeque::new() }
    }

    /// Sends a message in a tick.
    pub fn send(&mut self, tick: u32, message: M) {
        self.on_the_way.push_back((tick + self.delay_ticks, message));
    }

    /// The next message that is there in a tick.
    pub fn receive(&mut self, tick: u32) -> Option<M> {
        let is_there = self.on_the_way.front().is_some_and(|(due, _)| *due <= tick);
        if is_there { self.on_the_way.pop_front().map(|(_, message)| message) } else { None }
    }
}

/// Both directions.
pub struct Links<M> {
    /// To the server.
    pub up: Link<M>,
    /// To the client.
    pub down: Link<M>,
}

impl<M> Links<M> {
    /// Without messages.
    pub fn new(delay_ticks: u32) -> Links<M> {
        Links { up: Link::new(delay_ticks), down: Link::new(delay_ticks) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_there_so_many_ticks_later_and_in_order() {
        let mut link = Link::new(3);
        link.send(5, 'a');
        link.send(5, 'b');
        link.send(6, 'c');
        assert_eq!(link.receive(7), None);
        assert_eq!([link.receive(8), link.receive(8), link.receive(8)], [Some('a'), Some('b'), None]);
        assert_eq!(link.receive(20), Some('c'));
    }
}
