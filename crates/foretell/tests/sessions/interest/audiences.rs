//! What is for the owner, for everybody else, or for a team is in the datagrams to these alone, whoever changes sides and whatever
//! changes hands; and who changes sides has what they may see by then, and nothing of the rest.

use super::secrets::{ACKNOWLEDGED_MS, NAME_BITS, name_bits, windows};
use super::woods::{
    Being, Hideout, Kit, LEAVES_AT_M, OF_EFFECT, OF_OTHERS, OF_OWNER, OF_TEAM, Session, Told, WITHIN, Woods, config,
    number_of, thing,
};
use foretell::session::client::{ClientEvent, Predict};
use foretell::{Entity, Interest, Owned, PlayerId, SendRate, Tick};
use std::collections::{BTreeMap, BTreeSet};

/// Of which others than a team know nothing. Their names have 32 bits, so that they are found.
fn hideout(nth: u32) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::new(0x9c36_5a00 + nth * 7), 1000)
}

/// Another, with a name like others'.
fn lair(nth: u16) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::ZERO, 600 + nth)
}

const HIDEOUTS: u32 = 6;

/// What a player may be told of one entity.
#[derive(Clone, Copy, Default)]
struct Rights {
    is_owner: bool,
    is_other: bool,
    is_in_team: bool,
}

/// Of everybody to everything, by number.
fn rights(session: &Session, interest: Interest) -> BTreeMap<(PlayerId, u64), Rights> {
    let (rows, facts) = (session.server.rows(), &session.world.facts);
    let mut rights = BTreeMap::new();
    for player in session.server.players() {
        let visible: BTreeSet<Entity> = session.visible(player, LEAVES_AT_M).into_iter().collect();
        let is_all = interest == Interest::Everything;
        let is_seen = |of: &Owned| is_all || of.owner == player || visible.contains(&of.entity);
        let beings = rows.states::<Being>().map(|(of, _)| (of, is_seen(&of)));
        for (of, is_seen) in beings.chain(rows.states::<Hideout>().map(|(of, _)| (of, true))) {
            let is_owner = of.owner == player;
            let (is_other, is_in_team) = (is_seen && !is_owner, is_seen && facts.is_told(player, of));
            rights.insert((player, number_of(of.entity)), Rights { is_owner, is_other, is_in_team });
        }
    }
    rights
}

#[derive(Default)]
struct Reader {
    interest: Interest,
    now_ms: u64,
    /// When a player was last on the side of a hideout.
    on_its_side: BTreeMap<(PlayerId, u64), u64>,
    /// Secrets of owners, of others, and of teams; names of hideouts, and effects there.
    found: [u64; 5],
}

impl Reader {
    fn read(&mut self, session: &Session, told: &[Told]) {
        self.now_ms += 1;
        let rights = rights(session, self.interest);
        let hideouts: BTreeMap<u64, Entity> =
            (0..HIDEOUTS).map(|nth| (number_of(hideout(nth)), hideout(nth))).collect();
        let names: BTreeMap<u64, u64> = hideouts.iter().map(|(number, entity)| (name_bits(*entity), *number)).collect();
        let on_side = rights.iter().filter(|((_, number), rights)| hideouts.contains_key(number) && rights.is_in_team);
        self.on_its_side.extend(on_side.map(|(of, _)| (*of, self.now_ms)));
        for Told { player, bytes } in told {
            for window in windows(bytes) {
                let number = window & 0xff_ffff;
                let may = rights.get(&(*player, number)).copied().unwrap_or_default();
                let was_on_side = self.on_its_side.get(&(*player, number)).copied();
                let found = match window >> 24 {
                    what if OF_OWNER.contains(&what) => Some((0, may.is_owner)),
                    what if OF_OTHERS.contains(&what) => Some((1, may.is_other)),
                    what if OF_TEAM.contains(&what) => Some((2, may.is_in_team)),
                    OF_EFFECT if hideouts.contains_key(&number) => {
                        Some((4, was_on_side.is_some_and(|last| last + ACKNOWLEDGED_MS > self.now_ms)))
                    }
                    _ => None,
                };
                if let Some((what, is_allowed)) = found {
                    assert!(is_allowed, "{} ms: {player} is told {what} of {number:#x}", self.now_ms);
                    self.found[what] += 1;
                }
                if let Some(number) = names.get(&(window & NAME_BITS)) {
                    let is_allowed = self.on_its_side.contains_key(&(*player, *number));
                    assert!(is_allowed, "{} ms: {player} is told the name of {number:#x}", self.now_ms);
                    self.found[3] += 1;
                }
            }
        }
    }
}

fn two_sides() -> Woods {
    let mut world = Woods::default();
    (0..60).for_each(|nth| world.add(thing(nth), [f32::from(nth) * 4.0 - 150.0, 0.0, f32::from(nth % 7)]));
    (0..HIDEOUTS).for_each(|nth| world.add_hideout(hideout(nth)));
    (0..4).for_each(|nth| world.add_hideout(lair(nth)));
    world.facts.is_lively = true;
    world.facts.has_rules = true;
    world.facts.teams = [(1, 0), (2, 0), (3, 1)].map(|(player, team)| (PlayerId::new(player), team)).into();
    world.facts.sides = (0..HIDEOUTS).map(|nth| (hideout(nth), (nth % 2) as u8)).collect();
    world.facts.sides.extend((0..4).map(|nth| (lair(nth), (nth % 2) as u8)));
    world.facts.sides.extend((0..60).step_by(2).map(|nth| (thing(nth), (nth / 2 % 2) as u8)));
    world
}

/// In each second somebody changes sides, something does, and something goes to another player.
fn change(session: &mut Session, second: u16) {
    let player = PlayerId::new(second % 3 + 1);
    let facts = &mut session.world.facts;
    let side = facts.teams.get(&player).copied().unwrap_or(0);
    // Also to where nobody else is.
    facts.teams.insert(player, (side + 1) % 3);
    facts.sides.insert(hideout(0), (second % 2) as u8);
    facts.sides.insert(thing(20 + second), (second % 3) as u8);
    session.world.give(thing(16 + second), PlayerId::new(second % 4));
    session.world.give(thing(17), PlayerId::new(second % 4));
}

/// What a player has of kits, in its newest state and in its world, is what it may see, as it is; the rest has its default.
pub fn check_kits(session: &Session, nth: usize, what: &str) {
    let (me, player) = (session.player(nth), &session.players[nth]);
    let (_, rows) = player.client.newest_snapshot().expect("a state");
    let mut count = [0; 3];
    for (of, has) in rows.states::<Kit>() {
        let truth: Kit = session.server.rows().state(of.entity).expect("it is there");
        let seen = [of.owner == me, of.owner != me, session.world.facts.is_told(me, of)];
        seen.iter().zip(&mut count).for_each(|(is_seen, count)| *count += u32::from(*is_seen));
        let only = |is_seen: bool, secret: u64| if is_seen { secret } else { 0 };
        let [owners, others, teams] = [truth.owners, truth.others, truth.teams];
        let may =
            Kit { owners: only(seen[0], owners), others: only(seen[1], others), teams: only(seen[2], teams), ..truth };
        assert_eq!(has, may, "{what}, {me}: {of:?}");
        let in_world = player.world.kits.get(of.entity).map(|kit| *kit);
        assert_eq!(in_world, Some(may), "{what}, {me}: {of:?} in the world");
    }
    assert!(count[0] > 0 && count[1] > 5, "{what}, {me}: {count:?}");
}

/// The same of what nobody else knows of.
pub fn check_hideouts(session: &Session, nth: usize, what: &str) {
    let (me, player) = (session.player(nth), &session.players[nth]);
    let (_, rows) = player.client.newest_snapshot().expect("a state");
    let is_told = |of: &Owned| session.world.facts.is_told(me, *of);
    let truth = session.server.rows().states::<Hideout>().filter(|(of, _)| is_told(of));
    let truth: Vec<(Owned, Hideout)> = truth.collect();
    assert_eq!(rows.states::<Hideout>().collect::<Vec<_>>(), truth, "{what}, {me}");
    let in_world = player.world.hideouts.iter().map(|hideout| hideout.entity());
    assert!(in_world.eq(truth.iter().map(|(of, _)| of.entity)), "{what}, {me}: {truth:?}, and others in the world");
}

fn read_all(predict: Predict, rate: SendRate, interest: Interest) {
    let what = format!("{predict:?}, {rate:?}, {interest:?}");
    let mut session = Session::new(two_sides(), config(interest, rate), predict, 3);
    let mut reader = Reader { interest, ..Reader::default() };
    session.watch(1000, |session, told| reader.read(session, told));
    for second in 0..9 {
        change(&mut session, second);
        session.watch(1000, |session, told| reader.read(session, told));
    }
    assert!(reader.found.iter().all(|found| *found > 20), "{what}: {:?}", reader.found);
    session.world.facts.is_lively = false;
    session.watch(1500, |session, told| reader.read(session, told));
    for nth in 0..3 {
        check_kits(&session, nth, &what);
        check_hideouts(&session, nth, &what);
        let events = session.players[nth].events.iter();
        let is_lair = |entity: &Entity| (0..4).any(|nth| lair(nth) == *entity);
        let hidden =
            events.clone().filter(|event| matches!(event, ClientEvent::Hidden { entity, .. } if is_lair(entity)));
        let shown = events.clone().filter(|event| matches!(event, ClientEvent::Shown(entity) if is_lair(entity)));
        let gone = events.filter(|event| matches!(event, ClientEvent::Despawned { entity, .. } if is_lair(entity)));
        let counts = [hidden.count(), shown.count(), gone.count()];
        assert!(counts[0] > 3 && counts[1] > 1 && counts[2] == 0, "{what}, {nth}: {counts:?} hidden, shown and gone");
    }
}

#[test]
fn what_is_not_for_a_player_is_in_no_datagram_and_who_changes_sides_has_what_is_for_them() {
    read_all(Predict::Own, SendRate::EveryTick, WITHIN);
    read_all(Predict::Own, SendRate::Hz(16), Interest::Everything);
}

#[test]
fn nor_is_it_in_whole_states_and_who_predicts_others_predicts_nothing_that_is_for_a_team() {
    read_all(Predict::Everyone, SendRate::EveryTick, WITHIN);
    read_all(Predict::Everyone, SendRate::Hz(16), Interest::Everything);
}

#[test]
fn what_is_shown_of_who_is_predicted_has_what_is_for_a_team_as_it_was_told() {
    let mut session =
        Session::new(two_sides(), config(Interest::Everything, SendRate::EveryTick), Predict::Everyone, 3);
    session.world.facts.is_lively = false;
    session.run(3000);
    let (me, facts) = (session.player(0), &session.world.facts);
    let mut predicted = [0; 2];
    for (of, kit, is_predicted) in session.drawn_kits(0) {
        let truth: Kit = session.server.rows().state(of.entity).expect("it is there");
        let is_told = facts.is_told(me, of);
        assert_eq!(kit.teams, if is_told { truth.teams } else { 0 }, "{of:?}");
        predicted[usize::from(is_told)] += u32::from(is_predicted && of.owner != me);
    }
    assert!(predicted.iter().all(|count| *count > 0), "of a team and of none: {predicted:?}");
}

#[test]
fn without_rules_what_is_for_a_team_is_for_the_owner_alone() {
    let mut world = two_sides();
    world.facts.has_rules = false;
    let mut session = Session::new(world, config(Interest::Everything, SendRate::EveryTick), Predict::Own, 3);
    let mut reader = Reader::default();
    session.watch(1500, |session, told| reader.read(session, told));
    assert!(reader.found[0] > 20 && reader.found[1] > 20 && reader.found[2] > 10, "{:?}", reader.found);
    assert_eq!(reader.found[3..], [0, 0]);
    // With rules, and without them again.
    session.world.facts.has_rules = true;
    session.watch(1000, |session, told| reader.read(session, told));
    assert!(reader.found[3] > 0);
    (session.world.facts.has_rules, session.world.facts.is_lively) = (false, false);
    session.watch(1500, |session, told| reader.read(session, told));
    for nth in 0..3 {
        check_kits(&session, nth, "without rules");
        check_hideouts(&session, nth, "without rules");
    }
}
