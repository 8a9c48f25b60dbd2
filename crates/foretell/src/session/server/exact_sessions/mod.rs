//! Exact sessions: who is told that their prediction is right by a digest alone, and who needs the whole state.

mod digest_agreement;
mod exact_session;

pub(super) use exact_session::{ExactSession, Lead};
