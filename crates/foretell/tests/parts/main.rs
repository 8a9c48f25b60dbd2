//! Tests of parts by themselves, and by their documents.

mod copies;
mod correction;
mod curve_laws;
mod derive;
mod example;
mod golden_curves;
mod golden_motion;
mod golden_prng;
mod golden_shared;
mod golden_validation;
mod inputs;
mod lockstep;
mod motion_laws;
mod near;
mod netsim_statistics;
mod protocol_document;
mod publishing;
mod timeline;
mod timestamped;
mod timestamped_document;
mod timestamped_forged;
mod vectors;
