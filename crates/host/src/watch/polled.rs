//! Changes found by looking at all files again and again.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::pending::Pending;
use super::{MAX_ENTRIES, is_skipped};
use crate::files::{FileError, RelPath, Root};

// Looking takes at most a twentieth of the time.
const REST: u32 = 20;

/// Size and time of change of every file.
pub(super) type Seen = BTreeMap<RelPath, (u64, u64)>;

pub(super) async fn look(root: &Root) -> Result<Seen, FileError> {
    let walk = root.walk(MAX_ENTRIES, is_skipped).await?;
    Ok(walk.files.into_iter().map(|file| (file.path, (file.size, file.modified_unix_ms))).collect())
}

pub(super) async fn run(
    root: &Root,
    pending: &Pending,
    mut before: Seen,
    interval: Duration,
    stop: CancellationToken,
) {
    pending.polled();
    let mut pause = interval;
    while stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_some() {
        let started = Instant::now();
        match look(root).await {
            Ok(now) => {
                differences(&before, &now).for_each(|path| pending.add(path.clone()));
                before = now;
            }
            Err(error) => tracing::warn!(%error, "cannot look for changes"),
        }
        pause = interval.max(started.elapsed() * REST);
    }
}

fn differences<'a>(before: &'a Seen, now: &'a Seen) -> impl Iterator<Item = &'a RelPath> {
    let changed = now.iter().filter(|(path, seen)| before.get(*path) != Some(*seen));
    let gone = before.iter().filter(|(path, _)| !now.contains_key(*path));
    changed.chain(gone).map(|(path, _)| path)
}
