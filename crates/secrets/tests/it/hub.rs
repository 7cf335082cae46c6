//! Everything that leaves a hub passes the redaction.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::{
    Error, Event, Hub, Judgement, Kind, ListKind, LogLevel, Outcome, Progress, Question, Verdict,
};
use toolgate_testkit::{
    Expect, FakeGate, FakeSource, builder, call, client_legacy, client_modern, drive, first_round, list,
    prompt_item, resource_item, template_item, text, tool_item,
};
use toolgate_wire::Raw;

use crate::samples::one;

const SECRET: &str = r#"hunter2 "é""#;
/// The same in JSON, as nobody would write it.
const SPELLED: &str = r#"hunter2\u0020\"\u00e9\""#;
const HEX: &str = "68756e746572322022c3a922";
const SHOWN: &str = "[REDACTED:PASSWORD]";

fn hub_with(source: FakeSource) -> Hub {
    builder([Arc::new(source)]).filter(Box::new(one("PASSWORD", SECRET))).build().unwrap()
}

fn raw(text: String) -> Raw {
    Raw::parse(text.into()).unwrap()
}

#[tokio::test]
async fn results_progress_logs_notifications_and_questions_show_no_secret() {
    let hub = hub_with(FakeSource::new("a").tool("leak", |_, run| async move {
        run.progress(Progress::new(1.0, None, Some(SECRET))).await;
        run.log(LogLevel::Info, Some(HEX), &raw(format!(r#""{SPELLED}""#))).await;
        run.other("notifications/x", raw(format!(r#"{{"{SPELLED}":1}}"#))).await;
        run.ask(vec![Question::elicit("k", raw(format!(r#"{{"message":"{SPELLED}?"}}"#)))]).await?;
        Ok(Outcome::Complete(text(&format!("it is {SECRET}"))))
    }));
    let driven = drive(hub.start(call(client_legacy(), "leak", json!({}))), [("k", json!({}))]).await;
    assert_eq!(
        driven.events,
        [
            format!(r#"progress {{"progress":1,"message":"{SHOWN}"}}"#),
            format!(r#"log {{"level":"info","logger":"{SHOWN}","data":"{SHOWN}"}}"#),
            format!(r#"notifications/x {{"{SHOWN}":1}}"#),
            format!(r#"ask k elicitation/create {{"message":"{SHOWN}?"}}"#),
        ]
    );
    assert_eq!(driven.complete()["content"][0]["text"], format!("it is {SHOWN}"));
}

#[tokio::test]
async fn errors_show_no_secret_in_message_hint_data_or_what_a_server_said() {
    let source = FakeSource::new("a")
        .tool("fail", |_, _| async {
            Err(Error::new(Kind::NotFound, format!("no {SECRET}"))
                .hint(format!("try {HEX}"))
                .data(raw(format!(r#"{{"{SPELLED}":"{HEX}"}}"#))))
        })
        .tool("forward", |_, _| async {
            Err(Error::forwarded(raw(format!(r#"{{"code":-1,"message":"{SPELLED}"}}"#))))
        });
    let hub = hub_with(source);
    let mut run = hub.start(call(client_legacy(), "fail", json!({})));
    let Some(Event::Done(Outcome::Failed(error))) = run.next().await else { panic!("no error") };
    assert_eq!(error.message(), format!("no {SHOWN}"));
    assert_eq!(error.next_step(), Some(&*format!("try {SHOWN}")));
    assert_eq!(error.detail().unwrap().as_str(), format!(r#"{{"{SHOWN}":"{SHOWN}"}}"#));

    let error = drive(hub.start(call(client_legacy(), "forward", json!({}))), []).await.failed();
    assert_eq!(error.as_forwarded().unwrap().as_str(), format!(r#"{{"code":-1,"message":"{SHOWN}"}}"#));
    assert_eq!(error.message(), SHOWN);

    let error = drive(hub.start(call(client_legacy(), HEX, json!({}))), []).await.failed();
    assert_eq!(error.message(), format!("unknown tool `{SHOWN}`"));
}

#[tokio::test]
async fn lists_show_no_secret() {
    let hub = hub_with(FakeSource::new("a").with(|listing| {
        listing.tools.push(Arc::new(tool_item(HEX)));
        listing.resources.push(resource_item(&format!("x:{HEX}")));
        listing.templates.push(template_item(&format!("{HEX}:{{x}}")));
        listing.prompts.push(prompt_item(HEX));
    }));
    for kind in ListKind::ALL {
        let page = list(&hub, kind, None).await.to_string();
        assert!(page.contains(SHOWN) && !page.contains(HEX), "{page}");
    }
}

#[tokio::test]
async fn questions_to_modern_clients_show_no_secret() {
    let source = FakeSource::new("a").tool("ask", |_, _| async {
        let params = format!(r#"{{"message":"{SPELLED}"}}"#);
        let requests = raw(format!(r#"{{"k":{{"method":"elicitation/create","params":{params}}}}}"#));
        Ok(Outcome::InputRequired { requests, state: Some("state".into()) })
    });
    let (requests, _) = first_round(&hub_with(source), call(client_modern(), "ask", json!({}))).await.asked();
    assert_eq!(requests["k"]["params"]["message"], SHOWN);

    let gate = FakeGate::new(|_| Judgement::by("k".into(), Verdict::Ask(format!("send {SECRET}"))));
    let hub = builder([Arc::new(FakeSource::new("a").echo("echo"))])
        .filter(Box::new(one("PASSWORD", SECRET)))
        .gate(Box::new(gate))
        .build()
        .unwrap();
    let (requests, _) = first_round(&hub, call(client_modern(), "echo", json!({}))).await.asked();
    let message = requests["k"]["params"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("send {SHOWN}")) && !message.contains("hunter2"), "{message}");
}
