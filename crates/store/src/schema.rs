//! The tables: made where they are missing, brought up to date where they are old.

use std::time::{Duration, Instant};

use sqlx::{AnyPool, Executor as _};
use toolgate_core::StoreError;

use crate::failure;
use crate::place::Place;

/// What was done to the tables over time, oldest first. One that was released is never changed.
const SQLITE: &[&str] = &[include_str!("../schema/sqlite/0001.sql")];
const POSTGRES: &[&str] = &[include_str!("../schema/postgres/0001.sql")];

// Two that come at once take turns: SQLite by its write lock, PostgreSQL by a lock under a number of our own.
const LOCK: &str = "SELECT pg_advisory_xact_lock(7306930284701510772)";
const NOTES: &str = "CREATE TABLE IF NOT EXISTS toolgate_schema (version BIGINT NOT NULL PRIMARY KEY)";
const VERSION: &str = "SELECT COALESCE(MAX(version), 0) FROM toolgate_schema";

const RETRY: Duration = Duration::from_millis(10);

/// Brings the tables up to date.
pub(crate) async fn update(pool: &AnyPool, place: &Place, patience: Duration) -> Result<(), StoreError> {
    let steps = if place.is_server() { POSTGRES } else { SQLITE };
    // Mostly there is nothing to do, and then nothing is locked.
    if let Ok(version) = sqlx::query_scalar::<_, i64>(VERSION).fetch_one(pool).await
        && missing(steps, version, place)?.is_empty()
    {
        return Ok(());
    }
    if !place.is_server() {
        log_ahead(pool, place, patience).await?;
    }
    match apply(pool, place, steps).await {
        Ok(outcome) => outcome,
        Err(error) => Err(failure::find_out(place, error).await),
    }
}

/// With a log that is written ahead, readers do not wait for the writer. The file remembers it.
async fn log_ahead(pool: &AnyPool, place: &Place, patience: Duration) -> Result<(), StoreError> {
    let begun = Instant::now();
    loop {
        match pool.execute("PRAGMA journal_mode = WAL").await {
            Ok(_) => return Ok(()),
            // SQLite does not wait here by itself, should another process do the same.
            Err(error) if failure::is_busy(&error) && begun.elapsed() < patience => {
                tokio::time::sleep(RETRY).await;
            }
            Err(error) => return Err(failure::find_out(place, error).await),
        }
    }
}

async fn apply(
    pool: &AnyPool,
    place: &Place,
    steps: &'static [&'static str],
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let begin = if place.is_server() { "BEGIN" } else { "BEGIN IMMEDIATE" };
    let mut changing = pool.begin_with(begin).await?;
    if place.is_server() {
        changing.execute(LOCK).await?;
    }
    changing.execute(NOTES).await?;
    let version: i64 = sqlx::query_scalar(VERSION).fetch_one(&mut *changing).await?;
    let missing = match missing(steps, version, place) {
        Ok(missing) => missing,
        Err(error) => return Ok(Err(error)),
    };
    for (step, number) in missing.iter().zip(version + 1..) {
        sqlx::raw_sql(*step).execute(&mut *changing).await?;
        sqlx::query("INSERT INTO toolgate_schema VALUES ($1)").bind(number).execute(&mut *changing).await?;
    }
    changing.commit().await?;
    Ok(Ok(()))
}

/// What is still to be done to tables of this version.
fn missing<'a>(
    steps: &'a [&'static str],
    version: i64,
    place: &Place,
) -> Result<&'a [&'static str], StoreError> {
    let done = usize::try_from(version).unwrap_or(0);
    steps.get(done..).ok_or_else(|| {
        let known = steps.len();
        StoreError::new(format!(
            "the store at {place} was made by a newer version: its tables are at {version}, we know {known}"
        ))
        .hint("use the newer version, or name another place by `store.url`")
    })
}
