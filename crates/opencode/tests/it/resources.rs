//! What can be read without a tool, and the prompts.

use std::fs;

use serde_json::{Value, json};
use toolgate_core::{Call, Kind, ListKind, Outcome, Principal, Target};
use toolgate_testkit::{client_legacy, drive, list_names};
use toolgate_wire::Raw;

use crate::stage::{STAGE, fails, keep};

fn reading(uri: &str) -> Call {
    let params = Raw::of(&json!({"uri": uri}));
    Call::new(Principal::local(), client_legacy(), Target::Resource(uri.into()), params)
}

/// The one content of a resource.
pub(crate) fn read(uri: &str) -> Value {
    let stage = &*STAGE;
    match stage.run(async { drive(stage.hub.start(reading(uri)), []).await }).outcome {
        Outcome::Complete(raw) => raw.to::<Value>().unwrap()["contents"][0].clone(),
        other => panic!("{uri}: {other:?}"),
    }
}

#[test]
fn a_session_and_what_it_changed_can_be_read() {
    let stage = &*STAGE;
    let project = stage.home.join("changed");
    fs::create_dir(&project).unwrap();
    fs::write(project.join("old.txt"), "old\n").unwrap();
    stage.run(keep(&project));
    let prompt = format!("write a file: {}", project.join("new.txt").display());
    let arguments = json!({"prompt": prompt, "workingDirectory": project});
    let out = stage.run(stage.call("opencode_run", arguments));
    assert_eq!(fs::read_to_string(project.join("new.txt")).unwrap(), "written by the model\n");

    let uri = format!("opencode://session/{}", out["sessionId"].as_str().unwrap());
    let content = read(&uri);
    assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("application/json")));
    let session: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
    assert_eq!((&session["status"], &session["directory"]), (&json!("idle"), &json!(project)), "{session}");
    let messages = session["messages"].as_array().unwrap();
    assert_eq!((&messages[0]["role"], &messages[0]["text"]), (&json!("user"), &json!(prompt)));
    let tools: Vec<&Value> = messages.iter().filter_map(|message| message["tools"].get(0)).collect();
    assert_eq!((&tools[0]["tool"], &tools[0]["status"]), (&json!("write"), &json!("completed")));

    // What changed is reckoned up behind the turn.
    let diff = stage.run(async {
        loop {
            let run = stage.hub.start(reading(&format!("{uri}/diff")));
            let Outcome::Complete(raw) = drive(run, []).await.outcome else { panic!("no diff") };
            let content = raw.to::<Value>().unwrap()["contents"][0].clone();
            if content["text"] != "" {
                return content;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    });
    assert_eq!(diff["mimeType"], "text/x-diff");
    let text = diff["text"].as_str().unwrap();
    assert!(text.contains("+written by the model") && text.contains("new.txt"), "{text}");
}

#[test]
fn the_configuration_can_be_read_without_its_secrets() {
    let content = read("opencode://config");
    let config: Value = serde_json::from_str(content["text"].as_str().unwrap()).unwrap();
    assert_eq!(config["model"], "fake/fake-1");
    assert_eq!(config["provider"]["fake"]["options"]["apiKey"], "[REDACTED]");
    assert!(!content.to_string().contains("sk-fake"), "{content}");
}

#[test]
fn what_is_not_there_cannot_be_read() {
    let stage = &*STAGE;
    for uri in [
        "opencode://session/ses_000000000000000000000000000",
        "opencode://session/ses_000000000000000000000000000/diff",
        "opencode://session/msg_1",
        "opencode://nothing",
    ] {
        let error = stage.run(fails(&stage.hub, reading(uri)));
        assert_eq!(error.kind(), Kind::ResourceNotFound, "{uri}: {error}");
    }
}

#[test]
fn resources_and_prompts_are_listed_without_a_server() {
    let stage = &*STAGE;
    // One that could not be started is not missed by who only looks.
    let config = toolgate_opencode::OpencodeConfig {
        program: Some("/bin/false".into()),
        ..toolgate_opencode::OpencodeConfig::default()
    };
    let (hub, _) = stage.other(config);
    stage.run(async {
        assert_eq!(list_names(&hub, ListKind::Resources).await, ["opencode://config"]);
        let templates = ["opencode://session/{id}", "opencode://session/{id}/diff"];
        assert_eq!(list_names(&hub, ListKind::Templates).await, templates);
        let prompts = ["opencode_explain", "opencode_implement", "opencode_review"];
        assert_eq!(list_names(&hub, ListKind::Prompts).await, prompts);
    });
}
