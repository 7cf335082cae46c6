//! A server of our own that is killed while it works.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::json;
use toolgate_testkit::{OpencodeHome, opencode_program};

use super::Way;
use super::ends::{has_begun, slow};
use crate::message::request;
use crate::process::{Place, Stdio, unlimited, until};

/// A program that starts OpenCode in its own home, and says which process that is.
fn starter(home: &OpencodeHome) -> String {
    let path = home.path().join("start-opencode");
    let variables = home.variables().into_iter().map(|(name, value)| format!("export {name}='{value}'\n"));
    let (pid, program) = (home.path().join("pid"), opencode_program());
    let start = format!("echo $$ > '{}'\nexec '{}' \"$@\"\n", pid.display(), program.display());
    fs::write(&path, format!("#!/bin/sh\n{}{start}", variables.collect::<String>())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn process(home: &Path) -> Pid {
    let text = fs::read_to_string(home.join("pid")).unwrap();
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

#[test]
fn a_call_whose_server_is_killed_is_an_error_and_the_next_one_works() {
    let home = OpencodeHome::new();
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    let place = Place::configured(&unlimited(&format!(
        "packs = ['opencode']\n[opencode]\nprogram = '{}'\ndefault_project = '{}'\n",
        starter(&home),
        project.display()
    )));
    let mut stdio = Stdio::start_in(place, &[]);
    stdio.send(request(7, "tools/call", &slow()));
    while !has_begun(&stdio.next()) {}
    let first = process(home.path());
    kill_process(first, Signal::KILL).unwrap();
    let answer = loop {
        let message = stdio.next();
        if message["id"] == 7 {
            break message;
        }
    };
    let result = &answer["result"];
    assert_eq!(result["isError"], true, "{answer}");
    assert_eq!(result["_meta"]["dev.toolgate/error"]["category"], "connectionFailed", "{answer}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("OpenCode ended while it worked on this"), "{text}");
    assert!(text.contains("it is started anew"), "{text}");

    let mut way = Way::Stdio(stdio);
    let out = way.done("opencode_run", json!({"prompt": "hello again"}));
    assert_eq!(out["content"], "ECHO: hello again");
    let second = process(home.path());
    assert_ne!(first, second);
    let Way::Stdio(stdio) = way else { panic!("it is on standard input") };
    assert_eq!(stdio.finish().1, Some(0));
    // It ends with us.
    until("the second is gone", || test_kill_process(second).is_err());
}
