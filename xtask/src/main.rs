//! `cargo xtask web` builds what `foretell serve` gives to browsers.
#![forbid(unsafe_code)]

mod web;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    let said: Vec<_> = std::env::args().skip(1).collect();
    match said.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["web"] => web::build(),
        _ => bail!("accepted is: cargo xtask web (builds the page of `foretell serve`)"),
    }
}
