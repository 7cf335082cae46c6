//! What a launch says counts for everything that the browser opens.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use toolgate_browser::BrowserConfig;

use crate::stage::{STAGE, Seat, config};

/// A Chromium that keeps each site in a process of its own, as all do but `chromium-headless-shell`.
async fn isolating(folder: &Path) -> PathBuf {
    let status = STAGE.caller("isolates").data("brooklyn_status", json!({})).await;
    let script = folder.join("chromium");
    let lines =
        format!("#!/bin/sh\nexec {} --site-per-process \"$@\"\n", status["program"].as_str().unwrap());
    fs::write(&script, lines).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    script
}

/// Puts a page at `/lent-NAME` and a script at `/lent-NAME.js`, each of which sends its window and what it calls itself.
fn put(name: &str) -> String {
    let site = &STAGE.site;
    // A frame in a process of its own may begin before it is told how large it is.
    let send = |what: &str| {
        format!(
            "(function send() {{ if (self.innerWidth === 0) return setTimeout(send, 50); \
             fetch('/lent-{what}?' + [self.innerWidth, self.innerHeight, navigator.userAgent]) }})()"
        )
    };
    site.put(
        &format!("/lent-{name}.js"),
        "200 OK",
        "Content-Type: text/javascript\r\n",
        &send(&format!("{name}-worker")),
    );
    site.html(
        &format!("/lent-{name}"),
        &format!("<script>{}; new Worker('/lent-{name}.js')</script>", send(&format!("{name}-page"))),
    )
}

#[test]
fn what_a_launch_says_counts_in_every_tab_frame_and_worker() {
    let folder = tempfile::tempdir().unwrap();
    let program = STAGE.run(isolating(folder.path()));
    let (hub, tasks) = STAGE.other(BrowserConfig { program: Some(program), ..config() });
    STAGE.run(async {
        let [main, frame, _, tab, ..] = ["main", "frame", "popup", "tab", "shared", "service"].map(put);
        let launch = json!({
            "userAgent": "Lent/1", "extraHttpHeaders": {"X-Lent": "yes", "X-Too": "also"}, "viewport": {"width": 640, "height": 480},
        });
        let ada = Seat::take(&hub, "lent", launch).await;
        ada.go(&main).await;
        let frame = frame.replace("127.0.0.1", "localhost");
        ada.value(&format!("document.body.innerHTML = `<iframe width=222 height=111 src='{frame}'></iframe>`; 1")).await;
        asked("/lent-frame-worker").await;
        ada.value("window.open('/lent-popup'); new SharedWorker('/lent-shared.js'); 1").await;
        ada.value("void navigator.serviceWorker.register('/lent-service.js')").await;
        ada.data("manage_tabs", json!({"action": "new", "url": tab})).await;
        for (path, query) in [
            ("/lent-main", " "),
            ("/lent-main-page", "?640,480,Lent/1 "),
            ("/lent-main.js", " "),
            ("/lent-main-worker", "?,,Lent/1 "),
            ("/lent-frame", " "),
            ("/lent-frame-page", "?222,111,Lent/1 "),
            ("/lent-frame.js", " "),
            ("/lent-frame-worker", "?,,Lent/1 "),
            ("/lent-popup", " "),
            ("/lent-popup-page", "?640,480,Lent/1 "),
            ("/lent-tab", " "),
            ("/lent-tab-page", "?640,480,Lent/1 "),
            ("/lent-shared.js", " "),
            // A worker of several pages calls itself so only to servers; and the script of one that serves them is
            // asked for by Chromium itself, before there is anybody to tell.
            ("/lent-shared-worker", "?,,"),
            ("/lent-service-worker", "?,,"),
        ] {
            let head = asked(path).await;
            assert!(head.starts_with(&format!("GET {path}{query}")), "{path}: {head}");
            for line in ["User-Agent: Lent/1\r\n", "X-Lent: yes\r\n", "X-Too: also\r\n"] {
                assert!(head.contains(line), "{path}: {head}");
            }
        }
        tasks.shutdown(Duration::from_secs(60)).await;
    });
}

/// The head of the first request for a path, once there is one.
async fn asked(path: &str) -> String {
    loop {
        if let Some(head) = STAGE.site.first(path) {
            return head;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
