//! Secrets across processes: set in one, hidden in all.

use serde_json::json;

use super::Desk;
use crate::process::until;

const VALUE: &str = "correct horse battery staple";

#[test]
fn a_secret_is_hidden_by_a_server_that_already_runs_and_shown_again_once_removed() {
    let desk = Desk::start("");
    std::fs::write(desk.home.join("w/a.txt"), format!("it is {VALUE}!")).unwrap();
    let read = || desk.text("workspace_read", &json!({"path": "a.txt"}));
    assert!(read().contains(VALUE));
    let set = desk.command_with(&["secret", "set", "HORSE"], format!("{VALUE}\n").as_bytes());
    assert_eq!(set.code, 0, "{}", set.stderr);
    assert!(!set.stdout.contains("horse") && !set.stderr.contains("horse"), "it is never printed");
    until("the secret is hidden", || read() == "it is [REDACTED:HORSE]!");
    let listed = desk.command(&["secret", "list", "--json"]);
    assert!(listed.stdout.contains("HORSE") && !listed.stdout.contains("correct"), "{}", listed.stdout);
    assert_eq!(desk.command(&["secret", "remove", "HORSE"]).code, 0);
    until("it is no secret any more", || read().contains(VALUE));
}

#[test]
fn commands_that_show_tools_hide_secrets_too() {
    let desk = Desk::start("");
    let shown = desk.json(&["tools", "show", "workspace_read"]);
    let words = shown["description"].as_str().unwrap();
    assert_eq!(desk.command_with(&["secret", "set", "WORDS"], words.as_bytes()).code, 0);
    for arguments in [
        &["tools", "show", "workspace_read"][..],
        &["tools", "show", "workspace_read", "--json"],
        &["tools", "list", "--all"],
        &["tools", "list", "--json"],
    ] {
        let shown = desk.command(arguments).stdout;
        assert!(shown.contains("[REDACTED:WORDS]") && !shown.contains(words), "{arguments:?}: {shown}");
    }
}

#[test]
fn errors_and_the_record_hide_secrets_too() {
    let desk = Desk::start("");
    let set = desk.command_with(&["secret", "set", "HORSE"], VALUE.as_bytes());
    assert_eq!(set.code, 0, "{}", set.stderr);
    let missing = || desk.text("workspace_read", &json!({"path": format!("{VALUE}.txt")}));
    until("the name of a missing file is hidden", || missing().contains("[REDACTED:HORSE]"));
    let encoded = VALUE.replace(' ', "%20");
    let read = desk.request("resources/read", &json!({"uri": format!("workspace:///{encoded}")}));
    assert!(read["error"].is_object() && !read.to_string().contains(&encoded), "{read}");
    let record = desk.command(&["audit", "export", "--target", "resource:*"]).stdout;
    assert!(record.contains("[REDACTED:HORSE]") && !record.contains(&encoded), "{record}");
}

#[test]
fn secrets_without_their_key_keep_the_server_from_starting() {
    let desk = Desk::start("");
    assert_eq!(desk.command_with(&["secret", "set", "HORSE"], VALUE.as_bytes()).code, 0);
    let data = desk.home.join(".local/share/toolgate/secret.key");
    std::fs::remove_file(&data).unwrap();
    let ended = desk.command(&["tools", "list"]);
    assert_eq!(ended.code, 1, "{}", ended.stdout);
    assert!(ended.stderr.contains("HORSE") && ended.stderr.contains("secret.key"), "{}", ended.stderr);
}

#[test]
fn what_cannot_be_a_secret_is_refused_with_the_reason() {
    let desk = Desk::start("");
    for (name, value, words) in [
        ("HORSE", "short", "too short"),
        ("HORSE", "", "too short"),
        ("horse", VALUE, "cannot be the name"),
        ("HORSE", &"x".repeat(5000), "too long"),
    ] {
        let ended = desk.command_with(&["secret", "set", name], value.as_bytes());
        assert_ne!(ended.code, 0);
        assert!(ended.stderr.contains(words), "{name} {words}: {}", ended.stderr);
    }
    assert_eq!(desk.json(&["secret", "list"])["items"], json!([]));
}
