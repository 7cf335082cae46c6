//! Many who write at once.

use toolgate_core::{AuditQuery, AuditRow, Collection, Store, Written};

use crate::stage::{BOTH, Stage, insert, must, replace, shown};

const WRITERS: usize = 8;
const STEPS: usize = 15;

/// Counts up a document as one must: read, change, and begin anew if someone else was faster.
async fn count_up(store: &dyn Store) {
    for _ in 0..STEPS {
        loop {
            let found = store.get(Collection::State, "count").await.unwrap().unwrap();
            let next = (found.body.parse::<usize>().unwrap() + 1).to_string();
            let write = replace("count", found.revision, &next);
            if store.write(vec![write]).await.unwrap() == Written::Done {
                break;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_update_is_lost_however_many_write() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        // Half of them on one handle, the others as if each were a process of its own.
        let first = stage.handle();
        must(&*first, insert("count", "0")).await;
        let handles = (0..WRITERS).map(|n| if n % 2 == 0 { first.clone() } else { stage.handle() });
        let counting: Vec<_> =
            handles.map(|store| stage.tasks.spawn(async move { count_up(&*store).await })).collect();
        for task in counting {
            task.await.unwrap();
        }
        let total = WRITERS * STEPS;
        assert_eq!(shown(&*first).await, [format!("count@{}={total}", total + 1)], "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_insert_the_same_one_wins() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        // No file and no tables yet: all of them try to make those, too.
        let racing: Vec<_> = (0..WRITERS)
            .map(|n| {
                let store = stage.handle();
                let write = vec![insert("a", &n.to_string()), insert(&format!("b{n}"), "")];
                stage.tasks.spawn(async move { store.write(write).await.unwrap() })
            })
            .collect();
        let mut won = 0;
        for task in racing {
            won += usize::from(task.await.unwrap() == Written::Done);
        }
        assert_eq!((won, shown(&*stage.handle()).await.len()), (1, 2), "{kind:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_change_the_same_documents_in_any_order() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let first = stage.handle();
        must(&*first, insert("a", "")).await;
        must(&*first, insert("b", "")).await;
        let racing: Vec<_> = (0..WRITERS)
            .map(|n| {
                let store = stage.handle();
                stage.tasks.spawn(async move {
                    let mut names = ["a", "b"];
                    names.rotate_left(n % 2);
                    for _ in 0..STEPS {
                        let revision = store.get(Collection::State, "a").await.unwrap().unwrap().revision;
                        let writes = names.map(|name| replace(name, revision, "")).into();
                        assert!(store.write(writes).await.is_ok());
                    }
                })
            })
            .collect();
        for task in racing {
            task.await.unwrap();
        }
        let revisions: Vec<i64> =
            first.list(Collection::State).await.unwrap().iter().map(|document| document.revision).collect();
        assert_eq!(revisions[0], revisions[1], "{kind:?}: both or none");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_add_records_at_once_even_the_same_ones() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let record = |sequence| AuditRow {
            writer: "w".into(),
            sequence,
            time_ms: 1,
            principal: String::new(),
            target: String::new(),
            outcome: String::new(),
            line: String::new(),
        };
        let racing: Vec<_> = (0..WRITERS)
            .map(|n| {
                let store = stage.handle();
                let mut rows: Vec<AuditRow> = (1..=150).map(record).collect();
                rows.rotate_left(n * 10);
                stage.tasks.spawn(async move { store.append_audit(rows).await.unwrap() })
            })
            .collect();
        for task in racing {
            task.await.unwrap();
        }
        let found = stage.handle().find_audit(&AuditQuery { limit: 1000, ..AuditQuery::default() }).await;
        assert_eq!(found.unwrap().len(), 150, "{kind:?}");
    }
}
