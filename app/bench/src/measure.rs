//! A whole session: until it has settled, while it is measured, and with one who comes late.

use crate::ages::Ages;
use crate::figures::Figures;
use crate::joiner::Joiner;
use crate::options::CrowdOptions;
use crate::session::Session;
use foretell_crowd::TICK_HZ;

/// Plays a session of these options, which [can be](CrowdOptions::check), and measures it.
pub fn measure(options: &CrowdOptions) -> Figures {
    let mut session = Session::new(options);
    (0..options.clients).for_each(|_| session.add_player());
    let quarter = options.seconds * u32::from(TICK_HZ) / 4;
    let mut steady = Steady::default();
    for _ in 0..quarter {
        session.tick();
        steady.ages.note(&session.server);
    }
    session.reset_costs();
    (0..quarter).for_each(|_| steady.tick(&mut session));
    let figures = steady.figures(options, &session);
    let mut joiner = Joiner::come(&mut session);
    for _ in 0..2 * quarter {
        session.tick();
        joiner.look(&session);
    }
    Figures { joiner_plays_ms: joiner.plays_ms, joiner_complete_ms: joiner.complete_ms, ..figures }
}

/// What is looked at while nobody comes or goes.
#[derive(Default)]
struct Steady {
    ages: Ages,
    /// How many clients have come into play.
    in_play: u16,
    ticks: u32,
    /// How many entities have changed, over all ticks.
    changed: usize,
}

impl Steady {
    fn tick(&mut self, session: &mut Session) {
        session.tick();
        self.ticks += 1;
        self.changed += self.ages.note(&session.server);
        let looked = session.players.iter().map(|player| self.ages.look(&player.client, session.server.tick()));
        self.in_play = looked.map(u16::from).sum();
    }

    /// Without those of one who comes late.
    fn figures(&self, options: &CrowdOptions, session: &Session) -> Figures {
        let CrowdOptions { entities, moving, clients, rtt_ms, loss, budget, seconds: _, seed } = *options;
        let bytes_per_client = session.costs.bytes_down as f64 / f64::from(clients);
        let seconds = f64::from(self.ticks) / f64::from(TICK_HZ);
        let bytes_per_changed_entity = if self.changed == 0 { 0.0 } else { bytes_per_client / self.changed as f64 };
        Figures {
            entities,
            moving,
            clients,
            clients_in_play: self.in_play,
            rtt_ms,
            loss,
            budget,
            seed,
            server_us_per_tick: session.costs.server.mean_us(),
            step_us_per_tick: session.stepping().mean_us(),
            client_us_per_tick: session.costs.client.mean_us(),
            present_us_per_frame: session.costs.present.mean_us(),
            bytes_per_client_per_s: bytes_per_client / seconds,
            bytes_per_changed_entity,
            shown_age_ms_p50: self.ages.quantile_ms(0.5),
            shown_age_ms_p99: self.ages.quantile_ms(0.99),
            shown_age_ms_max: self.ages.quantile_ms(1.0),
            nearest_20_age_ms_max: self.ages.nearest_max_ms(),
            joiner_plays_ms: None,
            joiner_complete_ms: None,
        }
    }
}
