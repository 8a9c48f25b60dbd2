//! What the derive refuses, and with which words.

use super::*;
use quote::format_ident;
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
                    `blended`, `parent`, `teleports`, `precision = 0.001`, `audience = owner`, `writer = owner` or `flatten`";
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
    let sentence = "write `audience = all`, `audience = owner`, `audience = others` or `audience = group(TEAM)`, with a \
                    `foretell::Group` of yours";
    let of: [DeriveInput; 4] = [
        parse_quote!(
            struct Thing(#[state(audience = team)] u32);
        ),
        parse_quote!(
            struct Thing(#[state(audience)] u32);
        ),
        parse_quote!(
            struct Thing(#[state(audience = group())] u32);
        ),
        parse_quote!(
            struct Thing(#[state(audience = group(RED BLUE))] u32);
        ),
    ];
    of.iter().for_each(|item| assert_eq!(refusal(item), sentence));
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
    let sentence =
        "has no meaning here: a struct or a variant takes `audience = owner`, `predict = never` or `hz = 10`";
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
fn a_kind_is_never_predicted_or_as_its_player_is_and_its_rate_is_a_number_of_hertz() {
    let always = refusal(&parse_quote!(
        #[state(predict = always)]
        struct Thing(f32);
    ));
    assert_eq!(always, "write `predict = never`");
    let of: [DeriveInput; 4] = [
        parse_quote!(
            #[state(hz = 0)]
            struct Thing(f32);
        ),
        parse_quote!(
            #[state(hz = 70000)]
            struct Thing(f32);
        ),
        parse_quote!(
            #[state(hz = 7.5)]
            struct Thing(f32);
        ),
        parse_quote!(
            enum Thing {
                #[state(hz)]
                Ghost(f32),
            }
        ),
    ];
    let sentence = "write a rate from 1 to 65535 Hz, such as `hz = 10`";
    of.iter().for_each(|item| assert_eq!(refusal(item), sentence));
    let field = refusal(&parse_quote!(
        struct Thing(#[state(hz = 10)] f32);
    ));
    assert!(field.starts_with("`#[state(hz)]` has no meaning here: a field takes"), "{field}");
}

#[test]
fn who_sees_any_field_sees_those_of_the_first_component() {
    let sentence =
        "no field of `Thing` is for all who see any of the others: give them one with `audience = all`, or two states";
    let of: [DeriveInput; 3] = [
        parse_quote!(
            struct Thing(#[state(audience = owner)] f32, #[state(audience = others)] f32);
        ),
        parse_quote!(
            struct Thing(#[state(audience = group(RED))] f32, #[state(audience = group(BLUE))] f32);
        ),
        parse_quote!(
            #[state(audience = others)]
            struct Thing(f32, #[state(audience = group(RED))] f32);
        ),
    ];
    of.iter().for_each(|item| assert_eq!(refusal(item), sentence));
    let owner_is_in_it: DeriveInput = parse_quote!(
        struct Thing(#[state(audience = owner)] f32, #[state(audience = group(RED))] f32);
    );
    assert!(derive(&owner_is_in_it).is_ok());
}

#[test]
fn an_enum_as_a_whole_takes_no_attribute() {
    let sentence = "`#[state(audience)]` has no meaning here: an enum takes nothing; each of its variants takes \
                    `audience = owner`, `predict = never` or `hz = 10`";
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
    let counts = refusal(&parse_quote!(
        struct Thing(#[state(position)] f32, #[state(teleports)] u8, #[state(teleports)] u8);
    ));
    assert_eq!(counts, "`1` of `Thing` is its Teleports already: an entity has one at most");
}

#[test]
fn teleports_are_counted_by_an_integer_beside_a_position() {
    let thing = derive(&parse_quote!(
        struct Thing(#[state(position)] f32, #[state(teleports)] u8);
    ));
    let code = thing.expect("a state").to_string();
    for sentence in [
        "`1` of `Thing`: teleports are counted by a u8, u16 or u32",
        "`1` of `Thing`: teleports are counted beside a position that the same players see",
    ] {
        assert_eq!(code.matches(sentence).count(), 1, "{code}");
    }
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
fn what_is_not_told_to_all_and_predicted_as_its_entity_is_stands_in_no_other_state() {
    let is_part = |item: &DeriveInput| derive(item).expect("a state").to_string().contains("Flatten for");
    assert!(is_part(&parse_quote!(
        struct Wallet(u32);
    )));
    assert!(is_part(&parse_quote!(
        #[state(audience = owner)]
        struct Wallet(#[state(audience = all)] u32);
    )));
    let of: [DeriveInput; 6] = [
        parse_quote!(
            #[state(audience = owner)]
            struct Wallet(u32);
        ),
        parse_quote!(
            struct Wallet(#[state(audience = owner)] u32);
        ),
        parse_quote!(
            struct Wallet(u32, #[state(audience = owner)] u32);
        ),
        parse_quote!(
            #[state(audience = group(RED))]
            struct Wallet(u32);
        ),
        parse_quote!(
            #[state(predict = never)]
            struct Wallet(u32);
        ),
        parse_quote!(
            #[state(hz = 10)]
            struct Wallet(u32);
        ),
    ];
    of.iter().for_each(|item| assert!(!is_part(item)));
}

#[test]
fn what_is_flattened_has_no_meaning_that_another_field_has() {
    let refused = |item: &DeriveInput| {
        let sentence = "has a meaning that another field has: an entity has one of each at most";
        derive(item).expect("a state").to_string().matches(sentence).count()
    };
    assert_eq!(
        refused(&parse_quote!(
            struct Tank {
                #[state(position)]
                hull: [f32; 3],
                #[state(flatten)]
                turret: Moved,
                #[state(flatten)]
                gun: Moved,
            }
        )),
        2
    );
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
