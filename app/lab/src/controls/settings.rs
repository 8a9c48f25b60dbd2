//! The settings of a run, and what they mean to links, client and server.

use super::catalogue::{CONTROLS, control, key_named};
use super::control::Control;
use super::key::{CONTROLS_LEN, Key};
use super::mobile;
use super::scene::Scene;
use core::time::Duration;
use foretell::motion::Correction;
use foretell::session::client::{Curve, Predict, Redundancy, Show};
use foretell::{ClientConfig, GapPolicy, Interest, Rules, SendRate, ServerConfig, TickRate, Tolerance, World};
use foretell_sim::netsim::{Bottleneck, Capacity, Conditions, Loss, Ordering, Reordering};
use serde_json::{Map, Value};

/// For how long a missing input is replaced by the last one (D9).
const REPEAT_LAST: Duration = Duration::from_millis(250);
/// How many small cubes there may be at most where all are predicted: a state has to fit into eight datagrams.
const EXACT_FIELD_MAX: u16 = 100;
/// The grace of the duel: about from when on a hit in cover is felt to be late.
const GRACE: Duration = Duration::from_millis(100);
/// How long the queue of a rate limit may get.
const QUEUE: Duration = Duration::from_millis(500);

/// The code of every control, by [`Key`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings([u16; CONTROLS_LEN]);

impl Default for Settings {
    fn default() -> Settings {
        Settings(CONTROLS.map(|control| control.default))
    }
}

impl Settings {
    /// The code of a control.
    pub fn code(&self, key: Key) -> u16 {
        self.0[key as usize]
    }

    /// Sets a control to a code; a larger one than it has is the largest. What can't be with it gives way.
    pub fn set(&mut self, key: Key, code: u16) {
        self.0[key as usize] = code.min(control(key).code_max());
        if self.is_exact() && self.field() > EXACT_FIELD_MAX {
            match key {
                Key::Predicted => self.0[Key::Field as usize] = control(Key::Field).default,
                _ => self.0[Key::Predicted as usize] = 1,
            }
        }
    }

    /// The value of a control as a number.
    pub fn number(&self, key: Key) -> f64 {
        control(key).number(self.code(key))
    }

    /// Whether a toggle is on.
    pub fn is_on(&self, key: Key) -> bool {
        self.code(key) == 1
    }

    /// What the page shows.
    pub fn scene(&self) -> Scene {
        Scene::ALL[usize::from(self.code(Key::Scene))]
    }

    /// How many bots play besides the person.
    pub fn bots(&self) -> usize {
        match self.scene() {
            Scene::Prediction => usize::from(self.code(Key::Other)),
            Scene::Remote => usize::from(self.code(Key::Bots)) + 1,
            // Nobody looks at the session.
            Scene::Styles | Scene::Qiita | Scene::Stepping | Scene::Shared => 0,
            Scene::Physics | Scene::Crowd | Scene::Peek => 0,
        }
    }

    /// How many small cubes there are to be pushed.
    pub fn field(&self) -> u16 {
        self.whole(Key::Field)
    }

    /// Whether all of them are predicted, bit by bit; else what is near.
    pub fn is_exact(&self) -> bool {
        self.code(Key::Predicted) == 0
    }

    /// Whether a second player pushes them too.
    pub fn second_player(&self) -> bool {
        self.is_on(Key::Second)
    }

    /// How many bytes per second the server may send to a client of the crowd.
    pub fn budget(&self) -> u32 {
        u32::from(self.whole(Key::Budget)) * 1_000
    }

    /// How many there are in the crowd.
    pub fn entities(&self) -> u16 {
        self.whole(Key::Entities)
    }

    /// Of which of them a client is told.
    pub fn interest(&self) -> Interest {
        let within = |radius_m: f32| Interest::Within { radius_m, leaves_at_m: 1.1 * radius_m };
        [Interest::Everything, Interest::Nearest(150), Interest::Nearest(50), within(20.0), within(10.0)]
            [usize::from(self.code(Key::Interest))]
    }

    /// What the other player of the duel does: the index of the choice.
    pub fn other_plays(&self) -> usize {
        usize::from(self.code(Key::OtherPlays))
    }

    /// One way between the server and the other player of the duel.
    pub fn other_latency(&self) -> Duration {
        self.millis(Key::OtherLatency)
    }

    /// How far back the server of the duel goes at most.
    pub fn rewind_max(&self) -> Duration {
        self.millis(Key::RewindMax)
    }

    /// For how long who is in cover can be hit there, if there is an end to it.
    pub fn grace(&self) -> Option<Duration> {
        self.is_on(Key::Grace).then_some(GRACE)
    }

    /// Whether others are predicted, where they are what is looked at.
    fn predicts_others(&self) -> bool {
        self.scene() == Scene::Remote && self.code(Key::Others) == 1
    }

    /// The same where no control counts that this scene does not have: those are as by default.
    pub fn of_scene(&self, scene: Scene) -> Settings {
        let has = |control: &Control| control.key.scenes().contains(&scene);
        Settings(CONTROLS.map(|control| if has(&control) { self.code(control.key) } else { control.default }))
    }

    /// Takes over values by name.
    ///
    /// # Errors
    /// A sentence on the first that is not accepted; nothing is taken over then.
    pub fn merge(&mut self, values: &Map<String, Value>) -> Result<(), String> {
        let mut merged = *self;
        for (name, value) in values {
            let key = key_named(name)?;
            merged.set(key, control(key).code(value)?);
        }
        *self = merged;
        Ok(())
    }

    /// All values by name.
    pub fn values(&self) -> Map<String, Value> {
        let value = |control: &Control| (control.name.to_owned(), control.value(self.code(control.key)));
        CONTROLS.iter().map(value).collect()
    }

    /// What either direction of a link does.
    pub fn conditions(&self) -> Conditions {
        let share = |key| self.number(key) / 100.0;
        let kbps = u32::from(self.code(Key::Rate));
        Conditions {
            latency: self.millis(Key::Latency),
            jitter: self.millis(Key::Jitter),
            ordering: [Ordering::Independent, Ordering::Fifo][usize::from(self.code(Key::Ordering))],
            loss: loss(share(Key::Loss), self.number(Key::BurstLength)),
            duplicates: share(Key::Duplicates),
            reordering: Reordering { rate: share(Key::Reordering), ..Reordering::default() },
            bottleneck: mobile::link(self.code(Key::Cellular)).or((kbps > 0).then(|| rate_limit(kbps))),
        }
    }

    /// Sets the controls of the network to what comes nearest to these conditions.
    pub fn set_network(&mut self, conditions: &Conditions) {
        let (loss, burst_length) = match conditions.loss {
            Loss::Uniform(rate) => (rate, 1.0),
            Loss::Bursts { rate, mean_length } => (rate, mean_length),
        };
        let kbps = match conditions.bottleneck.as_ref().map(|bottleneck| &bottleneck.capacity) {
            Some(Capacity::Rate { bytes_per_s }) => f64::from(*bytes_per_s) / 125.0,
            Some(Capacity::Trace { .. }) | None => 0.0,
        };
        let values = [
            (Key::Latency, conditions.latency.as_secs_f64() * 1000.0),
            (Key::Jitter, conditions.jitter.as_secs_f64() * 1000.0),
            (Key::Ordering, if conditions.ordering == Ordering::Fifo { 1.0 } else { 0.0 }),
            (Key::Loss, loss * 100.0),
            (Key::BurstLength, burst_length),
            (Key::Duplicates, conditions.duplicates * 100.0),
            (Key::Reordering, conditions.reordering.rate * 100.0),
            (Key::Rate, kbps),
            (Key::Cellular, mobile::code_of(conditions.bottleneck.as_ref())),
        ];
        for (key, value) in values {
            self.set(key, control(key).nearest(value));
        }
    }

    /// What both ends agree on.
    pub fn rules<W: World>(&self) -> Rules {
        Rules { tick_rate: self.tick_rate(), ..Rules::new(W::schema()) }
    }

    /// How the client decides.
    pub fn client(&self) -> ClientConfig {
        let cap = match u32::from(self.code(Key::RedundancyCap)) {
            0 => None,
            cap => Some(cap),
        };
        let redundancy = match self.code(Key::Redundancy) {
            0 => Redundancy::Unacknowledged { limit: cap.unwrap_or(u32::MAX) },
            _ => Redundancy::None,
        };
        let correction = [Correction::default(), Correction::article()][usize::from(self.code(Key::Decay))];
        ClientConfig {
            send_rate: self.send_rate(Key::SendRate),
            redundancy,
            tolerance: [Tolerance::default(), Tolerance::article()][usize::from(self.code(Key::Tolerance))],
            correction: self.is_on(Key::Correction).then_some(correction),
            show: self.show(),
            curve: Curve::ALL[usize::from(self.code(Key::Curve))],
            predict: if self.predicts_others() { Predict::Everyone } else { Predict::Own },
            ..ClientConfig::default()
        }
    }

    /// How the server decides.
    pub fn server(&self) -> ServerConfig {
        let gap = [
            GapPolicy::RepeatLast { ticks: self.tick_rate().ticks_in(REPEAT_LAST) },
            GapPolicy::Neutral,
            GapPolicy::Hold,
        ];
        ServerConfig {
            snapshot_rate: self.send_rate(Key::SnapshotRate),
            gap: gap[usize::from(self.code(Key::Gap))],
            relay_inputs: self.predicts_others(),
            ..ServerConfig::default()
        }
    }

    /// Ticks per second.
    pub fn tick_rate(&self) -> TickRate {
        TickRate::hz(self.whole(Key::TickRate))
    }

    /// Where between ticks predicted cubes are shown.
    pub fn show(&self) -> Show {
        [Show::Between, Show::Newest, Show::Ahead][usize::from(self.code(Key::Show))]
    }

    fn send_rate(&self, key: Key) -> SendRate {
        SendRate::Hz(self.whole(key))
    }

    /// The value of a slider of milliseconds that begins at 0.
    fn millis(&self, key: Key) -> Duration {
        Duration::from_millis(u64::from(self.code(key)))
    }

    /// The value of a control of whole numbers.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
    fn whole(&self, key: Key) -> u16 {
        self.number(key) as u16
    }
}

/// Bursts are at least as long as the share of losses needs: between two of them one datagram survives.
fn loss(share: f64, burst_length: f64) -> Loss {
    if burst_length <= 1.0 || share == 0.0 || share >= 0.99 {
        return Loss::Uniform(share);
    }
    Loss::Bursts { rate: share, mean_length: burst_length.max(share / (1.0 - share) + 1e-9) }
}

fn rate_limit(kbps: u32) -> Bottleneck {
    // Slower than 1 kB/s is no link that a session could be held over.
    let bytes_per_s = (kbps * 125).max(1_000);
    let queue = u64::from(bytes_per_s) * u64::try_from(QUEUE.as_millis()).unwrap_or(u64::MAX) / 1_000;
    Bottleneck::rate(bytes_per_s, u32::try_from(queue).unwrap_or(u32::MAX).max(1_500))
}

#[cfg(test)]
mod tests {
    use super::*;
    use foretell_arena::Arena;
    use serde_json::json;

    #[test]
    fn the_controls_stand_in_the_order_of_their_keys_and_have_a_default() {
        for (nth, control) in CONTROLS.iter().enumerate() {
            assert_eq!(control.key as usize, nth, "{}", control.name);
            assert!(control.default <= control.code_max(), "{}", control.name);
            assert!(control.explain.ends_with('.'), "{}", control.name);
        }
    }

    #[test]
    fn every_value_comes_back_as_its_code() {
        for control in CONTROLS {
            for code in 0..=control.code_max() {
                assert_eq!(control.code(&control.value(code)), Ok(code), "{}", control.name);
            }
        }
    }

    #[test]
    fn more_cubes_than_an_exact_state_holds_and_exactness_exclude_each_other() {
        let mut settings = Settings::default();
        settings.set(Key::Field, 2);
        assert_eq!((settings.field(), settings.is_exact()), (901, false));
        settings.set(Key::Predicted, 0);
        assert_eq!((settings.field(), settings.is_exact()), (100, true));
    }

    #[test]
    fn every_combination_of_losses_is_a_valid_link() {
        let mut settings = Settings::default();
        settings.set(Key::Rate, 1);
        for loss in 0..=control(Key::Loss).code_max() {
            for burst in 0..=control(Key::BurstLength).code_max() {
                settings.set(Key::Loss, loss);
                settings.set(Key::BurstLength, burst);
                assert_eq!(settings.conditions().validate(), Ok(()), "{loss} in bursts of {burst}");
            }
        }
    }

    #[test]
    fn a_mobile_network_stays_chosen_when_its_conditions_are_set_and_goes_when_others_are() {
        for code in 1..=control(Key::Cellular).code_max() {
            let mut settings = Settings::default();
            settings.set(Key::Cellular, code);
            let conditions = settings.conditions();
            assert!(conditions.bottleneck.is_some() && conditions.validate().is_ok());
            settings.set(Key::Rate, 500);
            assert_eq!(settings.conditions(), conditions, "it comes in the place of the rate limit");
            settings.set_network(&Conditions { latency: Duration::from_millis(7), ..conditions });
            assert_eq!((settings.code(Key::Cellular), settings.code(Key::Latency)), (code, 7));
            settings.set_network(&Conditions::default());
            assert_eq!(settings, Settings::default());
        }
    }

    #[test]
    fn the_defaults_are_those_of_the_library() {
        let settings = Settings::default();
        let every_tick = SendRate::Hz(settings.tick_rate().get());
        assert_eq!(settings.client(), ClientConfig { send_rate: every_tick, ..ClientConfig::default() });
        assert_eq!(settings.server(), ServerConfig { snapshot_rate: SendRate::Hz(16), ..ServerConfig::default() });
        assert_eq!(settings.rules::<Arena>(), Rules::new(Arena::schema()));
        assert_eq!(settings.conditions(), Conditions::default());
    }

    #[test]
    fn a_value_that_is_not_accepted_gets_a_sentence_and_changes_nothing() {
        let mut settings = Settings::default();
        for (name, value, sentence) in [
            ("latency_ms", json!(1001), "latency_ms must be a number from 0 to 1000 ms"),
            ("latency_ms", json!("fast"), "latency_ms must be a number from 0 to 1000 ms"),
            ("gap_policy", json!("wait"), "gap_policy must be one of repeat_last, neutral, hold"),
            ("tick_rate", json!(63), "tick_rate must be one of 20, 30, 60, 64, 128 Hz"),
            ("correction", json!(1), "correction must be true or false"),
        ] {
            let values = json!({ "jitter_ms": 7, name: value });
            assert_eq!(settings.merge(values.as_object().expect("an object")), Err(sentence.to_owned()));
        }
        assert_eq!(settings, Settings::default());
        let unknown = settings.merge(json!({ "speed": 1 }).as_object().expect("an object")).expect_err("unknown");
        assert!(unknown.starts_with("there is no control of this name; accepted are latency_ms, jitter_ms"));
    }
}
