//! What a client calls itself is kept as it may be shown, in either era.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolgate_core::{Entry, Recorder, Result};
use toolgate_testkit::{FakeFilter, FakeSource, builder};

use crate::scene::runtime;
use crate::talk::Talk;

/// Notes which clients are recorded.
#[derive(Default)]
struct Noting(Mutex<Vec<String>>);

impl Recorder for Noting {
    fn ready(&self) -> Result<()> {
        Ok(())
    }

    fn wants_arguments(&self) -> bool {
        false
    }

    fn record(&self, entry: &Entry<'_>) {
        self.0.lock().unwrap().extend(entry.client.name.as_ref().map(ToString::to_string));
    }
}

/// Makes a call in one era as this client; it is recorded, and shows among those that are connected, under this name.
#[track_caller]
fn check(modern: bool, info: &Value, expect: &str) {
    let noting = Arc::new(Noting::default());
    let hub = builder([Arc::new(FakeSource::new("a").echo("echo"))])
        .filter(Box::new(FakeFilter::new("hunter22", "[REDACTED]")))
        .recorder(noting.clone());
    let connected = runtime().block_on(async {
        let hub = hub.build().unwrap();
        let mut talk = Talk::begin(hub.clone()).await;
        let mut params = json!({"name": "echo", "arguments": {}});
        if modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": info,
            });
        } else {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
            talk.ask("initialize", hello).await;
        }
        talk.ask("tools/call", params).await;
        hub.connections()[0].client.as_ref().map(ToString::to_string)
    });
    assert_eq!(connected.as_deref(), Some(expect), "connected, modern: {modern}");
    assert_eq!(*noting.0.lock().unwrap(), [expect], "recorded, modern: {modern}");
}

#[test]
fn a_name_is_kept_without_secrets() {
    for modern in [false, true] {
        check(modern, &json!({"name": "agent", "version": "2"}), "agent 2");
        check(modern, &json!({"name": "of hunter22", "version": "hunter22"}), "of [REDACTED] [REDACTED]");
        // Only the first 64 characters are kept, which the secret begins within.
        let name = format!("{}hunter22", "x".repeat(60));
        check(modern, &json!({"name": name, "version": ""}), &format!("{}[RED", "x".repeat(60)));
    }
}
