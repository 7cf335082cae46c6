//! Methods that nobody here knows.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolgate_core::{Call, Error, Hub, Kind, Kinds, ListKind, Outcome, Principal, Target, Verdict};
use toolgate_testkit::{
    Expect, FakeGate, FakeSource, builder, client_legacy, drive, hub, prompt_item, resource_item, text,
    tool_item,
};
use toolgate_wire::Raw;

/// A source that answers everything with its name and what it was sent.
fn source(name: &'static str) -> FakeSource {
    FakeSource::new(name).otherwise(move |permitted, _| {
        let said = format!("{name} {}", permitted.params().as_str());
        async move { Ok(Outcome::Complete(text(&said))) }
    })
}

fn calling(method: &str, params: &str) -> Call {
    let params = Raw::parse(params.to_owned().into()).unwrap();
    Call::new(Principal::local(), client_legacy(), Target::Method(method.into()), params)
}

/// Who answers, and what was sent.
async fn answered(hub: &Hub, method: &str, params: &str) -> Result<String, Kind> {
    let outcome = drive(hub.start(calling(method, params)), []).await.outcome;
    if let Outcome::Failed(error) = outcome {
        return Err(error.kind());
    }
    Ok(outcome.complete()["content"][0]["text"].as_str().unwrap().to_owned())
}

fn scene() -> Hub {
    let one = source("one").foreign(&["com.example/widgets", "same"]).with(|listing| {
        listing.tools.push(Arc::new(tool_item("one_tool")));
        listing.resources.push(resource_item("one:///a"));
    });
    let two = source("two").foreign(&["other", "same"]).with(|listing| {
        listing.prompts.push(prompt_item("two_prompt"));
    });
    let ours = source("ours").with(|listing| listing.tools.push(Arc::new(tool_item("our_tool"))));
    hub([Arc::new(ours), Arc::new(one), Arc::new(two)])
}

#[tokio::test]
async fn one_goes_to_the_source_of_what_it_names_or_to_the_only_one_that_declares_it() {
    let hub = scene();
    for (method, params, expect) in [
        ("x/rate", r#"{"name":"one_tool"}"#, Ok("one")),
        ("x/rate", r#"{"name":"two_prompt"}"#, Ok("two")),
        ("x/watch", r#"{"uri":"one:///a"}"#, Ok("one")),
        // What is named comes before what is declared.
        ("other/rate", r#"{"name":"one_tool"}"#, Ok("one")),
        ("widgets/list", "{}", Ok("one")),
        ("com.example/widgets/list", "{}", Ok("one")),
        ("other/x", r#"{"name":"none","uri":"none"}"#, Ok("two")),
        ("same/x", "{}", Err(Kind::UnknownMethod)),
        ("x/rate", r#"{"name":"our_tool"}"#, Err(Kind::UnknownMethod)),
        ("x/rate", r#"{"name":1}"#, Err(Kind::UnknownMethod)),
        ("x/rate", "{}", Err(Kind::UnknownMethod)),
        // Words of the protocol are never passed on without being understood.
        ("tools/run", r#"{"name":"one_tool"}"#, Err(Kind::UnknownMethod)),
        ("tasks/list", "{}", Err(Kind::UnknownMethod)),
    ] {
        let answer = answered(&hub, method, params).await;
        let expect = expect.map(|name| format!("{name} {params}"));
        assert_eq!(answer, expect, "{method} {params}");
        assert_eq!(hub.finds(&calling(method, params)), expect.is_ok(), "{method} {params}");
    }
    assert!(hub.passes_methods());
}

#[tokio::test]
async fn it_passes_as_it_was_written() {
    let exact = r#"{ "n":[9007199254740993,1.0,1e400], "é":null ,"name":"one_tool"}"#;
    assert_eq!(answered(&scene(), "x/y", exact).await.unwrap(), format!("one {exact}"));
}

#[tokio::test]
async fn without_other_servers_none_passes() {
    let hub = hub([Arc::new(source("ours"))]);
    assert!(!hub.passes_methods());
    assert_eq!(answered(&hub, "widgets/list", "{}").await, Err(Kind::UnknownMethod));
}

#[tokio::test]
async fn a_rule_may_deny_it_and_what_is_hidden_is_not_named() {
    let source = source("one").foreign(&["x"]).with(|listing| {
        listing.tools.push(Arc::new(tool_item("hidden")));
    });
    let source = Arc::new(source);
    let deny = FakeGate::new(|judged| match (judged.call.target.name(), judged.origin) {
        ("x/denied", Some(origin)) if origin.source.as_str() == "one" => {
            Verdict::Deny(Error::new(Kind::Denied, "no"))
        }
        _ => Verdict::Pass,
    });
    let hide = FakeGate::showing(|_, _| false);
    let hub = builder([source.clone()]).gate(Box::new(deny)).gate(Box::new(hide)).build().unwrap();
    assert_eq!(answered(&hub, "x/denied", "{}").await, Err(Kind::Denied));
    assert_eq!(answered(&hub, "y/z", r#"{"name":"hidden"}"#).await, Err(Kind::UnknownMethod));
    assert_eq!(source.calls(), 0);
    answered(&hub, "x/y", "{}").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_a_source_that_is_still_learning() {
    let source = Arc::new(source("one").foreign(&[]).pending(Kinds::only(ListKind::Tools)));
    let hub = hub([source.clone()]);
    let learns = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        source.change(|listing| {
            listing.tools.push(Arc::new(tool_item("late")));
            listing.pending = Kinds::NONE;
        });
    };
    let params = json!({"name": "late"}).to_string();
    let (answer, ()) = tokio::join!(answered(&hub, "x/y", &params), learns);
    assert!(answer.unwrap().starts_with("one "));
}
