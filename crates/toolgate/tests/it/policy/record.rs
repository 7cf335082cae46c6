//! The record of calls, as commands find and verify it.

use serde_json::json;

use super::Desk;
use super::tokens::{create, secret};
use crate::process::{by_command, until};

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

#[test]
fn what_is_changed_by_a_command_is_on_record_by_name_alone() {
    let asking = "[[policy.rules]]\nname = \"lists\"\nthen = \"ask\"\ntargets = [\"workspace_list\"]\nreason = \"it lists\"\n";
    let desk = Desk::start(&format!("{asking}\n[approvals]\nwait_seconds = 0\n"));
    let done = |arguments: &[&str], input: &[u8]| {
        let ended = desk.command_with(arguments, input);
        assert_eq!(ended.code, 0, "{arguments:?}: {}", ended.stderr);
    };
    let (token, id) = create(&desk, &["alice"]);
    // Whoever has the whole token at hand may name it by that.
    done(&["token", "revoke", &token], b"");
    done(&["secret", "set", "WORD"], b"hunter22-hunter22\n");
    done(&["secret", "remove", "WORD"], b"");
    desk.text("workspace_list", &json!({}));
    let asked = desk.json(&["approvals", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    done(&["approvals", "approve", &asked, "--always"], b"");
    let kept = desk.json(&["approvals", "remembered"])["items"][0]["id"].as_str().unwrap().to_owned();
    done(&["approvals", "forget", &kept], b"");
    desk.text("workspace_list", &json!({"path": "."}));
    let again = desk.json(&["approvals", "list"])["items"][0]["id"].as_str().unwrap().to_owned();
    done(&["approvals", "reject", &again, "--reason", "not now"], b"");
    // What is refused changes nothing.
    for refused in
        [["secret", "remove", "WORD"], ["token", "revoke", "nothing"], ["approvals", "forget", &kept]]
    {
        assert_ne!(desk.command(&refused).code, 0, "{refused:?}");
    }
    assert_ne!(desk.command_with(&["secret", "set", "WORD"], b"short\n").code, 0);

    let found = desk.json(&["audit", "search", "--target", "method:command/*"]);
    let expect = [
        format!("token create alice {id}"),
        format!("token revoke {id}"),
        "secret set WORD".into(),
        "secret remove WORD".into(),
        format!("approvals approve {asked} local tool:workspace_list"),
        format!("approvals forget {kept}"),
        format!("approvals reject {again} local tool:workspace_list"),
    ];
    assert_eq!(by_command(&found), expect);
    for item in found["items"].as_array().unwrap() {
        assert_eq!((&item["principal"], &item["outcome"]), (&json!("local"), &json!("complete")), "{item}");
    }
    let secret = secret(&token);
    assert!(!found.to_string().contains(secret) && !found.to_string().contains("hunter22"), "{found}");
    assert_eq!(desk.command(&["audit", "verify"]).code, 0);
}

#[test]
fn what_cannot_be_recorded_is_not_changed() {
    let desk = Desk::start("");
    let folder = desk.home.join(".local/share/toolgate");
    std::fs::create_dir_all(&folder).unwrap();
    // Nothing can be written into a folder that is a file.
    drop(std::fs::remove_dir_all(folder.join("audit")));
    std::fs::write(folder.join("audit"), "").unwrap();
    let refused = desk.command(&["token", "create", "alice"]);
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("cannot be recorded"), "{}", refused.stderr);
    assert_eq!(desk.json(&["token", "list"])["items"], json!([]));
    desk.write_config("[audit]\non_full = \"run\"\n");
    let (_, id) = create(&desk, &["alice"]);
    // What takes rights away is done all the same, and says so.
    desk.write_config("");
    let revoked = desk.command(&["token", "revoke", &id]);
    assert_eq!(revoked.code, 0, "{}", revoked.stderr);
    assert!(revoked.stderr.contains("not on record"), "{}", revoked.stderr);
    assert_eq!(desk.json(&["token", "list"])["items"][0]["state"], "revoked");
}
