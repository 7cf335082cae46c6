//! Calls through a hub, and what is recorded of them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_audit::AuditConfig;
use toolgate_core::{
    Admission, Error, Gate, Hub, Judgement, Kind, Limiter, Place, Principal, SourceId, Taken, Target,
    TooMany, Verdict,
};
use toolgate_testkit::{FakeGate, FakeSource, approval, builder, call, client_legacy, drive};

use crate::scene::{Process, Scene, written};

/// Lets a tool called `often` through never.
struct Strict;

impl Limiter for Strict {
    fn take(&self, _: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {
        match target.is_some_and(|target| target.name() == "often") {
            true => Err(TooMany { retry_after: std::time::Duration::from_secs(1), first: true }),
            false => Ok(Taken::default()),
        }
    }

    fn give_back(&self, _: &Principal, _: &Target, _: &Taken) {}

    fn enter(&self, _: &Principal, _: &SourceId) -> Admission<'_> {
        Admission::Now(Place::default())
    }
}

fn gate() -> Box<dyn Gate> {
    Box::new(FakeGate::new(|judged| match judged.call.target.name() {
        "denied" => Judgement::by("no denied".into(), Verdict::Deny(Error::new(Kind::Denied, "no"))),
        "asked" => approval("ask first"),
        _ => Judgement::by("all else".into(), Verdict::Pass),
    }))
}

fn hub(process: &Process) -> Hub {
    let source = FakeSource::new("fake")
        .echo("echo")
        .echo("denied")
        .echo("asked")
        .echo("often")
        .tool("fails", |_, _| async { Err(Error::new(Kind::Timeout, "too slow")) })
        .tool("hangs", |_, _| std::future::pending());
    let recorder = Arc::new(process.audit.clone());
    builder([Arc::new(source)]).gate(gate()).limiter(Arc::new(Strict)).recorder(recorder).build().unwrap()
}

/// Makes a call, and returns its record.
async fn made(scene: &Scene, config: AuditConfig, tool: &str) -> Value {
    let process = scene.process_with(config, 1 << 20);
    let hub = hub(&process);
    let mut run = hub.start(call(client_legacy(), tool, json!({"n": [1, 2]})));
    if tool == "hangs" {
        let running = hub.running();
        assert_eq!(running.len(), 1);
        run.cancel();
        while run.next().await.is_some() {}
    } else {
        drive(run, [("ask first", json!({"action": "accept", "content": {}}))]).await;
    }
    // Before anything is copied: the record was there before the reply.
    let spool = String::from_utf8(written(scene.spools().last().unwrap())).unwrap();
    let record = serde_json::from_str(spool.lines().last().unwrap()).unwrap();
    process.end().await;
    record
}

#[tokio::test]
async fn every_end_of_a_call_is_recorded_with_rule_and_approver() {
    let check = async |tool: &str, expect: Value| {
        let scene = Scene::new();
        let record = made(&scene, AuditConfig::default(), tool).await;
        let told = ["principal", "transport", "target", "source", "outcome", "rule", "approver", "arguments"];
        let found: Vec<&Value> = told.iter().map(|key| &record[*key]).collect();
        assert_eq!(json!(found), expect, "{record}");
        assert!(record["digest"].as_str().is_some_and(|digest| digest.len() == 43), "{record}");
        assert!(record["took_us"].is_u64() && record["time_ms"].is_u64(), "{record}");
        let report = scene.verify().await;
        assert!(report.ok && report.records == 1, "{report}");
    };
    check("echo", json!(["local", "stdio", "tool:echo", "fake", "complete", "all else", null, null])).await;
    check("fails", json!(["local", "stdio", "tool:fails", "fake", "timeout", "all else", null, null])).await;
    check("hangs", json!(["local", "stdio", "tool:hangs", "fake", "cancelled", "all else", null, null]))
        .await;
    check("denied", json!(["local", "stdio", "tool:denied", null, "denied", "no denied", null, null])).await;
    check("often", json!(["local", "stdio", "tool:often", null, "rateLimited", "limits", null, null])).await;
    check(
        "asked",
        json!(["local", "stdio", "tool:asked", "fake", "complete", "ask first", "local at the client", null]),
    )
    .await;
}

#[tokio::test]
async fn arguments_are_recorded_only_where_that_is_configured_and_a_change_holds_at_once() {
    let scene = Scene::new();
    let config = AuditConfig { arguments: true, ..AuditConfig::default() };
    let record = made(&scene, config, "echo").await;
    assert_eq!(record["arguments"]["arguments"], json!({"n": [1, 2]}), "{record}");
    let process = scene.process();
    let hub = hub(&process);
    for (config, expect) in [(AuditConfig::default(), false), (config, true)] {
        process.audit.configure(config);
        drive(hub.start(call(client_legacy(), "echo", json!({}))), []).await;
        let spool = String::from_utf8(written(&scene.spools()[0])).unwrap();
        assert_eq!(spool.lines().last().unwrap().contains("arguments"), expect, "{spool}");
    }
    process.end().await;
}

#[tokio::test]
async fn who_records_nothing_touches_nothing() {
    let scene = Scene::new();
    let process = scene.process();
    let hub = hub(&process);
    toolgate_testkit::list_names(&hub, toolgate_core::ListKind::Tools).await;
    assert!(process.tasks.is_empty());
    process.end().await;
    assert_eq!(std::fs::read_dir(scene.place.path()).unwrap().count(), 0);
    assert!(scene.verify().await.ok);
}
