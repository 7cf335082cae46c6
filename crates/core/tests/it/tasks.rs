//! Tasks: runs that go on by themselves.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use toolgate_core::{
    Call, Capabilities, Change, Client, Error, Hub, Kind, Outcome, Pass, Principal, Progress, Question,
    Settings, Target, TaskOp,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Driven, Expect, FakeSource, builder, call, client_modern, client_with, drive, first_round, text,
};
use toolgate_wire::{Raw, Version};

fn source() -> Arc<FakeSource> {
    let source = FakeSource::new("a")
        .tool("work", |_, run| async move {
            run.detach().await?;
            sleep(Duration::from_secs(60)).await;
            run.progress(Progress::new(1.0, None, Some("nearly there"))).await;
            sleep(Duration::from_secs(60)).await;
            Ok(Outcome::Complete(text("worked")))
        })
        .tool("at_once", |_, run| async move {
            run.detach().await?;
            run.detach().await?;
            Ok(Outcome::Complete(text("done")))
        })
        .tool("exact", |_, run| async move {
            run.detach().await?;
            Ok(Outcome::Complete(Raw::literal(r#"{"content":[],"n":1e400}"#)))
        })
        .tool("fail", |permitted, run| async move {
            run.detach().await?;
            let internal = permitted.arguments().get("internal").is_some();
            Err(Error::new(if internal { Kind::Internal } else { Kind::NotFound }, "no such thing"))
        })
        .tool("ask", |_, run| async move {
            run.detach().await?;
            let first = run.ask(vec![Question::roots("q"), Question::roots("r")]).await?;
            let second = run.ask(vec![Question::roots("q")]).await?;
            Ok(Outcome::Complete(Raw::of(&json!([first.to_raw(), second.to_raw()]))))
        });
    Arc::new(source)
}

fn scene() -> (Hub, Clock) {
    let clock = Clock::manual(1_000_000);
    (builder([source()]).clock(clock.clone()).build().unwrap(), clock)
}

fn on_task(client: Arc<Client>, op: TaskOp, id: &str, params: Value) -> Call {
    Call::new(Principal::local(), client, Target::Task(op, id.into()), Raw::of(&params))
}

async fn begin(hub: &Hub, tool: &str) -> String {
    let task = first_round(hub, call(client_modern(), tool, json!({}))).await.task();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    task["taskId"].as_str().unwrap().to_owned()
}

async fn operate(hub: &Hub, op: TaskOp, id: &str, params: Value) -> Driven {
    drive(hub.start(on_task(client_modern(), op, id, params)), []).await
}

/// Lets the tasks of the hub get on.
async fn others_run() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

async fn get(hub: &Hub, id: &str) -> Value {
    operate(hub, TaskOp::Get, id, json!({})).await.complete()
}

#[tokio::test(start_paused = true)]
async fn a_detached_run_answers_with_a_task_and_goes_on_without_its_caller() {
    let (hub, _) = scene();
    let id = begin(&hub, "work").await;
    assert_eq!(get(&hub, &id).await["status"], "working");
    sleep(Duration::from_secs(90)).await;
    let task = get(&hub, &id).await;
    assert_eq!((&task["status"], &task["statusMessage"]), (&json!("working"), &json!("nearly there")));
    sleep(Duration::from_secs(90)).await;
    let task = get(&hub, &id).await;
    assert_eq!(task["status"], "completed");
    assert_eq!(task["result"]["content"][0]["text"], "worked");
    assert!(task.get("resultType").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_task_ends_when_what_let_its_caller_in_is_taken_back() {
    let for_good = Pass::new(Principal::local());
    let renewable = Pass::renewable(Principal::local(), CancellationToken::new());
    for (pass, status, under_way) in [(for_good, "cancelled", 0), (renewable, "working", 1)] {
        let (hub, _) = scene();
        let work = Call { pass: Some(pass.clone()), ..call(client_modern(), "work", json!({})) };
        let task = first_round(&hub, work).await.task();
        let id = task["taskId"].as_str().unwrap();
        assert_eq!(get(&hub, id).await["status"], "working");
        let mut changes = hub.changes(&Principal::local());
        pass.end();
        others_run().await;
        assert_eq!(get(&hub, id).await["status"], status);
        assert_eq!(hub.running().len(), under_way, "{status}");
        if under_way == 0 {
            let Change::Task(change) = changes.next().await.unwrap() else { panic!("no task") };
            assert!(change.detail.as_str().contains(status), "{:?}", change.detail);
        }
    }
}

#[tokio::test]
async fn a_task_that_ends_at_once_can_be_read_and_its_result_is_as_written() {
    let (hub, _) = scene();
    let id = begin(&hub, "exact").await;
    others_run().await;
    let run = hub.start(on_task(client_modern(), TaskOp::Get, &id, json!({})));
    let Outcome::Complete(task) = run.outcome().await else { panic!("not complete") };
    assert_eq!(task.get("result").unwrap().as_str(), r#"{"content":[],"n":1e400}"#);
}

#[tokio::test]
async fn a_failed_tool_completes_with_its_error_and_our_own_fault_fails() {
    let (hub, _) = scene();
    let id = begin(&hub, "fail").await;
    others_run().await;
    let task = get(&hub, &id).await;
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)));

    let ours = first_round(&hub, call(client_modern(), "fail", json!({"internal": 1}))).await.task();
    others_run().await;
    let task = get(&hub, ours["taskId"].as_str().unwrap()).await;
    assert_eq!((&task["status"], &task["error"]["code"]), (&json!("failed"), &json!(-32603)));
}

#[tokio::test]
async fn a_task_asks_under_keys_it_never_used_before_and_is_answered_by_update() {
    let (hub, _) = scene();
    let id = begin(&hub, "ask").await;
    let keys = |task: &Value| -> Vec<String> {
        assert_eq!(task["status"], "input_required");
        task["inputRequests"].as_object().unwrap().keys().cloned().collect()
    };
    others_run().await;
    assert_eq!(keys(&get(&hub, &id).await), ["q", "r"]);
    for (responses, open) in [
        (json!({"q": "no object", "x": {}}), vec!["q", "r"]),
        (json!({"q": {"n": 1}}), vec!["r"]),
        (json!({"q": {"n": 2}, "r": {}}), vec!["q-2"]),
    ] {
        let updated = operate(&hub, TaskOp::Update, &id, json!({"inputResponses": responses})).await;
        assert_eq!(updated.complete(), json!({}));
        others_run().await;
        assert_eq!(keys(&get(&hub, &id).await), open, "after {responses}");
    }
    operate(&hub, TaskOp::Update, &id, json!({"inputResponses": {"q-2": {"n": 3}}})).await.complete();
    others_run().await;
    assert_eq!(get(&hub, &id).await["result"], json!([{"q": {"n": 1}, "r": {}}, {"q": {"n": 3}}]));
}

#[tokio::test]
async fn an_update_without_answers_says_what_is_missing() {
    let (hub, _) = scene();
    let id = begin(&hub, "ask").await;
    let error = operate(&hub, TaskOp::Update, &id, json!({})).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::InvalidParams, "`inputResponses` is missing"));
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_answered_is_asked_no_more() {
    let source = FakeSource::new("a").tool("ask", |_, run| async move {
        run.detach().await?;
        drop(run.ask(vec![Question::roots("q")]).await);
        sleep(Duration::from_secs(60)).await;
        Ok(Outcome::Complete(text("went on without")))
    });
    let hub = builder([Arc::new(source)]).build().unwrap();
    let id = begin(&hub, "ask").await;
    sleep(Duration::from_secs(299)).await;
    assert_eq!(get(&hub, &id).await["status"], "input_required");
    sleep(Duration::from_secs(2)).await;
    assert_eq!(get(&hub, &id).await["status"], "working");
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_task_stops_and_can_still_be_read_for_a_while() {
    let (hub, clock) = scene();
    let id = begin(&hub, "work").await;
    clock.advance(Duration::from_secs(3000));
    assert_eq!(operate(&hub, TaskOp::Cancel, &id, json!({})).await.complete(), json!({}));
    sleep(Duration::from_secs(30)).await;
    assert_eq!(get(&hub, &id).await["status"], "cancelled");
    // Once more changes nothing.
    operate(&hub, TaskOp::Cancel, &id, json!({})).await.complete();
    assert_eq!(get(&hub, &id).await["status"], "cancelled");
}

#[tokio::test]
async fn another_principal_cannot_see_touch_or_stop_a_task() {
    let (hub, _) = scene();
    let id = begin(&hub, "ask").await;
    others_run().await;
    let eve = Principal::named("eve");
    for op in [TaskOp::Get, TaskOp::Update, TaskOp::Cancel] {
        let params = json!({"inputResponses": {"q": {}, "r": {}}});
        let by_eve = Call { principal: eve.clone(), ..on_task(client_modern(), op, &id, params) };
        let error = drive(hub.start(by_eve), []).await.failed();
        let unknown = operate(&hub, op, "no-such-task", json!({})).await.failed();
        assert_eq!((error.kind(), error.message()), (unknown.kind(), unknown.message()), "{op:?}");
    }
    assert_eq!(get(&hub, &id).await["status"], "input_required");
    let ids = [id.clone(), "x".to_owned()];
    assert_eq!(hub.known_tasks(&Principal::local(), &ids), [id]);
    assert!(hub.known_tasks(&eve, &ids).is_empty());
}

#[tokio::test]
async fn a_client_without_the_extension_is_told_so_before_its_id_is_looked_at() {
    let (hub, _) = scene();
    let plain = client_with(Version::LATEST, Capabilities::default());
    for op in [TaskOp::Get, TaskOp::Update, TaskOp::Cancel] {
        let run = hub.start(on_task(plain.clone(), op, "no-such-task", json!({})));
        assert_eq!(drive(run, []).await.failed().kind(), Kind::MissingCapability);
    }
    // And its calls answer at once, whatever the source would like.
    drive(hub.start(call(plain, "at_once", json!({}))), []).await.complete();
}

#[tokio::test(start_paused = true)]
async fn a_task_is_kept_for_its_time_and_then_swept() {
    let (hub, clock) = scene();
    let started = first_round(&hub, call(client_modern(), "at_once", json!({}))).await.task();
    let id = started["taskId"].as_str().unwrap();
    // A client may give up on a task at `createdAt` + `ttlMs`, so that has to hold the whole of its time.
    assert_eq!(started["ttlMs"], 3_600_000 + 300_000);
    sleep(Duration::from_millis(1)).await;
    assert_eq!(get(&hub, id).await["ttlMs"], 300_000);
    clock.advance(Duration::from_secs(300));
    sleep(Duration::from_secs(11)).await;
    assert_eq!(get(&hub, id).await["status"], "completed");
    clock.advance(Duration::from_secs(1));
    sleep(Duration::from_secs(11)).await;
    assert_eq!(operate(&hub, TaskOp::Get, id, json!({})).await.failed().kind(), Kind::InvalidParams);
}

#[tokio::test(start_paused = true)]
async fn a_task_has_a_time_limit_of_its_own() {
    let settings = Settings {
        call_time_limit: Duration::from_secs(10),
        task_time_limit: Duration::from_secs(100),
        ..Settings::default()
    };
    let hub = builder([source()]).settings(settings).build().unwrap();
    let id = begin(&hub, "work").await;
    sleep(Duration::from_secs(99)).await;
    assert_eq!(get(&hub, &id).await["status"], "working");
    sleep(Duration::from_secs(2)).await;
    let task = get(&hub, &id).await;
    assert_eq!(task["result"]["_meta"]["dev.toolgate/error"]["category"], "timeout");
}

#[tokio::test]
async fn only_so_many_tasks_are_kept() {
    let settings = Settings { max_tasks: 1, ..Settings::default() };
    let hub = builder([source()]).settings(settings).build().unwrap();
    begin(&hub, "ask").await;
    let error = first_round(&hub, call(client_modern(), "ask", json!({}))).await.failed();
    assert_eq!(error.kind(), Kind::RateLimited);
}

#[tokio::test]
async fn every_new_state_is_told_to_its_principal_and_to_nobody_else() {
    let (hub, _) = scene();
    let mut mine = hub.changes(&Principal::local());
    let mut eves = hub.changes(&Principal::named("eve"));
    let mut next = async || match mine.next().await {
        Some(Change::Task(task)) => {
            assert_eq!(task.scope.principal.as_str(), "local");
            (task.id.to_string(), task.detail.to::<Value>().unwrap()["status"].as_str().unwrap().to_owned())
        }
        other => panic!("no task: {other:?}"),
    };
    let id = begin(&hub, "ask").await;
    assert_eq!(next().await, (id.clone(), "input_required".into()));
    operate(&hub, TaskOp::Update, &id, json!({"inputResponses": {"q": {}, "r": {}}})).await.complete();
    assert_eq!(next().await, (id.clone(), "working".into()));
    assert_eq!(next().await, (id.clone(), "input_required".into()));
    operate(&hub, TaskOp::Cancel, &id, json!({})).await.complete();
    assert_eq!(next().await, (id, "cancelled".into()));
    let quiet = tokio::time::timeout(Duration::from_millis(20), eves.next()).await;
    assert!(quiet.is_err(), "{quiet:?}");
}
