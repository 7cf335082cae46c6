//! What holds for every built-in tool.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::scene::definitions;

#[test]
fn names_are_unique_and_begin_with_the_pack() {
    let mut seen = BTreeSet::new();
    for (pack, definition) in definitions() {
        let name = definition["name"].as_str().unwrap();
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.len() <= 64 && name.chars().all(fits), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(name.starts_with(&format!("{pack}_")), "{name} is in the pack {pack}");
        assert!(seen.insert(name.to_owned()), "{name} is there twice");
    }
    assert_eq!(seen.len(), 21);
}

#[test]
fn descriptions_are_one_sentence_and_titles_are_short() {
    for (_, definition) in definitions() {
        let description = definition["description"].as_str().unwrap();
        assert!(description.ends_with('.'), "{description}");
        assert!(!description.trim_end_matches('.').contains(". "), "{description}");
        assert!(description.starts_with(|c: char| c.is_ascii_uppercase()), "{description}");
        assert!(!description.contains('\n') && description.len() <= 120, "{description}");
        let title = definition["title"].as_str().unwrap();
        assert!((1..=30).contains(&title.len()), "{title}");
    }
}

#[test]
fn schemas_are_plain_objects_that_describe_every_property() {
    for (_, definition) in definitions() {
        let name = definition["name"].as_str().unwrap();
        assert_eq!(definition["inputSchema"]["additionalProperties"], false, "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            let Some(schema) = definition.get(schema) else { continue };
            assert_eq!(schema["type"], "object", "{name}");
            for word in ["anyOf", "oneOf", "allOf", "$ref", "title"] {
                assert!(schema.get(word).is_none(), "{name} has {word}");
            }
            check_described(schema, name);
        }
    }
}

/// Every property has a description, at any depth, and one plain type.
#[track_caller]
fn check_described(schema: &Value, at: &str) {
    let properties = schema["properties"].as_object().unwrap();
    for (name, property) in properties {
        let at = format!("{at}.{name}");
        let description = property["description"].as_str().unwrap_or_else(|| panic!("{at} is not described"));
        assert!(description.ends_with('.') && description.len() > 10, "{at}: {description}");
        assert!(!description.contains('\n'), "{at}: {description}");
        assert!(property["type"].is_string(), "{at} has no plain type");
        let inner = property.get("items").unwrap_or(property);
        if inner.get("properties").is_some() {
            check_described(inner, &at);
        }
    }
}

#[test]
fn every_tool_says_what_it_does_to_the_world() {
    for (_, definition) in definitions() {
        let name = definition["name"].as_str().unwrap();
        let hints = definition["annotations"].as_object().unwrap();
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{name} {hint}");
        }
        let writing = ["_write", "_send", "_create_issue", "_comment"];
        let writes = name == "tools_call" || writing.iter().any(|word| name.ends_with(word));
        assert_eq!(hints["readOnlyHint"], !writes, "{name}");
    }
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    let mut expected = BTreeSet::new();
    for (_, definition) in definitions() {
        let file = format!("{}.json", definition["name"].as_str().unwrap());
        check_snapshot(&folder.join(&file), &definition);
        expected.insert(file);
    }
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected, "a snapshot of a tool that is gone");
}

#[track_caller]
fn check_snapshot(path: &PathBuf, definition: &Value) {
    let now = format!("{}\n", serde_json::to_string_pretty(definition).unwrap());
    #[expect(clippy::disallowed_methods, reason = "this is for who runs the tests, not for the program")]
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|update| update == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &now).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == now,
        "{} is missing or stale; look at the change, then run \
         `UPDATE_SNAPSHOTS=1 cargo test -p toolgate-packs --test it house_rules`\n{now}",
        path.display()
    );
}
