//! `#[derive(State)]`.

use crate::attributes::{self, Audience, KindSays};
use crate::layout::Layout;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DataEnum, DataStruct, DeriveInput, Error, Ident};

/// The most components that a schema has: their number is a byte.
const COMPONENTS_MAX: usize = 256;

/// One component: fields of a struct that have the same audience, or a variant.
struct Component {
    layout: Layout,
    /// What is said of its kind, with its own audience.
    says: KindSays,
    name: String,
}

impl Component {
    /// Whether all that is said of it is said of its fields.
    fn is_plain(&self) -> bool {
        let KindSays { audience, is_never_predicted, hz } = &self.says;
        matches!(audience, Audience::All) && !is_never_predicted && hz.is_none()
    }
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
    let never = components.iter().take(if is_choice { count } else { 1 });
    let never = never.filter(|component| component.says.is_never_predicted);
    let never: Vec<_> = never.map(|component| component.layout.any_pattern()).collect();
    let never = if never.is_empty() { quote!(false) } else { quote!(::core::matches!(self, #(#never)|*)) };
    // What is flattened stands in the first component of a struct.
    let parts = components.iter().take(if is_choice { count } else { 1 }).map(|component| component.layout.part_mut());
    // A variant is no type, and so can't stand in another's row; nor can what says of itself who gets it, and how.
    let part = (!is_choice && components.iter().all(Component::is_plain)).then(|| part(name, &components[0].layout));
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

            fn is_never_predicted(&self) -> bool {
                #never
            }

            fn part_mut<P: ::foretell::Flatten + 'static>(&mut self) -> ::core::option::Option<&mut P> {
                match self {
                    #(#parts)*
                }
            }
        }
    })
}

/// The components of a struct, and its methods.
fn of_struct(item: &DeriveInput, data: &DataStruct) -> syn::Result<(Vec<Component>, TokenStream)> {
    let says = attributes::kind(&item.attrs)?;
    let layout = Layout::new(quote!(Self), &item.ident, &data.fields, |field| attributes::field(&field.attrs))?;
    let components: Vec<_> = layout
        .by_audience(&says.audience)?
        .into_iter()
        .enumerate()
        .map(|(nth, (audience, layout))| {
            let suffix = if nth == 0 { String::new() } else { audience.suffix() };
            let name = format!("{}{suffix}", layout.name());
            Component { name, layout, says: KindSays { audience, ..says.clone() } }
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
    let forgets = components.iter().zip(0_usize..).skip(1).map(|(Component { layout, .. }, nth)| {
        let forget = layout.forget();
        quote!(#nth => { #forget })
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

        fn forget(&mut self, nth: usize) {
            match nth {
                #(#forgets)*
                _ => {}
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
        let kind = attributes::kind(&variant.attrs)?;
        let says = |field: &syn::Field| {
            let says = attributes::field(&field.attrs)?;
            match says.audience {
                None => Ok(says),
                Some(_) => Err(Error::new_spanned(field, "a variant has one audience: say it of the variant")),
            }
        };
        let layout = Layout::new(quote!(Self::#name), name, &variant.fields, says)?;
        Ok(Component { name: layout.name().to_owned(), layout, says: kind })
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

/// The `impl` of `foretell::Flatten` for a struct.
fn part(name: &Ident, layout: &Layout) -> TokenStream {
    let (words, meanings, columns) = (layout.words(), layout.meanings(), layout.columns());
    let (pattern, write, read) = (layout.pattern(), layout.write(), layout.read(&[]));
    quote! {
        #[automatically_derived]
        impl ::foretell::Flatten for #name {
            const WORDS: usize = #words;
            const MEANINGS: u32 = #meanings;

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
    let KindSays { audience, is_never_predicted, hz } = &component.says;
    let never = is_never_predicted.then(|| quote!(.never_predicted()));
    let hz = hz.as_ref().map(|hz| quote!(.at_most_hz(#hz)));
    quote!(::foretell::ComponentSchema::new(#name, #columns, #audience) #never #hz)
}

#[cfg(test)]
mod tests;
