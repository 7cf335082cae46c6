//! The pack `browser` on the binary: however it ends, no Chromium and no folder of it stays.

use std::fs;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::{Value, json};
use toolgate_host::process_stats::group_usage;

use crate::message::{call, request};
use crate::process::{Place, Server, Stdio, unlimited, until};

/// A Chromium that a server of ours has started.
struct Chromium {
    group: u32,
    folder: PathBuf,
}

impl Chromium {
    /// Launches a browser by asking, and finds what runs then.
    fn launched(mut ask: impl FnMut(&str, Value) -> Value) -> Self {
        let launched = ask("launch_browser", json!({}));
        assert_eq!(launched["structuredContent"]["success"], true, "{launched}");
        let status = ask("brooklyn_status", json!({"detail": "full"}));
        let group = u32::try_from(status["structuredContent"]["processId"].as_u64().unwrap()).unwrap();
        let command = String::from_utf8(fs::read(format!("/proc/{group}/cmdline")).unwrap()).unwrap();
        let profile = command.split('\0').find_map(|word| word.strip_prefix("--user-data-dir="));
        let folder = PathBuf::from(profile.unwrap()).parent().unwrap().to_owned();
        assert!(folder.is_dir() && group_usage(group).unwrap().1 > 2, "{folder:?}");
        Self { group, folder }
    }

    fn is_gone(&self) -> bool {
        group_usage(self.group).unwrap().1 == 0 && !self.folder.exists()
    }
}

fn place() -> Place {
    Place::configured(&unlimited("packs = ['browser']\n"))
}

/// A client on standard input, with a browser.
fn stdio() -> (Stdio, Chromium) {
    let mut stdio = Stdio::start_in(place(), &[]);
    let chromium =
        Chromium::launched(|tool, arguments| stdio.ask(call(1, tool, arguments))["result"].clone());
    (stdio, chromium)
}

#[test]
fn nothing_stays_when_the_input_ends() {
    let (stdio, chromium) = stdio();
    let (_, code) = stdio.finish();
    assert_eq!(code, Some(0));
    assert!(chromium.is_gone(), "{:?} {:?}", group_usage(chromium.group), chromium.folder);
}

#[test]
fn nothing_stays_when_it_is_told_to_end() {
    let (stdio, chromium) = stdio();
    stdio.running.terminate();
    let (_, code) = stdio.end();
    assert_eq!(code, Some(0));
    assert!(chromium.is_gone(), "{:?} {:?}", group_usage(chromium.group), chromium.folder);
}

#[test]
fn nothing_stays_when_it_is_killed() {
    let (stdio, chromium) = stdio();
    stdio.running.signal(Signal::KILL);
    let (_, code) = stdio.end();
    assert_eq!(code, None);
    until("nothing of the browser is left", || chromium.is_gone());
}

#[test]
fn a_browser_and_its_pictures_outlive_the_connection() {
    let server = Server::start_in(place(), &[]);
    let post = |body: String| -> Value { server.post(body).send().json()["result"].clone() };
    let chromium = Chromium::launched(|tool, arguments| post(call(1, tool, arguments)));
    let taken = post(call(2, "take_screenshot", json!({})));
    let uri = taken["content"][1]["uri"].as_str().unwrap();
    let read = post(request(3, "resources/read", &json!({"uri": uri})));
    assert_eq!(read["contents"][0]["blob"], taken["content"][2]["data"]);
    let listed = post(call(4, "list_active_browsers", json!({})));
    assert_eq!(listed["structuredContent"]["items"].as_array().unwrap().len(), 1, "{listed}");
    drop(server.kill());
    until("nothing of the browser is left", || chromium.is_gone());
}
