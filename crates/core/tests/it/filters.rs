//! Everything that goes out passes the filters.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolgate_core::{
    Approvals, Client, Entry, Error, Judgement, Kind, ListKind, LogLevel, Outcome, Principal, Progress,
    Question, Recorder, Target, ToolItem, Verdict, error_result,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    BrokenFilter, Expect, FakeFilter, FakeGate, FakeSource, MemoryStore, builder, call, client_legacy,
    client_modern, drive, first_round, list, prompt_item, resource_item, template_item, text, tool_item,
};
use toolgate_wire::Raw;

fn hub_with(source: FakeSource) -> toolgate_core::Hub {
    builder([Arc::new(source)])
        .filter(Box::new(FakeFilter::new("hunter2", "[1]")))
        .filter(Box::new(FakeFilter::new("[1]", "[REDACTED]")))
        .build()
        .unwrap()
}

#[tokio::test]
async fn results_progress_logs_and_notifications_are_filtered() {
    let hub = hub_with(FakeSource::new("a").tool("leak", |_, run| async move {
        run.progress(Progress::new(1.0, None, Some("hunter2"))).await;
        run.log(LogLevel::Info, Some("hunter2"), &Raw::literal(r#""hunter2""#)).await;
        run.other("notifications/x", Raw::literal(r#"{"hunter2":1}"#)).await;
        run.ask(vec![Question::elicit("k", Raw::literal(r#"{"message":"hunter2?"}"#))]).await?;
        Ok(Outcome::Complete(text("it is hunter2")))
    }));
    let driven = drive(hub.start(call(client_legacy(), "leak", json!({}))), [("k", json!({}))]).await;
    assert_eq!(
        driven.events,
        [
            r#"progress {"progress":1,"message":"[REDACTED]"}"#,
            r#"log {"level":"info","logger":"[REDACTED]","data":"[REDACTED]"}"#,
            r#"notifications/x {"[REDACTED]":1}"#,
            r#"ask k elicitation/create {"message":"[REDACTED]?"}"#,
        ]
    );
    assert_eq!(driven.complete()["content"][0]["text"], "it is [REDACTED]");
}

#[tokio::test]
async fn errors_are_filtered_in_message_hint_data_and_name() {
    let mut item = tool_item("leak");
    item.title = Some("Show hunter2".into());
    let hub = hub_with(
        FakeSource::new("a")
            .tool_as(item, |_, _| async {
                Err(Error::new(Kind::NotFound, "no hunter2")
                    .hint("try hunter2")
                    .data(Raw::literal(r#"{"hunter2":"hunter2"}"#)))
            })
            .tool("forward", |_, _| async {
                Err(Error::forwarded(Raw::literal(r#"{"code":-1,"message":"hunter2","data":"hunter2"}"#)))
            }),
    );
    let mut run = hub.start(call(client_legacy(), "leak", json!({})));
    let Some(toolgate_core::Event::Done(Outcome::Failed(error))) = run.next().await else {
        panic!("no error")
    };
    assert_eq!((error.message(), error.next_step()), ("no [REDACTED]", Some("try [REDACTED]")));
    assert_eq!(error.detail().unwrap().as_str(), r#"{"[REDACTED]":"[REDACTED]"}"#);
    assert!(!error_result(&error, run.operation()).as_str().contains("hunter2"));

    let error = drive(hub.start(call(client_legacy(), "forward", json!({}))), []).await.failed();
    assert_eq!(error.message(), "[REDACTED]");
    assert_eq!(
        error.as_forwarded().unwrap().as_str(),
        r#"{"code":-1,"message":"[REDACTED]","data":"[REDACTED]"}"#
    );
}

#[tokio::test]
async fn what_a_caller_sent_comes_back_filtered_too() {
    let hub = hub_with(FakeSource::new("a"));
    let error = drive(hub.start(call(client_legacy(), "hunter2", json!({}))), []).await.failed();
    assert_eq!(error.message(), "unknown tool `[REDACTED]`");
}

#[tokio::test]
async fn lists_are_filtered() {
    let hub = hub_with(FakeSource::new("a").with(|listing| {
        listing.tools.push(Arc::new(tool_item("hunter2")));
        listing.resources.push(resource_item("x:hunter2"));
        listing.templates.push(template_item("hunter2:{x}"));
        listing.prompts.push(prompt_item("hunter2"));
    }));
    for kind in ListKind::ALL {
        let page = list(&hub, kind, None).await.to_string();
        assert!(page.contains("[REDACTED]") && !page.contains("hunter2"), "{page}");
    }
}

#[tokio::test]
async fn questions_of_gates_and_sources_are_filtered_for_modern_clients() {
    let source = || {
        FakeSource::new("a").tool("ask", |_, _| async {
            let requests = r#"{"k":{"method":"elicitation/create","params":{"message":"hunter2"}}}"#;
            Ok(Outcome::InputRequired { requests: Raw::literal(requests), state: Some("hunter2".into()) })
        })
    };
    let (requests, _) =
        first_round(&hub_with(source()), call(client_modern(), "ask", json!({}))).await.asked();
    assert_eq!(requests["k"]["params"]["message"], "[REDACTED]");

    let gate = FakeGate::new(|_| Judgement::by("k".into(), Verdict::Ask("hunter2".into())));
    let hub = builder([Arc::new(source())])
        .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
        .gate(Box::new(gate))
        .build()
        .unwrap();
    let (requests, _) = first_round(&hub, call(client_modern(), "ask", json!({}))).await.asked();
    let message = requests["k"]["params"]["message"].as_str().unwrap();
    assert!(message.ends_with("[REDACTED]") && !message.contains("hunter2"), "{message}");
}

#[tokio::test]
async fn a_question_whose_key_is_secret_is_not_asked() {
    let asks = |from: FakeSource| {
        from.tool("ask", |_, run| async move {
            let questions = ["open", "is hunter2"].map(|key| Question::elicit(key, Raw::literal("{}")));
            run.ask(questions.into()).await?;
            Ok(Outcome::Complete(text("asked")))
        })
    };
    for client in [client_legacy(), client_modern()] {
        let hub = hub_with(asks(FakeSource::new("a")));
        let mut run = hub.start(call(client, "ask", json!({})));
        let Some(toolgate_core::Event::Done(Outcome::Failed(error))) = run.next().await else {
            panic!("it was asked")
        };
        assert_eq!(error.kind(), Kind::Upstream);
        assert!(!error.message().contains("hunter2"), "{error}");
    }
}

#[tokio::test]
async fn a_rule_whose_name_is_secret_is_asked_about_by_another() {
    for client in [client_legacy(), client_modern()] {
        let hub = builder([Arc::new(FakeSource::new("a").echo("echo"))])
            .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
            .gate(Box::new(FakeGate::asking("is hunter2")))
            .build()
            .unwrap();
        let driven =
            drive(hub.start(call(client, "echo", json!({}))), [("approval", json!({"action": "accept"}))])
                .await;
        assert!(driven.events[0].starts_with("ask approval elicitation/create"), "{:?}", driven.events);
        assert!(!driven.events[0].contains("hunter2"), "{:?}", driven.events);
        driven.complete();
    }
}

#[tokio::test]
async fn a_notification_whose_method_is_secret_is_left_out() {
    let hub = hub_with(FakeSource::new("a").tool("tell", |_, run| async move {
        run.other("notifications/hunter2", Raw::literal("{}")).await;
        run.other("notifications/x", Raw::literal("{}")).await;
        run.afterwards().expect("a connection").tell("notifications/hunter2", Raw::literal("{}"));
        run.afterwards().expect("a connection").tell("notifications/y", Raw::literal("{}"));
        Ok(Outcome::Complete(text("told")))
    }));
    let principal = Principal::local();
    let mut changes = hub.changes(&principal);
    let new = toolgate_core::NewConnection {
        transport: toolgate_core::Transport::Stdio,
        principal: principal.clone(),
        process: None,
    };
    let connected = hub.connect(new);
    let from =
        toolgate_core::Call { connection: Some(connected.id()), ..call(client_legacy(), "tell", json!({})) };
    assert_eq!(drive(hub.start(from), []).await.events, ["notifications/x {}"]);
    loop {
        if let Some(toolgate_core::Change::Told(notice)) = changes.next().await {
            assert_eq!(&*notice.method, "notifications/y");
            return;
        }
    }
}

/// A record that wants the arguments, and keeps whether it got them.
#[derive(Default)]
struct Curious(Mutex<Vec<bool>>);

impl Recorder for Curious {
    fn ready(&self) -> toolgate_core::Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        true
    }

    fn record(&self, entry: &Entry<'_>) {
        self.0.lock().unwrap().push(entry.arguments.is_some());
    }
}

#[tokio::test]
async fn a_call_is_recorded_without_its_arguments_where_a_filter_breaks_down() {
    let record = Arc::new(Curious::default());
    let hub = |filters: Option<BrokenFilter>| {
        let source = Arc::new(FakeSource::new("a").echo("echo"));
        let hub = builder([source]).recorder(record.clone());
        filters.into_iter().fold(hub, |hub, filter| hub.filter(Box::new(filter))).build().unwrap()
    };
    for filter in [None, Some(BrokenFilter)] {
        drive(hub(filter).start(call(client_legacy(), "echo", json!({}))), []).await;
    }
    assert_eq!(*record.0.lock().unwrap(), [true, false]);
}

#[tokio::test]
async fn a_filter_that_breaks_down_lets_nothing_out() {
    let source = FakeSource::new("a").echo("echo").tool("fail", |_, run| async move {
        run.progress(Progress::new(1.0, None, Some("secret"))).await;
        Err(Error::new(Kind::NotFound, "secret"))
    });
    let hub = builder([Arc::new(source)]).filter(Box::new(BrokenFilter)).build().unwrap();
    for tool in ["echo", "fail"] {
        let driven = drive(hub.start(call(client_legacy(), tool, json!({"x": "secret"}))), []).await;
        assert!(driven.events.is_empty());
        let error = driven.failed();
        assert_eq!(error.kind(), Kind::Internal);
        assert!(!error.message().contains("secret"), "{error}");
    }
    let local = Principal::local();
    let look = toolgate_core::Look {
        principal: &local,
        profile: None,
        version: toolgate_wire::Version::LATEST_LEGACY,
    };
    assert_eq!(hub.list(&look, ListKind::Tools, None).await.unwrap_err().kind(), Kind::Internal);
}

/// Notes the names and arguments that are recorded.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Recorder for Noting {
    fn ready(&self) -> toolgate_core::Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        true
    }

    fn record(&self, entry: &Entry<'_>) {
        let arguments = entry.arguments.map(Raw::as_str).unwrap_or_default();
        self.0.lock().unwrap().push(format!("{} {arguments}", entry.name));
    }
}

#[tokio::test]
async fn what_is_recorded_is_filtered() {
    let noting = Noting::default();
    let source =
        FakeSource::new("a").echo("echo").otherwise(|_, _| async { Ok(Outcome::Complete(text("x"))) });
    let hub = builder([Arc::new(source)])
        .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
        .recorder(Arc::new(noting.clone()))
        .build()
        .unwrap();
    drive(hub.start(call(client_legacy(), "echo", json!({"word": "hunter2"}))), []).await.complete();
    let uri = Target::Resource("file:///hunter2".into());
    let params = Raw::literal(r#"{"uri":"file:///hunter2"}"#);
    drive(hub.start(toolgate_core::Call::new(Principal::local(), client_legacy(), uri, params)), []).await;
    let noted = noting.0.lock().unwrap().clone();
    assert_eq!(noted.len(), 2, "{noted:?}");
    for line in noted {
        assert!(line.contains("[REDACTED]") && !line.contains("hunter2"), "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_person_is_shown_and_the_store_keeps_is_filtered() {
    let inbox = Approvals::new(Arc::new(MemoryStore::new()), Clock::system());
    let source = FakeSource::new("a")
        .tool_as(ToolItem { title: Some("Echo hunter2".into()), ..tool_item("hunter2") }, |_, _| async {
            Ok(Outcome::Complete(text("x")))
        });
    let hub = builder([Arc::new(source)])
        .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
        .gate(Box::new(FakeGate::new(|_| Judgement::by("careful".into(), Verdict::Ask("hunter2".into())))))
        .approvals(inbox.clone())
        .build()
        .unwrap();
    let name = hub.client_name(&Raw::literal(r#"{"name":"hunter2"}"#)).map(Arc::new);
    let mute = Client { name, ..(*toolgate_core::local_client()).clone() };
    drive(hub.start(call(mute.into(), "hunter2", json!({"word": "hunter2"}))), []).await.failed();
    let asked = inbox.list().await.unwrap().remove(0);
    assert!(asked.arguments.contains("[REDACTED]"), "{}", asked.arguments);
    let told = [asked.title.as_deref(), asked.client.as_deref(), Some(&*asked.target), Some(&*asked.reason)];
    let redacted = ["Echo [REDACTED]", "[REDACTED]", "tool:[REDACTED]", "[REDACTED]"];
    assert_eq!(told, redacted.map(Some));
    let kept = serde_json::to_string(&asked).unwrap();
    assert!(!kept.contains("hunter2"), "{kept}");
}

#[tokio::test]
async fn a_call_that_cannot_even_begin_is_filtered_too() {
    let hub = builder([Arc::new(FakeSource::new("a").echo("echo"))])
        .filter(Box::new(BrokenFilter))
        .build()
        .unwrap();
    let unknown =
        toolgate_testkit::retry(call(client_modern(), "echo", json!({})), "no state of ours", json!({}));
    assert_eq!(drive(hub.start(unknown), []).await.failed().kind(), Kind::Internal);
}
