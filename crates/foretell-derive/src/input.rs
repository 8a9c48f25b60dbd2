//! `#[derive(Input)]`.

use crate::attributes::FieldSays;
use crate::layout::Layout;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error};

/// The `impl` of `foretell::Input`, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = match &item.data {
        Data::Struct(data) => &data.fields,
        Data::Enum(data) => return Err(refuse(data.enum_token)),
        Data::Union(data) => return Err(refuse(data.union_token)),
    };
    crate::refuse_parameters(item)?;
    let name = &item.ident;
    let layout = Layout::new(quote!(Self), name, fields, |_| Ok(FieldSays::NOTHING))?;
    let (assertions, columns, pattern) = (layout.assertions(), layout.columns(), layout.pattern());
    let (write, read) = (layout.write(), layout.read(&[]));
    Ok(quote! {
        #assertions

        #[automatically_derived]
        impl ::foretell::Input for #name {
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
    })
}

fn refuse(keyword: impl quote::ToTokens) -> Error {
    Error::new_spanned(keyword, "an input is a struct of bools, integers, f32, f64 and arrays of them")
}

#[cfg(test)]
mod tests {
    use syn::{DeriveInput, parse_quote};

    fn refusal(item: &DeriveInput) -> String {
        super::derive(item).expect_err("it should be refused").to_string()
    }

    #[test]
    fn an_input_is_a_struct() {
        let sentence = "an input is a struct of bools, integers, f32, f64 and arrays of them";
        assert_eq!(
            refusal(&parse_quote!(
                enum Command {
                    Wait,
                    Jump,
                }
            )),
            sentence
        );
        assert_eq!(refusal(&parse_quote!(union Command { a: u32, b: f32 })), sentence);
    }

    #[test]
    fn an_input_has_no_parameters_of_any_sort() {
        let sentence = "a type with parameters has no fixed layout: derive this on a type without any";
        assert_eq!(
            refusal(&parse_quote!(
                struct Command<T>(T);
            )),
            sentence
        );
        assert_eq!(
            refusal(&parse_quote!(
                struct Command<'a>(&'a u8);
            )),
            sentence
        );
        assert_eq!(
            refusal(&parse_quote!(
                struct Command<const N: usize>([u8; N]);
            )),
            sentence
        );
    }
}
