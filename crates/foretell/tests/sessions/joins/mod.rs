//! Who can't be let in is told why, the server reports and counts it once, and nothing is left of them: no body, no place, no
//! number taken again and again. Over links that lose a third of all datagrams, too.

mod hall;
mod reasons;
mod unplayed;
