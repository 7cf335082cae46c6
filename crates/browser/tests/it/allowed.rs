//! The list of hosts that holds: whichever way a page tries to reach another one.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
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

/// A page that tries one way when it is loaded, and is loaded once that came to an end.
const TRIES: &str = "<title>Tries</title><img id=hold src=/never><script>
const [way, to] = decodeURIComponent(location.hash.slice(1)).split(' ');
const done = () => { hold.src = '/nothing' };
const ways = {
  fetch: () => fetch(to, {mode: 'no-cors'}).finally(done),
  image: () => { const image = new Image(); image.onload = image.onerror = done; image.src = to },
  socket: () => { const socket = new WebSocket(to.replace('http', 'ws')); socket.onopen = socket.onerror = done },
  worker: () => { const worker = new Worker('/worker.js'); worker.onmessage = done; worker.postMessage(to) },
  frame: () => { const frame = document.createElement('iframe'); frame.onload = done; frame.src = to; document.documentElement.append(frame) },
  beacon: () => {
    new PerformanceObserver(list => list.getEntries().some(entry => entry.initiatorType === 'beacon') && done()).observe({type: 'resource'});
    navigator.sendBeacon(to, 'x');
  },
  popup: () => { const popup = open(to); setInterval(() => { try { popup.document } catch { done() } }, 50) },
  service: async () => {
    await navigator.serviceWorker.register('/service.js');
    await navigator.serviceWorker.ready;
    if (!navigator.serviceWorker.controller) await new Promise(go => navigator.serviceWorker.oncontrollerchange = go);
    await fetch('/via-service?to=' + encodeURIComponent(to));
    done();
  },
};
ways[way]();
</script>";

#[test]
fn a_page_cannot_reach_what_is_not_listed_in_any_way() {
    STAGE.run(async {
        let ada = kept("kept").await;
        STAGE.site.html("/secret", "<title>Secret</title>");
        let direct = ada.fails("navigate_to_url", json!({"url": elsewhere("/secret")})).await;
        assert!(direct.kind() == Kind::Denied && direct.message().starts_with("domain_blocked: "), "{direct}");
        let to = format!("Location: {}\r\n", elsewhere("/secret"));
        let redirect = STAGE.site.put("/redirect", "302 Found", &to, "");
        let redirected = ada.fails("navigate_to_url", json!({"url": redirect, "timeout": 60_000})).await;
        assert!(redirected.kind() == Kind::Denied && redirected.message().contains("`localhost`"), "{redirected}");

        let script = "Content-Type: text/javascript\r\n";
        let worker = "self.onmessage = e => fetch(e.data).then(r => r.status, () => 'failed').then(s => postMessage(s))";
        STAGE.site.put("/worker.js", "200 OK", script, worker);
        let service = "self.onfetch = e => { if (e.request.url.includes('/via-service')) e.respondWith(\
            fetch(new URL(e.request.url).searchParams.get('to'), {mode: 'no-cors'}).then(() => new Response('x'), () => new Response('y'))) }; \
            self.oninstall = () => skipWaiting(); self.onactivate = e => e.waitUntil(clients.claim())";
        STAGE.site.put("/service.js", "200 OK", script, service);
        let tries = STAGE.site.html("/tries", TRIES);
        let bob = STAGE.seat("not kept").await;
        for way in ["fetch", "image", "socket", "worker", "frame", "beacon", "popup", "service"] {
            let path = format!("/secret?{way}");
            let url = format!("{tries}?{way}#{way} {}", elsewhere(&path));
            let went = ada.go(&url).await;
            assert_eq!(went["refusedHosts"], json!(["localhost"]), "{way}: {went}");
            assert_eq!(STAGE.site.asked(&path), Vec::<String>::new(), "{way}");
            // And it may be reached where it is listed.
            assert_eq!(bob.go(&url).await.get("refusedHosts"), None, "{way}");
            assert_eq!(STAGE.site.asked(&path).len(), 1, "{way}");
        }
        let popup = ada.data("manage_tabs", json!({"action": "list"})).await;
        assert_eq!(popup["items"].as_array().unwrap().len(), 2, "{popup}");
    });
}

#[test]
fn nothing_is_sent_to_an_address_past_the_proxy() {
    STAGE.run(async {
        let url = STAGE.site.html("/calls", "<title>Calls</title>");
        let ada = STAGE.seat("calls").await;
        ada.go(&url).await;
        let stun = UdpSocket::bind("127.0.0.1:0").unwrap();
        stun.set_nonblocking(true).unwrap();
        let port = stun.local_addr().unwrap().port();
        let gather = format!(
            "new Promise(done => {{ const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}}); \
             peer.onicecandidate = e => e.candidate || done('gathered'); peer.createDataChannel('x'); \
             peer.createOffer().then(offer => peer.setLocalDescription(offer)) }})"
        );
        assert_eq!(ada.value(&gather).await, "gathered");
        let heard = stun.recv(&mut [0; 100]);
        assert_eq!(heard.map_err(|error| error.kind()), Err(ErrorKind::WouldBlock));
    });
}

#[test]
fn what_was_refused_is_told() {
    STAGE.run(async {
        let ada = kept("told").await;
        // It waits for its answer, so that the click does as well.
        let asks = format!(
            "<button onclick=\"const r = new XMLHttpRequest(); r.open('GET', '{}', false); try {{ r.send() }} catch {{}}\">ask</button>",
            elsewhere("/x")
        );
        ada.go(&STAGE.site.html("/asks", &asks)).await;
        let after = ada.data("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        assert_eq!(after["refusedHosts"], json!(["localhost"]), "{after}");
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
