//! Whose browser it is: nobody else sees it, names it or shares anything with it.

use serde_json::{Value, json};
use toolgate_browser::BrowserConfig;
use toolgate_core::Kind;

use crate::stage::{STAGE, Seat, config};

/// Every tool that takes a browser, with arguments that would do.
pub(crate) fn calls() -> Vec<(&'static str, Value)> {
    vec![
        ("navigate_to_url", json!({"url": "about:blank"})),
        ("go_back", json!({})),
        ("navigate_history", json!({"direction": "reload"})),
        ("wait_for_url", json!({"pattern": "*"})),
        ("wait_for_network_idle", json!({})),
        ("manage_tabs", json!({"action": "list"})),
        ("get_page_snapshot", json!({})),
        ("find_in_page", json!({"text": "a"})),
        ("get_text_content", json!({"selector": "body"})),
        ("get_html", json!({})),
        ("get_attribute", json!({"selector": "body"})),
        ("take_screenshot", json!({})),
        ("click_element", json!({"selector": "body"})),
        ("fill_text", json!({"selector": "input", "text": "x"})),
        ("fill_form", json!({"fields": [{"selector": "input", "value": "x"}]})),
        ("press_key", json!({"key": "a"})),
        ("select_option", json!({"selector": "select", "values": ["x"]})),
        ("hover_element", json!({"selector": "body"})),
        ("scroll_page", json!({})),
        ("drag_and_drop", json!({"sourceSelector": "a", "targetSelector": "b"})),
        ("wait_for_element", json!({"selector": "body"})),
        ("evaluate_expression", json!({"expression": "1"})),
        ("get_console_messages", json!({})),
        ("inspect_network", json!({})),
        ("extract_table_data", json!({"selector": "table"})),
        ("handle_dialog", json!({"accept": true})),
        ("upload_file", json!({"selector": "input", "paths": []})),
        ("save_pdf", json!({})),
        ("manage_storage", json!({"area": "cookies", "action": "get"})),
        ("close_browser", json!({})),
    ]
}

#[test]
fn nobody_can_use_the_browser_of_another() {
    STAGE.run(async {
        let (ada, bob) = (STAGE.seat("owner").await, STAGE.seat("stranger").await);
        let url = STAGE.site.html("/private", "<title>Private</title>");
        ada.go(&url).await;
        for (tool, mut arguments) in calls() {
            arguments["browserId"] = ada.id.clone().into();
            let error = bob.fails(tool, arguments).await;
            assert_eq!(
                (error.kind(), error.message()),
                (Kind::NotFound, format!("there is no browser `{}`", ada.id).as_str()),
                "{tool}"
            );
        }
        let listed = bob.data("list_active_browsers", json!({})).await;
        assert_eq!(listed["items"].as_array().unwrap().len(), 1);
        assert_eq!(listed["items"][0]["browserId"], bob.id.as_str());
        assert_eq!(ada.value("document.title").await, "Private");
        // A name that nobody has is the same to everyone.
        let error = ada.fails("get_page_snapshot", json!({"browserId": "browser-1"})).await;
        assert_eq!((error.kind(), error.message()), (Kind::NotFound, "there is no browser `browser-1`"));
    });
}

#[test]
fn every_tool_without_a_browser_says_what_to_do() {
    STAGE.run(async {
        let nobody = STAGE.caller("without any");
        for (tool, arguments) in calls() {
            let error = nobody.fails(tool, arguments).await;
            assert_eq!(
                (error.message(), error.next_step()),
                ("there is no browser", Some("call `launch_browser` first")),
                "{tool}"
            );
        }
    });
}

#[test]
fn browsers_share_neither_cookies_nor_storage_nor_pages() {
    STAGE.run(async {
        let url = STAGE.site.html("/shared", "<title>Shared</title>");
        let one = STAGE.seat("both").await;
        let other = STAGE.seat("both").await;
        for id in [&one.id, &other.id] {
            one.data("navigate_to_url", json!({"url": url, "browserId": id})).await;
        }
        let set = "document.cookie = 'a=1'; localStorage.b = 2; 1";
        one.data("evaluate_expression", json!({"expression": set, "browserId": one.id})).await;
        let get = json!({"expression": "document.cookie + localStorage.b", "browserId": other.id});
        assert_eq!(one.data("evaluate_expression", get).await["value"], "\"undefined\"");
        // With two, a call has to say which.
        let error = one.fails("get_page_snapshot", json!({})).await;
        assert!(
            error.kind() == Kind::InvalidInput
                && error.message().contains(&one.id)
                && error.message().contains(&other.id),
            "{error}"
        );
    });
}

#[test]
fn quotas_are_kept_and_places_are_waited_for() {
    let few = BrowserConfig { max_browsers: 2, max_per_principal: 1, queue_seconds: 0, ..config() };
    let (hub, _tasks) = STAGE.other(few);
    STAGE.run(async {
        let ada = Seat::take(&hub, "ada", json!({})).await;
        let more = ada.fails("launch_browser", json!({})).await;
        assert!(more.message().starts_with("browser_limit: you have 1 browsers"), "{more}");
        let _bob = Seat::take(&hub, "bob", json!({})).await;
        let full = Seat::at(&hub, "cem").fails("launch_browser", json!({})).await;
        assert!(full.message().starts_with("browser_limit: there are 2 browsers"), "{full}");
        ada.data("close_browser", json!({})).await;
        Seat::take(&hub, "cem", json!({})).await;
    });
    let one = BrowserConfig { max_browsers: 1, queue_seconds: 120, ..config() };
    let (hub, _tasks) = STAGE.other(one);
    STAGE.run(async {
        let ada = Seat::take(&hub, "ada", json!({})).await;
        let waiting = Seat::take(&hub, "bob", json!({}));
        let leaving = async {
            tokio::task::yield_now().await;
            ada.data("close_browser", json!({})).await;
        };
        let (bob, ()) = tokio::join!(waiting, leaving);
        assert_eq!(bob.data("brooklyn_status", json!({})).await["allBrowsers"], 1);
    });
}

#[test]
fn a_browser_that_nobody_uses_is_closed() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { idle_seconds: 1, ..config() });
    STAGE.run(async {
        let ada = Seat::take(&hub, "ada", json!({})).await;
        while ada.data("brooklyn_status", json!({})).await["allBrowsers"] != 0 {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        assert_eq!(ada.fails("get_page_snapshot", json!({"browserId": ada.id})).await.kind(), Kind::NotFound);
    });
}
