//! Inside of a folder files stand in layers: what stands above knows what stands below, and not the other way round. And the
//! methods of a type stand in the file of the type, so that who opens it sees what it works on.

use std::fs;
use std::path::Path;

/// A folder of `src` whose files stand in layers.
struct Folder {
    path: &'static str,
    /// From the bottom up, the files and folders of each layer, which don't know one another.
    layers: &'static [&'static [&'static str]],
}

const FOLDERS: [Folder; 14] = [
    Folder { path: "session/curves", layers: &[&["curve", "row_motion"], &["cubic_weights"], &["row_interpolator"]] },
    Folder {
        path: "session/client",
        layers: &[
            &[
                "initial_capacity",
                "correction_causes",
                "entity_curves",
                "frame_sampler",
                "join_request",
                "resimulation_budget",
            ],
            &["config", "snapshots"],
            &["stats"],
            &["update_report", "handshake", "link", "client_settings"],
            &["authority", "client_messages", "recordable_calls", "update_log"],
            &["input_datagram", "prediction", "presentation"],
            &["authority_handoff"],
            &["local_world"],
            &["client_session"],
            &["connection_state"],
            &["client_endpoint"],
        ],
    },
    Folder {
        path: "session/client/link",
        layers: &[
            &["round_trips", "clock_drift", "outgoing_step_messages", "tick_unwrap"],
            &["datagram_timing", "pacing"],
            &["input_send_window"],
            &["link"],
        ],
    },
    Folder {
        path: "session/client/snapshots",
        layers: &[
            &[
                "baselines",
                "comparison_outcomes",
                "input_relay_reader",
                "received_datagrams",
                "shown_row_reader",
                "track_rings",
            ],
            &["hidden_entities", "track_lookup"],
            &["component_tracks"],
            &["tracks"],
            &["known_rows", "going_over"],
            &["snapshot"],
            &["snapshots"],
        ],
    },
    Folder {
        path: "session/client/prediction",
        layers: &[
            &[
                "changed_entities",
                "effects",
                "exact_session_causes",
                "let_go",
                "missed_inputs",
                "near_entities",
                "ownership_changes",
                "pending_corrections",
            ],
            &["cause_evidence", "predicted_entities"],
            &["change_outcomes", "reconciler"],
            &["prediction"],
        ],
    },
    Folder {
        path: "session/client/presentation",
        layers: &[
            &["followers", "lifecycles", "playout_clock", "view"],
            &["playout_reader"],
            &["views"],
            &["tick_interpolation"],
            &["unsmoothed_state"],
            &["error_offsets"],
            &["remote_playback"],
            &["presentation"],
        ],
    },
    Folder { path: "session/client/authority", layers: &[&["captures"], &["authority_grant"], &["authority_grants"]] },
    Folder {
        path: "session/server",
        layers: &[
            &[
                "admission",
                "inputs",
                "hierarchy",
                "component_rewind_history",
                "peer_acks",
                "row_versions",
                "stats",
                "tick_schedule",
                "update_report",
            ],
            &["rewind_history", "update_log", "view_age"],
            &["authoritative_state", "config"],
            &["peer_messages"],
            &["authority"],
            &["replication"],
            &["exact_sessions", "host_player", "peer"],
            &["message_router", "hit_receipts", "input_relay", "roster_dispatch", "simulation"],
            &["state_sender"],
            &["pipeline"],
            &["server_endpoint"],
        ],
    },
    Folder {
        path: "session/server/admission",
        layers: &[
            &[
                "place",
                "pending_refusals",
                "roster_change",
                "join_leave_log",
                "awake_clock",
                "player_numbers",
                "capacity",
            ],
            &["members"],
            &["roster"],
        ],
    },
    Folder {
        path: "session/server/authority",
        layers: &[
            &["authority_requests", "travel_budget"],
            &["authority_hold"],
            &["authority_holds"],
            &["authority_arbiter"],
        ],
    },
    Folder { path: "session/server/exact_sessions", layers: &[&["digest_agreement"], &["exact_session"]] },
    Folder {
        path: "session/server/inputs",
        layers: &[&["input_arrivals", "input_buffer", "input_datagram_reader", "incoming_step_messages"]],
    },
    Folder {
        path: "session/host",
        layers: &[&["seen_states"], &["local_player"], &["host_endpoint"], &["any_session"]],
    },
    Folder {
        path: "session/server/replication",
        layers: &[
            &["grid_cells", "optional_tick", "own_bounding_boxes", "slot_set"],
            &[
                "encodings_by_base",
                "step_event_log",
                "sent_snapshots",
                "told_holders",
                "entity_grid",
                "ranking_key",
                "interest_settings",
            ],
            &["acked_rows", "interest_set", "ranking", "recent_changes", "sent_datagrams", "slot_positions"],
            &["chunk_bits_cache"],
            &["row_encoding_cache"],
            &["chosen_records", "interest_query"],
            &["exact_row_set", "host_view"],
            &["exact_choice"],
            &["snapshot_source"],
            &["exact_lane", "snapshot_packer"],
            &["shown_context"],
            &["shown_datagram", "priority"],
            &["gone_rows", "rate_limited_rows"],
            &["shown_row_writer"],
            &["row_send_queue"],
            &["dirty_tracker"],
            &["shown_lane"],
            &["replica"],
            &["replication"],
        ],
    },
];

/// A file: its path below `src`, and its text without comments and without its tests.
struct Source {
    path: String,
    code: String,
}

impl Source {
    fn new(path: &str, text: &str) -> Source {
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
        Source { path: path.to_owned(), code: code.flat_map(|line| [line, "\n"]).collect() }
    }

    /// The modules that it stands in, and its own name; that is missing for `mod.rs`.
    fn module(&self) -> Vec<String> {
        let path = self.path.trim_end_matches(".rs").trim_end_matches("/mod");
        path.split('/').map(str::to_owned).collect()
    }

    /// The paths that it names after `super::` and `crate::`, from the root of the crate.
    fn named(&self) -> Vec<Vec<String>> {
        let mut found = Vec::new();
        let is_start = |at: usize| !self.code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
        for (at, _) in self.code.match_indices("crate::").filter(|(at, _)| is_start(*at)) {
            expand(&self.code[at + "crate::".len()..], &[], &mut found);
        }
        for (at, _) in self.code.match_indices("super::").filter(|(at, _)| is_start(*at)) {
            let (mut rest, mut base) = (&self.code[at..], self.module());
            while let Some(after) = rest.strip_prefix("super::") {
                base.pop();
                rest = after;
            }
            expand(rest, &base, &mut found);
        }
        found
    }

    /// The types that have methods here and are defined elsewhere.
    fn strangers(&self) -> Vec<String> {
        let headers = self.code.split("\nimpl").skip(1).filter_map(|rest| rest.split('{').next());
        let of_types = headers.map(without_generics).filter(|header| !header.contains(" for "));
        let names = of_types.filter_map(|header| header.split_whitespace().next().map(str::to_owned));
        let is_defined = |name: &String| {
            let kinds = ["struct", "enum", "union"];
            let mut words = self.code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            let mut before = words.next().unwrap_or_default();
            words.any(|word| kinds.contains(&core::mem::replace(&mut before, word)) && word == name)
        };
        names.filter(|name| !is_defined(name)).collect()
    }
}

/// The header of an `impl` without what stands in angle brackets.
fn without_generics(header: &str) -> String {
    let mut depth = 0;
    let header = header.replace("->", "  ");
    let outside = header.chars().filter(|c| {
        depth += i32::from(*c == '<');
        let is_outside = depth == 0;
        depth -= i32::from(*c == '>');
        is_outside
    });
    outside.collect()
}

/// All paths that begin with `base` and go on as `text` does, which may be a list in braces.
fn expand(text: &str, base: &[String], found: &mut Vec<Vec<String>>) {
    let text = text.trim_start();
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut start) = (0, 0);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth > 0 => depth -= 1,
                ',' | '}' if depth == 0 => {
                    expand(&list[start..at], base, found);
                    start = at + 1;
                    if c == '}' {
                        return;
                    }
                }
                _ => {}
            }
        }
        return;
    }
    let name: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if name.is_empty() {
        return;
    }
    let path: Vec<_> = base.iter().cloned().chain([name.clone()]).collect();
    match text[name.len()..].strip_prefix("::") {
        Some(rest) => expand(rest, &path, found),
        None => found.push(path),
    }
}

impl Folder {
    /// The layer of a file or folder, from 0.
    fn layer(&self, name: &str) -> Option<usize> {
        self.layers.iter().position(|files| files.contains(&name))
    }

    /// The first name below this folder on a path; `None` where that is elsewhere.
    fn below<'a>(&self, path: &'a [String]) -> Option<&'a str> {
        let folder: Vec<_> = self.path.split('/').collect();
        let is_inside = path.len() > folder.len() && folder.iter().zip(path).all(|(one, other)| one == other);
        is_inside.then(|| path[folder.len()].as_str())
    }

    /// What is wrong with these sources.
    fn complaints(&self, sources: &[Source]) -> Vec<String> {
        let mut found = Vec::new();
        let inside = sources.iter().filter_map(|source| Some((source, self.below(&source.module())?.to_owned())));
        for (source, own) in inside {
            let Some(from) = self.layer(&own) else {
                found.push(format!("{}: {own} has no layer", source.path));
                continue;
            };
            for path in source.named() {
                let Some(name) = self.below(&path) else { continue };
                match self.layer(name) {
                    Some(to) if name == own || to < from => {}
                    Some(_) => found.push(format!("{}: {own} must not know {name}", source.path)),
                    None => found.push(format!("{}: {name} is named by way of mod.rs", source.path)),
                }
            }
        }
        found
    }
}

fn read(folder: &Path, root: &Path, found: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("a file of the crate").path();
        if path.is_dir() {
            read(&path, root, found);
        } else if path.file_name().is_some_and(|name| name != "tests.rs") {
            let inside = path.strip_prefix(root).expect("inside").to_string_lossy().replace('\\', "/");
            found.push(Source::new(&inside, &fs::read_to_string(&path).expect("UTF-8")));
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    read(&root, &root, &mut found);
    found
}

#[test]
fn nothing_knows_what_stands_in_its_own_layer_or_above() {
    let sources = sources();
    let found: Vec<_> = FOLDERS.iter().flat_map(|folder| folder.complaints(&sources)).collect();
    assert!(found.is_empty(), "{found:#?}");
    for folder in &FOLDERS {
        for name in folder.layers.iter().copied().flatten() {
            let path = format!("{}/{name}", folder.path);
            let is_there = |source: &Source| source.module().join("/").starts_with(&path);
            assert!(sources.iter().any(is_there), "{path} has a layer and does not exist");
        }
    }
}

#[test]
fn the_methods_of_a_type_stand_in_the_file_of_the_type() {
    let is_layered = |source: &&Source| FOLDERS.iter().any(|folder| source.path.starts_with(folder.path));
    for source in sources().iter().filter(is_layered) {
        assert_eq!(source.strangers(), Vec::<String>::new(), "{}", source.path);
    }
}

#[test]
fn an_arrow_up_and_a_detour_are_found_however_they_are_written() {
    let folder = Folder { path: "a/b", layers: &[&["low", "other"], &["high"], &["one"]] };
    let complaints = |path: &str, text: &str| folder.complaints(&[Source::new(path, text)]);
    for text in [
        "use super::high::X;",
        "use super::{other,\n    low::Y};",
        "use super::low::{self, P};\nuse crate::a::{c, b::{low::Q, high}};",
        "fn f() { crate::a::b::one::g() }",
        "use super::X;",
    ] {
        assert_eq!(complaints("a/b/low.rs", text).len(), 1, "{text}");
    }
    assert_eq!(complaints("a/b/low/deep.rs", "use super::super::high;\nuse super::sibling;").len(), 1);
    assert_eq!(complaints("a/b/unknown.rs", "").len(), 1);
    let allowed = "use super::low::X; // super::one\nuse crate::c::one;\n#[cfg(test)]\nmod tests { use super::one; }";
    assert!(complaints("a/b/high.rs", allowed).is_empty());
    assert!(complaints("a/b/one/deep.rs", "use super::super::{low::X, high};\nuse crate::a::b::one::Y;").is_empty());
}

#[test]
fn a_method_that_stands_elsewhere_is_found_and_a_trait_is_not() {
    let text = "\nstruct Here<T>(T);\nenum There {}\nimpl<T: Fn() -> u8> Here<T> {\n}\nimpl Clone for Elsewhere<'_> {\n}\n\
                impl<'a> Elsewhere<'a> where u8: Copy {\n}\nimpl There {}\n";
    assert_eq!(Source::new("a.rs", text).strangers(), ["Elsewhere"]);
}
