//! Messages as checks see them: what was said, and whether what comes is that, as its kind says.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;
use foretell::time::{Instant, Tick};
use foretell::world::{Delivery, MessageKind, Messages, PlayerId, ReceivedMessage};

/// A message as it was said, or has come.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Letter {
    /// Who has said it; to whom, where the server has.
    pub player: PlayerId,
    /// Of which kind it is.
    pub kind: MessageKind,
    /// What it is, as it is sent.
    pub bytes: Arc<[u8]>,
}

/// The messages of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeardStep {
    /// Of which tick it is.
    pub tick: Tick,
    /// Ascending by player, those of one in their order.
    pub messages: Vec<Letter>,
}

impl Letter {
    /// One that has come; `None` where there is no such kind.
    pub(in crate::harness) fn of(message: &ReceivedMessage, kinds: &Messages) -> Option<Letter> {
        let kind = *kinds.kinds().iter().find(|kind| kind.name() == message.name())?;
        Some(Letter { player: message.from(), kind, bytes: kind.bytes_of(message)? })
    }
}

/// What keeps an order of its own: messages of one kind, or all that are in steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Channel(&'static str);

impl Channel {
    fn of(kind: &MessageKind) -> Channel {
        Channel(if kind.delivery() == Delivery::InStep { "" } else { kind.name() })
    }
}

/// When a letter was said.
struct Said {
    letter: Letter,
    at: Instant,
}

/// What one end has said to the other: by the sessions of the client's, and by channel.
#[derive(Default)]
pub(super) struct Log(Vec<BTreeMap<Channel, Vec<Said>>>);

impl Log {
    /// Another session begins: what was said before need not come any more.
    pub(super) fn begin(&mut self) {
        self.0.push(BTreeMap::new());
    }

    pub(super) fn say(&mut self, letter: &Letter, at: Instant) {
        if self.0.is_empty() {
            self.begin();
        }
        let session = self.0.last_mut().expect("one has begun");
        session.entry(Channel::of(&letter.kind)).or_default().push(Said { letter: letter.clone(), at });
    }

    fn said(&self, session: usize, channel: Channel) -> &[Said] {
        self.0[session].get(&channel).map_or(&[], Vec::as_slice)
    }
}

/// Which of the letters of a session have come, if that is the session that they are of.
#[derive(Clone, PartialEq)]
struct Guess {
    session: usize,
    come: Vec<bool>,
    /// How many were said up to the last one that what has come last may be: where the same bytes are said again, any of them.
    up_to: usize,
}

impl Guess {
    /// That none of a session has come yet.
    fn none(session: usize) -> Guess {
        Guess { session, come: Vec::new(), up_to: 0 }
    }

    /// The same when one more comes; `None` where it can't be one of these.
    fn after(&self, letter: &Letter, said: &[Said]) -> Option<Guess> {
        let is_it = |at: &usize| said.get(*at).is_some_and(|said| said.letter == *letter);
        let open = |at: &usize| !self.come.get(*at).copied().unwrap_or_default();
        let at = match letter.kind.delivery() {
            Delivery::Ordered | Delivery::InStep => Some(self.come.len()).filter(is_it),
            Delivery::Newest => (self.come.len()..said.len()).find(is_it),
            Delivery::Unordered | Delivery::Unreliable => (0..said.len()).filter(open).find(is_it),
        }?;
        let mut after = self.clone();
        after.come.resize(after.come.len().max(at + 1), false);
        after.come[at] = true;
        after.up_to = said.iter().rposition(|said| said.letter == *letter).map_or(0, |last| last + 1);
        Some(after)
    }

    /// Whether what has to have come of letters that were said by `by` has. The first that has not.
    fn missing<'s>(&self, said: &'s [Said], by: impl Fn(&Said) -> bool) -> Option<&'s Said> {
        let old = said.iter().enumerate().filter(|(_, said)| by(said));
        let has = |at: usize| self.come.get(at).copied().unwrap_or_default();
        match said.first()?.letter.kind.delivery() {
            Delivery::Unreliable => None,
            Delivery::Newest => old.last().filter(|(at, _)| self.up_to <= *at).map(|(_, said)| said),
            _ => old.map(|(at, said)| (has(at), said)).find(|(has, _)| !has).map(|(_, said)| said),
        }
    }
}

/// What has come of a log. Which session a letter is of nobody says, so every one is kept that it may be of.
#[derive(Default)]
pub(super) struct Mailbox {
    guesses: BTreeMap<Channel, Vec<Guess>>,
}

impl Mailbox {
    /// A letter comes.
    pub(super) fn take(&mut self, letter: &Letter, log: &Log) -> Result<(), String> {
        let channel = Channel::of(&letter.kind);
        let sessions = 0..log.0.len();
        if sessions.clone().all(|session| log.said(session, channel).is_empty()) {
            // Said by somebody else than the scenario, as receipts are.
            return Ok(());
        }
        let known = self.guesses.get(&channel).map_or(&[][..], Vec::as_slice);
        let first = known.iter().map(|guess| guess.session + 1).min().unwrap_or_default();
        let begun = sessions.clone().filter(|session| *session >= first);
        let begun = begun.map(Guess::none);
        let mut after: Vec<Guess> = Vec::new();
        for guess in known.iter().cloned().chain(begun) {
            let next = guess.after(letter, log.said(guess.session, channel));
            after.extend(next.filter(|next| !after.contains(next)));
        }
        if after.is_empty() {
            let Letter { player, kind, bytes } = letter;
            let was_said = sessions.flat_map(|session| log.said(session, channel)).any(|said| said.letter == *letter);
            let why = if was_said { "twice, or out of order" } else { "and was never said so" };
            return Err(format!("{} of {player}, {:02x?}, has come {why}", kind.name(), &bytes[..bytes.len().min(16)]));
        }
        self.guesses.insert(channel, after);
        Ok(())
    }

    /// What was said in the last session and has not come, though it has had the time: so much, and a second for each kilobyte that
    /// is not there yet.
    pub(super) fn look_for_lost(&self, log: &Log, now: Instant, within: Duration) -> Result<(), String> {
        let Some(session) = log.0.len().checked_sub(1) else { return Ok(()) };
        for (channel, said) in &log.0[session] {
            let guesses = self.guesses.get(channel).map_or(&[][..], Vec::as_slice);
            let none = Guess::none(session);
            let of_session = || guesses.iter().filter(|guess| guess.session == session);
            let bytes = |guess: &Guess| {
                let come = |at: usize| guess.come.get(at).copied().unwrap_or_default();
                said.iter()
                    .enumerate()
                    .filter(|(at, _)| !come(*at))
                    .map(|(_, said)| said.letter.bytes.len())
                    .sum::<usize>()
            };
            let waiting = of_session().chain([&none]).map(bytes).min().unwrap_or_default();
            let within = within + Duration::from_millis(waiting as u64);
            let is_due = |said: &Said| now.since(said.at) > within;
            let missing = |guess: &Guess| guess.missing(said, is_due);
            let lost = of_session().map(missing).reduce(|one, other| one.and(other));
            if let Some(Said { letter: Letter { player, kind, bytes }, at }) = lost.unwrap_or_else(|| missing(&none)) {
                let (after, shown) = (now.since(*at).as_millis(), &bytes[..bytes.len().min(16)]);
                return Err(format!("{} of {player}, {shown:02x?}, has not come after {after} ms", kind.name()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell::Message;
    use serde::{Deserialize, Serialize};

    macro_rules! kinds {
        ($($name:ident $delivery:ident),*) => {$(
            #[derive(Serialize, Deserialize, Message)]
            #[message($delivery)]
            struct $name(u32);
        )*};
    }

    kinds!(Line ordered, Gift unordered, Wind newest, Spark unreliable, Buy in_step);

    fn letter<M: Message>(message: M) -> Letter {
        let kinds = Messages::new().with::<M>();
        Letter::of(&ReceivedMessage::of(PlayerId::new(1), message), &kinds).expect("its kind is there")
    }

    const SAID: Instant = Instant::from_micros(1_000_000);

    /// What becomes of letters that come in this order, where 0 to 3 were said.
    fn come<M: Message>(message: fn(u32) -> M, numbers: &[u32]) -> (Result<(), String>, Log, Mailbox) {
        let (mut log, mut mailbox) = (Log::default(), Mailbox::default());
        (0..4).for_each(|number| log.say(&letter(message(number)), SAID));
        let result = numbers.iter().try_for_each(|number| mailbox.take(&letter(message(*number)), &log));
        (result, log, mailbox)
    }

    fn is_bad<M: Message>(message: fn(u32) -> M, numbers: &[u32]) -> bool {
        come(message, numbers).0.is_err()
    }

    #[test]
    fn what_comes_twice_out_of_order_or_unsaid_is_caught_as_its_kind_says() {
        let (all, gap, back, twice, unsaid) = ([0, 1, 2, 3], [0, 2], [1, 0], [0, 0], [9]);
        let bad = |numbers: &[u32]| {
            [
                is_bad(Line, numbers),
                is_bad(Buy, numbers),
                is_bad(Gift, numbers),
                is_bad(Wind, numbers),
                is_bad(Spark, numbers),
            ]
        };
        assert_eq!(bad(&all), [false; 5]);
        assert_eq!(bad(&gap), [true, true, false, false, false]);
        assert_eq!(bad(&back), [true, true, false, true, false]);
        assert_eq!(bad(&twice), [true; 5]);
        assert_eq!(bad(&unsaid), [true; 5]);
        let complaint = |numbers: &[u32]| come(Line, numbers).0.expect_err("it is wrong");
        assert!(complaint(&twice).contains("Line of player 1") && complaint(&twice).contains("twice"));
        assert!(complaint(&unsaid).contains("was never said so"));
    }

    #[test]
    fn what_does_not_come_is_caught_after_some_time_where_it_has_to() {
        fn is_lost<M: Message>(message: fn(u32) -> M, numbers: &[u32], after_ms: u64) -> bool {
            let (result, log, mailbox) = come(message, numbers);
            assert_eq!(result, Ok(()));
            mailbox.look_for_lost(&log, SAID + Duration::from_millis(after_ms), Duration::from_secs(4)).is_err()
        }
        assert!(
            !is_lost(Line, &[0, 1], 4_000) && is_lost(Line, &[0, 1], 4_100) && !is_lost(Line, &[0, 1, 2, 3], 9_000)
        );
        assert!(is_lost(Gift, &[3, 0, 1], 9_000) && !is_lost(Gift, &[3, 0, 1, 2], 9_000));
        assert!(is_lost(Wind, &[0, 1, 2], 9_000) && !is_lost(Wind, &[3], 9_000));
        assert!(!is_lost(Spark, &[], 9_000) && is_lost(Buy, &[], 9_000));
    }

    #[test]
    fn a_newest_message_whose_bytes_are_said_again_and_again_is_missing_only_where_none_of_them_has_come() {
        let (mut log, mut mailbox) = (Log::default(), Mailbox::default());
        let lost = |mailbox: &Mailbox, log: &Log, after_ms: u64| {
            mailbox.look_for_lost(log, SAID + Duration::from_millis(after_ms), Duration::from_secs(4)).is_err()
        };
        [1, 2, 1, 2].iter().for_each(|number| log.say(&letter(Wind(*number)), SAID));
        assert!(lost(&mailbox, &log, 9_000));
        assert_eq!(mailbox.take(&letter(Wind(2)), &log), Ok(()));
        assert!(!lost(&mailbox, &log, 9_000), "which of the two it is nobody can tell");
        log.say(&letter(Wind(2)), SAID + Duration::from_secs(9));
        assert!(!lost(&mailbox, &log, 12_000) && lost(&mailbox, &log, 18_000), "it has come before it was said");
        assert_eq!(mailbox.take(&letter(Wind(2)), &log), Ok(()));
        assert!(!lost(&mailbox, &log, 18_000));
    }

    #[test]
    fn what_was_said_before_another_session_need_not_come_and_what_is_said_in_it_has_to_come_from_the_start() {
        let (_, mut log, mut mailbox) = come(Line, &[0, 1]);
        log.begin();
        [7, 8].iter().for_each(|number| log.say(&letter(Line(*number)), SAID));
        let late = SAID + Duration::from_secs(9);
        assert!(mailbox.look_for_lost(&log, late, Duration::from_secs(4)).is_err());
        assert_eq!(mailbox.take(&letter(Line(7)), &log), Ok(()));
        assert!(mailbox.take(&letter(Line(2)), &log).is_err(), "one of the session before");
        assert_eq!(mailbox.take(&letter(Line(8)), &log), Ok(()));
        assert_eq!(mailbox.look_for_lost(&log, late, Duration::from_secs(4)), Ok(()));
    }
}
