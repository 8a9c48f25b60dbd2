//! What `#[state(...)]` says about a field and about a kind of entity.

use quote::ToTokens;
use syn::{Attribute, Error, Path};

/// What a field means, with the names that it has in `#[state(...)]` and in `foretell::Meaning`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Plain,
    Position,
    Rotation,
    Velocity,
    AngularVelocity,
    Blended,
}

impl Meaning {
    /// The keyword of each meaning that has one.
    const KEYS: [(&str, Meaning); 5] = [
        ("position", Meaning::Position),
        ("rotation", Meaning::Rotation),
        ("velocity", Meaning::Velocity),
        ("angular_velocity", Meaning::AngularVelocity),
        ("blended", Meaning::Blended),
    ];

    /// Its variant in `foretell::Meaning`.
    pub fn variant(self) -> &'static str {
        match self {
            Meaning::Plain => "Plain",
            Meaning::Position => "Position",
            Meaning::Rotation => "Rotation",
            Meaning::Velocity => "Velocity",
            Meaning::AngularVelocity => "AngularVelocity",
            Meaning::Blended => "Blended",
        }
    }

    /// The fewest and the most lanes of `f32` or `f64` that it has; `None` when any type will do.
    pub fn lanes(self) -> Option<(u8, u8)> {
        match self {
            Meaning::Plain => None,
            Meaning::Rotation => Some((4, 4)),
            Meaning::Position | Meaning::Velocity | Meaning::AngularVelocity => Some((1, 3)),
            Meaning::Blended => Some((1, 64)),
        }
    }

    /// Whether a kind has one field of it at most.
    pub fn is_single(self) -> bool {
        !matches!(self, Meaning::Plain | Meaning::Blended)
    }
}

/// What a field's attributes make of it.
#[derive(Clone, Copy)]
pub struct FieldSays {
    pub meaning: Meaning,
    /// Whether the client that has authority over the entity writes it.
    pub by_owner: bool,
    /// Whether its own fields stand in its place.
    pub flat: bool,
}

impl FieldSays {
    /// Without an attribute.
    pub const NOTHING: FieldSays = FieldSays { meaning: Meaning::Plain, by_owner: false, flat: false };
}

/// What a field's attributes say.
pub fn field(attrs: &[Attribute]) -> syn::Result<FieldSays> {
    let FieldSays { mut meaning, mut by_owner, mut flat } = FieldSays::NOTHING;
    each_key(attrs, |key| {
        if key.is_ident("flatten") {
            flat = true;
            return Ok(());
        }
        if key.is_ident("by_owner") {
            by_owner = true;
            return Ok(());
        }
        let Some((_, found)) = Meaning::KEYS.into_iter().find(|(name, _)| key.is_ident(name)) else {
            let accepted = "`position`, `rotation`, `velocity`, `angular_velocity`, `blended`, `by_owner` or `flatten`";
            return Err(unknown(key, &format!("a field takes {accepted}")));
        };
        if meaning != Meaning::Plain {
            return Err(Error::new_spanned(key, "a field has one meaning at most"));
        }
        meaning = found;
        Ok(())
    })?;
    if flat && (by_owner || meaning != Meaning::Plain) {
        let first = attrs.iter().find(|attr| attr.path().is_ident("state"));
        return Err(Error::new_spanned(first, "what is flattened has the meanings of its own fields"));
    }
    Ok(FieldSays { meaning, by_owner, flat })
}

/// Whether a struct's or a variant's attributes say that its rows go to their owner alone.
pub fn for_owner(attrs: &[Attribute]) -> syn::Result<bool> {
    let mut owner = false;
    each_key(attrs, |key| {
        owner = key.is_ident("owner");
        if owner { Ok(()) } else { Err(unknown(key, "a struct or a variant takes `owner`")) }
    })?;
    Ok(owner)
}

/// Refuses every key on an enum as a whole: each of its variants is a kind of its own.
pub fn refuse_on_enum(attrs: &[Attribute]) -> syn::Result<()> {
    each_key(attrs, |key| Err(unknown(key, "an enum takes nothing; each of its variants takes `owner`")))
}

fn each_key(attrs: &[Attribute], mut each: impl FnMut(&Path) -> syn::Result<()>) -> syn::Result<()> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("state"))
        .try_for_each(|attr| attr.parse_nested_meta(|meta| each(&meta.path)))
}

fn unknown(key: &Path, accepted: &str) -> Error {
    Error::new_spanned(key, format!("`#[state({})]` has no meaning here: {accepted}", key.to_token_stream()))
}
