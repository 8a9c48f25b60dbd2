//! Tests of parts by themselves, and by their documents.

mod copies;
mod correction;
mod curve_laws;
mod derive;
mod example;
mod golden_curves;
mod golden_motion;
mod golden_shared;
mod inputs;
mod lockstep;
mod motion_laws;
mod near;
mod protocol_document;
mod table_sessions;
mod tables;
mod timeline;
mod vectors;
