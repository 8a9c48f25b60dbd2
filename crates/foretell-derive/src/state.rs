//! `#[derive(State)]`.

use crate::attributes::{self, Audience};
use crate::layout::Layout;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Ident};

/// The most components that a schema has: their number is a byte.
const COMPONENTS_MAX: usize = 256;

/// One component: fields of a struct that have the same audience, or a variant.
struct Component {
    layout: Layout,
    audience: Audience,
    name: String,
}

/// The `impl` of `foretell::State`, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let (components, methods) = match &item.data {
        Data::Struct(data) => of_struct(item, data)?,
        Data::Enum(data) => of_enum(item, data)?,
        Data::Union(data) => {
            let message = "a state is a struct, or an enum of which each variant is a component";
            return Err(Error::new_spanned(data.union_token, message));
        }
    };
    crate::refuse_parameters(item)?;
    let is_choice = matches!(item.data, Data::Enum(_));
    let (name, count) = (&item.ident, components.len());
    let assertions = components.iter().map(|component| component.layout.assertions());
    let described = components.iter().map(describe);
    // What is flattened stands in the first component of a struct.
    let parts = components.iter().take(if is_choice { count } else { 1 }).map(|component| component.layout.part_mut());
    // A variant is no type, and so can't stand in another's row; nor can what has several audiences.
    let part = (!is_choice && count == 1).then(|| part(name, &components[0].layout));
    Ok(quote! {
        #(#assertions)*
        #part

        #[automatically_derived]
        impl ::foretell::State for #name {
            const COMPONENTS: usize = #count;
            const IS_CHOICE: bool = #is_choice;

            fn components() -> ::foretell::alloc::vec::Vec<::foretell::ComponentSchema> {
                ::foretell::alloc::vec![#(#described),*]
            }

            #methods

            fn part_mut<P: ::foretell::Part + 'static>(&mut self) -> ::core::option::Option<&mut P> {
                match self {
                    #(#parts)*
                }
            }
        }
    })
}

/// The components of a struct, and its methods.
fn of_struct(item: &DeriveInput, data: &DataStruct) -> syn::Result<(Vec<Component>, TokenStream)> {
    let otherwise = attributes::audience(&item.attrs)?;
    let layout = Layout::new(quote!(Self), &item.ident, &data.fields, |field| attributes::field(&field.attrs))?;
    let components: Vec<_> = layout
        .by_audience(otherwise)
        .into_iter()
        .enumerate()
        .map(|(nth, (audience, layout))| {
            let suffix = if nth == 0 { "" } else { audience.suffix() };
            Component { name: format!("{}{suffix}", layout.name()), layout, audience }
        })
        .collect();
    let numbers = 0..components.len();
    let writes = components.iter().zip(numbers.clone()).map(|(Component { layout, .. }, nth)| {
        let (pattern, write) = (layout.pattern(), layout.write());
        quote!(#nth => { let #pattern = self; #write })
    });
    let assigns = components.iter().zip(numbers).map(|(Component { layout, .. }, nth)| {
        let assign = layout.assign();
        quote!(#nth => { #assign })
    });
    let others: Vec<_> = components.iter().skip(1).map(|component| &component.layout).collect();
    let first = components[0].layout.read(&others);
    let unknown = unknown(&item.ident, components.len());
    let methods = quote! {
        fn write(&self, nth: usize, words: &mut [u32]) -> bool {
            match nth {
                #(#writes)*
                #unknown
            }
            true
        }

        fn read(nth: usize, words: &[u32]) -> ::core::option::Option<Self> {
            if nth > 0 {
                return ::core::option::Option::None;
            }
            ::core::option::Option::Some(#first)
        }

        fn adopt(&mut self, nth: usize, words: &[u32]) {
            match nth {
                #(#assigns)*
                #unknown
            }
        }
    };
    Ok((components, methods))
}

/// The components of an enum, and its methods.
fn of_enum(item: &DeriveInput, data: &DataEnum) -> syn::Result<(Vec<Component>, TokenStream)> {
    attributes::refuse_on_enum(&item.attrs)?;
    if !(1..=COMPONENTS_MAX).contains(&data.variants.len()) {
        let message = format!("a state has 1 to {COMPONENTS_MAX} variants, of which each is a component");
        return Err(Error::new_spanned(&item.ident, message));
    }
    let components = data.variants.iter().map(|variant| {
        let name = &variant.ident;
        let audience = attributes::audience(&variant.attrs)?;
        let says = |field: &syn::Field| {
            let says = attributes::field(&field.attrs)?;
            match says.audience {
                None => Ok(says),
                Some(_) => Err(Error::new_spanned(field, "a variant has one audience: say it of the variant")),
            }
        };
        let layout = Layout::new(quote!(Self::#name), name, &variant.fields, says)?;
        Ok(Component { name: layout.name().to_owned(), layout, audience })
    });
    let components: Vec<_> = components.collect::<syn::Result<_>>()?;
    let numbers = || 0..components.len();
    let writes = components.iter().zip(numbers()).map(|(Component { layout, .. }, nth)| {
        let (pattern, write) = (layout.pattern(), layout.write());
        quote!((#pattern, #nth) => { #write true })
    });
    let reads = components.iter().zip(numbers()).map(|(Component { layout, .. }, nth)| {
        let read = layout.read(&[]);
        quote!(#nth => #read,)
    });
    let unknown = unknown(&item.ident, components.len());
    let methods = quote! {
        fn write(&self, nth: usize, words: &mut [u32]) -> bool {
            match (self, nth) {
                #(#writes)*
                _ => false,
            }
        }

        fn read(nth: usize, words: &[u32]) -> ::core::option::Option<Self> {
            ::core::option::Option::Some(match nth {
                #(#reads)*
                #unknown
            })
        }

        fn adopt(&mut self, nth: usize, words: &[u32]) {
            if let ::core::option::Option::Some(state) = <Self as ::foretell::State>::read(nth, words) {
                *self = state;
            }
        }
    };
    Ok((components, methods))
}

/// The arm of a `match` on the number of a component for those that there are not.
fn unknown(name: &Ident, count: usize) -> TokenStream {
    let message = format!("component {{}} is none of `{name}`, which has {count}");
    quote!(other => ::core::panic!(#message, other),)
}

/// The `impl` of `foretell::Part` for a struct.
fn part(name: &Ident, layout: &Layout) -> TokenStream {
    let (words, columns) = (layout.words(), layout.columns());
    let (pattern, write, read) = (layout.pattern(), layout.write(), layout.read(&[]));
    quote! {
        #[automatically_derived]
        impl ::foretell::Part for #name {
            const WORDS: usize = #words;

            fn columns() -> ::foretell::alloc::vec::Vec<::foretell::Column> {
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

/// An expression: the `ComponentSchema` of a component.
fn describe(component: &Component) -> TokenStream {
    let (name, columns) = (&component.name, component.layout.columns());
    let audience = format_ident!("{}", component.audience.variant());
    quote!(::foretell::ComponentSchema::new(#name, #columns, ::foretell::Audience::#audience))
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
        let sentence = "a state is a struct, or an enum of which each variant is a component";
        assert_eq!(refusal(&parse_quote!(union Thing { a: u32, b: f32 })), sentence);
    }

    #[test]
    fn a_state_has_as_many_variants_as_a_byte_can_name() {
        let sentence = "a state has 1 to 256 variants, of which each is a component";
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
                        `blended`, `precision = 0.001`, `audience = owner`, `writer = owner` or `flatten`";
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
    fn an_audience_and_a_writer_are_one_of_those_that_there_are() {
        let audience = refusal(&parse_quote!(
            struct Thing(#[state(audience = others)] u32);
        ));
        assert_eq!(audience, "write `audience = all` or `audience = owner`");
        let writer = refusal(&parse_quote!(
            struct Thing(#[state(writer)] u32);
        ));
        assert_eq!(writer, "write `writer = server` or `writer = owner`");
    }

    #[test]
    fn a_variant_is_for_one_audience() {
        let sentence = "a variant has one audience: say it of the variant";
        assert_eq!(
            refusal(&parse_quote!(
                enum Thing {
                    Purse(#[state(audience = owner)] u32),
                }
            )),
            sentence
        );
    }

    #[test]
    fn an_unknown_attribute_of_a_struct_or_a_variant_is_answered_with_the_known_one() {
        let sentence = "has no meaning here: a struct or a variant takes `audience = owner`";
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
        let sentence = "`#[state(audience)]` has no meaning here: an enum takes nothing; each of its variants takes `audience = owner`";
        assert_eq!(
            refusal(&parse_quote!(
                #[state(audience = owner)]
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
        assert_eq!(twice, "`0` of `Thing` is its Velocity already: an entity has one at most");
    }

    #[test]
    fn a_state_has_as_many_blended_fields_as_it_likes() {
        assert!(
            derive(&parse_quote!(
                struct Thing(#[state(blended)] f32, #[state(blended, writer = owner)] [f64; 9]);
            ))
            .is_ok()
        );
    }

    #[test]
    fn what_is_flattened_has_no_meaning_of_its_own() {
        let sentence = "what is flattened has the meanings and precisions of its own fields";
        let placed = refusal(&parse_quote!(
            struct Thing(#[state(flatten, position)] Placed);
        ));
        assert_eq!(placed, sentence);
        let owned = refusal(&parse_quote!(
            struct Thing(#[state(flatten, writer = owner)] Placed);
        ));
        assert_eq!(owned, sentence);
    }

    #[test]
    fn two_variants_may_have_a_field_of_the_same_meaning_each() {
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
