//! A row of the result: a library over a link.

use crate::case::Case;
use crate::figures::Figures;
use serde::{Deserialize, Serialize};

/// What was measured.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The library, and how it is used where there are several ways.
    pub peer: String,
    /// The link.
    pub case: Case,
    /// The figures.
    pub figures: Figures,
}
