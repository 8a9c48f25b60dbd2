//! What an endpoint decides by itself, in a recording. One function for both directions each.

use super::format::{stream_choice, stream_duration, stream_float, stream_one_of};
use core::time::Duration;
use foretell::motion::{BySize, Correction, Decay};
use foretell::session::GapPolicy;
use foretell::session::client::{ClientConfig, Curve, InputDelay, Predict, Redundancy, Show};
use foretell::session::server::ServerConfig;
use foretell::time::SendRate;
use foretell::wire::{Malformed, Stream};
use foretell::world::{Interest, Tolerance};

/// A longer history than this is not made because a recording says so.
const HORIZON_MAX: Duration = Duration::from_secs(60);

/// What an endpoint decides by itself.
pub(super) trait Config: Copy + PartialEq {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed>;
}

/// Those of either end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Settings {
    Client(ClientConfig),
    Server(ServerConfig),
}

impl Settings {
    pub(super) fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        match self {
            Settings::Client(config) => config.stream(stream),
            Settings::Server(config) => config.stream(stream),
        }
    }
}

impl Config for ClientConfig {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let ClientConfig {
            send_rate,
            redundancy,
            horizon,
            checkpoint_interval,
            tolerance,
            correction,
            resimulation_budget,
            show,
            predict,
            curve,
            input_delay,
            late_inputs_max,
            lead_max,
            late_snapshots_max,
            join_timeout,
            playout_wait_max,
            message_rate,
            message_queue_max,
        } = self;
        stream_send_rate(stream, send_rate)?;
        stream_redundancy(stream, redundancy)?;
        stream_duration(stream, horizon)?;
        *horizon = (*horizon).min(HORIZON_MAX);
        stream.u32(checkpoint_interval)?;
        stream_tolerance(stream, tolerance)?;
        let mut hides = correction.is_some();
        stream.bool(&mut hides)?;
        let mut how = correction.unwrap_or_default();
        if hides {
            stream_correction(stream, &mut how)?;
        }
        *correction = hides.then_some(how);
        stream.u32(resimulation_budget)?;
        stream_one_of(stream, show, &Show::ALL)?;
        stream_predict(stream, predict)?;
        stream_one_of(stream, curve, &Curve::ALL)?;
        stream_input_delay(stream, input_delay)?;
        stream_float(stream, late_inputs_max)?;
        stream.optional(lead_max, stream_duration)?;
        stream_float(stream, late_snapshots_max)?;
        stream_duration(stream, join_timeout)?;
        stream_duration(stream, playout_wait_max)?;
        stream.u32(message_rate)?;
        stream.u32(message_queue_max)
    }
}

impl Config for ServerConfig {
    fn stream(&mut self, stream: &mut impl Stream) -> Result<(), Malformed> {
        let ServerConfig {
            snapshot_rate,
            gap,
            relay_inputs,
            players_max,
            spectators_max,
            draining,
            timeout,
            keep_lost,
            held_max,
            interest,
            budget,
            budget_min,
            message_rate_max,
            message_queue_max,
            rewind_max,
            rewind_curve,
        } = self;
        stream_send_rate(stream, snapshot_rate)?;
        let (number, mut ticks) = match *gap {
            GapPolicy::Hold => (0, 0),
            GapPolicy::RepeatLast { ticks } => (1, ticks),
            GapPolicy::Neutral => (2, 0),
        };
        let number = stream_choice(stream, number, 3)?;
        stream.u32(&mut ticks)?;
        *gap = match number {
            0 => GapPolicy::Hold,
            1 => GapPolicy::RepeatLast { ticks },
            _ => GapPolicy::Neutral,
        };
        stream.bool(relay_inputs)?;
        stream.u16(players_max)?;
        stream.u16(spectators_max)?;
        stream.bool(draining)?;
        stream_duration(stream, timeout)?;
        stream_duration(stream, keep_lost)?;
        stream.u16(held_max)?;
        stream_interest(stream, interest)?;
        stream.u32(budget)?;
        stream.u32(budget_min)?;
        stream.u32(message_rate_max)?;
        stream.u32(message_queue_max)?;
        stream_duration(stream, rewind_max)?;
        stream_one_of(stream, rewind_curve, &Curve::ALL)
    }
}

fn stream_send_rate(stream: &mut impl Stream, rate: &mut SendRate) -> Result<(), Malformed> {
    let mut hz = match *rate {
        SendRate::EveryTick => None,
        SendRate::Hz(hz) => Some(hz),
    };
    stream.optional(&mut hz, |stream, hz| stream.u16(hz))?;
    *rate = hz.map_or(SendRate::EveryTick, SendRate::Hz);
    Ok(())
}

fn stream_interest(stream: &mut impl Stream, interest: &mut Interest) -> Result<(), Malformed> {
    let (number, mut most, mut radii) = match *interest {
        Interest::Everything => (0, 0, [0.0; 2]),
        Interest::Nearest(most) => (1, most, [0.0; 2]),
        Interest::Within { radius_m, leaves_at_m } => (2, 0, [f64::from(radius_m), f64::from(leaves_at_m)]),
    };
    let number = stream_choice(stream, number, 3)?;
    if number == 1 {
        stream.u16(&mut most)?;
    }
    if number == 2 {
        radii.iter_mut().try_for_each(|radius| stream_float(stream, radius))?;
    }
    #[expect(clippy::cast_possible_truncation, reason = "they were of single precision")]
    let [radius_m, leaves_at_m] = radii.map(|radius| radius as f32);
    *interest = match number {
        0 => Interest::Everything,
        1 => Interest::Nearest(most),
        _ => Interest::Within { radius_m, leaves_at_m },
    };
    Ok(())
}

fn stream_predict(stream: &mut impl Stream, predict: &mut Predict) -> Result<(), Malformed> {
    let (number, mut radii) = match *predict {
        Predict::Own => (0, [0.0; 2]),
        Predict::Everyone => (1, [0.0; 2]),
        Predict::Near { within_m, until_m } => (2, [within_m, until_m]),
    };
    let number = stream_choice(stream, number, 3)?;
    if number == 2 {
        radii.iter_mut().try_for_each(|radius| stream_float(stream, radius))?;
    }
    *predict = match number {
        0 => Predict::Own,
        1 => Predict::Everyone,
        _ => Predict::Near { within_m: radii[0], until_m: radii[1] },
    };
    Ok(())
}

fn stream_redundancy(stream: &mut impl Stream, redundancy: &mut Redundancy) -> Result<(), Malformed> {
    let mut limit = match *redundancy {
        Redundancy::None => None,
        Redundancy::Unacknowledged { limit } => Some(limit),
    };
    stream.optional(&mut limit, |stream, limit| stream.u32(limit))?;
    *redundancy = limit.map_or(Redundancy::None, |limit| Redundancy::Unacknowledged { limit });
    Ok(())
}

fn stream_input_delay(stream: &mut impl Stream, delay: &mut InputDelay) -> Result<(), Malformed> {
    let (mut ticks, mut above) = match *delay {
        InputDelay::Ticks(ticks) => (ticks, None),
        InputDelay::AboveRtt { rtt, ticks_max } => (ticks_max, Some(rtt)),
    };
    stream.u32(&mut ticks)?;
    stream.optional(&mut above, stream_duration)?;
    *delay = match above {
        None => InputDelay::Ticks(ticks),
        Some(rtt) => InputDelay::AboveRtt { rtt, ticks_max: ticks },
    };
    Ok(())
}

fn stream_tolerance(stream: &mut impl Stream, tolerance: &mut Tolerance) -> Result<(), Malformed> {
    let Tolerance { position_sqr_m, rotation, velocity_sqr, angular_velocity_sqr, plain } = tolerance;
    for float in [position_sqr_m, rotation, velocity_sqr, angular_velocity_sqr] {
        stream_float(stream, float)?;
    }
    stream.bool(plain)
}

fn stream_correction(stream: &mut impl Stream, correction: &mut Correction) -> Result<(), Malformed> {
    let Correction { decay, snap_m, snap_time, snap_degrees, smallest_m, smallest_degrees } = correction;
    let mut constant = matches!(decay, Decay::Constant(_));
    stream.bool(&mut constant)?;
    let (mut by_size, mut rate) = match *decay {
        Decay::BySize(by_size) => (by_size, 0.0),
        Decay::Constant(rate) => (BySize::default(), rate),
    };
    if constant {
        stream_float(stream, &mut rate)?;
        *decay = Decay::Constant(rate);
    } else {
        let BySize { slow_per_s, near_m, fast_per_s, far_m, along_motion, moving_mps } = &mut by_size;
        for float in [slow_per_s, near_m, fast_per_s, far_m, along_motion, moving_mps] {
            stream_float(stream, float)?;
        }
        *decay = Decay::BySize(by_size);
    }
    stream_duration(stream, snap_time)?;
    for float in [snap_m, snap_degrees, smallest_m, smallest_degrees] {
        stream_float(stream, float)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use foretell::wire::{BitReader, BitWriter};

    /// What comes of it when it is written and read over something else.
    fn round_trip<C: Config>(mut written: C, mut read: C) -> C {
        let mut bytes = Vec::new();
        written.stream(&mut BitWriter::new(&mut bytes)).expect("writing never fails");
        let mut reader = BitReader::new(&bytes);
        read.stream(&mut reader).expect("it was just written");
        reader.finish().expect("nothing is left");
        read
    }

    #[test]
    fn every_setting_of_a_client_comes_back_as_it_went() {
        let plain = ClientConfig::default();
        let other = ClientConfig {
            send_rate: SendRate::Hz(21),
            redundancy: Redundancy::Unacknowledged { limit: 9 },
            horizon: Duration::from_micros(1_234_567),
            checkpoint_interval: 11,
            tolerance: Tolerance { velocity_sqr: 0.5, ..Tolerance::article() },
            correction: Some(Correction {
                snap_time: Duration::from_millis(100),
                smallest_degrees: 3.0,
                ..Correction::article()
            }),
            resimulation_budget: 7,
            show: Show::Ahead,
            predict: Predict::Everyone,
            curve: Curve::VelocityBlending,
            input_delay: InputDelay::AboveRtt { rtt: Duration::from_millis(99), ticks_max: 5 },
            late_inputs_max: 0.03,
            lead_max: Some(Duration::from_millis(250)),
            late_snapshots_max: 0.04,
            join_timeout: Duration::from_millis(7_500),
            playout_wait_max: Duration::from_millis(99),
            message_rate: 1234,
            message_queue_max: 123_456,
        };
        let by_size = BySize { near_m: 0.1, moving_mps: 2.0, ..BySize::default() };
        let correction = Some(Correction { decay: Decay::BySize(by_size), ..Correction::default() });
        let third = ClientConfig {
            redundancy: Redundancy::None,
            predict: Predict::Near { within_m: 3.5, until_m: 4.25 },
            show: Show::Newest,
            correction,
            ..plain
        };
        let fourth = ClientConfig { correction: None, ..plain };
        for config in [plain, other, third, fourth] {
            for over in [plain, other, third, fourth] {
                assert_eq!(round_trip(config, over), config);
            }
        }
    }

    #[test]
    fn every_setting_of_a_server_comes_back_as_it_went() {
        let with = |gap| ServerConfig {
            snapshot_rate: SendRate::Hz(20),
            gap,
            relay_inputs: true,
            players_max: 65_535,
            spectators_max: 300,
            draining: true,
            timeout: Duration::from_millis(1),
            keep_lost: Duration::from_secs(1 << 33),
            held_max: 3,
            interest: Interest::Nearest(300),
            budget: 50_000,
            budget_min: 4_000,
            message_rate_max: 12_345,
            message_queue_max: 234_567,
            rewind_max: Duration::from_millis(123),
            rewind_curve: Curve::Linear,
        };
        let policies = [GapPolicy::Hold, GapPolicy::RepeatLast { ticks: u32::MAX }, GapPolicy::Neutral];
        for config in policies.map(with) {
            assert_eq!(round_trip(config, ServerConfig::default()), config);
        }
        for interest in [Interest::Everything, Interest::Within { radius_m: 40.0, leaves_at_m: 45.5 }] {
            let config = ServerConfig { interest, ..ServerConfig::default() };
            assert_eq!(round_trip(config, ServerConfig { interest: Interest::Nearest(1), ..config }), config);
        }
        let for_ever = ServerConfig { timeout: Duration::MAX, ..ServerConfig::default() };
        assert!(round_trip(for_ever, ServerConfig::default()).timeout > Duration::from_secs(1 << 40));
    }
}
