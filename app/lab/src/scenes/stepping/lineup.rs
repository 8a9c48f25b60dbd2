//! Which lanes stand side by side, and how each differs from what is chosen.

use super::article::ArticleSystem;
use super::host::HostSystem;
use super::session::SessionSystem;
use super::system::{System, SystemConfig};
use foretell_articles::csp::{GapPolicy, Reconciliation, Redundancy};
use foretell_sim::netsim::Conditions;

/// Whose system a lane shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Whose {
    Article,
    Ours,
    /// Ours, with the player at the server.
    OursHosted,
}

/// One lane.
#[derive(Clone, Copy, Debug)]
pub struct LaneKind {
    pub name: &'static str,
    pub explain: &'static str,
    whose: Whose,
    /// What it does otherwise than is chosen.
    change: fn(&mut SystemConfig),
}

impl LaneKind {
    const fn article(name: &'static str, explain: &'static str, change: fn(&mut SystemConfig)) -> LaneKind {
        LaneKind { name, explain, whose: Whose::Article, change }
    }

    const fn ours(explain: &'static str, change: fn(&mut SystemConfig)) -> LaneKind {
        LaneKind { name: "Foretell", explain, whose: Whose::Ours, change }
    }

    /// How it decides where this is chosen.
    pub fn config(&self, chosen: &SystemConfig) -> SystemConfig {
        let mut config = *chosen;
        (self.change)(&mut config);
        config
    }

    /// Both ends at the beginning.
    pub fn begin(&self, seed: u64, chosen: &SystemConfig, conditions: &Conditions) -> Box<dyn System> {
        let config = self.config(chosen);
        match self.whose {
            Whose::Article => Box::new(ArticleSystem::new(seed, config.article_client, config.article_server)),
            Whose::Ours => Box::new(SessionSystem::new(seed, &config, conditions)),
            Whose::OursHosted => Box::new(HostSystem::new(seed, &config, conditions)),
        }
    }
}

fn as_chosen(_: &mut SystemConfig) {}

fn repeats_nothing(config: &mut SystemConfig) {
    config.article_client.redundancy = Redundancy::None;
    config.client.redundancy = foretell::session::client::Redundancy::None;
}

const SYSTEMS: [LaneKind; 2] = [
    LaneKind::article(
        "the article",
        "The server waits for inputs and simulates each that comes, so that it never has to guess (R8, R16, R18).",
        as_chosen,
    ),
    LaneKind::ours(
        "The server keeps its own time; the client leads it by what the network asks for, and what is late is replaced (D10).",
        as_chosen,
    ),
];

const RECONCILIATIONS: [LaneKind; 4] = [
    LaneKind::article(
        "replays",
        "Goes back to the server's state where it differs, and runs the inputs since then again (R14).",
        |of| {
            of.article_client.reconciliation = Reconciliation::Rollback;
        },
    ),
    LaneKind::article(
        "always replays",
        "The same at every state that comes, whether it differs or not (F2, D30).",
        |of| {
            of.article_client.reconciliation = Reconciliation::AlwaysRollback;
        },
    ),
    LaneKind::article("snaps", "Takes the server's state, of a round trip ago, as the present one (E10).", |of| {
        of.article_client.reconciliation = Reconciliation::Snap;
    }),
    LaneKind::article(
        "never corrects",
        "Keeps its own state, whatever the server says: prediction alone (R1, R13).",
        |of| {
            of.article_client.reconciliation = Reconciliation::Off;
        },
    ),
];

const GAPS: [LaneKind; 4] = [
    LaneKind::article(
        "skips them",
        "Nothing is repeated here. The ticks of lost inputs are not simulated, as in the article's code (R10, R19).",
        |of| {
            repeats_nothing(of);
            of.article_server.gap = GapPolicy::Skip;
        },
    ),
    LaneKind::article(
        "repeats the last",
        "Nothing is repeated here. They are simulated with the input before them (R19, E20).",
        |of| {
            repeats_nothing(of);
            of.article_server.gap = GapPolicy::Repeat;
        },
    ),
    LaneKind::article(
        "presses no keys",
        "Nothing is repeated here. They are simulated without an input (R19, E20).",
        |of| {
            repeats_nothing(of);
            of.article_server.gap = GapPolicy::Neutral;
        },
    ),
    LaneKind::ours(
        "Nothing is repeated here either. What has not come by its tick is replaced, as chosen (D9).",
        repeats_nothing,
    ),
];

const REPETITIONS: [LaneKind; 4] = [
    LaneKind::article(
        "repeats none",
        "Each datagram has the newest input alone: a lost one is lost (R10, R21).",
        repeats_nothing,
    ),
    LaneKind::article("repeats 4", "Those since the last state that came, four at most (R16, R17, E18).", |of| {
        of.article_client.redundancy = Redundancy::SinceState { limit: Some(4) };
    }),
    LaneKind::article(
        "repeats all",
        "All since the last state that came: the more, the longer the way and the fewer the states (R16, E18).",
        |of| {
            of.article_client.redundancy = Redundancy::SinceState { limit: None };
        },
    ),
    LaneKind::ours("Those that are not acknowledged and can still be in time, as chosen (D11).", as_chosen),
];

const SEATS: [LaneKind; 2] = [
    LaneKind {
        name: "you are a client",
        explain: "The server is a way off: you play ahead of it, and are corrected where it has something else (F2).",
        whose: Whose::Ours,
        change: as_chosen,
    },
    LaneKind {
        name: "you are the host",
        explain: "The server runs in your program: your keys count in its very tick, and nothing of yours is predicted or corrected. The \
                  others see you as late as ever (F2).",
        whose: Whose::OursHosted,
        change: as_chosen,
    },
];

/// What stands side by side.
#[derive(Clone, Copy, Debug)]
pub struct Lineup {
    pub lanes: &'static [LaneKind],
    /// The labels of what is measured of each: of more lanes there is less room for each.
    pub figures: &'static [&'static str],
}

const LINEUPS: [Lineup; 5] = [
    Lineup {
        lanes: &SYSTEMS,
        figures: &["corrections", "largest", "wrong by", "waits", "apart", "missing", "run again", "up", "down"],
    },
    Lineup { lanes: &RECONCILIATIONS, figures: &["corrections", "largest", "wrong by", "run again"] },
    Lineup { lanes: &GAPS, figures: &["corrections", "largest", "wrong by", "missing"] },
    Lineup { lanes: &REPETITIONS, figures: &["wrong by", "waits", "missing", "up"] },
    Lineup {
        lanes: &SEATS,
        figures: &["corrections", "largest", "wrong by", "apart", "missing", "run again", "up", "down"],
    },
];

/// The lanes of a choice, by its code.
pub fn lineup(code: u16) -> &'static Lineup {
    &LINEUPS[usize::from(code)]
}
