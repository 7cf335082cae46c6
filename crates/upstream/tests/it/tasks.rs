//! Tools that run as tasks of their server, for callers of either era, with tasks of their own and without.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::{Call, Capabilities, ListKind, Outcome, Principal, Target, TaskOp, TaskRequest};
use toolgate_testkit::{Driven, Expect as _, call, client_legacy, client_modern, client_with, drive};
use toolgate_wire::{Raw, Version};

use crate::rig::{BEYOND, PATIENCE, Rig, pass, text};

const ERAS: [&str; 2] = ["legacy", "modern"];

/// A modern client that knows no tasks.
fn plain_modern() -> std::sync::Arc<toolgate_core::Client> {
    let can = Capabilities { tasks: false, ..client_modern().capabilities };
    client_with(Version::LATEST, can)
}

async fn look(rig: &Rig, op: TaskOp, id: &str, more: Value) -> Value {
    let mut params = json!({"taskId": id});
    params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let call = Call::new(Principal::local(), client_modern(), Target::Task(op, id.into()), Raw::of(&params));
    rig.drive(call, None).await.complete()
}

/// Looks until a task stands so.
async fn until(rig: &Rig, id: &str, status: &str) -> Value {
    let limit = tokio::time::Instant::now() + PATIENCE;
    loop {
        let task = look(rig, TaskOp::Get, id, json!({})).await;
        if task["status"] == status {
            return task;
        }
        assert!(tokio::time::Instant::now() < limit, "never {status}: {task}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Begins a call of a client that knows tasks; the id of its task.
async fn begun(rig: &Rig, tool: &str, fate: &str) -> String {
    let task = rig.call(client_modern(), tool, json!({"b": fate}), None).await.task();
    task["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_caller_without_tasks_gets_the_result_of_one() {
    for era in ERAS {
        let rig = Rig::fake(era);
        for client in [client_legacy, plain_modern] {
            let done = rig.call(client(), "fake_job_required", json!({"b": "fine"}), None).await.complete();
            assert_eq!(text(&done), "fine", "{era}");
            assert_eq!(done["_meta"]["io.modelcontextprotocol/related-task"], Value::Null);
        }
        assert_eq!(rig.count("jobs"), 2);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_caller_with_tasks_gets_one_of_ours() {
    for era in ERAS {
        let rig = Rig::fake(era);
        for tool in ["fake_job_required", "fake_job_optional"] {
            let id = begun(&rig, tool, "fine").await;
            assert!(!id.starts_with("job"), "{era}: {id} is the server's");
            let done = until(&rig, &id, "completed").await;
            assert_eq!(text(&done["result"]), "fine", "{era}");
            assert_eq!(done["statusMessage"], "half way", "{era}");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_a_task_asks_reaches_its_caller() {
    let answer = json!({"action": "accept", "content": {"n": 1}});
    for (era, key) in [("legacy", "question"), ("modern", "who")] {
        let rig = Rig::fake(era);
        rig.settled().await;
        let run = rig.hub.start(call(client_legacy(), "fake_job_required", json!({"b": "ask"})));
        let asked = drive(run, [(key, answer.clone())]).await;
        assert!(asked.events.iter().any(|event| event.starts_with(&format!("ask {key} elicitation/create"))));
        let answers = asked.complete()["answers"].clone();
        assert_eq!(if era == "legacy" { &answers } else { &answers["who"] }, &answer, "{era}");

        let id = begun(&rig, "fake_job_required", "ask").await;
        let waiting = until(&rig, &id, "input_required").await;
        assert_eq!(waiting["inputRequests"][key]["params"]["message"], "Who?", "{era}");
        look(&rig, TaskOp::Update, &id, json!({"inputResponses": {key: answer}})).await;
        let done = until(&rig, &id, "completed").await;
        let answers = &done["result"]["answers"];
        assert_eq!(if era == "legacy" { answers } else { &answers["who"] }, &answer, "{era}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn questions_of_two_tasks_are_told_apart() {
    let rig = Rig::fake("legacy");
    rig.settled().await;
    let one = begun(&rig, "fake_job_required", "hang").await;
    let two = begun(&rig, "fake_job_required", "ask").await;
    let waiting = until(&rig, &two, "input_required").await;
    assert_eq!(waiting["inputRequests"]["question"]["params"]["message"], "Who?");
    assert_eq!(look(&rig, TaskOp::Get, &one, json!({})).await["status"], "working");
    assert_eq!(rig.notes(), Vec::<String>::new());
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_task_is_cancelled_with_its_call_and_with_ours() {
    for era in ERAS {
        let rig = Rig::fake(era);
        rig.settled().await;
        let run = rig.hub.start(call(client_legacy(), "fake_job_required", json!({"b": "hang"})));
        rig.until("the task is begun", |rig| rig.count("jobs") == 1).await;
        drop(run);
        rig.until("the server knows", |rig| rig.count("job-cancelled") == 1).await;

        let id = begun(&rig, "fake_job_required", "hang").await;
        look(&rig, TaskOp::Cancel, &id, json!({})).await;
        rig.until("the server knows again", |rig| rig.count("job-cancelled") == 2).await;

        // That it was begun is said only after nobody waits for it any more.
        let run = rig.hub.start(call(client_legacy(), "fake_job_required", json!({"b": "slow"})));
        rig.until("a third is begun", |rig| rig.count("jobs") == 3).await;
        drop(run);
        rig.until("the server knows of that, too", |rig| rig.count("job-cancelled") == 3).await;
        assert_eq!(rig.notes(), Vec::<String>::new());
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_connection_is_not_idle_while_a_task_goes_on() {
    for era in ERAS {
        let rig = Rig::fake(era);
        let id = begun(&rig, "fake_job_required", "hang").await;
        let started = rig.count("started");
        // Longer than an idle connection is kept, and each step shorter than an answer may take.
        for _ in 0..12 {
            pass(BEYOND - 6).await;
        }
        assert_eq!(look(&rig, TaskOp::Get, &id, json!({})).await["status"], "working", "{era}");
        assert_eq!((rig.count("started"), rig.status().connections), (started, 1), "{era}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_task_that_ends_badly_says_so_and_is_not_begun_again() {
    for era in ERAS {
        let rig = Rig::fake(era);
        let failed =
            rig.call(client_legacy(), "fake_job_required", json!({"b": "fail"}), None).await.failed();
        let object = failed.as_forwarded().expect("the server's own error").as_str().to_owned();
        assert!(object.contains("-32099") && object.contains(r#""x-more":1.5"#), "{object}");
        for (fate, words) in [("cancel", "it cancelled the task"), ("vanish", "unknown task")] {
            let failed =
                rig.call(client_legacy(), "fake_job_required", json!({"b": fate}), None).await.failed();
            assert!(failed.message().contains(words), "{era} {fate}: {failed}");
        }
        assert_eq!(rig.count("jobs"), 3, "{era}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn progress_of_a_task_reaches_its_caller() {
    let rig = Rig::fake("legacy");
    let params =
        json!({"name": "fake_job_required", "arguments": {"b": "fine"}, "_meta": {"progressToken": "p"}});
    let target = Target::Tool("fake_job_required".parse().unwrap());
    let driven = rig.send(client_legacy(), target, params).await;
    assert!(driven.events.contains(&r#"progress {"progress":7}"#.to_owned()), "{:?}", driven.events);
    driven.complete();
    rig.upstream.stop().await;
}

/// Begins a call that a client of 2025-11-25 wants to be a task; the id of its task.
async fn begun_by_client(rig: &Rig, tool: &str, fate: &str) -> String {
    rig.settled().await;
    let wanted = call(client_legacy(), tool, json!({"b": fate}));
    let wanted = Call { task: Some(TaskRequest::default()), ..wanted };
    let created = drive(rig.hub.start(wanted), []).await.outcome.task();
    created["task"]["taskId"].as_str().unwrap().to_owned()
}

async fn result_of(rig: &Rig, id: &str, answers: Vec<(&str, Value)>) -> Driven {
    let target = Target::Task(TaskOp::Result, id.into());
    let waiting = Call::new(Principal::local(), client_legacy(), target, Raw::literal("{}"));
    drive(rig.hub.start(waiting), answers).await
}

#[tokio::test]
async fn a_client_that_wants_a_task_gets_one_of_ours_whatever_the_server_speaks() {
    for era in ERAS {
        let rig = Rig::fake(era);
        for (jobs, tool) in [(1, "fake_job_required"), (2, "fake_job_optional")] {
            let id = begun_by_client(&rig, tool, "fine").await;
            assert!(!id.starts_with("job"), "{era}: {id} is the server's");
            let done = result_of(&rig, &id, Vec::new()).await.complete();
            assert_eq!(text(&done), "fine", "{era}");
            assert_eq!(done["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], id, "{era}");
            assert_eq!(done["resultType"], Value::Null, "{era}");
            // It is a task of the server too.
            assert_eq!(rig.count("jobs"), jobs, "{era}");
        }
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn what_a_task_asks_reaches_the_client_that_wanted_it() {
    let answer = json!({"action": "accept", "content": {"n": 1}});
    for (era, key) in [("legacy", "question"), ("modern", "who")] {
        let rig = Rig::fake(era);
        let id = begun_by_client(&rig, "fake_job_required", "ask").await;
        let asked = result_of(&rig, &id, vec![(key, answer.clone())]).await;
        let ask = asked.events.iter().find(|event| event.starts_with("ask ")).expect("asked");
        // It names our task, not the server's.
        assert!(
            ask.contains(&format!(r#""io.modelcontextprotocol/related-task":{{"taskId":"{id}"}}"#)),
            "{ask}"
        );
        assert!(!ask.contains("job-"), "{ask}");
        let answers = asked.complete()["answers"].clone();
        assert_eq!(if era == "legacy" { &answers } else { &answers["who"] }, &answer, "{era}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn a_task_that_a_client_wanted_is_cancelled_at_the_server_too() {
    for era in ERAS {
        let rig = Rig::fake(era);
        let id = begun_by_client(&rig, "fake_job_required", "hang").await;
        rig.until("the task is begun", |rig| rig.count("jobs") == 1).await;
        let target = Target::Task(TaskOp::Cancel, id.as_str().into());
        let stop = Call::new(Principal::local(), client_legacy(), target, Raw::literal("{}"));
        assert_eq!(drive(rig.hub.start(stop), []).await.complete()["status"], "cancelled", "{era}");
        rig.until("the server knows", |rig| rig.count("job-cancelled") == 1).await;
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn tools_say_whether_they_run_as_tasks_in_the_words_of_their_server() {
    for (era, plain) in [("legacy", Value::Null), ("modern", json!({"taskSupport": "optional"}))] {
        let rig = Rig::fake(era);
        rig.settled().await;
        let page = toolgate_testkit::list(&rig.hub, ListKind::Tools, None).await;
        let tools = page["tools"].as_array().unwrap();
        let of =
            |name: &str| tools.iter().find(|tool| tool["name"] == name).expect(name)["execution"].clone();
        assert_eq!(of("fake_job_required"), json!({"taskSupport": "required"}), "{era}");
        assert_eq!(of("fake_golden"), json!({"taskSupport": "optional"}), "{era}");
        // One that says nothing does not run as a task where its server could have said so.
        assert_eq!(of("fake_echo"), plain, "{era}");
        let wanted = call(client_legacy(), "fake_echo", json!({}));
        let wanted = Call { task: Some(TaskRequest::default()), ..wanted };
        let outcome = drive(rig.hub.start(wanted), []).await.outcome;
        assert_eq!(matches!(outcome, Outcome::Task(_)), era == "modern", "{outcome:?}");
        rig.upstream.stop().await;
    }
}
