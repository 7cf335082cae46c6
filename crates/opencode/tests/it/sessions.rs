//! Sessions and prompts: what is asked for is what OpenCode then has.

use serde_json::{Value, json};
use toolgate_core::Event;
use toolgate_testkit::{call, client_legacy};

use crate::resources::read;
use crate::stage::STAGE;

#[test]
fn a_run_is_answered_in_a_session_of_its_own() {
    let stage = &*STAGE;
    stage.run(async {
        let out = stage.call("opencode_run", json!({"prompt": "hello there"})).await;
        assert_eq!(out["content"], "ECHO: hello there", "{out}");
        assert_eq!(out["model"], "fake/fake-1");
        assert_eq!(out["agent"], "build");
        assert_eq!(out["directorySource"], "detected");
        assert_eq!(out["workingDirectory"], stage.project.to_str().unwrap());
        let list = stage.call("opencode_session_list", json!({})).await;
        let found =
            list["items"].as_array().unwrap().iter().find(|item| item["sessionId"] == out["sessionId"]);
        assert_eq!(found.unwrap()["status"], "idle");
    });
}

#[test]
fn a_session_has_the_title_and_model_it_was_made_with_and_files_go_along() {
    let stage = &*STAGE;
    let id = stage.run(async {
        let made = json!({"title": "Named", "model": "fake/deep/er/name", "agent": "plan"});
        let session = stage.call("opencode_session_create", made).await;
        assert_eq!(session["title"], "Named");
        let id = &session["sessionId"];
        let prompt = json!({"sessionId": id, "prompt": "read this", "files": ["notes.txt"]});
        let out = stage.call("opencode_session_prompt", prompt).await;
        assert_eq!(out["model"], "fake/deep/er/name", "{out}");
        assert_eq!(out["agent"], "plan");
        assert!(out["content"].as_str().unwrap().contains("made of cheese"), "{out}");
        let noted = json!({"sessionId": id, "prompt": "keep this in mind", "noReply": true});
        let noted = stage.call("opencode_session_prompt", noted).await;
        assert_eq!(noted["content"], "");
        id.as_str().unwrap().to_owned()
    });
    // The model was not asked: the prompt is there, and nothing follows.
    let session = read(&format!("opencode://session/{id}"));
    let session: Value = serde_json::from_str(session["text"].as_str().unwrap()).unwrap();
    let last = session["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["role"], &last["text"]), (&json!("user"), &json!("keep this in mind")), "{session}");
}

#[test]
fn two_prompts_at_once_get_their_own_answers() {
    let stage = &*STAGE;
    stage.run(async {
        let session = stage.call("opencode_session_create", json!({"title": "Two"})).await;
        let prompt = |text: &str| {
            let arguments = json!({"sessionId": session["sessionId"], "prompt": text});
            async move { stage.call("opencode_session_prompt", arguments).await }
        };
        let (one, two) = tokio::join!(prompt("first word"), prompt("second word"));
        assert_eq!(one["content"], "ECHO: first word");
        assert_eq!(two["content"], "ECHO: second word");
    });
}

#[test]
fn agents_are_listed_and_take_work() {
    let stage = &*STAGE;
    stage.run(async {
        let list = stage.call("opencode_agent_list", json!({})).await;
        let names: Vec<&str> =
            list["items"].as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect();
        for name in ["build", "plan", "general", "explore"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let out = stage.call("opencode_agent_delegate", json!({"agent": "plan", "prompt": "a plan"})).await;
        assert_eq!(out["agent"], "plan");
        assert!(out["content"].as_str().unwrap().starts_with("ECHO: a plan"), "{out}");
        let helped = json!({"agent": "general", "prompt": "a small thing"});
        let out = stage.call("opencode_agent_delegate", helped).await;
        assert_eq!(out["tools"][0]["tool"], "task", "{out}");
    });
}

#[test]
fn a_call_that_is_cancelled_stops_its_session() {
    let stage = &*STAGE;
    stage.run(async {
        let session = stage.call("opencode_session_create", json!({"title": "Stopped"})).await;
        let arguments = json!({"sessionId": session["sessionId"], "prompt": "think slowly"});
        let mut run = stage.hub.start(call(client_legacy(), "opencode_session_prompt", arguments));
        // The text comes as progress: the model has begun.
        loop {
            match run.next().await.unwrap() {
                Event::Progress(progress) if progress.0.as_str().contains("thinking") => break,
                Event::Done(outcome) => panic!("{outcome:?}"),
                _ => {}
            }
        }
        let status = async || {
            let list = stage.call("opencode_session_list", json!({"search": "Stopped"})).await;
            list["items"][0]["status"].as_str().unwrap().to_owned()
        };
        assert_eq!(status().await, "busy");
        run.cancel();
        while status().await != "idle" {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        let again = json!({"sessionId": session["sessionId"], "prompt": "and now"});
        let out = stage.call("opencode_session_prompt", again).await;
        assert_eq!(out["content"], "ECHO: and now");
    });
}

#[test]
fn a_session_that_is_aborted_says_so_to_who_waits() {
    let stage = &*STAGE;
    stage.run(async {
        let session = stage.call("opencode_session_create", json!({"title": "Aborted"})).await;
        let id = session["sessionId"].clone();
        let arguments = json!({"sessionId": id, "prompt": "think slowly"});
        let mut run = stage.hub.start(call(client_legacy(), "opencode_session_prompt", arguments));
        while let Some(event) = run.next().await {
            if matches!(&event, Event::Progress(progress) if progress.0.as_str().contains("thinking")) {
                break;
            }
        }
        let out = stage.call("opencode_session_abort", json!({"sessionId": id})).await;
        assert_eq!((&out["wasBusy"], &out["idle"]), (&json!(true), &json!(true)));
        let outcome = run.outcome().await;
        assert!(format!("{outcome:?}").contains("the session was stopped before it answered"), "{outcome:?}");
    });
}
