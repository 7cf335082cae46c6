//! The store in memory keeps what the trait promises.

use std::time::Duration;

use super::*;

const WHERE: Collection = Collection::State;

fn insert(id: &str, expires_ms: Option<u64>) -> Write {
    Write::Insert { collection: WHERE, id: id.into(), body: "1".into(), expires_ms }
}

fn replace(id: &str, revision: i64) -> Write {
    Write::Replace { collection: WHERE, id: id.into(), revision, body: "2".into(), expires_ms: None }
}

fn remove(id: &str, revision: i64) -> Write {
    Write::Remove { collection: WHERE, id: id.into(), revision }
}

#[tokio::test]
async fn changes_are_made_all_or_none() {
    let store = MemoryStore::new();
    let check = async |writes: Vec<Write>, expect: Written, ids: &[&str]| {
        assert_eq!(store.write(writes.clone()).await.unwrap(), expect, "{writes:?}");
        let found = store.list(WHERE).await.unwrap();
        assert_eq!(found.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ids, "{writes:?}");
    };
    check(vec![insert("b", None), insert("a", None)], Written::Done, &["a", "b"]).await;
    check(vec![insert("c", None), insert("a", None)], Written::Conflict, &["a", "b"]).await;
    check(vec![replace("a", 1), remove("b", 2)], Written::Conflict, &["a", "b"]).await;
    check(vec![replace("a", 1), remove("b", 1)], Written::Done, &["a"]).await;
    check(vec![replace("a", 1)], Written::Conflict, &["a"]).await;
    check(vec![remove("x", 1)], Written::Conflict, &["a"]).await;
    let a = store.get(WHERE, "a").await.unwrap().unwrap();
    assert_eq!((a.revision, a.body.as_str()), (2, "2"));
    assert_eq!(store.get(Collection::Pins, "a").await.unwrap(), None);
}

#[tokio::test]
async fn what_expired_is_gone_and_can_be_put_anew() {
    let clock = Clock::manual(1_000);
    let store = MemoryStore::on(clock.clone());
    assert_eq!(store.write(vec![insert("a", Some(2_000))]).await.unwrap(), Written::Done);
    assert!(store.get(WHERE, "a").await.unwrap().is_some());
    clock.advance(Duration::from_secs(1));
    assert_eq!(store.get(WHERE, "a").await.unwrap(), None);
    assert_eq!(store.list(WHERE).await.unwrap(), []);
    assert_eq!(store.write(vec![insert("a", None)]).await.unwrap(), Written::Done);
}

#[tokio::test]
async fn changes_are_told_once_per_collection_and_only_when_made() {
    let store = MemoryStore::new();
    let mut changes = store.changes();
    assert_eq!(store.write(vec![insert("a", None), insert("b", None)]).await.unwrap(), Written::Done);
    assert_eq!(store.write(vec![insert("a", None)]).await.unwrap(), Written::Conflict);
    assert_eq!(changes.try_recv().unwrap(), WHERE);
    assert!(changes.try_recv().is_err());
}

#[tokio::test]
async fn a_store_told_to_fail_fails_until_told_otherwise() {
    let store = MemoryStore::new();
    store.fail(true);
    assert!(store.write(vec![insert("a", None)]).await.is_err());
    assert!(store.list(WHERE).await.is_err());
    store.fail(false);
    assert_eq!(store.list(WHERE).await.unwrap(), []);
}

fn row(writer: &str, sequence: i64, time_ms: u64, target: &str) -> AuditRow {
    AuditRow {
        writer: writer.into(),
        sequence,
        time_ms,
        principal: "local".into(),
        target: target.into(),
        outcome: "complete".into(),
        line: "{}".into(),
    }
}

#[tokio::test]
async fn the_audit_is_found_newest_first_and_pruned_but_for_the_last_of_each_chain() {
    let store = MemoryStore::new();
    let rows = vec![row("a", 1, 10, "tool:x"), row("a", 2, 20, "tool:y"), row("b", 1, 15, "resource:x")];
    store.append_audit(rows.clone()).await.unwrap();
    store.append_audit(vec![row("a", 1, 99, "other")]).await.unwrap();
    let check = async |query: AuditQuery, expect: &[(&str, i64)]| {
        let found = store.find_audit(&AuditQuery { limit: 9, ..query.clone() }).await.unwrap();
        let found: Vec<_> = found.iter().map(|row| (row.writer.as_str(), row.sequence)).collect();
        assert_eq!(found, expect, "{query:?}");
    };
    let all = AuditQuery::default;
    check(all(), &[("a", 2), ("b", 1), ("a", 1)]).await;
    check(AuditQuery { target: Some("tool:*".into()), ..all() }, &[("a", 2), ("a", 1)]).await;
    check(AuditQuery { target: Some("*:x".into()), ..all() }, &[("b", 1), ("a", 1)]).await;
    check(AuditQuery { since_ms: Some(15), until_ms: Some(20), ..all() }, &[("b", 1)]).await;
    check(AuditQuery { before: Some((20, "a".into(), 2)), ..all() }, &[("b", 1), ("a", 1)]).await;
    check(AuditQuery { principal: Some("other".into()), ..all() }, &[]).await;
    assert_eq!(store.prune_audit(100).await.unwrap(), 1);
    check(all(), &[("a", 2), ("b", 1)]).await;
}
