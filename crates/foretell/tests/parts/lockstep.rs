//! A timeline that saves its world now and then against one that saves it in every tick, through the same turns.

use crate::timeline::{ME, MINE, Mass, Masses, THEIRS, both, first, push, tell};
use foretell::rollback::Timeline;
use foretell::world::PredictionSet;
use foretell::{Entity, PlayerId, Rows, Tick, TickRate, World};
use proptest::prelude::*;

/// Of a player who is never predicted.
const SEEN: Entity = Entity::new(PlayerId::new(3), Tick::ZERO, 0);

/// What may happen to a timeline. Ticks are counted back from the settled one, as far as is confirmed.
#[derive(Clone, Debug)]
enum Turn {
    Advance(i16),
    /// The authority's state differs.
    Rewrite(u32, i16),
    /// An input of theirs was another.
    Tell(u32, i16),
    Canonical(u32),
    /// They are predicted from then on, or not any more; the authority knows all that they have spawned, or nothing of it.
    Switch(u32, bool, bool),
    /// The authority's state, this many ticks back, is the predicted one.
    Agree(u32),
    SeekPresent,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let turn = prop_oneof![
        8 => (-99_i16..99).prop_map(Turn::Advance),
        2 => (0_u32..40, -9_i16..9).prop_map(|(back, at)| Turn::Rewrite(back, at)),
        2 => (1_u32..40, -99_i16..99).prop_map(|(back, force)| Turn::Tell(back, force)),
        1 => (1_u32..40).prop_map(Turn::Canonical),
        1 => (0_u32..40, any::<bool>(), any::<bool>()).prop_map(|(back, everybody, all)| Turn::Switch(back, everybody, all)),
        2 => (0_u32..40).prop_map(Turn::Agree),
        2 => Just(Turn::SeekPresent),
    ];
    proptest::collection::vec(turn, 1..80)
}

struct Run {
    timeline: Timeline<Masses>,
    world: Masses,
    /// The rows of others, with what has changed since the tick before.
    proxies: Rows,
}

impl Run {
    fn new(horizon: u32, checkpoint_every: u32) -> Run {
        let mut world = Masses::with_mine(Mass::default());
        let mut timeline = Timeline::new(&Masses::schema(), ME, TickRate::default(), horizon, checkpoint_every);
        timeline.begin(&mut world, Tick::ZERO);
        let mut full = Rows::new(&Masses::schema());
        [MINE, THEIRS].into_iter().for_each(|entity| full.set(first(entity), &Mass::default()));
        timeline.switch(&mut world, Tick::ZERO, &both(), &full);
        let mut run = Run { timeline, world, proxies: Rows::new(&Masses::schema()) };
        (0..50).for_each(|force| run.advance(force));
        run
    }

    fn advance(&mut self, force: i16) {
        if force % 3 == 0 {
            self.proxies.set(first(SEEN), &Mass { at: [f64::from(force)], speed: [0.0] });
        } else {
            self.proxies.remove_entity(SEEN);
        }
        self.timeline.give(self.timeline.present(), push(force));
        self.timeline.advance(&mut self.world, &self.proxies);
        self.proxies.settle();
    }

    /// One turn about `tick`, whose rows are `known`. Says whether everything before is confirmed by it.
    fn take(&mut self, turn: &Turn, tick: Tick, known: &Rows) -> bool {
        let Run { timeline, world, proxies } = self;
        let mut authority = known.clone();
        match *turn {
            Turn::Advance(force) => self.advance(force),
            Turn::Rewrite(_, at) => {
                authority.set(first(MINE), &Mass { at: [f64::from(at)], speed: [0.5] });
                timeline.rewrite(world, tick, &authority);
                return true;
            }
            Turn::Tell(_, force) => tell(timeline, [(tick.get(), force)]),
            Turn::Canonical(_) => timeline.announce(tick),
            Turn::Switch(_, everybody, knows_all) => {
                let predicted = if everybody { both() } else { PredictionSet::own(ME) };
                if timeline.settled() == timeline.present() && *timeline.predicted() != predicted {
                    authority.retain(|_, of| knows_all || of.owner == ME);
                    authority.set(first(THEIRS), &Mass { at: [1.0], speed: [0.25] });
                    // Who is not predicted any more is shown where they were.
                    let newest = timeline.rows(timeline.present()).expect("the present");
                    let shown = core::mem::replace(proxies, Rows::new(&Masses::schema()));
                    let all = [newest, &shown].into_iter().flat_map(Rows::iter);
                    all.filter(|row| !predicted.contains(row.owned())).for_each(|row| proxies.set_words(row));
                    timeline.switch(world, tick, &predicted, &authority);
                    return true;
                }
            }
            Turn::Agree(_) => return true,
            Turn::SeekPresent => timeline.seek_present(world),
        }
        false
    }

    /// As every update does: what was otherwise than it is known to have been is simulated again.
    fn update(&mut self, since: Tick, budget: u32) {
        let settled = self.timeline.settled();
        let outdated = self.timeline.outdated(since);
        if let Some(tick) = outdated.filter(|tick| settled == self.timeline.present() || *tick >= settled) {
            self.timeline.revisit(tick);
            assert!(self.timeline.settled() <= settled, "nothing that is to be simulated again is skipped");
        }
        self.timeline.resimulate(&mut self.world, budget);
    }
}

/// Each turn has the next of the budgets, round and round.
fn go_through(turns: &[Turn], horizon: u32, checkpoint_every: u32, budgets: &[u32]) -> Result<(), TestCaseError> {
    // The last one forgets what is confirmed, the others all that is older than the horizon.
    let mut runs = [1, checkpoint_every, checkpoint_every].map(|every| Run::new(horizon, every));
    let (mut confirmed, mut kept) = (Tick::ZERO, None);
    let oldest = |runs: &[Run; 3]| runs.iter().map(|run| run.timeline.oldest()).max().expect("three");
    for (turn, budget) in turns.iter().zip(budgets.iter().cycle()) {
        runs.iter_mut().for_each(|run| run.timeline.allow(*budget));
        let settled = runs[0].timeline.settled();
        prop_assert!(runs.iter().all(|run| run.timeline.settled() == settled));
        let back = match *turn {
            Turn::Rewrite(back, _)
            | Turn::Tell(back, _)
            | Turn::Canonical(back)
            | Turn::Switch(back, ..)
            | Turn::Agree(back) => back,
            Turn::Advance(_) | Turn::SeekPresent => 0,
        };
        let tick = settled.back(back).unwrap_or(confirmed).max(confirmed);
        // What is not remembered any more can't be rewritten.
        let known = runs[0].timeline.rows(tick).filter(|_| tick >= oldest(&runs)).cloned();
        let known = known.unwrap_or_else(|| Rows::new(&Masses::schema()));
        if tick >= oldest(&runs) || matches!(turn, Turn::Advance(_) | Turn::SeekPresent) {
            let are_confirmed = runs.each_mut().map(|run| run.take(turn, tick, &known));
            if are_confirmed[0] {
                confirmed = tick;
                let before = runs[2].timeline.oldest();
                runs[2].timeline.confirm(tick);
                kept = Some(runs[2].timeline.oldest()).filter(|oldest| *oldest > before);
            }
        }
        let since = confirmed.max(oldest(&runs));
        runs.iter_mut().for_each(|run| run.update(since, *budget));
        // Of all that lies before what is confirmed one state is kept, as long as it is not older than the horizon.
        let kept = kept.filter(|kept| runs[2].timeline.present().since(*kept) <= horizon);
        prop_assert!(kept.is_none_or(|kept| runs[2].timeline.oldest() <= kept), "{:?} can be gone back to", kept);
        for tick in oldest(&runs).until(runs[0].timeline.present().next()) {
            let [all, keeps, forgets] = runs.each_ref().map(|run| run.timeline.rows(tick));
            prop_assert!(all == keeps && all == forgets, "{:?}: {:?}, {:?}, {:?}", tick, all, keeps, forgets);
        }
    }
    runs.iter_mut().for_each(|run| run.timeline.seek_present(&mut run.world));
    prop_assert!(runs.iter().all(|run| run.world.masses == runs[0].world.masses));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Rewrites, told inputs and changes of who is predicted come with horizons that are short, and budgets that do not
    /// suffice, so that the world goes back and forth between the present and what is settled.
    #[test]
    fn a_world_that_is_saved_now_and_then_is_the_same_as_one_that_is_always_saved(
        turns in turns(),
        horizon in 1_u32..40,
        checkpoint_every in 1_u32..50,
        budgets in proptest::collection::vec(prop_oneof![2_u32..9, Just(1000)], 1..4),
    ) {
        go_through(&turns, horizon, checkpoint_every, &budgets)?;
    }

    /// What is told comes a while after its tick, again and again, and then the authority agrees for some time: as in a session.
    #[test]
    fn what_is_told_in_turns_with_agreement_leads_to_the_same_states_whatever_was_forgotten(
        rounds in proptest::collection::vec((0_usize..4, any::<bool>(), any::<bool>()), 20..60),
        lag in 1_u32..16,
        agrees_later in 0_u32..6,
        horizon in 40_u32..130,
        checkpoint_every in 1_u32..24,
    ) {
        let turns = rounds.iter().zip(1..).flat_map(|((advances, tells, agrees), force)| {
            let turns = core::iter::repeat_n(Turn::Advance(force), *advances);
            let turns = turns.chain(tells.then_some(Turn::Tell(lag, -force)));
            turns.chain(agrees.then_some(Turn::Agree(lag + agrees_later)))
        });
        go_through(&turns.collect::<Vec<_>>(), horizon, checkpoint_every, &[1000])?;
    }
}

#[test]
fn what_is_told_while_a_re_simulation_has_left_its_beginning_behind_does_not_end_it() {
    let turns = [Turn::Advance(0), Turn::Advance(0), Turn::Advance(0), Turn::Tell(26, -1), Turn::Advance(0)];
    go_through(&turns, 35, 18, &[2]).expect("the same");
}

#[test]
fn who_is_predicted_from_a_rewritten_state_on_leaves_no_proxies_behind() {
    let turns = [
        Turn::Tell(11, 91),
        Turn::Switch(10, false, true),
        Turn::Advance(0),
        Turn::Rewrite(1, 0),
        Turn::Switch(1, true, true),
    ];
    go_through(&turns, 17, 11, &[1000]).expect("the same");
}
