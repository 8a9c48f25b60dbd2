//! `cargo xtask web` builds what `foretell serve` gives to browsers, `cargo xtask bevy` the page of the windowed game in Bevy,
//! `cargo xtask cube` that of the plugin's example; `cargo xtask soak` looks for what other seeds find.
#![forbid(unsafe_code)]

mod bevy;
mod soak;
mod web;

use anyhow::{Context, Result, bail};

fn main() -> Result<()> {
    let said: Vec<_> = std::env::args().skip(1).collect();
    match said.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["web"] => web::build(),
        ["bevy"] => bevy::ARENA.build(),
        ["cube"] => bevy::CUBE.build(),
        ["soak"] => soak::run(10),
        ["soak", minutes] => soak::run(minutes.parse().context("MINUTES is a whole number from 0")?),
        _ => bail!(
            "accepted is: cargo xtask web (builds the page of `foretell serve`), cargo xtask bevy (builds the page of the \
             windowed game in Bevy), cargo xtask cube (that of the plugin's example), or cargo xtask soak [MINUTES] (looks at \
             everything that has seeds, with other seeds; 10 minutes where nothing is said)"
        ),
    }
}
