//! How late something is drawn in truth, whatever moment a library says that it shows.

use crate::past::Past;
use crate::peer::At;
use crate::scene::TICK_US;

/// Nobody is shown later, in ms.
const LATEST_MS: u32 = 1_200;
/// The step of the first search in ms; the second one goes by 1 ms.
const STRIDE_MS: usize = 10;
/// Of how many frames one is looked at while a delay is sought.
const SAMPLED: usize = 7;

/// The one delay by which what was drawn fits the server's past best, on average.
pub struct Fit {
    /// How long.
    pub delay_ms: f64,
    /// How far each frame is off then, in metres.
    pub errors: Vec<f64>,
}

impl Fit {
    /// Of a body that was drawn at these moments in these places.
    pub fn of(past: &Past, body: usize, drawn: &[(u64, [f64; 2])]) -> Fit {
        let sampled: Vec<_> = drawn.iter().copied().step_by(SAMPLED).collect();
        let off = |delay_ms: u32| {
            let errors = errors(past, body, &sampled, f64::from(delay_ms));
            errors.iter().sum::<f64>() / errors.len().max(1) as f64
        };
        let best =
            |delays: &mut dyn Iterator<Item = u32>| delays.min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(0);
        let about = best(&mut (0..=LATEST_MS).step_by(STRIDE_MS));
        let stride = STRIDE_MS as u32;
        let delay_ms = f64::from(best(&mut (about.saturating_sub(stride)..=about + stride)));
        Fit { delay_ms, errors: errors(past, body, drawn, delay_ms) }
    }
}

fn errors(past: &Past, body: usize, drawn: &[(u64, [f64; 2])], delay_ms: f64) -> Vec<f64> {
    let error = |(at_us, position): &(u64, [f64; 2])| {
        let state = past.state_at(*at_us)? - delay_ms * 1_000.0 / TICK_US as f64;
        past.error(body, At { state, position: *position })
    };
    drawn.iter().filter_map(error).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Body, PLAYERS};

    #[test]
    fn the_delay_of_what_is_drawn_late_is_found() {
        let mut past = Past::default();
        let place = |at_us: f64| (at_us / 500_000.0).sin() * 3.0;
        for number in 0..640_u32 {
            let at_us = u64::from(number) * TICK_US;
            let position = [place(at_us as f64) as f32, 0.0];
            past.push(number, at_us, [Body { position, velocity: [0.0; 2] }; PLAYERS]);
        }
        let frames = (250..1_200_u64).map(|frame| frame * 8_000);
        let drawn: Vec<_> = frames.map(|at_us| (at_us, [place(at_us as f64 - 123_000.0), 0.0])).collect();
        let fit = Fit::of(&past, 0, &drawn);
        assert!(
            (fit.delay_ms - 123.0).abs() <= 1.0 && fit.errors.iter().all(|error| *error < 0.01),
            "{}",
            fit.delay_ms
        );
    }
}
