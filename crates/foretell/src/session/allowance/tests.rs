//! What may be sent on links of several sorts.

use super::*;

fn up_to(most: u32) -> Budget {
    Budget { least: 0, most }
}

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1000)
}

#[test]
fn in_the_mean_as_much_is_sent_as_is_allowed_whatever_the_tick_rate() {
    for interval_ms in [8, 16, 50] {
        let mut allowance = Allowance::new();
        allowance.window = 1e6;
        let mut sent = 0;
        for ms in (0..16_000).step_by(interval_ms) {
            allowance.add(up_to(20_000), 0, at(ms));
            while allowance.is_left() {
                allowance.spend(1000);
                sent += 1000;
            }
        }
        assert!((315_000..=325_000).contains(&sent), "{sent} every {interval_ms} ms");
    }
}

#[test]
fn what_was_not_sent_is_saved_up_to_a_quarter_of_a_kilobyte_and_what_was_too_much_is_owed_for_a_while() {
    let mut allowance = Allowance::new();
    (0..100).for_each(|nth| allowance.add(up_to(10_000), 0, at(nth * 10)));
    assert!(allowance.has_room_for(8 * 356) && !allowance.has_room_for(8 * 357));
    // Ten minutes of more than is allowed, as the client's own rows are sent whatever it is.
    (100..38_400).for_each(|nth| {
        allowance.add(up_to(1000), 0, at(nth * 16));
        allowance.spend(60);
    });
    let since = 38_400 * 16;
    let again = (1..1000).find(|ms| {
        allowance.add(up_to(100_000), 0, at(since + ms));
        allowance.is_left()
    });
    assert!(again.is_some_and(|ms| ms <= 100), "{again:?}");
}

#[test]
fn a_client_may_be_sent_the_least_however_much_is_under_way() {
    let mut allowance = Allowance::new();
    (0..100).for_each(|nth| allowance.add(Budget { least: 5000, most: 1_000_000 }, 1_000_000, at(nth * 10)));
    assert!(allowance.has_room_for(8 * 50) && !allowance.has_room_for(8 * 51));
}

#[test]
fn no_more_is_under_way_than_the_window() {
    let mut allowance = Allowance::new();
    (0..100).for_each(|nth| allowance.add(up_to(1_000_000), 2000, at(nth * 10)));
    assert!(allowance.has_room_for(8 * 48) && !allowance.has_room_for(8 * 49));
}

/// The window after `seconds` of a link on which each datagram takes `took_ms`, and `lost_of_100` are lost, where it
/// was good for a second.
fn window(seconds: u64, took_ms: u64, lost_of_100: u32) -> f64 {
    let mut allowance = Allowance::new();
    for nth in 0..100 + seconds * 100 {
        let now = at(1000 + nth * 10);
        allowance.add(up_to(100_000), 0, now);
        allowance.spend(2048);
        let (took_ms, lost) = if nth < 100 { (60, 0) } else { (took_ms, lost_of_100) };
        let newest_sent = Some(at(1000 + nth * 10 - took_ms));
        let come = 100 - lost;
        allowance.note(Fates { come, lost, bytes: 1000, newest_sent }, now);
    }
    allowance.window
}

#[test]
fn a_link_that_loses_a_tenth_more_is_believed_and_one_that_loses_half_or_lets_wait_is_sent_less() {
    let all = window(4, 60, 0);
    assert!(all > 3000.0 && window(4, 60, 10) == all && window(4, 90, 0) > all / 2.0);
    assert!(window(4, 60, 50) < all / 2.0 && window(2, 250, 0) < all / 2.0);
}

#[test]
fn a_way_that_takes_as_long_though_next_to_nothing_is_sent_is_longer_and_no_queue() {
    let [fell, grew] = [2, 6].map(|seconds| window(seconds, 250, 0));
    assert!(fell < 400.0 && grew > 2000.0, "{fell} {grew}");
}

#[test]
fn what_was_lost_in_an_outage_says_nothing_of_what_the_link_takes() {
    let mut allowance = Allowance::new();
    let before = window(4, 60, 0);
    allowance.window = before;
    allowance.heard = at(1000);
    allowance.fastest.note(Duration::from_millis(60), at(1000));
    allowance.note(Fates { come: 1, lost: 500, bytes: 100, newest_sent: Some(at(2940)) }, at(3000));
    assert!(allowance.window == before && allowance.lost == 0);
}
