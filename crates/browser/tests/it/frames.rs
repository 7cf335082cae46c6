//! Frames: of the same site, of others, and within each other.

use serde_json::json;

use crate::stage::{STAGE, ref_of};

#[test]
fn frames_are_seen_and_used_wherever_they_come_from() {
    STAGE.run(async {
        let port = STAGE.site.port;
        STAGE.site.html("/inner", "<button onclick='this.textContent = \"pressed inner\"'>Inner</button><input aria-label=Field>");
        STAGE.site.html("/deep", "<p>deep</p><button onclick='this.textContent = \"pressed deep\"'>Deep</button>");
        STAGE.site.html("/other", "<button onclick='this.textContent = \"pressed other\"'>Other</button><iframe src='/deep' title=deep></iframe><b>below</b>");
        let page = format!(
            "<h1>Outer</h1><div style='height:1500px'></div><iframe src='/inner' title=same style='margin:30px;border:5px solid;padding:7px'></iframe>\
             <iframe src='http://localhost:{port}/other' title=else width=500 height=400></iframe>"
        );
        let url = STAGE.site.html("/outer", &page);
        let ada = STAGE.seat("frames").await;
        ada.go(&url).await;
        ada.data("wait_for_element", json!({"text": "deep", "timeout": 60_000})).await;
        let seen = ada.see().await;
        for mark in ["[frame \"same\" e", "[frame \"else\" e", "[button \"Inner\" f", "[button \"Other\" f", "[button \"Deep\" f"] {
            assert!(seen.contains(mark), "{mark} is not in\n{seen}");
        }
        // Each is where it stands, also one within another.
        let lines: Vec<&str> = seen.lines().collect();
        let at = lines.iter().position(|line| line.contains("[frame \"deep\" f")).unwrap();
        let room = |line: &str| line.len() - line.trim_start().len();
        assert!(lines[at + 1].trim() == "deep" && room(lines[at + 1]) > room(lines[at]), "{seen}");
        for name in ["Inner", "Other", "Deep"] {
            let reference = ref_of(&seen, &format!("button \"{name}\""));
            ada.data("click_element", json!({"ref": reference, "timeout": 60_000})).await;
            let wanted = format!("pressed {}", name.to_lowercase());
            ada.data("wait_for_element", json!({"text": wanted, "timeout": 60_000})).await;
        }
        let field = ref_of(&seen, "textbox \"Field\"");
        ada.data("fill_text", json!({"ref": field, "text": "typed", "timeout": 60_000})).await;
        assert!(ada.see().await.contains(&format!("[textbox \"Field\" {field} = \"typed\"]")));
        // A selector is looked for in the page first, then in its frames.
        let text = ada.text("get_text_content", json!({"selector": "p"})).await;
        assert!(text.contains("\ndeep\n"), "{text}");
        let found = ada.text("find_in_page", json!({"text": "pressed deep"})).await;
        assert!(found.contains("found in 1 places"), "{found}");
        let attribute = ada.data("get_attribute", json!({"ref": field, "attribute": "value"})).await;
        assert_eq!(attribute["attributes"], json!({"value": "typed"}));
        // A frame that goes takes its refs with it.
        ada.value("document.querySelectorAll('iframe')[0].remove()").await;
        let stale = ada.fails("click_element", json!({"ref": field})).await;
        assert!(stale.message().starts_with("stale_ref"), "{stale}");
    });
}

#[test]
fn frames_that_come_and_go_do_not_end_a_search() {
    STAGE.run(async {
        STAGE.site.html("/passing", "<p>passing</p>");
        let page = "<p>staying</p><div id=d></div><script>setInterval(() => { \
            d.innerHTML = '<iframe src=/passing></iframe>'.repeat(3) }, 30)</script>";
        let ada = STAGE.seat("passing").await;
        ada.go(&STAGE.site.html("/passes", page)).await;
        for _ in 0..10 {
            let found = ada.text("find_in_page", json!({"text": "staying"})).await;
            assert!(found.starts_with("found in 1 places, shown 1\n"), "{found}");
        }
    });
}
