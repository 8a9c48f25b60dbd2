//! Writes the JavaScript around a WebAssembly module: `foretell-glue MODULE NAME FOLDER`.
#![forbid(unsafe_code)]

use anyhow::{Context, Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let said: Vec<_> = std::env::args().skip(1).collect();
    let [module, name, folder] = &said[..] else { bail!("accepted is: foretell-glue MODULE NAME FOLDER") };
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name).web(true)?;
    bindgen.typescript(false).remove_name_section(true).remove_producers_section(true);
    bindgen.generate(folder).context("wasm-bindgen has failed")
}
