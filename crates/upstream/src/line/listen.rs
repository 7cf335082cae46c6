//! Listening to a modern server: for changed lists, and for the resources that someone watches.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::sync::Notify;
use tokio::time::Instant;
use toolgate_wire::{Edit, Raw, method};

use super::Line;
use super::attend::changed;
use crate::link::{Ask, Declared, Link};
use crate::open::modern_params;
use crate::supervisor::Shared;

/// How long to wait before listening again, at first and at most.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(60);

/// A stream of changes may be silent for good.
const SILENCE: Duration = Duration::from_secs(365 * 24 * 3600);

type Watched = BTreeSet<Arc<str>>;

/// A request to be told of changes. It is under way for as long as the server tells of them.
struct Listen<'a> {
    watched: Watched,
    /// The server says that it is listened to.
    agreed: Arc<Notify>,
    asking: Pin<Box<dyn Future<Output = ()> + Send + 'a>>,
}

/// What became of a request to be told of changes.
enum Step {
    Agreed,
    Ended,
    /// Something else is watched by now.
    Outdated,
}

impl<'a> Listen<'a> {
    fn begin(link: &'a Link, filter: Raw, watched: Watched) -> Self {
        let params = Edit::new(&modern_params(Declared::default())).set("notifications", filter).finish();
        let agreed = Arc::new(Notify::new());
        let told = agreed.clone();
        let asking = Box::pin(async move {
            let ask = Ask::plain(method::SUBSCRIPTIONS_LISTEN, params, SILENCE);
            let finish = |params, id| {
                link.wire.desk.listens(id, told);
                params
            };
            // However it ended, it is begun anew.
            drop(link.wire.request_with(ask, finish).await);
        });
        Self { watched, agreed, asking }
    }

    /// What becomes of it first.
    async fn step(&mut self, other: impl Future<Output = ()>) -> Step {
        tokio::select! {
            () = &mut self.asking => Step::Ended,
            () = self.agreed.notified() => Step::Agreed,
            () = other => Step::Outdated,
        }
    }

    /// What may have changed unheard until the server agreed to it, beside what was heard until then.
    fn missed(&self, heard: Option<&Self>) -> impl Iterator<Item = &Arc<str>> {
        let is_heard = move |uri: &Arc<str>| heard.is_some_and(|heard| heard.watched.contains(uri));
        self.watched.iter().filter(move |uri| !is_heard(uri))
    }
}

/// Listens for as long as a connection lasts. What was listened to before goes on until the server agrees to the next:
/// whatever changes meanwhile is told.
pub(super) async fn listen(line: &Line, link: &Link, shared: &Shared) -> Infallible {
    let mut changes = shared.watches.changes();
    let mut wait = SHORTEST;
    let mut heard: Option<Listen<'_>> = None;
    loop {
        let watched = shared.wanted_by(line);
        let mut other = pin!(async {
            while shared.wanted_by(line) == watched {
                changed(line, &mut changes).await;
            }
        });
        let Some(filter) = filter(link, &watched) else {
            heard = None;
            other.await;
            continue;
        };
        let begun = Instant::now();
        let mut next = Listen::begin(link, filter, watched.clone());
        match beside(&mut heard, next.step(&mut other)).await {
            Step::Outdated => continue,
            Step::Agreed => {
                next.missed(heard.as_ref()).for_each(|uri| shared.missed(uri));
                tokio::select! {
                    () = &mut heard.insert(next).asking => heard = None,
                    () = other => continue,
                }
            }
            Step::Ended => {}
        }
        // It is begun anew, but not in a hurry.
        wait = if begun.elapsed() > LONGEST { SHORTEST } else { (wait * 2).min(LONGEST) };
        beside(&mut heard, tokio::time::sleep(wait)).await;
    }
}

/// Does something else while a server is listened to, for as long as it is.
async fn beside<T>(heard: &mut Option<Listen<'_>>, other: impl Future<Output = T>) -> T {
    let mut other = pin!(other);
    loop {
        let Some(listen) = heard else { return other.await };
        tokio::select! {
            done = &mut other => return done,
            () = &mut listen.asking => *heard = None,
        }
    }
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
