//! What holds for the definition of every built-in tool, whichever crate it is in.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolgate_core::Pack;

/// Definitions of tools, each with the name of its pack.
pub type Definitions = Vec<(&'static str, Value)>;

/// The definitions of a pack's tools.
pub fn definitions<P: Pack>() -> Definitions {
    P::tools().iter().map(|tool| (P::NAME, tool.item().raw.to().unwrap())).collect()
}

/// Names are unique, plain, and begin with the pack; there are so many.
#[track_caller]
pub fn check_names(definitions: &Definitions, count: usize) {
    let mut seen = BTreeSet::new();
    for (pack, definition) in definitions {
        let name = name_of(definition);
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(name.len() <= 64 && name.chars().all(fits), "{name}");
        assert!(name.starts_with(|c: char| c.is_ascii_lowercase()), "{name}");
        assert!(name.starts_with(&format!("{pack}_")), "{name} is in the pack {pack}");
        assert!(seen.insert(name), "{name} is there twice");
    }
    assert_eq!(seen.len(), count);
}

/// Descriptions are one sentence, and titles short.
#[track_caller]
pub fn check_words(definitions: &Definitions) {
    for (_, definition) in definitions {
        let description = definition["description"].as_str().unwrap();
        assert!(description.ends_with('.'), "{description}");
        assert!(!description.trim_end_matches('.').contains(". "), "{description}");
        assert!(description.starts_with(|c: char| c.is_ascii_uppercase()), "{description}");
        assert!(!description.contains('\n') && description.len() <= 120, "{description}");
        let title = definition["title"].as_str().unwrap();
        assert!((1..=30).contains(&title.len()), "{title}");
    }
}

/// Schemas are plain objects that describe every property.
#[track_caller]
pub fn check_schemas(definitions: &Definitions) {
    for (_, definition) in definitions {
        let name = name_of(definition);
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

/// Every property has a description, at any depth, and one plain type, or may be any value.
#[track_caller]
fn check_described(schema: &Value, at: &str) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let at = format!("{at}.{name}");
        let description = property["description"].as_str().unwrap_or_else(|| panic!("{at} is not described"));
        assert!(description.ends_with('.') && description.len() > 10, "{at}: {description}");
        assert!(!description.contains('\n'), "{at}: {description}");
        assert!(property["type"].is_string() || is_any(property), "{at} has no plain type");
        let inner = property.get("items").unwrap_or(property);
        if inner.get("properties").is_some() {
            check_described(inner, &at);
        }
    }
}

/// Every tool says what it does to the world: the hints that mean something are there, and only these tools change anything.
#[track_caller]
pub fn check_hints(definitions: &Definitions, writes: impl Fn(&str) -> bool) {
    for (_, definition) in definitions {
        let name = name_of(definition);
        let hints = definition["annotations"].as_object().unwrap();
        assert_eq!(hints["readOnlyHint"], !writes(name), "{name}");
        assert_eq!(hints.get("destructiveHint").is_some_and(Value::is_boolean), writes(name), "{name}");
        assert!(hints.get("idempotentHint").is_none_or(|told| writes(name) && *told == true), "{name}");
        assert!(hints.get("openWorldHint").is_none_or(|told| *told == false), "{name}");
    }
}

/// The definitions are those in the folder `snapshots` of a crate, and nothing else is there.
/// `UPDATE_SNAPSHOTS=1` writes them.
#[track_caller]
pub fn check_snapshots(definitions: &Definitions, crate_folder: &str) {
    let folder = Path::new(crate_folder).join("snapshots");
    let mut expected = BTreeSet::new();
    for (_, definition) in definitions {
        let file = format!("{}.json", name_of(definition));
        check_snapshot(&folder.join(&file), definition);
        expected.insert(file);
    }
    let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected, "a snapshot of a tool that is gone");
}

/// Whether all types are listed: some clients take a property without a type for none.
fn is_any(property: &Value) -> bool {
    property["type"] == serde_json::json!(["null", "boolean", "number", "string", "array", "object"])
}

#[track_caller]
fn check_snapshot(path: &Path, definition: &Value) {
    let now = format!("{}\n", serde_json::to_string_pretty(definition).unwrap());
    #[expect(clippy::disallowed_methods, reason = "this is for who runs the tests, not for the program")]
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|update| update == "1") {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, &now).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == now,
        "{} is missing or stale; look at the change, then run the test again with `UPDATE_SNAPSHOTS=1`\n{now}",
        path.display()
    );
}

fn name_of(definition: &Value) -> &str {
    definition["name"].as_str().unwrap()
}
