//! `#[derive(Field)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error};

/// The `impl` of `foretell::Field` for an enum without data, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let sentence = "a field is an enum of 1 to 256 variants without data: derive `State` on what has fields of its own";
    let Data::Enum(data) = &item.data else { return Err(Error::new_spanned(&item.ident, sentence)) };
    crate::refuse_parameters(item)?;
    let has_data = data.variants.iter().find(|variant| !variant.fields.is_empty());
    if has_data.is_some() || !(1..=256).contains(&data.variants.len()) {
        let at = has_data.map_or(&item.ident, |variant| &variant.ident);
        return Err(Error::new_spanned(at, sentence));
    }
    let name = &item.ident;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let numbers: Vec<u32> = (0..).take(variants.len()).collect();
    let first = variants[0];
    Ok(quote! {
        #[automatically_derived]
        impl ::foretell::Field for #name {
            const SCALAR: ::foretell::world::Scalar = ::foretell::world::Scalar::Unsigned(8);
            const LANES: u8 = 1;

            fn put(self, words: &mut [u32]) {
                words[0] = match self {
                    #(Self::#variants => #numbers,)*
                };
            }

            fn get(words: &[u32]) -> Self {
                match words[0] {
                    #(#numbers => Self::#variants,)*
                    // Another version's, or a mistake on the way.
                    _ => Self::#first,
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use syn::{DeriveInput, parse_quote};

    fn refusal(item: &DeriveInput) -> String {
        super::derive(item).expect_err("it should be refused").to_string()
    }

    #[test]
    fn a_field_is_an_enum_without_data() {
        let sentence =
            "a field is an enum of 1 to 256 variants without data: derive `State` on what has fields of its own";
        assert_eq!(
            refusal(&parse_quote!(
                struct Team(u8);
            )),
            sentence
        );
        assert_eq!(
            refusal(&parse_quote!(
                enum Team {
                    Red,
                    Blue(u8),
                }
            )),
            sentence
        );
        assert_eq!(
            refusal(&parse_quote!(
                enum Team {}
            )),
            sentence
        );
    }
}
