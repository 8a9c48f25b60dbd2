//! Apps over sockets of this machine, and an app with a server in itself.

use crate::cubes::{self, Cube, cubes};
use crate::held::{self, Crate};
use crate::joining;
use bevy_app::App;
use bevy_ecs::prelude::*;
use bevy_foretell::{
    Claim, Connect, Connection, JoinData, Leave, LocalPlayer, LocalServer, Networked, NotConnected, Play, Serve,
    Serving,
};
use bevy_state::prelude::State;
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::components::Transform;
use core::time::Duration;
use foretell_net::{Access, Account, Token, UnixTime};

fn app(play: Play) -> App {
    app_of(cubes::game, play)
}

fn app_of(game: fn(&mut App), play: Play) -> App {
    let mut app = App::new();
    app.add_plugins(TimePlugin);
    game(&mut app);
    app.insert_resource(play);
    app
}

fn serve() -> Serve {
    Serve::at("127.0.0.1:0".parse().expect("an address"), Access::insecure_development())
}

fn connect(url: &str, name: &str) -> Play {
    let account = Account::new(name).expect("a name");
    Play::Connect(Connect::to(url, Token::insecure(&account, UnixTime::now())))
}

fn connection(app: &App) -> Connection {
    **app.world().resource::<State<Connection>>()
}

/// Updates all of them, each 4 ms, until it is so.
fn until(apps: &mut [App], what: &str, mut is_so: impl FnMut(&mut [App]) -> bool) {
    for _ in 0..5_000 {
        apps.iter_mut().for_each(App::update);
        if is_so(apps) {
            return;
        }
        std::thread::sleep(Duration::from_millis(4));
    }
    panic!("{what}, in 20 seconds");
}

fn moved(app: &mut App) -> usize {
    cubes(app).iter().filter(|(.., cube)| cube.x[0] != 0.0).count()
}

#[test]
fn a_server_and_players_of_it_meet_over_sockets_and_one_leaves() {
    let mut server = app(Play::Serve(serve()));
    server.update();
    let url = server.world().resource::<Serving>().url("127.0.0.1");
    let mut apps = [server, app(connect(&url, "ada")), app(connect(&url, "grace"))];
    until(&mut apps, "everybody sees two cubes that move", |apps| apps.iter_mut().all(|app| moved(app) == 2));
    assert_eq!(connection(&apps[1]), Connection::Playing);
    assert_eq!(apps[0].world().resource::<LocalPlayer>().0, None);
    apps[2].insert_resource(Leave);
    until(&mut apps, "one cube is left", |apps| cubes(&mut apps[0]).len() == 1 && cubes(&mut apps[1]).len() == 1);
    assert_eq!(connection(&apps[2]), Connection::Offline);
}

#[test]
fn who_serves_no_more_has_no_address() {
    let mut server = app(Play::Serve(serve()));
    server.update();
    assert!(server.world().contains_resource::<Serving>());
    server.insert_resource(Play::Alone);
    server.update();
    assert!(!server.world().contains_resource::<Serving>());
}

#[test]
fn a_host_plays_with_a_guest_over_sockets() {
    let mut host = app(Play::Host(serve()));
    host.update();
    let url = host.world().resource::<Serving>().url("127.0.0.1");
    let mut apps = [host, app(connect(&url, "ada"))];
    until(&mut apps, "both see two cubes that move", |apps| apps.iter_mut().all(|app| moved(app) == 2));
    assert!(apps[0].world().resource::<LocalPlayer>().0.is_some());
}

#[test]
fn what_is_said_of_a_host_and_of_a_guest_comes_with_them_over_sockets() {
    let mut host = app_of(joining::titled_game, Play::Host(serve()));
    host.insert_resource(JoinData(b"Hugo".to_vec())).update();
    let url = host.world().resource::<Serving>().url("127.0.0.1");
    let mut guest = app_of(joining::titled_game, connect(&url, "ada"));
    guest.insert_resource(JoinData(b"Anna".to_vec()));
    let mut apps = [host, guest];
    until(&mut apps, "both know both", |apps| apps.iter_mut().all(|app| joining::titles(app) == ['A', 'H']));
}

#[test]
fn what_a_player_holds_moves_on_a_server_over_sockets() {
    let mut server = app_of(held::game, Play::Serve(serve()));
    server.update();
    let url = server.world().resource::<Serving>().url("127.0.0.1");
    let mut apps = [server, app_of(held::game, connect(&url, "ada"))];
    let is_there = |app: &mut App| app.world_mut().query::<&Crate>().iter(app.world()).count() == 1;
    until(&mut apps, "the crate is there", |apps| is_there(&mut apps[1]));
    held::take(&mut apps[1], Claim::Ownership);
    until(&mut apps, "it is carried", |apps| held::of::<Crate>(&mut apps[0]).1.x[0] > 0.5);
}

#[derive(Resource, Default)]
struct Why(Vec<String>);

#[test]
fn who_is_not_answered_is_told_why() {
    let mut app = app(connect("no address", "ada"));
    app.init_resource::<Why>();
    app.add_observer(|said: On<NotConnected>, mut why: ResMut<Why>| why.0.push(said.why.clone()));
    let mut apps = [app];
    until(&mut apps, "it is told", |apps| !apps[0].world().resource::<Why>().0.is_empty());
    apps[0].update();
    assert_eq!(connection(&apps[0]), Connection::Offline);
}

#[test]
fn who_plays_alone_over_a_plan_of_the_lab_is_predicted_and_shown() {
    assert!(LocalServer::with_faults(cubes::game, "no such plan").is_none());
    let local = LocalServer::with_faults(cubes::game, "wifi").expect("there is such a plan");
    let mut app = app(Play::Local(local));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(16_667)));
    (0..400).for_each(|_| app.update());
    assert_eq!(connection(&app), Connection::Playing);
    let world = app.world_mut();
    let (cube, transform, _) = world.query::<(&Cube, &Transform, &Networked)>().single(world).expect("the own cube");
    assert!(cube.x[0] != 0.0 && (transform.translation.x - cube.x[0]).abs() < 0.2);
}
