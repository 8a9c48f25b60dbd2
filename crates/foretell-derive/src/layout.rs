//! The layout of a struct or a variant: its fields in the order of their declaration, each at the words that follow
//! those of the one before, and the code that describes, writes and reads them.
//!
//! Generated code names its locals `words` and `field_0`, `field_1`, ...; fields of the user's type are only ever named
//! in patterns and literals, so that no field's name can shadow another's or the words.

use crate::attributes::{Audience, FieldSays, Meaning};
use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Error, Fields, Ident, LitFloat, Member, Type};

/// Where and what a field is.
struct Field {
    member: Member,
    binding: Ident,
    name: String,
    ty: Type,
    meaning: Meaning,
    audience: Option<Audience>,
    by_owner: bool,
    /// Its own fields stand in its place.
    flat: bool,
    precision: Option<LitFloat>,
}

impl Field {
    /// The trait by which it is laid out.
    fn laid_out(&self) -> TokenStream {
        if self.flat { quote!(::foretell::Flatten) } else { quote!(::foretell::Field) }
    }
}

/// The fields of a struct or a variant.
pub struct Layout {
    /// How a value of it is written inside the `impl`: `Self`, or `Self::Variant`.
    path: TokenStream,
    /// The struct's or the variant's name, for messages.
    name: String,
    fields: Vec<Field>,
}

impl Layout {
    /// The layout of the struct or variant `name`; `says` tells what a field's attributes make of it.
    ///
    /// Fails when two fields have the same meaning.
    pub fn new(
        path: TokenStream,
        name: &Ident,
        fields: &Fields,
        says: impl Fn(&syn::Field) -> syn::Result<FieldSays>,
    ) -> syn::Result<Layout> {
        let mut layout = Layout { path, name: name.unraw().to_string(), fields: Vec::new() };
        for (index, field) in fields.iter().enumerate() {
            let FieldSays { meaning, audience, by_owner, flat, precision } = says(field)?;
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), |ident| ident.unraw().to_string());
            if let Some(first) = layout.fields.iter().find(|first| first.meaning == meaning && meaning.is_single()) {
                let (meaning, of, first) = (meaning.variant(), &layout.name, &first.name);
                let message = format!("`{first}` of `{of}` is its {meaning} already: an entity has one at most");
                return Err(Error::new_spanned(field, message));
            }
            let member = field.ident.clone().map_or_else(|| Member::from(index), Member::from);
            layout.fields.push(Field {
                member,
                binding: format_ident!("field_{index}"),
                name,
                ty: field.ty.clone(),
                meaning,
                audience,
                by_owner,
                flat,
                precision,
            });
        }
        Ok(layout)
    }

    /// The same fields in parts, one for each audience, first what all see who see any of an entity: so they see that there is
    /// one. The others in the order of their first fields. `otherwise` is the audience of the fields that say nothing; the only
    /// one, where there are no fields.
    ///
    /// Fails when there is no such first one.
    pub fn by_audience(self, otherwise: &Audience) -> syn::Result<Vec<(Audience, Layout)>> {
        let Layout { path, name, fields } = self;
        let empty = || Layout { path: path.clone(), name: name.clone(), fields: Vec::new() };
        let mut parts: Vec<(Audience, Layout)> = Vec::new();
        for field in fields {
            let audience = field.audience.clone().unwrap_or_else(|| otherwise.clone());
            let at = parts.iter().position(|(of, _)| *of == audience).unwrap_or(parts.len());
            if at == parts.len() {
                parts.push((audience, empty()));
            }
            parts[at].1.fields.push(field);
        }
        if parts.is_empty() {
            parts.push((otherwise.clone(), empty()));
        }
        let Some(first) = parts.iter().position(|(of, _)| parts.iter().all(|(other, _)| of.includes(other))) else {
            let message = format!(
                "no field of `{name}` is for all who see any of the others: give them one with `audience = all`, or two states"
            );
            return Err(Error::new_spanned(&parts[1].1.fields[0].ty, message));
        };
        parts[..=first].rotate_right(1);
        Ok(parts)
    }

    /// The struct's or the variant's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// An expression: the `Vec` of its columns.
    pub fn columns(&self) -> TokenStream {
        if self.fields.is_empty() {
            return quote!(::foretell::alloc::vec::Vec::new());
        }
        let columns = self.fields.iter().map(|Field { name, ty, meaning, by_owner, flat, precision, .. }| {
            if *flat {
                return quote!(<#ty as ::foretell::Flatten>::columns());
            }
            let meaning = format_ident!("{}", meaning.variant());
            let by_owner = by_owner.then(|| quote!(.by_owner()));
            let precision = precision.as_ref().map(|step| quote!(.to_nearest(#step as f64)));
            let column = quote_spanned!(ty.span()=> ::foretell::Column::of::<#ty>);
            quote!(::foretell::alloc::vec![#column(#name, ::foretell::Meaning::#meaning) #by_owner #precision])
        });
        quote!(::foretell::alloc::vec![#(#columns),*].concat())
    }

    /// A constant expression: how many words it takes.
    pub fn words(&self) -> TokenStream {
        words_of(&self.fields)
    }

    /// A constant expression: which meanings its fields have, as a part says it.
    pub fn meanings(&self) -> TokenStream {
        meanings_of(&self.fields)
    }

    /// A pattern that any value of it matches.
    pub fn any_pattern(&self) -> TokenStream {
        let path = &self.path;
        quote!(#path { .. })
    }

    /// A pattern that binds its fields by reference.
    pub fn pattern(&self) -> TokenStream {
        let Layout { path, fields, .. } = self;
        let members = fields.iter().map(|field| &field.member);
        let bindings = fields.iter().map(|field| &field.binding);
        quote!(#path { #(#members: #bindings,)* .. })
    }

    /// An arm of a `match` on `&mut self`: the flattened field of type `P`, if there is one, in an `Option`.
    pub fn part_mut(&self) -> TokenStream {
        let Layout { path, fields, .. } = self;
        let flat = || fields.iter().filter(|field| field.flat);
        let members = flat().map(|field| &field.member);
        let bindings = flat().map(|field| &field.binding);
        let found = flat().map(|field| {
            let binding = &field.binding;
            quote!(.or_else(move || <dyn ::core::any::Any>::downcast_mut::<P>(#binding)))
        });
        quote!(#path { #(#members: #bindings,)* .. } => ::core::option::Option::None #(#found)*,)
    }

    /// Statements that write what [`pattern`](Layout::pattern) bound into `words: &mut [u32]`.
    pub fn write(&self) -> TokenStream {
        if self.fields.is_empty() {
            return quote!(let _ = words;);
        }
        let all = words_of(&self.fields);
        let writes = self.fields.iter().enumerate().map(|(index, Field { binding, ty, flat, .. })| {
            let at = words_of(&self.fields[..index]);
            match flat {
                true => {
                    quote_spanned!(ty.span()=> <#ty as ::foretell::Flatten>::write(#binding, &mut words[const { #at }..]);)
                }
                false => {
                    quote_spanned!(ty.span()=> <#ty as ::foretell::Field>::put(*#binding, &mut words[const { #at }..]);)
                }
            }
        });
        // Cut to length first: one check of bounds, and those of the fields are constants.
        quote! {
            let words = &mut words[..const { #all }];
            #(#writes)*
        }
    }

    /// An expression: the value read from `words: &[u32]`; `others` have their default.
    pub fn read(&self, others: &[&Layout]) -> TokenStream {
        let path = &self.path;
        let others = others.iter().flat_map(|layout| &layout.fields).map(|field| &field.member);
        let defaults = quote!(#(#others: ::core::default::Default::default(),)*);
        if self.fields.is_empty() {
            return quote!({ let _ = words; #path { #defaults } });
        }
        let all = words_of(&self.fields);
        let reads = self.each_read().map(|(member, read)| quote!(#member: #read));
        quote!({
            let words = &words[..const { #all }];
            #path { #(#reads,)* #defaults }
        })
    }

    /// Statements that read its fields from `words: &[u32]` into `self`, which is a struct.
    pub fn assign(&self) -> TokenStream {
        let all = words_of(&self.fields);
        let reads = self.each_read().map(|(member, read)| quote!(self.#member = #read;));
        quote! {
            let words = &words[..const { #all }];
            #(#reads)*
        }
    }

    /// Statements that give its fields of `self`, which is a struct, their default.
    pub fn forget(&self) -> TokenStream {
        let members = self.fields.iter().map(|field| &field.member);
        quote!(#(self.#members = ::core::default::Default::default();)*)
    }

    fn each_read(&self) -> impl Iterator<Item = (&Member, TokenStream)> {
        self.fields.iter().enumerate().map(|(index, Field { member, ty, flat, .. })| {
            let at = words_of(&self.fields[..index]);
            let read = match flat {
                true => quote_spanned!(ty.span()=> <#ty as ::foretell::Flatten>::read(&words[const { #at }..])),
                false => quote_spanned!(ty.span()=> <#ty as ::foretell::Field>::get(&words[const { #at }..])),
            };
            (member, read)
        })
    }

    /// Items that refuse, when they are compiled, a layout of too many words and a type that does not fit its meaning.
    pub fn assertions(&self) -> TokenStream {
        let name = &self.name;
        let all = words_of(&self.fields);
        let too_long = format!("`{name}` has more than 64 words: 32 bits of a field's lane take one, 64 bits two");
        let fit = self.fields.iter().filter_map(|field| {
            let (least, most) = field.meaning.lanes()?;
            let (ty, meaning) = (&field.ty, field.meaning.variant());
            let lanes = if least == most { most.to_string() } else { format!("{least} to {most}") };
            let message =
                format!("`{}` of `{name}`: a {meaning} has {lanes} lanes of f32 or f64, and is no Option", field.name);
            // Spanned, so that the compiler points at the field.
            Some(quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(
                    <#ty as ::foretell::Field>::SCALAR.is_float()
                        && !<#ty as ::foretell::Field>::IS_OPTION
                        && #least <= <#ty as ::foretell::Field>::LANES
                        && <#ty as ::foretell::Field>::LANES <= #most,
                    #message
                );
            })
        });
        let rounded = self.fields.iter().filter(|field| field.precision.is_some()).map(|field| {
            let ty = &field.ty;
            let message = format!("`{}` of `{name}`: a precision is for f32 and f64, and no Option", field.name);
            quote_spanned! {ty.span()=>
                const _: () = ::core::assert!(
                    <#ty as ::foretell::Field>::SCALAR.is_float() && !<#ty as ::foretell::Field>::IS_OPTION,
                    #message
                );
            }
        });
        let teleports = self.teleports_assertion();
        let parents = self.fields.iter().filter(|field| field.meaning == Meaning::Parent).map(|field| {
            let ty = &field.ty;
            quote_spanned! {ty.span()=>
                const _: () = {
                    const fn names_parent<T: ::foretell::derive_support::ParentName>() {}
                    names_parent::<#ty>();
                };
            }
        });
        let once =
            self.fields.iter().enumerate().filter(|(_, field)| field.flat).map(|(index, Field { ty, name, .. })| {
                let others = meanings_of(
                    self.fields[..index].iter().chain(self.fields[index..].iter().filter(|other| !other.flat)),
                );
                let message = format!(
                    "`{name}` of `{}` has a meaning that another field has: an entity has one of each at most",
                    self.name
                );
                quote_spanned! {ty.span()=>
                    const _: () = ::core::assert!(
                    ::foretell::derive_support::are_apart(<#ty as ::foretell::Flatten>::MEANINGS, #others),
                    #message);
                }
            });
        quote! {
            const _: () = ::core::assert!(#all <= 64, #too_long);
            #(#fit)*
            #(#rounded)*
            #(#parents)*
            #teleports
            #(#once)*
        }
    }

    /// Refuses a field that counts teleports where its type is no count, or where nothing says from where to where they are.
    fn teleports_assertion(&self) -> Option<TokenStream> {
        let field = self.fields.iter().find(|field| field.meaning == Meaning::Teleports)?;
        let (ty, all) = (&field.ty, self.meanings());
        let of = format!("`{}` of `{}`", field.name, self.name);
        let no_count = format!("{of}: teleports are counted by a u8, u16 or u32");
        let no_position = format!("{of}: teleports are counted beside a position that the same players see");
        Some(quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(::foretell::derive_support::is_count::<#ty>(), #no_count);
            const _: () = ::core::assert!(::foretell::derive_support::are_placed(#all), #no_position);
        })
    }
}

/// A constant expression: how many words these fields take together.
fn words_of(fields: &[Field]) -> TokenStream {
    let words = fields.iter().map(|field| {
        let (ty, laid_out) = (&field.ty, field.laid_out());
        quote_spanned!(ty.span()=> <#ty as #laid_out>::WORDS)
    });
    let mut sum = quote!(#(#words)+*);
    if sum.is_empty() {
        sum = 0_usize.to_token_stream();
    }
    sum
}

/// A constant expression: which meanings these fields have of which a row has one at most, a bit for each.
fn meanings_of<'a>(fields: impl IntoIterator<Item = &'a Field>) -> TokenStream {
    let bits = fields.into_iter().filter_map(|Field { ty, meaning, flat, .. }| {
        let variant = format_ident!("{}", meaning.variant());
        match flat {
            true => Some(quote_spanned!(ty.span()=> <#ty as ::foretell::Flatten>::MEANINGS)),
            false => meaning.is_single().then(|| quote!(1_u32 << ::foretell::Meaning::#variant as u32)),
        }
    });
    let bits: Vec<_> = bits.collect();
    if bits.is_empty() { quote!(0) } else { quote!(#(#bits)|*) }
}
