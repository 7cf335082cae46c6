//! What goes on beside the calls of a connection: listening for changes.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::watch;
use toolgate_wire::{Edit, Era, Raw, method};

use super::Line;
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
        Era::Modern => listen(line, link, shared).await,
    }
}

/// Tells a server that was connected anew what is watched, and from then on what is or is not any more.
async fn subscribe(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    let mut changes = shared.watches.changes();
    loop {
        link.tell_watched(line, shared).await;
        changed(line, &mut changes).await;
    }
}

/// Waits until what is watched through a line may not be what it was.
async fn changed(line: &Line, changes: &mut watch::Receiver<()>) {
    tokio::select! {
        // Who tells of it is there for as long as the upstream.
        _ = changes.changed() => {}
        () = line.rewatch.notified() => {}
    }
}

/// Listens to a modern server: for changed lists, and for the resources that someone watches.
async fn listen(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    let mut changes = shared.watches.changes();
    let mut wait = SHORTEST;
    // What someone watches that the server was not listened to for, until it says that it is again.
    let mut missed = shared.wanted_by(line);
    loop {
        let watched = shared.wanted_by(line);
        let other = async {
            while shared.wanted_by(line) == watched {
                changed(line, &mut changes).await;
            }
        };
        let Some(filter) = filter(link, &watched) else {
            other.await;
            continue;
        };
        let params = Edit::new(&modern_params(Declared::default())).set("notifications", filter).finish();
        let begun = tokio::time::Instant::now();
        tokio::select! {
            // However it ended, it is begun anew, but not in a hurry.
            _ = link.wire.request(Ask::plain(method::SUBSCRIPTIONS_LISTEN, params, SILENCE)) => {
                missed = watched;
                wait = if begun.elapsed() > LONGEST { SHORTEST } else { (wait * 2).min(LONGEST) };
                tokio::time::sleep(wait).await;
            }
            () = other => {}
            never = heard_again(link, shared, &mut missed) => match never {},
        }
    }
}

/// Tells what may have changed unheard, once the server says that it is listened to.
async fn heard_again(link: &Link, shared: &Shared, missed: &mut BTreeSet<Arc<str>>) -> Infallible {
    link.wire.desk.acknowledged.notified().await;
    while let Some(uri) = missed.pop_first() {
        shared.missed(&uri);
        // They are passed on a few at a time.
        tokio::task::yield_now().await;
    }
    std::future::pending().await
}

/// What to listen for; none if there is nothing.
fn filter(link: &Link, watched: &BTreeSet<Arc<str>>) -> Option<Raw> {
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
    if !watched.is_empty() {
        let uris: Vec<Value> = watched.iter().map(|uri| Value::from(&**uri)).collect();
        filter.insert("resourceSubscriptions".into(), uris.into());
    }
    (!filter.is_empty()).then(|| Raw::of(&filter))
}
