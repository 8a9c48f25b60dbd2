//! What becomes of the authority's samples: each arrives as it was sent, is compared, and ends in one outcome.

use super::{Check, ClientSeen, Each, NamedRow, SUSPECTS, Setting, describe_correction, difference};
use alloc::string::String;
use core::time::Duration;
use foretell::session::Rules;
use foretell::session::client::{Causes, ClientEvent, ClientState};
use foretell::time::{Instant, Tick};
use foretell::world::{Audience, ComponentSchema, ROW_WORDS_MAX, Row, RowKey, Schema, Tolerance, World};

/// Every sample has exactly one outcome, in every update.
#[derive(Clone, Copy, Debug)]
pub struct Outcomes;

impl<W: World> Check<W> for Outcomes {
    fn name(&self) -> &'static str {
        "outcomes"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let outcomes = seen.stats.prediction.outcomes;
        if outcomes.add_up() { Ok(()) } else { Err(format!("the outcomes of samples don't add up: {outcomes:?}")) }
    }
}

/// What a client has as the server's state of a tick is the server's state of that tick, in every bit that the player
/// may see: its own entities that it may predict, and all of them where it predicts others; where not everything is in view, what is.
/// What it shows besides is as the server had it in the state in which it was [told](foretell::Client::told_in).
#[derive(Clone, Debug, Default)]
pub struct Digests {
    /// By machine: the newest snapshot that was looked at.
    looked_at: Each<Option<Tick>>,
}

impl<W: World> Check<W> for Digests {
    fn name(&self) -> &'static str {
        "digests"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let Some((tick, rows)) = seen.client.newest_snapshot() else { return Ok(()) };
        let looked_at = self.looked_at.of(seen.machine).replace(tick);
        let (Some(player), Some(truth)) = (seen.client.player(), seen.truth.rows(tick)) else { return Ok(()) };
        if looked_at == Some(tick) {
            return Ok(());
        }
        let Rules { schema, exact, .. } = &seen.setting.rules;
        // What nobody predicts is told one by one, whosever it is.
        let is_own = |row: &Row<'_>| row.owner == player && !schema.component(row.component).is_never_predicted();
        let is_told = |row: &Row<'_>| *exact || is_own(row) || rows.words(row.key()).is_some();
        let of_tick = |key: RowKey| seen.client.told_in(key).filter(|told| *told != tick);
        let is_seen = |row: &Row<'_>| match schema.component(row.component).audience() {
            // Who else is in it, the game's rules say: what is told is compared.
            Audience::Group(_) => row.owner == player || rows.words(row.key()).is_some(),
            audience => audience.includes(player, row.owner),
        };
        let mut sent = truth.iter().filter(is_seen).filter(is_told).filter(|row| of_tick(row.key()).is_none());
        let mut of_now = rows.iter().filter(|row| of_tick(row.key()).is_none());
        let is_same = |row: Row<'_>, truth: Option<Row<'_>>| {
            truth.is_some_and(|truth| truth == row || !is_own(&row) && is_rounded(schema, row, truth))
        };
        let named = of_now.find(|row| !is_same(*row, sent.next())).map(|row| row.key());
        let key = named.or_else(|| sent.next().map(|row| row.key()));
        let wrong = key.map(|key| (key, tick)).or_else(|| {
            let told = rows.iter().filter_map(|row| Some((row, of_tick(row.key())?)));
            let is_wrong =
                |row: Row<'_>, told: Tick| seen.truth.rows(told).is_some_and(|had| !is_same(row, had.get(row.key())));
            told.into_iter().find(|(row, told)| is_wrong(*row, *told)).map(|(row, told)| (row.key(), told))
        });
        let Some((key, of)) = wrong else { return Ok(()) };
        let truth = seen.truth.rows(of).and_then(|truth| truth.words(key));
        let arrived = NamedRow { name: "arrived as", words: rows.words(key) };
        let found = difference(schema, key, &Tolerance::default(), arrived, NamedRow::of_server(truth));
        let found = found.unwrap_or_else(|| format!("{} is not meant for {player}, or missing", key.entity));
        Err(format!("the snapshot of {of:?} is not the server's state: {found}"))
    }
}

/// Whether a row is the server's as it is told to who shows it.
fn is_rounded(schema: &Schema, row: Row<'_>, truth: Row<'_>) -> bool {
    let mut words = [0; ROW_WORDS_MAX];
    let words = &mut words[..truth.words.len()];
    words.copy_from_slice(truth.words);
    schema.component(truth.component).round(words);
    row == Row { words, ..truth }
}

/// Every correction has a cause, and none is a step that is not deterministic, or ends that differ. One without is a sign of state that is
/// neither saved nor published, of a step that does not do the same on both ends, or of a client that has lost its way. In a world in which others move a player's entities also
/// of what nobody could know in time: do [without](crate::harness::Scenario::without) it there.
#[derive(Clone, Copy, Debug)]
pub struct Unexplained;

impl<W: World> Check<W> for Unexplained {
    fn name(&self) -> &'static str {
        "unexplained"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let apart = seen.frame.events.iter().find_map(|event| match event {
            ClientEvent::EndsDiffer { since, tick } => Some((since, tick)),
            _ => None,
        });
        if let Some((since, tick)) = apart {
            return Err(format!(
                "the two ends differ at {tick:?} and have agreed at {since:?}, with nobody's input and no event of the \
                 server to explain it: {}",
                what_differs(seen, *tick)
            ));
        }
        let wrong = [Causes::NONDETERMINISM, Causes::ENDS_DIFFER];
        let is_wrong = |causes: Causes| causes.is_unexplained() || wrong.iter().any(|cause| causes.contains(*cause));
        let Some(corrected) = seen.frame.corrections.iter().find(|one| is_wrong(one.causes)) else {
            return Ok(());
        };
        let found = describe_correction(&seen.setting.rules.schema, corrected);
        let why = if corrected.causes.is_unexplained() {
            "has no cause"
        } else if corrected.causes.contains(Causes::ENDS_DIFFER) {
            "follows from a difference of the two ends"
        } else {
            "follows from a step that comes to something else when it is simulated again"
        };
        Err(format!("a correction at {:?} {why}: {found} ({SUSPECTS})", corrected.tick))
    }
}

/// In what the state of `tick` differs between the ends of an exact session, and what that may come from.
fn what_differs<W: World>(seen: &ClientSeen<'_, W>, tick: Tick) -> String {
    let (Some(ours), Some(theirs)) = (seen.client.predicted(tick), seen.truth.rows(tick)) else {
        return "their state is not remembered".into();
    };
    let named = ours.iter().chain(theirs.iter()).map(|row| row.key());
    let differing = named.filter(|key| ours.words(*key) != theirs.words(*key));
    // What one end alone has explains what else differs.
    let Some(key) = differing.min_by_key(|key| (ours.words(*key).is_some(), *key)) else {
        return "they have agreed again".into();
    };
    let (kind, entity) = (seen.setting.rules.schema.component(key.component).name(), key.entity);
    if ours.words(key).is_none() {
        return format!(
            "only the authority has spawned {kind} {entity}; what a step does under is_authority() no client of an exact \
             session can predict (ask Step::simulates)"
        );
    }
    let (ours, theirs) = (NamedRow::predicted(ours.words(key)), NamedRow::of_server(theirs.words(key)));
    let found = difference(&seen.setting.rules.schema, key, &Tolerance::default(), ours, theirs);
    format!(
        "{}. Only the authority did something (is_authority), or one end has other scenery, settings or versions",
        found.unwrap_or_default()
    )
}

/// Nothing that came is passed over in silence: when an update ends, the prediction of the newest sample's tick is what
/// the sample says, within the tolerance; and while samples come to a playing client, one of them is compared or adopted
/// now and then.
#[derive(Clone, Debug)]
pub struct Silence {
    /// How long a playing client may get samples without comparing one. Default 2 s.
    pub longest: Duration,
    by_machine: Each<Compared>,
}

/// When samples were compared last.
#[derive(Clone, Copy, Debug, Default)]
struct Compared {
    last_update: Option<Instant>,
    /// For how long the client has been playing since.
    playing: Duration,
    /// How many were compared or adopted, and how many had come then.
    compared: u64,
    received: u64,
}

impl Default for Silence {
    fn default() -> Silence {
        Silence { longest: Duration::from_secs(2), by_machine: Each::default() }
    }
}

impl<W: World> Check<W> for Silence {
    fn name(&self) -> &'static str {
        "silence"
    }

    fn after_client(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        self.check_waiting(seen)?;
        let waits = seen.stats.prediction.outcomes.waiting > 0 || seen.frame.state != ClientState::Playing;
        let (Some((tick, rows)), Some(player)) = (seen.client.newest_snapshot(), seen.client.player()) else {
            return Ok(());
        };
        let Some(predicted) = seen.client.predicted(tick).filter(|_| !waits) else { return Ok(()) };
        let schema = &seen.setting.rules.schema;
        // What is of a kind that nobody predicts is told one by one, and predicted from when it is shown as another.
        let is_never = |row: Row<'_>| schema.component(row.component).is_never_predicted();
        let may_be = schema.components().iter().any(ComponentSchema::is_never_predicted);
        let now = seen.client.predicted(seen.client.tick());
        let is_shown = |entity| seen.views.get(entity).is_some() && now.is_none_or(|rows| !rows.has(entity));
        let is_shown = |entity| is_shown(entity) || rows.of(entity).any(is_never);
        let own = |row: &Row<'_>| row.owner == player;
        let theirs = rows.iter().filter(own).filter(|row| !may_be || !is_shown(row.entity));
        // Of others it may be known already that they are gone in a later state.
        let ours = predicted.iter().filter(own).filter(|row| rows.words(row.key()).is_none() && !is_never(*row));
        for key in theirs.chain(ours).map(|row| row.key()) {
            let (ours, theirs) = (NamedRow::predicted(predicted.words(key)), NamedRow::of_server(rows.words(key)));
            let Setting { rules, client, .. } = seen.setting;
            if let Some(found) = difference(&rules.schema, key, &client.tolerance, ours, theirs) {
                return Err(format!("the sample of {tick:?} has come and was not corrected: {found}"));
            }
        }
        Ok(())
    }
}

impl Silence {
    fn check_waiting<W: World>(&mut self, seen: &ClientSeen<'_, W>) -> Result<(), String> {
        let outcomes = seen.stats.prediction.outcomes;
        let compared = outcomes.agreed + outcomes.corrected + outcomes.resync;
        let state = self.by_machine.of(seen.machine);
        let frame = state.last_update.replace(seen.now).map_or(Duration::ZERO, |last| seen.now.since(last));
        if state.compared != compared || state.received == outcomes.received {
            let last_update = state.last_update;
            *state = Compared { last_update, playing: Duration::ZERO, compared, received: outcomes.received };
            return Ok(());
        }
        if seen.frame.state == ClientState::Playing {
            // A machine that slept did not play.
            state.playing += frame.min(Duration::from_millis(250));
        }
        if state.playing <= self.longest {
            return Ok(());
        }
        let (samples, ms) = (outcomes.received - state.received, state.playing.as_millis());
        Err(format!("{samples} samples have come in {ms} ms, and none of them was compared"))
    }
}
