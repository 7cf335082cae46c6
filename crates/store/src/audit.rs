//! The record of calls: added once, found newest first, shortened from its old end.

mod query;

use sqlx::{AnyPool, AssertSqlSafe};
use toolgate_core::{AuditQuery, AuditRow, StoreError};

use crate::database::{Database, to_i64};
use crate::documents::is_text;
use crate::failure;
use query::{Row, Search};

/// How many records one statement adds. The driver finds each value's place by going through all places, so that
/// long statements cost more for each record.
const TOGETHER: usize = 12;
/// How many records are removed at a time, so that nobody waits long for the database.
const AT_ONCE: i64 = 2000;

const COLUMNS: usize = 7;
const INSERT: &str =
    "INSERT INTO audit (writer, sequence, time_ms, principal, target, outcome, line) VALUES ";
const HEADS: &str = "SELECT writer, sequence, time_ms, principal, target, outcome, line FROM audit \
    WHERE (writer, sequence) IN (SELECT writer, MAX(sequence) FROM audit GROUP BY writer)";
// The clock may have been set back, and a chain must not get a hole: of each chain only the beginning goes.
const ENDS: &str = "SELECT writer, COALESCE(MIN(CASE WHEN time_ms >= $1 THEN sequence END), MAX(sequence)) \
    FROM audit GROUP BY writer HAVING MIN(time_ms) < $1";
const PRUNE: &str = "DELETE FROM audit WHERE writer = $1 AND sequence < $2 \
    AND sequence < (SELECT MIN(sequence) FROM audit WHERE writer = $1) + $3";

/// Adds records; those that are there already are left as they are.
pub(crate) async fn append(store: &Database, mut rows: Vec<AuditRow>) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    if !rows.iter().all(is_keepable) {
        return Err(StoreError::new("a record with a zero byte cannot be kept"));
    }
    rows.sort_by(|a, b| (&a.writer, a.sequence).cmp(&(&b.writer, b.sequence)));
    let pool = store.pool().await?;
    let _turn = store.turn().await?;
    match try_append(store, pool, &rows).await {
        Ok(()) => Ok(()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

async fn try_append(store: &Database, pool: &AnyPool, rows: &[AuditRow]) -> Result<(), sqlx::Error> {
    let mut adding = pool.begin_with(store.begin()).await?;
    for rows in rows.chunks(TOGETHER) {
        // Most are of full length, and that statement is worth keeping.
        let insert = sqlx::query(AssertSqlSafe(insert(rows.len())));
        let mut insert = insert.persistent(rows.len() == TOGETHER);
        for row in rows {
            insert = insert
                .bind(row.writer.as_str())
                .bind(row.sequence)
                .bind(to_i64(row.time_ms))
                .bind(row.principal.as_str())
                .bind(row.target.as_str())
                .bind(row.outcome.as_str())
                .bind(row.line.as_str());
        }
        insert.execute(&mut *adding).await?;
    }
    adding.commit().await
}

/// Finds records, newest first.
pub(crate) async fn find(store: &Database, query: &AuditQuery) -> Result<Vec<AuditRow>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Vec::new()) };
    let Some(search) = Search::of(query) else { return Ok(Vec::new()) };
    match search.run(pool).await {
        Ok(rows) => Ok(rows),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// The last record of each chain.
pub(crate) async fn heads(store: &Database) -> Result<Vec<AuditRow>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Vec::new()) };
    match sqlx::query_as::<_, Row>(HEADS).fetch_all(pool).await {
        Ok(rows) => Ok(rows.into_iter().map(query::row).collect()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// Removes the records before a moment, each chain's last excepted, and tells how many.
pub(crate) async fn prune(store: &Database, before_ms: u64) -> Result<u64, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(0) };
    match try_prune(store, pool, to_i64(before_ms)).await {
        Ok(removed) => removed,
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

async fn try_prune(
    store: &Database,
    pool: &AnyPool,
    before_ms: i64,
) -> Result<Result<u64, StoreError>, sqlx::Error> {
    let ends: Vec<(String, i64)> = sqlx::query_as(ENDS).bind(before_ms).fetch_all(pool).await?;
    let mut removed = 0;
    for (writer, end) in ends {
        loop {
            let turn = match store.turn().await {
                Ok(turn) => turn,
                Err(error) => return Ok(Err(error)),
            };
            let gone = sqlx::query(PRUNE).bind(writer.as_str()).bind(end).bind(AT_ONCE).execute(pool).await?;
            drop(turn);
            if gone.rows_affected() == 0 {
                break;
            }
            removed += gone.rows_affected();
        }
    }
    Ok(Ok(removed))
}

fn insert(rows: usize) -> String {
    let row = |row: usize| {
        let places: Vec<String> =
            (1..=COLUMNS).map(|column| format!("${}", row * COLUMNS + column)).collect();
        format!("({})", places.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("{INSERT}{} ON CONFLICT (writer, sequence) DO NOTHING", rows.join(", "))
}

fn is_keepable(row: &AuditRow) -> bool {
    [&row.writer, &row.principal, &row.target, &row.outcome, &row.line].into_iter().all(|text| is_text(text))
}
