//! Files that pages hand over.

use serde_json::{Value, json};
use toolgate_browser::BrowserConfig;
use toolgate_core::{Kind, Outcome};

use crate::stage::{STAGE, Seat, config};

const ATTACHED: &str =
    "Content-Type: text/csv\r\nContent-Disposition: attachment; filename=\"../re port.csv\"\r\n";

/// Acts until a download is told as this, and gives the whole result; a busy machine may need a call more.
async fn until_told(seat: &Seat, first: Value, state: &str) -> Value {
    let mut result = first;
    loop {
        let downloads = result["structuredContent"]["downloads"].as_array().cloned().unwrap_or_default();
        if downloads.iter().any(|download| download["state"] == state) {
            return result;
        }
        result = seat.call("wait_for_element", json!({"selector": "body", "state": "attached"})).await;
    }
}

async fn read(seat: &Seat, uri: &Value) -> Value {
    let Outcome::Complete(read) = seat.read(uri.as_str().unwrap()).await else { panic!("{uri} is not read") };
    read.to().unwrap()
}

#[test]
fn a_download_is_kept_linked_and_listed() {
    STAGE.run(async {
        STAGE.site.put("/report", "200 OK", ATTACHED, "a,b\n1,2\n");
        let url = STAGE.site.html("/hands", "<title>Hands</title><a href='/report'>get</a>");
        let ada = STAGE.seat("downloads").await;
        ada.go(&url).await;
        let clicked = ada.call("click_element", json!({"selector": "a", "timeout": 60_000})).await;
        let told = until_told(&ada, clicked, "kept").await;
        let download = &told["structuredContent"]["downloads"][0];
        let name = download["name"].as_str().unwrap();
        assert!(name.ends_with("port.csv") && !name.contains(['/', ' ']) && download["bytes"] == 8, "{told}");
        let link = told["content"].as_array().unwrap().last().unwrap();
        assert_eq!((&link["type"], &link["uri"]), (&json!("resource_link"), &download["uri"]), "{told}");
        assert_eq!((&link["name"], &link["mimeType"]), (&download["name"], &json!("text/csv")));
        let content = read(&ada, &download["uri"]).await;
        // It is `a,b\n1,2\n`.
        assert_eq!(content["contents"][0]["blob"], "YSxiCjEsMgo=");
        let listed = ada.data("list_screenshots", json!({})).await;
        assert_eq!(
            (&listed["total"], &listed["items"][0]["file"]),
            (&json!(1), &download["name"]),
            "{listed}"
        );
        // It is told once, the page is where it was, and nobody else reads it.
        let after = ada.data("scroll_page", json!({})).await;
        assert_eq!((after.get("downloads"), &after["url"]), (None, &json!(url)));
        let bob = STAGE.caller("no downloads");
        assert!(matches!(bob.read(download["uri"].as_str().unwrap()).await, Outcome::Failed(_)));
    });
}

#[test]
fn an_address_that_is_a_file_is_taken_as_one() {
    STAGE.run(async {
        let url = STAGE.site.put("/file", "200 OK", ATTACHED, "x");
        let ada = STAGE.seat("files").await;
        let went = ada.call("navigate_to_url", json!({"url": url, "timeout": 60_000})).await;
        let did = went["structuredContent"]["did"].as_str().unwrap().to_owned();
        assert_eq!(did, format!("took {url} as a download"));
        until_told(&ada, went, "kept").await;
    });
}

#[test]
fn downloads_of_scripts_and_new_tabs_are_taken_too() {
    STAGE.run(async {
        STAGE.site.put("/in-tab", "200 OK", ATTACHED, "tab");
        let url = STAGE.site.html("/scripted", "<a href='/in-tab' target=_blank>open</a>");
        let ada = STAGE.seat("scripted").await;
        ada.go(&url).await;
        let script = "const a = document.createElement('a'); a.download = 'made.txt'; \
            a.href = URL.createObjectURL(new Blob(['made'])); a.click(); 1";
        let ran = ada.call("evaluate_expression", json!({"expression": script})).await;
        let told = until_told(&ada, ran, "kept").await;
        assert_eq!(told["structuredContent"]["downloads"][0]["name"], "made.txt", "{told}");
        let clicked = ada.call("click_element", json!({"selector": "a", "timeout": 60_000})).await;
        until_told(&ada, clicked, "kept").await;
        assert_eq!(ada.data("list_screenshots", json!({})).await["total"], 2);
    });
}

#[test]
fn a_page_cannot_flood_with_downloads() {
    let little = BrowserConfig { keep_megabytes: 1, ..config() };
    let (hub, _tasks) = STAGE.other(little);
    STAGE.run(async {
        STAGE.site.put("/huge", "200 OK", ATTACHED, &"x".repeat(2_000_000));
        let url = STAGE.site.html("/floods", "<title>Floods</title>");
        let ada = Seat::take(&hub, "floods", json!({})).await;
        ada.go(&url).await;
        let huge = ada.call("evaluate_expression", json!({"expression": "location = '/huge'; 1"})).await;
        let told = until_told(&ada, huge, "too large").await;
        assert_eq!(told["structuredContent"]["downloads"][0].get("uri"), None, "{told}");
        let many = "for (let i = 0; i < 40; i++) { const a = document.createElement('a'); a.download = i + '.txt'; \
            a.href = URL.createObjectURL(new Blob(['x'])); a.click() }";
        ada.value(&format!("{many} 1")).await;
        ada.data("wait_for_network_idle", json!({"timeout": 60_000})).await;
        let status = ada.data("brooklyn_status", json!({"detail": "full"})).await;
        assert!(status["captureBytes"].as_u64().unwrap() <= 1 << 20, "{status}");
        assert_eq!(ada.go(&url).await["title"], "Floods");
    });
}

#[test]
fn downloads_can_be_refused() {
    let (hub, _tasks) = STAGE.other(BrowserConfig { downloads: false, ..config() });
    STAGE.run(async {
        let url = STAGE.site.put("/refused", "200 OK", ATTACHED, "x");
        let ada = Seat::take(&hub, "refused", json!({})).await;
        let error = ada.fails("navigate_to_url", json!({"url": url, "timeout": 60_000})).await;
        assert!(
            error.kind() == Kind::ConnectionFailed && error.next_step().unwrap().contains("download"),
            "{error}"
        );
        assert_eq!(ada.data("list_screenshots", json!({})).await["total"], 0);
    });
}
