//! What may be sent on links of several sorts.

use super::*;
use alloc::vec::Vec;

fn up_to(most: u32) -> Budget {
    Budget { least: 0, most }
}

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1000)
}

#[test]
fn in_the_mean_as_much_is_sent_as_is_allowed_whatever_the_tick_rate() {
    for interval_ms in [8, 16, 50] {
        let mut allowance = SendAllowance::new();
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
fn states_that_are_sent_at_one_instant_share_what_is_allowed() {
    let mut allowance = SendAllowance::new();
    allowance.add(up_to(40_000), 0, at(0));
    for nth in 1..100 {
        allowance.add(up_to(40_000), 0, at(nth * 30));
        allowance.spend(500);
        allowance.add(up_to(40_000), 0, at(nth * 30));
        assert!(allowance.has_room_for(8 * 700), "in update {nth}");
        allowance.spend(700);
    }
}

#[test]
fn what_was_not_sent_is_saved_up_to_a_quarter_of_a_kilobyte_and_what_was_too_much_is_owed_for_a_while() {
    let mut allowance = SendAllowance::new();
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
    let mut allowance = SendAllowance::new();
    (0..100).for_each(|nth| allowance.add(Budget { least: 5000, most: 1_000_000 }, 1_000_000, at(nth * 10)));
    assert!(allowance.has_room_for(8 * 50) && !allowance.has_room_for(8 * 51));
}

#[test]
fn no_more_is_under_way_than_the_window() {
    let mut allowance = SendAllowance::new();
    (0..100).for_each(|nth| allowance.add(up_to(1_000_000), 2000, at(nth * 10)));
    assert!(allowance.has_room_for(8 * 48) && !allowance.has_room_for(8 * 49));
}

#[test]
fn while_nothing_comes_not_even_the_least_is_sent() {
    let mut allowance = SendAllowance::new();
    let mut add = |ms: u64, comes: bool| {
        allowance.add(Budget { least: 5000, most: 1_000_000 }, 1_000_000, at(ms));
        if comes {
            allowance.note(Fates { come: 1, lost: 0, bytes: 50, newest_sent: Some(at(ms - 20)) }, at(ms));
        }
        allowance.has_room_for(8 * 50)
    };
    assert!((100..200).all(|nth| add(nth * 10, true)));
    let has_room = (200..220).map(|nth| add(nth * 10, false)).collect::<Vec<_>>();
    assert!(has_room[0] && !has_room[19], "{has_room:?}");
    assert!(!add(2200, true) && add(2210, true));
}
