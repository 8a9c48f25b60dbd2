//! A player who hosts, over real sockets: they play at once, others join, and they are told when it ends.

use crate::common::{Arena, Buttons, account, all_agree, join, rules, serve_config, token};
use foretell::session::client::Show;
use foretell::session::server::ServerEvent;
use foretell::{ClientState, ServerConfig, Views};
use foretell_net::{Closed, Connected, Hosting, alone, host};
use std::time::{Duration, Instant};

fn x(hosting: &Hosting<Arena>, world: &Arena) -> f32 {
    world.cubes.owned_by(hosting.player().expect("they play")).next().expect("their own").x[0]
}

#[tokio::test(flavor = "multi_thread")]
async fn who_hosts_plays_at_once_others_join_and_all_agree() {
    let address = "127.0.0.1:0".parse().expect("an address");
    let mut hosting: Hosting<Arena> = host(address, serve_config(), Show::Between).expect("a server");
    let (mut world, mut views) = (Arena::default(), Views::new());
    let mut keys = |_tick| Buttons { left: true, right: false };
    assert_eq!(hosting.update(&mut world, &mut keys).state, ClientState::Playing);
    let url = hosting.url("127.0.0.1").expect("others can come");
    let joining = tokio::spawn(async move { join(&url, token("alice")).await });
    let began = Instant::now();
    while !joining.is_finished() {
        hosting.update(&mut world, &mut keys);
        assert!(began.elapsed() < Duration::from_secs(40));
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    let mut guests = [joining.await.expect("no panic").expect("she joins")];
    let mut joined = Vec::new();
    while !all_agree(&mut guests, 100) {
        hosting.update(&mut world, &mut keys);
        joined.extend(hosting.host().server().frame().events.iter().filter_map(|event| match event {
            ServerEvent::Joined(player) => hosting.gateway()?.account(*player).cloned(),
            _ => None,
        }));
        assert!(began.elapsed() < Duration::from_secs(40));
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    hosting.present(&mut views);
    assert_eq!((views.len(), joined), (2, vec![account("alice")]));
    assert!(x(&hosting, &world) < -1.0, "they push to the left");
    let sees_both = guests[0].world.cubes.iter().count();
    assert_eq!(sees_both, 2);
    let closing = tokio::spawn(hosting.close());
    while guests[0].player.connected() == Connected::Yes {
        guests[0].frame();
        assert!(began.elapsed() < Duration::from_secs(60));
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    assert_eq!(guests[0].player.connected(), Connected::Closed(Closed::ServerEnded));
    closing.await.expect("no panic");
}

#[tokio::test]
async fn who_plays_alone_needs_no_network() {
    let mut hosting: Hosting<Arena> = alone(rules(), ServerConfig::default(), Show::Between);
    let (mut world, mut views) = (Arena::default(), Views::new());
    for _ in 0..40 {
        let frame = hosting.update(&mut world, &mut |_| Buttons { left: false, right: true });
        assert_eq!((frame.state, frame.corrections.len()), (ClientState::Playing, 0));
        tokio::time::sleep(Duration::from_millis(8)).await;
    }
    hosting.present(&mut views);
    assert_eq!((views.len(), hosting.url("127.0.0.1")), (1, None));
    assert!(x(&hosting, &world) > 0.2);
    hosting.close().await;
}
