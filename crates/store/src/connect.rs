//! Connections: how they are made, and the file they may need.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::str::FromStr as _;
use std::time::Duration;

use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::{AnyConnection, AnyPool, AssertSqlSafe, ConnectOptions as _, Connection as _, Executor as _};
use toolgate_core::StoreError;

use crate::database::Database;
use crate::place::{Kind, Place};
use crate::{failure, schema, sweep};

/// A file needs one connection to write and some to read; a server is shared with others.
pub(crate) const MAX_CONNECTIONS: u32 = 4;
const MAX_FILE_CONNECTIONS: u32 = 3;

/// Connections to the database of `store`, whose tables are up to date.
pub(crate) async fn open(store: &Database) -> Result<AnyPool, StoreError> {
    let place = store.place();
    let options = options(place)?;
    if let Kind::File(path) = &place.0 {
        let path = path.clone();
        let made = store.tasks().blocking(move || make_file(&path)).await;
        made.map_err(|error| StoreError::new("the store could not be made").because(error))?
            .map_err(|error| failure::no_file(place, error))?;
        // The pool would try again and again with a file that is no database, and then not say why.
        attempt(place, store.patience()).await.map_err(|error| failure::explain(place, error))?;
    }
    let pool = pool(place, options, store.patience());
    schema::update(&pool, place, store.patience()).await?;
    sweep::start(store);
    Ok(pool)
}

/// Tries to connect without waiting for better times, to learn what is in the way.
pub(crate) async fn attempt(place: &Place, limit: Duration) -> Result<(), sqlx::Error> {
    let options = options(place).map_err(|error| sqlx::Error::Configuration(error.into()))?;
    match tokio::time::timeout(limit, AnyConnection::connect_with(&options)).await {
        Ok(connection) => {
            let mut connection = connection?;
            if !place.is_server() {
                connection.execute(AssertSqlSafe(file_settings(limit))).await?;
            }
            connection.close().await
        }
        Err(_) => Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into())),
    }
}

fn options(place: &Place) -> Result<AnyConnectOptions, StoreError> {
    sqlx::any::install_default_drivers();
    let options = AnyConnectOptions::from_str(place.address()?.expose());
    Ok(options.map_err(|error| failure::explain(place, error))?.disable_statement_logging())
}

fn pool(place: &Place, options: AnyConnectOptions, patience: Duration) -> AnyPool {
    let pool = AnyPoolOptions::new().min_connections(0).acquire_timeout(patience);
    if place.is_server() {
        return pool.max_connections(MAX_CONNECTIONS).connect_lazy_with(options);
    }
    let settings = file_settings(patience);
    pool.max_connections(MAX_FILE_CONNECTIONS)
        // A connection to a file does not break, and without these two nothing has to look after it.
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        .after_connect(move |connection, _| {
            let settings = settings.clone();
            Box::pin(async move { connection.execute(AssertSqlSafe(settings)).await.map(drop) })
        })
        .connect_lazy_with(options)
}

/// What every connection to a file is told.
fn file_settings(patience: Duration) -> String {
    format!(
        // What was acknowledged must outlast a power cut. `LIKE` is as strict as in PostgreSQL. Little is kept in memory.
        "PRAGMA synchronous = FULL; PRAGMA case_sensitive_like = ON; PRAGMA cache_size = -512; \
         PRAGMA busy_timeout = {};",
        patience.as_millis()
    )
}

/// Makes an empty file that only its owner can read; SQLite gives the files beside it the same rights.
fn make_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
