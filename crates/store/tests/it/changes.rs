//! Who is told of which change.

use std::time::{Duration, SystemTime};

use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::TryRecvError;
use toolgate_core::{Collection, Store, Write};
use toolgate_testkit::Postgres;

use crate::stage::{BOTH, Kind, Stage, insert, insert_until, must, shown};

const LONG: Duration = Duration::from_secs(120);

/// Waits until a collection is told.
async fn hear(changes: &mut Receiver<Collection>, wanted: Collection) {
    let heard = async { while changes.recv().await.unwrap() != wanted {} };
    tokio::time::timeout(LONG, heard).await.expect("the change was never told");
}

/// Waits until the watching has begun, which tells everything once.
async fn settle(changes: &mut Receiver<Collection>) {
    for collection in Collection::ALL {
        hear(changes, collection).await;
    }
}

fn token(id: &str) -> Write {
    Write::Insert { collection: Collection::Tokens, id: id.into(), body: String::new(), expires_ms: None }
}

#[tokio::test]
async fn another_process_sees_what_was_changed_and_nothing_else() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let (here, there) = (stage.handle(), stage.handle());
        must(&*here, insert("a", "1")).await;
        let mut changes = there.changes();
        settle(&mut changes).await;
        for n in 0..3 {
            must(&*here, token(&n.to_string())).await;
            let heard = tokio::time::timeout(LONG, changes.recv()).await;
            assert_eq!(heard.unwrap(), Ok(Collection::Tokens), "{kind:?}");
            assert_eq!(there.list(Collection::Tokens).await.unwrap().len(), n + 1);
        }
    }
}

#[tokio::test]
async fn a_file_that_rested_for_long_is_still_looked_at() {
    let stage = Stage::on(Kind::Sqlite);
    let (here, there) = (stage.handle(), stage.handle());
    must(&*here, insert("a", "1")).await;
    let mut changes = there.changes();
    settle(&mut changes).await;
    for n in 0..3 {
        for end in ["", "-wal"] {
            let path = format!("{}{end}", stage.file().display());
            let file = std::fs::File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(100 + n)).unwrap();
        }
        // Time for the watching to find that nothing happens any more.
        tokio::time::sleep(Duration::from_millis(400)).await;
        must(&*here, token(&n.to_string())).await;
        hear(&mut changes, Collection::Tokens).await;
    }
}

#[tokio::test]
async fn a_store_that_is_made_later_is_noticed_and_none_is_made_to_look() {
    let stage = Stage::on(Kind::Sqlite);
    let (here, there) = (stage.handle(), stage.handle());
    let mut changes = there.changes();
    settle(&mut changes).await;
    assert!(!there.exists());
    must(&*here, token("a")).await;
    hear(&mut changes, Collection::Tokens).await;
    assert_eq!(there.list(Collection::Tokens).await.unwrap().len(), 1);
}

#[tokio::test]
async fn nothing_is_missed_however_listening_and_writing_meet() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let here = stage.handle();
        must(&*here, insert("first", "")).await;
        for n in 0..12 {
            // A new handle each time, whose watching begins while the other writes.
            let there = stage.handle();
            let mut changes = there.changes();
            let before = shown(&*there).await.len();
            must(&*here, insert(&n.to_string(), "")).await;
            while shown(&*there).await.len() == before {
                hear(&mut changes, Collection::State).await;
            }
            // Once it is read, it must have been told, or be told soon.
            hear(&mut changes, Collection::State).await;
        }
    }
}

#[tokio::test]
async fn watching_ends_with_the_last_listener_and_begins_anew() {
    let stage = Stage::on(Kind::Sqlite);
    let (here, there) = (stage.handle(), stage.handle());
    must(&*here, insert("a", "")).await;
    for _ in 0..2 {
        let mut changes = there.changes();
        let mut second = there.changes();
        settle(&mut changes).await;
        let busy = stage.tasks.len();
        drop(changes);
        must(&*here, token(&format!("{busy}-{:?}", std::time::Instant::now()))).await;
        hear(&mut second, Collection::Tokens).await;
        drop(second);
        let ended = async {
            while stage.tasks.len() >= busy {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG, ended).await.unwrap();
    }
}

#[tokio::test]
async fn after_the_server_was_gone_everything_is_told() {
    let server = Postgres::start();
    let stage = Stage::at(&server.database());
    let (here, there) = (stage.handle(), stage.handle());
    must(&*here, insert("a", "1")).await;
    let mut changes = there.changes();
    settle(&mut changes).await;
    server.stop();
    server.resume();
    settle(&mut changes).await;
    must(&*here, token("b")).await;
    hear(&mut changes, Collection::Tokens).await;
}

#[tokio::test]
async fn expired_documents_are_swept_and_their_collection_is_told() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let store = stage.handle();
        assert_eq!(store.sweep().await.unwrap(), 0);
        let soon = Some(stage.clock.unix_ms() + 1);
        let writes = (0..700).map(|n| insert_until(&format!("x{n}"), "", soon)).collect();
        assert_eq!(store.write(writes).await.unwrap(), toolgate_core::Written::Done);
        must(&*store, insert("stays", "")).await;
        let other = stage.handle();
        let mut changes = other.changes();
        settle(&mut changes).await;
        assert_eq!(store.sweep().await.unwrap(), 0);
        assert_eq!(changes.try_recv(), Err(TryRecvError::Empty));
        stage.clock.advance(Duration::from_millis(1));
        assert_eq!(store.sweep().await.unwrap(), 700);
        hear(&mut changes, Collection::State).await;
        assert_eq!(shown(&*store).await, ["stays@1="]);
    }
}
