//! Changes of a PostgreSQL database by other replicas: the server tells them on a connection of its own.

use std::sync::Weak;
use std::time::Duration;

use sqlx::ConnectOptions as _;
use sqlx::Executor as _;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use tokio_util::sync::CancellationToken;
use toolgate_host::Secret;

use super::pause;
use crate::database::Database;

/// What the triggers of the tables call, too.
const CHANNEL: &str = "toolgate_changes";

/// After so much silence the server is asked whether it is still there.
const SILENCE: Duration = Duration::from_secs(15);
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));

/// Tells changes until nobody listens any more.
pub(super) async fn watch(store: Weak<Database>, url: Secret, stop: CancellationToken) {
    let mut wait = BACK_OFF.0;
    loop {
        let Some(limit) = patience(&store) else { return };
        let heard = tokio::select! {
            () = stop.cancelled() => return,
            heard = hear(&store, &url, limit, &mut wait) => heard,
        };
        match heard {
            Ok(()) => return,
            Err(error) if wait == BACK_OFF.0 => {
                tracing::warn!(%error, "cannot hear what other replicas change; still trying");
            }
            Err(_) => {}
        }
        if !pause(&stop, wait).await {
            return;
        }
        wait = (wait * 2).min(BACK_OFF.1);
    }
}

/// Hears the server until nobody listens, or the connection is lost.
async fn hear(
    store: &Weak<Database>,
    url: &Secret,
    limit: Duration,
    wait: &mut Duration,
) -> Result<(), sqlx::Error> {
    let options = url.expose().parse::<PgConnectOptions>()?.disable_statement_logging();
    let pool =
        PgPoolOptions::new().max_connections(1).acquire_timeout(limit).max_lifetime(None).idle_timeout(None);
    let pool = pool.connect_lazy_with(options);
    let mut listener = PgListener::connect_with(&pool).await?;
    listener.listen(CHANNEL).await?;
    // Nobody told us what changed before.
    let told = |tell: fn(&Database)| store.upgrade().map(|store| tell(&store));
    told(|store| store.news.tell_all());
    *wait = BACK_OFF.0;
    while patience(store).is_some() {
        match tokio::time::timeout(SILENCE, listener.try_recv()).await {
            Ok(heard) => match heard? {
                Some(notice) => {
                    let Some(store) = store.upgrade() else { return Ok(()) };
                    store.news.tell_named(notice.payload());
                }
                // The connection was lost, and is there again.
                None => drop(told(|store| store.news.tell_all())),
            },
            Err(_) => match tokio::time::timeout(limit, listener.execute("SELECT 1")).await {
                Ok(answer) => {
                    answer?;
                }
                Err(_) => return Err(sqlx::Error::PoolTimedOut),
            },
        }
    }
    Ok(())
}

/// How patient the store is, if it is still there and somebody listens.
fn patience(store: &Weak<Database>) -> Option<Duration> {
    let store = store.upgrade().filter(|store| !store.news.is_over())?;
    Some(store.patience())
}
