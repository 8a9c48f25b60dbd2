//! `#[derive(Message)]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Ident, LitInt, Token};

/// What `#[message(..)]` says.
struct MessageSays {
    delivery: TokenStream,
    bytes_max: Option<LitInt>,
}

const WORDS: &str =
    "say `ordered`, `unordered`, `newest`, `unreliable`, `in_step` or `bytes_max = 4096` in `#[message(..)]`";

impl MessageSays {
    fn read(item: &DeriveInput) -> syn::Result<MessageSays> {
        let (mut delivery, mut bytes_max) = (None, None);
        for attribute in item.attrs.iter().filter(|attribute| attribute.path().is_ident("message")) {
            attribute.parse_nested_meta(|meta| {
                let word = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
                let variant = match word.as_str() {
                    "ordered" => quote!(Ordered),
                    "unordered" => quote!(Unordered),
                    "newest" => quote!(Newest),
                    "unreliable" => quote!(Unreliable),
                    "in_step" => quote!(InStep),
                    "bytes_max" if bytes_max.is_none() => {
                        meta.input.parse::<Token![=]>()?;
                        bytes_max = Some(meta.input.parse::<LitInt>()?);
                        return Ok(());
                    }
                    _ => return Err(meta.error(WORDS)),
                };
                if delivery.replace(variant).is_some() {
                    return Err(meta.error("a message is delivered in one way"));
                }
                Ok(())
            })?;
        }
        Ok(MessageSays { delivery: delivery.unwrap_or_else(|| quote!(Ordered)), bytes_max })
    }

    fn bytes_max(&self) -> TokenStream {
        match &self.bytes_max {
            Some(bytes_max) => quote!(#bytes_max),
            None if self.delivery.to_string() == "InStep" => quote!(256),
            None => quote!(1 << 20),
        }
    }
}

/// The `impl` of `foretell::Message`, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    if !item.generics.params.is_empty() {
        let sentence = "a message has one name for one type: derive this on a type without parameters";
        return Err(Error::new_spanned(&item.generics, sentence));
    }
    let says = MessageSays::read(item)?;
    let (name, delivery, bytes_max) = (&item.ident, &says.delivery, says.bytes_max());
    Ok(quote! {
        #[automatically_derived]
        impl ::foretell::Message for #name {
            const NAME: &'static str = stringify!(#name);
            const DELIVERY: ::foretell::Delivery = ::foretell::Delivery::#delivery;
            const BYTES_MAX: u32 = #bytes_max;
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
    fn what_is_refused_is_told_with_what_to_write() {
        let two: DeriveInput = parse_quote!(
            #[message(newest, ordered)]
            struct Wind(f32);
        );
        assert_eq!(refusal(&two), "a message is delivered in one way");
        let unknown: DeriveInput = parse_quote!(
            #[message(reliable)]
            struct Wind(f32);
        );
        assert_eq!(refusal(&unknown), super::WORDS);
        let parameters: DeriveInput = parse_quote!(
            struct Wind<T>(T);
        );
        assert!(refusal(&parameters).contains("without parameters"));
    }

    #[test]
    fn without_a_word_it_is_ordered_and_may_take_a_mebibyte() {
        let plain: DeriveInput = parse_quote!(
            struct Wind(f32);
        );
        let derived = super::derive(&plain).expect("it may be derived").to_string();
        assert!(derived.contains("Ordered") && derived.contains("1 << 20"), "{derived}");
    }
}
