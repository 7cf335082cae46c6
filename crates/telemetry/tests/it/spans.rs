//! Spans as a collector sees them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use serde_json::json;
use toolgate_core::{
    Admission, Call, Client, Error, Hub, Kind, Limiter, Outcome, Place, Principal, SourceId, Taken, Target,
    TooMany, TraceContext, Verdict,
};
use toolgate_host::Tasks;
use toolgate_telemetry::Telemetry;
use toolgate_testkit::{
    Expect as _, FakeFilter, FakeGate, FakeSource, builder, call, client_legacy, client_modern, drive,
    first_round, retry, text,
};
use toolgate_wire::Raw;

use crate::collector::{Collector, Manner, attribute, hex};

const SECRET: &str = "hunter2-in-the-arguments";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

type Contexts = Arc<Mutex<Vec<Option<TraceContext>>>>;

/// A source that notes the trace context it would pass on.
fn source() -> (Arc<FakeSource>, Contexts) {
    let seen = Contexts::default();
    let notes = seen.clone();
    let source = FakeSource::new("files")
        .tool("read", move |permitted, _| {
            notes.lock().unwrap().push(permitted.trace_context().cloned());
            async { Ok(Outcome::Complete(text("done"))) }
        })
        .tool("fail", |permitted, _| async move {
            let sent = permitted.arguments().as_str().to_owned();
            Err(Error::new(Kind::FileNotFound, format!("no `{sent}`")).hint(sent.clone()).because(sent))
        });
    (Arc::new(source), seen)
}

fn context(flags: &str) -> Arc<TraceContext> {
    let parent = format!("00-{TRACE}-{SPAN}-{flags}");
    Arc::new(TraceContext::read(&parent, Some("vendor=1"), Some("user=7")).unwrap())
}

fn traced(client: Arc<Client>, tool: &str, flags: &str) -> Call {
    let mut call = call(client, tool, json!({"text": SECRET}));
    call.trace = Some(context(flags));
    call
}

/// A hub whose spans go to a collector.
async fn scene() -> (Collector, Telemetry, Hub, Contexts) {
    let collector = Collector::start(Manner::Takes).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let (source, seen) = source();
    let hub = builder([source]).tracer(telemetry.tracer()).build().unwrap();
    (collector, telemetry, hub, seen)
}

#[tokio::test]
async fn a_call_of_either_era_is_a_span_below_that_of_its_client() {
    for (client, era, version) in
        [(client_legacy(), "legacy", "2025-11-25"), (client_modern(), "modern", "2026-07-28")]
    {
        let (collector, telemetry, hub, seen) = scene().await;
        drive(hub.start(traced(client, "read", "01")), []).await.complete();
        telemetry.flush().await;
        let span = collector.span("tools/call read");
        assert_eq!((hex(&span.trace_id), hex(&span.parent_span_id)), (TRACE.into(), SPAN.into()));
        assert_eq!(span.kind(), SpanKind::Server);
        for (key, expect) in [
            ("mcp.method.name", "tools/call"),
            ("mcp.protocol.version", version),
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "read"),
            ("toolgate.principal", "local"),
            ("toolgate.target.kind", "tool"),
            ("toolgate.target.name", "read"),
            ("toolgate.source", "files"),
            ("toolgate.outcome", "complete"),
            ("toolgate.era", era),
            ("toolgate.transport", "stdio"),
            ("network.transport", "pipe"),
            ("error.type", ""),
        ] {
            assert_eq!(attribute(&span, key), expect, "{key}");
        }
        let child = collector.span("source");
        assert_eq!((&child.trace_id, &child.parent_span_id), (&span.trace_id, &span.span_id));
        assert_eq!(child.kind(), SpanKind::Client);
        assert!(span.start_time_unix_nano <= child.start_time_unix_nano);
        assert!(child.end_time_unix_nano <= span.end_time_unix_nano);
        let sent_on = seen.lock().unwrap()[0].clone().unwrap();
        assert_eq!(sent_on.parent(), format!("00-{TRACE}-{}-01", hex(&child.span_id)));
        assert_eq!((sent_on.state(), sent_on.baggage()), (Some("vendor=1"), Some("user=7")));
    }
}

#[tokio::test]
async fn without_a_context_a_call_begins_a_trace_of_its_own() {
    let (collector, telemetry, hub, _) = scene().await;
    for _ in 0..2 {
        drive(hub.start(call(client_modern(), "read", json!({}))), []).await.complete();
    }
    telemetry.flush().await;
    let traces: Vec<_> = collector.received(|received| {
        let calls = received.spans.iter().filter(|span| span.name == "tools/call read");
        calls.map(|span| (span.trace_id.clone(), span.parent_span_id.is_empty())).collect()
    });
    assert!(traces.len() == 2 && traces[0].0 != traces[1].0 && traces[0].1 && traces[1].1, "{traces:?}");
}

#[tokio::test]
async fn failures_are_told_by_kind_and_never_with_arguments() {
    let collector = Collector::start(Manner::Takes).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let deny = FakeGate::new(|judged| match judged.call.target.name() {
        "read" => {
            toolgate_core::Judgement::by("no reading".into(), Verdict::Deny(Error::new(Kind::Denied, "no")))
        }
        _ => Verdict::Pass.into(),
    });
    let hub = builder([source().0])
        .gate(Box::new(deny))
        .filter(Box::new(FakeFilter::new(SECRET, "[hidden]")))
        .tracer(telemetry.tracer())
        .build()
        .unwrap();
    for tool in ["fail", "read", "made_up_by_a_caller"] {
        drive(hub.start(traced(client_legacy(), tool, "01")), []).await.failed();
    }
    let uri = Target::Resource(format!("http://x/?token={SECRET}").into());
    let read = Call::new(Principal::local(), client_legacy(), uri, Raw::EMPTY_OBJECT);
    drive(hub.start(read), []).await.failed();
    let forged = retry(call(client_modern(), "read", json!({})), "forged", json!({}));
    first_round(&hub, forged).await.failed();
    telemetry.flush().await;
    let failed = collector.span("tools/call fail");
    assert_eq!(attribute(&failed, "error.type"), "fileNotFound");
    assert_eq!(failed.status.as_ref().unwrap().code(), StatusCode::Error);
    let found = collector.received(|received| {
        let mut all: Vec<_> = received
            .spans
            .iter()
            .filter(|span| span.name != "source")
            .map(|span| {
                let told = ["toolgate.target.name", "toolgate.outcome", "toolgate.rule"]
                    .map(|key| attribute(span, key));
                format!("{}: {}", span.name, told.join(" "))
            })
            .collect();
        all.sort();
        all
    });
    let expect = [
        "resources/read: http://x/?token=[hidden] notFound ",
        "tools/call fail: fail fileNotFound ",
        // Only names that exist become names of spans.
        "tools/call: made_up_by_a_caller notFound ",
        "tools/call: read denied no reading",
        "tools/call: read invalidInput ",
    ];
    assert_eq!(found, expect);
    collector.received(|received| {
        let seen = received.bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!seen && !received.bytes.is_empty());
    });
}

#[tokio::test]
async fn waiting_for_a_person_is_a_part_of_the_call() {
    let collector = Collector::start(Manner::Takes).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = builder([source().0])
        .gate(Box::new(FakeGate::asking("ask first")))
        .tracer(telemetry.tracer())
        .build()
        .unwrap();
    let run = hub.start(call(client_legacy(), "read", json!({})));
    drive(run, [("ask first", json!({"action": "accept", "content": {}}))]).await.complete();
    telemetry.flush().await;
    let (span, wait) = (collector.span("tools/call read"), collector.span("wait for approval"));
    assert_eq!(wait.parent_span_id, span.span_id);
    assert_eq!(attribute(&span, "toolgate.rule"), "ask first");
}

#[tokio::test]
async fn what_a_client_does_not_sample_is_not_sent_but_its_trace_goes_on() {
    let (collector, telemetry, hub, seen) = scene().await;
    drive(hub.start(traced(client_modern(), "read", "00")), []).await.complete();
    drive(hub.start(traced(client_modern(), "read", "01")), []).await.complete();
    telemetry.flush().await;
    collector.span("tools/call read");
    let sent_on = seen.lock().unwrap()[0].clone().unwrap();
    let (parent, flags) = (sent_on.parent(), &sent_on.parent()[53..]);
    assert!(parent.starts_with(&format!("00-{TRACE}-")) && flags == "00", "{parent}");
}

#[tokio::test]
async fn only_the_configured_share_of_calls_is_sent() {
    let mut collector = Collector::start(Manner::Takes).await;
    collector.config.sample = 0.0;
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = builder([source().0]).tracer(telemetry.tracer()).build().unwrap();
    drive(hub.start(call(client_modern(), "read", json!({}))), []).await.complete();
    drive(hub.start(traced(client_modern(), "fail", "01")), []).await.failed();
    telemetry.flush().await;
    collector.span("tools/call fail");
    assert!(collector.received(|received| received.spans.iter().all(|span| span.name != "tools/call read")));
}

#[tokio::test]
async fn without_a_tracer_the_context_goes_on_unchanged() {
    let (source, seen) = source();
    let hub = builder([source]).build().unwrap();
    drive(hub.start(traced(client_legacy(), "read", "01")), []).await.complete();
    drive(hub.start(call(client_legacy(), "read", json!({}))), []).await.complete();
    assert_eq!(*seen.lock().unwrap(), [Some((*context("01")).clone()), None]);
}

#[tokio::test]
async fn the_collector_learns_who_sends_and_gets_the_headers() {
    let mut collector = Collector::start(Manner::Takes).await;
    collector.config.service_name = "gate-7".into();
    collector.config.headers.insert("authorization".into(), "Bearer abc".into());
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = builder([source().0]).tracer(telemetry.tracer()).build().unwrap();
    drive(hub.start(call(client_modern(), "read", json!({}))), []).await.complete();
    telemetry.flush().await;
    collector.received(|received| {
        assert_eq!(received.service, "gate-7");
        let head = &received.head;
        for part in [
            "post /v1/traces http/1.1\r\n",
            "content-type: application/x-protobuf\r\n",
            "authorization: bearer abc\r\n",
        ] {
            assert!(head.contains(part), "{part} is not in {head}");
        }
    });
    assert_eq!((telemetry.exported()(), telemetry.dropped()()), (2, 0));
}

/// Lets everybody wait a moment for a place, and refuses whoever calls too often.
struct Slow;

impl Limiter for Slow {
    fn take(&self, _: &Principal, target: Option<&Target>) -> toolgate_core::Result<Taken, TooMany> {
        let often = target.is_some_and(|target| target.name() == "fail");
        match often {
            true => Err(TooMany { retry_after: Duration::from_secs(1), first: true }),
            false => Ok(Taken::default()),
        }
    }

    fn give_back(&self, _: &Principal, _: &Target, _: &Taken) {}

    fn enter(&self, _: &Principal, _: &SourceId) -> Admission<'_> {
        Admission::Waiting(Box::pin(async {
            tokio::task::yield_now().await;
            Place::default()
        }))
    }
}

#[tokio::test]
async fn waiting_for_a_place_is_a_part_of_the_call_and_a_refusal_is_a_span_too() {
    let collector = Collector::start(Manner::Takes).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = builder([source().0]).limiter(Arc::new(Slow)).tracer(telemetry.tracer()).build().unwrap();
    drive(hub.start(call(client_legacy(), "read", json!({}))), []).await.complete();
    drive(hub.start(traced(client_legacy(), "fail", "01")), []).await.failed();
    telemetry.flush().await;
    let (span, wait) = (collector.span("tools/call read"), collector.span("wait for a place"));
    assert_eq!(wait.parent_span_id, span.span_id);
    let refused = collector.span("tools/call");
    assert_eq!(
        (hex(&refused.parent_span_id).as_str(), attribute(&refused, "error.type")),
        (SPAN, "rateLimited".into())
    );
    assert_eq!(attribute(&refused, "rpc.response.status_code"), "-32000");
}
