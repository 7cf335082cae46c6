//! Tasks as 2025-11-25 has them: the client decides, and waits for the result, which also brings what is asked.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use toolgate_core::{
    Call, Change, Client, Error, Event, Hub, Kind, ListKind, Outcome, Principal, Progress, Question, Run,
    Settings, Target, TaskMode, TaskOp, TaskRequest, ToolItem, Verdict,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Driven, Expect as _, FakeFilter, FakeGate, FakeSource, builder, call, client_legacy, client_modern,
    client_with, drive, list, text, tool_item,
};
use toolgate_wire::{Raw, Version};

const RELATED: &str = "io.modelcontextprotocol/related-task";

fn source() -> Arc<FakeSource> {
    let source = FakeSource::new("a")
        .tool("work", |_, run| async move {
            run.progress(Progress::new(1.0, None, Some("half way"))).await;
            sleep(Duration::from_secs(60)).await;
            run.progress(Progress::new(2.0, None, Some("nearly there"))).await;
            Ok(Outcome::Complete(Raw::literal(r#"{"content":[],"n":1e400,"_meta":{"x":1.0}}"#)))
        })
        .tool("at_once", |_, _| async move { Ok(Outcome::Complete(text("done"))) })
        .tool("fail", |permitted, _| async move {
            let internal = permitted.arguments().get("internal").is_some();
            Err(Error::new(if internal { Kind::Internal } else { Kind::NotFound }, "no such thing"))
        })
        .tool("ask", |_, run| async move {
            let first = run.ask(vec![Question::roots("q"), Question::elicit("r", form())]).await?;
            let second = run.ask(vec![Question::roots("q")]).await?;
            Ok(Outcome::Complete(Raw::of(&json!({"all": [first.to_raw(), second.to_raw()]}))))
        })
        .tool_as(ToolItem { task: TaskMode::Never, ..tool_item("never") }, |_, _| async move {
            Ok(Outcome::Complete(text("never a task")))
        });
    Arc::new(source)
}

fn form() -> Raw {
    Raw::literal(
        r#"{"message":"Who?","requestedSchema":{"type":"object","properties":{}},"_meta":{"v":1.0}}"#,
    )
}

fn scene() -> (Hub, Clock) {
    let clock = Clock::manual(1_000_000);
    (builder([source()]).clock(clock.clone()).build().unwrap(), clock)
}

fn as_task(tool: &str, ttl: Option<u64>) -> Call {
    let task = TaskRequest { ttl: ttl.map(Duration::from_millis) };
    Call { task: Some(task), ..call(client_legacy(), tool, json!({})) }
}

async fn begin(hub: &Hub, call: Call) -> Value {
    let mut created = drive(hub.start(call), []).await.outcome.task();
    assert_eq!(created.as_object().unwrap().len(), 1);
    created["task"].take()
}

fn id(task: &Value) -> &str {
    task["taskId"].as_str().unwrap()
}

fn on(client: Arc<Client>, op: TaskOp, id: &str) -> Call {
    Call::new(Principal::local(), client, Target::Task(op, id.into()), Raw::literal("{}"))
}

async fn operate(hub: &Hub, op: TaskOp, id: &str) -> Driven {
    drive(hub.start(on(client_legacy(), op, id)), []).await
}

async fn status(hub: &Hub, id: &str) -> String {
    operate(hub, TaskOp::Get, id).await.complete()["status"].as_str().unwrap().to_owned()
}

fn wait(hub: &Hub, id: &str) -> Run {
    hub.start(on(client_legacy(), TaskOp::Result, id))
}

/// Lets the tasks of the hub get on.
async fn others_run() {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_becomes_a_task_at_once_and_its_result_is_waited_for() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("work", None)).await;
    assert_eq!((&task["status"], &task["ttl"]), (&json!("working"), &json!(3_600_000 + 300_000)));
    assert_eq!(status(&hub, id(&task)).await, "working");
    let Outcome::Complete(raw) = wait(&hub, id(&task)).outcome().await else { panic!("not complete") };
    let related =
        format!(r#"{{"content":[],"n":1e400,"_meta":{{"x":1.0,"{RELATED}":{{"taskId":"{}"}}}}}}"#, id(&task));
    assert_eq!(raw.as_str(), related);
    // And it can be fetched again.
    let Outcome::Complete(again) = wait(&hub, id(&task)).outcome().await else { panic!("not complete") };
    assert_eq!(again.as_str(), related);
    assert_eq!(status(&hub, id(&task)).await, "completed");
}

#[tokio::test(start_paused = true)]
async fn one_that_has_become_a_task_goes_on_when_its_caller_is_cut_off() {
    let (hub, _) = scene();
    drop(hub.start(as_task("work", None)));
    others_run().await;
    let tasks: Value = hub.list_tasks(&Principal::local(), None).unwrap().to().unwrap();
    let id = tasks["tasks"][0]["taskId"].as_str().unwrap().to_owned();
    // Nor does who stops waiting stop it.
    drop(wait(&hub, &id));
    assert!(timeout(Duration::from_secs(30), wait(&hub, &id).outcome()).await.is_err());
    assert!(matches!(wait(&hub, &id).outcome().await, Outcome::Complete(_)));
}

#[tokio::test(start_paused = true)]
async fn who_waits_hears_what_the_task_says_meanwhile() {
    let (hub, _) = scene();
    let params = json!({"name": "work", "_meta": {"progressToken": "p"}});
    let task = begin(&hub, Call { params: Raw::of(&params), ..as_task("work", None) }).await;
    let id = id(&task);
    let driven = drive(wait(&hub, id), []).await;
    let said = format!(
        r#"notifications/progress {{"progress":2,"message":"nearly there","progressToken":"p","_meta":{{"{RELATED}":{{"taskId":"{id}"}}}}}}"#
    );
    assert!(driven.events.contains(&said), "{:?}", driven.events);
    assert!(matches!(driven.outcome, Outcome::Complete(_)));
    assert_eq!(operate(&hub, TaskOp::Get, id).await.complete()["statusMessage"], "nearly there");
}

#[tokio::test]
async fn what_a_task_asks_comes_to_who_waits_for_its_result() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("ask", None)).await;
    others_run().await;
    assert_eq!(status(&hub, id(&task)).await, "input_required");
    let answers = [("q", json!({"n": 1})), ("r", json!({"n": 2})), ("q-2", json!({"n": 3}))];
    let driven = drive(wait(&hub, id(&task)), answers).await;
    let related = format!(r#""_meta":{{"v":1.0,"{RELATED}":{{"taskId":"{}"}}}}"#, id(&task));
    assert!(driven.events[1].starts_with("ask r elicitation/create ") && driven.events[1].contains(&related));
    assert!(driven.events[0].contains(RELATED) && driven.events[2].contains(RELATED));
    assert_eq!(driven.complete()["all"], json!([{"q": {"n": 1}, "r": {"n": 2}}, {"q": {"n": 3}}]));
}

#[tokio::test]
async fn of_two_who_wait_one_is_asked_and_the_other_takes_over_when_it_goes_away() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("ask", None)).await;
    let (mut first, mut second) = (wait(&hub, id(&task)), wait(&hub, id(&task)));
    let Some(Event::Ask(_unanswered)) = first.next().await else { panic!("not asked") };
    assert!(timeout(Duration::from_millis(50), second.next()).await.is_err(), "both are asked");
    drop(first);
    let answers = [("q", json!({})), ("r", json!({})), ("q-2", json!({}))];
    drive(second, answers).await.complete();
}

#[tokio::test]
async fn who_cannot_be_asked_only_waits_and_who_refuses_answers_for_the_task() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("ask", None)).await;
    let deaf = Arc::new(Client { reachable: false, ..(*client_legacy()).clone() });
    let plain = client_with(Version::LATEST_LEGACY, toolgate_core::Capabilities::default());
    for client in [deaf, plain] {
        let mut run = hub.start(on(client, TaskOp::Result, id(&task)));
        assert!(timeout(Duration::from_millis(50), run.next()).await.is_err(), "it is asked");
    }
    let mut run = wait(&hub, id(&task));
    let Some(Event::Ask(ask)) = run.next().await else { panic!("not asked") };
    ask.answer(Err(Error::new(Kind::Denied, "the client would not answer: no")));
    let refused = run.outcome().await.complete();
    assert_eq!(refused["_meta"]["dev.toolgate/error"]["category"], "denied");
    assert_eq!(status(&hub, id(&task)).await, "failed");
}

#[tokio::test]
async fn what_is_no_answer_is_not_asked_for_again() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("ask", None)).await;
    let driven = drive(wait(&hub, id(&task)), [("q", json!(5)), ("r", json!({}))]).await;
    assert_eq!(driven.events.len(), 2, "{:?}", driven.events);
    let refused = driven.complete();
    assert_eq!(refused["_meta"]["dev.toolgate/error"]["category"], "denied");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_cancelled_in_the_middle_once() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("work", None)).await;
    let waiting = wait(&hub, id(&task));
    others_run().await;
    let cancelled = operate(&hub, TaskOp::Cancel, id(&task)).await.complete();
    assert_eq!((&cancelled["status"], &cancelled["taskId"]), (&json!("cancelled"), &task["taskId"]));
    assert_eq!(waiting.outcome().await.failed().kind(), Kind::Cancelled);
    assert_eq!(wait(&hub, id(&task)).outcome().await.failed().kind(), Kind::Cancelled);
    let again = operate(&hub, TaskOp::Cancel, id(&task)).await.failed();
    assert_eq!((again.kind(), again.message()), (Kind::InvalidParams, "the task has ended already"));
}

#[tokio::test]
async fn what_fails_is_a_failed_task_with_what_its_call_would_have_answered() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("fail", None)).await;
    let failed = wait(&hub, id(&task)).outcome().await.complete();
    assert_eq!((&failed["isError"], status(&hub, id(&task)).await.as_str()), (&json!(true), "failed"));

    let internal = Raw::of(&json!({"name": "fail", "arguments": {"internal": 1}}));
    let task = begin(&hub, Call { params: internal, ..as_task("fail", None) }).await;
    let error = wait(&hub, id(&task)).outcome().await.failed();
    assert!(error.as_forwarded().is_some_and(|object| object.as_str().contains("-32603")), "{error}");
    assert_eq!(status(&hub, id(&task)).await, "failed");
}

#[tokio::test]
async fn what_cannot_be_a_task_is_refused_at_once() {
    let (hub, _) = scene();
    for (tool, kind) in [("never", Kind::UnknownMethod), ("no_such_tool", Kind::UnknownTarget)] {
        assert_eq!(drive(hub.start(as_task(tool, None)), []).await.failed().kind(), kind, "{tool}");
    }
    assert_eq!(hub.list_tasks(&Principal::local(), None).unwrap().as_str(), r#"{"tasks":[]}"#);
}

#[tokio::test]
async fn rules_hold_for_a_task_as_for_any_call() {
    let gate = FakeGate::new(|judged| match judged.call.target.name() {
        "at_once" => Verdict::Deny(Error::new(Kind::Denied, "not you")),
        _ => Verdict::Pass,
    });
    let source = source();
    let hub = builder([source.clone()])
        .gate(Box::new(gate))
        .filter(Box::new(FakeFilter::new("half", "[HIDDEN]")))
        .build()
        .unwrap();
    let task = begin(&hub, as_task("at_once", None)).await;
    let denied = wait(&hub, id(&task)).outcome().await.complete();
    assert_eq!(denied["_meta"]["dev.toolgate/error"]["category"], "denied");
    assert_eq!(source.calls(), 0);
    let task = begin(&hub, as_task("work", None)).await;
    others_run().await;
    assert_eq!(operate(&hub, TaskOp::Get, id(&task)).await.complete()["statusMessage"], "[HIDDEN] way");
}

#[tokio::test]
async fn nobody_sees_the_task_of_another_principal() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("ask", None)).await;
    let eve = Principal::named("eve");
    others_run().await;
    for op in [TaskOp::Get, TaskOp::Result, TaskOp::Cancel] {
        let by_eve = Call { principal: eve.clone(), ..on(client_legacy(), op, id(&task)) };
        let error = drive(hub.start(by_eve), []).await.failed();
        let unknown = operate(&hub, op, "no-such-task").await.failed();
        let both = [&error, &unknown].map(|error| (error.kind(), error.message().to_owned()));
        assert_eq!(both[0], both[1], "{op:?}");
    }
    assert_eq!(hub.list_tasks(&eve, None).unwrap().as_str(), r#"{"tasks":[]}"#);
    assert_eq!(status(&hub, id(&task)).await, "input_required");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_kept_for_as_long_as_its_caller_wants_within_bounds() {
    for (wanted, granted) in [(5_000, 5_000), (0, 1_000), (u64::MAX, 3_900_000)] {
        let (hub, clock) = scene();
        let task = begin(&hub, as_task("at_once", Some(wanted))).await;
        assert_eq!(task["ttl"], granted, "{wanted}");
        others_run().await;
        clock.advance(Duration::from_millis(granted));
        assert_eq!(operate(&hub, TaskOp::Get, id(&task)).await.complete()["ttl"], granted, "{wanted}");
        clock.advance(Duration::from_millis(1));
        for op in [TaskOp::Get, TaskOp::Result, TaskOp::Cancel] {
            assert_eq!(operate(&hub, op, id(&task)).await.failed().kind(), Kind::InvalidParams, "{wanted}");
        }
        assert_eq!(hub.list_tasks(&Principal::local(), None).unwrap().as_str(), r#"{"tasks":[]}"#);
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_whose_time_is_over_is_stopped_though_it_runs() {
    let (hub, clock) = scene();
    // One that would wait for its answer for ever.
    let task = begin(&hub, as_task("ask", Some(10_000))).await;
    let waiting = wait(&hub, id(&task));
    clock.advance(Duration::from_millis(10_001));
    sleep(Duration::from_secs(11)).await;
    waiting.outcome().await;
    assert_eq!(hub.running().len(), 0);
}

#[tokio::test]
async fn tasks_are_listed_by_pages_oldest_first() {
    let clock = Clock::manual(1_000_000);
    let settings = Settings { page_size: 2, ..Settings::default() };
    let hub = builder([source()]).clock(clock.clone()).settings(settings).build().unwrap();
    let mut begun = Vec::new();
    for _ in 0..5 {
        begun.push(id(&begin(&hub, as_task("at_once", None)).await).to_owned());
        clock.advance(Duration::from_millis(1));
    }
    let (mut listed, mut cursor) = (Vec::new(), None);
    for pages in 1.. {
        let page: Value = hub.list_tasks(&Principal::local(), cursor.as_deref()).unwrap().to().unwrap();
        let tasks = page["tasks"].as_array().unwrap();
        listed.extend(tasks.iter().map(|task| id(task).to_owned()));
        cursor = page["nextCursor"].as_str().map(String::from);
        if cursor.is_none() {
            assert_eq!(pages, 3);
            break;
        }
    }
    assert_eq!(listed, begun);
    for wrong in ["", "x", "dGFzawo", "\u{1f600}"] {
        let error = hub.list_tasks(&Principal::local(), Some(wrong)).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidParams, "{wrong:?}");
    }
}

#[tokio::test]
async fn one_principal_does_not_take_the_room_of_all() {
    let settings = Settings { max_tasks_each: 2, ..Settings::default() };
    let hub = builder([source()]).settings(settings).build().unwrap();
    for _ in 0..2 {
        begin(&hub, as_task("ask", None)).await;
    }
    let error = drive(hub.start(as_task("ask", None)), []).await.failed();
    assert_eq!(error.kind(), Kind::RateLimited);
    begin(&hub, Call { principal: Principal::named("eve"), ..as_task("ask", None) }).await;
}

#[tokio::test]
async fn its_connection_is_told_every_new_state() {
    let (hub, _) = scene();
    let mut changes = hub.changes(&Principal::local());
    let connected = hub.connect(toolgate_core::NewConnection {
        transport: toolgate_core::Transport::Stdio,
        principal: Principal::local(),
        process: None,
    });
    let task = begin(&hub, Call { connection: Some(connected.id()), ..as_task("fail", None) }).await;
    let Some(Change::Task(change)) = changes.next().await else { panic!("no task") };
    assert_eq!((change.connection, &*change.id), (Some(connected.id()), id(&task)));
    let state: Value = change.state.to().unwrap();
    assert_eq!(state["status"], "failed");
    assert!(state.get("ttlMs").is_none() && state.get("result").is_none(), "{state}");
    // A client of the extension sees the same task its own way.
    let modern = drive(hub.start(on(client_modern(), TaskOp::Get, id(&task))), []).await.complete();
    assert_eq!((&modern["status"], &modern["result"]["isError"]), (&json!("completed"), &json!(true)));
}

#[tokio::test]
async fn when_the_hub_ends_so_does_the_waiting() {
    let (hub, _) = scene();
    let task = begin(&hub, as_task("work", None)).await;
    let mut waiting = wait(&hub, id(&task));
    hub.tasks().shutdown(Duration::from_millis(10)).await;
    while let Some(event) = waiting.next().await {
        assert!(!matches!(event, Event::Done(Outcome::Complete(_))), "{event:?}");
    }
}

#[tokio::test]
async fn only_one_revision_says_of_its_tools_whether_they_run_as_tasks() {
    let said = |name: &str, support: Value| {
        let raw = json!({"name": name, "inputSchema": {"type": "object"}, "execution": support});
        ToolItem { raw: Raw::of(&raw), task: TaskMode::Never, ..tool_item(name) }
    };
    let source = FakeSource::new("a").with(|listing| {
        listing.tools = vec![
            Arc::new(tool_item("any")),
            Arc::new(ToolItem { task: TaskMode::Never, ..tool_item("never") }),
            Arc::new(ToolItem { task: TaskMode::Required, ..tool_item("only") }),
            Arc::new(said("odd", json!({"taskSupport": "odd"}))),
            Arc::new(said("said", json!({"x": 1, "taskSupport": "required"}))),
        ];
    });
    let hub = builder([Arc::new(source)]).build().unwrap();
    let shown = |page: &Value| -> Vec<Value> {
        page["tools"].as_array().unwrap().iter().map(|tool| tool["execution"].clone()).collect()
    };
    let page = list(&hub, ListKind::Tools, None).await;
    let support = |word: &str| json!({"taskSupport": word});
    let expect = [
        support("optional"),
        json!(null),
        support("odd"),
        support("required"),
        json!({"x": 1, "taskSupport": "required"}),
    ];
    assert_eq!(shown(&page), expect);
    for version in [Version::V2025_06_18, Version::LATEST] {
        let principal = Principal::local();
        let look = toolgate_core::Look { principal: &principal, profile: None, version };
        let page: Value = hub.list(&look, ListKind::Tools, None).await.unwrap().to().unwrap();
        assert_eq!(shown(&page), [json!(null), json!(null), json!(null), json!(null), json!({"x": 1})]);
    }
}
