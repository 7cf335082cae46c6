//! The record of calls, as commands find and verify it.

use serde_json::json;

use super::Desk;
use crate::process::until;

#[test]
fn every_call_is_on_record_with_who_what_and_which_rule() {
    let desk = Desk::start(
        "[[policy.rules]]\nname = \"no-list\"\nthen = \"deny\"\ntargets = [\"workspace_list\"]\nwhen = 'true'\n",
    );
    desk.text("workspace_read", &json!({"path": "a.txt"}));
    desk.text("workspace_list", &json!({}));
    desk.call("nothing_like_it", &json!({}));
    let all = desk.json(&["audit", "search"]);
    let outcomes: Vec<&str> =
        all["items"].as_array().unwrap().iter().map(|item| item["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["notFound", "denied", "complete"], "{all}");
    assert_eq!(all["items"][1]["rule"], "no-list");
    assert_eq!(all["items"][2]["source"], "workspace");
    assert!(!all.to_string().contains("a.txt"), "arguments are not recorded unless that is configured");
    assert_eq!(desk.json(&["audit", "search", "--outcome", "denied"])["items"].as_array().unwrap().len(), 1);
    assert_eq!(desk.command(&["audit", "verify"]).code, 0);
    let exported = desk.command(&["audit", "export"]);
    assert_eq!(exported.stdout.lines().count(), 3);
}

#[test]
fn an_edited_record_is_found_out() {
    let desk = Desk::start("");
    for _ in 0..3 {
        desk.text("workspace_read", &json!({"path": "a.txt"}));
    }
    assert_eq!(desk.command(&["audit", "verify"]).code, 0);
    let folder = desk.home.join(".local/share/toolgate/audit");
    let spool = || std::fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).next().unwrap();
    let text = std::fs::read_to_string(spool()).unwrap();
    std::fs::write(spool(), text.replacen("\"complete\"", "\"denied\"", 1)).unwrap();
    until("the edit shows", || desk.command(&["audit", "verify"]).code == 1);
}
