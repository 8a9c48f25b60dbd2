//! What a message is, how it is delivered, and which ones there are in a session.

use super::PlayerId;
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::{Any, TypeId};
use core::fmt;
use core::hash::{Hash, Hasher};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Something that one end tells the other besides the state: a line of chat, a map, what a player buys. Derive it; how it is
/// delivered says `#[message(..)]`. Both ends name it in their [rules](crate::Rules::messages).
///
/// Each type is a channel of its own: it does not wait for messages of other types. What has to keep an order among each other is an
/// enum.
///
/// What comes is read by serde before the game sees it. A type that holds itself, as a tree does, lets who sends it say how deep the
/// reader goes, and lists of what takes no bytes, as `Vec<()>`, how long they are: let a message hold neither.
pub trait Message: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What it is called: the same on both ends, and nothing else of the session. The derive takes the type's name.
    const NAME: &'static str;
    /// How it is delivered. The derive's default is [`Delivery::Ordered`].
    const DELIVERY: Delivery;
    /// How many bytes it may take, as it is sent: more is refused where it is sent, and not kept where it comes from who sends it all
    /// the same. The derive's default is 1 MiB, and for what is in a step 256 bytes, which is the most for that.
    const BYTES_MAX: u32;
}

/// How a message is delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Delivery {
    /// Once, and after all that were sent before it: repeated until it has come. What comes too early waits.
    Ordered,
    /// Once, as soon as it is there: repeated until it has come.
    Unordered,
    /// Nothing that is older than what has come; the newest arrives in any case. One that was not sent yet is never sent when there is
    /// a newer one; of those that take several datagrams at least every second that is begun is sent to its end, so that some come
    /// however fast there are newer ones.
    Newest,
    /// Sent once, and perhaps lost; never twice.
    Unreliable,
    /// From a client, as part of the tick that it simulates next, like an input: the same step has it on both ends, and in each
    /// re-simulation ([`Step::messages`](crate::Step::messages)). In order, never lost; one that comes after its tick was simulated
    /// is in the next step of the server's, and the client is told. At most 64 of a player wait for their ticks: more are not taken.
    InStep,
}

/// One kind of message, as both ends have to have it.
#[derive(Clone, Copy)]
pub struct MessageKind {
    name: &'static str,
    delivery: Delivery,
    bytes_max: u32,
    id: TypeId,
    decode: fn(&[u8]) -> Option<Content>,
    encode: fn(&ReceivedMessage) -> Option<Arc<[u8]>>,
}

/// What a message holds; which type it is of is known.
pub(crate) type Content = Box<dyn Any + Send + Sync>;

impl MessageKind {
    fn of<M: Message>() -> MessageKind {
        MessageKind {
            name: M::NAME,
            delivery: M::DELIVERY,
            bytes_max: M::BYTES_MAX,
            id: TypeId::of::<M>(),
            decode: |bytes| {
                let (message, rest) = postcard::take_from_bytes::<M>(bytes).ok()?;
                rest.is_empty().then(|| Box::new(message) as Content)
            },
            encode: |message| message.get::<M>().map(Messages::encode),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How it is delivered.
    pub fn delivery(&self) -> Delivery {
        self.delivery
    }

    /// How many bytes one may take.
    pub fn bytes_max(&self) -> u32 {
        self.bytes_max
    }

    /// The bytes of a message of this kind, as it is sent; `None` where it is of another.
    pub fn bytes_of(&self, message: &ReceivedMessage) -> Option<Arc<[u8]>> {
        (self.encode)(message)
    }

    /// The message that these bytes are; `None` where they are none.
    pub(crate) fn decode(&self, bytes: &[u8]) -> Option<Content> {
        (self.decode)(bytes)
    }
}

impl PartialEq for MessageKind {
    fn eq(&self, other: &MessageKind) -> bool {
        (self.name, self.delivery, self.bytes_max) == (other.name, other.delivery, other.bytes_max)
    }
}

impl Eq for MessageKind {}

impl Hash for MessageKind {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.delivery, self.bytes_max).hash(state);
    }
}

impl fmt::Debug for MessageKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MessageKind { name, delivery, bytes_max, .. } = self;
        write!(f, "{name} ({delivery:?}, at most {bytes_max} bytes)")
    }
}

/// Which kinds of messages there are in a session, in an order that both ends have in common. None by default.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Default)]
pub struct Messages {
    kinds: Vec<MessageKind>,
}

/// How many kinds there may be.
const KINDS_MAX: usize = 64;
/// How many bytes a message in a step may take, as it travels with inputs.
const IN_STEP_BYTES_MAX: u32 = 256;

impl Messages {
    /// None.
    #[must_use]
    pub fn new() -> Messages {
        Messages::default()
    }

    /// The same with one more kind.
    ///
    /// # Panics
    /// When there are 64 already, or one of this name, or one in a step may take more than 256 bytes.
    #[must_use]
    pub fn with<M: Message>(mut self) -> Messages {
        let kind = MessageKind::of::<M>();
        assert!(self.kinds.len() < KINDS_MAX, "a session has at most {KINDS_MAX} kinds of messages");
        assert!(
            self.kinds.iter().all(|known| known.name != kind.name),
            "two kinds of messages are called {}",
            kind.name
        );
        let is_small = kind.delivery != Delivery::InStep || kind.bytes_max <= IN_STEP_BYTES_MAX;
        assert!(is_small, "a message in a step takes at most {IN_STEP_BYTES_MAX} bytes: {kind:?}");
        self.kinds.push(kind);
        self
    }

    /// All kinds, in order.
    #[must_use]
    pub fn kinds(&self) -> &[MessageKind] {
        &self.kinds
    }

    /// Whether any of them is part of a step.
    pub(crate) fn has_in_step(&self) -> bool {
        self.kinds.iter().any(|kind| kind.delivery == Delivery::InStep)
    }

    /// How many bits the number of a kind takes.
    pub(crate) fn number_bits(&self) -> u32 {
        usize::BITS - self.kinds.len().saturating_sub(1).leading_zeros()
    }

    /// The number of a kind, by its type; `None` where there is no such kind.
    pub(crate) fn find<M: Message>(&self) -> Option<usize> {
        self.kinds.iter().position(|kind| kind.id == TypeId::of::<M>())
    }

    /// The same of one that there is.
    ///
    /// # Panics
    /// When there is no such kind.
    pub(crate) fn number_of<M: Message>(&self) -> usize {
        self.find::<M>()
            .unwrap_or_else(|| panic!("the session's rules have no message {}: say `Messages::with` of it", M::NAME))
    }

    /// The bytes of a message.
    pub(crate) fn encode<M: Message>(message: &M) -> Arc<[u8]> {
        let bytes = postcard::to_allocvec(message);
        bytes.expect("a message that can be serialised has a length that is known").into()
    }
}

/// A message of a player, as a step has it: [`Step::messages`](super::Step::messages).
#[derive(Debug)]
pub struct PlayerMessage<'a, M> {
    /// Whose.
    pub player: PlayerId,
    /// What.
    pub message: &'a M,
}

/// A message that has come.
pub struct ReceivedMessage {
    from: PlayerId,
    name: &'static str,
    content: Content,
}

impl ReceivedMessage {
    pub(crate) fn new(from: PlayerId, kind: &MessageKind, content: Content) -> ReceivedMessage {
        ReceivedMessage { from, name: kind.name, content }
    }

    /// A message as if it had come: for a step of a world that runs without a session, in tests and offline.
    #[must_use]
    pub fn of<M: Message>(from: PlayerId, message: M) -> ReceivedMessage {
        ReceivedMessage { from, name: M::NAME, content: Box::new(message) }
    }

    /// Who sent it: [`PlayerId::SERVER`] on a client.
    #[must_use]
    pub fn from(&self) -> PlayerId {
        self.from
    }

    /// What its kind is called.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The message, if it is of this type.
    #[must_use]
    pub fn get<M: Message>(&self) -> Option<&M> {
        self.content.downcast_ref()
    }
}

impl fmt::Debug for ReceivedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {:?}", self.name, self.from)
    }
}
