//! The derives of `foretell`: inputs and states are fields of exact bits, one after another in 32-bit words; a world is a struct of
//! tables of states.
//!
//! A field's type implements `foretell::Field`: bools, integers of 8 to 64 bits, `f32`, `f64`, entities, players, short texts,
//! enums without data, options and arrays of them. What has no fixed layout, or does not fit, is refused when the type is
//! compiled, never at run time.
#![forbid(unsafe_code)]

mod attributes;
mod field;
mod input;
mod layout;
mod message;
mod state;
mod world;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

#[doc = include_str!("../docs/input.md")]
#[proc_macro_derive(Input)]
pub fn derive_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    input::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

#[doc = include_str!("../docs/state.md")]
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    state::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

#[doc = include_str!("../docs/world.md")]
#[proc_macro_derive(World, attributes(world))]
pub fn derive_world(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    world::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

#[doc = include_str!("../docs/field.md")]
#[proc_macro_derive(Field)]
pub fn derive_field(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    field::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

#[doc = include_str!("../docs/message.md")]
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    message::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// A layout is a constant of a type, and a type with parameters is many.
fn refuse_parameters(item: &DeriveInput) -> syn::Result<()> {
    if item.generics.params.is_empty() {
        return Ok(());
    }
    Err(Error::new_spanned(
        &item.generics,
        "a type with parameters has no fixed layout: derive this on a type without any",
    ))
}
