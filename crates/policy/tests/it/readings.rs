//! What rules see of a call where it could be taken in more ways than one.

use std::sync::Arc;

use serde_json::json;
use toolgate_core::{Call, Outcome, Principal, Target};
use toolgate_testkit::{FakeSource, client_legacy};
use toolgate_wire::Raw;

use crate::support::{call_of, fate, files, hub_with, policy};

#[tokio::test]
async fn a_resource_is_judged_in_every_spelling_that_a_source_may_understand() {
    let text = r#"
        [[policy.rules]]
        name = "etc"
        then = "deny"
        targets = ["resource:file:///etc/*"]
        [[policy.rules]]
        name = "key"
        then = "deny"
        targets = ["resource:file:///srv/key"]
        [principals.alice]
        may_use = ["resource:file:///docs/*"]
    "#;
    let source = files();
    let (hub, _) = hub_with(&source, policy(text));
    for (principal, uri, expect) in [
        ("alice", "file:///docs/a b?c#d", None),
        ("alice", "file:///docs/.\t./.\t./etc/passwd", Some("among what `alice` may use")),
        ("alice", "file:///docs/../srv/x?/../../docs/x", Some("among what `alice` may use")),
        ("alice", "file:///docs/..\r\n/srv/x", Some("among what `alice` may use")),
        ("bob", "file:///docs/.\t./.\t./etc/passwd", Some("`etc` denies")),
        ("bob", "file:///e\ttc/passwd", Some("`etc` denies")),
        ("bob", "file:///\u{0}etc/passwd", Some("`etc` denies")),
        ("bob", "file:///srv/key?x", Some("`key` denies")),
        ("bob", "file:///srv/key%23x", Some("`key` denies")),
        ("bob", "file:///srv/key ", Some("`key` denies")),
        ("bob", "file:///srv/keys", None),
    ] {
        let before = source.calls();
        for kind in ["resource", "subscription"] {
            let call = call_of(Principal::named(principal), &format!("{kind}:{uri}"), &json!({}));
            let fate = fate(&hub, call).await;
            let as_expected = expect.map_or(fate == "allow", |part| fate.contains(part));
            assert!(as_expected, "{principal} {kind} {uri:?}: {fate}");
        }
        assert_eq!(source.calls() == before, expect.is_some(), "{principal} {uri:?}");
    }
}

#[tokio::test]
async fn a_condition_sees_the_params_of_a_method_that_only_another_server_knows() {
    let text = r#"
        [[policy.rules]]
        name = "no-secrets"
        then = "deny"
        targets = ["method:x/*"]
        when = 'has(args.path) && args.path.startsWith("secret/") || has(args._meta)'
    "#;
    let source = FakeSource::new("files").foreign(&["com.example/x"]);
    let source = Arc::new(source.otherwise(|_, _| async { Ok(Outcome::Complete(Raw::literal("{}"))) }));
    let (hub, _) = hub_with(&source, policy(text));
    let denied = "Denied: the rule `no-secrets` denies it";
    for (params, expect) in [
        (json!({}), "allow"),
        (json!({"path": "notes", "_meta": {"progressToken": 1}}), "allow"),
        (json!({"path": "secret/key"}), denied),
        (json!({"path": "secret/key", "arguments": {"path": "notes"}}), denied),
        (json!({"arguments": {"path": "secret/key"}}), "allow"),
    ] {
        let target = Target::Method("x/do".into());
        let mut call = Call::new(Principal::named("alice"), client_legacy(), target, Raw::of(&params));
        call.arguments = call.params.get("arguments");
        assert_eq!(fate(&hub, call).await, expect, "{params}");
    }
}
