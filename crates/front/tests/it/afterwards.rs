//! What a server says after the call that it is about, to the client that made it.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::Outcome;
use toolgate_testkit::{FakeSource, hub, text};
use toolgate_wire::Raw;

use crate::scene::runtime;
use crate::talk::Talk;

#[test]
fn a_message_after_its_call_reaches_a_client_that_asked_for_its_level() {
    runtime().block_on(async {
        let source = FakeSource::new("a").tool("log", |_, run| async move {
            let afterwards = run.afterwards().expect("a lasting connection");
            for level in ["info", "error"] {
                let params = json!({"level": level, "data": level});
                afterwards.tell("notifications/message", Raw::of(&params));
            }
            Ok(Outcome::Complete(text("logged")))
        });
        let hub = hub([Arc::new(source)]);
        for (level, first) in [("debug", "info"), ("warning", "error")] {
            let mut talk = Talk::begin(hub.clone()).await;
            talk.greet("2025-11-25").await;
            talk.ask("logging/setLevel", json!({"level": level})).await;
            talk.ask("tools/call", json!({"name": "log"})).await;
            assert_eq!(talk.told("notifications/message", |_| true).await["data"], first);
            talk.end().await;
        }
    });
}

const COMPLETE: &str = "notifications/elicitation/complete";

#[test]
fn that_a_visit_is_over_reaches_the_client_that_was_sent_where_its_revision_has_a_word_for_it() {
    runtime().block_on(async {
        let source = FakeSource::new("a").tool("send", |_, run| async move {
            let afterwards = run.afterwards().expect("a lasting connection");
            afterwards.tell(COMPLETE, Raw::literal(r#"{"elicitationId":"e-1","x":1.0}"#));
            afterwards.tell("notifications/vendor/x", Raw::literal("{}"));
            Ok(Outcome::Complete(text("sent")))
        });
        let hub = hub([Arc::new(source)]);
        let mut bystander = Talk::begin(hub.clone()).await;
        bystander.greet("2025-11-25").await;
        for (version, knows) in [("2025-11-25", true), ("2025-06-18", false)] {
            let mut talk = Talk::begin(hub.clone()).await;
            talk.greet(version).await;
            talk.ask("tools/call", json!({"name": "send"})).await;
            talk.told("notifications/vendor/x", |_| true).await;
            assert_eq!(talk.heard(COMPLETE), knows, "{version}");
            talk.end().await;
        }
        bystander.ask("ping", json!({})).await;
        assert!(!bystander.heard(COMPLETE) && !bystander.heard("notifications/vendor/x"));
        bystander.end().await;
    });
}
