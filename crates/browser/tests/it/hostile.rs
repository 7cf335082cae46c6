//! Pages that are made so that they cannot be read, used or left.

use serde_json::json;
use toolgate_core::Kind;

use crate::stage::{STAGE, ref_of};

#[test]
fn names_of_fields_and_forms_hide_nothing() {
    STAGE.run(async {
        let names = [
            "childNodes", "getAttribute", "hasAttribute", "localName", "nodeType", "shadowRoot", "parentElement",
            "parentNode", "querySelectorAll", "checkVisibility", "isConnected", "getRootNode", "matches", "closest",
            "getBoundingClientRect", "getClientRects", "scrollIntoView", "attributes", "outerHTML", "assignedSlot",
        ];
        let fields: String = names.iter().map(|name| format!("<input name={name} value=x>")).collect();
        let images: String = ["body", "querySelectorAll", "elementFromPoint", "documentElement", "nodeType"]
            .iter()
            .map(|name| format!("<img name={name} alt={name}>"))
            .collect();
        let page = format!(
            "<title>Names</title>{images}<form id=f style='width:300px;height:300px' onclick='document.title = \"clicked\"'>\
             <p>inside</p>{fields}<button type=button>Act</button></form>"
        );
        let ada = STAGE.seat("names").await;
        ada.go(&STAGE.site.html("/names", &page)).await;
        let seen = ada.see().await;
        assert!(seen.contains("inside") && seen.contains("[textbox \"localName\" e"), "{seen}");
        let act = ref_of(&seen, "button \"Act\"");
        ada.data("click_element", json!({"ref": act, "timeout": 60_000})).await;
        assert!(ada.text("get_text_content", json!({"selector": "#f"})).await.contains("inside"));
        assert!(ada.text("get_html", json!({"selector": "#f"})).await.contains("<form id=\"f\""));
        let form = ada.data("get_attribute", json!({"selector": "#f", "attribute": "id"})).await;
        assert_eq!((&form["attributes"], &form["state"]["visible"]), (&json!({"id": "f"}), &json!(true)));
        ada.data("click_element", json!({"selector": "#f", "timeout": 60_000})).await;
        let none = ada.fails("click_element", json!({"selector": "#nothing", "timeout": 1})).await;
        assert!(none.message().starts_with("element_not_found: "), "{none}");
    });
}

#[test]
fn a_page_with_nothing_at_all_is_seen_as_that() {
    STAGE.run(async {
        let ada = STAGE.seat("bare").await;
        ada.go(&STAGE.site.html("/bare", "<title>Bare</title>")).await;
        ada.value("document.documentElement.remove(); 1").await;
        assert!(ada.see().await.contains("title \"\"\n"));
        ada.text("get_html", json!({})).await;
        let gone = json!({"textGone": "Bare", "timeout": 60_000});
        ada.data("wait_for_element", gone).await;
    });
}

#[test]
fn a_page_that_opens_too_many_tabs_goes_on() {
    STAGE.run(async {
        let page = "<title>Many</title><button onclick='for (let i = 0; i < 40; i++) window.open(\"about:blank\")'>Open</button>";
        let ada = STAGE.seat("many").await;
        ada.go(&STAGE.site.html("/many", page)).await;
        ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        let tabs = ada.data("manage_tabs", json!({"action": "list"})).await;
        assert_eq!(tabs["items"].as_array().unwrap().len(), 20, "{tabs}");
        assert_eq!(ada.value("document.title").await, "Many");
        ada.go(&STAGE.site.html("/after-many", "<title>After</title>")).await;
    });
}

#[test]
fn a_page_whose_script_does_not_end_can_be_left_for_another() {
    STAGE.run(async {
        let page =
            "<title>Stuck</title><script>onkeyup = () => setTimeout(() => { while (true) {} })</script>";
        let url = STAGE.site.html("/stuck", page);
        let ada = STAGE.seat("stuck").await;
        for way in ["go", "reload"] {
            ada.go(&url).await;
            // What was done is told as done, though the page says nothing any more.
            let hung = ada.data("press_key", json!({"key": "a", "timeout": 1000})).await;
            assert_eq!(hung["note"], "the page is busy, and does not answer yet", "{hung}");
            let there = match way {
                "go" => ada.go(&STAGE.site.html("/unstuck", "<title>Unstuck</title>")).await,
                _ => ada.data("navigate_history", json!({"direction": "reload", "timeout": 120_000})).await,
            };
            assert_eq!(there["title"], if way == "go" { "Unstuck" } else { "Stuck" }, "{there}");
        }
    });
}

#[test]
fn a_pattern_that_takes_for_ever_is_stopped() {
    STAGE.run(async {
        let page = format!("<title>Pattern</title><p>{}!</p>", "a".repeat(60));
        let ada = STAGE.seat("pattern").await;
        ada.go(&STAGE.site.html("/pattern", &page)).await;
        let late = ada.fails("find_in_page", json!({"regex": "^(a+)+$"})).await;
        assert_eq!(
            (late.kind(), late.message()),
            (Kind::Timeout, "waited 10000 ms for `regex` to be looked for")
        );
        assert!(ada.see().await.contains("aaa!"));
    });
}

#[test]
fn boxes_that_pages_draw_themselves_are_seen_and_checked() {
    STAGE.run(async {
        let page = "<title>Boxes</title><label style='position:relative'><input type=checkbox name=clear \
            style='opacity:0;position:absolute'><span>☐</span> Clear</label>\
            <input type=checkbox id=none name=none style='display:none'><label for=none>None</label>\
            <label><input type=radio name=way value=1 style='display:none'>By land</label>";
        let ada = STAGE.seat("boxes").await;
        ada.go(&STAGE.site.html("/boxes", page)).await;
        let seen = ada.see().await;
        let named = |name: &str| ref_of(&seen, name);
        let (clear, none, land) =
            (named("checkbox \"☐ Clear\""), named("checkbox \"None\""), named("radio \"By land\""));
        for reference in [&clear, &none, &land] {
            ada.data("click_element", json!({"ref": reference, "timeout": 60_000})).await;
        }
        let seen = ada.see().await;
        assert_eq!(seen.matches(" checked]").count(), 3, "{seen}");
        // By their own names they are reached as well.
        let fields = json!({"fields": [{"selector": "[name=none]", "value": "false"}, {"ref": clear, "value": "false"}], "timeout": 60_000});
        let filled = ada.data("fill_form", fields).await;
        assert_eq!(filled["did"], "filled checkbox \"None\" with \"false\", checkbox \"☐ Clear\" with \"false\"");
        assert_eq!(ada.value("[...document.querySelectorAll('input')].map(box => box.checked)").await, json!([false, false, true]));
    });
}
