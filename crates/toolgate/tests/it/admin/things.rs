//! Approvals, tokens, secrets, the record, settings and tools, over the API of the running binary.

use std::thread;

use serde_json::{Value, json};

use super::{Desk, PASSWORD, post, session};
use crate::process::{Server, until};

const ASKING: &str = r#"
[[policy.rules]]
name = "writes"
then = "ask"
targets = ["workspace_write"]
reason = "it changes files"

[approvals]
wait_seconds = 60
"#;

fn waiting(desk: &Desk) -> Vec<Value> {
    desk.get("/approvals")["items"].as_array().unwrap().clone()
}

fn write(desk: &Desk, text: &str) -> String {
    let answer = desk.call("workspace_write", &json!({"path": "b.txt", "content": text}));
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_call_that_waits_shows_on_the_page_and_goes_on_when_it_is_approved_there() {
    let desk = Desk::start(ASKING);
    let mut events = desk.ask("GET", "/events").open();
    assert_eq!(events.head.header("content-type"), Some("text/event-stream"));
    thread::scope(|scope| {
        let call = scope.spawn(|| write(&desk, "new"));
        loop {
            let event = events.event().expect("the stream goes on");
            let data: Value = serde_json::from_slice(&event.data).unwrap();
            if event.event.as_deref() == Some("changed") && data["what"] == "approvals" {
                break;
            }
        }
        let asked = waiting(&desk);
        let id = asked[0]["id"].as_str().unwrap();
        assert!(asked[0]["arguments"].as_str().unwrap().contains("\"content\": \"new\""), "{asked:?}");
        assert!(!desk.home.join("w/b.txt").exists());
        desk.done("POST", &format!("/approvals/{id}/approve"), &json!({"lasting": "once"}), 200);
        assert!(call.join().unwrap().contains("\"created\": true"));
    });
    assert_eq!(std::fs::read_to_string(desk.home.join("w/b.txt")).unwrap(), "new");
    let record = desk.get("/audit?target=tool:workspace_write");
    assert_eq!(record["items"][0]["approver"], "ada on the admin page", "{record}");
}

#[test]
fn a_call_that_is_rejected_on_the_page_says_why() {
    let desk = Desk::start(ASKING);
    thread::scope(|scope| {
        let call = scope.spawn(|| write(&desk, "new"));
        until("the call waits", || waiting(&desk).len() == 1);
        let id = waiting(&desk)[0]["id"].as_str().unwrap().to_owned();
        desk.done("POST", &format!("/approvals/{id}/reject"), &json!({"reason": "not today"}), 200);
        let text = call.join().unwrap();
        assert!(text.contains("rejected this call: not today"), "{text}");
    });
    assert!(!desk.home.join("w/b.txt").exists());
}

#[test]
fn what_waits_outlives_a_crash_and_can_be_approved_afterwards() {
    let desk = Desk::start(&ASKING.replace("wait_seconds = 60", "wait_seconds = 0"));
    assert!(write(&desk, "new").contains("needs a person's approval"));
    let id = waiting(&desk)[0]["id"].as_str().unwrap().to_owned();
    let Desk { server, home, .. } = desk;
    let server = Server::start_in(server.kill(), &["--workspace", "w"]);
    let login = post(&server, "/session", &json!({"account": "ada", "password": PASSWORD})).send();
    let (cookie, csrf) = session(&login);
    let desk = Desk { server, home, cookie, csrf };
    desk.done("POST", &format!("/approvals/{id}/approve"), &json!({}), 200);
    assert!(write(&desk, "new").contains("\"created\": true"));
}

#[test]
fn a_token_is_made_used_and_taken_back() {
    let desk = Desk::start("[http]\nrequire_token = true\n");
    let new = json!({"principal": "laptop", "roles": ["ops"], "expires_in_seconds": 3600, "note": "a test"});
    let made = desk.done("POST", "/tokens", &new, 201);
    let token = made["token"].as_str().unwrap();
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let ask = || desk.server.post(list.clone()).header("Authorization", format!("Bearer {token}")).send();
    until("the token is known", || ask().status == 200);
    let shown = desk.get("/tokens");
    assert_eq!(shown["items"][0]["created_by"], "ada on the admin page");
    assert!(!shown.to_string().contains(token), "{shown}");
    let principals = desk.get("/principals");
    let laptop = &principals["items"][0];
    assert_eq!(
        (&laptop["name"], &laptop["roles"], &laptop["tokens"]),
        (&json!("laptop"), &json!(["ops"]), &json!(1))
    );
    let revoked =
        desk.done("DELETE", &format!("/tokens/{}", made["info"]["id"].as_str().unwrap()), &json!({}), 200);
    assert_eq!(revoked["state"], "revoked");
    until("the token is refused", || ask().status == 401);
    for bad in ["local", "a b", ""] {
        desk.done("POST", "/tokens", &json!({"principal": bad}), 400);
    }
}

#[test]
fn a_secret_is_kept_and_never_shown() {
    let desk = Desk::start("");
    let value = "very-secret-value-1";
    desk.done("PUT", "/secrets/MY_SECRET", &json!({"value": value}), 204);
    let list = desk.get("/secrets");
    assert_eq!(list["items"][0]["name"], "MY_SECRET");
    assert!(!list.to_string().contains(value));
    std::fs::write(desk.home.join("w/s.txt"), value).unwrap();
    until("the secret is hidden", || {
        let tried =
            desk.done("POST", "/tools/workspace_read/call", &json!({"arguments": {"path": "s.txt"}}), 200);
        tried["result"]["content"][0]["text"] == "[REDACTED:MY_SECRET]"
    });
    for (name, value) in [("lower", "long enough"), ("SHORT", "short")] {
        desk.done("PUT", &format!("/secrets/{name}"), &json!({"value": value}), 400);
    }
    desk.done("DELETE", "/secrets/MY_SECRET", &json!({}), 204);
    let record = desk.get("/audit?target=method:admin/*&principal=admin:ada");
    let targets: Vec<&Value> =
        record["items"].as_array().unwrap().iter().map(|item| &item["target"]).collect();
    let (removed, kept) = ("method:admin/DELETE /secrets/MY_SECRET", "method:admin/PUT /secrets/MY_SECRET");
    // Before them, who came in.
    assert!(
        targets.first() == Some(&&json!(removed)) && targets.iter().rev().nth(1) == Some(&&json!(kept)),
        "{targets:?}"
    );
    assert!(!record.to_string().contains(value));
    desk.done("DELETE", "/secrets/MY_SECRET", &json!({}), 404);
}

#[test]
fn a_tool_is_shown_with_its_policy_and_tried_under_it() {
    let desk =
        Desk::start("[[policy.rules]]\nname = 'no-writes'\nthen = 'deny'\ntargets = ['workspace_write']\n");
    let tools = desk.get("/tools?principal=laptop");
    let tools = tools["items"].as_array().unwrap();
    let write = tools.iter().find(|tool| tool["name"] == "workspace_write").unwrap();
    assert_eq!(
        (&write["gives"], &write["rule"], &write["listed"]),
        (&json!("deny"), &json!("no-writes"), &json!(false))
    );
    let one = desk.get("/tools/workspace_read");
    assert!(one["definition"]["inputSchema"]["properties"]["path"].is_object(), "{one}");
    let read = desk.done("POST", "/tools/workspace_read/call", &json!({"arguments": {"path": "a.txt"}}), 200);
    assert_eq!(
        (&read["outcome"], &read["result"]["content"][0]["text"]),
        (&json!("complete"), &json!("first"))
    );
    let arguments = json!({"arguments": {"path": "a.txt", "content": "x"}});
    let denied = desk.done("POST", "/tools/workspace_write/call", &arguments, 200);
    assert_ne!(denied["outcome"], "complete", "{denied}");
    assert_eq!(std::fs::read_to_string(desk.home.join("w/a.txt")).unwrap(), "first");
    let record = desk.get("/audit?principal=admin:ada&limit=1");
    assert_eq!(record["items"].as_array().unwrap().len(), 1);
    assert!(record["next"].is_string(), "{record}");
    let explained = json!({"principal": "laptop", "target": "workspace_write", "arguments": {"path": "x"}});
    assert_eq!(desk.done("POST", "/policy/explain", &explained, 200)["gives"], "deny");
    desk.done("POST", "/policy/explain", &json!({"principal": "laptop", "target": "nonsense:x"}), 400);
}

#[test]
fn the_record_is_searched_page_by_page_and_taken_along() {
    let desk = Desk::start("");
    for _ in 0..5 {
        desk.call("workspace_list", &json!({}));
    }
    let mut seen = Vec::new();
    let mut after = String::new();
    loop {
        let page = desk.get(&format!("/audit?target=tool:*&limit=2{after}"));
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["seq"].as_u64().unwrap()));
        let Some(next) = page["next"].as_str() else { break };
        after = format!("&after={next}");
    }
    assert_eq!(seen.len(), 5, "{seen:?}");
    assert!(seen.is_sorted_by(|a, b| a > b), "{seen:?}");
    let file = desk.ask("GET", "/audit/export?target=tool:*").send();
    assert_eq!(file.text().lines().count(), 5);
    assert_eq!(desk.get("/audit?target=tool:none")["items"], json!([]));
    assert_eq!(desk.ask("GET", "/audit?after=nonsense").send().status, 400);
}

#[test]
fn settings_are_shown_with_their_origin_and_without_secrets() {
    let desk = Desk::start("[http]\ntoken = 'sixteen-characters'\n");
    let settings = desk.get("/settings");
    let item = |key: &str| {
        let items = settings["items"].as_array().unwrap();
        items.iter().find(|item| item["key"] == key).unwrap_or_else(|| panic!("no {key}")).clone()
    };
    assert_eq!(item("http.port")["origin"], json!({"kind": "flag", "name": "--port"}));
    assert_eq!(item("http.token")["hidden"], true);
    assert_eq!(item("http.token")["origin"]["kind"], "file");
    assert_eq!(item("admin.enabled")["origin"]["kind"], "default");
    assert!(!settings.to_string().contains("sixteen-characters"));
    std::fs::write(desk.home.join("toolgate.toml"), "nonsense = [").unwrap();
    let refused = desk.send("POST", "/settings/reload", &json!({}));
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(desk.get("/settings")["error"].is_string());
    std::fs::write(desk.home.join("toolgate.toml"), "[log]\nlevel = 'warn'\n").unwrap();
    let changed = desk.done("POST", "/settings/reload", &json!({}), 200);
    assert!(changed["changed"].as_str().unwrap().contains("log.level"), "{changed}");
}

#[test]
fn a_page_that_listens_does_not_keep_the_server_from_ending() {
    let mut desk = Desk::start("");
    let mut events = desk.ask("GET", "/events").open();
    assert!(events.event().is_some());
    desk.server.running.terminate();
    while events.event().is_some() {}
    assert_eq!(desk.server.running.code(), Some(0));
    assert!(!desk.server.log().contains("did not end in time"), "{}", desk.server.log());
}
