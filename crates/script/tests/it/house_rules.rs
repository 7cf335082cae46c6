//! What holds for the tools of scripts, as for all built-in tools.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolgate_core::Pack as _;
use toolgate_script::ScriptPack;

fn definitions() -> Vec<Value> {
    ScriptPack::tools().iter().map(|tool| tool.item().raw.to().unwrap()).collect()
}

#[test]
fn definitions_are_plain_and_described() {
    let names: Vec<Value> = definitions().iter().map(|definition| definition["name"].clone()).collect();
    assert_eq!(names, ["script_list", "script_run", "script_exec", "script_reload"]);
    for definition in definitions() {
        let description = definition["description"].as_str().unwrap();
        assert!(description.ends_with('.') && description.len() <= 120, "{description}");
        for schema in ["inputSchema", "outputSchema"] {
            let schema = &definition[schema];
            assert_eq!(schema["type"], "object");
            for (name, property) in schema["properties"].as_object().into_iter().flatten() {
                let description = property["description"].as_str().unwrap_or_default();
                assert!(description.ends_with('.') && description.len() > 10, "{name}: {description}");
                // A script may answer with anything.
                assert!(name == "result" || property["type"].is_string(), "{name} has no plain type");
            }
        }
        assert_eq!(definition["inputSchema"]["additionalProperties"], false);
    }
}

#[test]
fn definitions_are_those_of_the_snapshots() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("snapshots");
    for definition in definitions() {
        let path = folder.join(format!("{}.json", definition["name"].as_str().unwrap()));
        let now = format!("{}\n", serde_json::to_string_pretty(&definition).unwrap());
        #[expect(clippy::disallowed_methods, reason = "this is for who runs the tests, not for the program")]
        if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|update| update == "1") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, &now).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            kept == now,
            "{} is missing or stale; look at the change, then run \
             `UPDATE_SNAPSHOTS=1 cargo test -p toolgate-script --test it house_rules`\n{now}",
            path.display()
        );
    }
}
