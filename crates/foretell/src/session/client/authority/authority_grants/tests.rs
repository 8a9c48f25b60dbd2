//! When a client's requests and rows go up.

use super::*;
use crate::world::ROW_WORDS_MAX;

const CUBE: Entity = Entity::new(PlayerId::SERVER, Tick::ZERO, 0);

#[test]
fn what_has_arrived_is_not_sent_again_when_the_numbers_of_datagrams_wrap() {
    let mut held = AuthorityGrants::new();
    held.request(CUBE, Claim::Ownership);
    held.begin(CUBE, ComponentId::default(), &[0; ROW_WORDS_MAX]);
    held.note_sent(65_000, Carried(1));
    assert_eq!(held.to_send().count(), 1);
    held.note_heard(64_999);
    assert_eq!(held.to_send().count(), 1, "an older one has arrived");
    held.note_heard(65_000);
    for nth in 0..70_000_u32 {
        assert_eq!(held.to_send().count(), 0, "{nth} later");
        held.note_heard(Tick::new(65_001 + nth).low16());
    }
    // Until it moves.
    held.capture(RowKey { component: ComponentId::default(), entity: CUBE }, Tick::new(1), &[1]);
    held.run(Tick::new(1));
    assert_eq!(held.to_send().count(), 1);
}

#[test]
fn of_more_than_can_be_asked_for_at_once_no_row_goes_up_before_its_request() {
    let cube = |nth: usize| Entity::new(PlayerId::SERVER, Tick::ZERO, u16::try_from(nth).expect("few"));
    let mut held = AuthorityGrants::new();
    for nth in 0..REQUESTS_MAX + 2 {
        held.request(cube(nth), Claim::Ownership);
        held.begin(cube(nth), ComponentId::default(), &[0; ROW_WORDS_MAX]);
    }
    assert_eq!(held.to_send().count(), REQUESTS_MAX);
    let answered = held.open.pop_front().expect("it is open");
    held.take_answer(Tick::new(1), &answered, None);
    assert!(held.to_send().map(|(nth, _)| nth).eq(0..=REQUESTS_MAX), "the next one goes up in its place");
}

#[test]
fn what_is_said_of_an_entity_by_another_row_than_it_is_held_by_is_not_looked_at() {
    let [own, other] = [0, 1].map(|nth| RowKey { component: ComponentId::nth(nth), entity: CUBE });
    let mut held = AuthorityGrants::new();
    held.request(CUBE, Claim::Ownership);
    held.capture(own, Tick::new(1), &[9]);
    held.begin(CUBE, own.component, &[7; ROW_WORDS_MAX]);
    assert!(held.moved().eq([own]));
    held.capture(other, Tick::new(1), &[9]);
    held.show(other, &[9]);
    held.run(Tick::new(1));
    let grant = held.grants.get(CUBE).expect("it is held");
    assert_eq!([grant.captures.newest().row[0], grant.shown[0]], [7; 2]);
    held.capture(own, Tick::new(2), &[8]);
    held.run(Tick::new(2));
    assert_eq!(held.grants.get(CUBE).expect("it is held").captures.newest().row[0], 8);
}
