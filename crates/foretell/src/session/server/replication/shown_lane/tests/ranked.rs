//! Where not all has room, or more than was thought.

use super::*;
use crate::session::server::replication::slot_set::ChunkSlots;

/// Tells the state of a tick, in which nearly all has changed, in a datagram of at most this many bits, in the order that `choose` leaves.
fn tell_state(
    scene: &mut Scene,
    dice: &mut Dice,
    [tick, bits_max]: [u32; 2],
    choose: impl FnOnce(&mut ShownLane, &RowEncodingCache, &ShownContext<'_>),
) {
    scene.change(dice, false);
    scene.state.settle(Tick::new(tick));
    let Scene { state, lane, codec, encoded, changes, row_send_rates, .. } = scene;
    changes.update(Tick::new(tick), state, row_send_rates);
    let of = ShownContext { player: ME, tick: Tick::new(tick), state, changes, row_send_rates, limits: None };
    encoded.begin(of.tick, state.versions().slots());
    lane.note(&of);
    choose(lane, encoded, &of);
    let (number, mut bytes) = (lane.next_number(), Vec::new());
    let room = Room::new(bits_max as usize, false);
    let writer = BitWriter::new(&mut bytes);
    let chosen = &mut ChosenRecords::default();
    let mut to = ShownDatagram { codec, encoded, chosen, writer, room, is_last: true };
    lane.write(&of, number, &mut to);
    lane.note_sent(number, bytes.len(), at(tick));
}

#[test]
fn where_not_all_had_room_what_is_urgent_is_told_first_until_all_have_it_again() {
    let (mut scene, mut dice, mut prioritizer) =
        (Scene::of(&Schema::of::<Float>(), MANY), Dice(1), Prioritizer::default());
    // It always seems to have room, and has not in the first state.
    let mut fits = Vec::new();
    for state in [[1, 100], [2, 9000], [3, 9000]] {
        tell_state(&mut scene, &mut dice, state, |lane, encoded, of| {
            fits.push(lane.fits(encoded, |_| true));
            if fits.last() == Some(&true) { lane.sort() } else { lane.rank(of, &mut prioritizer, 1000) }
        });
    }
    assert_eq!(fits, [true, false, true]);
}

#[test]
fn a_datagram_with_room_for_more_than_was_ranked_is_filled_up() {
    let (mut scene, mut dice, mut prioritizer) =
        (Scene::of(&Schema::of::<Float>(), MANY), Dice(1), Prioritizer::default());
    // The first states tell what is urgent enough to be looked at in the next ones: few rows.
    for state in (1..9).map(|tick| [tick, 100]).chain([[9, 9000]]) {
        tell_state(&mut scene, &mut dice, state, |lane, _, of| lane.rank(of, &mut prioritizer, 1));
        assert_eq!(scene.lane.to_tell.waiting.is_empty(), state[0] == 9, "{state:?}");
    }
}

#[test]
fn rows_of_a_chunk_that_a_client_has_are_put_together_for_all_who_have_them() {
    let (mut scene, mut dice) = (Scene::of(&Schema::of::<Float>(), MANY), Dice(1));
    for tick in 1..3 {
        let mut those = ChunkSlots { first: 0, slots: 0 };
        tell_state(&mut scene, &mut dice, [tick, 9000], |lane, _, _| {
            those = lane.to_tell.waiting.slots().chunk(0);
            lane.sort();
        });
        let is_shared = scene.encoded.has_shared(those, scene.lane.to_tell.rows.chunk_has(0));
        // At first the client has none of them.
        assert_eq!((those.count() > 50, is_shared), (true, tick > 1), "in tick {tick}");
        let number = u16::try_from(tick - 1).expect("few");
        scene.lane.acknowledge(AckBits::first(number), at(tick));
    }
}

#[test]
fn a_datagram_in_which_nothing_had_room_and_that_is_not_sent_leaves_nothing_behind() {
    let (mut scene, mut dice) = (Scene::of(&Schema::of::<Float>(), MANY), Dice(1));
    tell_state(&mut scene, &mut dice, [1, 0], |lane, _, _| lane.sort());
    scene.lane.take_back(1);
    tell_state(&mut scene, &mut dice, [2, 9000], |lane, _, _| lane.sort());
    assert!(scene.lane.to_tell.waiting.is_empty());
    scene.lane.acknowledge(AckBits::first(0), at(2));
    assert!(scene.lane.to_tell.rows.unknown().is_empty(), "all have come");
}

#[test]
fn what_has_no_room_waits_on_and_keeps_its_place_in_the_ranking() {
    let (mut scene, mut dice, mut prioritizer) =
        (Scene::of(&Schema::of::<Float>(), MANY), Dice(1), Prioritizer::default());
    let mut ranked = Vec::new();
    tell_state(&mut scene, &mut dice, [1, 10], |lane, _, of| {
        lane.rank(of, &mut prioritizer, 1000);
        ranked.clone_from(&lane.to_tell.waiting.ranking_of_all().1.slots);
    });
    let (waiting, ranking) = scene.lane.to_tell.waiting.ranking_of_all();
    assert!(!ranked.is_empty());
    assert_eq!((&ranking.slots, waiting.len()), (&ranked, ranked.len()));
}

/// Numbers that are farther apart than a short gap reaches take more bits than rows mostly do, so not all that was chosen has room.
#[test]
fn of_rows_that_are_longer_than_was_thought_the_ones_without_room_keep_their_order() {
    let (sparse, count) = (Scale { rows: 30_000, ..MANY }, 24);
    let order: Vec<u32> = (0..count).map(|nth| 1_200 * (7 * nth % count)).collect();
    let mut passed_over_max = 0;
    for bits_max in (1_000..2_000).step_by(40) {
        let (mut scene, mut dice, mut prioritizer) =
            (Scene::of(&Schema::of::<Float>(), sparse), Dice(1), Prioritizer::default());
        tell_state(&mut scene, &mut dice, [1, bits_max], |lane, _, of| {
            (0..sparse.rows.into())
                .filter(|slot| !order.contains(slot))
                .for_each(|slot| lane.to_tell.waiting.remove(slot));
            lane.rank(of, &mut prioritizer, 1000);
            lane.to_tell.waiting.ranking_of_all().1.slots = order.clone();
        });
        let (waiting, ranking) = scene.lane.to_tell.waiting.ranking_of_all();
        assert_eq!(ranking.slots, order.iter().copied().filter(|slot| waiting.contains(*slot)).collect::<Vec<_>>());
        // Of those that were chosen the ones with the lowest numbers are told.
        let passed_over = ranking.slots.iter().zip(&order).skip_while(|(left, other)| left == other).count();
        passed_over_max = passed_over_max.max(passed_over);
    }
    assert!(passed_over_max > 1);
}
