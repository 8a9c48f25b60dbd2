//! What a game is to the netcode: entities, the components that they consist of, and the step that moves them.
//!
//! Knows no bytes, no network and no history. Invariant: `load(save(w))` then `step` equals never having saved.

mod audience;
mod column;
mod compare;
mod component;
mod component_rows;
mod effect;
mod entity;
mod entity_map;
mod field;
mod interest;
mod lookback;
mod part;
mod past;
mod precision;
mod predicted;
mod rewound;
mod rounded_row;
mod row;
mod rows;
mod schema;
mod states;
mod step;
mod table;
mod table_entry;
mod world_part;

pub(crate) use audience::RowPrediction;
pub use audience::{Audience, Group};
pub use column::{Column, Meaning, Writer};
pub use compare::{Difference, Tolerance, compare_row};
pub use component::{ComponentSchema, ROW_WORDS_MAX, word_bits};
pub(crate) use effect::StepOutput;
pub use effect::{Effect, EffectKind};
pub use entity::{ComponentId, Entity, Owned, PlayerId, RowKey};
pub(crate) use entity_map::EntityMap;
pub use field::{Field, Input, Scalar, State, Text};
pub use interest::{Interest, InterestRules, Look, Visibility};
pub(crate) use lookback::Hit;
pub use lookback::{Lookback, LookbackBound};
pub use part::Part;
pub use past::PastState;
pub(crate) use past::{AnyRow, Past, copy};
pub use precision::Precision;
pub use predicted::Predicted;
pub use rewound::Rewound;
pub(crate) use rounded_row::{GroupKind, LaneGroup, Motion, RoundedRow};
pub use row::{RemovedRow, Row};
pub use rows::Rows;
pub use schema::Schema;
pub use step::{InputStatus, PlayerInput, Role, Roles, Side, Simulate, Step, World};
pub use table::{SavedTable, Table};
pub use table_entry::{Mut, Ref};
pub use world_part::WorldPart;
