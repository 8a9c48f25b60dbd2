//! What the bots press, and when the server pushes bodies: functions of the seed and the tick alone, so that the same
//! walk is played over every network of a grid.

use super::session::{Keys, Session};
use foretell::Tick;
use foretell_arena::Buttons;
use foretell_sim::netsim::Pcg32;

/// The recorded keys; its head says what the lines mean.
const WALK: &str = include_str!("../../../plans/walk.keys");
const JUMP: u8 = 16;
/// The stream of random numbers for the server's pushes; players have the lower ones.
const PUSHES: u64 = 1 << 32;

/// The keys of all players.
#[derive(Clone, Debug)]
pub struct Bots {
    /// Bits of buttons by tick, over and over; and by how many ticks a player is ahead.
    scripts: Vec<(Vec<u8>, usize)>,
}

impl Bots {
    /// The bots of a session.
    pub fn new(session: &Session, seed: u64) -> Bots {
        let walk = recorded(WALK, f64::from(session.tick_rate)).expect("a test reads the recording");
        let script = |player: usize| match session.input {
            // Beginnings that don't coincide: an odd number of ticks apart.
            Keys::Recorded => (walk.clone(), player * 997),
            Keys::Scripted => {
                let rate = u32::from(session.tick_rate);
                (scripted(rate, (session.seconds + 60) * rate, Pcg32::new(seed, player as u64)), 0)
            }
        };
        Bots { scripts: (0..session.players).map(script).collect() }
    }

    /// What a player holds in a tick.
    pub fn buttons(&self, player: usize, tick: Tick) -> Buttons {
        Buttons::from_bits(self.bits(player, tick))
    }

    /// The same as bits.
    pub fn bits(&self, player: usize, tick: Tick) -> u8 {
        let (script, ahead) = &self.scripts[player];
        script[(tick.get() as usize + ahead) % script.len()]
    }
}

/// Stretches of an eighth to five eighths of a second in one of eight directions; in every fourth a jump. Never idle, so
/// that others always have something to show. At least so many ticks of them, at a rate in Hz.
pub fn scripted(rate: u32, ticks: u32, mut random: Pcg32) -> Vec<u8> {
    const DIRECTIONS: [u8; 8] = [1, 1 | 8, 8, 8 | 2, 2, 2 | 4, 4, 4 | 1];
    let mut script = Vec::with_capacity(ticks as usize);
    while script.len() < ticks as usize {
        let direction = DIRECTIONS[(random.next_u32() % 8) as usize];
        let jumps = random.next_u32().is_multiple_of(4);
        let length = rate / 8 + random.next_u32() % (rate / 2).max(1);
        let jump_ticks = if jumps { (rate / 10).max(1) } else { 0 };
        script.extend((0..length.max(1)).map(|n| if n < jump_ticks { direction | JUMP } else { direction }));
    }
    script
}

/// Reads a recording: on each line for how many 64ths of a second which keys are held. Returns bits by tick.
fn recorded(text: &str, tick_rate: f64) -> Result<Vec<u8>, String> {
    let mut script = Vec::new();
    let mut end = 0.0;
    for (line, words) in text.lines().enumerate() {
        let words = words.split('#').next().unwrap_or_default().trim();
        if words.is_empty() {
            continue;
        }
        let broken = || format!("plans/walk.keys, line {}: not a number and keys of U D L R J or .", line + 1);
        let (ticks, keys) = words.split_once(' ').ok_or_else(broken)?;
        let ticks: u16 = ticks.parse().map_err(|_| broken())?;
        let bits = keys.trim().chars().try_fold(0, |bits, key| Some(bits | bit(key)?)).ok_or_else(broken)?;
        end += f64::from(ticks) * tick_rate / 64.0;
        while (script.len() as f64) < end {
            script.push(bits);
        }
    }
    if script.is_empty() { Err("plans/walk.keys is empty".to_owned()) } else { Ok(script) }
}

fn bit(key: char) -> Option<u8> {
    match key {
        '.' => Some(0),
        'U' => Some(1),
        'D' => Some(2),
        'L' => Some(4),
        'R' => Some(8),
        'J' => Some(JUMP),
        _ => None,
    }
}

/// One push by the server.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Push {
    /// Just before which tick.
    pub tick: Tick,
    /// Whose body.
    pub player: usize,
    /// What is added to its velocity, in m/s.
    pub velocity: [f32; 3],
}

/// The server's pushes, ascending by tick: each player in turn, evenly spaced but for a quarter to either side, by 3 m/s
/// along an axis.
pub fn pushes(session: &Session, seed: u64) -> Vec<Push> {
    const SPEED_MPS: f32 = 3.0;
    const TO: [[f32; 3]; 4] =
        [[SPEED_MPS, 0.0, 0.0], [-SPEED_MPS, 0.0, 0.0], [0.0, 0.0, SPEED_MPS], [0.0, 0.0, -SPEED_MPS]];
    if session.impulses_per_min <= 0.0 {
        return Vec::new();
    }
    let mut random = Pcg32::new(seed, PUSHES);
    let every_s = 60.0 / session.impulses_per_min;
    let all_s = f64::from(session.seconds + 60);
    let mut pushes = Vec::new();
    let mut nth = 0_u32;
    while f64::from(nth) * every_s < all_s {
        let shift = f64::from(random.next_u32()) / f64::from(u32::MAX) / 2.0 - 0.25;
        let at_s = (f64::from(nth) + 0.5 + shift) * every_s;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 3660 s of 240 ticks")]
        let tick = Tick::new((at_s * f64::from(session.tick_rate)) as u32);
        let velocity = TO[(random.next_u32() % 4) as usize];
        pushes.push(Push { tick, player: nth as usize % session.players, velocity });
        nth += 1;
    }
    pushes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_is_read_at_every_tick_rate_and_lasts_as_long() {
        let at_64 = recorded(WALK, 64.0).expect("good");
        let at_30 = recorded(WALK, 30.0).expect("good");
        assert!((at_64.len() as f64 / 64.0 - at_30.len() as f64 / 30.0).abs() < 0.05);
        assert!(at_64.len() > 20 * 64, "at least 20 s");
        assert_eq!(recorded("2 UR\n1 .", 64.0), Ok(vec![9, 9, 0]));
        assert!(recorded("2 UX", 64.0).is_err_and(|sentence| sentence.contains("line 1")));
    }

    #[test]
    fn a_script_is_a_function_of_its_seed_and_every_player_has_another() {
        let session = Session::default();
        let keys = |seed, player| {
            let bots = Bots::new(&session, seed);
            (0..1000).map(|tick| bots.buttons(player, Tick::new(tick))).collect::<Vec<_>>()
        };
        assert_eq!(keys(1, 0), keys(1, 0));
        assert_ne!(keys(1, 0), keys(2, 0));
        assert_ne!(keys(1, 0), keys(1, 1));
    }

    #[test]
    fn pushes_are_as_many_as_asked_for() {
        let session = Session { impulses_per_min: 6.0, seconds: 60, ..Session::default() };
        let pushes = pushes(&session, 1);
        assert_eq!(pushes.len(), 12);
        assert!(pushes.is_sorted_by_key(|push| push.tick));
        assert_eq!(pushes[1].player, 1);
    }
}
