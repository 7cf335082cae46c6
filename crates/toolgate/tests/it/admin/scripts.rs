//! Scripts over the API of the running binary: what is approved there runs at once, and nothing else does.

use std::fs;

use serde_json::{Value, json};

use super::Desk;
use crate::process::until;

const FIRST: &str = "# @description: Sum it up.\n# @tools: workspace_*\nresult = 'first'\n";

fn start() -> Desk {
    let desk = Desk::start("[scripts]\ndir = 's'\n");
    fs::create_dir_all(desk.home.join("s")).unwrap();
    desk
}

fn write(desk: &Desk, source: &str) {
    fs::write(desk.home.join("s/job.star"), source).unwrap();
}

/// What `script_run` answers: its result, or what it says instead.
fn run(desk: &Desk) -> Value {
    let answer = desk.call("script_run", &json!({"name": "job"}));
    let result = &answer["result"];
    let structured = &result["structuredContent"]["result"];
    if structured.is_null() { result["content"][0]["text"].clone() } else { structured.clone() }
}

#[track_caller]
fn refused(desk: &Desk, state: &str) {
    let said = run(desk);
    let said = said.as_str().unwrap();
    assert!(said.contains("is pending approval") && said.contains(&format!("State: {state}")), "{said}");
}

fn hash(desk: &Desk) -> Value {
    desk.get("/scripts/job.star")["info"]["hash"].clone()
}

#[test]
fn what_is_approved_on_the_page_runs_at_once_and_nothing_else_does() {
    let desk = start();
    assert_eq!(desk.get("/scripts")["items"], json!([]));
    write(&desk, FIRST);
    refused(&desk, "pending");
    let looked = desk.get("/scripts/job");
    assert_eq!((&looked["source"], &looked["info"]["tools"]), (&json!(FIRST), &json!(["workspace_*"])));
    assert_eq!((&looked["approved"], &looked["diff"]), (&Value::Null, &Value::Null));
    let approved =
        desk.done("POST", "/scripts/job.star/approve", &json!({"hash": looked["info"]["hash"]}), 200);
    assert_eq!(approved["state"], "approved");
    assert_eq!(run(&desk), "first");

    // What changes between the look and the click is neither approved nor rejected.
    write(&desk, "result = 'harmless'\n");
    let seen = hash(&desk);
    write(&desk, "result = 'harmful'\n");
    for word in ["approve", "reject"] {
        let late = desk.done("POST", &format!("/scripts/job.star/{word}"), &json!({"hash": seen}), 409);
        assert!(late["detail"].as_str().unwrap().contains("is not what was looked at"), "{late}");
    }
    refused(&desk, "modified");
    let looked = desk.get("/scripts/job.star");
    assert_eq!(looked["approved"], FIRST);
    assert_eq!(looked["decided_by"], "ada on the admin page");
    let diff = looked["diff"].as_str().unwrap();
    assert!(diff.contains("-result = 'first'\n+result = 'harmful'\n"), "{diff}");

    let no = json!({"hash": looked["info"]["hash"], "reason": "too bold"});
    desk.done("POST", "/scripts/job.star/reject", &no, 200);
    refused(&desk, "rejected");
    assert!(run(&desk).as_str().unwrap().contains("too bold"));
    let record = desk.get("/audit?target=method:admin/*&principal=admin:ada&limit=1");
    assert_eq!(record["items"][0]["target"], "method:admin/POST /scripts/job.star/reject", "{record}");
    // The command line sees the same.
    let listed = desk.command(&["script", "list"]);
    assert!(listed.stdout.contains("job.star  rejected"), "{listed:?}");
}

#[test]
fn a_new_version_is_put_in_the_place_of_what_was_seen_and_waits() {
    let desk = start();
    let made = desk.done("PUT", "/scripts/job", &json!({"source": FIRST}), 200);
    assert_eq!((&made["name"], &made["state"]), (&json!("job.star"), &json!("pending")));
    refused(&desk, "pending");
    desk.done("POST", "/scripts/job/approve", &json!({"hash": made["hash"]}), 200);
    let next = json!({"source": "result = 'second'\n", "seen": made["hash"]});
    desk.done("PUT", "/scripts/job", &json!({"source": "result = 'second'\n"}), 409);
    assert_eq!(desk.done("PUT", "/scripts/job", &next, 200)["state"], "modified");
    desk.done("PUT", "/scripts/job", &next, 409);
    refused(&desk, "modified");
    assert_eq!(fs::read_to_string(desk.home.join("s/job.star")).unwrap(), "result = 'second'\n");
    let large = "#".repeat(70_000);
    for (name, source) in
        [("..%2Fx", "result = 1"), ("exec%3A1", "result = 1"), ("large", large.as_str()), ("none%2Fx", "")]
    {
        desk.done("PUT", &format!("/scripts/{name}"), &json!({"source": source}), 400);
    }
    assert_eq!(fs::read_dir(desk.home.join("s")).unwrap().count(), 1);
    desk.done("POST", "/scripts/none/approve", &json!({"hash": made["hash"]}), 404);
}

#[test]
fn code_that_waits_and_files_that_change_are_told_to_the_page() {
    let desk = start();
    let mut events = desk.ask("GET", "/events").open();
    let mut changed = || loop {
        let event = events.event().expect("the stream goes on");
        let data: Value = serde_json::from_slice(&event.data).unwrap();
        if event.event.as_deref() == Some("changed") && data["what"] == "scripts" {
            return;
        }
    };
    let exec = || desk.call("script_exec", &json!({"code": "result = 6 * 7"}))["result"].clone();
    assert_eq!(exec()["isError"], true);
    changed();
    until("one waits", || desk.get("/status")["scripts"] == 1);
    write(&desk, FIRST);
    changed();
    until("two wait", || desk.get("/status")["scripts"] == 2);
    let list = desk.get("/scripts");
    let code = list["items"].as_array().unwrap().last().unwrap();
    let name = code["name"].as_str().unwrap().replace(':', "%3A");
    desk.done("POST", &format!("/scripts/{name}/approve"), &json!({"hash": code["hash"]}), 200);
    assert_eq!(exec()["structuredContent"]["result"], 42);
    until("one is left", || desk.get("/status")["scripts"] == 1);
}

#[test]
fn a_secret_in_a_script_is_neither_shown_nor_lost() {
    let desk = start();
    desk.done("PUT", "/secrets/MY_SECRET", &json!({"value": "very-secret-value-1"}), 204);
    write(&desk, "result = 'very-secret-value-1'\n");
    let hidden = "result = '[REDACTED:MY_SECRET]'\n";
    until("the secret is hidden", || desk.get("/scripts/job")["source"] == hidden);
    let looked = desk.get("/scripts/job");
    assert_eq!(looked["whole"], false);
    let back = json!({"source": looked["source"], "seen": looked["info"]["hash"]});
    desk.done("PUT", "/scripts/job", &back, 409);
    assert_eq!(fs::read_to_string(desk.home.join("s/job.star")).unwrap(), "result = 'very-secret-value-1'\n");
}

#[test]
fn without_the_pack_the_page_has_no_view_of_scripts() {
    let desk = Desk::start("packs = ['workspace']\n");
    assert_eq!(desk.get("/status").get("scripts"), None);
}
