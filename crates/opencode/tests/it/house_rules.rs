//! What holds for every tool of this crate.

use toolgate_opencode::Opencode;
use toolgate_testkit::house_rules::{
    Definitions, check_hints, check_names, check_schemas, check_snapshots, check_words,
};

fn definitions() -> Definitions {
    toolgate_testkit::house_rules::definitions::<Opencode>()
}

#[test]
fn names_are_unique_and_begin_with_the_pack() {
    check_names(&definitions(), 29);
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
    let reads = |name: &str| {
        let reading = ["_list", "_get", "_load", "file_read", "file_search", "file_status"];
        reading.iter().any(|end| name.ends_with(end)) || name.starts_with("opencode_find_")
    };
    check_hints(&definitions(), |name| !reads(name));
    let creating = ["session_create", "session_share", "skill_create", "mcp_add"];
    for (_, definition) in definitions() {
        let (name, hints) = (definition["name"].as_str().unwrap(), &definition["annotations"]);
        let destroys = !reads(name) && !creating.iter().any(|end| name.ends_with(end));
        assert_eq!(hints["destructiveHint"] == true, destroys, "{name}");
        // Whatever it does, OpenCode may do it differently the next time, and elsewhere.
        assert_eq!((hints.get("idempotentHint"), hints.get("openWorldHint")), (None, None), "{name}");
    }
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    check_snapshots(&definitions(), env!("CARGO_MANIFEST_DIR"));
}
