//! How exactly a field is told to who shows it.

/// How exactly a field is told to who shows the entity and does not predict it: in whole multiples of a step, or exactly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Precision {
    /// The bits of the step as an f64; 0 where it is exact.
    step: u64,
}

impl Precision {
    /// Bit for bit: the default.
    pub const EXACT: Precision = Precision { step: 0 };

    /// The nearest multiple of `step`, in the unit of the field.
    ///
    /// # Panics
    /// When `step` is not above zero and finite.
    pub const fn to_nearest(step: f64) -> Precision {
        assert!(step > 0.0 && step < f64::INFINITY, "a precision is a step above zero, such as 0.001");
        Precision { step: step.to_bits() }
    }

    /// The step; `None` where it is exact.
    pub const fn step(self) -> Option<f64> {
        if self.step == 0 { None } else { Some(f64::from_bits(self.step)) }
    }
}
