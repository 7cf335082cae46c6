//! What every store does, case by case: on SQLite, on PostgreSQL, and on the store in memory that tests use.

use std::pin::Pin;
use std::time::Duration;

use toolgate_core::{AuditBatch, AuditQuery, AuditRow, Collection, Document, Store, Write, Written};
use toolgate_host::Clock;
use toolgate_testkit::MemoryStore;

use crate::stage::{BOTH, START_MS, Stage, insert, insert_until, must, remove, replace, shown};

type Case = for<'a> fn(&'a dyn Store, &'a Clock) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

const CASES: &[(&str, Case)] = &[
    ("documents are kept as they are", |store, _| Box::pin(kept_as_they_are(store))),
    ("only who read the last revision may change", |store, _| Box::pin(compared_and_set(store))),
    ("all changes are made, or none", |store, _| Box::pin(all_or_none(store))),
    ("expired documents are gone", |store, clock| Box::pin(expired(store, clock))),
    ("collections do not see each other", |store, _| Box::pin(collections(store))),
    ("own changes are told at once", |store, _| Box::pin(own_changes(store))),
    ("records are added once", |store, _| Box::pin(added_once(store))),
    ("batches are added once", |store, _| Box::pin(added_in_batches(store))),
    ("records are found by everything", |store, _| Box::pin(found(store))),
    ("pages follow each other", |store, _| Box::pin(paged(store))),
    ("each chain has a last record", |store, _| Box::pin(heads(store))),
    ("old records go, the last of a chain stays", |store, _| Box::pin(pruned(store))),
];

#[tokio::test]
async fn every_store_does_the_same() {
    for (name, case) in CASES {
        for kind in BOTH {
            println!("{name} on {kind:?}");
            let stage = Stage::on(kind);
            case(&*stage.handle(), &stage.clock).await;
        }
        println!("{name} in memory");
        let clock = Clock::manual(START_MS);
        case(&MemoryStore::on(clock.clone()), &clock).await;
    }
}

/// Removing must not leave a hole in a chain, even if the clock was set back and an early record seems to be young.
#[tokio::test]
async fn of_a_chain_only_the_beginning_goes() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let store = stage.handle();
        let times = [10, 11, 90, 12, 13, 91];
        let rows: Vec<AuditRow> =
            (1..).zip(times).map(|(sequence, time)| record("a", sequence, time)).collect();
        store.append_audit(rows).await.unwrap();
        assert_eq!(store.prune_audit(50).await.unwrap(), 2, "{kind:?}");
        assert_eq!(places(&*store, &all()).await, ["a6", "a3", "a5", "a4"], "{kind:?}");
    }
}

/// More than go at a time, and of several chains.
#[tokio::test]
async fn many_records_go_bit_by_bit() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let store = stage.handle();
        for writer in ["a", "b"] {
            store
                .append_audit((1..=4500).map(|sequence| record(writer, sequence, 1)).collect())
                .await
                .unwrap();
        }
        assert_eq!(store.prune_audit(2).await.unwrap(), 8998, "{kind:?}");
        assert_eq!(places(&*store, &all()).await, ["b4500", "a4500"], "{kind:?}");
    }
}

async fn kept_as_they_are(store: &dyn Store) {
    assert_eq!(store.get(Collection::State, "none").await.unwrap(), None);
    assert_eq!(shown(store).await, Vec::<String>::new());
    let body = "{\"a\": \"'; DROP TABLE documents; --\", \"ü\": \"\\u0000 🦀\n\"}";
    let long = "x".repeat(1_000_000);
    for (id, body) in [("b", body), ("a%_$1?", ""), ("Ü", "1"), ("B", long.as_str())] {
        must(store, insert(id, body)).await;
        let expect = Document { id: id.into(), revision: 1, body: body.into(), expires_ms: None };
        assert_eq!(store.get(Collection::State, id).await.unwrap(), Some(expect));
    }
    let ids: Vec<String> = store.list(Collection::State).await.unwrap().into_iter().map(|it| it.id).collect();
    assert_eq!(ids, ["B", "a%_$1?", "b", "Ü"], "by their bytes");
    assert_eq!(store.get(Collection::State, "b\0").await.unwrap(), None);
}

async fn compared_and_set(store: &dyn Store) {
    must(store, insert("a", "one")).await;
    let stale =
        [insert("a", "two"), replace("a", 2, "two"), replace("b", 1, "two"), remove("a", 0), remove("b", 1)];
    for write in stale {
        assert_eq!(store.write(vec![write.clone()]).await.unwrap(), Written::Conflict, "{write:?}");
    }
    must(store, replace("a", 1, "two")).await;
    assert_eq!(shown(store).await, ["a@2=two"]);
    assert_eq!(store.write(vec![replace("a", 1, "three")]).await.unwrap(), Written::Conflict);
    must(store, remove("a", 2)).await;
    assert_eq!(shown(store).await, Vec::<String>::new());
    must(store, insert("a", "again")).await;
    assert_eq!(shown(store).await, ["a@1=again"]);
}

async fn all_or_none(store: &dyn Store) {
    assert_eq!(store.write(Vec::new()).await.unwrap(), Written::Done);
    must(store, insert("m", "1")).await;
    let half = vec![insert("z", "1"), replace("m", 1, "2"), insert("a", "1"), remove("none", 1)];
    assert_eq!(store.write(half).await.unwrap(), Written::Conflict);
    assert_eq!(shown(store).await, ["m@1=1"]);
    let whole =
        vec![insert("z", "1"), replace("m", 1, "2"), insert("a", "1"), replace("a", 1, "2"), remove("z", 1)];
    assert_eq!(store.write(whole).await.unwrap(), Written::Done);
    assert_eq!(shown(store).await, ["a@2=2", "m@2=2"]);
}

async fn expired(store: &dyn Store, clock: &Clock) {
    let until = Some(clock.unix_ms() + 1000);
    for id in ["removed", "anew", "replaced", "stays"] {
        must(store, insert_until(id, "old", until.filter(|_| id != "stays"))).await;
    }
    let found = store.get(Collection::State, "anew").await.unwrap().unwrap();
    assert_eq!(found.expires_ms, until);
    clock.advance(Duration::from_millis(999));
    assert_eq!(shown(store).await.len(), 4);
    assert_eq!(store.write(vec![insert("anew", "new")]).await.unwrap(), Written::Conflict);
    clock.advance(Duration::from_millis(1));
    assert_eq!(shown(store).await, ["stays@1=old"]);
    assert_eq!(store.get(Collection::State, "anew").await.unwrap(), None);
    must(store, insert("anew", "new")).await;
    must(store, replace("replaced", 1, "new")).await;
    must(store, remove("removed", 1)).await;
    assert_eq!(shown(store).await, ["anew@1=new", "replaced@2=new", "stays@1=old"]);
}

async fn collections(store: &dyn Store) {
    for collection in Collection::ALL {
        let body = collection.as_str().to_owned();
        let write = Write::Insert { collection, id: "same".into(), body, expires_ms: None };
        must(store, write).await;
    }
    for collection in Collection::ALL {
        let documents = store.list(collection).await.unwrap();
        let bodies: Vec<&str> = documents.iter().map(|document| document.body.as_str()).collect();
        assert_eq!(bodies, [collection.as_str()]);
    }
}

async fn own_changes(store: &dyn Store) {
    let mut changes = store.changes();
    must(store, insert("a", "1")).await;
    // Others may have been told before, when the watching began.
    while changes.try_recv().expect("the change was not told") != Collection::State {}
}

fn record(writer: &str, sequence: i64, time_ms: u64) -> AuditRow {
    let [principal, target, outcome] = ["alice", "tool:workspace_read", "complete"].map(String::from);
    let line = format!("{{\"n\":{sequence}}}");
    AuditRow { writer: writer.into(), sequence, time_ms, principal, target, outcome, line }
}

fn all() -> AuditQuery {
    AuditQuery { limit: 1000, ..AuditQuery::default() }
}

async fn places(store: &dyn Store, query: &AuditQuery) -> Vec<String> {
    let rows = store.find_audit(query).await.unwrap();
    rows.iter().map(|row| format!("{}{}", row.writer, row.sequence)).collect()
}

async fn added_once(store: &dyn Store) {
    assert_eq!(store.find_audit(&all()).await.unwrap(), []);
    store.append_audit(Vec::new()).await.unwrap();
    let rows: Vec<AuditRow> = (1..=250).map(|sequence| record("a", sequence, 10)).collect();
    store.append_audit_lines(rows.iter().map(AuditRow::borrowed).collect()).await.unwrap();
    let other = AuditRow { line: "forged".into(), ..record("a", 250, 99) };
    store.append_audit(vec![other, record("a", 251, 11)]).await.unwrap();
    let found = store.find_audit(&all()).await.unwrap();
    assert_eq!(found.first(), Some(&record("a", 251, 11)));
    let expect: Vec<AuditRow> = rows.into_iter().rev().collect();
    assert_eq!(found.get(1..), Some(expect.as_slice()));
}

/// A record whose line tells everything.
fn told(sequence: i64) -> AuditRow {
    let row = record("a", sequence, 100 + sequence.unsigned_abs());
    let line = format!(
        r#"{{"v":1,"writer":"a","seq":{sequence},"time_ms":{},"principal":"{}","target":"{}","outcome":"{}"}}"#,
        row.time_ms, row.principal, row.target, row.outcome
    );
    AuditRow { line, ..row }
}

async fn added_in_batches(store: &dyn Store) {
    let rows: Vec<AuditRow> = (1..=9).map(told).collect();
    let lines = |from: usize, to: usize| -> String {
        rows[from - 1..to].iter().map(|row| format!("{}\n", row.line)).collect()
    };
    let texts = [(1, 3), (4, 6), (5, 8), (9, 9)].map(|(from, to)| lines(from, to));
    let [one, two, across, last] =
        [(0, 1, 3), (1, 4, 3), (2, 5, 4), (3, 9, 1)].map(|(text, first, count)| {
            let [from_ms, to_ms] = [first, first + count - 1].map(|place: i64| 100 + place.unsigned_abs());
            let (principal, text) = (Some(&*rows[0].principal), &*texts[text]);
            AuditBatch { writer: "a", first, count, from_ms, to_ms, principal, text }
        });
    store.append_audit_batches(Vec::new()).await.unwrap();
    store.append_audit_batches(vec![one.clone(), two]).await.unwrap();
    // Some are there already, some are not, and then all are.
    store.append_audit_batches(vec![across.clone(), last]).await.unwrap();
    store.append_audit_batches(vec![one, across]).await.unwrap();
    let expect: Vec<AuditRow> = rows.iter().rev().cloned().collect();
    assert_eq!(store.find_audit(&all()).await.unwrap(), expect);
    assert_eq!(store.audit_heads().await.unwrap(), expect[..1]);
    let query = AuditQuery { principal: Some(rows[0].principal.clone()), since_ms: Some(108), ..all() };
    assert_eq!(places(store, &query).await, ["a9", "a8"]);
    assert_eq!(store.prune_audit(105).await.unwrap(), 4);
    assert_eq!(places(store, &AuditQuery { until_ms: Some(108), ..all() }).await, ["a7", "a6", "a5"]);
}

async fn found(store: &dyn Store) {
    let rows = vec![
        AuditRow { principal: "bob".into(), ..record("a", 1, 10) },
        AuditRow { target: "tool:a_b%c!d".into(), ..record("a", 2, 20) },
        AuditRow { outcome: "failed".into(), ..record("b", 1, 30) },
        AuditRow { target: "prompt:greet".into(), ..record("b", 2, 40) },
    ];
    store.append_audit(rows).await.unwrap();
    let text = |text: &str| Some(text.to_owned());
    let cases: &[(AuditQuery, &[&str])] = &[
        (all(), &["b2", "b1", "a2", "a1"]),
        (AuditQuery { since_ms: Some(20), until_ms: Some(40), ..all() }, &["b1", "a2"]),
        (AuditQuery { until_ms: Some(u64::MAX), ..all() }, &["b2", "b1", "a2", "a1"]),
        (AuditQuery { principal: text("bob"), ..all() }, &["a1"]),
        (AuditQuery { principal: text("Bob"), ..all() }, &[]),
        (AuditQuery { outcome: text("failed"), ..all() }, &["b1"]),
        (AuditQuery { writer: text("a"), ..all() }, &["a2", "a1"]),
        (AuditQuery { target: text("prompt:greet"), ..all() }, &["b2"]),
        (AuditQuery { target: text("prompt:"), ..all() }, &[]),
        (AuditQuery { target: text("prompt:*"), ..all() }, &["b2"]),
        (AuditQuery { target: text("PROMPT:*"), ..all() }, &[]),
        (AuditQuery { target: text("tool:*_*"), ..all() }, &["b1", "a2", "a1"]),
        (AuditQuery { target: text("*_b%c!*"), ..all() }, &["a2"]),
        (AuditQuery { target: text("tool:a%*"), ..all() }, &[]),
        (AuditQuery { target: text("*e*t"), writer: text("b"), ..all() }, &["b2"]),
        (AuditQuery { target: text("*\0*"), ..all() }, &[]),
        (AuditQuery { principal: text("alice"), since_ms: Some(30), limit: 1, ..all() }, &["b2"]),
    ];
    for (query, expect) in cases {
        assert_eq!(places(store, query).await, *expect, "{query:?}");
    }
}

async fn paged(store: &dyn Store) {
    // Many at the same time, so that writer and sequence decide.
    let rows: Vec<AuditRow> =
        (0..60).map(|n: i64| record(["B", "a", "b"][n as usize % 3], n / 3 + 1, n as u64 / 20)).collect();
    store.append_audit(rows).await.unwrap();
    let whole = store.find_audit(&all()).await.unwrap();
    let mut pages = Vec::new();
    let mut query = AuditQuery { limit: 7, ..all() };
    loop {
        let page = store.find_audit(&query).await.unwrap();
        let Some(last) = page.last() else { break };
        query.before = Some((last.time_ms, last.writer.clone(), last.sequence));
        pages.extend(page);
    }
    assert_eq!((pages.len(), pages), (60, whole));
}

async fn heads(store: &dyn Store) {
    assert_eq!(store.audit_heads().await.unwrap(), []);
    // The clock of `a` was set back.
    let rows = [("a", 1, 50), ("a", 2, 20), ("b", 1, 10), ("b", 2, 11), ("c", 7, 40)];
    store
        .append_audit(rows.map(|(writer, sequence, time)| record(writer, sequence, time)).into())
        .await
        .unwrap();
    let mut heads = store.audit_heads().await.unwrap();
    heads.sort_by(|a, b| a.writer.cmp(&b.writer));
    assert_eq!(heads, [record("a", 2, 20), record("b", 2, 11), record("c", 7, 40)]);
}

async fn pruned(store: &dyn Store) {
    assert_eq!(store.prune_audit(1000).await.unwrap(), 0);
    let times = [("a", 1, 10), ("a", 2, 20), ("a", 3, 30), ("b", 1, 10), ("b", 2, 11), ("c", 1, 40)];
    store
        .append_audit(times.map(|(writer, sequence, time)| record(writer, sequence, time)).into())
        .await
        .unwrap();
    assert_eq!(store.prune_audit(10).await.unwrap(), 0);
    assert_eq!(store.prune_audit(20).await.unwrap(), 2);
    assert_eq!(places(store, &all()).await, ["c1", "a3", "a2", "b2"]);
    assert_eq!(store.prune_audit(1000).await.unwrap(), 1);
    assert_eq!(places(store, &all()).await, ["c1", "a3", "b2"]);
}
