//! Shared mode on the wire: who has authority over an entity, what is asked for, and the rows that go up (F5).
//!
//! A client *asks* with numbered requests that it repeats until they are answered, and sends the rows of what it holds in
//! its datagrams of inputs, under the number of the request by which it holds. A server *answers* each request once, tells
//! the answer until a later snapshot is acknowledged, and tells with the state who holds what.

use super::exact_row_codec::{ExactRowCodec, read_entity, write_entity};
use crate::wire::{BitReader, BitWriter, Malformed, Stream};
use crate::world::{ComponentSchema, Entity, PlayerId, ROW_WORDS_MAX, RowKey, Writer, word_bits};
use alloc::vec::Vec;

/// How many requests a client has open at a time; more wait for the answers.
pub(crate) const REQUESTS_MAX: usize = 8;
/// How many rows one datagram brings up.
pub(crate) const HELD_ROWS_MAX: usize = 64;
/// How many answers one header tells.
pub(crate) const ANSWERS_MAX: usize = 32;
/// How far before the newest input a row may have been captured, in ticks.
const CAPTURED_BACK_MAX: u32 = 1024;
/// After how many ticks an entity that its holder has not moved is at rest: 0.25 s at 64 Hz, longer than the top of a throw.
pub(crate) const REST_TICKS: u32 = 16;

/// By what right a client has authority over an entity. Ordered: ownership beats authority.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Claim {
    /// It moves the entity until that is at rest, or somebody takes ownership: what was touched, thrown, let go.
    Authority,
    /// It holds the entity; nobody can take it.
    Ownership,
}

/// Who has authority over an entity. The numbers count for all entities of a server together, and say which of two
/// holders was later: the first goes up with every new holder, the second when ownership is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Holder {
    /// Whose client moves it.
    pub player: PlayerId,
    /// By what right.
    pub claim: Claim,
    /// Which grant of authority it was, modulo 65,536.
    pub authority: u16,
    /// Which ownership it is or was last, modulo 65,536.
    pub ownership: u16,
}

/// Why a request for authority was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum HoldRefusal {
    /// Another player holds it, by the same right or a better one.
    Taken,
    /// It is another player's, it has no field that an owner writes, it does not exist, or the player does not see it.
    NotShared,
    /// The player holds as many entities as allowed.
    TooMany,
    /// The player asks more often than allowed.
    TooOften,
}

const REFUSALS: [HoldRefusal; 4] =
    [HoldRefusal::Taken, HoldRefusal::NotShared, HoldRefusal::TooMany, HoldRefusal::TooOften];

/// "I want this", or "I want it no more".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub number: u16,
    pub entity: Entity,
    /// `None` gives it back.
    pub claim: Option<Claim>,
}

/// What became of a request: done, or why not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Answer {
    pub number: u16,
    pub refused: Option<HoldRefusal>,
}

impl Answer {
    pub(crate) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u16(&mut self.number)?;
        let at = self.refused.and_then(|why| REFUSALS.iter().position(|known| *known == why));
        let mut bits = at.map_or(0, |at| at as u64 + 1);
        stream.bits(&mut bits, 3)?;
        self.refused = match usize::try_from(bits).unwrap_or_default() {
            0 => None,
            at => Some(*REFUSALS.get(at - 1).ok_or(Malformed::OutOfRange("answer"))?),
        };
        Ok(())
    }
}

/// A row that goes up: what its holder has captured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldRow {
    pub key: RowKey,
    /// By which request it is held.
    pub request: u16,
    /// How many ticks before the newest input of the datagram it was captured.
    pub back: u32,
    /// Whether it has not moved for [`REST_TICKS`].
    pub rests: bool,
    /// Of the row's words those that the owner writes; the others are zero.
    pub words: [u32; ROW_WORDS_MAX],
}

/// What a datagram of inputs says besides.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    /// Oldest first, `len <= REQUESTS_MAX`.
    pub requests: Vec<Request>,
    /// `len <= HELD_ROWS_MAX`.
    pub rows: Vec<HeldRow>,
}

impl Shared {
    pub(crate) fn with_room() -> Shared {
        Shared { requests: Vec::with_capacity(REQUESTS_MAX), rows: Vec::with_capacity(HELD_ROWS_MAX) }
    }

    /// Reads all of it; a malformed one leaves what was read so far.
    pub(crate) fn read(&mut self, reader: &mut BitReader<'_>, code: &AuthorityCodec) -> Result<(), Malformed> {
        self.requests.clear();
        self.rows.clear();
        if reader.take(1)? == 0 {
            return Ok(());
        }
        while reader.take(1)? == 1 {
            if self.requests.len() == REQUESTS_MAX {
                return Err(Malformed::OutOfRange("count of requests"));
            }
            self.requests.push(read_request(reader)?);
        }
        while reader.take(1)? == 1 {
            if self.rows.len() == HELD_ROWS_MAX {
                return Err(Malformed::OutOfRange("count of rows"));
            }
            self.rows.push(code.read_row(reader)?);
        }
        Ok(())
    }
}

pub(crate) fn write_request(request: &Request, writer: &mut BitWriter<'_>) {
    writer.put(u64::from(request.number), 16);
    let claim = match request.claim {
        None => 0,
        Some(Claim::Authority) => 1,
        Some(Claim::Ownership) => 2,
    };
    writer.put(claim, 2);
    write_entity(writer, request.entity);
}

fn read_request(reader: &mut BitReader<'_>) -> Result<Request, Malformed> {
    let mut number = 0;
    reader.u16(&mut number)?;
    let claim = match reader.take(2)? {
        0 => None,
        1 => Some(Claim::Authority),
        2 => Some(Claim::Ownership),
        _ => return Err(Malformed::OutOfRange("claim")),
    };
    Ok(Request { number, entity: read_entity(reader)?, claim })
}

/// How what goes up is coded: names as in snapshots, and of a row what the owner writes.
#[derive(Clone, Debug)]
pub(crate) struct AuthorityCodec {
    rows: ExactRowCodec,
    /// By component: the width of each word in bits, 0 for what the server writes.
    widths: Vec<Vec<u8>>,
}

impl AuthorityCodec {
    pub(crate) fn new(components: &[ComponentSchema], rows: &ExactRowCodec) -> AuthorityCodec {
        let widths = |component: &ComponentSchema| {
            let of_column = |column| {
                let column: &crate::world::Column = column;
                let mut widths = word_bits(core::iter::once(column));
                if column.writer == Writer::Server {
                    widths.fill(0);
                }
                widths
            };
            component.columns().flat_map(of_column).collect()
        };
        AuthorityCodec { rows: rows.clone(), widths: components.iter().map(widths).collect() }
    }

    pub(crate) fn write_row(&self, row: &HeldRow, writer: &mut BitWriter<'_>) {
        self.rows.write_key(writer, row.key);
        writer.put(u64::from(row.request), 16);
        writer.small(&mut { row.back }).expect("writing never fails");
        writer.put(u64::from(row.rests), 1);
        for (word, width) in row.words.iter().zip(&self.widths[usize::from(row.key.component.0)]) {
            writer.put(u64::from(*word), u32::from(*width));
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the widths of what is read fit")]
    fn read_row(&self, reader: &mut BitReader<'_>) -> Result<HeldRow, Malformed> {
        let key = self.rows.read_key(reader)?;
        let (mut request, mut back) = (0, 0);
        reader.u16(&mut request)?;
        reader.small(&mut back)?;
        if back > CAPTURED_BACK_MAX {
            return Err(Malformed::OutOfRange("tick of a row"));
        }
        let rests = reader.take(1)? == 1;
        let mut words = [0; ROW_WORDS_MAX];
        for (word, width) in words.iter_mut().zip(&self.widths[usize::from(key.component.0)]) {
            *word = reader.take(u32::from(*width))? as u32;
        }
        Ok(HeldRow { key, request, back, rests, words })
    }
}

/// An entity that a client has authority over, by the row that its holder writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldEntity {
    pub key: RowKey,
    pub holder: Holder,
}

/// Who holds an entity, as a snapshot tells it; `None` for nobody any more.
pub(crate) type ToldHolder = (Entity, Option<Holder>);

/// Writes who holds an entity, into a snapshot.
pub(crate) fn write_holder(writer: &mut BitWriter<'_>, (entity, holder): ToldHolder) {
    write_entity(writer, entity);
    let player = holder.map_or(PlayerId::SERVER, |holder| holder.player);
    writer.small(&mut u32::from(player.get())).expect("writing never fails");
    let Some(holder) = holder else { return };
    writer.put(u64::from(holder.claim == Claim::Ownership), 1);
    writer.put(u64::from(holder.authority), 16);
    writer.put(u64::from(holder.ownership), 16);
}

/// The inverse of [`write_holder`].
pub(crate) fn read_holder(reader: &mut BitReader<'_>) -> Result<ToldHolder, Malformed> {
    let entity = read_entity(reader)?;
    let (mut player, mut authority, mut ownership) = (0, 0, 0);
    reader.small(&mut player)?;
    let player = PlayerId::new(u16::try_from(player).map_err(|_| Malformed::OutOfRange("player"))?);
    if player == PlayerId::SERVER {
        return Ok((entity, None));
    }
    let claim = if reader.take(1)? == 1 { Claim::Ownership } else { Claim::Authority };
    reader.u16(&mut authority)?;
    reader.u16(&mut ownership)?;
    Ok((entity, Some(Holder { player, claim, authority, ownership })))
}
