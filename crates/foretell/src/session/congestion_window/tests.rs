//! What the window becomes on links of several sorts.

use super::*;
use alloc::collections::VecDeque;

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1000)
}

/// The window after `ms` of a link on which each datagram takes `took_ms`, and `lost_of_100` are lost, where it
/// was good for a second. 2,048 bytes are under way.
#[expect(clippy::cast_possible_truncation, reason = "a few bytes more or less")]
fn window(ms: u64, took_ms: u64, lost_of_100: u32) -> f64 {
    let mut window = CongestionWindow::new();
    for nth in 0..100 + ms / 10 {
        window.note_sending(Duration::from_millis(10), at(0));
        window.note_room(window.bytes() as i64 - 2048);
        let (took_ms, lost) = if nth < 100 { (60, 0) } else { (took_ms, lost_of_100) };
        let newest_sent = Some(at(1000 + nth * 10 - took_ms));
        window.note(Fates { come: 100 - lost, lost, bytes: 1000, newest_sent }, at(1000 + nth * 10));
    }
    window.bytes()
}

#[test]
fn a_link_that_loses_a_tenth_more_is_believed_and_one_that_loses_half_or_lets_wait_is_sent_less() {
    let all = window(4000, 60, 0);
    assert!(all > 3000.0 && window(4000, 60, 10) == all && window(4000, 90, 0) > all / 2.0);
    assert!(window(4000, 60, 50) < all / 2.0 && window(2000, 250, 0) < all / 2.0);
}

#[test]
fn a_way_that_takes_as_long_though_next_to_nothing_is_sent_is_longer_and_no_queue() {
    // From there it grows as at first.
    let [fell, grew] = [(50..125).map(|nth| window(nth * 10, 250, 0)).fold(f64::MAX, f64::min), window(3000, 250, 0)];
    assert!(fell < 400.0 && grew > 4000.0, "{fell} {grew}");
}

/// The window after eight datagrams more on a link on which each has taken 60 ms, and up to `jitter_ms` more. So much room is left.
fn after_delay(jitter_ms: u64, took_ms: u64, room: i64) -> CongestionWindow {
    let mut window = CongestionWindow::new();
    for nth in 0..408 {
        window.note_sending(Duration::from_millis(10), at(0));
        window.note_room(room);
        let took_ms = if nth < 400 { 60 + nth * 37 % (jitter_ms + 1) } else { took_ms };
        let newest_sent = Some(at(1000 + nth * 10 - took_ms));
        window.note(Fates { come: 1, lost: 0, bytes: 100, newest_sent }, at(1000 + nth * 10));
        window.bytes = if nth < 400 { 10_000.0 } else { window.bytes };
    }
    window.note_room(room);
    window
}

#[test]
fn a_link_that_becomes_slower_at_once_is_sent_less_before_a_round_trip_is_over_and_jitter_is_no_slower_link() {
    let bytes = |jitter_ms, took_ms| after_delay(jitter_ms, took_ms, 0).bytes();
    assert!(bytes(0, 60) >= 10_000.0 && bytes(0, 120) >= 10_000.0);
    assert!(bytes(0, 150) < 10_000.0);
    assert!(bytes(100, 160) >= 10_000.0);
}

#[test]
fn a_link_is_jammed_when_the_window_is_full_and_late_and_a_longer_way_with_room_is_not() {
    let now = at(1000 + 408 * 10);
    let is_jammed = |took_ms, room| after_delay(0, took_ms, room).is_jammed(now);
    assert!(is_jammed(200, 0) && !is_jammed(60, 0) && !is_jammed(200, 1_000_000));
}

#[test]
fn what_was_held_up_and_comes_all_at_once_is_no_slower_link() {
    let mut window = CongestionWindow::new();
    for nth in 0..114_u64 {
        window.note_sending(Duration::from_millis(16), at(0));
        window.note_room(0);
        // The last fourteen come together.
        let (sent, comes) = (1000 + nth * 16, 1060 + if nth < 100 { nth } else { 113 } * 16);
        window.note(Fates { come: 1, lost: 0, bytes: 100, newest_sent: Some(at(sent)) }, at(comes));
    }
    assert!(window.slowed.is_none());
}

#[test]
fn what_was_lost_in_an_outage_says_nothing_of_what_the_link_takes() {
    let mut window = CongestionWindow::new();
    window.delay.note(at(940), at(1000));
    window.note(Fates { come: 1, lost: 500, bytes: 100, newest_sent: Some(at(2940)) }, at(3000));
    assert!(window.bytes == WINDOW_FIRST && window.lost == 0);
}

/// A link that takes 50 ms, and as much as may be is sent over it each 10 ms.
struct Pipe {
    window: CongestionWindow,
    /// More is not to be sent, in bytes per second.
    wanted: f64,
    /// When each was sent and comes, and its bytes.
    under_way: VecDeque<(Instant, Instant, u32)>,
    now: Instant,
    /// When the link has taken all that was sent.
    free: Instant,
}

impl Pipe {
    fn new() -> Pipe {
        let (window, under_way) = (CongestionWindow::new(), VecDeque::new());
        Pipe { window, wanted: f64::INFINITY, under_way, now: at(1000), free: at(1000) }
    }

    /// For so long the link takes so much. Returns how many bytes came, and for how long one waited at most.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few bytes more or less")]
    fn run(&mut self, seconds: u64, bytes_per_s: u32) -> (u64, Duration) {
        let (mut all, mut waits) = (0, Duration::ZERO);
        for _ in 0..seconds * 100 {
            self.now = self.now + Duration::from_millis(10);
            while let Some((sent, _, bytes)) = self.under_way.pop_front_if(|(_, comes, _)| *comes <= self.now) {
                self.window.note(Fates { come: 1, lost: 0, bytes: bytes.into(), newest_sent: Some(sent) }, self.now);
                all += u64::from(bytes);
            }
            self.window.note_sending(Duration::from_millis(10), self.now);
            let under_way = f64::from(self.under_way.iter().map(|(_, _, bytes)| *bytes).sum::<u32>());
            let (room, pace) = (self.window.bytes() - under_way, self.window.pace() / 100.0);
            let bytes = room.min(pace).min(self.wanted / 100.0).max(30.0) as u32;
            self.window.note_room((room - f64::from(bytes)) as i64);
            if pace < room.min(self.wanted / 100.0) {
                self.window.note_paced();
            }
            self.free =
                self.free.max(self.now) + Duration::from_micros(u64::from(bytes) * 1_000_000 / u64::from(bytes_per_s));
            waits = waits.max(self.free.since(self.now));
            self.under_way.push_back((self.now, self.free + Duration::from_millis(50), bytes));
        }
        (all, waits)
    }
}

#[test]
fn a_slow_link_is_used_without_a_queue_that_stays_and_so_is_one_that_becomes_faster() {
    for (slow, fast) in [(5_000_u32, 64_000), (8_000, 64_000), (30_000, 128_000)] {
        let mut pipe = Pipe::new();
        pipe.run(3, slow);
        assert!(pipe.window.delay.fastest() < Some(Duration::from_millis(70)), "the first queue was worked off");
        let (come, waits) = pipe.run(10, slow);
        assert!(come > u64::from(slow) * 9 && waits < Duration::from_millis(80), "{come} {waits:?}");
        assert!(pipe.window.pace() < 1.4 * f64::from(slow), "{}", pipe.window.pace());
        pipe.run(8, fast);
        let (come, waits) = pipe.run(5, fast);
        assert!(come > u64::from(fast) * 4 && waits < Duration::from_millis(80), "{come} {waits:?}");
    }
}

#[test]
fn who_had_next_to_nothing_to_send_for_long_may_send_at_once_what_the_link_took_before() {
    for still_s in [2, 12, 60] {
        let mut pipe = Pipe::new();
        pipe.run(8, 64_000);
        pipe.wanted = 1_500.0;
        pipe.run(still_s, 64_000);
        pipe.wanted = f64::INFINITY;
        let (come, waits) = pipe.run(1, 64_000);
        assert!(come > 50_000 && waits < Duration::from_millis(80), "after {still_s} s: {come} {waits:?}");
    }
}

#[test]
fn one_round_trip_that_takes_long_is_a_queue_only_where_something_was_under_way() {
    let falls = |room: i64, late: u64| {
        let mut window = after_delay(0, 60, room);
        let before = window.bytes();
        for nth in 0..60 {
            window.note_room(room);
            let took_ms = if nth < late { 115 } else { 60 };
            let newest_sent = Some(at(5080 + nth * 10 - took_ms));
            window.note(Fates { come: 1, lost: 0, bytes: 100, newest_sent }, at(5080 + nth * 10));
        }
        window.bytes() < before
    };
    assert!(falls(0, 25) && !falls(1_000_000, 25) && falls(1_000_000, 60));
}

#[test]
fn what_comes_through_bounds_nothing_before_there_was_too_much() {
    let mut window = CongestionWindow::new();
    for nth in 0..100 {
        window.note_sending(Duration::from_millis(10), at(1000 + nth * 10));
        window.note_paced();
        window.note(Fates { come: 1, lost: 0, bytes: 30, newest_sent: Some(at(940 + nth * 10)) }, at(1000 + nth * 10));
    }
    assert!(window.pace() > 30_000.0, "{}", window.pace());
}

#[test]
fn the_least_window_may_be_sent_in_each_round_trip_though_nothing_came_through() {
    let mut window = CongestionWindow::new();
    // All is late after a second, and nothing of it has bytes that count, as of a client that sends inputs alone.
    for nth in 0..130 {
        let took_ms = if nth < 100 { 60 } else { 200 };
        window.note_sending(Duration::from_millis(10), at(1000 + nth * 10));
        window.note_room(0);
        let fates = Fates { come: 1, newest_sent: Some(at(1000 + nth * 10 - took_ms)), ..Fates::default() };
        window.note(fates, at(1000 + nth * 10));
    }
    assert!(!window.is_first && window.pace() >= WINDOW_LEAST / 0.2, "{}", window.pace());
}
