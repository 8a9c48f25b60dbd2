//! What the explainer says of what it was told.

use super::*;
use crate::run::substituted_inputs::tests::corrected;
use foretell::time::Offset;

#[test]
fn a_late_input_is_told_with_its_tick_its_lateness_and_what_the_server_did() {
    let mut explainer = Explainer { first_input: Some(Tick::new(20)), ..Explainer::new() };
    let late = LateInput { player: PlayerId::new(1), tick: Tick::new(4711), by: Offset::from_micros(23_100) };
    explainer.note_late(&late);
    explainer.note_client(&ClientEvent::Substituted { newest: Tick::new(4711), ticks: 1 });
    let corrected = corrected(4712, Causes::OWN_INPUT);
    explainer.note_compared(Some(Tick::new(4712)), &[corrected]);
    assert_eq!(
        explainer.take_notes(),
        ["input 4,711 came 23 ms late, the server repeated tick 4,710, and your cube was corrected"]
    );
    let told = explainer.correction(&corrected, true, &PacketLog::default());
    assert_eq!(told.sentence, "the input for tick 4,711 arrived 23 ms too late; the server repeated tick 4,710");
    assert_eq!(told.causes, ["own input late or substituted"]);
}

#[test]
fn a_late_input_whose_repeat_was_right_reads_so_once_the_state_has_been_compared() {
    let mut explainer = Explainer { first_input: Some(Tick::new(20)), ..Explainer::new() };
    explainer.note_late(&LateInput { player: PlayerId::new(1), tick: Tick::new(229), by: Offset::from_micros(13_000) });
    explainer.note_compared(Some(Tick::new(229)), &[]);
    assert!(explainer.take_notes().is_empty(), "it is not known yet");
    explainer.note_compared(Some(Tick::new(230)), &[]);
    assert_eq!(explainer.take_notes(), ["input 229 came 13 ms late, the repeat was right: nothing to correct"]);
    explainer.note_client(&ClientEvent::Substituted { newest: Tick::new(240), ticks: 3 });
    explainer.note_compared(None, &[]);
    let told = "3 inputs up to 240 had not come when due, the server repeated the last one it had";
    assert_eq!(explainer.take_notes(), [told], "where nothing is compared, nobody can know");
}

#[test]
fn each_cause_has_a_sentence_of_its_own() {
    let mut explainer = Explainer::new();
    explainer.note_event(Tick::new(319), Event::Impulse);
    let told = |explainer: &Explainer, causes| {
        explainer.correction(&corrected(320, causes), true, &PacketLog::default()).sentence
    };
    assert!(told(&explainer, Causes::SERVER_EVENT).contains("pushed the cube by 3 m/s before tick 319"));
    assert!(told(&explainer, Causes::OWN_INPUT).contains("did not have your input in time"));
    let both = told(&explainer, Causes::TOLERANCE.with(Causes::EXISTENCE));
    assert!(both.contains("one end only; differences within"), "{both}");
    assert!(told(&explainer, Causes::OTHERS).contains("another player's cube was elsewhere"));
    assert!(told(&explainer, Causes::RELAYED_INPUT).contains("another player's input was not the one"));
    assert!(told(&explainer, Causes::RESYNC).contains("started again"));
    assert!(told(&explainer, Causes::default()).contains("no cause is known"));
    assert!(told(&explainer, Causes::CLOCK).contains("own clock was set"));
    assert!(told(&explainer, Causes::NONDETERMINISM).contains("came to something else"));
}
