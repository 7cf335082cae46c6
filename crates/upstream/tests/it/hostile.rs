//! Servers that misbehave are contained, and named with what they did.

use serde_json::json;
use toolgate_core::{Kind, ListKind, Outcome, Target};
use toolgate_testkit::{Expect as _, client_legacy};
use toolgate_upstream::State;

use crate::fake::TOOLS;
use crate::rig::{Rig, text};

/// Calls a tool of a server that misbehaves in it, and says how that ended and what was noted.
async fn misbehave(rig: &Rig, tool: &str) -> (Result<String, Kind>, Vec<&'static str>) {
    let params =
        json!({"name": format!("fake_{tool}"), "arguments": {"b": ""}, "_meta": {"progressToken": 1}});
    let target = Target::Tool(format!("fake_{tool}").parse().unwrap());
    let driven = rig.send(client_legacy(), target, params).await;
    let outcome = if let Outcome::Complete(raw) = &driven.outcome {
        Ok(text(&raw.to().unwrap()).to_owned())
    } else {
        Err(driven.failed().kind())
    };
    (outcome, rig.notes())
}

#[tokio::test]
async fn what_a_server_does_wrong_in_a_call_is_noted_and_harms_nobody() {
    #[track_caller]
    fn check(
        seen: (Result<String, Kind>, Vec<&'static str>),
        outcome: Result<&str, Kind>,
        note: Option<&str>,
    ) {
        assert_eq!(seen.0, outcome.map(str::to_owned));
        assert!(note.is_none_or(|note| seen.1.contains(&note)), "{note:?} is not among {:?}", seen.1);
    }
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        check(misbehave(&rig, "garbage").await, Ok("after garbage"), Some("sent what is no message"));
        check(misbehave(&rig, "wrong_id").await, Ok("after wrong ids"), Some("answered what was not asked"));
        check(misbehave(&rig, "twice").await, Ok("first"), None);
        check(misbehave(&rig, "big").await, Err(Kind::Upstream), Some("sent a message that is too large"));
        check(misbehave(&rig, "deep").await, Err(Kind::Upstream), Some("sent what is no message"));
        check(misbehave(&rig, "flood").await, Ok("after the flood"), None);
        // It is still the same process.
        rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
        assert_eq!(rig.status().lost, 0);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_error_passes_as_it_is() {
    let rig = Rig::fake("legacy");
    let error = rig.call(client_legacy(), "fake_fail", json!({"b": ""}), None).await.failed();
    assert_eq!(error.as_forwarded().unwrap().as_str(), r#"{"code":-32099,"message":"no luck","x-more":1.5}"#);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let rig = Rig::fake("legacy dies");
    assert_eq!(rig.names(ListKind::Tools).await, Vec::<String>::new());
    let status = rig.status();
    assert_eq!(
        (status.state, status.error.as_deref()),
        (State::Failed, Some("its program ended with exit code 3"))
    );
    assert!(status.stderr.iter().any(|line| line == "fake server is up"), "{:?}", status.stderr);
    rig.upstream.stop().await;

    let missing = crate::rig::trial(json!({"command": "no-such-program"})).await;
    assert_eq!(missing.status.state, State::Failed);
    assert_eq!(
        missing.status.error.as_deref(),
        Some("there is no program `no-such-program` on the search path")
    );
}

#[tokio::test]
async fn a_server_that_talks_on_standard_output_is_understood_and_noted() {
    let rig = Rig::fake("legacy noisy");
    assert_eq!(rig.names(ListKind::Tools).await.len(), TOOLS);
    assert_eq!(rig.notes(), ["sent what is no message"]);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_list_without_end_ends() {
    let rig = Rig::fake("legacy endless-list");
    assert_eq!(rig.names(ListKind::Tools).await, Vec::<String>::new());
    assert_eq!(rig.notes(), ["never comes to the end of a list"]);
    assert_eq!(rig.names(ListKind::Prompts).await, ["fake_greet"], "the other lists are there");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn one_bad_server_delays_no_other() {
    let place = tempfile::tempdir().unwrap();
    let start = |name: &str, table: serde_json::Value| {
        let config: toolgate_upstream::UpstreamConfig = serde_json::from_value(table).unwrap();
        let fill = |text: &str| Ok(toolgate_host::Secret::new(text.to_owned()));
        let plan = toolgate_upstream::Plan::new(name, &config, fill).unwrap();
        std::sync::Arc::new(toolgate_upstream::Upstream::start(plan, crate::rig::surroundings(), None))
    };
    let bad = start("bad", json!({"command": "/bin/sleep", "args": ["600"], "prefix": false}));
    let good = start("good", crate::rig::fake("legacy", place.path()));
    let hub = toolgate_testkit::builder([bad.clone(), good.clone()]).build().unwrap();
    // The call goes through although the other server has not said a word.
    let mut listing = toolgate_core::Source::listing(
        &*good,
        &toolgate_core::Scope { principal: toolgate_core::Principal::local().id.clone() },
    );
    listing.wait_for(|listing| !listing.tools.is_empty()).await.unwrap();
    let run = hub.start(toolgate_testkit::call(client_legacy(), "good_echo", json!({"b": "x"})));
    toolgate_testkit::drive(run, []).await.complete();
    assert_eq!(bad.status().state, State::Connecting);
    bad.stop().await;
    good.stop().await;
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_alone_for_a_while() {
    let rig = Rig::shaped("legacy", json!({"timeout": 20}));
    for _ in 0..5 {
        let error = rig.call(client_legacy(), "fake_hang", json!({"b": ""}), None).await.failed();
        assert_eq!(error.kind(), Kind::Timeout);
    }
    let error = rig.call(client_legacy(), "fake_hang", json!({"b": ""}), None).await.failed();
    assert_eq!(error.kind(), Kind::ConnectionFailed);
    assert!(error.message().contains("5 times in a row"), "{error}");
    rig.upstream.stop().await;
}
