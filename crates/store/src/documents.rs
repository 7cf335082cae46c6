//! Documents: read, and changed all at once or not at all.

use std::time::Duration;

use sqlx::{AnyConnection, AnyPool};
use toolgate_core::{Collection, Document, StoreError, Write, Written};

use crate::database::{Database, to_i64, to_u64};
use crate::failure;

const GET: &str = "SELECT id, revision, body, expires_ms FROM documents \
    WHERE collection = $1 AND id = $2 AND (expires_ms IS NULL OR expires_ms > $3)";
const LIST: &str = "SELECT id, revision, body, expires_ms FROM documents \
    WHERE collection = $1 AND (expires_ms IS NULL OR expires_ms > $2) ORDER BY id";
// A document that has expired is as good as none.
const INSERT: &str = "INSERT INTO documents (collection, id, revision, body, expires_ms, updated_ms) \
    VALUES ($1, $2, 1, $3, $4, $5) \
    ON CONFLICT (collection, id) DO UPDATE SET revision = 1, body = excluded.body, \
        expires_ms = excluded.expires_ms, updated_ms = excluded.updated_ms \
    WHERE documents.expires_ms IS NOT NULL AND documents.expires_ms <= $5";
const REPLACE: &str = "UPDATE documents \
    SET revision = revision + 1, body = $3, expires_ms = $4, updated_ms = $5 \
    WHERE collection = $1 AND id = $2 AND revision = $6";
const REMOVE: &str = "DELETE FROM documents WHERE collection = $1 AND id = $2 AND revision = $3";

/// How often a transaction that collided with another is begun anew.
const ATTEMPTS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(10);

type Row = (String, i64, String, Option<i64>);

/// A document that has not expired.
pub(crate) async fn get(
    store: &Database,
    collection: Collection,
    id: &str,
) -> Result<Option<Document>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(None) };
    if !is_text(id) {
        return Ok(None);
    }
    let row = sqlx::query_as::<_, Row>(GET).bind(collection.as_str()).bind(id).bind(store.now_ms());
    match row.fetch_optional(pool).await {
        Ok(row) => Ok(row.map(document)),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// All documents of a collection that have not expired, by id.
pub(crate) async fn list(store: &Database, collection: Collection) -> Result<Vec<Document>, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(Vec::new()) };
    let rows = sqlx::query_as::<_, Row>(LIST).bind(collection.as_str()).bind(store.now_ms());
    match rows.fetch_all(pool).await {
        Ok(rows) => Ok(rows.into_iter().map(document).collect()),
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

/// Makes all changes, or none.
pub(crate) async fn write(store: &Database, mut writes: Vec<Write>) -> Result<Written, StoreError> {
    if writes.is_empty() {
        return Ok(Written::Done);
    }
    if !writes.iter().all(is_keepable) {
        return Err(StoreError::new("a document with a zero byte cannot be kept"));
    }
    // In one order everywhere, so that two who change the same documents do not wait for each other. The changes of one
    // document stay in theirs.
    writes.sort_by(|a, b| key(a).cmp(&key(b)));
    let pool = store.pool().await?;
    let turn = store.turn().await?;
    let mut attempt = 1;
    let written = loop {
        match try_write(store, pool, &writes).await {
            Ok(written) => break written,
            Err(error) if failure::is_collision(&error) && attempt < ATTEMPTS => {
                tokio::time::sleep(PAUSE * attempt).await;
                attempt += 1;
            }
            Err(error) => return Err(failure::find_out(store.place(), error).await),
        }
    };
    drop(turn);
    if written == Written::Done {
        let mut changed: Vec<Collection> = writes.iter().map(Write::collection).collect();
        changed.dedup();
        changed.into_iter().for_each(|collection| store.news.tell(collection));
    }
    Ok(written)
}

async fn try_write(store: &Database, pool: &AnyPool, writes: &[Write]) -> Result<Written, sqlx::Error> {
    let mut changing = pool.begin_with(store.begin()).await?;
    for write in writes {
        if apply(&mut changing, write, store.now_ms()).await? == 0 {
            changing.rollback().await?;
            return Ok(Written::Conflict);
        }
    }
    changing.commit().await?;
    Ok(Written::Done)
}

/// Makes one change, and tells how many documents it met: one, or none if someone else was faster.
async fn apply(connection: &mut AnyConnection, write: &Write, now_ms: i64) -> Result<u64, sqlx::Error> {
    let query = match write {
        Write::Insert { collection, id, body, expires_ms } => sqlx::query(INSERT)
            .bind(collection.as_str())
            .bind(id.as_str())
            .bind(body.as_str())
            .bind(expires_ms.map(to_i64))
            .bind(now_ms),
        Write::Replace { collection, id, revision, body, expires_ms } => sqlx::query(REPLACE)
            .bind(collection.as_str())
            .bind(id.as_str())
            .bind(body.as_str())
            .bind(expires_ms.map(to_i64))
            .bind(now_ms)
            .bind(*revision),
        Write::Remove { collection, id, revision } => {
            sqlx::query(REMOVE).bind(collection.as_str()).bind(id.as_str()).bind(*revision)
        }
    };
    Ok(query.execute(connection).await?.rows_affected())
}

fn document((id, revision, body, expires_ms): Row) -> Document {
    Document { id, revision, body, expires_ms: expires_ms.map(to_u64) }
}

fn key(write: &Write) -> (Collection, &str) {
    let (Write::Insert { id, .. } | Write::Replace { id, .. } | Write::Remove { id, .. }) = write;
    (write.collection(), id)
}

fn is_keepable(write: &Write) -> bool {
    let body = match write {
        Write::Insert { body, .. } | Write::Replace { body, .. } => body.as_str(),
        Write::Remove { .. } => "",
    };
    is_text(key(write).1) && is_text(body)
}

/// Whether PostgreSQL can keep it: a text without a zero byte.
pub(crate) fn is_text(text: &str) -> bool {
    !text.as_bytes().contains(&0)
}
