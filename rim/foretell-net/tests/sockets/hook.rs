//! What a game does between the ticks of a running server.

use crate::common::{Arena, Cube, account, all_agree, join, play, serve_config, token};
use foretell::session::server::ServerEvent;
use foretell::session::{Departure, Refusal};
use foretell::{Entity, Owned, PlayerId, Reason};
use foretell_net::{Closed, Connected, Running, ServerTick, serve_with};
use std::time::Duration;
use tokio::sync::mpsc;

/// Who has joined and left, with the name of their account.
type Diary = mpsc::UnboundedReceiver<(ServerEvent, Option<String>)>;

/// A server whose hook writes a diary, and then does this.
async fn start_with(mut hook: impl FnMut(&mut ServerTick<'_, Arena>) + Send + 'static) -> (Running, Diary) {
    let (diary, entries) = mpsc::unbounded_channel();
    let hook = move |tick: &mut ServerTick<'_, Arena>| {
        for event in tick.events() {
            if let ServerEvent::Joined(player) | ServerEvent::Left { player, .. } = event {
                let account = tick.account(*player).map(|account| account.as_str().to_owned());
                diary.send((*event, account)).expect("it is read");
            }
        }
        hook(tick);
    };
    let address = "127.0.0.1:0".parse().expect("an address");
    (serve_with(address, Arena::default(), serve_config(), hook).await.expect("a server"), entries)
}

async fn next(diary: &mut Diary) -> (ServerEvent, Option<String>) {
    tokio::time::timeout(Duration::from_secs(30), diary.recv()).await.expect("something happens").expect("it runs")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hook_is_told_which_account_joins_and_leaves_as_which_player() {
    let known = move |tick: &mut ServerTick<'_, Arena>| {
        let players: Vec<_> = tick.players().map(|(player, account)| (player, account.clone())).collect();
        for (player, account) in players {
            assert_eq!((tick.account(player), tick.player(&account)), (Some(&account), Some(player)));
        }
        assert_eq!((tick.account(PlayerId::new(99)), tick.player(&account("nobody"))), (None, None));
    };
    let (server, mut diary) = start_with(known).await;
    let url = server.url("127.0.0.1");
    let mut guests = Vec::new();
    for (number, name) in [(1, "alice"), (2, "bob")] {
        guests.push(join(&url, token(name)).await.expect("admitted"));
        play(&mut guests, "both play", |guests| all_agree(guests, 10)).await;
        let player = guests.last().expect("just joined").player.client().player().expect("joined");
        assert_eq!(player, PlayerId::new(number));
        assert_eq!(next(&mut diary).await, (ServerEvent::Joined(player), Some(name.to_owned())));
    }
    guests.remove(0).player.leave().await;
    assert_eq!(
        next(&mut diary).await,
        (
            ServerEvent::Left { player: PlayerId::new(1), why: Departure::GoodBye(Reason::EMPTY) },
            Some("alice".to_owned())
        )
    );
    // Her account is free again, and comes as another player.
    guests.push(join(&url, token("alice")).await.expect("admitted"));
    play(&mut guests, "she plays again", |guests| all_agree(guests, 10)).await;
    let player = guests[1].player.client().player().expect("joined");
    assert_eq!(next(&mut diary).await, (ServerEvent::Joined(player), Some("alice".to_owned())));
    drop(guests);
    assert!(server.status().tick_times.count() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_hook_changes_in_the_world_comes_to_the_clients_and_whom_it_removes_is_gone() {
    // Who goes farther than 1 m is put back once, and who does so again is removed.
    let mut put_back = false;
    let referee = move |tick: &mut ServerTick<'_, Arena>| {
        let Some(mut cube) = tick.world.cubes.iter_mut().next() else { return };
        let (owner, far) = (cube.owner(), cube.x[0] > 1.0);
        match (far, put_back) {
            (true, false) => {
                cube.x[0] = -1.0;
                put_back = true;
            }
            (true, true) => {
                let Some(account) = tick.account(owner).cloned() else { return };
                tick.remove(&account, "enough");
            }
            _ => {}
        }
    };
    let (server, mut diary) = start_with(referee).await;
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    play(&mut guests, "it is put back", |guests| guests[0].x().is_some_and(|x| x < -0.5)).await;
    let removed = Connected::Closed(Closed::Removed);
    play(&mut guests, "it is removed", |guests| guests[0].player.connected() == removed).await;
    assert!(matches!(next(&mut diary).await, (ServerEvent::Joined(_), Some(name)) if name == "alice"));
    assert!(matches!(next(&mut diary).await, (ServerEvent::Left { .. }, Some(name)) if name == "alice"));
}

#[tokio::test(flavor = "multi_thread")]
async fn who_has_more_than_they_can_be_told_is_put_out_with_the_reason_and_counted_once() {
    let mut config = serve_config();
    config.session.timeout = Duration::from_secs(2);
    let heap = |tick: &mut ServerTick<'_, Arena>| {
        let joined = tick.events().iter().find_map(|event| match event {
            ServerEvent::Joined(player) => Some(*player),
            _ => None,
        });
        let Some(owner) = joined else { return };
        for nth in 1..3000_u16 {
            let entity = Entity::new(owner, tick.server.tick(), nth);
            tick.world.cubes.insert(Owned { entity, owner }, Cube { x: [f32::from(nth) * 0.37], speed: [0.0] });
        }
    };
    let address = "127.0.0.1:0".parse().expect("an address");
    let server = serve_with(address, Arena::default(), config, heap).await.expect("a server");
    let mut guests = [join(&server.url("127.0.0.1"), token("alice")).await.expect("admitted")];
    let put_out = Connected::Closed(Closed::TooLarge);
    play(&mut guests, "it is put out", |guests| guests[0].player.connected() == put_out).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let joins = server.status().totals.joins;
    assert_eq!((joins.joined, joins.refused(Refusal::TooLarge), joins.refused_in_all()), (1, 1, 1));
    assert_eq!(server.status().players, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_panics_ends_the_server_with_an_error() {
    let (server, _diary) = start_with(|_| panic!("on purpose")).await;
    let ended = tokio::time::timeout(Duration::from_secs(30), server.ended()).await.expect("it has ended");
    assert!(ended.is_err());
}
