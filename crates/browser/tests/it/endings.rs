//! However a browser ends, nothing of it stays: no process, no zombie, no folder.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;
use toolgate_core::{Hub, Kind, Outcome};
use toolgate_host::Tasks;
use toolgate_host::process_stats::group_usage;
use toolgate_testkit::processes_of_group;

use crate::stage::{STAGE, Seat, config};

/// A Chromium of its own.
struct Own {
    hub: Hub,
    tasks: Tasks,
    seat: Seat,
    group: u32,
    folder: PathBuf,
}

impl Own {
    async fn new() -> Self {
        let (hub, tasks) = STAGE.other(config());
        let seat = Seat::take(&hub, "ada", json!({})).await;
        let status = seat.data("brooklyn_status", json!({"detail": "full"})).await;
        let group = u32::try_from(status["processId"].as_u64().unwrap()).unwrap();
        let command = fs::read(format!("/proc/{group}/cmdline")).unwrap();
        let command = String::from_utf8_lossy(&command).into_owned();
        let profile =
            command.split('\0').find_map(|word| word.strip_prefix("--user-data-dir=")).unwrap().to_owned();
        let folder = PathBuf::from(profile).parent().unwrap().to_owned();
        assert!(folder.is_dir() && group_usage(group).unwrap().1 > 2, "{folder:?}");
        Self { hub, tasks, seat, group, folder }
    }

    /// Has the Chromium that it uses now crash.
    async fn crash(&self) {
        let process = async || {
            let status = self.seat.data("brooklyn_status", json!({"detail": "full"})).await;
            status["processId"].as_u64().map(|id| u32::try_from(id).unwrap())
        };
        kill(process().await.unwrap());
        while process().await.is_some() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until nothing is left, however long the machine takes.
    async fn gone(&self) {
        gone(self.group, &self.folder).await;
    }
}

/// Waits until nothing is left of a Chromium, neither what runs nor what only waits to be buried.
async fn gone(group: u32, folder: &Path) {
    while !processes_of_group(group).is_empty() || folder.exists() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Kills a process that this test has started.
fn kill(pid: u32) {
    #[expect(clippy::disallowed_methods, reason = "there is no other way to end it from here")]
    let status =
        std::process::Command::new("/bin/sh").args(["-c", &format!("kill -9 {pid}")]).status().unwrap();
    assert!(status.success());
}

#[test]
fn a_shutdown_leaves_nothing() {
    STAGE.run(async {
        let own = Own::new().await;
        assert!(own.tasks.shutdown(Duration::from_secs(60)).await);
        own.gone().await;
        assert_eq!(own.seat.fails("get_page_snapshot", json!({})).await.kind(), Kind::ConnectionFailed);
    });
}

#[test]
fn a_pack_that_is_dropped_leaves_nothing() {
    STAGE.run(async {
        let Own { hub, tasks, seat, group, folder } = Own::new().await;
        drop((hub, seat));
        gone(group, &folder).await;
        drop(tasks);
    });
}

#[test]
fn after_a_crash_the_browser_is_started_anew_and_says_what_is_lost() {
    STAGE.run(async {
        let url = STAGE.site.html("/crash", "<title>Crash</title>");
        let own = Own::new().await;
        own.seat.go(&url).await;
        kill(own.group);
        own.gone().await;
        let again = own.seat.data("navigate_to_url", json!({"url": url, "timeout": 120_000})).await;
        assert_eq!((&again["browserId"], &again["title"]), (&json!(own.seat.id), &json!("Crash")));
        assert!(again["note"].as_str().unwrap().contains("cookies and storage are lost"), "{again}");
        // It is said once.
        assert_eq!(own.seat.go(&url).await.get("note"), None);
        own.tasks.shutdown(Duration::from_secs(60)).await;
    });
}

#[test]
fn who_counts_on_a_page_that_is_lost_is_told_so() {
    STAGE.run(async {
        let url = STAGE.site.html("/counted", "<title>Counted</title>");
        let own = Own::new().await;
        own.seat.go(&url).await;
        for (tool, arguments) in [
            ("get_text_content", json!({"selector": "body"})),
            ("wait_for_url", json!({"exact": url, "timeout": 200})),
            ("get_console_messages", json!({})),
        ] {
            own.crash().await;
            let error = own.seat.fails(tool, arguments).await;
            assert!(error.message().contains("cookies and storage are lost"), "{tool}: {error}");
        }
        // A call that fails for another reason leaves it to be said by the next one.
        own.crash().await;
        let error = own.seat.fails("navigate_to_url", json!({"url": "http://127.0.0.1:1/"})).await;
        assert!(error.message().starts_with("navigation_failed"), "{error}");
        let tabs = own.seat.data("manage_tabs", json!({"action": "list"})).await;
        assert!(tabs["note"].as_str().unwrap().contains("are lost"), "{tabs}");
        own.crash().await;
        assert!(own.seat.see().await.contains("note: the browser had ended"));
        own.seat.text("get_text_content", json!({"selector": "body"})).await;
        own.tasks.shutdown(Duration::from_secs(60)).await;
    });
}

#[test]
fn a_call_under_way_when_the_browser_crashes_ends_at_once() {
    STAGE.run(async {
        let own = Own::new().await;
        let waiting = own.seat.fails("wait_for_url", json!({"exact": "x", "timeout": 300_000}));
        let evaluating = own
            .seat
            .fails("evaluate_expression", json!({"expression": "new Promise(() => {})", "timeout": 300_000}));
        let crashing = async {
            own.seat.value("1").await;
            kill(own.group);
        };
        let (evaluated, waited, ()) = tokio::join!(evaluating, waiting, crashing);
        assert!(matches!(evaluated.kind(), Kind::ConnectionFailed | Kind::NotFound), "{evaluated}");
        assert_eq!(waited.message(), "the tab was closed");
        own.gone().await;
        own.tasks.shutdown(Duration::from_secs(60)).await;
    });
}

#[test]
fn a_page_that_crashes_is_told_and_can_be_loaded_anew() {
    STAGE.run(async {
        let url = STAGE.site.html("/breaks", "<title>Breaks</title><p>here</p>");
        let own = Own::new().await;
        own.seat.go(&url).await;
        let is_renderer = |pid: &u32| {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&command).contains("--type=renderer")
        };
        let renderers: Vec<u32> = processes_of_group(own.group).into_iter().filter(is_renderer).collect();
        assert!(!renderers.is_empty());
        renderers.into_iter().for_each(kill);
        let error = loop {
            if let Outcome::Failed(error) = own.seat.drive("get_page_snapshot", json!({})).await.outcome {
                break error;
            }
        };
        assert_eq!((error.kind(), error.message()), (Kind::ConnectionFailed, "the page crashed"));
        assert_eq!(error.next_step(), Some("call `navigate_to_url` to load one anew"));
        // The browser itself is as it was: nothing was started anew.
        let again = own.seat.go(&url).await;
        assert_eq!((&again["title"], again.get("note")), (&json!("Breaks"), None), "{again}");
        assert!(own.seat.see().await.contains("here"));
        own.tasks.shutdown(Duration::from_secs(60)).await;
        own.gone().await;
    });
}

#[test]
fn a_page_that_hangs_is_told_and_can_be_left() {
    STAGE.run(async {
        let url =
            STAGE.site.html("/hangs", "<title>Hangs</title><button onclick='while (true) {}'>hang</button>");
        let own = Own::new().await;
        own.seat.go(&url).await;
        let hung = own.seat.drive("click_element", json!({"selector": "button", "timeout": 60_000})).await;
        drop(hung);
        let busy = own.seat.fails("evaluate_expression", json!({"expression": "1", "timeout": 500})).await;
        assert_eq!(busy.kind(), Kind::Timeout, "{busy}");
        own.seat.data("close_browser", json!({})).await;
        assert_eq!(own.seat.data("list_active_browsers", json!({})).await["items"], json!([]));
        let bob = Seat::take(&own.hub, "bob", json!({})).await;
        bob.go(&url).await;
        own.tasks.shutdown(Duration::from_secs(60)).await;
        own.gone().await;
    });
}

#[test]
fn a_chromium_that_ends_while_it_starts_is_started_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let (script, tried) = (folder.path().join("chromium"), folder.path().join("tried"));
    STAGE.run(async {
        let status = STAGE.caller("starts").data("brooklyn_status", json!({})).await;
        let chromium = status["program"].as_str().unwrap();
        let lines = format!(
            "#!/bin/sh\n[ -e {tried} ] && exec {chromium} \"$@\"\n: > {tried}\n",
            tried = tried.display()
        );
        fs::write(&script, lines).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    });
    let own = toolgate_browser::BrowserConfig { program: Some(script), ..config() };
    let (hub, tasks) = STAGE.other(own);
    STAGE.run(async {
        Seat::take(&hub, "ada", json!({})).await;
        assert!(tried.exists());
        tasks.shutdown(Duration::from_secs(60)).await;
    });
}

#[test]
fn without_a_chromium_the_tools_say_how_to_get_one() {
    let none = toolgate_browser::BrowserConfig { program: Some("/nowhere/chromium".into()), ..config() };
    let (hub, _tasks) = STAGE.other(none);
    STAGE.run(async {
        let ada = Seat::at(&hub, "ada");
        let error = ada.fails("launch_browser", json!({})).await;
        assert_eq!(
            (error.kind(), error.message()),
            (Kind::ConnectionFailed, "there is no Chromium at `/nowhere/chromium`")
        );
        assert!(error.next_step().unwrap().contains("chromium-headless-shell"));
        let status = ada.data("brooklyn_status", json!({})).await;
        assert!(status["status"].as_str().unwrap().starts_with("no Chromium is installed: "), "{status}");
    });
    // What is no browser says so, too.
    let other = toolgate_browser::BrowserConfig { program: Some("/bin/true".into()), ..config() };
    let (hub, _tasks) = STAGE.other(other);
    STAGE.run(async {
        let error = Seat::at(&hub, "ada").fails("launch_browser", json!({})).await;
        assert_eq!(error.message(), "`/bin/true` did not start as a browser");
    });
}
