//! What a client is sent is counted by component and field, to the bit.

use crate::budgets::Swarm;
use crate::common::Buttons;
use crate::common::projectiles::{Keys, Range};
use core::time::Duration;
use foretell::session::Traffic;
use foretell::session::client::Predict;
use foretell::{ClientConfig, Input, Interest, Rules, ServerConfig, Tick, World};
use foretell_sim::harness::{Driver, HostOptions, PlayerOptions, Sent, Simulation};
use foretell_sim::netsim::{Conditions, Loss, SplitMix64};

/// Counts what each player is sent, and plays for all of them.
struct Counter<I: Input> {
    sent: Vec<Traffic<I>>,
    input: fn(usize, Tick) -> I,
}

impl<W: World> Driver<W> for Counter<W::Input> {
    fn input(&mut self, player: usize, tick: Tick) -> W::Input {
        (self.input)(player, tick)
    }

    fn after_send(&mut self, sent: &Sent<'_>) {
        if !sent.to_server {
            self.sent[sent.player].note(sent.datagram).expect("the server's datagrams are well-formed");
        }
    }
}

/// A session of ten seconds with a player for each of these ways to predict.
fn counted<W: World + Default>(
    world: W,
    config: ServerConfig,
    predict: &[Predict],
    input: fn(usize, Tick) -> W::Input,
) -> (Simulation<W>, Counter<W::Input>) {
    let rules = Rules::new(W::schema());
    let mut simulation = Simulation::new(rules.clone(), config, world, 3);
    for predict in predict {
        let client = ClientConfig { predict: *predict, ..ClientConfig::default() };
        let conditions =
            Conditions { latency: Duration::from_millis(40), loss: Loss::Uniform(0.05), ..Conditions::default() };
        simulation.add_player(PlayerOptions { client, host: HostOptions::at(60), conditions, world: W::default() });
    }
    let mut counter = Counter { sent: predict.iter().map(|_| Traffic::new(&rules)).collect(), input };
    simulation.run_until(simulation.now() + Duration::from_secs(10), &mut counter);
    (simulation, counter)
}

/// What the server says that it has sent to a player, in bits.
fn bits_sent<W: World>(simulation: &Simulation<W>, player: usize) -> u64 {
    let player = simulation.players[player].client.player().expect("they have joined");
    8 * simulation.server.server.stats(player).expect("they are there").bytes_sent
}

fn walk(_player: usize, tick: Tick) -> Buttons {
    Buttons::from_bits(u64::from(tick.get() / 16))
}

#[test]
fn every_field_that_is_told_counts_with_its_bits() {
    let (simulation, counter) = counted(Swarm::of(100, 100), ServerConfig::default(), &[Predict::Own], walk);
    let [sent] = &counter.sent[..] else { panic!("one player") };
    let welcome = sent.bits() - bits_sent(&simulation, 0);
    assert!(welcome > 0 && welcome < 8 * 300, "the answers to hellos are no states: {welcome} bits");
    let [walkers, motes, boulders, tallies] = sent.shown() else { panic!("four components") };
    assert_eq!([walkers, boulders, tallies].map(|of| of.bits()), [0; 3], "nobody else's walker, no boulder, no tally");
    // Told against an earlier row: a bit, and where they differ three lanes of 32. They move always, and turn at the edges.
    assert_eq!(motes.fields[0], motes.rows * 97);
    assert!(motes.rows > 20_000, "{motes:?}");
    assert!((motes.rows..motes.rows * 3).contains(&motes.fields[1]), "{motes:?}");
    let own = &sent.exact()[0];
    assert!(own.rows > 100 && own.fields == [own.rows * 96], "{own:?}");
    assert!(sent.exact()[1].bits() == 0 && own.headers < own.rows * 40, "{own:?}");
    assert!(sent.rest() * 5 < sent.bits(), "{} of {} bits", sent.rest(), sent.bits());
}

#[test]
fn whatever_is_sent_is_counted_altogether() {
    let config =
        ServerConfig { relay_inputs: true, interest: Interest::Nearest(3), budget: 40_000, ..Default::default() };
    let fire = |player: usize, tick: Tick| {
        let bits = SplitMix64::new(u64::from(tick.get() / 16) << 16 | player as u64).next_u64();
        Keys { right: bits & 1 != 0, left: bits & 2 != 0, fire: bits & 4 != 0 }
    };
    let predict = [Predict::Own, Predict::Everyone, Predict::Own];
    let (simulation, counter) = counted(Range { noise: 2, ..Range::default() }, config, &predict, fire);
    let rows = |told: &[foretell::session::RowTraffic]| told.iter().map(|told| told.rows).sum::<u64>();
    for (player, sent) in counter.sent.iter().enumerate() {
        let welcome = sent.bits() - bits_sent(&simulation, player);
        assert!(welcome < 8 * 300, "{welcome} bits");
        assert!(rows(sent.exact()) > 100 && (rows(sent.shown()) > 100 || player == 1), "{player}");
    }
    let exact: Vec<_> = counter.sent.iter().map(|sent| rows(sent.exact())).collect();
    assert!(2 * exact[1] > 3 * exact[0], "{exact:?}: what is predicted is told exactly");
}

#[test]
fn what_is_no_datagram_is_refused_and_what_is_cut_counts_with_all_of_its_bits() {
    let mut traffic = Traffic::<Buttons>::new(&Rules::new(Swarm::schema()));
    assert!(traffic.note(&[]).is_err() && traffic.note(&[4]).is_err() && traffic.note(&[7; 40]).is_ok());
    assert_eq!((traffic.bits(), traffic.messages(), traffic.rest()), (328, 320, 8));
    let mut random = SplitMix64::new(4);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.next_u64() % 60).map(|_| random.next_u64() as u8).collect();
        let _ = traffic.note(&bytes);
        assert!(traffic.rest() <= traffic.bits());
    }
}
