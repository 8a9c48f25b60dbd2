//! The inputs of other players in a snapshot: what a client needs to predict them.
//!
//! The state of tick n holds all inputs before tick n, so it is those that wait for tick n and later that make a correct
//! replay. The last applied ones are told besides: by them a client knows whether its guesses were right, also when a
//! snapshot or two were lost. Whatever it misses after that comes with the states.

use super::admission::Member;
use super::inputs::InputBuffer;
use super::peer::Peer;
use crate::rollback::RelayedInput;
use crate::session::datagram::DATAGRAM_MAX;
use crate::session::input_relay_codec::{RELAYED_TICKS_MAX, RelayLine};
use crate::time::Tick;
use crate::wire::{BitWriter, EncodedBits};
use crate::world::{Input, InputStatus, PlayerId, Rows, Schema, word_bits};
use alloc::vec::Vec;

/// Relayed inputs take at most half of a datagram beside rows. Where they don't fit, other players are told of in the next
/// snapshot.
pub(super) const BITS_MAX_BESIDE_ROWS: usize = DATAGRAM_MAX * 8 / 2;
/// And almost all of it beside a digest.
pub(super) const BITS_MAX_BESIDE_DIGEST: usize = (DATAGRAM_MAX - 150) * 8;
/// For how many snapshots inputs are told, as far as they are not acknowledged: with one of twenty lost, 1 in 8000 is
/// never told.
const SNAPSHOTS_COVERED: u32 = 3;

/// What is told with one state.
#[derive(Clone, Copy)]
pub(super) struct RelayTerms<'a> {
    /// The state, its rows, and what they are of.
    pub tick: Tick,
    pub rows: &'a Rows,
    pub schema: &'a Schema,
    /// Ticks between snapshots.
    pub interval: u32,
    /// How much of the datagram they may take.
    pub bits_max: usize,
    /// Whether the inputs of others are told, and of whom anything is in view.
    pub of_others: bool,
    pub is_in_view: &'a dyn Fn(PlayerId) -> bool,
    /// Whether all of them are told until they are acknowledged, and what the receiver's own were replaced by: nothing comes
    /// with the states.
    pub is_exact: bool,
}

/// Encodes the inputs of others for one receiver after the other. Its memory is used again.
pub(super) struct InputRelay<I> {
    widths: Vec<u8>,
    line: RelayLine<I>,
    encoded: EncodedBits,
}

impl<I: Input> InputRelay<I> {
    pub fn new() -> InputRelay<I> {
        let widths = word_bits(I::columns().iter());
        InputRelay { widths, line: RelayLine::with_room(), encoded: EncodedBits::default() }
    }

    /// What was encoded last.
    pub fn encoded(&self) -> &EncodedBits {
        &self.encoded
    }

    /// Encodes the inputs around a state of every other player of whom the receiver may see an entity. Returns with whom to
    /// begin the next time: the first who did not fit, so that everybody's turn comes.
    pub fn encode(&mut self, members: &[Member<Peer<I>>], receiver: usize, terms: RelayTerms<'_>) -> PlayerId {
        let mut encoded = core::mem::take(&mut self.encoded);
        let begin = encoded.fill(|writer| self.write(writer, members, receiver, terms));
        self.encoded = encoded;
        begin
    }

    fn write(
        &mut self,
        writer: &mut BitWriter<'_>,
        members: &[Member<Peer<I>>],
        receiver: usize,
        terms: RelayTerms<'_>,
    ) -> PlayerId {
        let peer = &members[receiver].peer;
        let acknowledged = peer.acks.acknowledged().unwrap_or(Tick::ZERO);
        let covered = if terms.is_exact { RELAYED_TICKS_MAX } else { SNAPSHOTS_COVERED * terms.interval };
        let since = acknowledged.max(terms.tick.back(covered).unwrap_or(Tick::ZERO));
        let mut begin = peer.relay_from;
        let first = members.partition_point(|member| member.player < begin);
        for index in (first..members.len()).chain(0..first) {
            let Member { player, peer, .. } = &members[index];
            let is_own = index == receiver;
            let is_told =
                if is_own { terms.is_exact && is_replaced(&peer.buffer, since, terms.tick) } else { terms.of_others };
            let has_rows = || terms.rows.shows_others(terms.schema, *player);
            let is_in_view = || if is_own { has_rows() } else { (terms.is_in_view)(*player) };
            if peer.spectates() || !is_told || !is_in_view() {
                continue;
            }
            self.line.player = *player;
            self.gather(&peer.buffer, since, terms.tick, is_own);
            if !self.put_line(writer, terms.bits_max) {
                begin = *player;
                break;
            }
        }
        writer.put(0, 1);
        begin
    }

    /// Writes the line if it fits. One that is too long by itself is cut; others wait for their turn.
    fn put_line(&mut self, writer: &mut BitWriter<'_>, bits_max: usize) -> bool {
        let before = writer.bit_len();
        loop {
            writer.put(1, 1);
            self.line.stream(writer, &self.widths).expect("a gathered line is in range");
            if writer.bit_len() <= bits_max {
                return true;
            }
            writer.truncate(before);
            if before > 0 || !self.shorten() {
                return false;
            }
        }
    }

    /// Leaves out some of the line: what is far ahead first, then what is oldest. Whether there was any.
    fn shorten(&mut self) -> bool {
        let line = &mut self.line;
        let (applied, all) = (line.back as usize, line.told.len());
        if all > applied {
            line.told.truncate(applied + (all - applied) / 2);
        } else {
            line.told.drain(..all.div_ceil(4));
            line.back = u32::try_from(line.told.len()).expect("at most 64 ticks");
        }
        all > 0
    }

    fn gather(&mut self, buffer: &InputBuffer<I>, since: Tick, tick: Tick, is_own: bool) {
        let line = &mut self.line;
        line.told.clear();
        let oldest = since.max(tick.back(RELAYED_TICKS_MAX).unwrap_or(Tick::ZERO));
        let applied = oldest.until(tick).skip_while(|tick| buffer.told(*tick).is_none());
        // Nothing was applied in ticks that were skipped.
        let none = RelayedInput { input: None, status: InputStatus::Repeated };
        line.told.extend(applied.map(|tick| buffer.told(tick).or(Some(none))));
        line.back = u32::try_from(line.told.len()).expect("at most 64 ticks");
        // Its own it knows.
        let newest = buffer.newest().filter(|_| !is_own);
        let ahead = newest.map_or(0, |newest| newest.next().since(tick)).min(RELAYED_TICKS_MAX);
        line.told.extend(tick.until(tick + ahead).map(|tick| buffer.told(tick)));
    }
}

/// Whether any input since then was not the player's own.
fn is_replaced<I: Copy + Default>(buffer: &InputBuffer<I>, since: Tick, tick: Tick) -> bool {
    let is_replaced = |tick| buffer.told(tick).is_some_and(|told| told.status != InputStatus::Received);
    since.until(tick).any(is_replaced)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::test_states::{self, PURSE, SHIP};
    use crate::session::{GapPolicy, PeerId};
    use crate::world::{Column, ComponentId, Entity, Field, Meaning};
    use alloc::collections::BTreeSet;

    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Aim([u32; 4]);

    impl Input for Aim {
        fn columns() -> Vec<Column> {
            vec![Column::of::<[u32; 4]>("aim", Meaning::Plain)]
        }
        fn write(&self, words: &mut [u32]) {
            self.0.put(words);
        }
        fn read(words: &[u32]) -> Aim {
            Aim(<[u32; 4]>::get(words))
        }
    }

    /// Players 1 and so on, each with an entity of a component.
    fn members(components: impl IntoIterator<Item = ComponentId>, rows: &mut Rows) -> Vec<Member<Peer<Aim>>> {
        let member = |(nth, component)| {
            let player = PlayerId::new(nth);
            test_states::set(rows, test_states::key(component, Entity::new(player, Tick::ZERO, 0)), 0);
            Member::new(player, PeerId(0), Peer::new(Tick::ZERO, &crate::world::Messages::new()))
        };
        (1..).zip(components).map(member).collect()
    }

    /// Sends to the first of them, again and again. Returns of whom it has heard.
    fn heard(members: &mut [Member<Peer<Aim>>], rows: &Rows, tick: u32, times: usize) -> BTreeSet<u16> {
        let (mut relay, mut heard) = (InputRelay::new(), BTreeSet::new());
        let schema = test_states::schema();
        let terms = RelayTerms {
            tick: Tick::new(tick),
            rows,
            schema: &schema,
            interval: 1,
            bits_max: BITS_MAX_BESIDE_ROWS,
            of_others: true,
            is_in_view: &|player| rows.shows_others(&schema, player),
            is_exact: false,
        };
        for _ in 0..times {
            members[0].peer.relay_from = relay.encode(members, 0, terms);
            assert!(relay.encoded().bit_len() <= BITS_MAX_BESIDE_ROWS + 1);
            let mut line = RelayLine::<Aim>::with_room();
            let mut reader = relay.encoded().reader();
            while reader.take(1) == Ok(1) {
                line.stream(&mut reader, &[32; 4]).expect("well-formed");
                assert!(!line.told.is_empty());
                heard.insert(line.player.get());
            }
        }
        heard
    }

    #[test]
    fn relayed_inputs_take_half_of_a_datagram_at_most_and_everybody_gets_their_turn() {
        let mut rows = Rows::new(&test_states::schema());
        // The last one has nothing that others may see.
        let mut members = members((1..=100).map(|nth| if nth == 100 { PURSE } else { SHIP }), &mut rows);
        for (nth, member) in (0_u32..).zip(&mut members) {
            for tick in Tick::ZERO.until(Tick::new(60)) {
                member.peer.buffer.offer(tick, Aim([tick.get(), nth, 7, 7]), None);
                member.peer.buffer.take(member.player, GapPolicy::Hold);
            }
        }
        assert_eq!(heard(&mut members, &rows, 60, 12), (2..100).collect());
    }

    /// One who is far ahead, and presses something else in every tick.
    #[test]
    fn a_line_that_is_too_long_by_itself_is_cut_and_the_others_are_told() {
        let mut rows = Rows::new(&test_states::schema());
        let mut members = members([SHIP; 3], &mut rows);
        for member in &mut members {
            for tick in Tick::ZERO.until(Tick::new(63)) {
                member.peer.buffer.offer(tick, Aim([tick.get(), 1, tick.get() * 7, 7]), None);
            }
        }
        assert_eq!(heard(&mut members, &rows, 0, 4), BTreeSet::from([2, 3]));
    }
}
