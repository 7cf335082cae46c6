//! Every parameter that is advertised counts.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolgate_browser::STYLES;
use toolgate_core::Kind;

use crate::house_rules;
use crate::isolation::calls;
use crate::stage::{STAGE, ref_of};

/// The sources of the tests that use them.
const TESTS: [(&str, &str); 11] = [
    ("acting", include_str!("acting.rs")),
    ("allowed", include_str!("allowed.rs")),
    ("captures", include_str!("captures.rs")),
    ("frames", include_str!("frames.rs")),
    ("inspecting", include_str!("inspecting.rs")),
    ("isolation", include_str!("isolation.rs")),
    ("navigation", include_str!("navigation.rs")),
    ("parameters", include_str!("parameters.rs")),
    ("reading", include_str!("reading.rs")),
    ("styles", include_str!("styles.rs")),
    ("lines", include_str!("lines.rs")),
];

fn definitions() -> Vec<Value> {
    house_rules::definitions().into_iter().map(|(_, tool)| tool).collect()
}

/// The names of what a tool can be told.
fn parameters(tool: &Value) -> Vec<String> {
    tool["inputSchema"]["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

#[test]
fn every_parameter_is_used_by_a_test_of_its_tool() {
    let functions: Vec<&str> =
        TESTS.iter().flat_map(|(_, source)| source.split("\n#[test]\n").skip(1)).collect();
    let mut missing = BTreeSet::new();
    for tool in definitions() {
        let name = tool["name"].as_str().unwrap();
        for parameter in parameters(&tool) {
            // Those of all tools are tried on all tools: here, and where others try to use a browser.
            if ["browserId", "timeout"].contains(&parameter.as_str()) {
                continue;
            }
            // Those of styles are listed beside their tests.
            let styles = |function: &str| STYLES.contains(&name) && function.contains("calls()");
            let is_used = |function: &&str| {
                let is_launch = name == "launch_browser" && function.contains("seat_with");
                (is_launch || styles(function) || function.contains(&format!("\"{name}\"")))
                    && function.contains(&format!("\"{parameter}\""))
            };
            if !functions.iter().any(is_used) {
                missing.insert(format!("{name}.{parameter}"));
            }
        }
    }
    assert!(missing.is_empty(), "no test uses {missing:?}");
}

#[test]
fn every_time_limit_is_read_and_within_bounds() {
    STAGE.run(async {
        let ada = STAGE.seat("limits").await;
        let with_limit: BTreeSet<String> = definitions()
            .iter()
            .filter(|tool| parameters(tool).contains(&"timeout".to_owned()))
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
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
        std::fs::write(STAGE.workspace().join("by-ref.txt"), "x").unwrap();
        let page = "<input aria-label=Name><input type=file aria-label=File><select aria-label=Pick><option>One<option>Two</select>\
            <button draggable=true>Press</button><button onmouseup='document.title = \"dropped\"'>Drop</button>\
            <div id=wide style='width:300px;overflow:auto'><div style='width:2000px'><a href='#wide'>Wide</a></div></div>";
        let url = STAGE.site.html("/by-ref", page);
        let ada = STAGE.seat("by ref").await;
        ada.go(&url).await;
        let seen = ada.see().await;
        let [name, file, pick, press, drop, wide] =
            ["textbox \"Name\"", "file \"File\"", "combobox \"Pick\"", "button \"Press\"", "button \"Drop\"", "link \"Wide\""]
                .map(|mark| ref_of(&seen, mark));
        ada.data("fill_text", json!({"ref": name, "text": "Ada"})).await;
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
        assert!(ada.text("get_html", json!({"ref": press})).await.contains("<button draggable"));
        assert_eq!(ada.data("get_attribute", json!({"ref": press})).await["name"], "Press");
        let shot = ada.text("take_screenshot", json!({"ref": press, "inline": true})).await;
        assert!(shot.contains("\"width\""), "{shot}");
        ada.data("scroll_page", json!({"ref": wide})).await;
        ada.data("scroll_page", json!({"selector": "#wide", "x": 120})).await;
        assert_eq!(ada.value("document.querySelector('#wide').scrollLeft").await, 120);
        let dragged = ada.data("drag_and_drop", json!({"sourceRef": press, "targetRef": drop})).await;
        let did = dragged["did"].as_str().unwrap();
        assert!(did.find("\"Press\"") < did.find("\"Drop\"") && did.contains("\"Press\""), "{dragged}");
    });
}
