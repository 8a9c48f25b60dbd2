//! Who joins, and as what: what is said of a player comes once and whole, a game refuses and removes in words that both ends hear,
//! and who looks on sees what the rules say and plays no part.

mod club;
mod level;
mod said;
mod spectators;
