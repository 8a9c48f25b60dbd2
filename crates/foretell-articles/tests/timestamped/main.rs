//! Timestamped mode, by the reference's vectors, by its document, and on bad networks.

mod example;
mod forged;
mod golden;
mod golden_distance;
mod networks;
mod protocol_document;
mod qiita;
