//! From an address and a token to an admitted connection, of a client on any platform.

use crate::control::{Control, Refused, Shown, VERSION};
use crate::credential::{Credential, ResumeTicket};
use crate::join_url::{CertificateHash, read_url};
use crate::platform::{Clock, Farewell, ask_by_socket, reach_by_webtransport, sleep, within};
use crate::transport::Transport;
use foretell::JoinDataTooLong;
use std::io;
use std::time::Duration;

/// Longer than this nobody waits until a server is reached, nor then for its answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// So long until it is reached where there is another way.
const PATIENCE_QUIC: Duration = Duration::from_secs(3);

/// Why a client is not connected.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The address is not one of the form `https://host:port/`, with hashes of certificates after a `#` or without.
    #[error("not an address of a server")]
    Address,
    /// The server does not want this client.
    #[error("not admitted: {0}")]
    Refused(Refused),
    /// More is to be said of the player than there is room for.
    #[error(transparent)]
    Data(#[from] JoinDataTooLong),
    /// Nobody has answered as a server does.
    #[error("not reached: {0}")]
    Unreached(String),
    /// This machine has refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// By which protocol a client connects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Via {
    /// By WebTransport; where no server is reached by that within 3 s, by WebSocket.
    #[default]
    Either,
    /// By WebTransport over QUIC alone.
    WebTransport,
    /// By WebSocket over TLS alone. What is lost on the way then delays what comes after it.
    WebSocket,
}

/// Where a client goes, and how it knows that it is there.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// Without what stands after the `#`.
    pub url: String,
    pub hashes: Vec<CertificateHash>,
    pub idle_timeout: Duration,
    via: Via,
}

/// An admitted connection of a client.
pub(crate) struct Joined {
    pub session: u64,
    pub ticket: ResumeTicket,
    pub transport: Box<dyn Transport>,
    pub farewell: Farewell,
}

impl Target {
    pub(crate) fn new(url: &str, idle_timeout: Duration, via: Via) -> Result<Target, ConnectError> {
        let (url, hashes) = read_url(url).ok_or(ConnectError::Address)?;
        Ok(Target { url: url.to_owned(), hashes, idle_timeout, via })
    }

    /// Connects from a new port, and asks for a place.
    pub(crate) async fn join(&self, credential: &Credential, clock: Clock) -> Result<Joined, ConnectError> {
        let shown = match credential {
            Credential::Token(token) => Shown::Token(token.as_bytes()),
            Credential::ResumeTicket(ticket) => Shown::ResumeTicket(ticket.as_bytes()),
        };
        let request = Control::Admit { version: VERSION, shown }.framed();
        if self.via == Via::WebSocket {
            return self.join_by_socket(&request, clock).await;
        }
        let patience = if self.via == Via::Either { PATIENCE_QUIC } else { PATIENCE };
        match within(patience, reach_by_webtransport(self, clock)).await.unwrap_or_else(late) {
            // What was shown on this way may be used up, however late the answer is: it is shown on no other.
            Ok(reached) => within(PATIENCE, reached.ask(&request)).await.unwrap_or_else(late),
            Err(ConnectError::Unreached(first)) if self.via == Via::Either => {
                self.join_by_socket(&request, clock).await.map_err(|second| match second {
                    ConnectError::Unreached(second) => {
                        unreached(format!("by WebTransport: {first}; by WebSocket: {second}"))
                    }
                    other => other,
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Tries again and again: first at once, then less and less often, as long as the answer may change.
    pub(crate) async fn come_back(
        &self,
        credential: &Credential,
        clock: Clock,
        rejoin_for: Duration,
    ) -> Result<Joined, ConnectError> {
        let began = clock.now();
        let mut pause = Duration::from_millis(250);
        loop {
            let tried = self.join(credential, clock).await;
            let may_change = match &tried {
                Ok(_) => false,
                Err(ConnectError::Refused(why)) => matches!(why, Refused::Full | Refused::Busy),
                Err(ConnectError::Address | ConnectError::Data(_)) => false,
                Err(ConnectError::Unreached(_) | ConnectError::Io(_)) => true,
            };
            if !may_change || clock.now().since(began) >= rejoin_for {
                return tried;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_secs(2));
        }
    }

    async fn join_by_socket(&self, request: &[u8], clock: Clock) -> Result<Joined, ConnectError> {
        within(PATIENCE, ask_by_socket(self, request, clock)).await.unwrap_or_else(late)
    }
}

/// What the server has said to the request: the number of the session, and the first ticket.
pub(crate) fn read_answer(answer: Option<&[u8]>) -> Result<(u64, ResumeTicket), ConnectError> {
    match answer.and_then(Control::read) {
        Some(Control::Admitted { session, ticket }) => {
            Ok((session, ResumeTicket::from_bytes(ticket).ok_or_else(|| unreached("an odd ticket"))?))
        }
        Some(Control::Refused(why)) => Err(ConnectError::Refused(why)),
        _ => Err(unreached("an odd answer")),
    }
}

fn late<T>() -> Result<T, ConnectError> {
    Err(unreached("no answer in time"))
}

pub(crate) fn unreached(error: impl ToString) -> ConnectError {
    ConnectError::Unreached(error.to_string())
}
