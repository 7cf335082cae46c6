//! Who owns the control socket, and who comes next.

use std::fs;

use serde_json::{Value, json};

use super::folder::{Folder, Process, mode};
use crate::message::{call, initialize, modern_call, request, slow, text};
use crate::process::until;
use crate::web::Ask;

fn append(id: u32, line: &str) -> String {
    call(id, "memory_write", json!({"content": line, "append": true}))
}

fn list_tools(process: &mut Process) -> usize {
    let listed = process.ask(request(7, "tools/list", &json!({})));
    listed["result"]["tools"].as_array().unwrap().len()
}

#[test]
fn three_processes_share_a_folder_and_outlive_its_owner() {
    let folder = Folder::new();
    let mut owner = folder.owner();
    let address = owner.address();
    let mut attached = folder.serve(&["--attach"]);
    let greeted = attached.ask(initialize("2025-11-25"));
    assert_eq!(greeted["result"]["protocolVersion"], "2025-11-25");
    let mut alone = folder.serve(&[]);
    alone.ask(initialize("2025-11-25"));
    assert_eq!(list_tools(&mut attached), list_tools(&mut alone));

    until("the owner knows of both", || {
        let status = folder.status();
        status["connections"][0]["pid"] == attached.pid() && status["others"][0]["pid"] == alone.pid()
    });
    let posted = Ask::new(address, "POST", "/mcp").body(append(1, "one")).send().text();
    assert!(posted.contains(r#""isError":false"#), "{posted}");
    assert_eq!(attached.ask(append(2, "two"))["result"]["isError"], false);
    assert_eq!(alone.ask(append(3, "three"))["result"]["isError"], false);

    attached.send(slow(9, 3000.0));
    until("the call shows", || folder.status()["runs"][0]["name"] == "test_slow");
    let status = folder.status();
    assert_eq!(status["runs"][0]["connection"], status["connections"][0]["id"]);
    assert_eq!(status["connections"][0]["client"], "test");
    owner.kill();

    let lost = attached.answer();
    assert_eq!((&lost["id"], &lost["error"]["code"]), (&json!(9), &json!(-32603)), "{lost}");
    assert_eq!(attached.ask(append(4, "four"))["result"]["isError"], false);
    assert_eq!(alone.ask(append(5, "five"))["result"]["isError"], false);
    let next = folder.status()["pid"].clone();
    assert!([json!(attached.pid()), json!(alone.pid())].contains(&next), "{next} owns the folder");
    for process in [&mut attached, &mut alone] {
        let read = process.ask(call(6, "memory_read", json!({})));
        assert_eq!(text(&read), "one\ntwo\nthree\nfour\nfive");
    }
    assert_eq!(attached.finish(), (vec![], Some(0)));
    assert_eq!(alone.finish(), (vec![], Some(0)));
    assert_eq!(folder.status()["running"], false);
}

#[test]
fn a_killed_owner_is_replaced_by_the_next_that_starts() {
    let folder = Folder::new();
    folder.owner().kill();
    assert!(folder.socket().exists(), "a killed process cannot take its socket away");
    assert_eq!(folder.status()["running"], false);
    let next = folder.owner();
    assert_eq!((mode(folder.data()), mode(folder.socket())), (0o700, 0o600));
    assert_eq!(mode(folder.data().join("control.lock")), 0o600);
    next.terminate();
    until("the socket is gone", || !folder.socket().exists());
}

#[test]
fn of_processes_that_start_at_once_one_is_the_owner() {
    let folder = Folder::new();
    let options: [&[&str]; 6] = [&["--attach"], &[], &["--attach"], &[], &["--attach"], &[]];
    let mut all: Vec<Process> = options.iter().map(|options| folder.serve(options)).collect();
    for process in &mut all {
        process.ask(initialize("2025-06-18"));
    }
    // Of six processes one owns the folder; the three that attach are connected, the others stand by.
    until("all six are accounted for", || {
        let status = folder.status();
        let seen = |list: &Value| -> Vec<u64> {
            list.as_array().into_iter().flatten().filter_map(|one| one["pid"].as_u64()).collect()
        };
        let mut pids = seen(&status["connections"]);
        pids.extend(seen(&status["others"]));
        pids.extend(status["pid"].as_u64());
        pids.sort_unstable();
        let mut expect: Vec<u64> = all.iter().map(|process| process.pid().into()).collect();
        expect.sort_unstable();
        pids == expect
    });
}

#[test]
fn the_next_owner_serves_those_who_come_later() {
    let folder = Folder::new();
    let mut owner = folder.owner();
    let mut first = folder.serve(&["--attach"]);
    // A modern client has no handshake; each request says all there is to say.
    assert_eq!(text(&first.ask(modern_call(1, "test_echo", json!({"message": "a"})))), "a");
    owner.kill();
    assert_eq!(text(&first.ask(modern_call(2, "test_echo", json!({"message": "b"})))), "b");
    folder.owned_by(&first);
    let mut second = folder.serve(&["--attach"]);
    assert_eq!(text(&second.ask(call(1, "test_echo", json!({"message": "c"})))), "c");
    let status = folder.status();
    let transports: Vec<&str> = status["connections"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["transport"].as_str())
        .collect();
    assert_eq!(transports, ["stdio", "attached"], "{status}");
    // And so on, also when an owner ends because its own client has left.
    assert_eq!(first.finish(), (vec![], Some(0)));
    assert_eq!(text(&second.ask(call(2, "test_echo", json!({"message": "d"})))), "d");
    folder.owned_by(&second);
}

#[test]
fn an_owner_that_is_told_to_stop_answers_what_ends_soon_and_hands_over() {
    let folder = Folder::new();
    let owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.ask(initialize("2025-11-25"));
    attached.send(slow(1, 0.5));
    assert_eq!(attached.next()["method"], "notifications/progress", "the call runs");
    owner.terminate();
    let answer = attached.answer();
    assert!(text(&answer).contains("Slept for 0.5 s"), "{answer}");
    assert_eq!(text(&attached.ask(call(2, "test_echo", json!({"message": "on"})))), "on");
    folder.owned_by(&attached);
}

#[test]
fn in_a_folder_that_cannot_be_used_calls_run_only_where_they_need_not_be_recorded() {
    let folder = Folder::new();
    fs::create_dir_all(folder.data().parent().unwrap()).unwrap();
    fs::write(folder.data(), "in the way").unwrap();
    for arguments in [&[][..], &["--attach"]] {
        let mut process = folder.serve(arguments);
        let refused = process.ask(call(1, "test_echo", json!({"message": "x"})));
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("calls cannot be recorded, so none is run"), "{message}");
        assert_eq!(process.finish(), (vec![], Some(0)));
    }
    fs::write(folder.place.path().join("toolgate.toml"), "[audit]\non_full = \"run\"\n").unwrap();
    for arguments in [&[][..], &["--attach"]] {
        let mut process = folder.serve(arguments);
        assert_eq!(text(&process.ask(call(1, "test_echo", json!({"message": "x"})))), "x");
        assert_eq!(process.finish(), (vec![], Some(0)));
    }
}
