//! The pack `browser` on the binary: however it ends, no process, no zombie and no folder of it stays.

use std::fs;
use std::path::PathBuf;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use toolgate_host::process_stats::group_usage;
use toolgate_testkit::processes_of_group;

use crate::message::{call, request};
use crate::process::{Place, Server, Stdio, unlimited, until};

/// A Chromium that a server of ours has started.
struct Chromium {
    group: u32,
    /// Where folders of ours are, and what their names hold.
    temporary: PathBuf,
    mark: String,
}

impl Chromium {
    /// Launches a browser by asking the server of this id, and finds what runs then.
    fn launched(server: u32, mut ask: impl FnMut(&str, Value) -> Value) -> Self {
        let launched = ask("launch_browser", json!({}));
        assert_eq!(launched["structuredContent"]["success"], true, "{launched}");
        let status = ask("brooklyn_status", json!({"detail": "full"}));
        let group = u32::try_from(status["structuredContent"]["processId"].as_u64().unwrap()).unwrap();
        let command = String::from_utf8(fs::read(format!("/proc/{group}/cmdline")).unwrap()).unwrap();
        let profile = command.split('\0').find_map(|word| word.strip_prefix("--user-data-dir="));
        let folder = PathBuf::from(profile.unwrap()).parent().unwrap().to_owned();
        let temporary = folder.parent().unwrap().to_owned();
        let chromium = Self { group, temporary, mark: format!("-{server}-") };
        // One for its profile, one for downloads.
        let folders = chromium.folders();
        assert!(folders.len() == 2 && folders.contains(&folder), "{folders:?}");
        assert!(group_usage(group).unwrap().1 > 2);
        chromium
    }

    /// The folders that the server has made for it.
    fn folders(&self) -> Vec<PathBuf> {
        let is_ours = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            ["toolgate-browser", "toolgate-downloads"]
                .iter()
                .any(|word| name.strip_prefix(word).is_some_and(|rest| rest.starts_with(&self.mark)))
        };
        let all = fs::read_dir(&self.temporary).unwrap();
        all.map(|entry| entry.unwrap().path()).filter(is_ours).collect()
    }

    /// Waits until nothing of it is left.
    #[track_caller]
    fn is_gone(&self) {
        until("nothing of the browser is left", || {
            processes_of_group(self.group).is_empty() && self.folders().is_empty()
        });
    }
}

fn place() -> Place {
    Place::configured(&unlimited("packs = ['browser']\n"))
}

/// Calls a tool by standard input.
fn ask(stdio: &mut Stdio, tool: &str, arguments: Value) -> Value {
    stdio.ask(call(1, tool, arguments))["result"].clone()
}

/// A client on standard input, with a browser.
fn stdio() -> (Stdio, Chromium) {
    let mut stdio = Stdio::start_in(place(), &[]);
    let server = stdio.running.id();
    let chromium = Chromium::launched(server, |tool, arguments| ask(&mut stdio, tool, arguments));
    (stdio, chromium)
}

#[test]
fn nothing_stays_when_the_input_ends() {
    let (stdio, chromium) = stdio();
    let (_, code) = stdio.finish();
    assert_eq!(code, Some(0));
    // It has waited for its end; only folders may take a moment longer.
    assert_eq!(group_usage(chromium.group).unwrap().1, 0);
    chromium.is_gone();
}

#[test]
fn nothing_stays_when_it_is_told_to_end() {
    let (stdio, chromium) = stdio();
    stdio.running.terminate();
    let (_, code) = stdio.end();
    assert_eq!(code, Some(0));
    assert_eq!(group_usage(chromium.group).unwrap().1, 0);
    chromium.is_gone();
}

#[test]
fn nothing_stays_when_it_is_killed() {
    let (stdio, chromium) = stdio();
    stdio.running.signal(Signal::KILL);
    let (_, code) = stdio.end();
    assert_eq!(code, None);
    chromium.is_gone();
}

#[test]
fn nothing_stays_when_the_browser_crashes() {
    let (mut stdio, chromium) = stdio();
    kill_process(Pid::from_raw(chromium.group.cast_signed()).unwrap(), Signal::KILL).unwrap();
    until("no process of the browser is left", || processes_of_group(chromium.group).is_empty());
    // The server lives on, and so does what it has for the next one: the folder of downloads.
    let listed = ask(&mut stdio, "list_active_browsers", json!({}));
    assert_eq!(listed["structuredContent"]["items"].as_array().unwrap().len(), 1, "{listed}");
    until("its profile is gone", || chromium.folders().len() < 2);
    let closed = ask(&mut stdio, "close_browser", json!({}));
    assert_eq!(closed["structuredContent"]["success"], true, "{closed}");
    chromium.is_gone();
    assert_eq!(stdio.finish().1, Some(0));
}

#[test]
fn nothing_stays_when_a_page_is_wedged() {
    let (mut stdio, chromium) = stdio();
    let wedge = json!({"expression": "setTimeout(() => { while (true) {} }); 1"});
    assert_eq!(ask(&mut stdio, "evaluate_expression", wedge.clone())["structuredContent"]["value"], "1");
    let stuck = ask(&mut stdio, "evaluate_expression", json!({"expression": "1", "timeout": 500}));
    assert_eq!(stuck["isError"], true, "{stuck}");
    // Whoever waited in vain has stopped it, so it is wedged once more.
    assert_eq!(ask(&mut stdio, "evaluate_expression", wedge)["structuredContent"]["value"], "1");
    assert_eq!(stdio.finish().1, Some(0));
    assert_eq!(group_usage(chromium.group).unwrap().1, 0);
    chromium.is_gone();
}

#[test]
fn a_browser_and_its_pictures_outlive_the_connection() {
    let server = Server::start_in(place(), &[]);
    let post = |body: String| -> Value { server.post(body).send().json()["result"].clone() };
    let id = server.running.id();
    let chromium = Chromium::launched(id, |tool, arguments| post(call(1, tool, arguments)));
    let taken = post(call(2, "take_screenshot", json!({})));
    let uri = taken["content"][1]["uri"].as_str().unwrap();
    let read = post(request(3, "resources/read", &json!({"uri": uri})));
    assert_eq!(read["contents"][0]["blob"], taken["content"][2]["data"]);
    let listed = post(call(4, "list_active_browsers", json!({})));
    assert_eq!(listed["structuredContent"]["items"].as_array().unwrap().len(), 1, "{listed}");
    drop(server.kill());
    chromium.is_gone();
}
