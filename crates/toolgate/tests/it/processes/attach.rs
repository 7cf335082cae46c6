//! What a client sees that is attached to the hub of another process: nothing of it.

use std::fs;

use serde_json::{Value, json};

use super::folder::Folder;
use crate::message::{call, cancelled, initialize, notification, request, slow, text};
use crate::process::until;

#[test]
fn bytes_pass_as_they_are() {
    let folder = Folder::new();
    let _owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    let long = "ü\"\\".repeat(400_000);
    let answer = attached.ask(call(1, "test_echo", json!({"message": long})));
    assert_eq!(text(&answer), long);
    let answer = attached.ask(call("\"12345678901234567890.5e3\"", "test_echo", json!({"message": "x"})));
    assert_eq!(answer["id"], "12345678901234567890.5e3");
    assert_eq!(attached.ask("{no json")["error"]["code"], -32700);
    assert_eq!(attached.ask(format!("\"{}\"", "x".repeat(17_000_000)))["error"]["code"], -32600);
    for id in 0..200 {
        attached.send(call(id, "test_slow", json!({"seconds": 0.2})));
    }
    let mut ids: Vec<u64> = (0..200).map(|_| attached.answer()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..200));
    assert_eq!(attached.finish(), (vec![], Some(0)));
}

#[test]
fn a_client_on_standard_input_sees_its_profile_and_no_more() {
    let folder = Folder::new();
    let toml = "packs = [\"memory\"]\n[profiles.reading]\nshows = [\"*_read\"]\n";
    fs::write(folder.place.path().join("toolgate.toml"), toml).unwrap();
    let _owner = folder.owner();
    let list = request(1, "tools/list", &json!({}));
    for arguments in [&["--profile", "reading"][..], &["--attach", "--profile", "reading"]] {
        let mut client = folder.serve(arguments);
        let answer = client.ask(&list);
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<&Value> = tools.iter().map(|tool| &tool["name"]).collect();
        assert_eq!(names, ["memory_read"], "{arguments:?}");
        let answer = client.ask(call(2, "memory_write", json!({})));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        client.finish();
    }
    let (said, code) = folder.serve(&["--profile", "writing"]).finish();
    assert_eq!((said, code), (vec![], Some(2)));
}

#[test]
fn the_end_of_either_side_is_the_end_of_both() {
    let folder = Folder::new();
    let _owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.send(call(1, "test_slow", json!({"seconds": 0.3})));
    let (said, code) = attached.finish();
    assert_eq!((said.len(), code), (1, Some(0)), "{said:?}");
    assert!(said[0].contains("Slept for 0.3 s"), "{said:?}");
    until("the client is gone", || folder.status()["connected"] == 0);

    let mut attached = folder.serve(&["--attach"]);
    attached.send(slow(1, 3000.0));
    until("the call runs", || folder.status()["runCount"] == 1);
    attached.terminate();
    let (said, code) = attached.finish();
    assert_eq!(code, Some(0));
    assert!(said.iter().all(|line| line.contains("notifications/progress")), "{said:?}");
    until("the call is over", || folder.status()["runCount"] == 0);
}

#[test]
fn a_cancelled_call_is_not_answered_when_the_hub_ends() {
    let folder = Folder::new();
    let mut owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.ask(initialize("2025-11-25"));
    attached.send(slow(1, 3000.0));
    until("the call runs", || folder.status()["runCount"] == 1);
    attached.send(cancelled(1));
    until("the call is over", || folder.status()["runCount"] == 0);
    owner.kill();
    let answer = attached.ask(call(2, "test_echo", json!({"message": "next"})));
    assert_eq!((&answer["id"], text(&answer)), (&json!(2), "next"));
    assert_eq!(attached.finish(), (vec![], Some(0)));
}

#[test]
fn a_question_of_a_hub_that_is_gone_is_taken_back_and_its_answer_meets_no_other() {
    let folder = Folder::new();
    let mut owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.ask(initialize("2025-11-25"));
    let ask = |id: u32| call(id, "test_elicitation", json!({"message": "who?"}));
    let question = attached.ask(ask(1));
    assert_eq!(question["method"], "elicitation/create");
    owner.kill();
    let said = [attached.answer(), attached.answer()];
    let lost = said.iter().find(|message| message["id"] == 1).expect("the call is answered");
    assert_eq!(lost["error"]["code"], -32603);
    let taken_back = said.iter().find(|message| message["method"] == "notifications/cancelled").unwrap();
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
    // The new hub asks under another number, so that a late answer is nobody's.
    let again = attached.ask(ask(2));
    assert_eq!(again["method"], "elicitation/create");
    assert_ne!(again["id"], question["id"]);
    let answer = |id: &Value, content: &str| {
        json!({"jsonrpc": "2.0", "id": id, "result": {"action": "accept", "content": {"username": content, "email": "a@b.c"}}})
            .to_string()
    };
    attached.send(answer(&question["id"], "late"));
    let told = attached.ask(answer(&again["id"], "in time"));
    assert!(text(&told).contains("in time"), "{told}");
}

#[test]
fn a_new_hub_knows_what_the_client_told_the_last_one() {
    let folder = Folder::new();
    fs::create_dir_all(folder.data().join("workspace")).unwrap();
    let note = folder.data().join("workspace/note.md");
    fs::write(&note, "1").unwrap();
    let mut owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    attached.ask(initialize("2025-11-25"));
    attached.send(notification("notifications/initialized", &json!({})));
    let subscribe = request(1, "resources/subscribe", &json!({"uri": "workspace:///note.md"}));
    attached.send(subscribe);
    // Looking for the resource may show that the list is not what it was, which is told at any time.
    let subscribed = loop {
        let told = attached.answer();
        if told["id"] == 1 {
            break told;
        }
    };
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");
    owner.kill();
    folder.owned_by(&attached);
    let mut round = 1;
    // The watch may begin after the first change, so it changes until it is seen.
    let (sender, seen) = std::sync::mpsc::channel();
    let watching = std::thread::spawn(move || {
        until("a change is told", || {
            round += 1;
            fs::write(&note, round.to_string()).unwrap();
            seen.try_recv().is_ok()
        });
    });
    loop {
        let told = attached.answer();
        if told["method"] == "notifications/resources/updated" {
            assert_eq!(told["params"]["uri"], "workspace:///note.md");
            break;
        }
    }
    sender.send(()).unwrap();
    watching.join().unwrap();
}

#[test]
fn each_attached_client_works_on_its_own_folder() {
    let folder = Folder::new();
    let _owner = folder.owner();
    for name in ["first", "second"] {
        let project = folder.place.path().join(name);
        fs::create_dir(&project).unwrap();
        let mut attached = folder.serve(&["--attach"]);
        attached.ask(initialize("2025-11-25"));
        let question = attached.ask(call(1, "workspace_write", json!({"path": "f", "content": name})));
        assert_eq!(question["method"], "roots/list");
        let roots = json!({"roots": [{"uri": format!("file://{}", project.display())}]});
        let told = attached.ask(json!({"jsonrpc": "2.0", "id": question["id"], "result": roots}).to_string());
        assert_eq!(told["result"]["isError"], false, "{told}");
        assert_eq!(fs::read_to_string(project.join("f")).unwrap(), name);
    }
}

#[test]
fn a_client_with_other_settings_is_not_attached_but_served() {
    let folder = Folder::new();
    let owner = folder.owner();
    let project = folder.place.path().join("project");
    fs::create_dir(&project).unwrap();
    let mut process = folder.serve(&["--attach", "--workspace", project.to_str().unwrap()]);
    process.ask(call(1, "workspace_write", json!({"path": "f", "content": "x"})));
    assert!(project.join("f").is_file());
    let why = process.logged("serves by itself");
    assert!(why.contains("another `workspace`"), "{why}");
    until("it stands by", || folder.status()["others"][0]["pid"] == process.pid());
    folder.owned_by(&owner);
}

#[test]
fn a_client_is_attached_where_both_have_read_the_same_change() {
    let folder = Folder::new();
    let owner = folder.owner();
    fs::write(folder.place.path().join("toolgate.toml"), "packs = [\"memory\"]\n").unwrap();
    until("the hub has read it", || folder.status()["terms"]["packs"] == "memory");
    let mut process = folder.serve(&["--attach"]);
    process.ask(initialize("2025-11-25"));
    until("it is attached", || folder.status()["connections"][0]["transport"] == "attached");
    folder.owned_by(&owner);
}
