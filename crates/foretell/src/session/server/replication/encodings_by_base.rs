//! What is encoded once for each older state that it is told against: values by a number, and by that state.

use super::optional_tick::OptionalTick;
use alloc::vec::Vec;

#[derive(Clone, Copy, Debug)]
struct Entry<T> {
    base: OptionalTick,
    value: T,
    /// Where the next value of the same number stands.
    next: Option<u32>,
}

/// Mostly all clients have the same older state, or one of few. Its memory is used again.
#[derive(Debug)]
pub(super) struct EncodingsByBase<T> {
    /// By the number: the value that came first.
    first: Vec<Option<Entry<T>>>,
    /// Those that came then.
    more: Vec<Entry<T>>,
}

impl<T: Copy> EncodingsByBase<T> {
    pub fn new() -> EncodingsByBase<T> {
        EncodingsByBase { first: Vec::new(), more: Vec::new() }
    }

    /// There are no values any more; numbers are below `count`, or below what was said before.
    pub fn clear(&mut self, count: usize) {
        self.more.clear();
        self.first.fill(None);
        self.reserve(count);
    }

    /// Numbers are below `count`, or below what was said before.
    pub fn reserve(&mut self, count: usize) {
        if self.first.len() < count {
            self.first.resize(count, None);
        }
    }

    #[inline]
    pub fn get(&self, nth: u32, base: OptionalTick) -> Option<T> {
        match &self.first[nth as usize] {
            Some(first) if first.base == base => Some(first.value),
            Some(first) => self.get_more(first.next, base),
            None => None,
        }
    }

    #[inline(never)]
    fn get_more(&self, mut next: Option<u32>, base: OptionalTick) -> Option<T> {
        while let Some(entry) = next.map(|next| &self.more[next as usize]) {
            if entry.base == base {
                return Some(entry.value);
            }
            next = entry.next;
        }
        None
    }

    /// Where there is none yet.
    pub fn insert(&mut self, nth: u32, base: OptionalTick, value: T) {
        let entry = Entry { base, value, next: None };
        let Some(first) = &mut self.first[nth as usize] else {
            self.first[nth as usize] = Some(entry);
            return;
        };
        // Before those that came earlier, but for the first.
        let behind = core::mem::replace(&mut first.next, u32::try_from(self.more.len()).ok());
        self.more.push(Entry { next: behind, ..entry });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Tick;

    #[test]
    fn each_number_has_a_value_for_each_base() {
        let mut values = EncodingsByBase::new();
        values.clear(3);
        let tick = |nth| OptionalTick::some(Tick::new(nth));
        for (nth, base, value) in [
            (2, tick(5), 'a'),
            (0, OptionalTick::NONE, 'b'),
            (2, OptionalTick::NONE, 'c'),
            (2, tick(6), 'd'),
            (0, tick(5), 'e'),
        ] {
            assert_eq!(values.get(nth, base), None);
            values.insert(nth, base, value);
        }
        let all = [(2, tick(5)), (0, OptionalTick::NONE), (2, OptionalTick::NONE), (2, tick(6)), (0, tick(5))]
            .map(|(nth, base)| values.get(nth, base));
        assert_eq!(all, [Some('a'), Some('b'), Some('c'), Some('d'), Some('e')]);
        assert_eq!([values.get(1, OptionalTick::NONE), values.get(0, tick(6))], [None; 2]);
        values.clear(2);
        assert_eq!([values.get(2, tick(5)), values.get(2, tick(6))], [None; 2]);
    }
}
