//! The record of calls: added once, found newest first, shortened from its old end.

mod bundle;
mod prune;
mod query;

use std::collections::HashSet;

use sqlx::{AnyConnection, AnyPool, AssertSqlSafe};
use toolgate_core::{AuditBatch, AuditLine, AuditQuery, AuditRow, StoreError};

use crate::database::Database;
use crate::documents::is_text;
use crate::failure;
use bundle::{Bundle, Row};

pub(crate) use prune::prune;

const INSERT: &str =
    "INSERT INTO audit (writer, first, last, from_ms, to_ms, principal, count, records) VALUES ";
/// How many bundles are added by one statement: each has its way to the thread of the database and back.
const AT_ONCE: usize = 16;
const THERE: &str = "SELECT writer, first, last, from_ms, to_ms, principal, count, records FROM audit \
    WHERE writer = $1 AND last >= $2 AND first <= $3";
const TAKEN: &str = "SELECT last FROM audit WHERE writer = $1 AND last >= $2 AND first <= $3 LIMIT 1";
const HEADS: &str = "SELECT writer, first, last, from_ms, to_ms, principal, count, records FROM audit \
    WHERE (writer, last) IN (SELECT writer, MAX(last) FROM audit GROUP BY writer)";
// Two that add to the same chain take turns. In SQLite all that write do anyway.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended($1, 7306930284701510772))";

/// Adds records; those that are there already are left as they are.
pub(crate) async fn append(store: &Database, mut rows: Vec<AuditLine<'_>>) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    if !rows.iter().all(is_keepable) {
        return Err(StoreError::new("a record with a zero byte cannot be kept"));
    }
    rows.sort_by(|a, b| (&a.writer, a.sequence).cmp(&(&b.writer, b.sequence)));
    rows.dedup_by(|a, b| (&a.writer, a.sequence) == (&b.writer, b.sequence));
    let pool = store.pool().await?;
    let _turn = store.turn().await?;
    match try_append(store, pool, rows).await {
        Ok(()) => Ok(()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// Adds records that nobody has to look at; those that are there already are left as they are.
pub(crate) async fn append_batches(store: &Database, batches: Vec<AuditBatch<'_>>) -> Result<(), StoreError> {
    let pool = store.pool().await?;
    let turn = store.turn().await?;
    match try_append_batches(store, pool, &batches).await {
        Ok(true) => Ok(()),
        Ok(false) => {
            drop(turn);
            append(store, AuditBatch::lines(&batches)?).await
        }
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// `false`, and nothing is added, if one of them is there already.
async fn try_append_batches(
    store: &Database,
    pool: &AnyPool,
    batches: &[AuditBatch<'_>],
) -> Result<bool, sqlx::Error> {
    let mut adding = pool.begin_with(store.begin()).await?;
    for batches in batches.chunk_by(|a, b| a.writer == b.writer && a.last() + 1 == b.first) {
        let (Some(first), Some(last)) = (batches.first(), batches.last()) else { continue };
        lock(store, &mut adding, first.writer).await?;
        let taken = sqlx::query_as::<_, (i64,)>(TAKEN).bind(first.writer).bind(first.first);
        if taken.bind(last.last()).fetch_optional(&mut *adding).await?.is_some() {
            return Ok(false);
        }
        insert(&mut adding, batches.iter().map(Bundle::packed).collect()).await?;
    }
    adding.commit().await?;
    Ok(true)
}

async fn try_append(store: &Database, pool: &AnyPool, rows: Vec<AuditLine<'_>>) -> Result<(), sqlx::Error> {
    let mut adding = pool.begin_with(store.begin()).await?;
    for rows in rows.chunk_by(|a, b| a.writer == b.writer) {
        lock(store, &mut adding, &rows[0].writer).await?;
        let there = there(&mut adding, rows).await?;
        let is_new = |row: &AuditLine<'_>| !there.contains(&row.sequence);
        let bundles = match there.is_empty() {
            true => Bundle::all(rows),
            false => Bundle::all(&rows.iter().filter(|row| is_new(row)).cloned().collect::<Vec<_>>()),
        };
        insert(&mut adding, bundles).await?;
    }
    adding.commit().await
}

/// Keeps others from changing a chain until the transaction ends.
async fn lock(store: &Database, connection: &mut AnyConnection, writer: &str) -> Result<(), sqlx::Error> {
    if store.place().is_server() {
        sqlx::query(LOCK).bind(writer).execute(connection).await?;
    }
    Ok(())
}

/// The places, among those of these records of one writer, that are taken.
async fn there(connection: &mut AnyConnection, rows: &[AuditLine<'_>]) -> Result<HashSet<i64>, sqlx::Error> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(HashSet::new()) };
    let there = sqlx::query_as::<_, Row>(THERE).bind(&*first.writer);
    let there = there.bind(first.sequence).bind(last.sequence).fetch_all(connection).await?;
    Ok(there.into_iter().flat_map(|row| Bundle::from(row).rows()).map(|row| row.sequence).collect())
}

async fn insert(connection: &mut AnyConnection, bundles: Vec<Bundle>) -> Result<(), sqlx::Error> {
    let mut bundles = bundles.into_iter().peekable();
    while bundles.peek().is_some() {
        let some: Vec<Bundle> = bundles.by_ref().take(AT_ONCE).collect();
        let mut insert = sqlx::query(AssertSqlSafe(values(some.len())));
        for bundle in some {
            insert = insert.bind(bundle.writer).bind(bundle.first).bind(bundle.last);
            insert = insert.bind(bundle.from_ms).bind(bundle.to_ms).bind(bundle.principal);
            insert = insert.bind(bundle.count).bind(bundle.records);
        }
        insert.execute(&mut *connection).await?;
    }
    Ok(())
}

/// The statement that adds so many bundles.
fn values(count: usize) -> String {
    let row = |row: usize| {
        let values: Vec<String> = (1..=8).map(|column| format!("${}", row * 8 + column)).collect();
        format!("({})", values.join(", "))
    };
    format!("{INSERT}{}", (0..count).map(row).collect::<Vec<_>>().join(", "))
}

/// Finds records, newest first.
pub(crate) async fn find(store: &Database, query: &AuditQuery) -> Result<Vec<AuditRow>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Vec::new()) };
    match query::run(query, pool).await {
        Ok(rows) => Ok(rows),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// The last record of each chain.
pub(crate) async fn heads(store: &Database) -> Result<Vec<AuditRow>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Vec::new()) };
    match sqlx::query_as::<_, Row>(HEADS).fetch_all(pool).await {
        Ok(rows) => Ok(rows.into_iter().filter_map(|row| Bundle::from(row).rows().pop()).collect()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

fn is_keepable(row: &AuditLine<'_>) -> bool {
    let AuditLine { writer, sequence: _, time_ms: _, principal, target, outcome, line } = row;
    [&**writer, principal, target, outcome, line].into_iter().all(is_text)
}
