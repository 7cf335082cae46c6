//! A collector that is away, slow or rude never disturbs a call.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::net::TcpSocket;
use toolgate_core::Hub;
use toolgate_host::Tasks;
use toolgate_telemetry::{Telemetry, TelemetryConfig};
use toolgate_testkit::{Expect as _, FakeSource, Lines, builder, call, client_modern, drive};

use crate::collector::{Collector, Manner, eventually};

fn hub(telemetry: &Telemetry) -> Hub {
    builder([Arc::new(FakeSource::new("a").echo("echo"))]).tracer(telemetry.tracer()).build().unwrap()
}

async fn calls(hub: &Hub, count: usize) {
    for _ in 0..count {
        drive(hub.start(call(client_modern(), "echo", json!({}))), []).await.complete();
    }
}

#[tokio::test]
async fn a_collector_that_is_away_is_told_of_once_and_its_spans_are_counted() {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::INFO)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    // One that is bound and does not listen: nobody else can take its port meanwhile.
    let bound = TcpSocket::new_v4().unwrap();
    bound.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let gone = bound.local_addr().unwrap();
    let config = TelemetryConfig { endpoint: Some(format!("http://{gone}")), ..TelemetryConfig::default() };
    let telemetry = Telemetry::start(&config, "1", &Tasks::new()).unwrap().unwrap();
    let (hub, dropped) = (hub(&telemetry), telemetry.dropped());
    for round in 1..=5 {
        calls(&hub, 1).await;
        telemetry.flush().await;
        eventually("the spans are given up", || dropped() == 2 * round).await;
    }
    assert_eq!(telemetry.exported()(), 0);
    let text = lines.text();
    assert_eq!(text.matches("traces do not reach the collector").count(), 1, "{text}");
}

#[tokio::test]
async fn a_collector_that_comes_back_gets_what_comes_then() {
    let collector = Collector::start(Manner::Refuses).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = hub(&telemetry);
    calls(&hub, 1).await;
    telemetry.flush().await;
    let counts = (telemetry.exported(), telemetry.dropped());
    // What takes long is not waited for.
    eventually("the spans are given up", || (counts.0(), counts.1()) == (0, 2)).await;
    collector.behave(Manner::Takes);
    calls(&hub, 1).await;
    telemetry.flush().await;
    eventually("the next are sent", || (counts.0(), counts.1()) == (2, 2)).await;
    collector.span("tools/call echo");
}

#[tokio::test]
async fn what_does_not_fit_the_queue_is_given_up_and_counted() {
    let collector = Collector::start(Manner::Hangs).await;
    let telemetry = collector.telemetry(&Tasks::new());
    let hub = hub(&telemetry);
    calls(&hub, 5000).await;
    let dropped = telemetry.dropped()();
    // Two spans a call; the queue and what is on its way keep some of them.
    assert!((6000..10_000).contains(&dropped), "{dropped}");
    assert_eq!(telemetry.exported()(), 0);
}

#[tokio::test]
async fn what_waits_is_sent_when_the_process_ends() {
    let collector = Collector::start(Manner::Takes).await;
    let tasks = Tasks::new();
    let telemetry = collector.telemetry(&tasks);
    let hub = hub(&telemetry);
    calls(&hub, 700).await;
    assert!(tasks.shutdown(Duration::from_secs(30)).await);
    assert_eq!((telemetry.exported()(), telemetry.dropped()()), (1400, 0));
    assert_eq!(collector.received(|received| received.spans.len()), 1400);
}

#[tokio::test]
async fn a_collector_that_hangs_does_not_keep_the_process_from_ending() {
    let collector = Collector::start(Manner::Hangs).await;
    let tasks = Tasks::new();
    let telemetry = collector.telemetry(&tasks);
    let hub = hub(&telemetry);
    calls(&hub, 600).await;
    eventually("a batch is on its way", || collector.received(|received| received.requests > 0)).await;
    calls(&hub, 100).await;
    // Its own time limit is longer than what it is given at the end, and each of three batches has its own.
    assert!(tasks.shutdown(Duration::from_secs(10)).await, "it ended by itself");
    assert_eq!(telemetry.exported()() + telemetry.dropped()(), 1400);
    telemetry.flush().await;
    calls(&hub, 1).await;
}

#[tokio::test]
async fn spans_go_out_by_themselves() {
    let collector = Collector::start(Manner::Takes).await;
    let telemetry = collector.telemetry(&Tasks::new());
    calls(&hub(&telemetry), 1).await;
    let exported = telemetry.exported();
    eventually("the spans are sent", || exported() == 2).await;
}

#[tokio::test]
async fn nothing_is_started_where_nothing_is_configured() {
    let tasks = Tasks::new();
    assert!(Telemetry::start(&TelemetryConfig::default(), "1", &tasks).unwrap().is_none());
    assert!(tasks.is_empty());
}
