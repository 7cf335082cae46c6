//! Time limits: a short one ends before what is waited for, and is told with it.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::parameters::with_limit;
use crate::stage::STAGE;

const PAGE: &str = "<title>Limits</title><p id=here>here</p><button id=off disabled>Off</button>\
    <div id=none style='display:none'><button>None</button><input aria-label=Field><select aria-label=Pick><option>One</select></div>\
    <input id=file type=file aria-label=File disabled>";

const NEVER: &str = "new Promise(() => {})";

/// Calls that wait in vain for as long as they may, and what they say then.
fn waits(never: &str) -> Vec<(&'static str, Value, String)> {
    let said = |what: &str| format!("waited 210 ms for {what}");
    let wait = |arguments: Value, what: &str| ("wait_for_element", arguments, said(what));
    let field = r#"`#none input` (textbox "Field") to be visible"#;
    vec![
        ("click_element", json!({"selector": "#off"}), said(r##"`#off` (button "Off") to be enabled"##)),
        (
            "hover_element",
            json!({"selector": "#none button"}),
            said(r#"`#none button` (button) to be visible"#),
        ),
        ("fill_text", json!({"selector": "#none input", "text": "x"}), said(field)),
        ("fill_form", json!({"fields": [{"selector": "#none input", "value": "x"}]}), said(field)),
        ("press_key", json!({"selector": "#none input", "key": "x"}), said(field)),
        (
            "select_option",
            json!({"selector": "select", "index": 0}),
            said(r#"`select` (combobox "Pick") to be visible"#),
        ),
        (
            "drag_and_drop",
            json!({"sourceSelector": "#here", "targetSelector": "#none button"}),
            said("`#none button` (button) to be visible"),
        ),
        (
            "upload_file",
            json!({"selector": "#file", "paths": []}),
            said(r##"`#file` (file "File") to be enabled"##),
        ),
        wait(json!({"selector": "#none", "state": "detached"}), "`#none` to be detached"),
        wait(json!({"selector": "#here", "state": "hidden"}), "`#here` to be hidden"),
        wait(json!({"selector": "#nowhere", "state": "attached"}), "`#nowhere` to be attached"),
        wait(json!({"selector": "#none", "state": "visible"}), "`#none` to be visible"),
        wait(json!({"text": "nothing"}), "the text \"nothing\""),
        wait(json!({"textGone": "here"}), "the text \"here\" to go"),
        // Only a pattern has stars.
        ("wait_for_url", json!({"exact": "*"}), said("the address `*`; it is ")),
        ("wait_for_url", json!({"pattern": "*/done"}), said("the address `*/done`; it is ")),
        ("wait_for_network_idle", json!({"idle": 60_000}), said("the network to be idle for 60000 ms")),
        (
            "evaluate_expression",
            json!({"expression": NEVER}),
            "the expression was stopped after 210 ms".into(),
        ),
        ("navigate_to_url", json!({"url": never}), said(&format!("`load` of `{never}`"))),
        ("go_back", json!({}), said("the page before this one")),
        ("navigate_history", json!({"direction": "reload"}), said("this page to load again")),
    ]
}

#[test]
fn a_time_limit_ends_what_is_waited_for_in_vain_and_is_told_with_it() {
    STAGE.run(async {
        let headers = "Content-Type: text/html\r\nCache-Control: no-store\r\n";
        let never = format!("http://127.0.0.1:{}/never", STAGE.site.port);
        let ada = STAGE.seat("limits in vain").await;
        for path in ["/before-limits", "/in-vain"] {
            ada.go(&STAGE.site.put(path, "200 OK", headers, PAGE)).await;
            // From now on it leads to where nobody answers.
            STAGE.site.put(path, "302 Found", &format!("Location: {never}\r\n"), "");
        }
        let waits = waits(&never);
        let tools: BTreeSet<String> = waits.iter().map(|(tool, ..)| (*tool).to_owned()).collect();
        assert_eq!(tools, with_limit());
        for (tool, mut arguments, said) in waits {
            arguments["timeout"] = 210.into();
            let late = ada.fails(tool, arguments.clone()).await;
            assert_eq!(late.kind(), Kind::Timeout, "{tool} {arguments}: {late}");
            assert!(late.message().starts_with(&said), "{tool} {arguments}: {late}");
        }
    });
}
