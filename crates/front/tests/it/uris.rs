//! URIs that requests name, in either era.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::Outcome;
use toolgate_testkit::{FakeSource, hub, resource_item, template_item};
use toolgate_wire::Raw;

use crate::scene::runtime;
use crate::talk::Talk;

/// A source that knows every resource and some methods, and answers everything.
fn source() -> Arc<FakeSource> {
    let source = FakeSource::new("a").otherwise(|_, _| async { Ok(Outcome::Complete(Raw::literal("{}"))) });
    let source = source.foreign(&["com.example/odd"]).with(|listing| {
        listing.resources = vec![resource_item("a://with a space")];
        listing.templates = vec![template_item("file:///{+path}")];
    });
    Arc::new(source)
}

/// Every request that names a URI; the modern ones carry what their era wants.
fn requests(uri: &str) -> [(&'static str, Value, bool); 7] {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    });
    let reference = json!({"type": "ref/resource", "uri": uri});
    let wanted = json!({"resourceSubscriptions": ["a://with a space", uri]});
    [
        ("resources/read", json!({"uri": uri}), false),
        ("resources/subscribe", json!({"uri": uri}), false),
        ("resources/unsubscribe", json!({"uri": uri}), false),
        ("completion/complete", json!({"ref": reference, "argument": {"name": "path", "value": ""}}), false),
        ("odd/read", json!({"uri": uri}), false),
        ("resources/read", json!({"uri": uri, "_meta": meta}), true),
        ("subscriptions/listen", json!({"notifications": wanted, "_meta": meta}), true),
    ]
}

#[test]
fn a_uri_that_is_read_in_two_ways_or_takes_long_to_read_is_refused() {
    runtime().block_on(async {
        let source = source();
        let hub = hub([source.clone()]);
        let mut legacy = Talk::begin(hub.clone()).await;
        legacy.greet("2025-11-25").await;
        let mut modern = Talk::begin(hub).await;
        let long = format!("file:///{}", "a".repeat(8 * 1024));
        for (uri, expect) in [
            ("file:///docs/.\t./.\t./etc/passwd", "holds a control character"),
            ("file:///e\ntc/passwd", "holds a control character"),
            ("file:///etc/passwd\r", "holds a control character"),
            ("file:///etc/passwd\u{0}", "holds a control character"),
            ("\u{7f}file:///etc/passwd", "holds a control character"),
            (&long, "is longer than 8192 bytes"),
        ] {
            for (method, params, is_modern) in requests(uri) {
                let talk = if is_modern { &mut modern } else { &mut legacy };
                let error = talk.refused(method, params).await;
                assert_eq!(error["code"], -32602, "{method} {uri:?}: {error}");
                assert!(error["message"].as_str().unwrap().contains(expect), "{method} {uri:?}: {error}");
            }
        }
        assert_eq!(source.calls(), 0);
        legacy.end().await;
        modern.end().await;
    });
}

#[test]
fn a_uri_with_a_space_or_of_just_the_longest_size_is_not_refused() {
    runtime().block_on(async {
        let source = source();
        let mut talk = Talk::begin(hub([source.clone()])).await;
        talk.greet("2025-11-25").await;
        let longest = format!("file:///{}", "a".repeat(8 * 1024 - "file:///".len()));
        for uri in ["a://with a space", "file:///é", "file:///%09", &longest] {
            talk.ask("resources/read", json!({"uri": uri})).await;
        }
        assert_eq!(source.calls(), 4);
        talk.end().await;
    });
}
