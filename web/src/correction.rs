//! What was corrected in a frame, as a page draws it: where, by how much, and why.

use foretell::Entity;
use foretell::session::client::Corrected;
use wasm_bindgen::prelude::*;

/// A correction, where it is seen.
#[wasm_bindgen(getter_with_clone)]
pub struct Correction {
    /// Whose cube, 0 for what is nobody's.
    pub number: u16,
    /// Where it is shown, in metres.
    pub x: f32,
    /// The same, into the room.
    pub z: f32,
    /// How far the prediction was off, in metres.
    pub metres: f32,
    /// Why, in a few words.
    pub why: String,
}

/// Those of one frame, in the order of the client.
#[derive(Default)]
pub struct Corrections(Vec<(Entity, Correction)>);

impl Corrections {
    /// Forgets those of the frame before.
    pub fn begin(&mut self, corrected: &[Corrected]) {
        self.0.clear();
        self.0.extend(corrected.iter().map(|corrected| (corrected.entity, correction(corrected))));
    }

    /// An entity is shown there.
    pub fn place(&mut self, entity: Entity, [x, _, z, ..]: [f32; 8]) {
        for (_, correction) in self.0.iter_mut().filter(|(corrected, _)| *corrected == entity) {
            (correction.x, correction.z) = (x, z);
        }
    }

    /// All of them; then there are none.
    pub fn take(&mut self) -> Vec<Correction> {
        self.0.drain(..).map(|(_, correction)| correction).collect()
    }
}

fn correction(corrected: &Corrected) -> Correction {
    let words: Vec<_> = corrected.causes.names().collect();
    #[expect(clippy::cast_possible_truncation, reason = "to be drawn")]
    let metres = corrected.misprediction_m as f32;
    Correction { number: corrected.owner.get(), x: f32::NAN, z: f32::NAN, metres, why: words.join(", ") }
}
