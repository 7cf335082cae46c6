//! A call that waits for a person, answered over the API.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_admin::Role;
use toolgate_core::{AskBy, Call, Outcome, Principal, Settings, Target, local_client};
use toolgate_testkit::FakeGate;
use toolgate_wire::Raw;

use crate::stage::{Stage, User};

fn stage() -> Stage {
    let settings = Settings { ask_by: Arc::from([AskBy::Inbox]), ..Settings::default() };
    Stage::with(|hub| hub.gate(Box::new(FakeGate::asking("writes"))).settings(settings))
}

fn call(stage: &Stage, arguments: &Value) -> tokio::task::JoinHandle<Outcome> {
    let params = json!({"name": "echo", "arguments": arguments});
    let target = Target::Tool("echo".parse().unwrap());
    let call = Call::new(Principal::local(), local_client(), target, Raw::of(&params));
    let run = stage.hub.start(call);
    stage.hub.tasks().spawn(run.outcome())
}

/// The calls that wait, once there are so many.
async fn waiting(stage: &Stage, user: &User, count: usize) -> Vec<Value> {
    for _ in 0..6000 {
        let list = stage.get(user, "/approvals").await;
        let items = list["items"].as_array().unwrap();
        if items.len() == count {
            return items.clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{count} calls never came to wait");
}

#[tokio::test]
async fn a_call_goes_on_once_it_is_approved_and_no_other() {
    let stage = stage();
    let user = stage.user(Role::Approver).await;
    let (one, other) = (call(&stage, &json!({"n": 1})), call(&stage, &json!({"n": 2})));
    let items = waiting(&stage, &user, 2).await;
    let of_one = items.iter().find(|item| item["arguments"].as_str().unwrap().contains('1')).unwrap();
    assert_eq!((&of_one["rule"], &of_one["target"]), (&json!("writes"), &json!("tool:echo")));
    let id = of_one["id"].as_str().unwrap();
    assert_eq!(stage.get(&user, &format!("/approvals/{id}")).await["state"], "pending");
    assert_eq!(stage.get(&user, "/status").await["approvals"], 2);
    let cut = stage.post(&user, &format!("/approvals/{}/approve", &id[..6]), &json!({})).await;
    assert_eq!(cut.status, 404, "whoever answers means one call");
    let done = stage.post(&user, &format!("/approvals/{id}/approve"), &json!({})).await;
    assert_eq!(done.status, 200, "{}", done.text());
    assert_eq!(done.json()["answered_by"], "approver0 on the admin page");
    assert!(matches!(one.await.unwrap(), Outcome::Complete(_)));
    assert!(!other.is_finished());
    let twice = stage.post(&user, &format!("/approvals/{id}/reject"), &json!({})).await;
    assert_eq!((twice.status, twice.problem().as_str()), (409, "conflict"));
    let all = stage.get(&user, "/approvals?all=true").await;
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_call_that_is_rejected_says_why() {
    let stage = stage();
    let user = stage.user(Role::Approver).await;
    let run = call(&stage, &json!({}));
    let id = waiting(&stage, &user, 1).await[0]["id"].as_str().unwrap().to_owned();
    let long = json!({"reason": "x".repeat(1001)});
    assert_eq!(stage.post(&user, &format!("/approvals/{id}/reject"), &long).await.status, 422);
    let no = json!({"reason": "not on this branch"});
    let done = stage.post(&user, &format!("/approvals/{id}/reject"), &no).await.json();
    assert_eq!((&done["state"], &done["answer"]), (&json!("rejected"), &json!("not on this branch")));
    let Outcome::Failed(error) = run.await.unwrap() else { panic!("it ran") };
    assert!(error.to_string().contains("not on this branch"), "{error}");
}

#[tokio::test]
async fn always_is_remembered_until_it_is_forgotten() {
    let stage = stage();
    let user = stage.user(Role::Approver).await;
    let run = call(&stage, &json!({"n": 1}));
    let id = waiting(&stage, &user, 1).await[0]["id"].as_str().unwrap().to_owned();
    let session =
        stage.post(&user, &format!("/approvals/{id}/approve"), &json!({"lasting": "session"})).await;
    assert_eq!(session.status, 400, "the caller has no connection: {}", session.text());
    let always = stage.post(&user, &format!("/approvals/{id}/approve"), &json!({"lasting": "always"})).await;
    assert_eq!(always.status, 200, "{}", always.text());
    assert!(matches!(run.await.unwrap(), Outcome::Complete(_)));
    assert!(matches!(call(&stage, &json!({"n": 2})).await.unwrap(), Outcome::Complete(_)));
    let remembered = stage.get(&user, "/remembered").await;
    let item = &remembered["items"][0];
    assert_eq!((&item["lasting"], &item["rule"]), (&json!("always"), &json!("writes")));
    let path = format!("/remembered/{}", item["id"].as_str().unwrap());
    assert_eq!(stage.ask("DELETE", &path).by(&user).send().await.status, 204);
    assert_eq!(stage.ask("DELETE", &path).by(&user).send().await.status, 404);
    let run = call(&stage, &json!({"n": 3}));
    waiting(&stage, &user, 1).await;
    run.abort();
}
