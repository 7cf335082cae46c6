//! That resources have changed, passed on for as long as somebody watches them, and no faster than all can follow: a
//! burst too large makes every client look at all that it watches, wherever that is.

use std::collections::BTreeMap;
use std::iter::once;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, broadcast};
use tokio::time::Instant;
use toolgate_core::Update;
use toolgate_wire::Raw;

use crate::watches::Watches;

/// How many may wait to be passed on; in a larger burst all that are watched count as changed.
const ROOM: usize = 64;

/// How many are passed on at once, and within this time; what is more waits until it is over.
const AT_ONCE: usize = 32;
const WITHIN: Duration = Duration::from_secs(1);

/// Of how many resources one may be a part that are looked at.
const MOST_WHOLES: usize = 64;

/// How long to wait between the pieces of what had to wait.
const BREATH: Duration = Duration::from_millis(20);

/// What the server of one upstream says of changed resources.
pub(crate) struct Updates {
    watches: Watches,
    told: broadcast::Sender<Update>,
    pace: Mutex<Pace>,
    /// Something has to wait.
    waits: Notify,
}

/// How many were passed on lately, and what has to wait: of each resource the last word.
#[derive(Default)]
struct Pace {
    told: usize,
    since: Option<Instant>,
    waiting: BTreeMap<Arc<str>, Update>,
}

impl Pace {
    fn allows_one(&mut self) -> bool {
        let now = Instant::now();
        if self.since.is_none_or(|since| now - since >= WITHIN) {
            (self.told, self.since) = (0, Some(now));
        }
        self.told += 1;
        self.told <= AT_ONCE
    }
}

impl Updates {
    pub(crate) fn new(watches: Watches) -> Arc<Self> {
        let told = broadcast::channel(ROOM).0;
        Arc::new(Self { watches, told, pace: Mutex::default(), waits: Notify::new() })
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Update> {
        self.told.subscribe()
    }

    /// A resource has changed, or may have; `params`: what else is said of it. Servers may tell of a part of what was
    /// asked for: then all that is watched and that it is a part of has changed. What is said of the part stays with us,
    /// for rules may keep it from who watches the whole.
    pub(crate) fn tell(&self, uri: &str, params: impl FnOnce() -> Option<Raw>) {
        let mut watched: Vec<&str> =
            once(uri).chain(wholes(uri)).filter(|uri| self.is_watched(uri)).collect();
        watched.dedup();
        let mut params = Some(params);
        for whole in watched {
            let params = params.take_if(|_| whole == uri).and_then(|params| params());
            self.pace(Update { uri: whole.into(), params });
        }
    }

    fn pace(&self, update: Update) {
        let mut pace = self.lock();
        if pace.allows_one() {
            self.send(update);
        } else {
            pace.waiting.insert(update.uri.clone(), update);
            self.waits.notify_one();
        }
    }

    /// Passes on what has to wait, when it need not any more.
    pub(crate) async fn pass_on(self: Arc<Self>) {
        loop {
            self.waits.notified().await;
            let since = self.lock().since.unwrap_or_else(Instant::now);
            tokio::time::sleep_until(since + WITHIN).await;
            for (count, update) in self.take_waiting().into_values().enumerate() {
                if count > 0 && count.is_multiple_of(AT_ONCE) {
                    tokio::time::sleep(BREATH).await;
                }
                if self.is_watched(&update.uri) {
                    self.send(update);
                }
            }
        }
    }

    /// What waits; it counts among what is passed on from now on.
    fn take_waiting(&self) -> BTreeMap<Arc<str>, Update> {
        let mut pace = self.lock();
        let waiting = std::mem::take(&mut pace.waiting);
        (pace.told, pace.since) = (waiting.len(), Some(Instant::now()));
        waiting
    }

    fn is_watched(&self, uri: &str) -> bool {
        self.watches.any(uri, |_| true)
    }

    fn send(&self, update: Update) {
        // Without listeners there is nobody to tell.
        drop(self.told.send(update));
    }

    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a resource may be a part of, by its URI: the nearest first.
fn wholes(uri: &str) -> impl Iterator<Item = &str> {
    let ends = uri.rmatch_indices(['/', '?', '#']).flat_map(|(at, end)| {
        let folder = (end == "/" && at + 1 < uri.len()).then(|| &uri[..=at]);
        folder.into_iter().chain([&uri[..at]])
    });
    ends.take(MOST_WHOLES)
}

#[cfg(test)]
mod tests {
    use toolgate_core::Principal;

    use super::*;
    use crate::link::Declared;
    use crate::watches::Watcher;

    /// Somebody who watches so many resources.
    fn watched(count: usize) -> Arc<Updates> {
        let watches = Watches::default();
        let principal = Principal::local().id.clone();
        let watcher = Watcher { principal, connection: None, declared: Declared::default() };
        for number in 0..count {
            watches.begin(&uri(number).into(), &watcher);
        }
        Updates::new(watches)
    }

    fn uri(number: usize) -> String {
        format!("a://{number}")
    }

    fn all(updates: &mut broadcast::Receiver<Update>) -> Vec<String> {
        std::iter::from_fn(|| match updates.try_recv() {
            Ok(update) => Some(update.uri.to_string()),
            Err(broadcast::error::TryRecvError::Lagged(count)) => panic!("{count} are lost"),
            Err(_) => None,
        })
        .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_watches_is_not_passed_on() {
        let updates = watched(1);
        let mut told = updates.subscribe();
        (1..1000).for_each(|number| updates.tell(&uri(number), || panic!("it is not even read")));
        updates.tell(&uri(0), || None);
        (1..1000).for_each(|number| updates.tell(&uri(number), || None));
        assert_eq!(all(&mut told), [uri(0)]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_watched_resources_consist_of_changes_them() {
        #[track_caller]
        fn check(updated: &str, expect: &[&str]) {
            let updates = watched(12);
            let mut told = updates.subscribe();
            updates.tell(updated, || Some(Raw::string(updated)));
            let told: Vec<Update> = std::iter::from_fn(|| told.try_recv().ok()).collect();
            assert_eq!(told.iter().map(|update| &*update.uri).collect::<Vec<_>>(), expect, "{updated}");
            assert!(
                told.iter().all(|update| update.params.is_some() == (*update.uri == *updated)),
                "{updated}"
            );
        }
        check("a://1", &["a://1"]);
        check("a://1/", &["a://1"]);
        check("a://1/b.md", &["a://1"]);
        check("a://1/b/c?d#e", &["a://1"]);
        check("a://1#b", &["a://1"]);
        check("a://11", &["a://11"]);
        check("a://1b", &[]);
        check("a://", &[]);
        check(&format!("a://1{}", "/".repeat(10 * MOST_WHOLES)), &[]);
    }

    #[test]
    fn folders_are_known_with_their_slash_and_without() {
        assert_eq!(
            wholes("f:///a/b/?q").collect::<Vec<_>>(),
            [
                "f:///a/b/",
                "f:///a/b/",
                "f:///a/b",
                "f:///a/",
                "f:///a",
                "f:///",
                "f://",
                "f://",
                "f:/",
                "f:/",
                "f:"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn all_of_a_burst_are_told_and_none_is_lost() {
        let updates = watched(500);
        let mut told = updates.subscribe();
        let tasks = toolgate_host::Tasks::new();
        tasks.spawn(updates.clone().pass_on());
        (0..3).for_each(|_| (0..500).for_each(|number| updates.tell(&uri(number), || None)));
        let first = all(&mut told);
        assert_eq!(first, (0..AT_ONCE).map(uri).collect::<Vec<_>>());
        tokio::time::sleep(WITHIN / 2).await;
        assert!(all(&mut told).is_empty(), "the rest waits");
        let mut rest = Vec::new();
        for _ in 0..100 {
            tokio::time::sleep(BREATH).await;
            rest.extend(all(&mut told));
        }
        rest.sort();
        let mut expect: Vec<String> = (0..500).map(uri).collect();
        expect.sort();
        assert_eq!(rest, expect, "each is told once more");
        tasks.shutdown(Duration::ZERO).await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_changes_all_the_time_is_told_of_with_its_last_words_and_keeps_others_a_second_at_most()
    {
        let updates = watched(2);
        let mut told = updates.subscribe();
        let tasks = toolgate_host::Tasks::new();
        tasks.spawn(updates.clone().pass_on());
        (0..1000).for_each(|_| updates.tell(&uri(0), || None));
        updates.tell(&uri(0), || Some(Raw::literal(r#"{"uri":"a://0","x":1}"#)));
        updates.tell(&uri(1), || None);
        all(&mut told);
        tokio::time::sleep(WITHIN).await;
        tokio::task::yield_now().await;
        let [first, second] = [told.try_recv().unwrap(), told.try_recv().unwrap()];
        assert_eq!((&*first.uri, first.params.is_some(), &*second.uri), ("a://0", true, "a://1"));
        assert!(told.try_recv().is_err());
        tasks.shutdown(Duration::ZERO).await;
    }
}
