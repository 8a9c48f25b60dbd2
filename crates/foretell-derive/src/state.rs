//! `#[derive(State)]`.

use crate::attributes;
use crate::layout::Layout;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Attribute, Data, DataEnum, DeriveInput, Error, Fields, Ident};

/// The most kinds that a schema has: a kind is a byte.
const KINDS_MAX: usize = 256;

/// One kind of entity: a struct, or a variant of an enum.
struct KindOf {
    layout: Layout,
    owner: bool,
}

/// The `impl` of `foretell::State`, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let kinds = kinds(item)?;
    crate::refuse_parameters(item)?;
    let name = &item.ident;
    let numbers: Vec<u8> = (0..=u8::MAX).take(kinds.len()).collect();
    let paths = kinds.iter().map(|kind| kind.layout.path());
    let patterns = kinds.iter().map(|kind| kind.layout.pattern());
    let writes = kinds.iter().map(|kind| kind.layout.write());
    let reads = kinds.iter().map(|kind| kind.layout.read());
    let parts = kinds.iter().map(|kind| kind.layout.part_mut());
    let assertions = kinds.iter().map(|kind| kind.layout.assertions());
    let described = kinds.iter().map(describe);
    // All 256 kinds leave no byte over.
    let otherwise = (kinds.len() < KINDS_MAX).then(|| {
        let unknown = format!("kind {{}} is none of the kinds of `{name}`, which number {}", kinds.len());
        quote!(other => ::core::panic!(#unknown, other),)
    });
    // A variant is no type, and so can't stand in another's row.
    let part = matches!(item.data, Data::Struct(_)).then(|| part(name, &kinds[0].layout));
    Ok(quote! {
        #(#assertions)*
        #part

        #[automatically_derived]
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
                match self {
                    #(#patterns => { #writes })*
                }
            }

            fn read(kind: ::foretell::Kind, words: &[u32]) -> Self {
                match kind.0 {
                    #(#numbers => #reads)*
                    #otherwise
                }
            }

            fn part_mut<P: ::foretell::Part + 'static>(&mut self) -> ::core::option::Option<&mut P> {
                match self {
                    #(#parts)*
                }
            }
        }
    })
}

/// The kinds in the order of their numbers; `1 <= len <= 256`.
fn kinds(item: &DeriveInput) -> syn::Result<Vec<KindOf>> {
    match &item.data {
        Data::Struct(data) => Ok(vec![kind(quote!(Self), &item.ident, &data.fields, &item.attrs)?]),
        Data::Enum(data) => kinds_of_enum(item, data),
        Data::Union(data) => Err(Error::new_spanned(
            data.union_token,
            "a state is a struct, or an enum with one variant for each kind of entity",
        )),
    }
}

fn kinds_of_enum(item: &DeriveInput, data: &DataEnum) -> syn::Result<Vec<KindOf>> {
    attributes::refuse_on_enum(&item.attrs)?;
    if !(1..=KINDS_MAX).contains(&data.variants.len()) {
        let message = format!("a state has 1 to {KINDS_MAX} variants, one for each kind of entity");
        return Err(Error::new_spanned(&item.ident, message));
    }
    data.variants
        .iter()
        .map(|variant| {
            let name = &variant.ident;
            kind(quote!(Self::#name), name, &variant.fields, &variant.attrs)
        })
        .collect()
}

fn kind(path: TokenStream, name: &Ident, fields: &Fields, attrs: &[Attribute]) -> syn::Result<KindOf> {
    let owner = attributes::for_owner(attrs)?;
    let layout = Layout::new(path, name, fields, |field| attributes::field(&field.attrs))?;
    Ok(KindOf { layout, owner })
}

/// The `impl` of `foretell::Part` for a struct.
fn part(name: &Ident, layout: &Layout) -> TokenStream {
    let (words, columns) = (layout.words(), layout.columns());
    let (pattern, write, read) = (layout.pattern(), layout.write(), layout.read());
    quote! {
        #[automatically_derived]
        impl ::foretell::Part for #name {
            const WORDS: usize = #words;

            fn columns() -> ::std::vec::Vec<::foretell::Column> {
                #columns
            }

            fn write(&self, words: &mut [u32]) {
                let #pattern = self;
                #write
            }

            fn read(words: &[u32]) -> Self {
                #read
            }
        }
    }
}

/// An expression: the `KindSchema` of a kind.
fn describe(kind: &KindOf) -> TokenStream {
    let (name, columns) = (kind.layout.name(), kind.layout.columns());
    let audience = format_ident!("{}", if kind.owner { "Owner" } else { "All" });
    quote!(::foretell::KindSchema::new(#name, #columns, ::foretell::Audience::#audience))
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn refusal(item: &DeriveInput) -> String {
        derive(item).expect_err("it should be refused").to_string()
    }

    fn enum_of(variants: usize) -> DeriveInput {
        let names = (0..variants).map(|index| format_ident!("Kind{index}"));
        parse_quote!(enum Thing { #(#names),* })
    }

    #[test]
    fn a_state_is_a_struct_or_an_enum() {
        let sentence = "a state is a struct, or an enum with one variant for each kind of entity";
        assert_eq!(refusal(&parse_quote!(union Thing { a: u32, b: f32 })), sentence);
    }

    #[test]
    fn a_state_has_as_many_variants_as_a_byte_can_name() {
        let sentence = "a state has 1 to 256 variants, one for each kind of entity";
        assert_eq!(refusal(&enum_of(0)), sentence);
        assert_eq!(refusal(&enum_of(257)), sentence);
        assert!(derive(&enum_of(1)).is_ok());
        assert!(derive(&enum_of(256)).is_ok());
    }

    #[test]
    fn a_state_has_no_parameters() {
        let sentence = "a type with parameters has no fixed layout: derive this on a type without any";
        assert_eq!(
            refusal(&parse_quote!(
                struct Thing<T>(T);
            )),
            sentence
        );
        assert_eq!(
            refusal(&parse_quote!(
                enum Thing<'a> {
                    Name(&'a u8),
                }
            )),
            sentence
        );
    }

    #[test]
    fn an_unknown_attribute_of_a_field_is_answered_with_the_known_ones() {
        let sentence = "has no meaning here: a field takes `position`, `rotation`, `velocity`, `angular_velocity`, \
                        `blended`, `by_owner` or `flatten`";
        let place = refusal(&parse_quote!(
            struct Thing {
                #[state(place)]
                at: [f32; 3],
            }
        ));
        assert_eq!(place, format!("`#[state(place)]` {sentence}"));
        let owner = refusal(&parse_quote!(
            enum Thing {
                Purse(#[state(owner)] u32),
            }
        ));
        assert_eq!(owner, format!("`#[state(owner)]` {sentence}"));
    }

    #[test]
    fn an_unknown_attribute_of_a_kind_is_answered_with_the_known_one() {
        let sentence = "has no meaning here: a struct or a variant takes `owner`";
        let on_struct = refusal(&parse_quote!(
            #[state(position)]
            struct Thing(f32);
        ));
        assert_eq!(on_struct, format!("`#[state(position)]` {sentence}"));
        let on_variant = refusal(&parse_quote!(
            enum Thing {
                #[state(others)]
                Purse(u32),
            }
        ));
        assert_eq!(on_variant, format!("`#[state(others)]` {sentence}"));
    }

    #[test]
    fn an_enum_as_a_whole_takes_no_attribute() {
        let sentence =
            "`#[state(owner)]` has no meaning here: an enum takes nothing; each of its variants takes `owner`";
        assert_eq!(
            refusal(&parse_quote!(
                #[state(owner)]
                enum Thing {
                    Purse(u32),
                }
            )),
            sentence
        );
    }

    #[test]
    fn a_field_has_one_meaning_and_a_meaning_one_field() {
        let both = refusal(&parse_quote!(
            struct Thing {
                #[state(position, velocity)]
                at: f32,
            }
        ));
        assert_eq!(both, "a field has one meaning at most");
        let twice = refusal(&parse_quote!(
            struct Thing(#[state(velocity)] f32, bool, #[state(velocity)] f32);
        ));
        assert_eq!(twice, "`0` of `Thing` is its Velocity already: a kind has one at most");
    }

    #[test]
    fn a_kind_has_as_many_blended_fields_as_it_likes() {
        assert!(
            derive(&parse_quote!(
                struct Thing(#[state(blended)] f32, #[state(blended, by_owner)] [f64; 9]);
            ))
            .is_ok()
        );
    }

    #[test]
    fn what_is_flattened_has_no_meaning_of_its_own() {
        let sentence = "what is flattened has the meanings of its own fields";
        let placed = refusal(&parse_quote!(
            struct Thing(#[state(flatten, position)] Placed);
        ));
        assert_eq!(placed, sentence);
        let owned = refusal(&parse_quote!(
            struct Thing(#[state(flatten, by_owner)] Placed);
        ));
        assert_eq!(owned, sentence);
    }

    #[test]
    fn two_kinds_may_have_a_field_of_the_same_meaning_each() {
        assert!(
            derive(&parse_quote!(
                enum Thing {
                    A(#[state(position)] f32),
                    B(#[state(position)] f32),
                }
            ))
            .is_ok()
        );
    }

    #[test]
    fn attributes_of_others_are_left_alone() {
        assert!(
            derive(&parse_quote!(
                #[serde(tag = "kind")]
                struct Thing {
                    #[serde(skip)]
                    at: f32,
                }
            ))
            .is_ok()
        );
    }
}
