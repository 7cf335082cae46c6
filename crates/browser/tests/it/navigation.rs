//! Launching, going to pages, tabs, and closing.

use serde_json::{Value, json};
use toolgate_core::Kind;

use crate::stage::STAGE;

#[test]
fn a_browser_is_launched_looks_at_a_page_and_is_closed() {
    STAGE.run(async {
        let url = STAGE.site.html("/first", "<title>First</title><h1>Hello</h1><a href='/second'>on</a>");
        let ada = STAGE.seat("first").await;
        let went = ada.go(&url).await;
        assert_eq!(
            (&went["success"], &went["url"], &went["title"]),
            (&json!(true), &json!(url), &json!("First"))
        );
        let seen = ada.see().await;
        assert!(seen.contains("# Hello") && seen.contains("[link \"on\" e"), "{seen}");
        let listed = ada.data("list_active_browsers", json!({})).await;
        assert_eq!(
            (&listed["items"][0]["browserId"], &listed["items"][0]["url"]),
            (&json!(ada.id), &json!(url))
        );
        let closed = ada.data("close_browser", json!({"browserId": ada.id})).await;
        assert_eq!(closed, json!({"success": true, "browserId": ada.id}));
        assert_eq!(ada.data("list_active_browsers", json!({})).await, json!({"items": []}));
        let gone = ada.fails("get_page_snapshot", json!({})).await;
        assert_eq!((gone.kind(), gone.message()), (Kind::NotFound, "there is no browser"));
    });
}

#[test]
fn what_a_launch_says_counts() {
    STAGE.run(async {
        let url = STAGE.site.html("/launch", "<title>x</title>");
        let launch = json!({
            "browserType": "chromium", "headless": true, "label": "mine", "userAgent": "Test/1",
            "viewport": {"width": 640, "height": 480}, "extraHttpHeaders": {"X-Extra": "yes"},
            "allowedDomains": ["127.0.0.1"],
        });
        let ada = STAGE.seat_with("launch", launch).await;
        ada.go(&url).await;
        let seen = ada.value("[innerWidth, innerHeight, navigator.userAgent]").await;
        assert_eq!(seen, json!([640, 480, "Test/1"]));
        let asked = STAGE.site.asked("/launch").concat();
        assert!(asked.contains("X-Extra: yes") && asked.contains("User-Agent: Test/1"), "{asked}");
        assert_eq!(ada.data("list_active_browsers", json!({})).await["items"][0]["label"], "mine");
        let elsewhere = url.replace("127.0.0.1", "localhost");
        let blocked = ada.fails("navigate_to_url", json!({"url": elsewhere})).await;
        assert_eq!(
            (blocked.kind(), blocked.message().split(':').next()),
            (Kind::Denied, Some("domain_blocked"))
        );
    });
}

#[test]
fn a_launch_that_makes_no_sense_is_refused() {
    STAGE.run(async {
        let ada = STAGE.caller("no launch");
        for launch in [
            json!({"browserType": "firefox"}),
            json!({"browserType": "webkit"}),
            json!({"headless": false}),
            json!({"viewport": {"width": 0, "height": 480}}),
            json!({"viewport": {"width": 640, "height": 99999}}),
            json!({"extraHttpHeaders": {"a b": "c"}}),
            json!({"extraHttpHeaders": {"a": "b\r\nc: d"}}),
            json!({"userAgent": "a\r\nb: c"}),
            json!({"allowedDomains": ["http://a/"]}),
            json!({"allowedDomains": []}),
            json!({"surprise": 1}),
        ] {
            assert_eq!(
                ada.fails("launch_browser", launch.clone()).await.kind(),
                Kind::InvalidInput,
                "{launch}"
            );
        }
        assert_eq!(ada.data("list_active_browsers", json!({})).await["items"], json!([]));
    });
}

#[test]
fn pages_are_gone_through_in_both_directions() {
    STAGE.run(async {
        let one = STAGE.site.html("/one", "<title>One</title>");
        let two = STAGE.site.html("/two", "<title>Two</title>");
        let ada = STAGE.seat("history").await;
        ada.go(&one).await;
        ada.go(&two).await;
        assert_eq!(ada.data("go_back", json!({})).await["title"], "One");
        assert_eq!(ada.data("navigate_history", json!({"direction": "forward"})).await["title"], "Two");
        assert_eq!(ada.data("navigate_history", json!({"direction": "back"})).await["url"], one.as_str());
        ada.value("window.mark = 1").await;
        ada.data("navigate_history", json!({"direction": "reload"})).await;
        assert_eq!(ada.value("typeof window.mark").await, "undefined");
        ada.data("navigate_history", json!({"direction": "forward"})).await;
        let last = ada.fails("navigate_history", json!({"direction": "forward"})).await;
        assert_eq!((last.kind(), last.message()), (Kind::InvalidInput, "there is no page after this one"));
    });
}

#[test]
fn going_back_waits_for_the_page_and_not_for_its_address() {
    STAGE.run(async {
        let html = "Content-Type: text/html\r\nCache-Control: no-store\r\n";
        let hop = STAGE.site.put("/hop", "200 OK", html, "<title>Hop</title>");
        let landed = STAGE.site.html("/landed", "<title>Landed</title>");
        let ada = STAGE.seat("hops").await;
        ada.go(&hop).await;
        // Two entries of one address in one document.
        ada.value("history.pushState(1, '', location.href)").await;
        ada.data("go_back", json!({})).await;
        assert_eq!(ada.value("history.state").await, Value::Null);
        // One whose address leads elsewhere by now.
        ada.go(&STAGE.site.html("/after", "<title>After</title>")).await;
        STAGE.site.put("/hop", "302 Found", &format!("Location: {landed}\r\n"), "");
        let back = ada.data("go_back", json!({"timeout": 60_000})).await;
        assert_eq!((&back["title"], &back["url"]), (&json!("Landed"), &json!(landed)));
    });
}

#[test]
fn addresses_that_lead_nowhere_are_errors_that_say_why() {
    STAGE.run(async {
        let ada = STAGE.seat("nowhere").await;
        async fn check(ada: &crate::stage::Seat, url: &str, kind: Kind, words: &str) {
            let error = ada.fails("navigate_to_url", json!({"url": url, "timeout": 60_000})).await;
            assert!(
                error.kind() == kind && error.message().contains(words),
                "{url}: {:?} {error}",
                error.kind()
            );
        }
        check(&ada, "", Kind::InvalidInput, "no address").await;
        check(&ada, "example.com", Kind::InvalidInput, "no address").await;
        check(&ada, "file:///etc/passwd", Kind::Denied, "`file:`").await;
        check(&ada, "chrome://settings", Kind::Denied, "`chrome:`").await;
        check(&ada, "javascript:alert(1)", Kind::Denied, "`javascript:`").await;
        check(&ada, "view-source:http://127.0.0.1/", Kind::Denied, "`view-source:`").await;
        check(&ada, "data:text/html,x", Kind::Denied, "`data:`").await;
        check(&ada, "http://169.254.169.254/latest", Kind::Denied, "domain_blocked").await;
        check(&ada, "https://example.com/", Kind::Denied, "domain_blocked").await;
        // Nobody listens there; the proxy says so.
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let nobody = ada.go(&format!("http://{free}/")).await;
        assert!(nobody["did"].as_str().unwrap().ends_with(", which answers 502"), "{nobody}");
        let late = json!({"url": format!("http://127.0.0.1:{}/never", STAGE.site.port), "timeout": 500});
        let late = ada.fails("navigate_to_url", late).await;
        assert!(
            late.kind() == Kind::Timeout && late.message().starts_with("waited 500 ms for `load`"),
            "{late}"
        );
    });
}

#[test]
fn a_page_is_waited_for_as_far_as_it_is_asked_for() {
    STAGE.run(async {
        let plain = STAGE.site.html("/plain", "<title>Plain</title>");
        let slow = STAGE.site.html("/slow", "<title>Slow</title><img src='/never'>");
        let chatty = STAGE.site.html("/chatty", "<title>Chatty</title><script>fetch('/never')</script>");
        let ada = STAGE.seat("until").await;
        let go = |url: &str, until: &str, timeout: u64| json!({"url": url, "waitUntil": until, "timeout": timeout});
        for until in ["load", "domcontentloaded", "networkidle"] {
            assert_eq!(ada.data("navigate_to_url", go(&plain, until, 120_000)).await["title"], "Plain", "{until}");
        }
        for (url, until, title) in [(&slow, "domcontentloaded", "Slow"), (&chatty, "load", "Chatty")] {
            assert_eq!(ada.data("navigate_to_url", go(url, until, 120_000)).await["title"], title, "{until}");
        }
        for (url, until, event) in [(&slow, "load", "load"), (&chatty, "networkidle", "networkIdle")] {
            let late = ada.fails("navigate_to_url", go(url, until, 1500)).await;
            assert_eq!((late.kind(), late.message()), (Kind::Timeout, format!("waited 1500 ms for `{event}` of `{url}`").as_str()));
        }
        assert_eq!(ada.fails("navigate_to_url", go(&plain, "never", 1)).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn an_address_is_waited_for() {
    STAGE.run(async {
        let url = STAGE.site.html(
            "/wait",
            "<script>setTimeout(() => history.pushState(0, '', '/wait/done?x'), 300)</script>",
        );
        let ada = STAGE.seat("wait").await;
        ada.go(&url).await;
        let there = ada.data("wait_for_url", json!({"pattern": "*/done*", "timeout": 60_000})).await;
        assert!(there["url"].as_str().unwrap().ends_with("/wait/done?x"), "{there}");
        let exact = there["url"].clone();
        ada.data("wait_for_url", json!({"exact": exact})).await;
        let late = ada.fails("wait_for_url", json!({"exact": "http://x/", "timeout": 50})).await;
        assert!(late.kind() == Kind::Timeout && late.message().contains("`http://x/`"), "{late}");
        assert_eq!(ada.fails("wait_for_url", json!({})).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn a_quiet_network_is_waited_for() {
    STAGE.run(async {
        STAGE.site.put("/later.json", "200 OK", "Content-Type: application/json\r\n", "{}");
        let url = STAGE.site.html(
            "/busy",
            "<script>setTimeout(() => fetch('/later.json').then(() => document.title = 'got'), 200)</script>",
        );
        let ada = STAGE.seat("busy").await;
        ada.go(&url).await;
        ada.data("wait_for_network_idle", json!({"idle": 1500, "timeout": 60_000})).await;
        assert_eq!(ada.value("document.title").await, "got");
        ada.value("void fetch('/never')").await;
        let late = ada.fails("wait_for_network_idle", json!({"timeout": 300})).await;
        assert!(late.kind() == Kind::Timeout && late.message().contains("1 requests"), "{late}");
        // What was left behind is not waited for.
        ada.go(&url).await;
        ada.data("wait_for_network_idle", json!({"timeout": 60_000})).await;
    });
}

#[test]
fn tabs_are_opened_selected_and_closed() {
    STAGE.run(async {
        let one = STAGE.site.html("/tab1", "<title>One</title><a href='/tab2' target='_blank'>open</a>");
        let two = STAGE.site.html("/tab2", "<title>Two</title>");
        let ada = STAGE.seat("tabs").await;
        ada.go(&one).await;
        let opened = ada.data("manage_tabs", json!({"action": "new", "url": two})).await;
        let shown = |told: &Value| -> Vec<(String, bool)> {
            let items = told["items"].as_array().unwrap().iter();
            items.map(|item| (item["tabId"].as_str().unwrap().to_owned(), item["current"] == true)).collect()
        };
        assert_eq!(shown(&opened), [("t1".to_owned(), false), ("t2".to_owned(), true)]);
        assert_eq!(ada.value("document.title").await, "Two");
        ada.data("manage_tabs", json!({"action": "select", "tabId": "t1"})).await;
        assert_eq!(ada.value("document.title").await, "One");
        let closed = ada.data("manage_tabs", json!({"action": "close", "tabId": "t2"})).await;
        assert_eq!(shown(&closed), [("t1".to_owned(), true)]);
        let clicked = ada.data("click_element", json!({"selector": "a", "timeout": 60_000})).await;
        assert_eq!(clicked["newTabs"], json!(["t3"]), "{clicked}");
        let listed = ada.data("manage_tabs", json!({"action": "list"})).await;
        assert_eq!(shown(&listed), [("t1".to_owned(), true), ("t3".to_owned(), false)]);
        let wrong = ada.fails("manage_tabs", json!({"action": "select", "tabId": "t2"})).await;
        assert_eq!((wrong.kind(), wrong.next_step()), (Kind::NotFound, Some("give one of t1, t3")));
        assert_eq!(ada.fails("manage_tabs", json!({"action": "close"})).await.kind(), Kind::InvalidInput);
    });
}

#[test]
fn the_status_tells_of_the_browser_and_the_pool() {
    STAGE.run(async {
        let ada = STAGE.seat("status").await;
        let basic = ada.data("brooklyn_status", json!({"detail": "basic"})).await;
        assert_eq!(
            (&basic["status"], &basic["browsers"], &basic["maxBrowsers"]),
            (&json!("ready"), &json!(1), &json!(100))
        );
        assert!(basic["browser"].as_str().unwrap().contains("Chrome"), "{basic}");
        assert_eq!(basic["allowedDomains"], json!(["127.0.0.1", "localhost"]));
        assert!(basic.get("memoryBytes").is_none());
        let full = ada.data("brooklyn_status", json!({"detail": "full"})).await;
        assert!(
            full["memoryBytes"].as_u64().unwrap() > 10_000_000 && full["processes"].as_u64().unwrap() > 2,
            "{full}"
        );
        assert_eq!(full["captures"], 0);
    });
}
