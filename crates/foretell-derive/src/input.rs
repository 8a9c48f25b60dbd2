//! `#[derive(Input)]`.

use crate::fields;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error};

pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    crate::refuse_generics(item)?;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "an input is a struct of bools, numbers and arrays of them"));
    };
    let laid = fields::laid_out(&data.fields)?;
    let name = &item.ident;
    let (fits, columns) = (fields::assert_fits(&laid), fields::columns(&laid));
    let (bind, write, read) = (fields::bind(&laid), fields::write(&laid), fields::read(&laid));
    Ok(quote! {
        #fits
        impl ::foretell::Input for #name {
            fn columns() -> ::std::vec::Vec<::foretell::Column> {
                ::std::vec![#(#columns),*]
            }
            fn write(&self, words: &mut [u32]) {
                let _ = &words;
                let #name { #bind } = self;
                #write
            }
            fn read(words: &[u32]) -> Self {
                let _ = &words;
                #name { #read }
            }
        }
    })
}
