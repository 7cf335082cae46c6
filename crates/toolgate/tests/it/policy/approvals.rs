//! A call that waits in one process is answered from another.

use std::thread;

use serde_json::json;

use super::Desk;
use crate::process::until;

const ASKING: &str = r#"
[[policy.rules]]
name = "writes"
then = "ask"
targets = ["workspace_write"]
reason = "it changes files"

[approvals]
wait_seconds = 60
"#;

fn waiting(desk: &Desk) -> Vec<String> {
    let list = desk.json(&["approvals", "list"]);
    let items = list["items"].as_array().unwrap();
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_call_that_waits_runs_once_another_process_has_approved_it() {
    let desk = Desk::start(ASKING);
    thread::scope(|scope| {
        let call = scope.spawn(|| desk.text("workspace_write", &json!({"path": "b.txt", "content": "new"})));
        until("the call waits", || waiting(&desk).len() == 1);
        let id = &waiting(&desk)[0];
        let shown = desk.command(&["approvals", "show", id]);
        for part in ["workspace_write", "it changes files", r#""content": "new""#] {
            assert!(shown.stdout.contains(part), "{part}: {}", shown.stdout);
        }
        assert!(!desk.home.join("w/b.txt").exists());
        assert_eq!(desk.command(&["approvals", "approve", &id[..6]]).code, 0);
        assert!(call.join().unwrap().contains("\"created\": true"));
    });
    assert_eq!(std::fs::read_to_string(desk.home.join("w/b.txt")).unwrap(), "new");
    assert!(waiting(&desk).is_empty());
    let record = desk.json(&["audit", "search", "--target", "tool:workspace_write"]);
    assert_eq!(record["items"][0]["rule"], "writes");
    assert!(record["items"][0]["approver"].as_str().unwrap().ends_with("on the command line"), "{record}");
}

#[test]
fn a_call_that_was_rejected_elsewhere_says_why() {
    let desk = Desk::start(ASKING);
    thread::scope(|scope| {
        let call = scope.spawn(|| desk.text("workspace_write", &json!({"path": "b.txt", "content": "new"})));
        until("the call waits", || waiting(&desk).len() == 1);
        let id = &waiting(&desk)[0];
        let rejected = desk.command(&["approvals", "reject", id, "--reason", "not on this branch"]);
        assert_eq!(rejected.code, 0, "{}", rejected.stderr);
        let text = call.join().unwrap();
        assert!(text.contains("rejected this call: not on this branch"), "{text}");
    });
    assert!(!desk.home.join("w/b.txt").exists());
}

#[test]
fn always_holds_for_every_process_until_it_is_forgotten() {
    let desk = Desk::start(&ASKING.replace("wait_seconds = 60", "wait_seconds = 0"));
    let write = |n: u32| desk.text("workspace_write", &json!({"path": "b.txt", "content": n.to_string()}));
    assert!(write(1).contains("needs a person's approval"));
    let id = &waiting(&desk)[0];
    assert_eq!(desk.command(&["approvals", "approve", id, "--always"]).code, 0);
    until("the running server knows it", || write(2).contains("\"bytes\""));
    let arguments = ["--workspace", "w", "tools", "call", "workspace_write", "path=b.txt", "content=three"];
    assert_eq!(desk.command(&arguments).code, 0, "the same caller in another process");
    let remembered = desk.json(&["approvals", "remembered"]);
    let rule = remembered["items"][0]["id"].as_str().unwrap();
    assert_eq!(desk.command(&["approvals", "forget", rule]).code, 0);
    until("the running server asks again", || write(4).contains("needs a person's approval"));
}

#[test]
fn what_cannot_be_answered_says_why_and_what_to_do() {
    let desk = Desk::start(ASKING);
    let unknown = desk.command(&["approvals", "approve", "ffff"]);
    assert_eq!(unknown.code, 1);
    assert!(
        unknown.stderr.contains("no approval `ffff`\nhint: `toolgate approvals list`"),
        "{}",
        unknown.stderr
    );
    assert_eq!(desk.command(&["approvals", "approve", "ffff", "--session", "--always"]).code, 2);
}
