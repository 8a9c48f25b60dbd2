//! The fields of a struct or of a variant: their columns, and the code that writes and reads them.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Error, Field, Fields, Ident, Member, Type};

const MEANINGS: [(&str, &str); 4] = [
    ("position", "Position"),
    ("rotation", "Rotation"),
    ("velocity", "Velocity"),
    ("angular_velocity", "AngularVelocity"),
];

/// One field: how it is named in code and in messages, its type, and what it means.
pub struct Laid {
    pub member: Member,
    pub binding: Ident,
    name: String,
    ty: Type,
    meaning: &'static str,
}

/// The fields in the order of their declaration.
pub fn laid_out(fields: &Fields) -> syn::Result<Vec<Laid>> {
    let mut laid: Vec<Laid> = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let meaning = meaning(field)?;
        if meaning != "Plain" && laid.iter().any(|other| other.meaning == meaning) {
            return Err(Error::new_spanned(field, "a kind of entity has at most one field of each meaning"));
        }
        let member = field.ident.clone().map_or_else(|| Member::from(index), Member::from);
        let name = field.ident.as_ref().map_or_else(|| index.to_string(), |ident| ident.to_string());
        laid.push(Laid { member, binding: format_ident!("field_{index}"), name, ty: field.ty.clone(), meaning });
    }
    Ok(laid)
}

fn meaning(field: &Field) -> syn::Result<&'static str> {
    let mut found = "Plain";
    each_word(&field.attrs, |word| {
        let known = MEANINGS.iter().find(|(name, _)| word == name);
        let (_, meaning) = known.ok_or_else(|| {
            Error::new_spanned(word, "a field is marked position, rotation, velocity or angular_velocity")
        })?;
        found = meaning;
        Ok(())
    })?;
    Ok(found)
}

/// Calls `each` with every word in `#[state(...)]`.
pub fn each_word(attrs: &[Attribute], mut each: impl FnMut(&Ident) -> syn::Result<()>) -> syn::Result<()> {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("state")) {
        attr.parse_nested_meta(|meta| match meta.path.get_ident() {
            Some(word) => each(word),
            None => Err(meta.error("a single word is expected")),
        })?;
    }
    Ok(())
}

/// The columns, as expressions.
pub fn columns(fields: &[Laid]) -> impl Iterator<Item = TokenStream> + '_ {
    fields.iter().map(|Laid { name, ty, meaning, .. }| {
        let meaning = format_ident!("{meaning}");
        quote!(::foretell::Column::of::<#ty>(#name, ::foretell::Meaning::#meaning))
    })
}

/// Where each field's words begin.
fn places(fields: &[Laid]) -> impl Iterator<Item = TokenStream> + '_ {
    (0..fields.len()).map(|index| {
        let before = fields[..index].iter().map(|field| &field.ty);
        quote!(0 #(+ <#before as ::foretell::Field>::WORDS)*)
    })
}

/// Statements that write the bindings of all fields into `words`.
pub fn write(fields: &[Laid]) -> TokenStream {
    let bindings = fields.iter().map(|field| &field.binding);
    let places = places(fields);
    quote!(#(::foretell::Field::put(*#bindings, &mut words[#places..]);)*)
}

/// `member: value read from words, ...`
pub fn read(fields: &[Laid]) -> TokenStream {
    let members = fields.iter().map(|field| &field.member);
    let places = places(fields);
    quote!(#(#members: ::foretell::Field::get(&words[#places..]),)*)
}

/// `member: ref binding, ...`
pub fn bind(fields: &[Laid]) -> TokenStream {
    let members = fields.iter().map(|field| &field.member);
    let bindings = fields.iter().map(|field| &field.binding);
    quote!(#(#members: #bindings,)*)
}

/// Refuses a layout that does not fit, when it is compiled.
pub fn assert_fits(fields: &[Laid]) -> TokenStream {
    let types = fields.iter().map(|field| &field.ty);
    quote! {
        const _: () = assert!(
            0 #(+ <#types as ::foretell::Field>::WORDS)* <= 64,
            "at most 64 words of 32 bits are possible",
        );
    }
}
