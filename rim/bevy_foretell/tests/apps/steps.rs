//! What systems say and hear in a step, and what observers are told of it.

use crate::cubes::{self, BANG, Cube, Keys, cubes};
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    Appeared, Connection, Corrected, EffectCancelled, EffectHappened, ForetellPlugin, Hidden, HitJudged, InterestRules,
    Leave, LocalPlayer, Message, NetEntity, Networked, NotConnected, Play, PlayerId, Reason, Received, RemovePlayer,
    Say, ServerSaid, Simulated, Simulation, StepCommands, StepMessages, Unsent,
};
use bevy_foretell::{ForetellApp, State};
use bevy_time::TimePlugin;
use foretell::session::server::ServerEvent;
use foretell::{Interest, Start, To, Visibility};
use serde::{Deserialize, Serialize};

#[derive(Message, Serialize, Deserialize, Clone, PartialEq, Debug)]
struct Chat(String);

/// Jumps, in the step.
#[derive(Message, Serialize, Deserialize, Clone)]
#[message(in_step)]
struct Jump(i8);

/// Gives its cube away, in the step.
#[derive(Message, Serialize, Deserialize, Clone)]
#[message(in_step)]
struct Give(u16);

fn obey(
    jumps: Res<StepMessages<Jump>>,
    gifts: Res<StepMessages<Give>>,
    mut cubes: Query<(Entity, &mut Cube, &Networked)>,
    mut step: StepCommands,
) {
    for (player, jump) in jumps.iter() {
        let own = cubes.iter_mut().filter(|(.., of)| of.owner() == player);
        own.for_each(|(_, mut cube, _)| cube.x[1] += f32::from(jump.0));
    }
    for (player, gift) in gifts.iter() {
        for (id, ..) in cubes.iter().filter(|(.., of)| of.owner() == player) {
            step.set_owner(id, PlayerId::new(gift.0));
        }
    }
}

fn talkative(app: &mut App) {
    let plugin = ForetellPlugin::<Keys>::hz(64).message::<Chat>().message::<Jump>().message::<Give>();
    app.add_plugins(plugin);
    cubes::with(app);
    app.add_systems(Simulation, obey.after(cubes::shoot));
    app.init_resource::<Heard>();
    app.add_observer(|said: On<Received<Chat>>, mut heard: ResMut<Heard>| {
        heard.0.push((said.from, said.message.0.clone()))
    });
    app.add_observer(|_: On<Unsent<Chat>>, mut heard: ResMut<Heard>| heard.0.push((PlayerId::SERVER, "unsent".into())));
    app.add_observer(|of: On<Corrected>, mut heard: ResMut<Heard>| {
        heard.1 += usize::from(of.correction.misprediction_m > 0.0)
    });
}

#[derive(Resource, Default)]
struct Heard(Vec<(PlayerId, String)>, usize);

/// A server and two players, in play.
fn playing(game: fn(&mut App)) -> Rig {
    let mut rig = Rig::new(game, 2, 5, link(40, 0.0));
    rig.run(200);
    rig
}

fn own(app: &mut App) -> PlayerId {
    app.world().resource::<LocalPlayer>().0.expect("they have joined")
}

#[test]
fn messages_are_told_to_whom_they_are_sent_and_what_can_not_be_sent_is_said() {
    let mut rig = playing(talkative);
    let player = own(rig.player(0));
    rig.player(0).world_mut().trigger(Say::to_server(Chat("hello".into())));
    rig.server().world_mut().trigger(Say::to(To::All, Chat("welcome".into())));
    rig.player(1).world_mut().trigger(Say::to(To::All, Chat("I am the server".into())));
    rig.run(40);
    assert_eq!(rig.server().world().resource::<Heard>().0, [(player, "hello".to_owned())]);
    assert_eq!(rig.player(0).world().resource::<Heard>().0, [(PlayerId::SERVER, "welcome".to_owned())]);
    let heard: Vec<_> = rig.player(1).world().resource::<Heard>().0.iter().map(|(_, text)| text.clone()).collect();
    assert_eq!(heard, ["unsent", "welcome"]);
}

#[test]
fn what_is_said_without_a_session_is_unsent_at_once_and_not_kept_for_one() {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    talkative(&mut app);
    app.world_mut().trigger(Say::to_server(Chat("hello".into())));
    app.update();
    assert_eq!(app.world().resource::<Heard>().0, [(PlayerId::SERVER, "unsent".to_owned())]);
    app.insert_resource(Play::Alone);
    (0..3).for_each(|_| app.update());
    assert_eq!(app.world().resource::<Heard>().0.len(), 1);
}

#[test]
fn a_message_in_a_step_is_in_the_same_step_on_both_ends() {
    let mut rig = playing(talkative);
    rig.player(0).world_mut().trigger(Say::to_server(Jump(3)));
    rig.run(2);
    let player = own(rig.player(0));
    let y = |app: &mut App| cubes(app).iter().find(|(_, owner, _)| *owner == player).map(|(.., cube)| cube.x[1]);
    assert_eq!((y(rig.player(0)), y(rig.server())), (Some(3.0), Some(0.0)), "at once here, and after its way there");
    rig.run(60);
    assert_eq!((y(rig.server()), y(rig.player(1))), (Some(3.0), Some(3.0)));
    assert_eq!(rig.player(0).world().resource::<Heard>().1, 0, "nothing was corrected");
}

#[test]
fn an_entity_that_is_given_away_is_simulated_by_its_new_owner() {
    let mut rig = playing(talkative);
    let (giver, taker) = (own(rig.player(0)), own(rig.player(1)));
    rig.player(0).world_mut().trigger(Say::to_server(Give(taker.get())));
    rig.run(100);
    for (nth, simulated) in [(0, 0), (1, 2)] {
        let world = rig.player(nth).world_mut();
        let mut query = world.query_filtered::<(&Networked, Has<Simulated>), With<Cube>>();
        assert!(query.iter(world).all(|(of, _)| of.owner() == taker && of.owner() != giver));
        assert_eq!(query.iter(world).filter(|(_, is_simulated)| *is_simulated).count(), simulated);
    }
}

#[derive(Resource, Default)]
struct Bangs {
    heard: Vec<(foretell::Tick, bevy_foretell::NetEntity)>,
    cancelled: usize,
    hits: usize,
}

fn loud(app: &mut App) {
    cubes::game(app);
    app.init_resource::<Bangs>();
    app.add_observer(|bang: On<EffectHappened>, mut bangs: ResMut<Bangs>| {
        assert_eq!(bang.effect.kind, BANG);
        bangs.heard.push((bang.effect.tick, bang.effect.entity));
    });
    app.add_observer(|bang: On<EffectCancelled>, mut bangs: ResMut<Bangs>| {
        bangs.cancelled += 1;
        let name = (bang.effect.tick, bang.effect.entity);
        bangs.heard.retain(|heard| *heard != name);
    });
    app.add_observer(|_: On<HitJudged>, mut bangs: ResMut<Bangs>| bangs.hits += 1);
}

#[test]
fn an_effect_is_told_once_to_everybody_however_often_its_tick_is_simulated() {
    let mut rig = Rig::new(loud, 2, 11, link(80, 0.15));
    rig.run(1500);
    let resimulated = (0..2).map(|nth| rig.player(nth).world().resource::<Bangs>().cancelled).sum::<usize>();
    assert!(resimulated > 0, "some were predicted that did not happen");
    for nth in 0..2 {
        let mut heard = rig.player(nth).world().resource::<Bangs>().heard.clone();
        let count = heard.len();
        heard.sort_unstable();
        heard.dedup();
        assert_eq!(heard.len(), count);
        assert!(count > 50);
    }
    assert!(rig.server().world().resource::<Bangs>().hits > 50, "each shot sees the other's cube, and hits it");
}

#[test]
fn who_leaves_is_offline_and_what_was_theirs_goes_everywhere() {
    let mut rig = playing(cubes::game);
    let leaver = own(rig.player(0));
    rig.player(0).insert_resource(Leave);
    rig.run(2);
    assert_eq!(**rig.player(0).world().resource::<bevy_state::prelude::State<Connection>>(), Connection::Offline);
    assert_eq!(rig.player(0).world().resource::<LocalPlayer>().0, None);
    rig.run(60);
    assert!(cubes(rig.server()).iter().all(|(_, owner, _)| *owner != leaver));
    assert!(cubes(rig.player(1)).iter().all(|(_, owner, _)| *owner != leaver));
    rig.player(0).insert_resource(Play::ByHand(Start::Client { nonce: 77 }));
    rig.run(200);
    assert_eq!(cubes(rig.player(0)).len(), 2, "one who comes again finds the other, and no remains");
}

#[test]
fn who_leaves_and_plays_again_in_one_frame_plays() {
    let mut rig = playing(cubes::game);
    rig.player(0).insert_resource(Leave).insert_resource(Play::ByHand(Start::Client { nonce: 77 }));
    rig.run(200);
    assert_eq!(**rig.player(0).world().resource::<bevy_state::prelude::State<Connection>>(), Connection::Playing);
    assert_eq!((cubes(rig.player(0)).len(), cubes(rig.server()).len()), (2, 2));
}

#[test]
fn a_host_plays_with_those_who_join_and_who_is_alone_plays_too() {
    let mut rig = Rig::hosted(cubes::game, 1, 3, link(40, 0.0));
    rig.run(400);
    let (host, guest) = (own(rig.server()), own(rig.player(0)));
    assert_ne!(host, guest);
    for app in [0, 1] {
        let app = if app == 0 { rig.server() } else { rig.player(0) };
        let moved = cubes(app).iter().filter(|(.., cube)| cube.x[0] != 0.0).count();
        assert_eq!(moved, 2);
    }
    let mut alone = Rig::new(cubes::game, 0, 3, link(0, 0.0));
    alone.server().insert_resource(Play::Alone);
    alone.run(100);
    let player = own(alone.server());
    assert!(cubes(alone.server()).iter().any(|(_, owner, cube)| *owner == player && cube.x[0] != 0.0));
}

#[derive(Resource, Default)]
struct Sights(usize, usize);

fn short_sighted(app: &mut App) {
    let plugin = ForetellPlugin::<Keys>::hz(64).message::<Jump>().message::<Give>();
    let interest = Interest::Within { radius_m: 20.0, leaves_at_m: 22.0 };
    app.add_plugins(plugin.configured(move |config| config.server.interest = interest));
    cubes::with(app);
    app.add_systems(Simulation, obey.after(cubes::shoot));
    app.init_resource::<Sights>();
    app.add_observer(|_: On<Hidden>, mut sights: ResMut<Sights>| sights.0 += 1);
    app.add_observer(|_: On<Appeared>, mut sights: ResMut<Sights>| sights.1 += 1);
}

#[test]
fn what_leaves_the_view_is_hidden_and_appears_again_as_the_same_entity() {
    let mut rig = playing(short_sighted);
    let other = own(rig.player(0));
    let find = |app: &mut App| {
        let world = app.world_mut();
        let mut query = world.query_filtered::<(Entity, &Networked), With<Cube>>();
        query.iter(world).find(|(_, of)| of.owner() == other).map(|(id, _)| id)
    };
    let before = find(rig.player(1));
    assert!(before.is_some());
    rig.player(0).world_mut().trigger(Say::to_server(Jump(100)));
    rig.run(60);
    assert_eq!(find(rig.player(1)), None);
    rig.player(0).world_mut().trigger(Say::to_server(Jump(-100)));
    rig.run(40);
    assert_eq!(find(rig.player(1)), before);
    let sights = rig.player(1).world().resource::<Sights>();
    assert!(sights.0 >= 1 && sights.1 >= 1);
}

#[derive(Resource, Default)]
struct Log(Vec<ServerEvent>, Vec<String>);

#[test]
fn an_app_is_told_who_joins_and_why_it_is_not_let_in() {
    let full = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64).configured(|config| config.server.players_max = 1));
        cubes::with(app);
        app.init_resource::<Log>();
        app.add_observer(|said: On<ServerSaid>, mut log: ResMut<Log>| log.0.push(said.0));
        app.add_observer(|said: On<NotConnected>, mut log: ResMut<Log>| log.1.push(said.why.clone()));
    };
    let mut rig = Rig::new(full, 2, 1, link(20, 0.0));
    rig.run(100);
    let joined = rig.server().world().resource::<Log>().0.iter().filter(|of| matches!(of, ServerEvent::Joined(_)));
    assert_eq!(joined.count(), 1);
    assert_eq!(**rig.player(0).world().resource::<bevy_state::prelude::State<Connection>>(), Connection::Playing);
    assert_eq!(**rig.player(1).world().resource::<bevy_state::prelude::State<Connection>>(), Connection::Offline);
    assert_eq!(rig.player(1).world().resource::<Log>().1.len(), 1);
}

/// Who jumps higher than 50 m is seen by nobody else.
#[derive(Resource, Default)]
struct Cloaked(Vec<NetEntity>);

impl InterestRules for Cloaked {
    fn visibility(&self, _: PlayerId, entity: NetEntity) -> Visibility {
        if self.0.contains(&entity) { Visibility::Hidden } else { Visibility::SHOWN }
    }
}

fn cloak(cubes: Query<(&Networked, &Cube)>, mut cloaked: ResMut<Cloaked>) {
    cloaked.0 = cubes.iter().filter(|(_, cube)| cube.x[1] > 50.0).map(|(of, _)| of.name()).collect();
}

#[test]
fn rules_of_the_game_hide_entities_and_let_in_whom_it_wants() {
    let game = |app: &mut App| {
        let plugin = ForetellPlugin::<Keys>::hz(64).message::<Jump>().message::<Give>().interest::<Cloaked>();
        app.add_plugins(plugin.admit(|_, newcomer| match newcomer.player.get() {
            1 | 2 => Ok(()),
            _ => Err(Reason::from("two are enough")),
        }));
        cubes::with(app);
        app.init_resource::<Cloaked>().init_resource::<Log>();
        app.add_systems(Simulation, (obey, cloak).chain().after(cubes::shoot));
        app.add_observer(|said: On<NotConnected>, mut log: ResMut<Log>| log.1.push(said.why.clone()));
    };
    let mut rig = Rig::new(game, 3, 5, link(20, 0.0));
    rig.run(150);
    let why = &rig.player(2).world().resource::<Log>().1;
    assert!(why.len() == 1 && why[0].contains("two are enough"), "{why:?}");
    rig.player(0).world_mut().trigger(Say::to_server(Jump(100)));
    rig.run(60);
    assert_eq!((cubes(rig.player(0)).len(), cubes(rig.player(1)).len(), cubes(rig.server()).len()), (2, 1, 2));
    rig.player(0).world_mut().trigger(Say::to_server(Jump(-100)));
    rig.run(60);
    assert_eq!(cubes(rig.player(1)).len(), 2);
}

#[test]
fn who_is_removed_is_told_why_and_the_others_play_on_without_them() {
    let mut rig = playing(|app| {
        talkative(app);
        app.init_resource::<Log>();
        app.add_observer(|said: On<NotConnected>, mut log: ResMut<Log>| log.1.push(said.why.clone()));
    });
    let (removed, stays) = (own(rig.player(0)), own(rig.player(1)));
    // A client removes nobody.
    let remove = |player| RemovePlayer { player, reason: Reason::from("away for too long") };
    rig.player(0).world_mut().trigger(remove(stays));
    rig.server().world_mut().trigger(remove(removed));
    rig.run(60);
    let why = &rig.player(0).world().resource::<Log>().1;
    assert!(why.len() == 1 && why[0].contains("away for too long"), "{why:?}");
    assert_eq!(rig.player(1).world().resource::<Log>().1.len(), 0);
    let owners = |app: &mut App| cubes(app).iter().map(|(_, owner, _)| *owner).collect::<Vec<_>>();
    assert_eq!([owners(rig.server()), owners(rig.player(1))], [[stays], [stays]]);
}

/// Nobody foresees what it shows.
#[derive(Component, State, Clone, Copy, Default)]
#[state(predict = never)]
struct Die {
    eyes: u8,
    /// How often it was thrown, which others need not know.
    #[state(audience = owner)]
    throws: u8,
}

fn roll(mut dice: Query<&mut Die, With<Simulated>>, step: StepCommands) {
    dice.iter_mut().for_each(|mut die| die.eyes = u8::from(step.tick().get() % 64 > 31));
}

fn deal(mut step: StepCommands) {
    step.joined().into_iter().for_each(|newcomer| _ = step.spawn(newcomer.player, Die { eyes: 6, throws: 0 }));
}

#[test]
fn what_no_client_foresees_is_not_simulated_there_even_where_it_is_its_own() {
    let game = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Die>();
        app.add_systems(Simulation, (deal, roll).chain().after(cubes::shoot));
    };
    let mut rig = playing(game);
    let mut seen = [false; 7];
    for _ in 0..100 {
        rig.frame();
        let world = rig.player(0).world_mut();
        let mut dice = world.query::<(&Die, Has<Simulated>)>();
        assert_eq!(dice.iter(world).filter(|(_, is_simulated)| *is_simulated).count(), 0);
        assert_eq!(dice.iter(world).count(), 2);
        dice.iter(world).for_each(|(die, _)| seen[usize::from(die.eyes)] = true);
    }
    assert!(seen[0] && seen[1], "they are told");
}

#[test]
fn what_only_its_owner_is_told_of_an_entity_follows_though_the_rest_of_it_stands_still() {
    let game = |app: &mut App| {
        app.add_plugins(ForetellPlugin::<Keys>::hz(64));
        cubes::with(app);
        app.networked::<Die>();
        app.add_systems(Simulation, deal.after(cubes::shoot));
    };
    let mut rig = playing(game);
    for throws in [1, 2] {
        let world = rig.server().world_mut();
        world.query::<&mut Die>().iter_mut(world).for_each(|mut die| die.throws = throws);
        rig.run(60);
        let player = own(rig.player(0));
        let world = rig.player(0).world_mut();
        let mut dice = world.query::<(&Networked, &Die)>();
        let dice = dice.iter(world).map(|(of, die)| (of.owner() == player, die.eyes, die.throws));
        let mut dice: Vec<_> = dice.collect();
        dice.sort_unstable();
        assert_eq!(dice, [(false, 6, 0), (true, 6, throws)], "another's, and the own one");
    }
}
