//! Acting: on which element, with which keys, how far, and what is left as it was.

use serde_json::{Value, json};

use crate::stage::{STAGE, ref_of};

#[test]
fn every_key_that_is_held_is_held_alone() {
    STAGE.run(async {
        let page = "<button>Press</button><script>const log = []; document.onclick = e => \
            log.push([e.altKey, e.ctrlKey, e.metaKey, e.shiftKey].map(Number).join(''))</script>";
        let ada = STAGE.seat("held keys").await;
        ada.go(&STAGE.site.html("/held-keys", page)).await;
        for key in ["Alt", "Control", "Meta", "Shift"] {
            let click =
                json!({"selector": "button", "button": "left", "modifiers": [key], "timeout": 60_000});
            ada.data("click_element", click).await;
        }
        assert_eq!(ada.value("log").await, json!(["1000", "0100", "0010", "0001"]));
    });
}

#[test]
fn a_page_and_what_scrolls_in_it_are_scrolled_as_far_as_is_said() {
    STAGE.run(async {
        let page = "<body style='margin:0;width:4000px;height:6000px'><div id=box tabindex=0 aria-label=Box \
            style='width:200px;height:100px;overflow:auto'><div style='width:900px;height:700px'></div></div>\
            <button style='position:absolute;top:4000px;left:3000px;width:100px;height:40px'>Far</button>";
        let ada = STAGE.seat("scrolled").await;
        ada.go(&STAGE.site.html("/scrolled", page)).await;
        let seen = ada.see().await;
        let [area, far] = ["clickable \"Box\"", "button \"Far\""].map(|mark| ref_of(&seen, mark));
        // Each goes on from where the one before it ended.
        let scrolled: [(Value, [i64; 4]); 10] = [
            (json!({"x": 70}), [70, 0, 0, 0]),
            (json!({"y": 90}), [70, 90, 0, 0]),
            (json!({"x": -30, "y": -40}), [40, 50, 0, 0]),
            (json!({"to": "bottom"}), [40, 6000 - 720, 0, 0]),
            (json!({"to": "top"}), [40, 0, 0, 0]),
            (json!({"ref": area, "x": 20, "y": 30}), [40, 0, 20, 30]),
            (json!({"ref": area, "to": "bottom"}), [40, 0, 20, 700 - 100]),
            (json!({"selector": "#box", "to": "top"}), [40, 0, 20, 0]),
            (json!({"ref": far}), [3050 - 640, 4020 - 360, 20, 0]),
            (json!({"selector": "#box"}), [0, 0, 20, 0]),
        ];
        for (how, expect) in scrolled {
            ada.data("scroll_page", how.clone()).await;
            let now = ada.value("[scrollX, scrollY, box.scrollLeft, box.scrollTop]").await;
            assert_eq!(now, json!(expect), "{how}");
        }
    });
}

#[test]
fn what_is_in_a_field_stays_before_what_is_added() {
    STAGE.run(async {
        let page = "<input id=text value=ab><input id=mail type=email value=ab><input id=number type=number value=12>\
            <textarea id=area>ab</textarea><div id=edit contenteditable>ab</div>";
        let ada = STAGE.seat("added").await;
        ada.go(&STAGE.site.html("/added", page)).await;
        for (id, more, added) in
            [("text", "c", "abc"), ("mail", "c", "abc"), ("number", "3", "123"), ("area", "c", "abc"), ("edit", "c", "abc")]
        {
            let fill = |clear: bool| json!({"selector": format!("#{id}"), "text": more, "clearFirst": clear, "timeout": 60_000});
            ada.data("fill_text", fill(false)).await;
            assert_eq!(ada.value(&format!("{id}.value ?? {id}.textContent")).await, added, "{id}");
            ada.data("fill_text", fill(true)).await;
            assert_eq!(ada.value(&format!("{id}.value ?? {id}.textContent")).await, more, "{id}");
        }
    });
}

#[test]
fn a_prompt_is_answered_with_what_is_said_with_what_it_offers_or_not_at_all() {
    STAGE.run(async {
        let page =
            "<button onclick='document.title = JSON.stringify(prompt(\"name?\", \"nobody\"))'>ask</button>";
        let ada = STAGE.seat("prompts").await;
        ada.go(&STAGE.site.html("/prompts", page)).await;
        for (answer, got) in [
            (json!({"accept": true, "promptText": "Ada"}), "\"Ada\""),
            (json!({"accept": true, "promptText": ""}), "\"\""),
            (json!({"accept": true}), "\"nobody\""),
            (json!({"accept": false, "promptText": "Ada"}), "null"),
        ] {
            ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
            ada.data("handle_dialog", answer.clone()).await;
            assert_eq!(ada.value("document.title").await, got, "{answer}");
        }
    });
}
