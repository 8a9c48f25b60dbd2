//! How fast a site writes to all who read, so that it leaves the game its way out. When more is asked for than that, who was
//! written the least in the last minute goes first: who comes new does not wait for those who read without end.

use super::usage::Usage;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Notify, oneshot};
use tokio::time::sleep;

/// After so long without a word to write this much may be written at once.
const AT_ONCE: Duration = Duration::from_millis(50);
/// How often it is looked whose turn it is.
const TURNS: Duration = Duration::from_millis(5);

/// Who waits to write; `T` is what they are told by.
#[derive(Debug)]
struct Waiting<T> {
    who: IpAddr,
    bytes: usize,
    tell: T,
}

/// Bytes that may be written, and who waits for some.
#[derive(Debug)]
struct Queue<T> {
    bytes_per_second: u64,
    /// What may be written now; less than nothing after a long piece.
    free: i64,
    refilled: Instant,
    usage: Usage,
    /// Who has asked first is first.
    waiting: Vec<Waiting<T>>,
}

impl<T> Queue<T> {
    fn new(bytes_per_second: u64, now: Instant) -> Queue<T> {
        Queue { bytes_per_second, free: 0, refilled: now, usage: Usage::new(now), waiting: Vec::new() }
    }

    /// Whether `who` may write so much at once; if so it counts.
    fn allows(&mut self, now: Instant, who: IpAddr, bytes: usize) -> bool {
        self.refill(now);
        let allowed = self.free > 0 && self.waiting.is_empty();
        if allowed {
            self.spend(who, bytes);
        }
        allowed
    }

    /// Whose turn it is: they may write.
    fn take_turns(&mut self, now: Instant) -> Vec<Waiting<T>> {
        self.refill(now);
        let usage = &self.usage;
        self.waiting.sort_by_cached_key(|one| usage.of(one.who, 0));
        let mut left = self.free;
        let turns = self.waiting.iter().take_while(|one| {
            let is_turn = left > 0;
            left -= signed(one.bytes);
            is_turn
        });
        let turns: Vec<_> = self.waiting.drain(..turns.count()).collect();
        turns.iter().for_each(|one| self.spend(one.who, one.bytes));
        turns
    }

    /// So much of what `who` might have written was not.
    fn give_back(&mut self, who: IpAddr, bytes: usize) {
        self.free += signed(bytes);
        self.usage.take_back(who, bytes as u64);
    }

    fn spend(&mut self, who: IpAddr, bytes: usize) {
        self.free -= signed(bytes);
        self.usage.give(who, bytes as u64);
    }

    fn refill(&mut self, now: Instant) {
        self.usage.advance(now);
        let bytes_in = |time: Duration| {
            let bytes = u128::from(self.bytes_per_second) * time.as_micros() / 1_000_000;
            i64::try_from(bytes).unwrap_or(i64::MAX)
        };
        let refill = bytes_in(now.duration_since(self.refilled));
        // What is less than a byte is not lost.
        if refill > 0 {
            self.free = self.free.saturating_add(refill).min(bytes_in(AT_ONCE).max(1));
            self.refilled = now;
        }
    }
}

fn signed(bytes: usize) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

/// The pace of a site; a clone is the same.
#[derive(Clone, Debug)]
pub struct WritePacing {
    queue: Arc<Mutex<Queue<oneshot::Sender<()>>>>,
    asked: Arc<Notify>,
}

impl WritePacing {
    /// `bytes_per_second` is at least 1.
    pub fn new(bytes_per_second: u64, now: Instant) -> WritePacing {
        WritePacing { queue: Arc::new(Mutex::new(Queue::new(bytes_per_second.max(1), now))), asked: Arc::default() }
    }

    /// Asks to write so much. `None`: at once; else as soon as one is told so.
    pub fn ask(&self, who: IpAddr, bytes: usize) -> Option<oneshot::Receiver<()>> {
        let mut queue = self.lock();
        if queue.allows(Instant::now(), who, bytes) {
            return None;
        }
        let (tell, told) = oneshot::channel();
        queue.waiting.push(Waiting { who, bytes, tell });
        self.asked.notify_one();
        Some(told)
    }

    /// So much of what `who` might have written was not.
    pub fn give_back(&self, who: IpAddr, bytes: usize) {
        self.lock().give_back(who, bytes);
    }

    /// How much `who` was written in the last minute.
    #[cfg(test)]
    pub fn written(&self, who: IpAddr) -> u64 {
        self.lock().usage.of(who, 0)
    }

    /// Tells those who wait when it is their turn, until it is dropped.
    pub async fn keep(self) {
        loop {
            self.asked.notified().await;
            while self.take_turns() {
                sleep(TURNS).await;
            }
        }
    }

    /// Whether somebody still waits.
    fn take_turns(&self) -> bool {
        let mut queue = self.lock();
        for Waiting { who, bytes, tell } in queue.take_turns(Instant::now()) {
            // Who is gone writes nothing.
            if tell.send(()).is_err() {
                queue.give_back(who, bytes);
            }
        }
        !queue.waiting.is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, Queue<oneshot::Sender<()>>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIECE: usize = 10_000;
    /// A hundred pieces in a second, five at once.
    const RATE: u64 = 100 * PIECE as u64;

    fn address(number: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, number])
    }

    fn wait(queue: &mut Queue<()>, who: u8, pieces: usize) {
        let waits = || Waiting { who: address(who), bytes: PIECE, tell: () };
        queue.waiting.extend((0..pieces).map(|_| waits()));
    }

    /// How many pieces each of the addresses up to 9 may write in so many milliseconds.
    fn pieces_within(queue: &mut Queue<()>, (now, ms): (&mut Instant, u64)) -> [usize; 10] {
        let mut pieces = [0; 10];
        for _ in 0..ms / 5 {
            *now += TURNS;
            for turn in queue.take_turns(*now) {
                let IpAddr::V4(who) = turn.who else { continue };
                pieces[usize::from(who.octets()[3])] += 1;
            }
        }
        pieces
    }

    #[test]
    fn all_together_are_written_so_much_in_a_second_and_no_more_at_once_than_after_a_pause() {
        let mut now = Instant::now();
        let mut queue = Queue::new(RATE, now);
        now += Duration::from_secs(100);
        let at_once = (0..100).filter(|_| queue.allows(now, address(1), PIECE)).count();
        assert_eq!(at_once, 5);
        wait(&mut queue, 1, 1000);
        assert!(!queue.allows(now + AT_ONCE, address(2), PIECE), "not before those who wait");
        assert!((99..=101).contains(&pieces_within(&mut queue, (&mut now, 1000))[1]));
    }

    #[test]
    fn who_was_written_the_least_goes_first_until_all_have_had_the_same() {
        let mut now = Instant::now();
        let mut queue = Queue::new(RATE, now);
        wait(&mut queue, 1, 1000);
        wait(&mut queue, 2, 1000);
        let first = pieces_within(&mut queue, (&mut now, 1000));
        assert!(first[1].abs_diff(first[2]) <= 1 && first[1] + first[2] >= 99, "{first:?}");
        // Who has read nothing yet waits for nobody.
        wait(&mut queue, 3, 1000);
        let second = pieces_within(&mut queue, (&mut now, 400));
        assert!(second[3] >= 39 && second[1] + second[2] <= 1, "{second:?}");
        let third = pieces_within(&mut queue, (&mut now, 1000));
        assert!(third.iter().take(4).skip(1).all(|pieces| *pieces >= 29), "{third:?}");
    }

    #[test]
    fn what_was_not_written_is_given_back() {
        let now = Instant::now() + Duration::from_secs(1);
        let mut queue = Queue::<()>::new(RATE, Instant::now());
        assert!(queue.allows(now, address(1), 5 * PIECE) && !queue.allows(now, address(1), 1));
        queue.give_back(address(1), 4 * PIECE);
        assert!(queue.allows(now, address(1), PIECE));
        assert_eq!(queue.usage.of(address(1), 0), 2 * PIECE as u64);
    }
}
