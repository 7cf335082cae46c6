//! What is said when a database fails, and that it heals.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use sqlx::{AnyConnection, Connection as _, Executor as _};
use toolgate_core::{Collection, Store, StoreError};
use toolgate_testkit::Postgres;

use crate::stage::{Kind, Stage, in_full, insert, must, shown};

/// Short for a test, but long enough to connect on a machine that is busy with other tests.
const SHORT: Duration = Duration::from_secs(3);

/// The error says what happened and what to do, and no password.
#[track_caller]
fn check<T: std::fmt::Debug>(outcome: Result<T, StoreError>, what: &str, hint: &str) {
    let error = outcome.expect_err(what);
    let whole = in_full(&error);
    assert!(error.to_string().contains(what), "{whole}");
    assert!(error.next_step().unwrap_or_default().contains(hint), "{whole}");
    assert!(!whole.contains(Postgres::shared().password()) && !whole.contains("hunter2"), "{whole}");
}

#[tokio::test]
async fn a_file_that_another_process_locks_is_waited_for_then_told_then_used() {
    let stage = Stage::on(Kind::Sqlite);
    let store = stage.handle_with(SHORT);
    must(&*store, insert("a", "1")).await;
    let url = format!("sqlite://{}", stage.file().display());
    let mut other = AnyConnection::connect(&url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    check(store.write(vec![insert("b", "1")]).await, "is locked by another process", "tried again");
    assert_eq!(shown(&*store).await, ["a@1=1"], "reading goes on");
    other.execute("ROLLBACK").await.unwrap();
    must(&*store, insert("b", "1")).await;
}

#[tokio::test]
async fn a_folder_or_file_in_the_way_is_told_and_found_gone() {
    let stage = Stage::on(Kind::Sqlite);
    let store = stage.handle();
    let folder = stage.file().parent().unwrap().to_owned();
    fs::write(&folder, "").unwrap();
    check(store.write(vec![insert("a", "1")]).await, "cannot be made", "let this user write");
    fs::remove_file(&folder).unwrap();
    fs::create_dir_all(stage.file()).unwrap();
    check(store.write(vec![insert("a", "1")]).await, "cannot be opened", "let this user read and write");
    fs::remove_dir(stage.file()).unwrap();
    fs::write(stage.file(), "this is no database, but a text of some length".repeat(50)).unwrap();
    check(store.write(vec![insert("a", "1")]).await, "damaged, or no database", "restore a copy");
    fs::remove_file(stage.file()).unwrap();
    must(&*store, insert("a", "1")).await;
}

#[tokio::test]
async fn a_file_that_may_not_be_written_is_told() {
    let stage = Stage::on(Kind::Sqlite);
    let first = stage.handle();
    must(&*first, insert("a", "1")).await;
    // The journal can be changed only when nobody else has the file open.
    first.close().await;
    // Root may write anything, but not with these flags set by the file itself: SQLite reads its header.
    let url = format!("sqlite://{}", stage.file().display());
    let mut other = AnyConnection::connect(&url).await.unwrap();
    other.execute("PRAGMA journal_mode = DELETE").await.unwrap();
    other.close().await.unwrap();
    let mut bytes = fs::read(stage.file()).unwrap();
    // The version for writing: newer than any SQLite knows, which makes the file read-only.
    bytes[18] = 9;
    fs::write(stage.file(), bytes).unwrap();
    fs::set_permissions(stage.file(), fs::Permissions::from_mode(0o600)).unwrap();
    let store = stage.handle();
    check(store.write(vec![insert("b", "1")]).await, "may not be written", "let this user write");
}

#[tokio::test]
async fn a_server_that_is_gone_is_told_and_used_again_when_it_is_back() {
    let server = Postgres::start();
    let stage = Stage::at(&server.database());
    let store = stage.handle_with(SHORT * 2);
    must(&*store, insert("a", "1")).await;
    server.stop();
    check(store.write(vec![insert("b", "1")]).await, "cannot be reached", "check that it runs");
    check(store.list(Collection::State).await, "cannot be reached", "check that it runs");
    check(stage.handle_with(SHORT).connect().await, "cannot be reached", "check that it runs");
    server.resume();
    must(&*store, insert("b", "1")).await;
    assert_eq!(shown(&*store).await, ["a@1=1", "b@1=1"]);
}

#[tokio::test]
async fn connections_that_were_cut_are_made_anew() {
    let stage = Stage::on(Kind::Postgres);
    let store = stage.handle();
    must(&*store, insert("a", "1")).await;
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for n in 0..3 {
        Postgres::shared().sql(&stage.url, cut);
        must(&*store, insert(&format!("b{n}"), "1")).await;
    }
}

#[tokio::test]
async fn a_wrong_password_and_a_missing_database_are_told() {
    let server = Postgres::shared();
    let wrong = server.address("postgres").replace(server.password(), "hunter2");
    check(
        Stage::at(&wrong).handle().connect().await,
        "does not let us in",
        "check the user and the password",
    );
    let missing = server.address("nowhere");
    check(Stage::at(&missing).handle().connect().await, "has no database at", "createdb");
    let plain = format!("{}?sslmode=require", server.address("postgres"));
    check(Stage::at(&plain).handle().connect().await, "cannot be reached safely", "sslmode");
}

#[tokio::test]
async fn all_connections_may_be_busy_for_a_while() {
    let stage = Stage::on(Kind::Postgres);
    must(&*stage.handle(), insert("a", "1")).await;
    let store = stage.handle_with(SHORT);
    let mut other = AnyConnection::connect(&stage.url).await.unwrap();
    other.execute("BEGIN; LOCK TABLE documents IN ACCESS EXCLUSIVE MODE").await.unwrap();
    // As many as there are connections wait for the lock; the others for a connection.
    let waiting: Vec<_> = (0..8)
        .map(|n| {
            let store = store.clone();
            stage.tasks.spawn(async move { store.get(Collection::State, &n.to_string()).await })
        })
        .collect();
    for task in waiting {
        let error = task.await.unwrap().unwrap_err().to_string();
        assert!(error.contains("are busy") || error.contains("did not answer within"), "{error}");
    }
    other.execute("ROLLBACK").await.unwrap();
    let patient = async { while store.get(Collection::State, "a").await.is_err() {} };
    tokio::time::timeout(Duration::from_secs(120), patient).await.expect("it does not heal");
}

#[tokio::test]
async fn a_zero_byte_is_refused_on_both_alike() {
    for kind in crate::stage::BOTH {
        let store = Stage::on(kind).handle();
        for write in [insert("a\0", ""), insert("a", "\0")] {
            let error = store.write(vec![write]).await.unwrap_err();
            assert_eq!(error.to_string(), "a document with a zero byte cannot be kept");
        }
    }
}
