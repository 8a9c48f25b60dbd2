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

/// Implements `foretell::State` for a struct or for an enum: what a table holds for each entity.
///
/// | attribute | on | says |
/// |---|---|---|
/// | `#[state(position)]` | a field, 1 to 3 lanes of `f32` or `f64` | where the entity is, in metres |
/// | `#[state(rotation)]` | a field, 4 lanes of `f32` or `f64` | how it is turned: a unit quaternion x, y, z, w |
/// | `#[state(velocity)]` | a field, 1 to 3 lanes of `f32` or `f64` | in metres per second |
/// | `#[state(angular_velocity)]` | a field, 1 to 3 lanes of `f32` or `f64` | in radians per second |
/// | `#[state(blended)]` | a field, any lanes of `f32` or `f64` | a quantity without steps, such as fuel or a colour: shown between snapshots |
/// | `#[state(parent)]` | a field of `Entity` or `Option<Entity>` | the entity is below the one of this name: interest by distance takes it to be where that is |
/// | `#[state(precision = 0.001)]` | a field of `f32` or `f64`, besides its meaning | who shows the entity is told it in steps of that, in its unit: half a step off at most, in far fewer bits. Who predicts it gets all bits |
/// | `#[state(writer = owner)]` | a field, besides its meaning | the client that has authority over the entity writes it |
/// | `#[state(flatten)]` | a field whose type is a struct with this derive | its fields stand here, with their meanings |
/// | `#[state(audience = owner)]` | a field, a struct or a variant | it goes to the player who owns the entity, and to nobody else |
/// | `#[state(audience = others)]` | a field, a struct or a variant | it goes to everybody but the player who owns the entity |
/// | `#[state(audience = group(TEAM))]` | a field, a struct or a variant | it goes to the owner, and to those of whom the game's `InterestRules::is_in_group` says that they are in this group with the entity: `TEAM` is a `foretell::Group` of yours |
/// | `#[state(audience = all)]` | a field | it goes to everybody, in a struct that is otherwise not for all; elsewhere the default |
/// | `#[state(predict = never)]` | a struct or a variant | no client predicts an entity with it, its own player's neither: it is shown as others are, and what a client's step spawns of it is taken away until the server has it |
/// | `#[state(hz = 10)]` | a struct or a variant | who shows the entity is told it at most so often (to the nearest number of ticks, as a `SendRate` is), and shows it later by as much as it is told less often than states are sent; at rest it is told as it is. From 1 to 65535; by default as often as there are states, which is what whoever predicts it gets |
///
/// A field without an attribute is plain: compared by its bits, held between snapshots. There is one field of each other
/// meaning at most (of those that are blended any number), and 64 words at most; the type has no parameters.
///
/// What is sent and compared as a unit is a component. A struct is one, and one more for the fields of each other audience, which
/// have their default where they are not seen. One of them has to be for all who see any of the others, so that they know that
/// there is one. Each variant of an enum is one.
///
/// ```
/// use foretell::{Audience, State};
///
/// #[derive(State, PartialEq, Debug)]
/// struct Ship {
///     #[state(position)]
///     place: [f64; 2],
///     lives: u16,
///     #[state(audience = owner)]
///     ammunition: u8,
/// }
///
/// let [seen, own] = &Ship::components()[..] else { panic!("two audiences") };
/// assert_eq!((seen.name(), seen.audience()), ("Ship", Audience::All));
/// assert_eq!((own.name(), own.audience()), ("Ship (owner)", Audience::Owner));
///
/// let ship = Ship { place: [3.0, 4.0], lives: 7, ammunition: 30 };
/// let mut words = [0; 5];
/// assert!(ship.write(0, &mut words));
/// assert_eq!(Ship::read(0, &words), Some(Ship { ammunition: 0, ..ship }));
/// ```
///
/// Fields for those whom the game's rules name, and for everybody but the owner:
///
/// ```
/// use foretell::{Audience, Group, SendRate, State};
///
/// const TEAM: Group = Group(0);
///
/// #[derive(State)]
/// #[state(hz = 20)]
/// struct Spy {
///     #[state(position)]
///     place: [f32; 3],
///     #[state(audience = group(TEAM))]
///     health: u8,
///     #[state(audience = others)]
///     disguise: u8,
/// }
///
/// let audiences: Vec<_> = Spy::components().iter().map(|component| component.audience()).collect();
/// assert_eq!(audiences, [Audience::All, Audience::Group(TEAM), Audience::Others]);
/// assert_eq!(Spy::components()[0].rate_max(), SendRate::Hz(20));
/// ```
///
/// # What is refused
/// A union, an enum without variants, a type with parameters, more than 64 words, and an attribute that is not in the
/// table:
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Cube {
///     #[state(place)]
///     position: [f32; 3],
/// }
/// ```
/// Two fields of one meaning:
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Cube {
///     #[state(position)]
///     old: [f32; 3],
///     #[state(position)]
///     new: [f32; 3],
/// }
/// ```
/// Fields of several audiences, none of which sees all that the others do:
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Spy {
///     #[state(audience = owner)]
///     orders: u8,
///     #[state(audience = others)]
///     disguise: u8,
/// }
/// ```
/// A field whose type does not fit its meaning, or that may be absent and has one:
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Cube {
///     #[state(rotation)]
///     heading: f32,
/// }
/// ```
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Cube {
///     #[state(position)]
///     goal: Option<[f32; 2]>,
/// }
/// ```
/// A parent that is neither an `Entity` nor an `Option<Entity>`:
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Hat {
///     #[state(parent)]
///     wearers: [foretell::Entity; 2],
/// }
/// ```
/// ```compile_fail
/// #[derive(foretell::State, Clone, Copy)]
/// struct Hat {
///     #[state(parent)]
///     wearer: u64,
/// }
/// ```
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    state::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `foretell::World` for a struct of tables: it is saved, loaded, published and adopted by them.
///
/// | attribute | says |
/// |---|---|
/// | none | a `Table` |
/// | `#[world(saved)]` | saved and loaded, and not sent: anything with `Clone` that the step reads and writes |
/// | `#[world(constant)]` | never changes while it is played: a level, settings |
///
/// ```
/// use foretell::{Input, Simulate, State, Step, Table, World};
///
/// #[derive(Input, Clone, Copy, PartialEq, Default)]
/// struct Buttons {
///     right: bool,
/// }
///
/// #[derive(State, Clone, Copy, Default)]
/// struct Cube {
///     #[state(position)]
///     x: [f32; 1],
/// }
///
/// #[derive(World, Default)]
/// struct Game {
///     cubes: Table<Cube>,
///     #[world(saved)]
///     weather: u64,
///     #[world(constant)]
///     walls: Vec<f32>,
/// }
///
/// impl Simulate for Game {
///     type Input = Buttons;
///
///     fn step(&mut self, step: &mut Step<'_, Buttons>) {
///         self.cubes.remove_left(step);
///         for joined in step.joined() {
///             self.cubes.spawn(step, joined.player, Cube::default());
///         }
///         for mut cube in self.cubes.simulated(step) {
///             let Some(player) = step.input(cube.owner()) else { continue };
///             if player.input.right {
///                 cube.x[0] += 1.0;
///             }
///         }
///     }
/// }
///
/// assert_eq!(Game::schema().components()[0].name(), "Cube");
/// ```
///
/// # What is refused
/// A field that is neither a table nor says what it is:
/// ```compile_fail
/// #[derive(foretell::World)]
/// struct Game {
///     walls: Vec<f32>,
/// }
/// ```
#[proc_macro_derive(World, attributes(world))]
pub fn derive_world(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    world::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `foretell::Field` for an enum without data: a field of states and inputs, in 8 bits.
///
/// ```
/// use foretell::{Field, State};
///
/// #[derive(Field, Clone, Copy, PartialEq, Debug)]
/// enum Team {
///     Red,
///     Blue,
/// }
///
/// #[derive(State)]
/// struct Flag {
///     team: Team,
///     carrier: Option<foretell::Entity>,
/// }
///
/// assert_eq!(Team::get(&[1]), Team::Blue);
/// ```
#[proc_macro_derive(Field)]
pub fn derive_field(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    field::derive(&item).unwrap_or_else(Error::into_compile_error).into()
}

/// Implements `foretell::Message` for a type that has serde's `Serialize` and `Deserialize`: something that one end tells the other
/// besides the state.
///
/// | attribute | says |
/// |---|---|
/// | `#[message(ordered)]` | arrives once, after all of its type that were sent before; the default |
/// | `#[message(unordered)]` | arrives once, as soon as it is there |
/// | `#[message(newest)]` | the newest arrives; older ones may not |
/// | `#[message(unreliable)]` | arrives once or is lost |
/// | `#[message(in_step)]` | from a client, in the step of the tick that it simulates next, on both ends |
/// | `#[message(bytes_max = 4096)]` | takes at most this many bytes when encoded; by default 1 MiB, in a step 256 |
///
/// ```
/// use foretell::{Delivery, Message};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, Message)]
/// #[message(unordered, bytes_max = 4096)]
/// struct Chat {
///     text: String,
/// }
///
/// assert_eq!((Chat::NAME, Chat::DELIVERY, Chat::BYTES_MAX), ("Chat", Delivery::Unordered, 4096));
/// ```
///
/// # What is refused
/// A type with parameters, and a word that is not in the table:
/// ```compile_fail
/// #[derive(serde::Serialize, serde::Deserialize, foretell::Message)]
/// #[message(reliable)]
/// struct Chat(String);
/// ```
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
