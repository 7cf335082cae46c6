//! A call passes all gates in order, or does not reach its source.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_core::{Error, Hub, Kind, ListKind, Principal, Verdict};
use toolgate_testkit::{Expect, FakeGate, FakeSource, builder, call, client_legacy, drive, list_names};
use toolgate_wire::Raw;

fn deny(message: &'static str) -> Verdict {
    Verdict::Deny(Error::new(Kind::Denied, message))
}

async fn end_of(hub: &Hub, tool: &str, arguments: Value) -> toolgate_testkit::Driven {
    drive(hub.start(call(client_legacy(), tool, arguments)), []).await
}

#[tokio::test]
async fn the_first_gate_that_denies_decides_and_the_source_is_not_called() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let order = Arc::new(Mutex::new(Vec::new()));
    let gate = |name: &'static str, verdict: fn() -> Verdict| {
        let order = order.clone();
        Box::new(FakeGate::new(move |_| {
            order.lock().unwrap().push(name);
            verdict()
        }))
    };
    let hub = builder([source.clone()])
        .gate(gate("first", || Verdict::Pass))
        .gate(gate("second", || deny("second says no")))
        .gate(gate("third", || deny("third says no")))
        .build()
        .unwrap();
    let error = end_of(&hub, "echo", json!({})).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Denied, "second says no"));
    assert_eq!(*order.lock().unwrap(), ["first", "second"]);
    assert_eq!(source.calls(), 0);
}

#[tokio::test]
async fn a_gate_sees_the_call_and_its_tool() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let hub = builder([source.clone()])
        .gate(Box::new(FakeGate::new(|judged| {
            assert_eq!(judged.tool.map(|tool| tool.name.as_str()), Some("echo"));
            let allowed = judged.call.params.path(&["arguments", "n"]).is_some_and(|n| n.as_str() == "1");
            if allowed { Verdict::Pass } else { deny("only 1") }
        })))
        .build()
        .unwrap();
    end_of(&hub, "echo", json!({"n": 1})).await.complete();
    assert_eq!(end_of(&hub, "echo", json!({"n": 2})).await.failed().message(), "only 1");
    assert_eq!(source.calls(), 1);
}

#[tokio::test]
async fn a_gate_that_breaks_down_denies() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let hub = builder([source.clone()])
        .gate(Box::new(FakeGate::new(|_| -> Verdict { panic!("broken") })))
        .build()
        .unwrap();
    let error = end_of(&hub, "echo", json!({})).await.failed();
    assert_eq!(error.kind(), Kind::Denied);
    assert!(!error.message().contains("broken"), "{error}");
    assert_eq!(source.calls(), 0);
}

#[tokio::test]
async fn a_gate_that_breaks_down_hides_the_tool() {
    let source = Arc::new(FakeSource::new("a").echo("bad").echo("good"));
    let gate = FakeGate::showing(|_, tool| if tool.name.as_str() == "bad" { panic!("broken") } else { true });
    let hub = builder([source]).gate(Box::new(gate)).build().unwrap();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["good"]);
}

#[tokio::test]
async fn a_hidden_tool_is_unlisted_and_unknown() {
    let source = Arc::new(FakeSource::new("a").echo("shown").echo("hidden_one"));
    let gate = FakeGate::showing(|principal, tool| {
        principal.id.as_str() == "admin" || tool.name.as_str() != "hidden_one"
    });
    let hub = builder([source.clone()]).gate(Box::new(gate)).build().unwrap();
    assert_eq!(list_names(&hub, ListKind::Tools).await, ["shown"]);

    let hidden = end_of(&hub, "hidden_one", json!({})).await.failed();
    assert_eq!((hidden.kind(), hidden.message()), (Kind::UnknownTarget, "unknown tool `hidden_one`"));
    // Nor does the nearest name give it away.
    assert_eq!(end_of(&hub, "hidden_on", json!({})).await.failed().next_step(), hidden.next_step());
    assert_eq!(source.calls(), 0);

    let mut by_admin = call(client_legacy(), "hidden_one", json!({}));
    by_admin.principal = Principal::named("admin");
    drive(hub.start(by_admin), []).await.complete();
}

#[tokio::test]
async fn an_unknown_tool_suggests_the_nearest() {
    let hub = builder([Arc::new(FakeSource::new("a").echo("workspace_read"))]).build().unwrap();
    let error = end_of(&hub, "workspace_raed", json!({})).await.failed();
    assert_eq!(error.next_step(), Some("did you mean `workspace_read`?"));
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"path": {"type": "string"}, "size": {"type": "integer"}},
        "required": ["path"],
        "additionalProperties": false,
    })
}

#[tokio::test]
async fn arguments_that_miss_the_schema_name_the_fields_and_reach_no_source() {
    let source = FakeSource::new("a").checked_tool("read", schema(), |_, _| async { panic!("not reached") });
    let source = Arc::new(source);
    let hub = builder([source.clone()]).build().unwrap();
    for (arguments, named) in [
        (json!({}), vec!["path"]),
        (json!({"path": 1}), vec!["path", "string"]),
        (json!({"path": "x", "size": "s3cret"}), vec!["size", "integer"]),
        (json!({"path": "x", "colour": 1}), vec!["colour"]),
        (json!({"path": 1, "size": "x"}), vec!["path", "size"]),
        (json!([1]), vec!["object"]),
        (json!(null), vec!["object"]),
    ] {
        let error = end_of(&hub, "read", arguments.clone()).await.failed();
        assert_eq!(error.kind(), Kind::InvalidInput, "{arguments}");
        assert!(named.iter().all(|name| error.message().contains(name)), "{arguments}: {error}");
        assert!(!error.message().contains("s3cret"), "values stay out: {error}");
    }
    assert_eq!(source.calls(), 0);
}

#[tokio::test]
async fn a_denied_call_is_denied_before_its_arguments_are_read() {
    let source = FakeSource::new("a").checked_tool("read", schema(), |_, _| async { panic!("not reached") });
    let hub = builder([Arc::new(source)]).gate(Box::new(FakeGate::new(|_| deny("no")))).build().unwrap();
    assert_eq!(end_of(&hub, "read", json!({})).await.failed().kind(), Kind::Denied);
}

#[tokio::test]
async fn absent_arguments_are_an_empty_object() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let hub = builder([source.clone()]).build().unwrap();
    let mut bare = call(client_legacy(), "echo", json!({}));
    bare.params = Raw::literal(r#"{"name":"echo"}"#);
    drive(hub.start(bare), []).await.complete();
    assert_eq!(source.seen()[0].arguments, "{}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// 0 passes, 1 denies, 2 breaks down, 3 asks and gets a yes, 4 asks and gets a no.
    #[test]
    fn the_source_is_called_if_and_only_if_all_gates_pass(verdicts in prop::collection::vec(0..5u8, 0..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let passes = verdicts.iter().all(|verdict| matches!(verdict, 0 | 3));
        let called = runtime.block_on(async {
            let source = Arc::new(FakeSource::new("a").echo("echo"));
            let hub = verdicts.iter().fold(builder([source.clone()]), |builder, verdict| {
                let verdict = *verdict;
                builder.gate(Box::new(FakeGate::new(move |_| match verdict {
                    0 => Verdict::Pass.into(),
                    1 => deny("no").into(),
                    2 => panic!("broken"),
                    3 => toolgate_testkit::approval("yes"),
                    _ => toolgate_testkit::approval("no"),
                })))
            });
            let answers = std::iter::repeat_n(("yes", json!({"action": "accept"})), 6)
                .chain([("no", json!({"action": "decline"}))]);
            drive(hub.build().unwrap().start(call(client_legacy(), "echo", json!({}))), answers).await;
            source.calls() == 1
        });
        prop_assert_eq!(called, passes);
    }
}
