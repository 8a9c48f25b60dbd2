//! What a server is told of its peers, in a recording. One function for both directions each.

use super::format::{stream_join_data, stream_long, stream_one_of, stream_owner};
use alloc::vec::Vec;
use foretell::session::PeerId;
use foretell::session::client::Show;
use foretell::session::server::PeerCall;
use foretell::wire::{Malformed, Stream};
use foretell::world::{PlayerId, Reason, Text};

/// A call, and of whom.
pub(super) fn stream_peer_call(
    stream: &mut impl Stream,
    call: &mut PeerCall,
    peer: &mut PeerId,
) -> Result<(), Malformed> {
    // 4 and 5 are of clients.
    let mut number = match &*call {
        PeerCall::Join => 0,
        PeerCall::Leave => 1,
        PeerCall::Disconnected => 2,
        PeerCall::Release => 3,
        PeerCall::Identify(_) => 6,
        PeerCall::Remove(..) => 7,
        PeerCall::JoinHere(..) => 8,
    };
    stream.u8(&mut number)?;
    stream_long(stream, &mut peer.0)?;
    *call = match (number, core::mem::replace(call, PeerCall::Join)) {
        (0, _) => PeerCall::Join,
        (1, _) => PeerCall::Leave,
        (2, _) => PeerCall::Disconnected,
        (3, _) => PeerCall::Release,
        (6, before) => {
            let mut account = if let PeerCall::Identify(account) = before { account } else { None };
            stream.optional(&mut account, stream_text)?;
            PeerCall::Identify(account)
        }
        (7, before) => {
            let (mut player, mut reason) = match before {
                PeerCall::Remove(player, reason) => (player, reason),
                _ => (PlayerId::SERVER, Reason::EMPTY),
            };
            stream_owner(stream, &mut player)?;
            stream_text(stream, &mut reason)?;
            PeerCall::Remove(player, reason)
        }
        (8, before) => {
            let (mut show, mut data) = match before {
                PeerCall::JoinHere(show, data) => (show, data),
                _ => (Show::default(), Vec::new()),
            };
            stream_one_of(stream, &mut show, &Show::ALL)?;
            stream_join_data(stream, &mut data)?;
            PeerCall::JoinHere(show, data)
        }
        _ => return Err(Malformed::OutOfRange("call")),
    };
    Ok(())
}

/// A short text: its length in bytes, and its UTF-8.
fn stream_text<const N: usize>(stream: &mut impl Stream, text: &mut Text<N>) -> Result<(), Malformed> {
    let mut bytes = [0; N];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    let mut size = text.len() as u64;
    stream.bits(&mut size, 7)?;
    let bytes = usize::try_from(size).ok().and_then(|size| bytes.get_mut(..size));
    let bytes = bytes.ok_or(Malformed::OutOfRange("length of a text"))?;
    bytes.iter_mut().try_for_each(|byte| stream.u8(byte))?;
    *text = Text::new(core::str::from_utf8(bytes).map_err(|_| Malformed::OutOfRange("text"))?);
    Ok(())
}
