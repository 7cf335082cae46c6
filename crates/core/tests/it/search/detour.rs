//! A call through `tools_call` is in all that matters the call that it names.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate_core::{
    Admission, Approvals, Call, Entry, Error, Hub, HubBuilder, Kind, Limiter, Outcome, Place, Principal,
    Progress, Question, Recorder, Search, SourceId, Taken, Target, TaskOp, TooMany, Verdict,
};
use toolgate_host::Clock;
use toolgate_testkit::{
    Expect, FakeFilter, FakeGate, FakeSource, MemoryStore, approval, builder, call, client_legacy,
    client_modern, drive, first_round, retry, text,
};
use toolgate_wire::{Edit, Raw};

use super::settings;

/// Notes all that is limited and recorded.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }

    fn taken(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Limiter for Notes {
    fn take(&self, _: &Principal, target: Option<&Target>) -> Result<Taken, TooMany> {
        self.add(format!("take {target:?}"));
        Ok(Taken::default())
    }

    fn give_back(&self, _: &Principal, target: &Target, _: &Taken) {
        self.add(format!("give back {target:?}"));
    }

    fn enter(&self, _: &Principal, source: &SourceId) -> Admission<'_> {
        self.add(format!("enter {source}"));
        Admission::Now(Place::default())
    }
}

impl Recorder for Notes {
    fn ready(&self) -> toolgate_core::Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        true
    }

    fn record(&self, entry: &Entry<'_>) {
        let arguments = entry.arguments.map(Raw::as_str).unwrap_or_default();
        let (source, rule) = (entry.source.map(SourceId::as_str), entry.rule);
        self.add(format!("{:?} {source:?} {arguments} {} {rule:?}", entry.target, entry.digest));
        self.add(entry.outcome.to_owned());
    }
}

fn source() -> FakeSource {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    FakeSource::new("a")
        .echo("echo")
        .checked_tool("checked", schema, |_, _| async { Ok(Outcome::Complete(text("fits"))) })
        .tool("fail", |_, _| async { Err(Error::new(Kind::Upstream, "it broke")) })
        .tool("progress", |_, run| async move {
            run.progress(Progress::new(1.0, Some(2.0), Some("half"))).await;
            Ok(Outcome::Complete(text("done")))
        })
        .tool("ask", |_, run| async move {
            Ok(Outcome::Complete(run.ask(vec![Question::roots("q")]).await?.to_raw()))
        })
        .tool("forever", |_, run| async move {
            run.progress(Progress::new(0.0, None, None)).await;
            std::future::pending().await
        })
        .tool("work", |_, run| async move {
            run.detach().await?;
            Ok(Outcome::Complete(text("worked")))
        })
        .echo("denied")
        .echo("careful")
}

fn scene() -> (Hub, Notes) {
    let notes = Notes::default();
    let gate = FakeGate::new(|judged| match judged.call.target.name() {
        "denied" => Verdict::Deny(Error::new(Kind::Denied, "no")).into(),
        "careful" => approval("careful"),
        // A gate that knew of the detour could be evaded by it.
        "tools_call" => panic!("a gate saw the detour"),
        _ => Verdict::Pass.into(),
    });
    let with = |builder: HubBuilder| {
        builder
            .settings(settings(Search::Always))
            .gate(Box::new(gate))
            .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
            .limiter(Arc::new(notes.clone()))
            .recorder(Arc::new(notes.clone()))
            .approvals(Approvals::new(Arc::new(MemoryStore::new()), Clock::system()))
            .build()
            .unwrap()
    };
    (with(builder([Arc::new(source())])), notes)
}

/// The same call, directly and through `tools_call`.
fn both(client: &Arc<toolgate_core::Client>, tool: &str, arguments: &Value) -> [Call; 2] {
    let wrapped = json!({"name": tool, "arguments": arguments});
    [call(client.clone(), tool, arguments.clone()), call(client.clone(), "tools_call", wrapped)]
}

#[tokio::test]
async fn it_is_judged_checked_asked_about_limited_filtered_and_recorded_alike() {
    let yes = || [("careful", json!({"action": "accept", "content": {}})), ("q", json!({"roots": []}))];
    for (tool, arguments) in [
        ("echo", json!({"x": [1, "hunter2"]})),
        ("checked", json!({"n": 1})),
        ("checked", json!({"n": "one"})),
        ("fail", json!({})),
        ("progress", json!({})),
        ("ask", json!({})),
        ("denied", json!({"x": 1})),
        ("careful", json!({"x": 1})),
    ] {
        let mut ends = Vec::new();
        for call in both(&client_legacy(), tool, &arguments) {
            let (hub, notes) = scene();
            let driven = drive(hub.start(call), yes()).await;
            let outcome = match &driven.outcome {
                Outcome::Complete(raw) => raw.as_str().to_owned(),
                Outcome::Failed(error) => format!("{error:?}"),
                Outcome::InputRequired { .. } | Outcome::Task(_) => panic!("{:?}", driven.outcome),
            };
            let counted = hub.metrics().encode();
            let is_counted = |line: &&str| line.contains("calls_total{") && !line.ends_with(" 0");
            let counted: Vec<String> = counted.lines().filter(is_counted).map(Into::into).collect();
            ends.push((driven.events, outcome, notes.taken(), counted));
        }
        assert_eq!(ends[0], ends[1], "{tool} {arguments}");
        assert!(ends[0].2.len() >= 3 && ends[0].3.len() == 1, "{:?}", ends[0]);
    }
}

#[tokio::test]
async fn a_question_is_answered_by_the_same_call_or_by_the_direct_one() {
    let arguments = json!({"b": 2, "a": 1});
    let [direct, _] = both(&client_modern(), "ask", &arguments);
    let answer = json!({"q": {"roots": []}});
    let (hub, _) = scene();
    let again = || both(&client_modern(), "ask", &arguments).into_iter().nth(1).unwrap();
    let (_, state) = first_round(&hub, again()).await.asked();
    assert_eq!(first_round(&hub, retry(again(), &state, answer.clone())).await.complete(), answer);
    let (_, state) = first_round(&hub, again()).await.asked();
    assert_eq!(first_round(&hub, retry(direct, &state, answer.clone())).await.complete(), answer);
    // But not by another.
    let (_, state) = first_round(&hub, again()).await.asked();
    let [_, other] = both(&client_modern(), "ask", &json!({"a": 1, "b": 3}));
    assert_eq!(first_round(&hub, retry(other, &state, answer)).await.failed().kind(), Kind::InvalidParams);
}

#[tokio::test]
async fn an_approval_counts_for_either_way() {
    let (hub, _) = scene();
    let arguments = json!({"x": 1});
    let [direct, wrapped] = both(&client_modern(), "careful", &arguments);
    let (_, state) = first_round(&hub, wrapped).await.asked();
    let yes = json!({"careful": {"action": "accept", "content": {}}});
    first_round(&hub, retry(direct, &state, yes)).await.complete();
}

#[tokio::test]
async fn it_is_cancelled_like_any_call() {
    let (hub, notes) = scene();
    let [_, wrapped] = both(&client_legacy(), "forever", &json!({}));
    let mut run = hub.start(wrapped);
    run.next().await.unwrap();
    assert_eq!(hub.running()[0].target.name(), "forever");
    run.cancel();
    assert_eq!(run.outcome().await.failed().kind(), Kind::Cancelled);
    assert_eq!(notes.taken().last().unwrap(), "cancelled");
}

#[tokio::test]
async fn it_becomes_a_task_like_any_call() {
    let (hub, _) = scene();
    let [_, wrapped] = both(&client_modern(), "work", &json!({}));
    let id = first_round(&hub, wrapped).await.task()["taskId"].as_str().unwrap().to_owned();
    let look = || {
        let target = Target::Task(TaskOp::Get, id.as_str().into());
        Call::new(Principal::local(), client_modern(), target, Raw::of(&json!({"taskId": id})))
    };
    let task = loop {
        let task = first_round(&hub, look()).await.complete();
        if task["status"] != "working" {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(task["result"]["content"][0]["text"], "worked");
}

#[tokio::test]
async fn whatever_else_came_with_it_goes_along_as_it_was_written() {
    let seen = Arc::new(Mutex::new(String::new()));
    let noted = seen.clone();
    let source = FakeSource::new("a").tool("take", move |permitted, _| {
        *noted.lock().unwrap() = permitted.params().as_str().to_owned();
        async { Ok(Outcome::Complete(text(""))) }
    });
    let hub = builder([Arc::new(source)]).settings(settings(Search::Always)).build().unwrap();
    let sent = r#"{"_meta":{"progressToken":1,"x":1e400}, "name":"tools_call","arguments":{"arguments": {"n" : 9007199254740993},"name":"take"},"more":[ ]}"#;
    let mut wrapped = call(client_legacy(), "tools_call", json!({}));
    wrapped.params = Raw::literal(sent);
    drive(hub.start(wrapped), []).await.complete();
    let direct = r#"{"_meta":{"progressToken":1,"x":1e400}, "name":"take","arguments":{"n" : 9007199254740993},"more":[ ]}"#;
    assert_eq!(*seen.lock().unwrap(), direct);
    // Without arguments there are none.
    let mut wrapped = call(client_legacy(), "tools_call", json!({}));
    wrapped.params = Edit::new(&wrapped.params).set("arguments", Raw::literal(r#"{"name":"take"}"#)).finish();
    drive(hub.start(wrapped), []).await.complete();
    assert_eq!(*seen.lock().unwrap(), r#"{"name":"take"}"#);
}

#[tokio::test]
async fn a_search_is_limited_and_recorded_but_like_a_list_needs_no_permission() {
    let notes = Notes::default();
    let hub = builder([Arc::new(source())])
        .settings(settings(Search::Always))
        .gate(Box::new(FakeGate::new(|_| Verdict::Deny(Error::new(Kind::Denied, "no")))))
        .limiter(Arc::new(notes.clone()))
        .recorder(Arc::new(notes.clone()))
        .build()
        .unwrap();
    for (tool, arguments) in
        [("tools_search", json!({"query": "echo"})), ("tools_describe", json!({"names": ["echo"]}))]
    {
        drive(hub.start(call(client_legacy(), tool, arguments)), []).await.complete();
        let notes = notes.taken();
        assert_eq!(notes[0], format!("take Some(Tool({tool}))"));
        assert!(notes[2].starts_with(&format!("Tool({tool}) Some(\"catalog\")")), "{notes:?}");
    }
    let wrapped = call(client_legacy(), "tools_call", json!({"name": "echo"}));
    assert_eq!(drive(hub.start(wrapped), []).await.failed().kind(), Kind::Denied);
    // A call that says nothing that can be read is limited and recorded too.
    notes.taken();
    drive(hub.start(call(client_legacy(), "tools_call", json!({"n": 1}))), []).await.failed();
    let notes = notes.taken();
    assert_eq!(notes[0], "take Some(Tool(tools_call))");
    assert_eq!(notes.last().unwrap(), "invalidInput");
}
