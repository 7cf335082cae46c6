//! Letting go of what is too old.

use sqlx::AnyPool;
use toolgate_core::{AuditRow, StoreError};

use super::bundle::{Bundle, Row};
use super::lock;
use crate::database::{Database, to_i64};
use crate::failure;

/// How many bundles are removed at a time, so that nobody waits long for the database.
const AT_ONCE: i64 = 64;

const OLD: &str = "SELECT writer, MAX(last) FROM audit GROUP BY writer HAVING MIN(from_ms) < $1";
const YOUNG: &str = "SELECT writer, first, last, from_ms, to_ms, principal, count, records FROM audit \
    WHERE writer = $1 AND to_ms >= $2 ORDER BY first, last LIMIT 1 OFFSET $3";
const GOING: &str = "SELECT last, count FROM audit WHERE writer = $1 AND last < $2 ORDER BY last LIMIT $3";
const REMOVE: &str = "DELETE FROM audit WHERE writer = $1 AND last <= $2";
const ACROSS: &str = "SELECT writer, first, last, from_ms, to_ms, principal, count, records FROM audit \
    WHERE writer = $1 AND first < $2 AND last >= $2";
const SHORTEN: &str = "UPDATE audit SET first = $3, from_ms = $4, to_ms = $5, principal = $6, count = $7, \
    records = $8 WHERE writer = $1 AND last = $2";

/// Removes the records before a moment, each chain's last excepted, and tells how many.
pub(crate) async fn prune(store: &Database, before_ms: u64) -> Result<u64, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(0) };
    match try_prune(store, pool, before_ms).await {
        Ok(removed) => removed,
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

async fn try_prune(
    store: &Database,
    pool: &AnyPool,
    before_ms: u64,
) -> Result<Result<u64, StoreError>, sqlx::Error> {
    let old: Vec<(String, i64)> = sqlx::query_as(OLD).bind(to_i64(before_ms)).fetch_all(pool).await?;
    let mut removed = 0;
    for (writer, last) in old {
        let end = end(pool, &writer, before_ms).await?.map_or(last, |end| end.min(last));
        loop {
            let turn = match store.turn().await {
                Ok(turn) => turn,
                Err(error) => return Ok(Err(error)),
            };
            let gone = step(store, pool, &writer, end).await?;
            drop(turn);
            if gone == 0 {
                break;
            }
            removed += gone;
        }
    }
    Ok(Ok(removed))
}

/// The first record of a chain that is young enough. The clock may have been set back, and a chain must not get a
/// hole: only what is before it goes.
async fn end(pool: &AnyPool, writer: &str, before_ms: u64) -> Result<Option<i64>, sqlx::Error> {
    let mut end: Option<i64> = None;
    for place in 0_i64.. {
        let young = sqlx::query_as::<_, Row>(YOUNG).bind(writer).bind(to_i64(before_ms)).bind(place);
        let Some(young) = young.fetch_optional(pool).await?.map(Bundle::from) else { break };
        if end.is_some_and(|end| end < young.first) {
            break;
        }
        let is_young = |row: &AuditRow| row.time_ms >= before_ms;
        let first = young.rows().into_iter().find(is_young).map(|row| row.sequence);
        end = end.into_iter().chain(first).min();
    }
    Ok(end)
}

/// Removes some of the records of a chain that are before a place, and tells how many.
async fn step(store: &Database, pool: &AnyPool, writer: &str, end: i64) -> Result<u64, sqlx::Error> {
    let mut removing = pool.begin_with(store.begin()).await?;
    lock(store, &mut removing, writer).await?;
    let going = sqlx::query_as(GOING).bind(writer).bind(end).bind(AT_ONCE);
    let going: Vec<(i64, i64)> = going.fetch_all(&mut *removing).await?;
    let mut removed: i64 = going.iter().map(|(_, count)| count).sum();
    if let Some((last, _)) = going.last() {
        sqlx::query(REMOVE).bind(writer).bind(last).execute(&mut *removing).await?;
    } else {
        let across = sqlx::query_as::<_, Row>(ACROSS).bind(writer).bind(end);
        for bundle in across.fetch_all(&mut *removing).await?.into_iter().map(Bundle::from) {
            let before = bundle.count;
            let mut rows = bundle.rows();
            // What was changed behind our back stays as it is, to be looked at.
            let whole = usize::try_from(before).is_ok_and(|before| before == rows.len());
            rows.retain(|row| row.sequence >= end);
            let lines: Vec<_> = rows.iter().map(AuditRow::borrowed).collect();
            let Some(short) = Bundle::of(&lines).filter(|_| whole) else { continue };
            removed += before - short.count;
            let update = sqlx::query(SHORTEN).bind(short.writer).bind(short.last).bind(short.first);
            let update = update.bind(short.from_ms).bind(short.to_ms).bind(short.principal);
            update.bind(short.count).bind(short.records).execute(&mut *removing).await?;
        }
    }
    removing.commit().await?;
    Ok(u64::try_from(removed).unwrap_or(0))
}
