//! What holds for every tool of this crate.

use toolgate_script::ScriptPack;
use toolgate_testkit::house_rules::{
    Definitions, check_hints, check_names, check_schemas, check_snapshots, check_words,
};

fn definitions() -> Definitions {
    toolgate_testkit::house_rules::definitions::<ScriptPack>()
}

#[test]
fn names_are_unique_and_begin_with_the_pack() {
    check_names(&definitions(), 4);
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
    check_hints(&definitions(), |name| matches!(name, "script_run" | "script_exec"));
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    check_snapshots(&definitions(), env!("CARGO_MANIFEST_DIR"));
}
