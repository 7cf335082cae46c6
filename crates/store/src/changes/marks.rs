//! Changes of a file by other processes: each collection has a counter, which is looked at a few times a second.

use std::collections::BTreeMap;
use std::sync::Weak;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_core::StoreError;

use super::pause;
use crate::database::Database;
use crate::failure;

/// Between two looks. One costs a few microseconds, while a file may be changed without a word on some file systems.
const INTERVAL: Duration = Duration::from_millis(150);

const MARKS: &str = "SELECT collection, counter FROM marks";

type Marks = BTreeMap<String, i64>;

/// Tells changes until nobody listens any more.
pub(super) async fn watch(store: Weak<Database>, stop: CancellationToken) {
    let mut seen = None;
    let mut well = true;
    loop {
        // Held only for a look, so that dropping the store ends this.
        let Some(store) = store.upgrade().filter(|store| !store.news.is_over()) else { return };
        match look(&store).await {
            Ok(marks) => {
                well = true;
                tell(&store, seen.as_ref(), &marks);
                seen = Some(marks);
            }
            Err(error) if well => {
                well = false;
                tracing::warn!(%error, "cannot see what other processes change; still trying");
            }
            Err(_) => {}
        }
        drop(store);
        if !pause(&stop, INTERVAL).await {
            return;
        }
    }
}

/// The counters; where there is no file, there are none.
async fn look(store: &Database) -> Result<Marks, StoreError> {
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
