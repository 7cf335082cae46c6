//! What `/metrics` tells of a hub.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use tokio::sync::Notify;
use toolgate_core::{
    Call, Capabilities, Client, CompletionRef, Exposition, Hub, NewConnection, Outcome, Principal, Reading,
    SourceState, Target, Transport, Verdict,
};
use toolgate_testkit::{
    FakeGate, FakeSource, builder, call, client_legacy, client_modern, client_with, drive, hub, text,
};
use toolgate_wire::{Raw, Version};

fn scrape(hub: &Hub) -> String {
    hub.scrape(Exposition::OpenMetrics)
}

/// Names and labels, without values.
fn series(text: &str) -> BTreeSet<String> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

#[track_caller]
fn has(hub: &Hub, line: &str) {
    let text = scrape(hub);
    assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
}

#[tokio::test]
async fn hostile_names_make_no_series() {
    let deny = FakeGate::new(|judged| match judged.call.target.name().len() % 3 {
        0 => Verdict::Deny(toolgate_core::Error::new(toolgate_core::Kind::Denied, "no")),
        _ => Verdict::Pass,
    });
    let hub = builder([Arc::new(FakeSource::new("a").echo("there"))]).gate(Box::new(deny)).build().unwrap();
    let before = series(&scrape(&hub));
    for number in 0..300 {
        let name: Arc<str> =
            format!("x{number}\"}}\n# EOF\ntoolgate_forged 1{{{}", "\u{1b}".repeat(number % 7)).into();
        let targets = [
            Target::Tool(format!("tool{}", "x".repeat(number % 90)).parse().unwrap()),
            Target::Resource(name.clone()),
            Target::Prompt(name.clone()),
            Target::Completion(CompletionRef::Resource(name.clone())),
            Target::Subscribe(name.clone()),
            Target::Method(name.clone()),
        ];
        for target in targets {
            let client = if number % 2 == 0 { client_legacy() } else { client_modern() };
            let principal = Principal::named(name.clone());
            drive(hub.start(Call::new(principal, client, target, Raw::EMPTY_OBJECT)), []).await;
        }
    }
    assert_eq!(series(&scrape(&hub)), before);
    assert!(before.len() > 200, "there is something to look at: {}", before.len());
    let counted: u64 = scrape(&hub)
        .lines()
        .filter(|line| line.starts_with("toolgate_calls_total"))
        .map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap())
        .sum();
    assert_eq!(counted, 1800);
}

#[tokio::test]
async fn what_runs_now_is_counted_and_what_is_gone_is_not() {
    let go = Arc::new(Notify::new());
    let gate = go.clone();
    let source = FakeSource::new("a").tool("slow", move |_, _| {
        let gate = gate.clone();
        async move {
            gate.notified().await;
            Ok(Outcome::Complete(text("done")))
        }
    });
    let hub = hub([Arc::new(source)]);
    let connected = hub.connect(NewConnection {
        transport: Transport::Http,
        principal: Principal::local(),
        process: None,
    });
    let run = hub.start(call(client_legacy(), "slow", json!({})));
    has(&hub, "toolgate_calls_running 1");
    has(&hub, "toolgate_connections{transport=\"http\"} 1");
    has(&hub, "toolgate_connections{transport=\"stdio\"} 0");
    go.notify_one();
    drive(run, []).await;
    drop(connected);
    has(&hub, "toolgate_calls_running 0");
    has(&hub, "toolgate_connections{transport=\"http\"} 0");
    has(&hub, "toolgate_calls_total{target=\"tool\",outcome=\"complete\"} 1");
}

#[tokio::test(start_paused = true)]
async fn questions_to_a_person_are_counted_by_how_they_ended() {
    async fn check(client: Arc<Client>, answer: Option<Value>, expect: &str) {
        let source = Arc::new(FakeSource::new("a").echo("echo"));
        let hub = builder([source]).gate(Box::new(FakeGate::asking("ok"))).build().unwrap();
        let mut run = hub.start(call(client, "echo", json!({})));
        match answer {
            Some(answer) => drop(drive(run, [("ok", answer)]).await),
            None => {
                let asked = run.next().await;
                drop((drive(run, []).await, asked));
            }
        }
        for answer in ["approved", "rejected", "unanswered", "failed"] {
            let count = u8::from(answer == expect);
            has(&hub, &format!("toolgate_approvals_total{{answer=\"{answer}\"}} {count}"));
        }
    }
    let mute = client_with(Version::LATEST_LEGACY, Capabilities::default());
    check(client_legacy(), Some(json!({"action": "accept"})), "approved").await;
    check(client_legacy(), Some(json!({"action": "decline"})), "rejected").await;
    check(client_legacy(), Some(json!({"action": "cancel"})), "unanswered").await;
    check(client_legacy(), Some(json!({})), "unanswered").await;
    check(client_legacy(), None, "unanswered").await;
    check(mute, Some(json!({})), "unanswered").await;
}

#[tokio::test]
async fn sources_are_told_by_state_and_one_that_left_is_forgotten() {
    let hub = hub([Arc::new(FakeSource::new("a")), Arc::new(FakeSource::new("b"))]);
    has(&hub, "toolgate_sources{state=\"connected\"} 2");
    let waits = FakeSource::new("b").stands(SourceState::NeedsAuth);
    hub.set_sources(vec![Arc::new(FakeSource::new("a")), Arc::new(waits)]);
    has(&hub, "toolgate_sources{state=\"connected\"} 1");
    has(&hub, "toolgate_sources{state=\"needs_auth\"} 1");
    has(&hub, "toolgate_sources{state=\"failed\"} 0");
    has(&hub, "toolgate_source_up{source=\"a\"} 1");
    has(&hub, "toolgate_source_up{source=\"b\"} 0");
    hub.set_sources(vec![Arc::new(FakeSource::new("a"))]);
    let text = scrape(&hub);
    assert!(!text.contains("source=\"b\""), "{text}");
}

#[tokio::test]
async fn numbers_of_other_parts_are_read_when_someone_looks() {
    let (hidden, spooled) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(7)));
    let (from_hidden, from_spooled) = (hidden.clone(), spooled.clone());
    let hub = builder::<FakeSource>([])
        .reading(Reading::Redactions, move || from_hidden.load(Ordering::Relaxed))
        .reading(Reading::AuditSpoolBytes, move || from_spooled.load(Ordering::Relaxed))
        .build()
        .unwrap();
    has(&hub, "toolgate_redactions_total 0");
    hidden.store(3, Ordering::Relaxed);
    has(&hub, "toolgate_redactions_total 3");
    has(&hub, "toolgate_audit_spool_bytes 7");
    assert!(!scrape(&hub).contains("toolgate_audit_records"), "what nobody counts is not shown");
}

#[tokio::test]
async fn process_and_version_are_told() {
    let hub = hub::<FakeSource>([]);
    has(&hub, "toolgate_build_info{version=\"0\"} 1");
    let text = hub.scrape(Exposition::Plain);
    for name in ["cpu_seconds_total", "resident_bytes", "open_fds", "threads", "start_time_seconds"] {
        let name = format!("toolgate_process_{name} ");
        assert!(text.lines().any(|line| line.starts_with(&name)), "{name} is not in\n{text}");
    }
    assert!(text.contains("# TYPE toolgate_calls_total counter\n") && !text.contains("# EOF"), "{text}");
}
