//! Sources that panic, a record without room, and what the counters say of it all.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::{Entry, Error, Kind, Recorder, Result};
use toolgate_testkit::{
    Expect, FakeSource, builder, call, client_legacy, client_modern, drive, first_round, hub, retry,
};

fn source() -> Arc<FakeSource> {
    let source = FakeSource::new("a")
        .echo("echo")
        .tool("panic", |permitted, _| async move {
            assert!(permitted.arguments().get("now").is_none(), "secret: at once");
            tokio::task::yield_now().await;
            panic!("secret: {}", "later")
        })
        .tool("refuse", |_, _| async { Err(Error::new(Kind::FileNotFound, "gone")) });
    Arc::new(source)
}

#[tokio::test]
async fn a_source_that_panics_is_our_fault_and_the_hub_goes_on() {
    let hub = hub([source()]);
    for arguments in [json!({"now": 1}), json!({})] {
        let error = drive(hub.start(call(client_legacy(), "panic", arguments)), []).await.failed();
        assert_eq!(error.kind(), Kind::Internal);
        assert!(!error.message().contains("secret"), "{error}");
        drive(hub.start(call(client_legacy(), "echo", json!({}))), []).await.complete();
    }
}

#[tokio::test]
async fn every_call_is_counted_however_it_ended() {
    let hub = hub([source()]);
    for tool in ["echo", "echo", "panic", "refuse", "unknown"] {
        drive(hub.start(call(client_legacy(), tool, json!({}))), []).await;
    }
    first_round(&hub, retry(call(client_modern(), "echo", json!({})), "forged", json!({}))).await.failed();
    let text = hub.metrics().encode();
    for line in [
        r#"toolgate_calls_total{target="tool",outcome="complete"} 2"#,
        r#"toolgate_calls_total{target="tool",outcome="internal"} 1"#,
        r#"toolgate_calls_total{target="tool",outcome="fileNotFound"} 1"#,
        r#"toolgate_calls_total{target="tool",outcome="notFound"} 1"#,
        r#"toolgate_calls_total{target="tool",outcome="invalidInput"} 1"#,
        "toolgate_calls_running 0",
        r#"toolgate_call_duration_seconds_count{target="tool"} 6"#,
        "toolgate_calls_parked 0",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
}

/// A record without room.
struct Full;

impl Recorder for Full {
    fn ready(&self) -> Result<()> {
        Err(Error::new(Kind::Internal, "there is no room"))
    }

    fn wants_arguments(&self) -> bool {
        false
    }

    fn record(&self, _: &Entry<'_>) {}
}

#[tokio::test]
async fn a_call_that_could_not_be_recorded_does_not_run() {
    let source = Arc::new(FakeSource::new("a").echo("echo"));
    let hub = builder([source.clone()]).recorder(Arc::new(Full)).build().unwrap();
    let error = drive(hub.start(call(client_legacy(), "echo", json!({}))), []).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Internal, "there is no room"));
    assert_eq!(source.calls(), 0);
}
