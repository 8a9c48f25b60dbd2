//! `#[derive(Input)]` and `#[derive(State)]` for `foretell`: fields of exact bits, one after another in 32-bit words.
//!
//! Both take any field whose type implements `foretell::Field`: bools, integers of 8 to 64 bits, `f32`, `f64` and arrays
//! of them. What has no fixed layout, or does not fit, is refused when the type is compiled, never at run time.
#![forbid(unsafe_code)]

mod attributes;
mod input;
mod layout;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Implements `foretell::Input` for a struct: one player's command for one tick.
///
/// The struct has named fields, unnamed ones or none, 64 words at most, and no type parameters.
///
/// ```
/// use foretell::Input;
///
/// #[derive(Input, Clone, Copy, PartialEq, Debug, Default)]
/// struct Command {
///     jump: bool,
///     stick: [f32; 2],
/// }
///
/// let command = Command { jump: true, stick: [0.5, -1.0] };
/// let mut words = [0; 3];
/// command.write(&mut words);
/// assert_eq!(words, [1, 0.5_f32.to_bits(), (-1.0_f32).to_bits()]);
/// assert_eq!(Command::read(&words), command);
/// ```
///
/// # What is refused
/// An enum or a union:
/// ```compile_fail
/// #[derive(foretell::Input, Clone, Copy, PartialEq, Default)]
/// enum Command {
///     #[default]
///     Wait,
///     Jump,
/// }
/// ```
/// A type with parameters:
/// ```compile_fail
/// #[derive(foretell::Input, Clone, Copy, PartialEq, Default)]
/// struct Command<T: foretell::Field + Default + PartialEq + 'static>(T);
/// ```
/// A field that is not made of exact bits:
/// ```compile_fail
/// #[derive(foretell::Input, Clone, Copy, PartialEq, Default)]
/// struct Command {
///     chat: &'static str,
/// }
/// ```
/// More than 64 words:
/// ```compile_fail
/// #[derive(foretell::Input, Clone, Copy, PartialEq, Default)]
/// struct Command([u64; 32], bool);
/// ```
#[proc_macro_derive(Input)]
pub fn derive_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    input::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `foretell::State` for a struct (one kind of entity) or for an enum (one kind per variant, in order).
///
/// | attribute | on | says |
/// |---|---|---|
/// | `#[state(position)]` | a field, 1 to 3 lanes of `f32` or `f64` | where the entity is, in metres |
/// | `#[state(rotation)]` | a field, 4 lanes of `f32` or `f64` | how it is turned: a unit quaternion x, y, z, w |
/// | `#[state(velocity)]` | a field, 1 to 3 lanes of `f32` or `f64` | in metres per second |
/// | `#[state(angular_velocity)]` | a field, 1 to 3 lanes of `f32` or `f64` | in radians per second |
/// | `#[state(blended)]` | a field, any lanes of `f32` or `f64` | a quantity without steps, such as fuel or a colour: shown between snapshots |
/// | `#[state(by_owner)]` | a field, besides its meaning | the client that has authority over the entity writes it |
/// | `#[state(flatten)]` | a field whose type is a struct with this derive | its fields stand here, with their meanings |
/// | `#[state(owner)]` | the struct or a variant | its rows go to the player who owns it, and to nobody else |
///
/// A field without an attribute is plain: compared by its bits, held between snapshots. A kind has one field of each
/// other meaning at most (of those that are blended any number), and 64 words at most; the type has no parameters.
///
/// ```
/// use foretell::{Audience, Kind, State};
///
/// #[derive(State, PartialEq, Debug)]
/// enum Thing {
///     Ship {
///         #[state(position)]
///         place: [f64; 2],
///         lives: u16,
///     },
///     #[state(owner)]
///     Purse(u32),
///     Flag,
/// }
///
/// let schema = Thing::schema();
/// assert_eq!(schema.kind(Kind(0)).name(), "Ship");
/// assert_eq!(schema.kind(Kind(1)).audience(), Audience::Owner);
/// assert_eq!(Thing::Flag.kind(), Kind(2));
///
/// let ship = Thing::Ship { place: [3.0, 4.0], lives: 7 };
/// let mut words = [0; 5];
/// ship.write(&mut words);
/// assert_eq!(Thing::read(Kind(0), &words), ship);
/// ```
///
/// # What is refused
/// A union, an enum without variants, a type with parameters, more than 64 words, and an attribute that is not in the
/// table:
/// ```compile_fail
/// #[derive(foretell::State)]
/// struct Cube {
///     #[state(place)]
///     position: [f32; 3],
/// }
/// ```
/// Two fields of one meaning in one kind:
/// ```compile_fail
/// #[derive(foretell::State)]
/// struct Cube {
///     #[state(position)]
///     old: [f32; 3],
///     #[state(position)]
///     new: [f32; 3],
/// }
/// ```
/// A field whose type does not fit its meaning:
/// ```compile_fail
/// #[derive(foretell::State)]
/// struct Cube {
///     #[state(rotation)]
///     heading: f32,
/// }
/// ```
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    state::derive(&item).unwrap_or_else(Error::into_compile_error).into()
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
