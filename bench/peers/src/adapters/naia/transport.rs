//! Sockets of naia in memory: packets wait in a mailbox until they are carried on.

use naia_client::transport as client;
use naia_server::transport as server;
use naia_shared::IdentityToken;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard};

/// A packet, and to whom it goes or from whom it comes.
pub struct Packet {
    /// The client's address.
    pub client: SocketAddr,
    /// What is in it.
    pub bytes: Vec<u8>,
}

/// What an end has received and not taken in, and what it has sent.
#[derive(Clone, Default)]
pub struct Mailbox(Arc<Mutex<Waiting>>);

/// What waits in it.
#[derive(Default)]
pub struct Waiting {
    /// To be taken in by the end.
    pub arrived: VecDeque<Packet>,
    /// To be carried to the other.
    pub sent: VecDeque<Packet>,
}

impl Mailbox {
    /// What waits in it.
    pub fn open(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().expect("there is one thread")
    }

    fn send(&self, client: SocketAddr, bytes: &[u8]) {
        self.open().sent.push_back(Packet { client, bytes: bytes.to_vec() });
    }
}

/// Who wants to come in, and with which tokens: beside the packets, as it is over HTTP elsewhere.
#[derive(Clone, Default)]
pub struct Door(Arc<Mutex<Asked>>);

#[derive(Default)]
struct Asked {
    wanting: VecDeque<SocketAddr>,
    accepted: Vec<(SocketAddr, IdentityToken)>,
}

impl Door {
    fn open(&self) -> MutexGuard<'_, Asked> {
        self.0.lock().expect("there is one thread")
    }
}

/// The server's socket.
pub struct ServerSocket {
    /// Where its packets are.
    pub mailbox: Mailbox,
    /// Who wants to come in.
    pub door: Door,
}

impl From<ServerSocket> for Box<dyn server::Socket> {
    fn from(socket: ServerSocket) -> Self {
        Box::new(socket)
    }
}

impl server::Socket for ServerSocket {
    fn listen(self: Box<Self>) -> server::ListenResult {
        let ServerSocket { mailbox, door } = *self;
        let guard = ServerAuth { door, last: None };
        let end = ServerEnd { mailbox, last: None };
        (Box::new(guard.clone()), Box::new(guard), Box::new(end.clone()), Box::new(end))
    }
}

#[derive(Clone)]
struct ServerAuth {
    door: Door,
    /// The one who was told of last.
    last: Option<SocketAddr>,
}

impl server::AuthSender for ServerAuth {
    fn accept(&self, address: &SocketAddr, token: &IdentityToken) -> Result<(), server::SendError> {
        self.door.open().accepted.push((*address, token.clone()));
        Ok(())
    }

    fn reject(&self, _: &SocketAddr) -> Result<(), server::SendError> {
        Err(server::SendError)
    }
}

impl server::AuthReceiver for ServerAuth {
    fn receive(&mut self) -> Result<Option<(SocketAddr, &[u8])>, server::RecvError> {
        self.last = self.door.open().wanting.pop_front();
        Ok(self.last.map(|address| (address, &[][..])))
    }
}

struct ServerEnd {
    mailbox: Mailbox,
    /// The one that was taken in last: it is lent out.
    last: Option<Packet>,
}

impl Clone for ServerEnd {
    fn clone(&self) -> ServerEnd {
        ServerEnd { mailbox: self.mailbox.clone(), last: None }
    }
}

impl server::PacketSender for ServerEnd {
    fn send(&self, address: &SocketAddr, payload: &[u8]) -> Result<(), server::SendError> {
        self.mailbox.send(*address, payload);
        Ok(())
    }
}

impl server::PacketReceiver for ServerEnd {
    fn receive(&mut self) -> Result<Option<(SocketAddr, &[u8])>, server::RecvError> {
        self.last = self.mailbox.open().arrived.pop_front();
        Ok(self.last.as_ref().map(|packet| (packet.client, &packet.bytes[..])))
    }
}

/// A client's socket.
pub struct ClientSocket {
    /// Where its packets are.
    pub mailbox: Mailbox,
    /// Where it knocks.
    pub door: Door,
    /// Its own address.
    pub address: SocketAddr,
}

impl From<ClientSocket> for Box<dyn client::Socket> {
    fn from(socket: ClientSocket) -> Self {
        Box::new(socket)
    }
}

type ClientParts = (Box<dyn client::IdentityReceiver>, Box<dyn client::PacketSender>, Box<dyn client::PacketReceiver>);

impl client::Socket for ClientSocket {
    fn connect(self: Box<Self>) -> ClientParts {
        let ClientSocket { mailbox, door, address } = *self;
        door.open().wanting.push_back(address);
        let end = ClientEnd { mailbox, address, last: None };
        (Box::new(ClientAuth { door, address }), Box::new(end.clone()), Box::new(end))
    }

    fn connect_with_auth(self: Box<Self>, _: Vec<u8>) -> ClientParts {
        self.connect()
    }

    fn connect_with_auth_headers(self: Box<Self>, _: Vec<(String, String)>) -> ClientParts {
        self.connect()
    }

    fn connect_with_auth_and_headers(self: Box<Self>, _: Vec<u8>, _: Vec<(String, String)>) -> ClientParts {
        self.connect()
    }
}

#[derive(Clone)]
struct ClientAuth {
    door: Door,
    address: SocketAddr,
}

impl client::IdentityReceiver for ClientAuth {
    fn receive(&mut self) -> client::IdentityReceiverResult {
        let asked = self.door.open();
        let own = asked.accepted.iter().find(|(address, _)| *address == self.address);
        own.map_or(client::IdentityReceiverResult::Waiting, |(_, token)| {
            client::IdentityReceiverResult::Success(token.clone())
        })
    }
}

struct ClientEnd {
    mailbox: Mailbox,
    address: SocketAddr,
    /// The one that was taken in last: it is lent out.
    last: Option<Packet>,
}

impl Clone for ClientEnd {
    fn clone(&self) -> ClientEnd {
        ClientEnd { mailbox: self.mailbox.clone(), address: self.address, last: None }
    }
}

/// There is one server.
fn server_addr() -> client::ServerAddr {
    client::ServerAddr::Found(SocketAddr::from((Ipv4Addr::LOCALHOST, 1)))
}

impl client::PacketSender for ClientEnd {
    fn send(&self, payload: &[u8]) -> Result<(), client::SendError> {
        self.mailbox.send(self.address, payload);
        Ok(())
    }

    fn server_addr(&self) -> client::ServerAddr {
        server_addr()
    }
}

impl client::PacketReceiver for ClientEnd {
    fn receive(&mut self) -> Result<Option<&[u8]>, client::RecvError> {
        self.last = self.mailbox.open().arrived.pop_front();
        Ok(self.last.as_ref().map(|packet| &packet.bytes[..]))
    }

    fn server_addr(&self) -> client::ServerAddr {
        server_addr()
    }
}
