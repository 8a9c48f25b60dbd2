//! Tanks that shoot and pick up coins, in a window: `cargo run` plays against drones over a simulated network, which the number keys
//! change; `cargo run -- server` serves, `-- host` serves and plays, `-- ADDRESS NAME` joins. Arrows or WASD drive, the space bar shoots.
//! In a browser the page's own address says so: `?NAME#ADDRESS` joins.

use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy_foretell::*;
use std::collections::VecDeque;

/// Half the width of the ground, in metres.
const WALL_M: f32 = 13.0;
/// Networks of the lab's, by number key.
const NETWORKS: [&str; 5] = ["lan", "wifi", "4g", "transpacific", "terrible"];
const BANG: EffectKind = EffectKind(1);

#[derive(Input, Clone, Copy, PartialEq, Default)]
struct Keys {
    up: bool,
    down: bool,
    left: bool,
    right: bool,
    fire: bool,
}

/// A player's, or a drone of the server's.
#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
#[require(Transform)]
struct Tank {
    #[state(position, precision = 0.001)]
    at: [f32; 3],
    #[state(velocity, precision = 0.01)]
    velocity: [f32; 3],
    /// Whither it shoots: where it has driven last.
    aim: [i8; 2],
    health: u8,
    coins: u16,
    /// How many ticks it takes until it may shoot again. It goes by inputs, of which one may come late: so its player is told.
    #[state(audience = owner)]
    reload: u8,
}

#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
#[require(Transform)]
struct Shot {
    #[state(position, precision = 0.001)]
    at: [f32; 3],
    #[state(velocity, precision = 0.01)]
    velocity: [f32; 3],
    ticks_left: u8,
}

/// Gone when somebody has it.
#[derive(Component, State, Clone, Copy, PartialEq, Debug)]
#[require(Transform)]
struct Coin {
    #[state(position, precision = 0.001)]
    at: [f32; 3],
}

impl Tank {
    fn at(x: f32, y: f32) -> Tank {
        Tank { at: [x, y, 0.0], velocity: [0.0; 3], aim: [0, 1], health: 5, coins: 0, reload: 0 }
    }

    fn drive(&mut self, way: [i8; 2], seconds: f32) {
        if way != [0, 0] {
            self.aim = way;
        }
        for (axis, way) in way.into_iter().enumerate() {
            let speed = 0.93 * self.velocity[axis] + 40.0 * f32::from(way) * seconds;
            self.velocity[axis] = if speed.abs() < 0.02 { 0.0 } else { speed };
            self.at[axis] = (self.at[axis] + self.velocity[axis] * seconds).clamp(-WALL_M, WALL_M);
        }
    }
}

fn is_near(one: [f32; 3], other: [f32; 3], metres: f32) -> bool {
    (0..2).map(|axis| (one[axis] - other[axis]).powi(2)).sum::<f32>() < metres * metres
}

/// The game without its window: what the server in this program runs, too.
fn game(app: &mut App) {
    app.add_plugins(ForetellPlugin::<Keys>::hz(64));
    app.networked::<Tank>().networked::<Shot>().networked::<Coin>();
    app.add_systems(Simulation, (take_seats, drive, wander, bump, shoot, fly, collect).chain());
}

fn take_seats(mut step: StepCommands, all: Query<(Entity, &Networked)>) {
    step.despawn_left(&all);
    for newcomer in step.joined() {
        step.spawn(newcomer.player, Tank::at(f32::from(newcomer.player.get() % 7) * 3.0 - 9.0, -6.0));
    }
    if step.is_authority() && all.is_empty() {
        for nth in 0..5_u8 {
            step.spawn(PlayerId::SERVER, Tank::at(f32::from(nth) * 4.0 - 8.0, 5.0));
        }
    }
}

fn drive(mut tanks: Query<(&mut Tank, &Driven<Keys>)>, step: StepCommands) {
    for (mut tank, keys) in &mut tanks {
        let way = |more: bool, less: bool| i8::from(more) - i8::from(less);
        tank.drive([way(keys.right, keys.left), way(keys.up, keys.down)], step.seconds());
    }
}

/// The server's drones go another way each second: chance is a function of the tick, so that a step can be made again.
fn wander(mut tanks: Query<(&Networked, &mut Tank), With<Simulated>>, step: StepCommands) {
    for (of, mut tank) in tanks.iter_mut().filter(|(of, _)| of.owner() == PlayerId::SERVER) {
        let seed = (u64::from(step.tick().get() / 64) << 32 ^ of.name().bits()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let chance = (seed ^ seed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 60;
        let way = |bits: u64| [0, 1, -1, 0][(bits & 3) as usize];
        tank.drive([way(chance), way(chance >> 2)], step.seconds());
    }
}

/// Tanks push each other apart. A client's own is pushed by others where they are shown, which is not where the server has them:
/// `touch` says so, and is told as the cause of what is corrected.
fn bump(mut step: StepCommands, mut tanks: Query<(&Networked, &mut Tank, Has<Simulated>)>) {
    let all: Vec<_> = tanks.iter().map(|(of, tank, _)| (*of, tank.at)).collect();
    for (of, mut tank, _) in tanks.iter_mut().sort::<&Networked>().filter(|(_, _, is_simulated)| *is_simulated) {
        let own = tank.at;
        for (other, at) in all.iter().filter(|(other, at)| other != of && is_near(*at, own, 1.2)) {
            for axis in 0..2 {
                tank.velocity[axis] += 0.8 * (own[axis] - at[axis]);
            }
            step.touch(of, other);
        }
    }
}

fn shoot(mut step: StepCommands, mut tanks: Query<(&Networked, &mut Tank, &Driven<Keys>)>) {
    for (of, mut tank, keys) in tanks.iter_mut().sort::<&Networked>() {
        if tank.reload > 0 {
            tank.reload -= 1;
        } else if keys.fire {
            tank.reload = 15;
            let velocity = [f32::from(tank.aim[0]) * 14.0, f32::from(tank.aim[1]) * 14.0, 0.0];
            step.spawn(of.owner(), Shot { at: tank.at, velocity, ticks_left: 80 });
            step.effect(BANG, of, Some(tank.at));
        }
    }
}

/// Shots fly where their player is simulated; what they have hit the server says.
fn fly(
    mut step: StepCommands,
    mut shots: Query<(Entity, &Networked, &mut Shot), With<Simulated>>,
    mut tanks: Query<(&Networked, &mut Tank)>,
) {
    for (id, of, mut shot) in shots.iter_mut().sort::<&Networked>() {
        for axis in 0..2 {
            shot.at[axis] += shot.velocity[axis] * step.seconds();
        }
        shot.ticks_left -= 1;
        let mut tanks = tanks.iter_mut().sort::<&Networked>().filter(|(tank, _)| tank.owner() != of.owner());
        if let Some((victim, mut tank)) = tanks.find(|(_, tank)| is_near(tank.at, shot.at, 0.8)) {
            step.touch(of, victim);
            if step.is_authority() {
                tank.health = if tank.health == 1 { 5 } else { tank.health - 1 };
                shot.ticks_left = 0;
            }
        }
        if shot.ticks_left == 0 {
            step.despawn(id);
        }
    }
}

/// Who comes to a coin has it at once, though it is the server's; that lays out others.
fn collect(
    mut step: StepCommands,
    mut tanks: Query<(&Networked, &mut Tank), With<Simulated>>,
    coins: Query<(Entity, &Networked, &Coin)>,
) {
    let tick = step.tick().get();
    for (by, mut tank) in tanks.iter_mut().sort::<&Networked>() {
        for (id, of, coin) in &coins {
            if is_near(coin.at, tank.at, 0.9) && step.change(by, of) {
                step.despawn(id);
                tank.coins += 1;
            }
        }
    }
    if step.is_authority() && tick.is_multiple_of(40) && coins.iter().count() < 12 {
        let place = |way: u32| (tick / 40 * way % 23) as f32 - 11.0;
        step.spawn(PlayerId::SERVER, Coin { at: [place(7), place(11), 0.0] });
    }
}

/// What has been corrected lately, the newest first, with when.
#[derive(Resource, Default)]
struct Corrections(VecDeque<(f32, String)>);

/// The name of the network that is simulated.
#[derive(Resource)]
struct Network(&'static str);

/// Why nothing is played.
#[derive(Resource, Default)]
struct Failure(String);

/// The barrel of a tank, a child that only this end has.
#[derive(Component)]
struct Barrel;

/// A text on the screen.
#[derive(Component)]
enum Shows {
    Network,
    Corrections,
}

/// A flash of a shot, until then.
#[derive(Component)]
struct Flash(f32);

fn locally(network: &str) -> Play {
    Play::Local(LocalServer::with_faults(game, network).expect("a network of the lab's"))
}

fn main() {
    let (mut app, play) = (App::new(), Play::as_told().unwrap_or_else(|| locally(NETWORKS[2])));
    match play {
        #[cfg(not(target_arch = "wasm32"))]
        Play::Serve(_) => serve_without_a_window(&mut app),
        Play::Local(_) => show(&mut app, NETWORKS[2]),
        _ => show(&mut app, ""),
    }
    app.insert_resource(play).run();
}

#[cfg(not(target_arch = "wasm32"))]
fn serve_without_a_window(app: &mut App) {
    let frames = bevy::app::ScheduleRunnerPlugin::run_loop(std::time::Duration::from_millis(4));
    app.add_plugins((MinimalPlugins.set(frames), bevy::app::TerminalCtrlCHandlerPlugin));
    game(app);
    app.add_observer(|of: On<ServerSaid>| println!("{:?}", of.0));
}

/// A window onto the game, which says what network is simulated.
fn show(app: &mut App, network: &'static str) {
    let window = Window {
        title: "Foretell in Bevy".into(),
        resolution: (960, 720).into(),
        canvas: Some("#arena".into()),
        fit_canvas_to_parent: true,
        ..default()
    };
    app.add_plugins(DefaultPlugins.set(WindowPlugin { primary_window: Some(window), ..default() }));
    game(app);
    app.insert_resource(ClearColor(Color::srgb(0.07, 0.08, 0.1)))
        .init_resource::<Corrections>()
        .init_resource::<Failure>()
        .insert_resource(Network(network));
    app.add_systems(Startup, set_up).add_systems(ReadInput, press);
    app.add_systems(Update, (choose_network, (dress, color, aim).chain(), fade, tell));
    app.add_observer(flash).add_observer(note_correction).add_observer(note_failure);
}

fn set_up(mut commands: Commands) {
    let scaling_mode = ScalingMode::FixedVertical { viewport_height: 2.0 * WALL_M + 4.0 };
    commands.spawn((
        Camera2d,
        // The ground is on the right, and texts are beside it.
        Transform::from_xyz(-5.5, 0.0, 0.0),
        Projection::Orthographic(OrthographicProjection { scaling_mode, ..OrthographicProjection::default_2d() }),
    ));
    let ground = Sprite::from_color(Color::srgb(0.11, 0.13, 0.16), Vec2::splat(2.0 * WALL_M + 2.2));
    commands.spawn((ground, Transform::from_xyz(0.0, 0.0, -10.0)));
    for (shows, top, bottom) in [(Shows::Network, px(10), auto()), (Shows::Corrections, auto(), px(10))] {
        let node =
            Node { position_type: PositionType::Absolute, left: px(12), top, bottom, width: px(258), ..default() };
        commands.spawn((shows, Text::default(), TextFont::from_font_size(14.0), node));
    }
}

fn press(keys: Res<ButtonInput<KeyCode>>, mut pressed: ResMut<Pressed<Keys>>) {
    **pressed = Keys {
        up: keys.any_pressed([KeyCode::ArrowUp, KeyCode::KeyW]),
        down: keys.any_pressed([KeyCode::ArrowDown, KeyCode::KeyS]),
        left: keys.any_pressed([KeyCode::ArrowLeft, KeyCode::KeyA]),
        right: keys.any_pressed([KeyCode::ArrowRight, KeyCode::KeyD]),
        fire: keys.pressed(KeyCode::Space),
    };
}

/// Another network begins another session.
fn choose_network(keys: Res<ButtonInput<KeyCode>>, mut commands: Commands, mut network: ResMut<Network>) {
    if network.0.is_empty() {
        return;
    }
    let digits = [KeyCode::Digit1, KeyCode::Digit2, KeyCode::Digit3, KeyCode::Digit4, KeyCode::Digit5];
    let pressed = digits.iter().zip(NETWORKS).find(|(key, _)| keys.just_pressed(**key));
    if let Some((_, name)) = pressed {
        network.0 = name;
        commands.insert_resource(locally(name));
    }
}

/// What it looks like, for whatever has come.
fn dress(
    mut commands: Commands,
    tanks: Query<Entity, Added<Tank>>,
    shots: Query<Entity, Added<Shot>>,
    coins: Query<Entity, Added<Coin>>,
) {
    let looks = |color: Color, size: Vec2| Sprite::from_color(color, size);
    let barrel = || (Barrel, looks(Color::srgb(0.9, 0.9, 0.9), Vec2::new(0.3, 0.9)), Transform::default());
    for id in tanks {
        commands.entity(id).insert(looks(Color::WHITE, Vec2::splat(1.2))).with_child(barrel());
    }
    shots.iter().for_each(|id| _ = commands.entity(id).insert(looks(Color::srgb(1.0, 0.9, 0.6), Vec2::splat(0.35))));
    coins.iter().for_each(|id| _ = commands.entity(id).insert(looks(Color::srgb(0.95, 0.8, 0.2), Vec2::splat(0.5))));
}

/// Barrels point whither their tanks shoot.
fn aim(tanks: Query<&Tank>, mut barrels: Query<(&ChildOf, &mut Transform), With<Barrel>>) {
    for (of, mut barrel) in &mut barrels {
        let Ok(Tank { aim: [x, y], .. }) = tanks.get(of.parent()) else { continue };
        let way = Vec2::new(f32::from(*x), f32::from(*y)).normalize_or(Vec2::Y);
        let turn = Quat::from_rotation_z(-way.angle_to(Vec2::Y));
        barrel.set_if_neq(Transform::from_translation((way * 0.6).extend(1.0)).with_rotation(turn));
    }
}

fn color(own: Res<LocalPlayer>, mut tanks: Query<(&Networked, &Tank, &mut Sprite)>) {
    for (of, tank, mut sprite) in &mut tanks {
        let hue = match of.owner() {
            PlayerId::SERVER => 25.0,
            owner if Some(owner) == own.0 => 150.0,
            _ => 210.0,
        };
        sprite.color = Color::hsl(hue, 0.7, 0.2 + 0.08 * f32::from(tank.health));
    }
}

fn flash(bang: On<EffectHappened>, mut commands: Commands, time: Res<Time>) {
    let Some(at) = bang.effect.at else { return };
    let sprite = Sprite::from_color(Color::srgb(1.0, 0.9, 0.5), Vec2::splat(1.7));
    commands.spawn((Flash(time.elapsed_secs() + 0.06), sprite, Transform::from_xyz(at[0], at[1], -1.0)));
}

fn fade(flashes: Query<(Entity, &Flash)>, mut commands: Commands, time: Res<Time>) {
    let over = flashes.iter().filter(|(_, flash)| flash.0 < time.elapsed_secs());
    over.for_each(|(id, _)| commands.entity(id).despawn());
}

fn note_correction(of: On<Corrected>, mut corrections: ResMut<Corrections>, time: Res<Time>) {
    let correction = of.correction;
    let off = correction.misprediction_m;
    let what = if off > 0.0 { format!("{off:.2} m off") } else { "corrected".to_owned() };
    let why: Vec<_> = correction.causes.names().collect();
    corrections.0.push_front((time.elapsed_secs(), format!("{what}: {}", why.join(", "))));
    corrections.0.truncate(6);
}

fn note_failure(of: On<NotConnected>, mut failure: ResMut<Failure>) {
    failure.0.clone_from(&of.why);
}

fn tell(
    session: (Res<Stats>, Res<bevy::state::state::State<Connection>>, Res<LocalPlayer>, Res<Network>),
    tanks: Query<(&Networked, &Tank)>,
    (corrections, failure): (Res<Corrections>, Res<Failure>),
    time: Res<Time>,
    mut texts: Query<(&Shows, &mut Text)>,
) {
    let (stats, connection, own, network) = session;
    let own = tanks.iter().find(|(of, _)| Some(of.owner()) == own.0).map(|(_, tank)| tank);
    let player = own.map(|tank| format!("health {}   coins {}", tank.health, tank.coins)).unwrap_or_default();
    let keys = if network.0.is_empty() {
        String::new()
    } else {
        format!("WASD drive, space shoots\n1-5: {}", NETWORKS.join(", "))
    };
    for (shows, mut text) in &mut texts {
        text.0 = match (shows, stats.0) {
            (Shows::Network, None) => {
                let why = match connection.get() {
                    Connection::Playing => "nothing is predicted here",
                    Connection::Offline => &failure.0,
                    _ => "",
                };
                format!("{:?}\n{player}\n\n{why}", connection.get())
            }
            (Shows::Network, Some(stats)) => format!(
                "{:?}   {}\n{player}\n\nround trip {} ms\nothers {:.0} ms behind\n{} ticks simulated again\n\n{keys}",
                connection.get(),
                network.0,
                stats.network.rtt.as_millis(),
                stats.playout.delay_ticks * 1000.0 / 64.0,
                stats.prediction.resimulated,
            ),
            (Shows::Corrections, _) => {
                let new = corrections.0.iter().filter(|(at, _)| time.elapsed_secs() - at < 6.0);
                new.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n\n")
            }
        };
    }
}
