//! A call asked about in one process, approved from another, and neither lost when the owner of the folder dies.

use std::fs;

use serde_json::{Value, json};

use super::folder::Folder;
use crate::message::{call, initialize};
use crate::process::{run, until};

const ASKING: &str = r#"
packs = ["memory"]
[[policy.rules]]
name = "writes"
then = "ask"
targets = ["memory_write"]
[approvals]
ask = ["inbox"]
wait_seconds = 60
"#;

fn waiting(folder: &Folder) -> Vec<String> {
    let ended = run(folder.place.toolgate(&["approvals", "list", "--json"]), b"");
    let list: Value = serde_json::from_str(&ended.stdout).unwrap();
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

fn approve(folder: &Folder) {
    until("a call waits", || waiting(folder).len() == 1);
    let ended = run(folder.place.toolgate(&["approvals", "approve", &waiting(folder)[0]]), b"");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

#[test]
fn what_is_approved_in_one_process_is_done_in_another_whoever_owns_the_folder() {
    let folder = Folder::new();
    fs::write(folder.place.path().join("toolgate.toml"), ASKING).unwrap();
    let mut owner = folder.owner();
    let mut attached = folder.serve(&["--attach"]);
    let mut alone = folder.serve(&[]);
    attached.ask(initialize("2025-11-25"));
    alone.ask(initialize("2025-11-25"));

    for (process, line) in [(&mut attached, "one"), (&mut alone, "two")] {
        process.send(call(1, "memory_write", json!({"content": line, "append": true})));
        approve(&folder);
        let answer = process.answer();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }

    // The question outlives the process that asked it; the retry finds it answered.
    attached.send(call(2, "memory_write", json!({"content": "three", "append": true})));
    until("a call waits", || waiting(&folder).len() == 1);
    owner.kill();
    let lost = attached.answer();
    assert_eq!((&lost["id"], &lost["error"]["code"]), (&json!(2), &json!(-32603)), "{lost}");
    approve(&folder);
    let again = attached.ask(call(3, "memory_write", json!({"content": "three", "append": true})));
    assert_eq!(again["result"]["isError"], false, "{again}");

    let read = alone.ask(call(4, "memory_read", json!({})));
    let text = read["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "one\ntwo\nthree");
    assert!(waiting(&folder).is_empty());
}
