//! What goes on beside the calls of a connection: listening for changes.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use toolgate_wire::{Edit, Era, Raw, method};

use super::{Line, lock};
use crate::link::{Ask, Declared, Link};
use crate::open::modern_params;
use crate::supervisor::Shared;

/// How long to wait before listening again, at first and at most.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// A stream of changes may be silent for good.
const SILENCE: Duration = Duration::from_secs(365 * 24 * 3600);

/// Attends to a connection for as long as it lasts.
pub(super) async fn attend(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    match link.era() {
        Era::Legacy => subscribe(line, link, shared).await,
        Era::Modern => listen(line, link).await,
    }
}

/// Tells a server that was connected anew what is watched, and from then on what no longer is.
async fn subscribe(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    let watched: Vec<Arc<str>> = {
        let mut watched = lock(&line.watched);
        // It was never asked to tell of these.
        drop(watched.released());
        watched.uris().cloned().collect()
    };
    for uri in watched {
        tell(line, link, shared, &uri, true).await;
    }
    loop {
        line.rewatch.notified().await;
        let released = lock(&line.watched).released();
        for uri in released {
            tell(line, link, shared, &uri, false).await;
        }
    }
}

/// Tells a server that a resource is watched, or is not, if that is still so when nobody else tells it otherwise.
async fn tell(line: &Line, link: &Link, shared: &Shared, uri: &Arc<str>, on: bool) {
    let _turn = line.turn_to_watch().await;
    let is_watched = lock(&line.watched).has(uri);
    if is_watched == on {
        watch(link, shared, uri, on).await;
    }
}

async fn watch(link: &Link, shared: &Shared, uri: &str, on: bool) {
    let method = if on { method::RESOURCES_SUBSCRIBE } else { method::RESOURCES_UNSUBSCRIBE };
    let params = Raw::trusted(format!(r#"{{"uri":{}}}"#, Raw::string(uri).as_str()).into());
    if let Err(fault) = link.wire.request(Ask::plain(method, params, shared.plan.timeout)).await {
        let what = if on { "does not let a resource be watched again" } else { "does not cease to watch" };
        shared.reports.journal.note(what, &fault.words());
    }
}

/// Listens to a modern server: for changed lists, and for the resources that someone watches.
async fn listen(line: &Line, link: &Link) -> Infallible {
    let mut wait = SHORTEST;
    loop {
        let Some(filter) = filter(line, link) else {
            line.rewatch.notified().await;
            continue;
        };
        let params = Edit::new(&modern_params(Declared::default())).set("notifications", filter).finish();
        let begun = tokio::time::Instant::now();
        tokio::select! {
            // However it ended, it is begun anew, but not in a hurry.
            _ = link.wire.request(Ask::plain(method::SUBSCRIPTIONS_LISTEN, params, SILENCE)) => {
                wait = if begun.elapsed() > LONGEST { SHORTEST } else { (wait * 2).min(LONGEST) };
                tokio::time::sleep(wait).await;
            }
            () = line.rewatch.notified() => {}
        }
    }
}

/// What to listen for; none if there is nothing.
fn filter(line: &Line, link: &Link) -> Option<Raw> {
    let mut filter = Map::new();
    for (capability, key) in [
        ("tools", "toolsListChanged"),
        ("prompts", "promptsListChanged"),
        ("resources", "resourcesListChanged"),
    ] {
        if link.facts.has(&[capability, "listChanged"]) {
            filter.insert(key.into(), Value::Bool(true));
        }
    }
    let watched: Vec<Value> = lock(&line.watched).uris().map(|uri| Value::from(&**uri)).collect();
    if !watched.is_empty() {
        filter.insert("resourceSubscriptions".into(), watched.into());
    }
    (!filter.is_empty()).then(|| Raw::of(&filter))
}
