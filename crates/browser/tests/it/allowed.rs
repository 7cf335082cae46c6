//! The list of hosts that holds: whichever way a page tries to reach another one.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use toolgate_browser::BrowserConfig;
use toolgate_core::Kind;
use toolgate_host::outbound::{LookingUp, Lookup};

use crate::stage::{STAGE, Seat, config};

/// A browser that may reach `127.0.0.1` and nothing else, not even `localhost`.
async fn kept(name: &str) -> Seat {
    STAGE.seat_with(name, json!({"allowedDomains": ["127.0.0.1"]})).await
}

fn elsewhere(path: &str) -> String {
    format!("http://localhost:{}{path}", STAGE.site.port)
}

#[test]
fn a_page_cannot_reach_what_is_not_listed_in_any_way() {
    STAGE.run(async {
        let ada = kept("kept").await;
        STAGE.site.html("/secret", "<title>Secret</title>");
        let direct = ada.fails("navigate_to_url", json!({"url": elsewhere("/secret")})).await;
        assert!(direct.kind() == Kind::Denied && direct.message().starts_with("domain_blocked: "), "{direct}");
        let redirect = STAGE.site.put("/redirect", "302 Found", &format!("Location: {}\r\n", elsewhere("/secret")), "");
        let redirected = ada.fails("navigate_to_url", json!({"url": redirect, "timeout": 60_000})).await;
        assert!(redirected.kind() == Kind::Denied && redirected.message().contains("`localhost`"), "{redirected}");

        let worker = "self.onmessage = e => fetch(e.data).then(r => r.status, () => 'failed').then(s => postMessage(s))";
        STAGE.site.put("/worker.js", "200 OK", "Content-Type: text/javascript\r\n", worker);
        let service = "self.onfetch = e => { if (e.request.url.includes('/via-service')) \
            e.respondWith(fetch(new URL(e.request.url).searchParams.get('to'), {mode: 'no-cors'}).then(() => new Response('reached'), () => new Response('failed'))) }; \
            self.oninstall = () => skipWaiting(); self.onactivate = e => e.waitUntil(clients.claim())";
        STAGE.site.put("/service.js", "200 OK", "Content-Type: text/javascript\r\n", service);
        let url = STAGE.site.html("/tries", "<title>Tries</title>");
        ada.go(&url).await;
        let (secret, port) = (elsewhere("/secret"), STAGE.site.port);
        // A refused request is answered by the proxy, which says so; the site never hears of it.
        ada.value(&format!("fetch('{secret}', {{mode: 'no-cors'}}).then(() => 1, () => 1)")).await;
        ada.value(&format!("new Promise(done => {{ const image = new Image(); image.onload = image.onerror = () => done(1); image.src = '{secret}?image' }})")).await;
        let socket = format!("new Promise(done => {{ const s = new WebSocket('ws://localhost:{port}/secret'); s.onopen = () => done('open'); s.onerror = () => done('failed') }})");
        assert_eq!(ada.value(&socket).await, "failed");
        ada.value(&format!("new Promise(done => {{ const w = new Worker('/worker.js'); w.onmessage = e => done(e.data); w.postMessage('{secret}?worker') }})")).await;
        let serviced = format!("navigator.serviceWorker.register('/service.js').then(() => navigator.serviceWorker.ready).then(() => \
            new Promise(done => navigator.serviceWorker.controller ? done() : navigator.serviceWorker.oncontrollerchange = done))\
            .then(() => fetch('/via-service?to={secret}')).then(r => r.text())");
        ada.value(&serviced).await;
        ada.value(&format!("void window.open('{secret}?popup')")).await;
        ada.value(&format!("document.body.innerHTML = '<iframe src=\"{secret}?frame\"></iframe>'; new Promise(done => document.querySelector('iframe').onload = () => done(1))")).await;
        ada.value(&format!("void navigator.sendBeacon('{secret}?beacon', 'x')")).await;
        ada.data("wait_for_network_idle", json!({"timeout": 60_000})).await;
        let popup = ada.data("manage_tabs", json!({"action": "list"})).await;
        assert_eq!(popup["items"].as_array().unwrap().len(), 2, "{popup}");
        ada.data("manage_tabs", json!({"action": "select", "tabId": "t2"})).await;
        ada.data("wait_for_network_idle", json!({"timeout": 60_000})).await;
        let asked: Vec<String> = ["", "?image", "?worker", "?popup", "?frame", "?beacon"]
            .iter()
            .flat_map(|end| STAGE.site.asked(&format!("/secret{end}")))
            .collect();
        assert!(asked.is_empty(), "{asked:?}");
        // And they may be reached where they are listed.
        let bob = STAGE.seat("not kept").await;
        bob.go(&elsewhere("/secret")).await;
        assert_eq!(STAGE.site.asked("/secret").len(), 1);
    });
}

#[test]
fn what_was_refused_is_told() {
    STAGE.run(async {
        let ada = kept("told").await;
        let url = STAGE
            .site
            .html("/asks", &format!("<button onclick=\"fetch('{}')\">ask</button>", elsewhere("/x")));
        ada.go(&url).await;
        ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        ada.data("wait_for_network_idle", json!({"timeout": 60_000})).await;
        let after = ada.data("click_element", json!({"selector": "button"})).await;
        let told = ada.text("inspect_network", json!({"urlPattern": "/x"})).await;
        assert!(told.contains("403") || after["refusedHosts"] == json!(["localhost"]), "{told} {after}");
    });
}

#[test]
fn private_addresses_are_refused_unless_they_are_listed() {
    let public = BrowserConfig { allowed_domains: Vec::new(), ..config() };
    let (hub, _tasks) = STAGE.other(public);
    STAGE.run(async {
        let ada = Seat::take(&hub, "ada", json!({})).await;
        let port = STAGE.site.port;
        for host in [
            "127.0.0.1",
            "0x7f000001",
            "2130706433",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
        ] {
            let error = ada.fails("navigate_to_url", json!({"url": format!("http://{host}:{port}/")})).await;
            assert!(
                error.kind() == Kind::Denied && error.message().starts_with("domain_blocked"),
                "{host}: {error}"
            );
        }
        // A name is judged by where it leads.
        let url = format!("http://localhost:{port}/");
        let error = ada.fails("navigate_to_url", json!({"url": url, "timeout": 60_000})).await;
        assert!(error.kind() == Kind::Denied && error.message().contains("`localhost`"), "{error}");
    });
}

/// Names that lead to this machine the first time, and elsewhere on it from then on.
#[derive(Debug, Default)]
struct Rebinding(AtomicUsize);

impl Lookup for Rebinding {
    fn look_up(&self, name: String) -> LookingUp {
        let turn = if name == "rebind.example" { self.0.fetch_add(1, Ordering::SeqCst) } else { 1 };
        let last = if turn == 0 { 1 } else { 2 };
        Box::pin(async move { Ok(vec![SocketAddr::from(([127, 0, 0, last], 0))]) })
    }
}

#[test]
fn a_name_that_leads_elsewhere_later_leads_where_it_did() {
    let names = Arc::new(Rebinding::default());
    let allowed =
        ["rebind.example", "inner.example", "127.0.0.1"].map(|text| text.to_owned().try_into().unwrap());
    let config = BrowserConfig { allowed_domains: allowed.into(), ..config() };
    let (hub, _tasks) = STAGE.named(config, names.clone());
    STAGE.run(async {
        STAGE.site.put("/again", "200 OK", "Content-Type: text/plain\r\n", "the same");
        STAGE.site.html("/rebinds", "<title>Rebinds</title>");
        let ada = Seat::take(&hub, "ada", json!({})).await;
        let port = STAGE.site.port;
        let went = ada.go(&format!("http://rebind.example:{port}/rebinds")).await;
        assert_eq!(went["title"], "Rebinds", "{went}");
        assert_eq!(ada.value("fetch('/again').then(answer => answer.text())").await, "the same");
        assert_eq!(names.0.load(Ordering::SeqCst), 1);
        // One that leads there at once is refused: its address is not listed.
        let inner = json!({"url": format!("http://inner.example:{port}/"), "timeout": 60_000});
        let error = ada.fails("navigate_to_url", inner).await;
        assert!(error.kind() == Kind::Denied && error.message().contains("`inner.example`"), "{error}");
    });
}

#[test]
fn scripts_cannot_open_files_or_the_browser_itself() {
    STAGE.run(async {
        let url = STAGE.site.html("/climbs", "<title>Climbs</title>");
        let ada = STAGE.seat("climbs").await;
        ada.go(&url).await;
        for target in [
            "file:///etc/passwd",
            "chrome://version",
            "view-source:file:///etc/passwd",
            "devtools://devtools",
        ] {
            ada.value(&format!("location.href = '{target}'; 1")).await;
            ada.value("new Promise(done => setTimeout(done, 100))").await;
            assert_eq!(ada.value("location.href").await, url.as_str(), "{target}");
            let tried = format!("fetch('{target}').then(() => 'read', () => 'failed')");
            assert_eq!(ada.value(&tried).await, "failed", "{target}");
        }
        ada.go("about:blank").await;
        ada.value("location.href = 'file:///etc/passwd'; 1").await;
        ada.value("new Promise(done => setTimeout(done, 100))").await;
        assert_eq!(ada.value("location.href").await, "about:blank");
    });
}
