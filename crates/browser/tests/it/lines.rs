//! Tools that act, where they say what they did in a line of words.

use serde_json::{Value, json};
use toolgate_browser::{BrowserConfig, TextForm};

use crate::stage::{STAGE, Seat, config};

const PAGE: &str = "<title>Lines</title><input id=i aria-label=Name><select id=s aria-label=Pick><option>One<option>Two</select>\
    <input id=f type=file aria-label=File><button id=b>Press</button><button id=d onclick='alert(\"hi\")'>Ask</button>\
    <a id=x href='/lines-report'>Get</a><div id=from>from</div><div id=to>to</div>";

#[test]
fn every_tool_that_acts_says_it_in_a_line() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { text: TextForm::Line, ..config() });
    STAGE.run(async {
        let url = STAGE.site.html("/lines", PAGE);
        std::fs::write(STAGE.workspace().join("line.txt"), "x").unwrap();
        let ada = Seat::at(&hub, "lines");
        let launched = ada.text("launch_browser", json!({})).await;
        assert!(launched.starts_with("launched browser-"), "{launched}");
        let calls: Vec<(&str, Value, &str)> = vec![
            ("navigate_to_url", json!({"url": url, "timeout": 120_000}), "went to http://"),
            ("navigate_history", json!({"direction": "reload"}), ""),
            ("wait_for_url", json!({"exact": url}), "the address is `http://"),
            ("wait_for_network_idle", json!({"timeout": 60_000}), "the network is idle; url unchanged"),
            ("manage_tabs", json!({"action": "list"}), "t1* http://"),
            (
                "fill_text",
                json!({"selector": "#i", "text": "Ada"}),
                "filled textbox \"Name\" with \"Ada\"; url unchanged",
            ),
            ("fill_form", json!({"fields": [{"selector": "#i", "value": "Bob"}]}), "filled "),
            ("press_key", json!({"key": "Tab"}), "pressed Tab"),
            ("select_option", json!({"selector": "#s", "values": ["Two"]}), "chose \"Two\""),
            ("hover_element", json!({"selector": "#b"}), ""),
            ("scroll_page", json!({"to": "top"}), "scrolled "),
            ("drag_and_drop", json!({"sourceSelector": "#from", "targetSelector": "#to"}), "dragged "),
            ("wait_for_element", json!({"selector": "#b"}), "waited for `#b` to be visible"),
            ("upload_file", json!({"selector": "#f", "paths": ["line.txt"]}), "put line.txt into "),
            ("click_element", json!({"selector": "#d", "timeout": 60_000}), "clicked button \"Ask\" e"),
            ("handle_dialog", json!({"accept": true}), "accepted the alert \"hi\""),
            ("take_screenshot", json!({"inline": false}), "took "),
            ("save_pdf", json!({}), "saved "),
            ("go_back", json!({}), ""),
            ("close_browser", json!({}), "closed browser-"),
        ];
        for (tool, arguments, begin) in calls {
            let text = ada.text(tool, arguments).await;
            assert!(text.starts_with(begin) && !text.contains('\n') && !text.is_empty(), "{tool}: {text}");
            assert!(serde_json::from_str::<Value>(&text).is_err(), "{tool}: {text}");
        }
    });
}

#[test]
fn a_line_tells_of_dialogs_errors_tabs_and_downloads() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { text: TextForm::Line, ..config() });
    STAGE.run(async {
        let headers = "Content-Disposition: attachment; filename=line.csv\r\n";
        STAGE.site.put("/lines-report", "200 OK", headers, "x");
        let page = "<title>News</title><button id=d onclick='alert(\"hi\")'>Ask</button>\
            <button id=e onclick='console.error(\"bad\")'>Err</button><a id=t href='/news' target=_blank>Tab</a>";
        let url = STAGE.site.html("/news", page);
        let ada = Seat::take(&hub, "news", json!({})).await;
        let went = ada.text("navigate_to_url", json!({"url": url, "timeout": 120_000})).await;
        assert!(went.ends_with(&format!("; now at {url} \"News\"")), "{went}");
        let click = async |selector: &str| {
            ada.text("click_element", json!({"selector": selector, "timeout": 60_000})).await
        };
        assert!(click("#d").await.ends_with("; url unchanged; dialog open: alert \"hi\""));
        ada.text("handle_dialog", json!({"accept": true})).await;
        assert!(click("#e").await.ends_with("; 1 new console errors"));
        assert!(click("#t").await.contains("; new tab t2"));
        let file = url.replace("/news", "/lines-report");
        let mut text = ada.text("navigate_to_url", json!({"url": file, "timeout": 60_000})).await;
        while !text.contains("download line.csv (1 bytes) kept as browser://captures/") {
            text = ada.text("wait_for_element", json!({"selector": "body", "state": "attached"})).await;
        }
    });
}
