//! What `#[state(...)]` says about a field and about a component.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Error, Expr, Ident, LitFloat, LitInt};

/// What a field means, with the names that it has in `#[state(...)]` and in `foretell::Meaning`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    Plain,
    Position,
    Rotation,
    Velocity,
    AngularVelocity,
    Blended,
    Parent,
    Teleports,
}

impl Meaning {
    /// The keyword of each meaning that has one.
    const KEYS: [(&str, Meaning); 7] = [
        ("position", Meaning::Position),
        ("rotation", Meaning::Rotation),
        ("velocity", Meaning::Velocity),
        ("angular_velocity", Meaning::AngularVelocity),
        ("blended", Meaning::Blended),
        ("parent", Meaning::Parent),
        ("teleports", Meaning::Teleports),
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
            Meaning::Parent => "Parent",
            Meaning::Teleports => "Teleports",
        }
    }

    /// The fewest and the most lanes of `f32` or `f64` that it has; `None` when it is of other types.
    pub fn lanes(self) -> Option<(u8, u8)> {
        match self {
            Meaning::Plain | Meaning::Parent | Meaning::Teleports => None,
            Meaning::Rotation => Some((4, 4)),
            Meaning::Position | Meaning::Velocity | Meaning::AngularVelocity => Some((1, 3)),
            Meaning::Blended => Some((1, 64)),
        }
    }

    /// Whether a struct or a variant has one field of it at most.
    pub fn is_single(self) -> bool {
        !matches!(self, Meaning::Plain | Meaning::Blended)
    }
}

/// Who gets a field.
#[derive(Clone)]
pub enum Audience {
    All,
    Owner,
    Others,
    /// An expression of the type `foretell::Group`.
    Group(Box<Expr>),
}

impl Audience {
    /// What follows the name of a component that is told to these alone.
    pub fn suffix(&self) -> String {
        match self {
            Audience::All => String::new(),
            Audience::Owner => " (owner)".into(),
            Audience::Others => " (others)".into(),
            Audience::Group(group) => format!(" (group {})", group.to_token_stream()),
        }
    }

    /// Whether whoever gets `other` gets this too.
    pub fn includes(&self, other: &Audience) -> bool {
        match self {
            Audience::All => true,
            // An entity's owner is in all groups with it.
            Audience::Group(_) => self == other || *other == Audience::Owner,
            Audience::Owner | Audience::Others => self == other,
        }
    }

    /// The value of `audience = ...`.
    fn parse(key: &ParseNestedMeta<'_>) -> syn::Result<Audience> {
        let accepted = "write `audience = all`, `audience = owner`, `audience = others` or `audience = group(TEAM)`, with a \
                        `foretell::Group` of yours";
        let at = |error: Error| Error::new(error.span(), accepted);
        let value = key.value().map_err(at)?;
        let name: Ident = value.parse().map_err(at)?;
        if name == "group" {
            let group;
            syn::parenthesized!(group in value);
            let expression = group.parse().map_err(at)?;
            if !group.is_empty() {
                return Err(Error::new(group.span(), accepted));
            }
            return Ok(Audience::Group(Box::new(expression)));
        }
        match name.to_string().as_str() {
            "all" => Ok(Audience::All),
            "owner" => Ok(Audience::Owner),
            "others" => Ok(Audience::Others),
            _ => Err(Error::new(name.span(), accepted)),
        }
    }
}

/// Groups are the same where they are written in the same way.
impl PartialEq for Audience {
    fn eq(&self, other: &Audience) -> bool {
        self.to_token_stream().to_string() == other.to_token_stream().to_string()
    }
}

/// The expression of `foretell::Audience` that it is.
impl ToTokens for Audience {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Audience::All => quote!(::foretell::Audience::All),
            Audience::Owner => quote!(::foretell::Audience::Owner),
            Audience::Others => quote!(::foretell::Audience::Others),
            Audience::Group(group) => quote!(::foretell::Audience::Group(#group)),
        });
    }
}

/// What a field's attributes make of it.
#[derive(Clone)]
pub struct FieldSays {
    pub meaning: Meaning,
    /// Who gets it, where that is not as the struct or the variant says.
    pub audience: Option<Audience>,
    /// Whether the client that has authority over the entity writes it.
    pub by_owner: bool,
    /// Whether its own fields stand in its place.
    pub flat: bool,
    /// In which steps it is told to who shows the entity; `None` for exactly.
    pub precision: Option<LitFloat>,
}

impl FieldSays {
    /// Without an attribute.
    pub const NOTHING: FieldSays =
        FieldSays { meaning: Meaning::Plain, audience: None, by_owner: false, flat: false, precision: None };
}

/// What a field takes.
const OF_FIELD: &str = "a field takes `position`, `rotation`, `velocity`, `angular_velocity`, `blended`, `parent`, `teleports`, \
                        `precision = 0.001`, `audience = owner`, `writer = owner` or `flatten`";

/// What a field's attributes say.
pub fn field(attrs: &[Attribute]) -> syn::Result<FieldSays> {
    let mut says = FieldSays::NOTHING;
    each_key(attrs, |key| {
        if key.path.is_ident("flatten") {
            says.flat = true;
        } else if key.path.is_ident("writer") {
            let writer = one_of(key, &[("server", false), ("owner", true)])?;
            says.by_owner = writer;
        } else if key.path.is_ident("audience") {
            says.audience = Some(Audience::parse(key)?);
        } else if key.path.is_ident("precision") {
            says.precision = Some(step(key)?);
        } else {
            let found = Meaning::KEYS.into_iter().find(|(name, _)| key.path.is_ident(name));
            let (_, meaning) = found.ok_or_else(|| unknown(key, OF_FIELD))?;
            if says.meaning != Meaning::Plain {
                return Err(Error::new_spanned(&key.path, "a field has one meaning at most"));
            }
            says.meaning = meaning;
        }
        Ok(())
    })?;
    if says.flat && (says.by_owner || says.meaning != Meaning::Plain || says.precision.is_some()) {
        let first = attrs.iter().find(|attr| attr.path().is_ident("state"));
        return Err(Error::new_spanned(first, "what is flattened has the meanings and precisions of its own fields"));
    }
    Ok(says)
}

/// What the attributes of a struct or a variant make of it.
#[derive(Clone)]
pub struct KindSays {
    /// Who gets the fields that say nothing themselves.
    pub audience: Audience,
    /// Whether no client predicts it.
    pub is_never_predicted: bool,
    /// How often it is told to who shows it, at most.
    pub hz: Option<LitInt>,
}

/// What a struct or a variant takes.
const OF_KIND: &str = "a struct or a variant takes `audience = owner`, `predict = never` or `hz = 10`";

/// What the attributes of a struct or a variant say.
pub fn kind(attrs: &[Attribute]) -> syn::Result<KindSays> {
    let mut says = KindSays { audience: Audience::All, is_never_predicted: false, hz: None };
    each_key(attrs, |key| {
        if key.path.is_ident("audience") {
            says.audience = Audience::parse(key)?;
        } else if key.path.is_ident("predict") {
            says.is_never_predicted = one_of(key, &[("never", true)])?;
        } else if key.path.is_ident("hz") {
            says.hz = Some(hz(key)?);
        } else {
            return Err(unknown(key, OF_KIND));
        }
        Ok(())
    })?;
    Ok(says)
}

/// Refuses every key on an enum as a whole: each of its variants is a component of its own.
pub fn refuse_on_enum(attrs: &[Attribute]) -> syn::Result<()> {
    let each = "an enum takes nothing; each of its variants takes `audience = owner`, `predict = never` or `hz = 10`";
    each_key(attrs, |key| Err(unknown(key, each)))
}

fn each_key(attrs: &[Attribute], mut each: impl FnMut(&ParseNestedMeta<'_>) -> syn::Result<()>) -> syn::Result<()> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("state"))
        .try_for_each(|attr| attr.parse_nested_meta(|meta| each(&meta)))
}

/// The value of `key = value`, by its name.
fn one_of<T: Copy>(key: &ParseNestedMeta<'_>, values: &[(&str, T)]) -> syn::Result<T> {
    let accepted = || {
        let names: Vec<_> =
            values.iter().map(|(name, _)| format!("`{} = {name}`", key.path.to_token_stream())).collect();
        format!("write {}", names.join(" or "))
    };
    let value: Ident =
        key.value().and_then(|value| value.parse()).map_err(|error| Error::new(error.span(), accepted()))?;
    let found = values.iter().find(|(name, _)| value == name);
    found.map(|(_, found)| *found).ok_or_else(|| Error::new(value.span(), accepted()))
}

/// The value of `precision = ...`.
fn step(key: &ParseNestedMeta<'_>) -> syn::Result<LitFloat> {
    let accepted = "write a step above zero, in the unit of the field, such as `precision = 0.001`";
    let value: LitFloat =
        key.value().and_then(|value| value.parse()).map_err(|error| Error::new(error.span(), accepted))?;
    match value.base10_parse::<f64>() {
        Ok(step) if step > 0.0 && step.is_finite() => Ok(value),
        _ => Err(Error::new_spanned(value, accepted)),
    }
}

/// The value of `hz = ...`.
fn hz(key: &ParseNestedMeta<'_>) -> syn::Result<LitInt> {
    let accepted = "write a rate from 1 to 65535 Hz, such as `hz = 10`";
    let value: LitInt =
        key.value().and_then(|value| value.parse()).map_err(|error| Error::new(error.span(), accepted))?;
    match value.base10_parse::<u16>() {
        Ok(1..) => Ok(value),
        _ => Err(Error::new_spanned(value, accepted)),
    }
}

fn unknown(key: &ParseNestedMeta<'_>, accepted: &str) -> Error {
    let path = &key.path;
    Error::new_spanned(path, format!("`#[state({})]` has no meaning here: {accepted}", path.to_token_stream()))
}
