//! The check of a scenario's world by itself, which is looked at after each session.

use super::run::Found;
use super::talk::random;
use super::{BotView, Scenario, SyncTest};
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use foretell::JoinRequest;
use foretell::time::Instant;
use foretell::world::{Newcomer, PlayerId, Rows, World};

/// The name of the check.
pub(super) const WORLD: &str = "world";

impl<W: World> Scenario<W> {
    /// Whether a client's world is exact by itself, where nothing that was wrong with it has shown in the session: what
    /// `load` forgets shows only when a client has to go back and does not adopt all of it. The bot gives another input in
    /// every tick, so that much happens.
    pub(super) fn look_at_world(&self, seed: u64) -> Result<(), Found> {
        if self.without.contains(&WORLD) {
            return Ok(());
        }
        self.world_by_itself(seed, 1).run_client().map_err(|out_of_sync| Found {
            check: WORLD.to_owned(),
            what: out_of_sync.to_string(),
            at: Instant::ZERO,
            player: None,
        })
    }

    /// Its world by itself, with its bots, who see nothing, what their clients say of them, and what they say in steps. The bots' random
    /// numbers are the same for `held` ticks.
    pub(super) fn world_by_itself(&self, seed: u64, held: u32) -> SyncTest<'_, W> {
        let rows = Rows::new(&self.setting.rules.schema);
        let test = SyncTest::new(self.setting.rules.clone(), || (self.make)());
        let test = self.talk.in_steps().enumerate().fold(test, |test, (nth, say)| {
            let rows = rows.clone();
            test.hears(move |player, tick| {
                let (seed, index) = self.stand_in(seed, player);
                let view = BotView { index, tick, player, rows: &rows };
                say(&view, &mut random(seed, index, tick).nth(nth)?)
            })
        });
        let input = move |player, tick| {
            let (seed, index) = self.stand_in(seed, player);
            self.input(seed, &BotView { index, tick, player, rows: &rows }, held)
        };
        test.input(input).joins(move |newcomer, _| {
            let request = (self.ask)(self.stand_in(seed, newcomer.player).1, JoinRequest::new(seed));
            Newcomer { seat: request.seat(), data: request.data().to_vec(), ..newcomer }
        })
    }

    /// With which seed, and as which of the scenario's players, somebody plays: a world by itself has two, also where the scenario has one.
    fn stand_in(&self, seed: u64, player: PlayerId) -> (u64, usize) {
        let (number, players) = (usize::from(player.get()) - 1, self.everybody());
        (seed ^ (number / players) as u64, number % players)
    }
}
