//! What holds for every tool of this crate.

use std::collections::BTreeSet;

use serde_json::Value;
use toolgate_browser::{Browser, STYLES};
use toolgate_testkit::house_rules::{Definitions, check_hints, check_schemas, check_snapshots, check_words};

pub(crate) fn definitions() -> Definitions {
    toolgate_testkit::house_rules::definitions::<Browser>()
}

#[test]
fn names_are_unique_and_plain() {
    // They are those that people know from elsewhere, and do not begin with the pack.
    let definitions = definitions();
    let names: BTreeSet<&str> = definitions.iter().map(|(_, tool)| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), definitions.len()), (40, 40));
    for name in names {
        assert!(name.len() <= 64 && name.chars().all(|c| c.is_ascii_lowercase() || c == '_'), "{name}");
    }
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
        let reading = [
            "get_",
            "why_",
            "analyze_",
            "diff_",
            "list_",
            "wait_for_",
            "find_",
            "inspect_",
            // The other one turns pages by a click.
            "extract_css",
            "brooklyn_",
        ];
        reading.iter().any(|begin| name.starts_with(begin))
    };
    check_hints(&definitions(), |name| !reads(name));
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    check_snapshots(&definitions(), env!("CARGO_MANIFEST_DIR"));
}

#[test]
fn all_definitions_together_cost_little() {
    // The usual 25 tools of others have 20,260 bytes; output schemas are not shown to models.
    let lean = |(_, mut tool): (&str, Value)| {
        tool.as_object_mut().unwrap().remove("outputSchema");
        tool.to_string().len()
    };
    let is_usual = |(_, tool): &(&str, Value)| !STYLES.contains(&tool["name"].as_str().unwrap());
    let bytes: usize = definitions().into_iter().filter(is_usual).map(lean).sum();
    assert!(bytes <= 18_200, "{bytes}");
}
