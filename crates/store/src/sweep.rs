//! Removes documents that have expired, now and then.

use std::time::Duration;

use sqlx::AnyPool;
use toolgate_core::StoreError;

use crate::database::Database;
use crate::failure;

const INTERVAL: Duration = Duration::from_secs(60);
/// How many documents go at a time, so that nobody waits long for the database.
const AT_ONCE: i64 = 500;

const ANY: &str = "SELECT COUNT(*) FROM \
    (SELECT 1 FROM documents WHERE expires_ms IS NOT NULL AND expires_ms <= $1 LIMIT 1) AS expired";
// What is expired is asked twice: while the first answer is on its way, a document may be put in an expired one's place.
const SWEEP: &str = "DELETE FROM documents WHERE (collection, id) IN \
    (SELECT collection, id FROM documents WHERE expires_ms IS NOT NULL AND expires_ms <= $1 \
        ORDER BY expires_ms LIMIT $2) \
    AND expires_ms IS NOT NULL AND expires_ms <= $1";

/// Starts the sweeping of a store, which ends with it.
pub(crate) fn start(store: &Database) {
    let (weak, stop) = (store.weak(), store.tasks().stopping());
    store.tasks().spawn(async move {
        while tokio::time::timeout(INTERVAL, stop.cancelled()).await.is_err() {
            let Some(store) = weak.upgrade() else { return };
            match sweep(&store).await {
                Ok(0) => {}
                Ok(removed) => tracing::debug!(removed, "removed expired documents"),
                Err(error) => tracing::debug!(%error, "could not remove expired documents"),
            }
        }
    });
}

/// Removes expired documents, and tells how many.
pub(crate) async fn sweep(store: &Database) -> Result<u64, StoreError> {
    let Some(pool) = store.readable().await? else { return Ok(0) };
    match try_sweep(store, pool).await {
        Ok(removed) => removed,
        Err(error) => Err(failure::find_out(store.place(), error).await),
    }
}

async fn try_sweep(store: &Database, pool: &AnyPool) -> Result<Result<u64, StoreError>, sqlx::Error> {
    let now_ms = store.now_ms();
    let mut removed = 0;
    // Most times there are none, and then nobody is kept from writing.
    while sqlx::query_scalar::<_, i64>(ANY).bind(now_ms).fetch_one(pool).await? > 0 {
        let _turn = match store.turn().await {
            Ok(turn) => turn,
            Err(error) => return Ok(Err(error)),
        };
        removed += sqlx::query(SWEEP).bind(now_ms).bind(AT_ONCE).execute(pool).await?.rows_affected();
    }
    Ok(Ok(removed))
}
