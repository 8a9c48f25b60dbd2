//! `#[derive(Input)]` and `#[derive(State)]` for `foretell`: fields of exact bits, laid out in 32-bit words.
//!
//! Both take bools, integers, `f32`, `f64`, arrays of them, and whatever else implements `foretell::Field`.
#![forbid(unsafe_code)]

mod fields;
mod input;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Implements `foretell::Input` for a struct: one player's command for one tick.
///
/// ```
/// use foretell::Input;
///
/// #[derive(Input, Clone, Copy, PartialEq, Default)]
/// struct Buttons {
///     left: bool,
///     right: bool,
///     aim: [f32; 2],
/// }
/// assert_eq!(Buttons::columns().len(), 3);
/// ```
///
/// Only structs will do:
///
/// ```compile_fail
/// #[derive(foretell::Input, Clone, Copy, PartialEq, Default)]
/// enum Command {
///     #[default]
///     Wait,
/// }
/// ```
#[proc_macro_derive(Input)]
pub fn derive_input(tokens: TokenStream) -> TokenStream {
    let item = parse_macro_input!(tokens as DeriveInput);
    input::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `foretell::State` for a struct (one kind of entity) or an enum (one kind per variant).
///
/// `#[state(position)]`, `#[state(rotation)]`, `#[state(velocity)]` and `#[state(angular_velocity)]` on a field say what
/// it means to comparison, interpolation and correction; `#[state(owner)]` on the struct or a variant sends its rows to
/// their owner alone.
///
/// ```
/// use foretell::{Audience, State};
///
/// #[derive(State)]
/// enum Thing {
///     Cube {
///         #[state(position)]
///         position: [f32; 3],
///         #[state(velocity)]
///         velocity: [f32; 3],
///     },
///     #[state(owner)]
///     Purse { coins: u32 },
/// }
/// assert_eq!(Thing::schema().kinds()[1].audience(), Audience::Owner);
/// ```
///
/// A word that means nothing is refused:
///
/// ```compile_fail
/// #[derive(foretell::State)]
/// struct Cube {
///     #[state(place)]
///     position: [f32; 3],
/// }
/// ```
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(tokens: TokenStream) -> TokenStream {
    let item = parse_macro_input!(tokens as DeriveInput);
    state::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Generic types have no fixed layout.
fn refuse_generics(item: &DeriveInput) -> syn::Result<()> {
    if item.generics.params.is_empty() {
        Ok(())
    } else {
        Err(Error::new_spanned(
            &item.generics,
            "a type with parameters has no fixed layout: derive this for a type without",
        ))
    }
}
