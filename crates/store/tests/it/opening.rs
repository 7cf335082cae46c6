//! What is made when a store is opened, and what is not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use toolgate_core::{AuditQuery, Collection, Store};
use toolgate_store::StoreConfig;
use toolgate_testkit::Postgres;

use crate::stage::{BOTH, Kind, Stage, in_full, insert, must, shown};

#[tokio::test]
async fn reading_makes_no_file_and_writing_a_private_one() {
    let stage = Stage::on(Kind::Sqlite);
    let store = stage.handle();
    let folder = stage.file().parent().unwrap().to_owned();
    assert_eq!(store.get(Collection::State, "a").await.unwrap(), None);
    assert_eq!(store.list(Collection::State).await.unwrap(), []);
    assert_eq!(store.find_audit(&AuditQuery::default()).await.unwrap(), []);
    assert_eq!((store.prune_audit(9).await.unwrap(), store.sweep().await.unwrap()), (0, 0));
    assert!(!store.exists() && !folder.exists());
    must(&*store, insert("a", "1")).await;
    assert!(store.exists());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let mut modes: Vec<(String, u32)> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), mode(&entry.path())))
        .collect();
    modes.sort();
    let expect = ["", "-shm", "-wal"].map(|end| (format!("toolgate.db{end}"), 0o600));
    assert_eq!((mode(&folder), modes), (0o700, expect.to_vec()));
}

#[tokio::test]
async fn what_was_written_is_there_for_the_next_process() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let store = stage.handle();
        must(&*store, insert("a", "1")).await;
        store.close().await;
        assert!(store.list(Collection::State).await.is_err(), "{kind:?}: it was closed");
        assert_eq!(shown(&*stage.handle()).await, ["a@1=1"], "{kind:?}");
    }
}

#[tokio::test]
async fn a_path_may_have_odd_characters() {
    let stage = Stage::at("a b/ü%41?#&.db");
    must(&*stage.handle(), insert("a", "1")).await;
    assert!(stage.file().exists());
    assert_eq!(shown(&*stage.handle()).await, ["a@1=1"]);
}

#[tokio::test]
async fn tables_of_a_newer_version_are_left_alone() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        must(&*stage.handle(), insert("a", "1")).await;
        let newer = "INSERT INTO toolgate_schema VALUES (7)";
        match kind {
            Kind::Postgres => drop(Postgres::shared().sql(&stage.url, newer)),
            Kind::Sqlite => {
                sqlx::any::install_default_drivers();
                let url = format!("sqlite://{}", stage.file().display());
                let pool = sqlx::AnyPool::connect(&url).await.unwrap();
                sqlx::query(newer).execute(&pool).await.unwrap();
            }
        }
        let error = stage.handle().write(vec![insert("b", "")]).await.unwrap_err();
        assert!(error.to_string().ends_with("by a newer version: its tables are at 7, we know 1"), "{error}");
        assert!(in_full(&error).contains("use the newer version"), "{error:?}");
    }
}

#[test]
fn a_configuration_does_not_show_its_password() {
    let config = StoreConfig { url: Some("postgres://me:hunter2@db/gate".into()) };
    let place = config.place("/data".as_ref()).unwrap();
    assert_eq!(
        format!("{config:?} {place}"),
        "StoreConfig { url: Some(\"[secret]\") } `postgres://me@db/gate`"
    );
    assert!(!format!("{place:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_handle_does_not_show_its_password() {
    let stage = Stage::on(Kind::Postgres);
    let store = stage.handle();
    must(&*store, insert("a", "1")).await;
    let shown = format!("{store:?} {}", store.place());
    assert!(!shown.contains(Postgres::shared().password()), "{shown}");
}
