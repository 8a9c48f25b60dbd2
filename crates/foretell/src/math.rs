//! Transcendental functions whose bits are the same on every platform.
//!
//! The standard library's `sin`, `exp` and the like are those of the platform's C library or compiler, and differ in
//! their last bits between systems; one such bit in a world's step is a misprediction on every tick that follows.
//! These are `libm`'s, which are computed by additions and multiplications alone. A game that must be
//! bit-equal across platforms uses them in its `step`; `+ - * /` and `sqrt` are exactly rounded everywhere and need no
//! replacement (`sqrt` and `ceil` are here as the core has no standard library). Angles are in radians.
//!
//! ```
//! use foretell::math;
//!
//! assert_eq!(math::f64::cos(0.0), 1.0);
//! assert_eq!(math::f32::pow(2.0, 10.0), 1024.0);
//! ```
//!
//! Invariant: for each function, equal argument bits give equal result bits, on all platforms and in all builds. A test
//! compares them with recorded ones. (Not on 32-bit x86 without SSE2, whose x87 registers round even `+` differently;
//! Rust itself gives no promise there.)

/// The functions of `f64`.
pub mod f64 {
    pub use libm::{acos, asin, atan2, ceil, cos, exp, log as ln, pow, sin, sqrt, tan};
}

/// The functions of `f32`.
pub mod f32 {
    pub use libm::{
        acosf as acos, asinf as asin, atan2f as atan2, cosf as cos, expf as exp, logf as ln, powf as pow, sinf as sin,
        sqrtf as sqrt, tanf as tan,
    };
}

#[cfg(test)]
mod tests {
    use super::{f32 as single, f64 as double};

    /// Digests recorded on x86-64 Linux. Another libm may change them: then every recorded session changes as well.
    const DOUBLE: u64 = 0x8a47_b673_eeb2_c966;
    const SINGLE: u64 = 0x81f0_38d3_228b_c3c2;

    /// FNV-1a 64 over little-endian bytes.
    fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
        bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
    }

    #[test]
    fn the_bits_of_the_double_functions_are_those_recorded() {
        let values = (-1000_i16..=1000).flat_map(|step| {
            let x = f64::from(step) / 97.0;
            let unit = f64::from(step) / 1000.0;
            [
                double::sin(x),
                double::cos(x),
                double::tan(x),
                double::asin(unit),
                double::acos(unit),
                double::atan2(x, unit + 0.3),
                double::exp(x),
                double::ln(x.abs() + 0.01),
                double::pow(x.abs(), unit),
            ]
        });
        assert_eq!(digest(values.flat_map(f64::to_le_bytes)), DOUBLE);
    }

    #[test]
    fn the_bits_of_the_single_functions_are_those_recorded() {
        let values = (-1000_i16..=1000).flat_map(|step| {
            let x = f32::from(step) / 97.0;
            let unit = f32::from(step) / 1000.0;
            [
                single::sin(x),
                single::cos(x),
                single::tan(x),
                single::asin(unit),
                single::acos(unit),
                single::atan2(x, unit + 0.3),
                single::exp(x),
                single::ln(x.abs() + 0.01),
                single::pow(x.abs(), unit),
            ]
        });
        assert_eq!(digest(values.flat_map(f32::to_le_bytes)), SINGLE);
    }
}
