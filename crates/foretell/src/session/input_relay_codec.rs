//! Inputs of other players on the wire: what the server has applied and what waits in its buffers, change-coded.

use crate::rollback::RelayedInput;
use crate::wire::{Malformed, Stream, stream_change};
use crate::world::{Input, InputStatus, PlayerId, ROW_WORDS_MAX};
use alloc::vec::Vec;

/// How many ticks before a snapshot inputs are told at most, and how many after it.
pub(crate) const RELAYED_TICKS_MAX: u32 = 64;

/// One player's inputs around the state of a snapshot.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct RelayLine<I> {
    pub player: PlayerId,
    /// How many of the inputs were applied before the state; the rest waits.
    pub back: u32,
    /// By tick, ascending; `None` where the input has not come.
    pub told: Vec<Option<RelayedInput<I>>>,
}

impl<I: Input> RelayLine<I> {
    /// One that needs no more memory as long as it is reused.
    pub(crate) fn with_room() -> RelayLine<I> {
        let told = Vec::with_capacity(2 * RELAYED_TICKS_MAX as usize);
        RelayLine { player: PlayerId::SERVER, back: 0, told }
    }

    pub(crate) fn stream(&mut self, stream: &mut impl Stream, widths: &[u8]) -> Result<(), Malformed> {
        let mut player = u32::from(self.player.get());
        stream.small(&mut player)?;
        self.player = PlayerId::new(u16::try_from(player).map_err(|_| Malformed::OutOfRange("player"))?);
        let mut ahead = u32::try_from(self.told.len()).unwrap_or(u32::MAX).saturating_sub(self.back);
        stream.small(&mut self.back)?;
        stream.small(&mut ahead)?;
        if self.back > RELAYED_TICKS_MAX || ahead > RELAYED_TICKS_MAX {
            return Err(Malformed::OutOfRange("count of relayed inputs"));
        }
        self.told.resize((self.back + ahead) as usize, None);
        let mut before = [0; ROW_WORDS_MAX];
        I::default().write(&mut before);
        for (nth, told) in (0..).zip(&mut self.told) {
            stream_how(stream, told, nth < self.back)?;
            // The neutral input is known.
            let told = told.as_mut().filter(|told| told.status != InputStatus::Neutral);
            let Some(input) = told.and_then(|told| told.input.as_mut()) else { continue };
            let mut words = before;
            input.write(&mut words);
            stream_change(stream, widths, &before[..widths.len()], &mut words[..widths.len()])?;
            *input = I::read(&words);
            before = words;
        }
        Ok(())
    }
}

/// What is told of an input besides itself: whether it is there, and of one that was applied how that came about.
fn stream_how<I: Input>(
    stream: &mut impl Stream,
    told: &mut Option<RelayedInput<I>>,
    applied: bool,
) -> Result<(), Malformed> {
    let mut received = told.is_some_and(|told| told.status == InputStatus::Received);
    stream.bool(&mut received)?;
    if !received && !applied {
        *told = None;
        return Ok(());
    }
    let mut how = match told {
        Some(RelayedInput { input: None, .. }) => 0,
        Some(RelayedInput { status: InputStatus::Repeated, .. }) => 1,
        _ => 2,
    };
    if !received {
        stream.bits(&mut how, 2)?;
    }
    let input = told.and_then(|told| told.input).unwrap_or_default();
    *told = Some(match how {
        _ if received => RelayedInput { input: Some(input), status: InputStatus::Received },
        0 => RelayedInput { input: None, status: InputStatus::Repeated },
        1 => RelayedInput { input: Some(input), status: InputStatus::Repeated },
        2 => RelayedInput { input: Some(I::default()), status: InputStatus::Neutral },
        _ => return Err(Malformed::OutOfRange("relayed input")),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{BitReader, BitWriter};
    use crate::world::{Column, Field, Meaning};
    use proptest::prelude::*;

    #[derive(Clone, Copy, Default, PartialEq, Debug)]
    struct Turn(i16);

    impl Input for Turn {
        fn columns() -> Vec<Column> {
            vec![Column::of::<i16>("turn", Meaning::Plain)]
        }
        fn write(&self, words: &mut [u32]) {
            self.0.put(words);
        }
        fn read(words: &[u32]) -> Turn {
            Turn(i16::get(words))
        }
    }

    fn told() -> impl Strategy<Value = RelayedInput<Turn>> {
        let input = |status| move |turn| RelayedInput { input: Some(Turn(turn)), status };
        prop_oneof![
            (-2_i16..2).prop_map(input(InputStatus::Received)),
            (-2_i16..2).prop_map(input(InputStatus::Repeated)),
            Just(RelayedInput { input: Some(Turn(0)), status: InputStatus::Neutral }),
            Just(RelayedInput { input: None, status: InputStatus::Repeated }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_told_comes_back(
            player: u16,
            applied in proptest::collection::vec(told(), 0..=64),
            waiting in proptest::collection::vec(proptest::option::of(-2_i16..2), 0..=64),
        ) {
            let back = u32::try_from(applied.len()).expect("few");
            let waits = |turn| RelayedInput { input: Some(Turn(turn)), status: InputStatus::Received };
            let told = applied.into_iter().map(Some).chain(waiting.into_iter().map(|turn| turn.map(waits)));
            let mut line = RelayLine { player: PlayerId::new(player), back, told: told.collect() };
            let expected = line.clone();
            let mut bytes = Vec::new();
            line.stream(&mut BitWriter::new(&mut bytes), &[16]).expect("writing never fails");
            prop_assert_eq!(&line, &expected);
            let mut read = RelayLine::with_room();
            let room = read.told.capacity();
            let mut reader = BitReader::new(&bytes);
            prop_assert_eq!(read.stream(&mut reader, &[16]), Ok(()));
            prop_assert_eq!(reader.finish(), Ok(()));
            prop_assert_eq!((&read, read.told.capacity()), (&expected, room));
        }
    }
}
