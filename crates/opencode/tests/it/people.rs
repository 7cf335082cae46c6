//! A person in the loop: OpenCode asks, somebody answers, and it never hangs.

use serde_json::{Value, json};
use toolgate_core::{Capabilities, Outcome};
use toolgate_opencode::{OpencodeConfig, PermissionsConfig};
use toolgate_testkit::{
    Expect as _, call, client_legacy, client_modern, client_with, drive, first_round, retry,
};
use toolgate_wire::Version;

use crate::stage::STAGE;

const BASH: &str = "run bash: echo it-ran";

/// The key of a question is the id of OpenCode's request, which only the question tells.
async fn answered(prompt: &str, content: Value) -> Value {
    let stage = &*STAGE;
    let mut run = stage.hub.start(call(client_legacy(), "opencode_run", json!({"prompt": prompt})));
    while let Some(event) = run.next().await {
        match event {
            toolgate_core::Event::Ask(ask) => {
                let mut answers = toolgate_core::Answers::default();
                for question in &ask.questions {
                    answers.insert(&question.key, toolgate_wire::Raw::of(&content));
                }
                ask.answer(Ok(answers));
            }
            toolgate_core::Event::Done(Outcome::Complete(raw)) => {
                return raw.to::<Value>().unwrap()["structuredContent"].clone();
            }
            toolgate_core::Event::Done(outcome) => panic!("{outcome:?}"),
            _ => {}
        }
    }
    panic!("no outcome")
}

#[test]
fn a_person_allows_or_rejects_what_opencode_asks_for() {
    let stage = &*STAGE;
    stage.run(async {
        let out = answered(BASH, json!({"action": "accept", "content": {"reply": "once"}})).await;
        assert!(out["content"].as_str().unwrap().contains("it-ran"), "{out}");
        assert_eq!(out["asked"][0]["answer"], "once");
        assert_eq!(out["asked"][0]["by"], "person");
        assert_eq!(out["tools"][0]["status"], "completed");
        let no = json!({"action": "accept", "content": {"reply": "reject", "feedback": "use make instead"}});
        let out = answered(BASH, no).await;
        assert!(out["content"].as_str().unwrap().contains("use make instead"), "{out}");
        assert_eq!(out["tools"][0]["status"], "error");
        let no = json!({"action": "accept", "content": {"reply": "reject"}});
        assert!(answered(BASH, no).await["content"].as_str().unwrap().contains("the person declined"));
        let out = answered(BASH, json!({"action": "decline"})).await;
        assert_eq!(out["asked"][0]["answer"], "reject", "{out}");
    });
}

#[test]
fn a_modern_client_is_asked_by_a_result() {
    let stage = &*STAGE;
    stage.run(async {
        let first = || call(client_modern(), "opencode_run", json!({"prompt": BASH}));
        let (asked, state) = first_round(&stage.hub, first()).await.asked();
        let key = asked.as_object().unwrap().keys().next().unwrap().clone();
        let answer = json!({key: {"action": "accept", "content": {"reply": "once"}}});
        let driven = drive(stage.hub.start(retry(first(), &state, answer)), []).await;
        let out = stage.result(driven);
        assert!(out["content"].as_str().unwrap().contains("it-ran"), "{out}");
    });
}

#[test]
fn where_nobody_can_be_asked_the_policy_answers() {
    let stage = &*STAGE;
    stage.run(async {
        let alone = client_with(Version::LATEST_LEGACY, Capabilities::default());
        let driven = stage.ask(alone.clone(), ("opencode_run", json!({"prompt": BASH})), []).await;
        let out = stage.result(driven);
        assert!(out["content"].as_str().unwrap().contains("opencode.permissions.allow"), "{out}");
        assert_eq!(
            (&out["asked"][0]["by"], &out["asked"][0]["answer"]),
            (&json!("policy"), &json!("reject"))
        );
        assert_eq!(out["asked"][0]["details"], "echo it-ran");
        let driven = stage.ask(alone, ("opencode_run", json!({"prompt": "ask for a colour"})), []).await;
        let asked = stage.result(driven)["asked"][0].clone();
        assert_eq!((&asked["what"], &asked["by"]), (&json!("question"), &json!("policy")), "{asked}");
        assert!(asked["answer"].as_str().unwrap().starts_with("rejected: "), "{asked}");
    });
}

#[test]
fn a_question_of_the_model_is_answered_by_a_person() {
    let stage = &*STAGE;
    stage.run(async {
        let out =
            answered("ask for a colour", json!({"action": "accept", "content": {"answer0": "Blue"}})).await;
        assert!(out["content"].as_str().unwrap().contains("Blue"), "{out}");
        assert_eq!(out["asked"][0]["what"], "question");
    });
}

#[test]
fn what_the_configuration_allows_is_given_where_nobody_can_be_asked() {
    let stage = &*STAGE;
    let permissions = PermissionsConfig { allow: vec!["ba*".into()] };
    let (hub, tasks) = stage.other(OpencodeConfig { permissions, ..OpencodeConfig::default() });
    stage.run(async {
        let alone = client_with(Version::LATEST_LEGACY, Capabilities::default());
        let prompt = json!({"prompt": "run bash: echo ${SECRET_OF_OURS:-unseen} $OPENCODE_SERVER_PASSWORD"});
        let driven = drive(hub.start(call(alone, "opencode_run", prompt)), []).await;
        let out = stage.result(driven);
        let said = out["content"].as_str().unwrap();
        // It sees none of our secrets, and its own password is hidden.
        assert!(said.contains("unseen [REDACTED:OPENCODE_SERVER_PASSWORD]"), "{out}");
        assert_eq!(out["asked"][0]["by"], "policy");
        tasks.shutdown(std::time::Duration::from_secs(20)).await;
    });
}
