//! What holds for every built-in tool of this crate, and for those to search with.

use toolgate_testkit::house_rules::{check_hints, check_names, check_schemas, check_snapshots, check_words};

use crate::scene::definitions;

#[test]
fn names_are_unique_and_begin_with_the_pack() {
    check_names(&definitions(), 21);
}

#[test]
fn descriptions_are_one_sentence_and_titles_are_short() {
    check_words(&definitions());
}

#[test]
fn schemas_are_plain_objects_that_describe_every_property() {
    check_schemas(&definitions());
}

#[test]
fn every_tool_says_what_it_does_to_the_world() {
    let writing = ["_write", "_send", "_create_issue", "_comment"];
    check_hints(&definitions(), |name| {
        name == "tools_call" || writing.iter().any(|word| name.ends_with(word))
    });
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    check_snapshots(&definitions(), env!("CARGO_MANIFEST_DIR"));
}
