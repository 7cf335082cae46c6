//! The catalog, and trying a tool.

use serde_json::json;
use toolgate_core::{Error, Kind, Verdict};
use toolgate_testkit::{FakeFilter, FakeGate};

use crate::stage::Stage;

#[tokio::test]
async fn a_tool_is_listed_with_what_the_policy_makes_of_it() {
    let stage = Stage::new();
    let user = stage.admin().await;
    let list = stage.get(&user, "/tools?principal=ada").await;
    let tool = &list["items"][0];
    assert_eq!(
        (&tool["name"], &tool["source"], &tool["gives"]),
        (&json!("echo"), &json!("desk"), &json!("allow"))
    );
    let one = stage.get(&user, "/tools/echo?principal=ada").await;
    assert_eq!(one["policy"]["principal"], "ada");
    assert!(one["definition"]["inputSchema"].is_object(), "{one}");
    assert_eq!(stage.ask("GET", "/tools/none").by(&user).send().await.status, 404);
}

#[tokio::test]
async fn a_tool_is_tried_as_oneself_and_under_the_policy() {
    let gate = FakeGate::new(|judged: toolgate_core::Judged<'_>| {
        if judged.call.principal.id.as_str() != "admin:admin0" {
            return Verdict::Deny(Error::new(
                Kind::Internal,
                format!("who is {}?", judged.call.principal.id),
            ));
        }
        match judged.call.params.get("arguments").is_some_and(|args| args.get("bad").is_some()) {
            true => Verdict::Deny(Error::new(Kind::Denied, "not this").hint("another")),
            false => Verdict::Pass,
        }
    });
    let stage = Stage::with(|hub| hub.gate(Box::new(gate)));
    let user = stage.admin().await;
    let tried = stage.post(&user, "/tools/echo/call", &json!({"arguments": {"a": 1}})).await;
    let tried = tried.json();
    assert_eq!(tried["outcome"], "complete", "{tried}");
    assert_eq!(tried["result"]["content"][0]["text"], "it was called");
    let denied = stage.post(&user, "/tools/echo/call", &json!({"arguments": {"bad": 1}})).await.json();
    assert_eq!((&denied["outcome"], &denied["hint"]), (&json!("denied"), &json!("another")), "{denied}");
    assert!(denied["error"].as_str().unwrap().contains("not this"), "{denied}");
    let unknown = stage.post(&user, "/tools/none/call", &json!({})).await.json();
    assert!(unknown["error"].as_str().unwrap().contains("unknown tool"), "{unknown}");
}

#[tokio::test]
async fn what_filters_hide_is_hidden_here_too() {
    let stage = Stage::with(|hub| hub.filter(Box::new(FakeFilter::new("h.example", "[HIDDEN]"))));
    let user = stage.admin().await;
    let list = stage.get(&user, "/upstreams").await;
    assert_eq!(list["items"][0]["reach"], "https://[HIDDEN]/mcp");
}

#[tokio::test]
async fn a_token_is_shown_once_though_filters_hide_it() {
    let stage = Stage::with(|hub| hub.filter(Box::new(FakeFilter::new("tg_one_secret", "[HIDDEN]"))));
    let user = stage.admin().await;
    let made = stage.post(&user, "/tokens", &json!({"principal": "ada"})).await;
    assert_eq!((made.status, &made.json()["token"]), (201, &json!("tg_one_secret")));
}
