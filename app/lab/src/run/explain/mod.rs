//! Why something happened, in plain words: corrections, and the server's dealing with missing inputs.
//!
//! Put together from public reports alone: what the client says that it corrected and why, what the server says that
//! came too late, and what the lab itself made the server do.

use super::packet_log::{PacketLog, TickRange};
use super::substituted_inputs::{Outcome, Stretch, SubstitutedInputs};
use crate::frame::correction::Correction;
use crate::recording::event::Event;
use foretell::session::client::{Causes, ClientEvent, Corrected};
use foretell::session::server::{LateInput, ServerEvent};
use foretell::world::Difference;
use foretell::{GapPolicy, PlayerId, Schema, Tick, World};
use foretell_arena::Arena;
use std::collections::VecDeque;

/// How many reports of each sort are remembered: those of the last seconds.
const KEPT: usize = 512;

/// What is said of [`Causes::OTHERS`].
const OTHERS: &str = "another player's cube was elsewhere than this end had it: it touched this one, or from then on one of \
    them is predicted, or is not any more";
/// What is said of [`Causes::RELAYED_INPUT`].
const RELAYED_INPUT: &str = "another player's input was not the one that was guessed until the server relayed it: they had \
    pressed a key, or let one go";

/// What has been reported lately.
#[derive(Clone, Debug)]
pub struct Explainer {
    schema: Schema,
    /// The policy in force.
    pub gap: GapPolicy,
    /// Inputs of the player that came too late, in milliseconds; in the order of arrival.
    late: VecDeque<(Tick, f64)>,
    /// What the client was told of substituted inputs: the newest tick, and how many.
    substituted: VecDeque<(Tick, u32)>,
    /// What the lab did to the cube, and the tick that came next.
    events: VecDeque<(Tick, Event)>,
    /// Inputs that were replaced, until it is known whether that mattered.
    replaced: SubstitutedInputs,
    /// The first tick that the player gave an input for; before it there was none to miss.
    pub first_input: Option<Tick>,
    /// Sentences for the frame that is made.
    notes: Vec<String>,
}

impl Explainer {
    /// Nothing has happened yet.
    pub fn new() -> Explainer {
        Explainer {
            schema: Arena::schema(),
            gap: GapPolicy::default(),
            late: VecDeque::new(),
            substituted: VecDeque::new(),
            events: VecDeque::new(),
            replaced: SubstitutedInputs::default(),
            first_input: None,
            notes: Vec::new(),
        }
    }

    /// Something to be said in the frame that is made.
    pub fn note(&mut self, sentence: String) {
        self.notes.push(sentence);
    }

    /// What is to be said in the frame that is made.
    pub fn take_notes(&mut self) -> Vec<String> {
        core::mem::take(&mut self.notes)
    }

    /// The client has compared the state `compared`, or compares none, and has corrected these of the player's own: what was
    /// replaced before it is told with what it came to.
    pub fn note_compared(&mut self, compared: Option<Tick>, own: &[Corrected]) {
        for (stretch, outcome) in self.replaced.settle(compared, own) {
            let note = self.outcome(&stretch, outcome);
            self.notes.push(note);
        }
    }

    fn outcome(&self, stretch: &Stretch, outcome: Outcome) -> String {
        let Stretch { newest, ticks, late_ms } = *stretch;
        let subject = match ticks {
            1 => format!("input {}", number(newest)),
            _ => format!("{ticks} inputs up to {}", number(newest)),
        };
        let lateness = match (ticks, late_ms) {
            (_, None) => "had not come when due".to_owned(),
            (1, Some(by)) => format!("came {} late", ms(by)),
            (_, Some(by)) => format!("came up to {} late or never", ms(by)),
        };
        let right = match self.gap {
            GapPolicy::RepeatLast { .. } => "the repeat was right",
            _ => "what stood in for it was right",
        };
        let end = match outcome {
            Outcome::Right => format!("{right}: nothing to correct"),
            Outcome::Corrected => format!("{}, and your cube was corrected", self.done(ticks, newest)),
            Outcome::Unknown => self.done(ticks, newest),
        };
        format!("{subject} {lateness}, {end}")
    }

    /// The lab has changed the cube on the server just before `tick`.
    pub fn note_event(&mut self, tick: Tick, event: Event) {
        keep(&mut self.events, (tick, event));
    }

    /// An input of the player came too late.
    pub fn note_late(&mut self, late: &LateInput) {
        let late_ms = late.by.millis();
        self.replaced.note(Stretch { newest: late.tick, ticks: 1, late_ms: Some(late_ms) });
        keep(&mut self.late, (late.tick, late_ms));
    }

    /// What the server reports of itself.
    pub fn note_server(&mut self, event: &ServerEvent, human: Option<PlayerId>) {
        let note = match event {
            ServerEvent::SkippedTicks(ticks) => format!("the server was too far behind and skipped {ticks} ticks"),
            ServerEvent::SnapshotTooLarge(player) => format!("not all that {player} predicts has room in a snapshot"),
            ServerEvent::Refused { player: Some(player), why, .. } => format!("the server refuses {player}: {why}"),
            ServerEvent::Refused { player: None, why, .. } => format!("the server lets somebody not in: {why}"),
            ServerEvent::Joined(player) if human.is_some_and(|human| human != *player) => format!("{player} joined"),
            ServerEvent::Left { player, .. } => format!("{player} left"),
            ServerEvent::Lost(player) => format!("nothing comes from {player} any more; their place waits"),
            ServerEvent::Rejoined(player) => format!("{player} is back"),
            ServerEvent::MessagesReset(player) => format!("the program of {player} was started again"),
            ServerEvent::Joined(_)
            | ServerEvent::Held { .. }
            | ServerEvent::HoldRefused { .. }
            | ServerEvent::Returned { .. } => return,
        };
        self.notes.push(note);
    }

    /// What the client reports of itself.
    pub fn note_client(&mut self, event: &ClientEvent) {
        match event {
            ClientEvent::Joined(player) => self.notes.push(format!("you joined as {player}")),
            ClientEvent::Refused(why) => self.notes.push(format!("you are not let in: {why}")),
            ClientEvent::Rejoined(player) => self.notes.push(format!("you are back as {player}")),
            ClientEvent::Resynced { tick, replayed } => self.notes.push(format!(
                "the client started again from the server's state of tick {} and simulated {replayed} ticks from there",
                number(*tick)
            )),
            ClientEvent::Substituted { newest, ticks } => {
                // Before the first input the server has none to miss.
                if self.first_input.is_none_or(|first| *newest < first) {
                    return;
                }
                keep(&mut self.substituted, (*newest, *ticks));
                let stretch = Stretch { newest: *newest, ticks: *ticks, late_ms: self.lateness(*newest, *ticks) };
                self.replaced.note(stretch);
            }
            ClientEvent::SlackLimited { asked_ticks } => self.notes.push(format!(
                "the network would need {asked_ticks:.1} ticks of slack, which is more than is allowed: some inputs come late"
            )),
            ClientEvent::EndsDiffer { tick, .. } => self.notes.push(format!(
                "the state of tick {} is not the server's, and nothing explains it: the two ends differ",
                number(*tick)
            )),
            // There is nothing in the arena but cubes, and each has its picture.
            ClientEvent::Authority { .. }
            | ClientEvent::ChangeConfirmed { .. }
            | ClientEvent::ChangeRefused { .. }
            | ClientEvent::Spawned(_)
            | ClientEvent::Confirmed(_)
            | ClientEvent::Withdrawn { .. }
            | ClientEvent::Despawned { .. }
            | ClientEvent::Hidden { .. }
            | ClientEvent::Shown(_)
            | ClientEvent::Effect { .. }
            | ClientEvent::EffectConfirmed(_)
            | ClientEvent::EffectCancelled(_) => {}
        }
    }

    /// A correction with its reason, and the datagrams that it is about.
    pub fn correction(&self, corrected: &Corrected, own: bool, packets: &PacketLog) -> Correction {
        let (field, size, predicted, confirmed) = self.difference(corrected);
        let before = corrected.tick.back(1).unwrap_or_default();
        let (newest, ticks) = match self.substituted_before(corrected.tick) {
            Some(told) if corrected.causes.contains(Causes::OWN_INPUT) => told,
            _ => (before, 1),
        };
        let first = newest.back(ticks.saturating_sub(1)).unwrap_or_default();
        Correction {
            entity: format!("the cube of {}", corrected.owner),
            own,
            tick: corrected.tick.get(),
            until: corrected.until.get(),
            field,
            predicted,
            confirmed,
            size,
            misprediction_m: corrected.misprediction_m,
            shown_m: corrected.shown_m,
            teleport: corrected.teleport,
            causes: corrected.causes.names().collect(),
            sentence: self.sentence(corrected),
            packets: if own {
                packets.involved(TickRange { first, newest }, corrected.tick)
            } else {
                packets.told(corrected.tick)
            },
        }
    }

    fn difference(&self, corrected: &Corrected) -> (String, f64, Vec<f64>, Vec<f64>) {
        let Some(Difference { component, column, size, predicted, confirmed }) = corrected.difference else {
            return ("the whole state".to_owned(), 0.0, Vec::new(), Vec::new());
        };
        let component = self.schema.component(component);
        match column.and_then(|column| component.columns().nth(usize::from(column))) {
            Some(column) => {
                let lanes = usize::from(column.lanes).min(4);
                (column.name.to_string(), size, predicted[..lanes].to_vec(), confirmed[..lanes].to_vec())
            }
            None => ("existence".to_owned(), size, Vec::new(), Vec::new()),
        }
    }

    fn sentence(&self, corrected: &Corrected) -> String {
        let causes = corrected.causes;
        let tick = number(corrected.tick);
        let mut reasons = Vec::new();
        if causes.contains(Causes::RESYNC) {
            reasons.push(format!(
                "the client had slept or fallen too far behind, and started again from the server's state of tick {tick}"
            ));
        }
        if causes.contains(Causes::CLOCK) {
            reasons.push("the client's own clock was set, or its machine stood still".to_owned());
        }
        if causes.contains(Causes::NONDETERMINISM) {
            reasons.push("the same ticks simulated once more came to something else".to_owned());
        }
        if causes.contains(Causes::ENDS_DIFFER) {
            reasons.push("the two ends are not the same".to_owned());
        }
        if causes.contains(Causes::OWN_INPUT) {
            reasons.push(self.own_input(corrected.tick));
        }
        if causes.contains(Causes::SERVER_EVENT) {
            reasons.push(self.server_event(corrected.tick));
        }
        if causes.contains(Causes::OTHERS) {
            reasons.push(OTHERS.to_owned());
        }
        if causes.contains(Causes::RELAYED_INPUT) {
            reasons.push(RELAYED_INPUT.to_owned());
        }
        if causes.contains(Causes::EXISTENCE) {
            reasons.push("the cube was there on one end only".to_owned());
        }
        if causes.contains(Causes::TOLERANCE) {
            reasons.push("differences within the tolerance had added up to more than it".to_owned());
        }
        if reasons.is_empty() {
            reasons.push("no cause is known: the two simulations came apart by themselves".to_owned());
        }
        reasons.join("; ")
    }

    /// Why the own input made state `tick` differ.
    fn own_input(&self, tick: Tick) -> String {
        match self.substituted_before(tick) {
            Some((newest, ticks)) => self.missing(newest, ticks),
            None => "the server did not have your input in time".to_owned(),
        }
    }

    /// The newest ticks before this one of which the client was told that their inputs were substituted.
    fn substituted_before(&self, tick: Tick) -> Option<(Tick, u32)> {
        self.substituted.iter().rev().find(|(newest, _)| *newest < tick).copied()
    }

    fn missing(&self, newest: Tick, ticks: u32) -> String {
        let late = self.lateness(newest, ticks);
        let done = self.done(ticks, newest);
        match (ticks, late) {
            (1, Some(by)) => format!("the input for tick {} arrived {} too late; {done}", number(newest), ms(by)),
            (1, None) => format!("the input for tick {} had not arrived when it was due; {done}", number(newest)),
            (_, Some(by)) => {
                let newest = number(newest);
                format!(
                    "the inputs for {ticks} ticks up to {newest} arrived up to {} too late or never; {done}",
                    ms(by)
                )
            }
            (_, None) => {
                let newest = number(newest);
                format!("the inputs for {ticks} ticks up to {newest} had not arrived when they were due; {done}")
            }
        }
    }

    /// The largest lateness among the last `ticks` ticks up to `newest`.
    fn lateness(&self, newest: Tick, ticks: u32) -> Option<f64> {
        let of = self.late.iter().filter(|(tick, _)| *tick <= newest && newest.since(*tick) < ticks);
        of.map(|(_, by)| *by).reduce(f64::max)
    }

    /// What the server does in the place of an input, as a sentence.
    fn done(&self, ticks: u32, newest: Tick) -> String {
        let before = newest.back(ticks).map_or_else(|| "none".to_owned(), number);
        match self.gap {
            GapPolicy::Hold => "the server left the cube where it was".to_owned(),
            GapPolicy::Neutral => "the server took no keys instead".to_owned(),
            GapPolicy::RepeatLast { ticks: most } if ticks > most => {
                format!("the server repeated the last one for {most} ticks and then took no keys")
            }
            GapPolicy::RepeatLast { .. } if ticks == 1 => format!("the server repeated tick {before}"),
            GapPolicy::RepeatLast { .. } => "the server repeated the last one it had".to_owned(),
        }
    }

    fn server_event(&self, tick: Tick) -> String {
        let event = self.events.iter().rev().find(|(at, _)| *at < tick);
        match event {
            Some((at, Event::Teleport)) => {
                format!("the server moved the cube by 4 m before tick {}, which nobody can foresee", number(*at))
            }
            Some((at, _)) => {
                format!("the server pushed the cube by 3 m/s before tick {}, which nobody can foresee", number(*at))
            }
            None => "the server changed the cube outside of a step, which nobody can foresee".to_owned(),
        }
    }
}

fn keep<T>(reports: &mut VecDeque<T>, report: T) {
    if reports.len() >= KEPT {
        reports.pop_front();
    }
    reports.push_back(report);
}

/// A tick's number with its thousands apart.
fn number(tick: Tick) -> String {
    let digits = tick.get().to_string();
    let mut grouped = String::new();
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn ms(millis: f64) -> String {
    if millis < 1.0 { format!("{millis:.1} ms") } else { format!("{millis:.0} ms") }
}

#[cfg(test)]
mod tests;
