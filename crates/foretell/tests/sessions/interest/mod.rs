//! What a client is told where it does not see everything: nothing else, and what becomes of what leaves its view.

mod anything;
mod audiences;
mod heard;
mod hosted;
mod late;
mod receipts;
mod rules;
mod secrets;
mod woods;
