//! Drives a target with bent copies of real datagrams.
//!
//! Invariant: an input is a function of the seed and the number of its run.

use foretell_sim::netsim::SplitMix64;
use std::ops::Range;
use std::panic::catch_unwind;

/// An input that a target does not survive.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// In which run.
    pub run: u64,
    /// The input.
    pub input: Vec<u8>,
}

/// How many datagrams make an input at most.
const DATAGRAMS_MAX: u64 = 24;

/// Gives the target the inputs of these runs of the seed, up to the first that makes it panic.
pub fn hunt(seed: u64, runs: Range<u64>, target: impl Fn(&[u8]) + std::panic::RefUnwindSafe) -> Option<Found> {
    let corpus = crate::corpus();
    runs.into_iter().find_map(|run| {
        let input = input(&corpus, seed, run);
        catch_unwind(|| target(&input)).is_err().then_some(Found { run, input })
    })
}

fn input(corpus: &[Vec<u8>], seed: u64, run: u64) -> Vec<u8> {
    let mut random = SplitMix64::new(SplitMix64::new(seed).next_u64() ^ run);
    let mut input = Vec::new();
    for _ in 0..=random.next_u64() % DATAGRAMS_MAX {
        let mut datagram = corpus[below(&mut random, corpus.len())].clone();
        for _ in 0..random.next_u64() % 4 {
            bend(&mut datagram, corpus, &mut random);
        }
        datagram.truncate(usize::from(u8::MAX));
        input.push(u8::try_from(datagram.len()).unwrap_or(u8::MAX));
        input.extend(datagram);
    }
    input
}

/// Changes a datagram in one way.
fn bend(datagram: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut SplitMix64) {
    let at = below(random, datagram.len().max(1));
    let Some(byte) = datagram.get_mut(at) else { return };
    match random.next_u64() % 8 {
        0..=2 => *byte ^= 1 << (random.next_u64() % 8),
        3 => *byte = (random.next_u64() >> 32) as u8,
        4 => *byte = [0, 1, 0x7f, 0x80, 0xff][below(random, 5)],
        5 => datagram.truncate(at),
        6 => drop(datagram.remove(at)),
        // The rest is another's.
        _ => {
            let other = &corpus[below(random, corpus.len())];
            datagram.truncate(at);
            datagram.extend(other.iter().skip(at));
        }
    }
}

fn below(random: &mut SplitMix64, end: usize) -> usize {
    (random.next_u64() % end as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagrams;

    #[test]
    fn a_panic_that_few_datagrams_cause_is_found_and_found_again_by_its_run_alone() {
        // One of a length, with a byte at its end that is mostly another one.
        let planted = |bytes: &[u8]| {
            let is_planted = |datagram: &[u8]| datagram.len() == 17 && datagram[16] == 0x80;
            assert!(!datagrams(bytes).any(is_planted), "planted");
        };
        let found = hunt(1, 0..200_000, planted).expect("it is found");
        assert!(found.run > 10, "it is rare: {}", found.run);
        assert_eq!(hunt(1, found.run..found.run + 1, planted), Some(found.clone()));
        assert_ne!(hunt(2, found.run..found.run + 1, planted), Some(found));
    }

    #[test]
    fn inputs_are_of_several_datagrams_most_of_which_are_well_formed_in_part() {
        let corpus = crate::corpus();
        assert!(corpus.len() > 100, "{}", corpus.len());
        let inputs: Vec<_> = (0..100).map(|run| input(&corpus, 7, run)).collect();
        let counts: Vec<_> = inputs.iter().map(|input| datagrams(input).count()).collect();
        assert!(counts.iter().min() < Some(&4) && counts.iter().max() > Some(&18), "{counts:?}");
        let is_real = |datagram: &&[u8]| corpus.iter().any(|real| real == datagram);
        let real = inputs.iter().flat_map(|input| datagrams(input)).filter(is_real).count();
        let all: usize = counts.iter().sum();
        assert!(real * 5 > all && real * 2 < all, "{real} of {all} are as they were");
    }
}
