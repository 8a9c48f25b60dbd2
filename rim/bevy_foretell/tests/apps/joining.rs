//! What is said of the player of an app with their join.

use crate::cubes::Keys;
use crate::sessions::link;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::rig::Rig;
use bevy_foretell::{
    ForetellApp, ForetellPlugin, JoinData, LocalServer, NotConnected, Play, Simulation, State, StepCommands,
};
use foretell_sim::netsim::Conditions;

/// By what a player has said with their join.
#[derive(Component, State, Clone, Copy, PartialEq, Default, Debug)]
struct Title {
    initial: u8,
}

fn introduce(mut step: StepCommands) {
    for newcomer in step.joined() {
        step.spawn(newcomer.player, Title { initial: newcomer.data.first().copied().unwrap_or(b'?') });
    }
}

pub fn titled_game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64)).networked::<Title>();
    app.add_systems(Simulation, introduce);
}

pub fn titles(app: &mut App) -> Vec<char> {
    let world = app.world_mut();
    let mut all: Vec<_> = world.query::<&Title>().iter(world).map(|title| char::from(title.initial)).collect();
    all.sort_unstable();
    all
}

#[test]
fn what_is_said_of_the_player_of_an_app_comes_with_their_join_however_it_plays() {
    let mut rig = Rig::hosted(titled_game, 2, 3, link(30, 0.0));
    rig.server().insert_resource(JoinData(b"Hugo".to_vec()));
    rig.player(0).insert_resource(JoinData(b"Anna".to_vec()));
    rig.run(100);
    assert_eq!(titles(rig.server()), ['?', 'A', 'H'], "the third says nothing");
    assert_eq!(titles(rig.player(1)), ['?', 'A', 'H']);
    let plays: [fn() -> Play; 2] =
        [|| Play::Alone, || Play::Local(LocalServer::over(titled_game, Conditions::default()))];
    for play in plays {
        let mut alone = Rig::new(titled_game, 0, 1, Conditions::default());
        let app = alone.server();
        app.insert_resource(JoinData(b"Berta".to_vec())).insert_resource(play());
        alone.run(100);
        assert_eq!(titles(alone.server()), ['B']);
    }
}

#[test]
fn what_is_too_long_to_be_said_with_a_join_is_told_before_a_session_begins() {
    let mut rig = Rig::new(titled_game, 1, 1, Conditions::default());
    for nth in 0..2 {
        let app = if nth == 0 { rig.server() } else { rig.player(0) };
        app.init_resource::<WhyNot>().insert_resource(JoinData(vec![0; 1001]));
        app.add_observer(|of: On<NotConnected>, mut why: ResMut<WhyNot>| why.0.clone_from(&of.event().why));
    }
    rig.run(1);
    let why = &rig.player(0).world().resource::<WhyNot>().0;
    assert!(why.contains("1001") && why.contains("1000"), "{why:?}");
    assert_eq!(rig.server().world().resource::<WhyNot>().0, "", "nobody plays there of whom it could be said");
}

#[derive(Resource, Default)]
struct WhyNot(String);
