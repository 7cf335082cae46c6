//! However much a page holds, no reply is larger than a client takes.

use serde_json::{Map, Value, json};
use toolgate_browser::BrowserConfig;

use crate::stage::{STAGE, Seat, config};

/// An element with far too many attributes, and far too much declared for it.
const HUGE: &str = "<style id=s></style><p id=a>text</p><script>
const long = 'ä'.repeat(3000);
let rules = '';
for (let at = 0; at < 100; at++) {
  a.setAttribute('data-' + at + 'n'.repeat(300), long);
  rules += `#a:not(#${'z'.repeat(3000)}) { --p${at}: ${long}; background-image: url(${at}${long}) }`;
}
s.textContent = rules;
for (let at = 0; at < 250; at++) localStorage['key' + at] = long;
for (let at = 0; at < 60; at++) console.error(at + long);
</script><button onclick='prompt(long, long.repeat(50))'>ask</button>";

/// What a text may cost at most, a letter beyond English counted as three; `cut` in the crate does the same.
#[track_caller]
fn check(tool: &str, result: &Value) {
    let text = result["content"][0]["text"].as_str().unwrap();
    let cost: usize = text.chars().map(|c| if c.is_ascii() { 1 } else { 3 }).sum();
    assert!(cost < 70_000, "{tool}: {cost}, such as {}", &text[..200]);
}

#[test]
fn no_reply_is_larger_than_a_client_takes() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { css: true, ..config() });
    STAGE.run(async {
        let ada = Seat::take(&hub, "ada", json!({})).await;
        ada.go(&STAGE.site.html("/sizes", HUGE)).await;
        let names: Vec<String> = (0..100).map(|at| format!("--p{at}")).collect();
        let baseline: Map<String, Value> = names.iter().map(|name| (name.clone(), "x".into())).collect();
        for (tool, more) in [
            ("get_attribute", json!({})),
            ("get_computed_styles", json!({"properties": names})),
            ("diff_css", json!({"baseline": baseline})),
            ("analyze_specificity", json!({})),
        ] {
            let mut arguments = more;
            arguments["selector"] = "#a".into();
            let result = ada.call(tool, arguments).await;
            check(tool, &result);
            assert_eq!(result["structuredContent"]["truncated"], true, "{tool}");
        }
        let rules = ada.call("get_applicable_rules", json!({"selector": "#a", "limit": 200})).await;
        check("get_applicable_rules", &rules);
        assert!(rules["structuredContent"]["total"].as_u64() >= Some(200));
        let why =
            json!({"selector": "#a", "property": "background-image", "desiredValue": "x".repeat(90_000)});
        check("why_style_not_applied", &ada.call("why_style_not_applied", why).await);
        check(
            "extract_css",
            &ada.call("extract_css", json!({"selector": "#a", "maxChars": 1_000_000})).await,
        );
    });
}

#[test]
fn what_is_shown_is_what_is_counted() {
    STAGE.run(async {
        let ada = STAGE.seat("sizes").await;
        ada.go(&STAGE.site.html("/sizes-counted", HUGE)).await;
        let (mut since, mut seen) = (0, 0);
        loop {
            let page = ada.text("get_console_messages", json!({"since": since, "limit": 500})).await;
            let lines: Vec<&str> =
                page.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
            seen += lines.iter().filter(|line| line.contains('ä')).count();
            let head = page.lines().next().unwrap();
            assert!(head.starts_with(&format!("shown {} of ", lines.len())), "{head}");
            let Some((_, rest)) = head.split_once("`since` = ") else { break };
            since = rest.split(' ').next().unwrap().parse().unwrap();
        }
        assert_eq!(seen, 60);
        let stored = ada.text("manage_storage", json!({"area": "local", "action": "get"})).await;
        let shown = stored.lines().filter(|line| line.starts_with("key")).count();
        let head = format!("250 stored, {} not shown: give `key` to see one", 250 - shown);
        assert!(shown > 0 && stored.starts_with(&head), "{}", stored.lines().next().unwrap());
        let asked = ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        assert!(asked["dialog"].as_str().unwrap().chars().count() < 2100, "{asked}");
    });
}
