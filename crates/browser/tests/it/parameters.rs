//! Every parameter that is advertised counts.

mod shown;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::isolation::calls;
use crate::stage::{STAGE, ref_of};
use crate::{house_rules, styles};
use shown::SHOWN;

fn definitions() -> Vec<Value> {
    house_rules::definitions().into_iter().map(|(_, tool)| tool).collect()
}

/// The tools that take this parameter.
fn with(parameter: &str) -> BTreeSet<String> {
    let definitions = definitions();
    let taking = definitions.iter().filter(|tool| tool["inputSchema"]["properties"].get(parameter).is_some());
    taking.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// The tools that take a time limit.
pub(crate) fn with_limit() -> BTreeSet<String> {
    with("timeout")
}

/// What can be said in the place of a schema: `name`, `name=value` for each value of several, `name.part` for each part.
fn sayable(name: &str, schema: &Value) -> Vec<String> {
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("{name}={}", value.as_str().unwrap())).collect();
    }
    let parts = schema["properties"].as_object().or(schema["items"]["properties"].as_object());
    match parts {
        Some(parts) => {
            parts.iter().flat_map(|(part, schema)| sayable(&format!("{name}.{part}"), schema)).collect()
        }
        None => vec![name.to_owned()],
    }
}

/// The sources of all tests.
fn sources(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: std::path::PathBuf| {
        if path.is_dir() { sources(&path) } else { vec![fs::read_to_string(path).unwrap()] }
    };
    entries.flat_map(read).collect()
}

#[test]
fn every_parameter_and_each_of_its_values_is_shown_to_have_an_effect() {
    let mut advertised = BTreeSet::new();
    for tool in definitions() {
        for (name, schema) in tool["inputSchema"]["properties"].as_object().into_iter().flatten() {
            // Those of nearly all tools are tried on all of them, which is checked there.
            if name != "browserId" && name != "timeout" {
                let all = sayable(name, schema);
                advertised
                    .extend(all.iter().map(|what| format!("{} {what}", tool["name"].as_str().unwrap())));
            }
        }
    }
    let said: Vec<String> = SHOWN
        .iter()
        .flat_map(|(tool, what, _)| what.split(' ').map(move |what| format!("{tool} {what}")))
        .collect();
    let told: BTreeSet<String> = said.iter().cloned().collect();
    assert_eq!(
        told.difference(&advertised).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "nobody advertises these"
    );
    assert_eq!(
        advertised.difference(&told).collect::<Vec<_>>(),
        Vec::<&String>::new(),
        "no test shows these"
    );
    assert_eq!(told.len(), said.len(), "one is told twice");
}

#[test]
fn every_test_that_shows_an_effect_is_there_and_says_what_it_shows() {
    let sources = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it"));
    for (tool, what, test) in SHOWN {
        let begin = format!("fn {test}() {{");
        let source = sources.iter().find(|source| source.contains(&begin));
        let source =
            source.unwrap_or_else(|| panic!("there is no test `{test}`, which is to show {tool} {what}"));
        for word in what.split([' ', '=', '.']) {
            assert!(source.contains(&format!("\"{word}\"")), "`{word}` of {tool} is nowhere near `{test}`");
        }
    }
}

#[test]
fn every_tool_that_takes_a_browser_is_tried_on_that_of_another() {
    let tried = calls().into_iter().chain(styles::calls()).map(|(tool, _)| tool.to_owned());
    assert_eq!(tried.collect::<BTreeSet<_>>(), with("browserId"));
}

#[test]
fn every_time_limit_is_read_and_within_bounds() {
    STAGE.run(async {
        let ada = STAGE.seat("limits").await;
        let with_limit = with_limit();
        assert_eq!(with_limit.len(), 15);
        let usual: Vec<_> = calls().into_iter().filter(|(tool, _)| with_limit.contains(*tool)).collect();
        assert_eq!(usual.len(), with_limit.len());
        for (tool, arguments) in usual {
            for wrong in [0, 300_001] {
                let mut arguments = arguments.clone();
                arguments["timeout"] = wrong.into();
                let error = ada.fails(tool, arguments).await;
                assert_eq!(error.kind(), Kind::InvalidInput, "{tool}");
                assert!(error.message().starts_with(&format!("`timeout` is {wrong}")), "{tool}: {error}");
            }
        }
    });
}

#[test]
fn every_element_tool_takes_a_ref() {
    STAGE.run(async {
        fs::write(STAGE.workspace().join("by-ref.txt"), "x").unwrap();
        let page = "<input aria-label=Name><input type=file aria-label=File><select aria-label=Pick><option>One<option>Two</select>\
            <button draggable=true>Press</button><button onmouseup='document.title = \"dropped\"'>Drop</button>";
        let url = STAGE.site.html("/by-ref", page);
        let ada = STAGE.seat("by ref").await;
        ada.go(&url).await;
        let seen = ada.see().await;
        let [name, file, pick, press, drop] =
            ["textbox \"Name\"", "file \"File\"", "combobox \"Pick\"", "button \"Press\"", "button \"Drop\""]
                .map(|mark| ref_of(&seen, mark));
        ada.data("fill_text", json!({"ref": name, "text": "Ada"})).await;
        ada.value("document.activeElement.blur()").await;
        ada.data("press_key", json!({"ref": name, "key": "End"})).await;
        ada.data("press_key", json!({"key": "!"})).await;
        assert_eq!(ada.value("document.querySelector('input').value").await, "Ada!");
        ada.data("select_option", json!({"ref": pick, "values": ["Two"]})).await;
        assert_eq!(ada.value("document.querySelector('select').value").await, "Two");
        let put = ada.data("upload_file", json!({"ref": file, "paths": ["by-ref.txt"]})).await;
        assert!(put["did"].as_str().unwrap().starts_with("put by-ref.txt"), "{put}");
        let over = ada.data("hover_element", json!({"ref": press})).await;
        assert!(over["did"].as_str().unwrap().contains("\"Press\""), "{over}");
        ada.data("wait_for_element", json!({"ref": press, "state": "visible"})).await;
        assert!(ada.text("get_text_content", json!({"ref": press})).await.contains("\nPress\n"));
        let html = ada.text("get_html", json!({"ref": press})).await;
        assert!(html.contains("\n<button draggable=\"true\">Press</button>\n"), "{html}");
        assert_eq!(ada.data("get_attribute", json!({"ref": press})).await["name"], "Press");
        let dragged = ada.data("drag_and_drop", json!({"sourceRef": press, "targetRef": drop})).await;
        let did = dragged["did"].as_str().unwrap();
        assert!(did.find("\"Press\"") < did.find("\"Drop\"") && did.contains("\"Press\""), "{dragged}");
    });
}
