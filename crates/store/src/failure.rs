//! What went wrong with a database, in words, and what to do about it.

use std::time::Duration;

use toolgate_core::StoreError;

use crate::connect;
use crate::place::{Kind, Place};

/// How long is spent on finding out why no connection could be had, on a machine that does much else.
const LOOK: Duration = Duration::from_secs(10);

/// What an error means. Where connecting took too long, the pool does not say why: so it is tried once more.
pub(crate) async fn find_out(place: &Place, error: sqlx::Error) -> StoreError {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return explain(place, error);
    }
    match connect::attempt(place, LOOK).await {
        Ok(()) => StoreError::new(format!("all connections to {place} are busy"))
            .hint("it is tried again with the next use; if it stays so, look for statements that wait for each other")
            .because(error),
        Err(error) => explain(place, error),
    }
}

/// What an error means.
pub(crate) fn explain(place: &Place, error: sqlx::Error) -> StoreError {
    let code = code(&error);
    let (what, hint) = match &place.0 {
        Kind::File(_) => file(place, primary(&code)),
        Kind::Server { .. } => server(place, &code, &error),
    };
    StoreError::new(what).hint(hint).because(error)
}

/// No answer came.
pub(crate) fn too_late(place: &Place, limit: Duration) -> StoreError {
    StoreError::new(format!("the store at {place} did not answer within {} s", limit.as_secs()))
        .hint("it is tried again with the next use; check that the machine it is on is well")
}

/// A file that cannot be made.
pub(crate) fn no_file(place: &Place, error: std::io::Error) -> StoreError {
    let full = error.kind() == std::io::ErrorKind::StorageFull;
    let otherwise = "let this user write to its folder, or name another place by `store.url`";
    let hint = if full { "free some space on its disk" } else { otherwise };
    StoreError::new(format!("the database file {place} cannot be made: {error}")).hint(hint).because(error)
}

/// Whether another process holds a lock that we need.
pub(crate) fn is_busy(error: &sqlx::Error) -> bool {
    matches!(primary(&code(error)), Some(5 | 6))
}

/// Whether the same transaction, begun anew, may well succeed: it collided with another.
pub(crate) fn is_collision(error: &sqlx::Error) -> bool {
    matches!(code(error).as_str(), "40001" | "40P01")
}

fn code(error: &sqlx::Error) -> String {
    let code = error.as_database_error().and_then(|error| error.code());
    code.map(std::borrow::Cow::into_owned).unwrap_or_default()
}

/// SQLite's code for the kind of an error, which is the lowest byte of the whole.
fn primary(code: &str) -> Option<u32> {
    code.parse::<u32>().ok().map(|code| code & 0xff)
}

fn file(place: &Place, primary: Option<u32>) -> (String, &'static str) {
    match primary {
        Some(5 | 6) => (
            format!("the database file {place} is locked by another process"),
            "it is tried again with the next use; if it stays so, find the process with `fuser`",
        ),
        Some(3 | 8) => (
            format!("the database file {place} may not be written"),
            "let this user write the file and its folder, or name another place by `store.url`",
        ),
        Some(10) => (
            format!("the database file {place} cannot be read or written: its disk is full or failing"),
            "free some space on its disk, then check the disk",
        ),
        Some(11 | 26) => (
            format!("the file {place} is damaged, or no database"),
            "move it away and restore a copy, or name another place by `store.url`",
        ),
        Some(13) => (format!("the disk of the database file {place} is full"), "free some space on its disk"),
        Some(14) => (
            format!("the database file {place} cannot be opened"),
            "let this user read and write the file and its folder, or name another place by `store.url`",
        ),
        _ => (
            format!("the database file {place} cannot be used"),
            "the log says why; `PRAGMA integrity_check` of the `sqlite3` program looks for damage",
        ),
    }
}

fn server(place: &Place, code: &str, error: &sqlx::Error) -> (String, &'static str) {
    match code {
        "28P01" | "28000" => (
            format!("PostgreSQL at {place} does not let us in"),
            "check the user and the password of `store.url`, and `pg_hba.conf`",
        ),
        "3D000" => (
            format!("PostgreSQL has no database at {place}"),
            "make it with `createdb`, or correct `store.url`",
        ),
        "42501" => (
            format!("PostgreSQL at {place} does not let us use the tables"),
            "make the user of `store.url` the owner of the database",
        ),
        "53100" => (format!("the disk of PostgreSQL at {place} is full"), "free some space on its disk"),
        "53300" => (
            format!("PostgreSQL at {place} has no connection left for us"),
            "it is tried again with the next use; raise `max_connections` of PostgreSQL",
        ),
        "57P01" | "57P02" | "57P03" => {
            (format!("PostgreSQL at {place} is stopping or starting"), "it is tried again with the next use")
        }
        // A certificate that is not trusted is data that is not right, to who reads it.
        _ if matches!(error, sqlx::Error::Io(cause) if cause.kind() == std::io::ErrorKind::InvalidData) => (
            format!("PostgreSQL at {place} cannot be trusted"),
            "its certificate is not known here: name its authority by `sslrootcert` in `store.url`",
        ),
        _ if matches!(error, sqlx::Error::Io(_)) => (
            format!("PostgreSQL at {place} cannot be reached"),
            "check that it runs, and that `store.url` is right; it is tried again with the next use",
        ),
        _ if matches!(error, sqlx::Error::Tls(_)) => (
            format!("PostgreSQL at {place} cannot be reached safely"),
            "check `sslmode` and `sslrootcert` in `store.url`",
        ),
        _ => (format!("PostgreSQL at {place} cannot be used"), "the log says why"),
    }
}
