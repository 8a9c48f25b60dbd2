//! How an endpoint was made, in a recording. One function for both directions each.

use super::format::{SAID_TOO_LONG, stream_choice, stream_join_data, stream_long};
use foretell::JoinRequest;
use foretell::session::Rules;
use foretell::session::client::{ClientOrigin, Joined};
use foretell::time::Instant;
use foretell::wire::{Malformed, Stream};
use foretell::world::{Input, Seat};

/// How an endpoint was made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Start {
    /// In Hz.
    pub tick_rate: u16,
    /// Of the rules and the layout of the input.
    pub rules_hash: u64,
    pub made: Made,
}

/// Which endpoint it is, and what it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Made {
    Client(JoinRequest),
    Joined { player: u16, epoch: u8, now: Instant },
    Server { epoch: u8, now: Instant },
}

impl Made {
    pub(super) fn of_client(origin: ClientOrigin) -> Made {
        match origin {
            ClientOrigin::New(request) => Made::Client(request),
            ClientOrigin::Joined(Joined { player, epoch, now }) => Made::Joined { player: player.get(), epoch, now },
        }
    }
}

impl Start {
    pub(super) fn new<I: Input>(rules: &Rules, made: Made) -> Start {
        let tick_rate = rules.tick_rate.get();
        Start { tick_rate, rules_hash: rules.hash_with::<I>(), made }
    }

    pub(super) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        stream.u16(&mut self.tick_rate)?;
        if !(1..=1000).contains(&self.tick_rate) {
            return Err(Malformed::OutOfRange("tick rate"));
        }
        stream.bits(&mut self.rules_hash, 64)?;
        let number = match self.made {
            Made::Client(_) => 0,
            Made::Joined { .. } => 1,
            Made::Server { .. } => 2,
        };
        let (mut request, mut player, mut epoch, mut micros) = (JoinRequest::new(0), 0, 0, 0);
        match &self.made {
            Made::Client(given) => request.clone_from(given),
            Made::Joined { player: given, epoch: of, now } => (player, epoch, micros) = (*given, *of, now.micros()),
            Made::Server { epoch: given, now } => (epoch, micros) = (*given, now.micros()),
        }
        let number = stream_choice(stream, number, 3)?;
        if number == 0 {
            self.made = Made::Client(stream_request(stream, request)?);
            return Ok(());
        }
        stream.u16(&mut player)?;
        stream.u8(&mut epoch)?;
        stream_long(stream, &mut micros)?;
        let now = Instant::from_micros(micros);
        self.made = if number == 1 { Made::Joined { player, epoch, now } } else { Made::Server { epoch, now } };
        Ok(())
    }
}

/// What a client has asked for a place with.
fn stream_request(stream: &mut impl Stream, request: JoinRequest) -> Result<JoinRequest, Malformed> {
    let (mut nonce, mut is_spectator) = (request.nonce(), request.seat() == Seat::Spectator);
    let mut data = request.data().to_vec();
    stream.bits(&mut nonce, 64)?;
    stream.bool(&mut is_spectator)?;
    stream_join_data(stream, &mut data)?;
    let said = JoinRequest::new(nonce).with_data(data).map_err(|_| SAID_TOO_LONG)?;
    Ok(if is_spectator { said.as_spectator() } else { said })
}
