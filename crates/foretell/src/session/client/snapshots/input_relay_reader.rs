//! What a snapshot's datagram tells of the inputs of others.

use crate::rollback::RelayedInput;
use crate::session::input_relay_codec::RelayLine;
use crate::time::Tick;
use crate::wire::{BitReader, Malformed, Stream};
use crate::world::{Input, PlayerId};
use alloc::vec::Vec;

/// An input of another player.
#[derive(Clone, Copy, Debug)]
struct Told<I> {
    player: PlayerId,
    /// How many ticks after the snapshot's state; before it where negative.
    ahead: i64,
    input: RelayedInput<I>,
}

/// The inputs of others in the datagram that was read last.
pub(crate) struct InputRelayReader<I> {
    line: RelayLine<I>,
    /// Those of one player side by side, ascending.
    told: Vec<Told<I>>,
}

impl<I: Input> InputRelayReader<I> {
    pub(crate) fn new() -> InputRelayReader<I> {
        InputRelayReader { line: RelayLine::with_room(), told: Vec::new() }
    }

    pub(crate) fn read(&mut self, reader: &mut BitReader<'_>, widths: &[u8]) -> Result<(), Malformed> {
        self.told.clear();
        let mut more = false;
        reader.bool(&mut more)?;
        if !more {
            return Ok(());
        }
        while reader.take(1)? == 1 {
            let line = &mut self.line;
            line.stream(reader, widths)?;
            let told = (-i64::from(line.back)..).zip(&line.told);
            let player = line.player;
            self.told.extend(told.filter_map(|(ahead, told)| Some(Told { player, ahead, input: (*told)? })));
        }
        Ok(())
    }

    /// What was read with the snapshot of `tick`.
    pub(crate) fn told(&self, tick: Tick) -> ToldInputs<'_, I> {
        ToldInputs { told: &self.told, tick }
    }
}

/// The inputs of others that one snapshot tells.
#[derive(Clone, Copy)]
pub(crate) struct ToldInputs<'a, I> {
    told: &'a [Told<I>],
    tick: Tick,
}

impl<'a, I: Input> ToldInputs<'a, I> {
    /// The players of whom inputs are told, each with theirs by tick.
    pub(crate) fn by_player(
        self,
    ) -> impl Iterator<Item = (PlayerId, impl Iterator<Item = (Tick, RelayedInput<I>)> + 'a)> {
        self.told.chunk_by(|a, b| a.player == b.player).map(move |told| {
            let inputs = told.iter().filter_map(move |told| Some((ahead_of(self.tick, told.ahead)?, told.input)));
            (told[0].player, inputs)
        })
    }
}

fn ahead_of(tick: Tick, ahead: i64) -> Option<Tick> {
    let distance = u32::try_from(ahead.unsigned_abs()).ok()?;
    if ahead < 0 { tick.back(distance) } else { Some(tick + distance) }
}
