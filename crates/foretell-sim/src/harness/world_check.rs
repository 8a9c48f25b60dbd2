//! The check of a scenario's world by itself, which is looked at after each session.

use super::run::Found;
use super::scenario::TICKS_HELD;
use super::talk::random;
use super::{BotView, Scenario, SyncTest};
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use foretell::JoinRequest;
use foretell::time::{Instant, Tick};
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
        self.world_by_itself(seed, TICKS_HELD).run_client().map_err(|out_of_sync| Found {
            check: WORLD.to_owned(),
            what: out_of_sync.to_string(),
            at: Instant::ZERO,
            player: None,
        })
    }

    /// Its world by itself, with its bots, who see nothing, what their clients say of them, and what they say in steps. The bots make up their minds `hurry`
    /// times as often.
    pub(super) fn world_by_itself(&self, seed: u64, hurry: u32) -> SyncTest<'_, W> {
        let rows = Rows::new(&self.setting.rules.schema);
        let test = SyncTest::new(self.setting.rules.clone(), || (self.make)());
        let test = self.talk.in_steps().enumerate().fold(test, |test, (nth, say)| {
            let rows = rows.clone();
            test.hears(move |player, tick| {
                let view = BotView { index: index(player), tick, player, rows: &rows };
                say(&view, &mut random(seed, view.index, tick).nth(nth)?)
            })
        });
        test.input(move |player, tick| self.blind_input(seed, player, Tick::new(tick.get() * hurry))).joins(
            move |newcomer, _| {
                let request = (self.ask)(index(newcomer.player), JoinRequest::new(seed));
                Newcomer { seat: request.seat(), data: request.data().to_vec(), ..newcomer }
            },
        )
    }

    /// The input of a player who sees nothing.
    fn blind_input(&self, seed: u64, player: PlayerId, tick: Tick) -> W::Input {
        self.input(seed, &BotView { index: index(player), tick, player, rows: &Rows::new(&self.setting.rules.schema) })
    }
}

/// Of which index a player is.
fn index(player: PlayerId) -> usize {
    usize::from(player.get()) - 1
}
