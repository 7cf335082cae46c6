//! What a hub tells commands of itself passes the filters.

use std::sync::Arc;

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolgate_core::{Call, Principal, Target};
use toolgate_front::control::{About, Owned, Terms, status};
use toolgate_testkit::{FakeFilter, FakeSource, builder, client_legacy, resource_item};
use toolgate_wire::Raw;

use crate::scene::PATIENCE;

#[tokio::test]
async fn troubles_and_what_runs_pass_the_filters() {
    // It is cut where the secret stands.
    let uri = format!("x:{}hunter2", "-".repeat(123));
    let item = resource_item(&uri);
    let source = FakeSource::new("fake")
        .with(move |listing| listing.resources = vec![item])
        .otherwise(|_, _| std::future::pending());
    let hub = builder([Arc::new(source)])
        .filter(Box::new(FakeFilter::new("hunter2", "[REDACTED]")))
        .build()
        .unwrap();
    hub.set_trouble("store", Some("it knows no hunter2".into()));
    let params = Raw::of(&serde_json::json!({"uri": uri}));
    let target = Target::Resource(uri.as_str().into());
    let _run = hub.start(Call::new(Principal::local(), client_legacy(), target, params));

    let folder = tempfile::tempdir().unwrap();
    let owned = Owned::claim(folder.path()).unwrap().expect("nobody else");
    let about = About {
        version: "1",
        transport: "stdio",
        address: None,
        started_ms: 0,
        terms: Arc::new(Terms::default),
        reload: None,
    };
    let stop = CancellationToken::new();
    hub.tasks().spawn(owned.serve(hub.clone(), about, stop.clone()));
    let told = timeout(PATIENCE, status(folder.path())).await.expect("an answer").unwrap().expect("a hub");
    stop.cancel();
    assert_eq!(told.troubles["store"], "it knows no [REDACTED]");
    assert_eq!(told.runs.len(), 1);
    assert!(told.runs[0].name.ends_with("--[RE"), "{}", told.runs[0].name);
}
