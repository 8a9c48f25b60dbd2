//! Whatever is lost, and in whatever order the rest comes.

use super::*;

proptest! {
    #[test]
    fn over_any_loss_the_client_has_everything_once_nothing_changes(
        seed: u64,
        interval in 1_u32..4,
        with_owner: bool,
        sees_own: bool,
        pace in prop_oneof![Just(1_u32), 2_u32..20],
        scale in prop_oneof![Just(FEW), Just(SOME), Just(MANY)],
        exact_max in prop_oneof![Just(None), Just(Some(0))],
    ) {
        let schema = if sees_own { Schema::of::<Float>() } else { Schema::of::<Rumour>() };
        let (mut scene, mut dice) = (Scene { row_send_rates: RowSendRates::every(pace), exact_max, ..Scene::of(&schema, scale) }, Dice(seed));
        for tick in 1..CALM + 150 {
            if tick < CALM {
                scene.change(&mut dice, with_owner);
                scene.change_exact(&mut dice);
            }
            scene.state.settle(Tick::new(tick));
            if tick % interval == 0 {
                scene.send(tick, &mut dice);
            }
            scene.arrive(tick, &mut dice);
        }
        scene.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn clients_on_different_links_have_everything_though_rows_are_put_together_for_both(
        seed: u64,
        with_owner: bool,
        scale in prop_oneof![Just(SOME), Just(MANY)],
    ) {
        let schema = Schema::of::<Float>();
        let (mut one, mut other) = (Scene::of(&schema, scale), Scene::of(&schema, scale));
        let (mut dice, mut others_dice) = (Dice(seed), Dice(!seed));
        for tick in 1..CALM + 150 {
            if tick < CALM {
                one.change(&mut dice, with_owner);
            }
            one.state.settle(Tick::new(tick));
            one.send(tick, &mut dice);
            one.lend_server(&mut other);
            other.send(tick, &mut others_dice);
            other.lend_server(&mut one);
            one.arrive(tick, &mut dice);
            other.arrive(tick, &mut others_dice);
        }
        one.check();
        one.lend_server(&mut other);
        other.check();
    }
}
