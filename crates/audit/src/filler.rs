//! The task that brings lines from the spools into the store.

mod anchors;
mod left;
mod retention;

use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until, timeout};
use toolgate_core::AuditLine;

use crate::audit::{Inner, MANY};
use crate::error::AuditError;
use crate::folder::lines;
use crate::record::line as record;
use crate::spool::Uncopied;

pub(crate) use anchors::head_of;

/// How long a record waits at most for others to be copied with it, and what failed for the next try.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it looks for what others left, for heads to name, and for what is too old.
const ROUND: Duration = Duration::from_secs(60 * 60);
/// When a round that failed is tried again.
const AGAIN: Duration = Duration::from_secs(60);
/// What the last copying may take when the process ends; the rest is left to the next.
const LAST: Duration = Duration::from_secs(2);
/// How much is read at once; longer than any line.
const CHUNK: u64 = 2 * 1024 * 1024;
/// So little is no load.
const FEW: usize = 64 * 1024;
/// Few records are shorter.
const SHORT: usize = 256;
/// How many records are copied at once: what comes while a batch is noticed goes with it.
const MOST: usize = 2 * MANY as usize;

/// Starts the task. Without a runtime there is none, and the spool is left to the next process.
pub(crate) fn start(inner: &Arc<Inner>) {
    if tokio::runtime::Handle::try_current().is_ok() {
        inner.parts.tasks.spawn(run(inner.clone()));
    }
}

async fn run(inner: Arc<Inner>) {
    let stopping = inner.parts.tasks.stopping();
    stopping.run_until_cancelled(fill(&inner)).await;
    match timeout(LAST, copy(&inner)).await {
        Ok(Ok(())) => inner.desk().spool.tidy(true),
        Ok(Err(error)) => tracing::warn!(%error, "records of calls are left to the next start"),
        Err(_) => tracing::warn!("the store is slow; records of calls are left to the next start"),
    }
}

async fn fill(inner: &Arc<Inner>) {
    let mut rounds =
        Rounds { anchors: anchors::Anchors::default(), next: Instant::now(), trouble: None, first: true };
    loop {
        tokio::select! {
            () = inner.hurry.notified() => {}
            () = sleep(PAUSE) => {}
        }
        inner.fresh.store(0, Ordering::Release);
        let trouble = inner.retry();
        let behind = copy_present(inner)
            .await
            .err()
            .map(|error| format!("records of calls wait in the spool: {error}"));
        if behind.is_none() && Instant::now() >= rounds.next {
            rounds.go(inner).await;
        }
        let well = behind.is_none() && trouble.is_none();
        note(inner, behind.or_else(|| rounds.trouble.clone()));
        if well {
            tokio::select! {
                () = inner.wake.notified() => {}
                () = sleep_until(rounds.next) => {}
            }
        }
    }
}

/// What is done from time to time.
struct Rounds {
    anchors: anchors::Anchors,
    next: Instant,
    trouble: Option<String>,
    first: bool,
}

impl Rounds {
    async fn go(&mut self, inner: &Inner) {
        let outcome = self.try_go(inner).await;
        self.next = Instant::now() + if outcome.is_ok() { ROUND } else { AGAIN };
        self.trouble = outcome.err().map(|error| format!("the audit is not kept in order: {error}"));
    }

    async fn try_go(&mut self, inner: &Inner) -> Result<(), AuditError> {
        // A file that is written to for months would keep what is too old.
        if !std::mem::take(&mut self.first) {
            inner.desk().spool.tidy(true);
        }
        let collected = left::collect(inner).await;
        retention::prune(inner).await?;
        self.anchors.write(inner).await?;
        copy_present(inner).await?;
        collected
    }
}

/// Notes what is wrong with the store, or that it is well again.
fn note(inner: &Inner, trouble: Option<String>) {
    let mut behind = inner.behind();
    if let Some(trouble) = &trouble
        && behind.is_none()
    {
        tracing::warn!("{trouble}");
    }
    *behind = trouble;
}

/// Copies all lines of this process into the store.
pub(crate) async fn copy(inner: &Inner) -> Result<(), AuditError> {
    while copy_some(inner).await? > 0 {}
    Ok(())
}

/// Copies the lines that are there now. Under load more of them come meanwhile, and a few at a time would cost the
/// store more than all the rest: they wait until they are many.
async fn copy_present(inner: &Inner) -> Result<(), AuditError> {
    let mut left = inner.desk().spool.size();
    while left > 0 {
        match copy_some(inner).await? {
            0 => break,
            copied => left = left.saturating_sub(copied),
        }
    }
    Ok(())
}

/// Copies as many lines as go at once, and tells how many bytes that were.
async fn copy_some(inner: &Inner) -> Result<u64, AuditError> {
    // One at a time: a file whose lines are in the store is emptied, and used again.
    let mut bytes = inner.copying.lock().await;
    let Some(uncopied) = inner.desk().spool.uncopied() else { return Ok(0) };
    read(&uncopied, &mut bytes)?;
    let (to, whole) = bring(inner, &uncopied, &bytes).await?;
    let mut desk = inner.desk();
    desk.spool.copied(&uncopied, to, whole);
    desk.spool.tidy(false);
    Ok(to - uncopied.from)
}

/// Brings lines into the store, and tells how far it came, and whether all of them were records.
async fn bring(inner: &Inner, uncopied: &Uncopied, bytes: &[u8]) -> Result<(u64, bool), AuditError> {
    let writer = inner.desk().writer().to_owned();
    let batches = uncopied.batches.iter().map(|batch| batch.of(&writer, bytes, uncopied.from));
    if let Some(batches) = batches.collect::<Option<Vec<_>>>()
        && !batches.is_empty()
    {
        inner.parts.store.append_audit_batches(batches).await?;
        return Ok((uncopied.to, true));
    }
    let (rows, length, whole) = rows(bytes);
    if !whole {
        tracing::error!(path = %uncopied.path.display(), "a spool file holds what is no record; `toolgate audit verify` tells more");
    }
    inner.parts.store.append_audit_lines(rows).await?;
    // Without any line break there is nothing to go on with: what is there now is not ours.
    Ok((if length == 0 { uncopied.to } else { uncopied.from + length }, whole))
}

/// Reads lines. The room for them is kept while they are many: to have it made again and again costs more than to
/// fill it.
fn read(uncopied: &Uncopied, bytes: &mut Vec<u8>) -> Result<(), AuditError> {
    let length = usize::try_from((uncopied.to - uncopied.from).min(CHUNK)).unwrap_or_default();
    if length < FEW {
        *bytes = Vec::new();
    }
    bytes.resize(length, 0);
    // It was written a moment ago, so it is in memory and nobody waits for a disk.
    uncopied.file.read_exact_at(bytes, uncopied.from).map_err(AuditError::at(&uncopied.path))
}

/// The records of a batch of lines, how many bytes they took, and whether all of them were records.
fn rows(bytes: &[u8]) -> (Vec<AuditLine<'_>>, u64, bool) {
    let mut rows = Vec::with_capacity((bytes.len() / SHORT).min(MOST));
    let (mut length, mut whole) = (0, true);
    for line in lines(bytes).take(MOST) {
        length += line.len() as u64 + 1;
        match record(line) {
            Some(row) => rows.push(row),
            None => whole = false,
        }
    }
    (rows, length, whole && length > 0)
}
