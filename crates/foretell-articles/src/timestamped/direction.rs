//! Directions that a client sends: no longer than one.

use foretell::motion::{Real, vector};
use foretell::session::Offence;

/// A direction of length one has rounding in it; so much longer is no offence.
const ROUNDING: f64 = 1e-6;

/// `direction`, shortened to length one where it is longer, and none where it is not finite; and whether it was longer
/// than rounding explains, or not finite.
pub fn clamped_direction<R: Real, const N: usize>(direction: [R; N]) -> ([R; N], bool) {
    let squared = vector::dot(direction, direction);
    if squared <= R::ONE {
        return (direction, false);
    }
    let length = squared.sqrt();
    let shortened = direction.map(|lane| lane / length);
    // An infinite length leaves nothing, or not-a-number.
    let finite = shortened.iter().all(|lane| lane.abs() <= R::ONE) && length < R::from_f64(f64::INFINITY);
    if finite { (shortened, length > R::from_f64(1.0 + ROUNDING)) } else { ([R::ZERO; N], true) }
}

/// Makes a direction that of [`clamped_direction`], and says whether that was an offence: what a mover does with its
/// input ([`Mover::limit`](super::Mover::limit)).
pub fn limit_direction<R: Real, const N: usize>(direction: &mut [R; N]) -> Option<Offence> {
    let (clamped, offence) = clamped_direction(*direction);
    *direction = clamped;
    offence.then_some(Offence::Direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_is_never_longer_than_one_and_a_shorter_one_keeps_its_bits() {
        assert_eq!(clamped_direction([0.3, -0.4, 0.1]), ([0.3, -0.4, 0.1], false));
        assert_eq!(clamped_direction([3.0, 0.0, 0.0]), ([1.0, 0.0, 0.0], true));
        assert_eq!(clamped_direction([1.0 + 1e-9, 0.0]), ([1.0, 0.0], false));
        assert_eq!(clamped_direction([f32::NAN, 0.0]), ([0.0; 2], true));
        assert_eq!(clamped_direction([f32::MAX, f32::MAX]), ([0.0; 2], true));
        assert_eq!(clamped_direction([f64::NEG_INFINITY, 0.0]), ([0.0; 2], true));
    }

    #[test]
    fn limiting_a_direction_writes_it_and_names_the_offence() {
        for (mut sent, limited, offence) in
            [([0.6, 0.8], [0.6, 0.8], None), ([0.0, 2.0], [0.0, 1.0], Some(Offence::Direction))]
        {
            assert_eq!((limit_direction(&mut sent), sent), (offence, limited));
        }
    }
}
