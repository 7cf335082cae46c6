//! Changes of a file by other processes: each collection has a counter, which is looked at when the file was written.
//!
//! Whether it was is asked a few times a second: that costs two system calls, needs no watch, and works everywhere.

mod stamp;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Weak;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_core::StoreError;

use super::pause;
use crate::database::Database;
use crate::failure;
use stamp::Stamp;

/// Between two looks at the file.
const INTERVAL: Duration = Duration::from_millis(150);

const MARKS: &str = "SELECT collection, counter FROM marks";

type Marks = BTreeMap<String, i64>;

/// What was last seen.
#[derive(Default)]
struct Seen {
    stamp: Option<Stamp>,
    marks: Option<Marks>,
    failed: bool,
}

/// Tells changes until nobody listens any more.
pub(super) async fn watch(store: Weak<Database>, path: PathBuf, stop: CancellationToken) {
    let mut seen = Seen::default();
    loop {
        // Held only for a look, so that dropping the store ends this.
        let Some(store) = store.upgrade().filter(|store| !store.news.is_over()) else { return };
        let stamp = Stamp::of(&path);
        if !seen.stamp.as_ref().is_some_and(|before| before.settles(&stamp)) {
            seen.look(&store, stamp).await;
        }
        drop(store);
        if !pause(&stop, INTERVAL).await {
            return;
        }
    }
}

impl Seen {
    /// Looks at the counters, and tells which went on. The stamp is from before, so what is written meanwhile is seen next.
    async fn look(&mut self, store: &Database, stamp: Stamp) {
        match read(store).await {
            Ok(marks) => {
                tell(store, self.marks.as_ref(), &marks);
                *self = Self { stamp: Some(stamp), marks: Some(marks), failed: false };
            }
            Err(error) => {
                if !self.failed {
                    tracing::warn!(%error, "cannot see what other processes change; still trying");
                }
                (self.stamp, self.failed) = (None, true);
            }
        }
    }
}

/// The counters; where there is no file, there are none.
async fn read(store: &Database) -> Result<Marks, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Marks::new()) };
    match sqlx::query_as::<_, (String, i64)>(MARKS).fetch_all(pool).await {
        Ok(rows) => Ok(rows.into_iter().collect()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

fn tell(store: &Database, seen: Option<&Marks>, marks: &Marks) {
    let Some(seen) = seen else { return store.news.tell_all() };
    let changed = marks.iter().filter(|(name, counter)| seen.get(*name) != Some(counter));
    changed.for_each(|(name, _)| store.news.tell_named(name));
}
