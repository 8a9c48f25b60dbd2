//! What a player may not see never leaves the server: the bits of all datagrams are read.

use super::woods::{
    LEAVES_AT_M, OF_EFFECT, OF_INPUT, OF_ROW, Pace, Session, Told, WITHIN, Woods, config, number_of, thing,
};
use foretell::session::client::Predict;
use foretell::{Entity, PlayerId, SendRate, Tick};
use std::collections::BTreeMap;

/// So long after something was seen its effects may be told, until they are acknowledged.
pub const ACKNOWLEDGED_MS: u64 = 500;

/// The 64 bits from each bit of a datagram on.
pub fn windows(bytes: &[u8]) -> impl Iterator<Item = u64> {
    (0..bytes.len().saturating_sub(8) * 8).map(|bit| {
        let (at, shift) = (bit / 8, bit % 8);
        let wide =
            u128::from(bytes[at + 8]) << 64 | u128::from(u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8")));
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let window = (wide >> shift) as u64;
        window
    })
}

/// An entity's name as it travels: its tick in groups of four bits, each after a bit 1. Those of the vault have 32 bits, so
/// that they are found.
pub fn name_bits(entity: Entity) -> u64 {
    (0..8).fold(0, |bits, group| bits | (u64::from(entity.tick().get() >> (4 * group) & 15) << 1 | 1) << (5 * group))
}

pub const NAME_BITS: u64 = (1 << 40) - 1;

/// Nobody ever sees what is in here, but for the first, which is beside the first player.
fn vault(nth: u32) -> Entity {
    Entity::new(PlayerId::SERVER, Tick::new(0xa5c3_9600 + nth * 7), 1000)
}

#[derive(Default)]
struct Reader {
    now_ms: u64,
    /// When each player was last allowed to see each entity, by number.
    allowed: BTreeMap<(PlayerId, u64), u64>,
    /// Secrets of rows, of effects and of inputs, and names of the vault.
    found: [u64; 4],
}

impl Reader {
    fn read(&mut self, session: &Session, told: &[Told]) {
        self.now_ms += 1;
        for player in session.server.players() {
            for entity in session.visible(player, LEAVES_AT_M) {
                self.allowed.insert((player, number_of(entity)), self.now_ms);
                let spawned_for = entity.spawned_for();
                self.allowed.insert((player, 1 << 32 | u64::from(spawned_for.get())), self.now_ms);
            }
        }
        let names: BTreeMap<u64, u32> = (0..8).map(|nth| (name_bits(vault(nth)), nth)).collect();
        for Told { player, bytes } in told {
            let last = |number: u64| self.allowed.get(&(*player, number)).copied().unwrap_or(0);
            let own = |number: u64| number >> 21 == u64::from(player.get());
            for window in windows(bytes) {
                let number = window & 0xff_ffff;
                match window >> 24 {
                    of_row if OF_ROW.contains(&of_row) => {
                        assert!(own(number) || last(number) == self.now_ms, "{player} is told of {number:#x}");
                        self.found[0] += u64::from(!own(number));
                    }
                    OF_EFFECT => {
                        let is_seen = last(number) + ACKNOWLEDGED_MS > self.now_ms && last(number) > 0;
                        assert!(own(number) || is_seen, "{player} hears of {number:#x}");
                        self.found[1] += u64::from(!own(number));
                    }
                    OF_INPUT => {
                        let is_own = number == u64::from(player.get());
                        assert!(
                            is_own || last(1 << 32 | number) == self.now_ms,
                            "{player} knows the input of {number}"
                        );
                        self.found[2] += u64::from(!is_own);
                    }
                    _ => {}
                }
                if let Some(nth) = names.get(&(window & NAME_BITS)) {
                    assert!(
                        *nth == 0 && *player == PlayerId::new(1),
                        "{player} is told the name of {nth} of the vault"
                    );
                    self.found[3] += 1;
                }
            }
        }
    }
}

fn woods() -> Woods {
    let mut world = Woods::default();
    for nth in 0..200_u16 {
        world.add(thing(nth), [f32::from(nth) * 2.0 - 200.0, 0.0, f32::from(nth % 7)]);
    }
    world.add(vault(0), [-100.0, 0.0, 0.0]);
    (1..4).for_each(|nth| world.add(vault(nth), [0.0, 0.0, 5000.0]));
    (4..8).for_each(|nth| world.add(vault(nth), [-95.0, 0.0, 0.0]));
    (world.facts.is_lively, world.facts.are_bolts_seated) = (true, true);
    world.facts.has_rules = true;
    world.facts.cloaked = (4..8).map(vault).chain((0..200).step_by(9).map(thing)).collect();
    world
}

fn read_all(predict: Predict, rate: SendRate, expected: [bool; 4]) {
    let mut session = Session::new(woods(), config(WITHIN, rate), predict, 3);
    let mut reader = Reader::default();
    session.watch(500, |session, told| reader.read(session, told));
    for second in 0..8_u16 {
        // The second goes to the others, to and fro; the vault is emptied and filled.
        for nth in 0..3 {
            let goes = session.players[nth].client.player() == Some(PlayerId::new(2));
            session.paces[nth] =
                Pace { right: goes && second % 4 < 2, left: goes && second % 4 >= 2, ..Pace::default() };
        }
        session.watch(1000, |session, told| reader.read(session, told));
        if second % 2 == 0 {
            session.world.remove(vault(3));
        } else {
            session.world.add(vault(3), [0.0, 0.0, 5000.0]);
        }
        let things = (second..200).step_by(9).map(thing);
        session.world.facts.cloaked = (4..8).map(vault).chain(things).collect();
    }
    assert_eq!(reader.found.map(|found| found > 20), expected, "{:?}: {:?}", predict, reader.found);
}

#[test]
fn no_row_effect_name_or_input_of_what_a_player_may_not_see_is_in_any_datagram() {
    // Who predicts nobody else is told no inputs of others at all.
    read_all(Predict::Own, SendRate::EveryTick, [true, true, false, true]);
    read_all(Predict::Own, SendRate::Hz(16), [true, true, false, true]);
}

#[test]
fn nor_is_it_in_whole_states() {
    read_all(Predict::Everyone, SendRate::EveryTick, [true; 4]);
    read_all(Predict::Everyone, SendRate::Hz(16), [true; 4]);
}
