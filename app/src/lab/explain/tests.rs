//! What the witness says of what it was told.

use super::super::replaced::tests::corrected;
use super::*;
use foretell::time::Offset;

#[test]
fn a_late_input_is_told_with_its_tick_its_lateness_and_what_the_server_did() {
    let mut witness = Witness { first_input: Some(Tick::new(20)), ..Witness::new() };
    let late = LateInput { player: PlayerId::new(1), tick: Tick::new(4711), by: Offset::from_micros(23_100) };
    witness.note_late(&late);
    witness.note_client(&ClientEvent::Substituted { newest: Tick::new(4711), ticks: 1 });
    let corrected = corrected(4712, Causes::OWN_INPUT);
    witness.note_compared(Some(Tick::new(4712)), &[corrected]);
    assert_eq!(
        witness.take_notes(),
        ["input 4,711 came 23 ms late, the server repeated tick 4,710, and your cube was corrected"]
    );
    let told = witness.correction(&corrected, true, &Packets::default());
    assert_eq!(told.sentence, "the input for tick 4,711 arrived 23 ms too late; the server repeated tick 4,710");
    assert_eq!(told.causes, ["own input late or substituted"]);
}

#[test]
fn a_late_input_whose_repeat_was_right_reads_so_once_the_state_has_been_compared() {
    let mut witness = Witness { first_input: Some(Tick::new(20)), ..Witness::new() };
    witness.note_late(&LateInput { player: PlayerId::new(1), tick: Tick::new(229), by: Offset::from_micros(13_000) });
    witness.note_compared(Some(Tick::new(229)), &[]);
    assert!(witness.take_notes().is_empty(), "it is not known yet");
    witness.note_compared(Some(Tick::new(230)), &[]);
    assert_eq!(witness.take_notes(), ["input 229 came 13 ms late, the repeat was right: nothing to correct"]);
    witness.note_client(&ClientEvent::Substituted { newest: Tick::new(240), ticks: 3 });
    witness.note_compared(None, &[]);
    let told = "3 inputs up to 240 had not come when due, the server repeated the last one it had";
    assert_eq!(witness.take_notes(), [told], "where nothing is compared, nobody can know");
}

#[test]
fn each_cause_has_a_sentence_of_its_own() {
    let mut witness = Witness::new();
    witness.note_event(Tick::new(319), Event::Impulse);
    let told =
        |witness: &Witness, causes| witness.correction(&corrected(320, causes), true, &Packets::default()).sentence;
    assert!(told(&witness, Causes::SERVER_EVENT).contains("pushed the cube by 3 m/s before tick 319"));
    assert!(told(&witness, Causes::OWN_INPUT).contains("did not have your input in time"));
    let both = told(&witness, Causes::TOLERANCE.with(Causes::EXISTENCE));
    assert!(both.contains("one end only; differences within"), "{both}");
    assert!(told(&witness, Causes::OTHERS).contains("another player's cube was elsewhere"));
    assert!(told(&witness, Causes::RELAYED_INPUT).contains("another player's input was not the one"));
    assert!(told(&witness, Causes::RESYNC).contains("started again"));
    assert!(told(&witness, Causes::default()).contains("no cause is known"));
    assert!(told(&witness, Causes::LEFT).contains("reconciliation was off"));
    assert!(told(&witness, Causes::CLOCK).contains("own clock was set"));
    assert!(told(&witness, Causes::NONDETERMINISM).contains("came to something else"));
}
