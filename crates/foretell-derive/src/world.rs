//! `#[derive(World)]`.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Member, Type};

/// What becomes of a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keeping {
    /// It is a table: saved, loaded, published and adopted.
    Table,
    /// It is saved and loaded, and not sent.
    Saved,
    /// It never changes.
    Constant,
}

struct Field<'a> {
    member: Member,
    ty: &'a Type,
    keeping: Keeping,
}

/// The `impl` of `foretell::World`, or why there can be none.
pub fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(data) = &item.data else {
        return Err(Error::new_spanned(&item.ident, "a world is a struct of tables"));
    };
    crate::refuse_parameters(item)?;
    let fields = fields(&data.fields)?;
    if fields.iter().all(|field| field.keeping != Keeping::Table) {
        return Err(Error::new_spanned(&item.ident, "a world has a `Table` at least: what is in none is never sent"));
    }
    let name = &item.ident;
    let part = |ty: &Type| quote_spanned!(ty.span()=> <#ty as ::foretell::WorldPart>);
    let kept = || fields.iter().filter(|field| field.keeping != Keeping::Constant).enumerate();
    let tables = || fields.iter().filter(|field| field.keeping == Keeping::Table);
    let saved = kept().map(|(nth, Field { ty, keeping, .. })| {
        let (slot, part) = (format_ident!("part_{nth}"), part(ty));
        if *keeping == Keeping::Table {
            quote!(#slot: #part::Saved)
        } else {
            quote!(#slot: ::core::option::Option<#ty>)
        }
    });
    let each = |method: &str| {
        let method = format_ident!("{method}");
        let calls = kept().map(|(nth, Field { member, ty, keeping })| {
            let (slot, part) = (format_ident!("part_{nth}"), part(ty));
            match (*keeping, method == "save") {
                (Keeping::Table, true) => quote!(#part::save(&self.#member, &mut other.#slot);),
                (Keeping::Table, false) if method == "take" => {
                    quote!(#part::take(&mut self.#member, &mut other.#slot);)
                }
                (Keeping::Table, false) => quote!(#part::load(&mut self.#member, &other.#slot);),
                (_, true) => quote!(::foretell::derive_support::save(&self.#member, &mut other.#slot);),
                (_, false) => quote!(::foretell::derive_support::load(&mut self.#member, &other.#slot);),
            }
        });
        quote!(#(#calls)*)
    };
    let (save, load, take) = (each("save"), each("load"), each("take"));
    let parts = || tables().map(|Field { member, ty, .. }| (member, part(ty)));
    let published = parts().map(|(member, part)| quote!(#part::publish(&mut self.#member, rows);));
    let adopted = parts().map(|(member, part)| quote!(#part::adopt(&mut self.#member, rows);));
    let adopted_known = parts().map(|(member, part)| quote!(#part::adopt_known(&mut self.#member, rows);));
    let schemas = tables().map(|Field { ty, .. }| part(ty)).map(|part| quote!(let schema = #part::schema(schema);));
    Ok(quote! {
        #[automatically_derived]
        const _: () = {
            /// What is saved of the world. The types of its fields stand below too, so it has a name that none of them has.
            #[derive(::core::default::Default)]
            pub struct __ForetellSaved { #(#saved),* }

            impl ::foretell::World for #name {
                type Saved = __ForetellSaved;

                fn schema() -> ::foretell::Schema {
                    let schema = ::foretell::Schema::default();
                    #(#schemas)*
                    schema
                }

                fn save(&self, other: &mut __ForetellSaved) { #save }
                fn load(&mut self, other: &__ForetellSaved) { #load }
                fn take(&mut self, other: &mut __ForetellSaved) { #take }
                fn publish(&mut self, rows: &mut ::foretell::Rows) { #(#published)* }
                fn adopt(&mut self, rows: &::foretell::Rows) { #(#adopted)* }
                fn adopt_known(&mut self, rows: &::foretell::Rows) { #(#adopted_known)* }
            }
        };
    })
}

fn fields(fields: &Fields) -> syn::Result<Vec<Field<'_>>> {
    fields
        .iter()
        .enumerate()
        .map(|(index, field)| {
            let member = field.ident.clone().map_or_else(|| Member::from(index), Member::from);
            Ok(Field { member, ty: &field.ty, keeping: keeping(&field.attrs)? })
        })
        .collect()
}

/// What a field's attributes say of it.
fn keeping(attrs: &[Attribute]) -> syn::Result<Keeping> {
    let mut keeping = Keeping::Table;
    for attr in attrs.iter().filter(|attr| attr.path().is_ident("world")) {
        attr.parse_nested_meta(|meta| {
            keeping = if meta.path.is_ident("saved") {
                Keeping::Saved
            } else if meta.path.is_ident("constant") {
                Keeping::Constant
            } else {
                let accepted =
                    "`#[world(saved)]`: saved and not sent; `#[world(constant)]`: never changes; nothing: a `Table`";
                return Err(Error::new_spanned(&meta.path, format!("a field of a world takes {accepted}")));
            };
            Ok(())
        })?;
    }
    Ok(keeping)
}

#[cfg(test)]
mod tests {
    use syn::{DeriveInput, parse_quote};

    fn refusal(item: &DeriveInput) -> String {
        super::derive(item).expect_err("it should be refused").to_string()
    }

    #[test]
    fn a_world_is_a_struct_with_a_table() {
        let not_a_struct = refusal(&parse_quote!(
            enum Arena {
                Cubes(Table<Cube>),
            }
        ));
        assert_eq!(not_a_struct, "a world is a struct of tables");
        let without = refusal(&parse_quote!(
            struct Arena {
                #[world(saved)]
                round: u32,
            }
        ));
        assert_eq!(without, "a world has a `Table` at least: what is in none is never sent");
    }

    #[test]
    fn an_unknown_attribute_of_a_field_is_answered_with_the_known_ones() {
        let unknown = refusal(&parse_quote!(
            struct Arena(Table<Cube>, #[world(sent)] u32);
        ));
        assert_eq!(
            unknown,
            "a field of a world takes `#[world(saved)]`: saved and not sent; `#[world(constant)]`: never changes; \
             nothing: a `Table`"
        );
    }
}
