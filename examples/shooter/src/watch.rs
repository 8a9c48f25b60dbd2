//! What one bot's client shows, drawn in a terminal.

use crate::game::{Game, distance};
use crate::ground::SIZE_M;
use crate::play::Play;
use crate::state::{Badge, Bolt, Door, Pickup, Soldier, Wanderer};
use foretell::{Instant, View};
use foretell_sim::harness::Simulation;
use std::time::Duration;

/// Half of what is seen, in metres, and how large a letter is.
const HALF_M: [f32; 2] = [40.0, 20.0];
const LETTER_M: [f32; 2] = [1.0, 2.0];

fn letter(view: &View<'_>) -> Option<(char, [f32; 2])> {
    let of = |letter, at| Some((letter, at));
    let soldier = view.get::<Soldier>().and_then(|one| of('A', one.at));
    let wanderer = || view.get::<Wanderer>().and_then(|one| of('w', one.at));
    let bolt = || view.get::<Bolt>().and_then(|one| of('*', one.at));
    let pickup = || view.get::<Pickup>().and_then(|one| of('+', one.at));
    soldier
        .or_else(wanderer)
        .or_else(bolt)
        .or_else(pickup)
        .or_else(|| view.get::<Door>().and_then(|one| of('D', one.at)))
}

/// The picture of the bot of this index, and a line of what it knows; none before it has its map.
fn picture(play: &Play, nth: usize) -> Option<String> {
    let seat = &play.seats[nth];
    let (ground, me) = (seat.ground.get()?, seat.seen.me?);
    let name = seat.views.iter().find_map(|view| {
        let is_mine = view.get::<Soldier>().is_some_and(|one| distance(one.at, me.at) < 0.01);
        seat.views.of(view.entity).find_map(|of| of.get::<Badge>()).filter(|_| is_mine)
    });
    let name = name.map_or_else(String::new, |badge| badge.name.to_string());
    let mut text = format!("\x1b[H{name}: health {}, ammunition {}, {:?}\x1b[K\n", me.health, me.ammunition, me.weapon);
    for row in 0..(2.0 * HALF_M[1] / LETTER_M[1]) as i32 {
        for column in 0..(2.0 * HALF_M[0] / LETTER_M[0]) as i32 {
            let x = me.at[0] - HALF_M[0] + column as f32 * LETTER_M[0];
            let y = me.at[1] + HALF_M[1] - row as f32 * LETTER_M[1];
            let is_here =
                |at: [f32; 2]| (at[0] - x).abs() <= LETTER_M[0] / 2.0 && (at[1] - y).abs() <= LETTER_M[1] / 2.0;
            let found = seat.views.iter().filter_map(|view| letter(&view)).find(|(_, at)| is_here(*at));
            let is_inside = (0.0..SIZE_M).contains(&x) && (0.0..SIZE_M).contains(&y);
            let ground = if is_inside && ground.is_free([x, y], 0) { ' ' } else { '#' };
            text.push(found.map_or(ground, |found| found.0));
        }
        text += "\x1b[K\n";
    }
    Some(text)
}

/// Plays on in real time, and draws what the first bot sees ten times in a second.
pub fn watch(mut play: Play, mut session: Simulation<Game>, seconds: u32) {
    print!("\x1b[2J");
    for tenth in 1..=10 * u64::from(seconds) {
        session.run_until(Instant::from_micros(100_000 * tenth), &mut play);
        if let Some(picture) = picture(&play, 0) {
            println!("{picture}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
