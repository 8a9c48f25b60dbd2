//! Many hostile packets, in short; `cargo bench -p foretell-net --bench hostile` sends a million, and measures.

mod common;
#[path = "common/flood/mod.rs"]
mod flood;

use flood::{GROWTH_MAX, Plan, Round, apart, run};
use std::process::Command;
use std::time::Duration;

/// What the server of the test below runs in: nothing by itself.
#[test]
#[ignore = "the server's process, which another test starts"]
fn server() {
    apart::serve_if_asked();
}

#[tokio::test(flavor = "multi_thread")]
async fn thousands_of_hostile_packets_neither_end_the_server_nor_fill_it_nor_disturb_who_plays() {
    let plan = Plan { seed: 1, rounds: 1, phase: Duration::from_secs(4), rate: 7_000, honest: 4, mallories: 4 };
    let mut command = Command::new(std::env::current_exe().expect("a program"));
    command.args(["server", "--exact", "--ignored", "--nocapture"]);
    let outcome = run(&mut command, &plan).await;
    assert!(outcome.sent.iter().all(|sent| *sent > 9_000), "{:?}", outcome.sent);
    assert!(outcome.undisturbed, "who plays plays on, over the same connection");
    let Round { peace, war } = outcome.rounds[0];
    assert!(war.malformed > 100 && peace.malformed == 0, "it was heard: {war:?}");
    // What one says is heard three times in a tick, and 16 times after a pause; much more has come.
    let heard_max = 3 * war.ticks * (plan.honest + plan.mallories) as u64 + 16 * (war.admitted + 8);
    assert!(
        war.received <= heard_max && outcome.sent[0] > 2 * heard_max,
        "{heard_max} of {}: {war:?}",
        outcome.sent[0]
    );
    assert!(war.strange > 10 && war.joined <= war.admitted, "nobody joins by another's nonce: {war:?}");
    assert!(war.retried > 10 && peace.retried == 0, "who has not proven an address takes few places: {war:?}");
    assert_eq!(war.skipped, 0, "{war:?}");
    // A busy machine makes honest clients late as well.
    assert!(war.missed * 20 <= war.applied, "{war:?}");
    assert!(war.peak <= outcome.before.live + GROWTH_MAX, "{war:?}");
    assert!(outcome.after.live <= outcome.before.live + GROWTH_MAX / 4, "{:?}", outcome.after);
}
