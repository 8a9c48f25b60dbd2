//! `#[derive(State)]`.

use crate::fields::{self, Laid};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Ident};

/// One kind of entity: how a value of it is written in code, and what is in it.
struct KindOf {
    name: Ident,
    path: TokenStream,
    owner: bool,
    laid: Vec<Laid>,
}

pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    crate::refuse_generics(item)?;
    let kinds = kinds(item)?;
    let name = &item.ident;
    let fits = kinds.iter().map(|kind| fields::assert_fits(&kind.laid));
    let described = kinds.iter().map(describe);
    let numbers: Vec<u8> = (0..=u8::MAX).take(kinds.len()).collect();
    let paths: Vec<_> = kinds.iter().map(|kind| &kind.path).collect();
    let binds: Vec<_> = kinds.iter().map(|kind| fields::bind(&kind.laid)).collect();
    let writes = kinds.iter().map(|kind| fields::write(&kind.laid));
    let reads = kinds.iter().map(|kind| fields::read(&kind.laid));
    Ok(quote! {
        #(#fits)*
        impl ::foretell::State for #name {
            fn schema() -> ::foretell::Schema {
                ::foretell::Schema::new(::std::vec![#(#described),*])
            }
            fn kind(&self) -> ::foretell::Kind {
                match self {
                    #(#paths { .. } => ::foretell::Kind(#numbers),)*
                }
            }
            fn write(&self, words: &mut [u32]) {
                let _ = &words;
                match self {
                    #(#paths { #binds } => { #writes })*
                }
            }
            fn read(kind: ::foretell::Kind, words: &[u32]) -> Self {
                let _ = &words;
                match kind.0 {
                    #(#numbers => #paths { #reads },)*
                    other => ::std::panic!("kind {} is not one of this schema's", other),
                }
            }
        }
    })
}

fn kinds(item: &DeriveInput) -> syn::Result<Vec<KindOf>> {
    match &item.data {
        Data::Struct(data) => {
            let (name, laid) = (item.ident.clone(), fields::laid_out(&data.fields)?);
            Ok(vec![KindOf { path: quote!(#name), name, owner: is_for_owner(&item.attrs)?, laid }])
        }
        Data::Enum(data) if !data.variants.is_empty() && data.variants.len() <= 256 => {
            let of = &item.ident;
            let kind = |variant: &syn::Variant| {
                let (name, laid) = (variant.ident.clone(), fields::laid_out(&variant.fields)?);
                Ok(KindOf { path: quote!(#of::#name), name, owner: is_for_owner(&variant.attrs)?, laid })
            };
            data.variants.iter().map(kind).collect()
        }
        _ => Err(Error::new_spanned(&item.ident, "a state is a struct, or an enum of 1 to 256 variants")),
    }
}

fn is_for_owner(attrs: &[Attribute]) -> syn::Result<bool> {
    let mut owner = false;
    fields::each_word(attrs, |word| {
        owner = word == "owner";
        if owner { Ok(()) } else { Err(Error::new_spanned(word, "a kind of entity is marked owner, or not at all")) }
    })?;
    Ok(owner)
}

fn describe(kind: &KindOf) -> TokenStream {
    let name = kind.name.to_string();
    let columns = fields::columns(&kind.laid);
    let audience = if kind.owner { quote!(Owner) } else { quote!(All) };
    quote!(::foretell::KindSchema::new(#name, ::std::vec![#(#columns),*], ::foretell::Audience::#audience))
}
