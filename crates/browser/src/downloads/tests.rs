//! Files of pages: their names, what is kept of them, and how many are taken.

use serde_json::json;
use toolgate_core::Principal;

use super::*;
use crate::BrowserConfig;

fn store() -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::new(folder.path().join("browser"), &BrowserConfig::default()), folder)
}

fn told(id: &str, state: &str, received: u64, total: u64) -> Value {
    json!({"guid": id, "state": state, "receivedBytes": received, "totalBytes": total})
}

#[test]
fn a_suggested_name_becomes_only_a_name() {
    #[track_caller]
    fn check(suggested: &str, expect: &str) {
        assert_eq!(clean(suggested), expect, "{suggested}");
    }
    check("report.csv", "report.csv");
    check("../../etc/passwd", "_.._etc_passwd");
    check("", "download");
    check("...", "download");
    check("a b\u{202e}fdp.exe", "a_b_fdp.exe");
    check("Übersicht.pdf", "_bersicht.pdf");
    check(&format!("{}.tar", "x".repeat(5000)), &"x".repeat(60));
    check(&format!("{}.pdf", "x".repeat(200)), &format!("{}.pdf", "x".repeat(60)));
}

#[tokio::test]
async fn what_is_whole_is_kept_once_and_the_rest_is_told() {
    let ((store, _folder), downloads) = (store(), Downloads::new(100).unwrap());
    let ada = Principal::named("ada");
    for id in ["a", "b", "c"] {
        assert!(downloads.begins(id, &format!("{id}.txt")));
    }
    std::fs::write(downloads.folder.path().join("a"), "whole").unwrap();
    assert!(!downloads.goes_on(&told("a", "completed", 5, 0)));
    assert!(!downloads.goes_on(&told("b", "inProgress", 1, 90)));
    assert!(!downloads.goes_on(&told("c", "canceled", 1, 0)));
    // What is not ours, or not understood, changes nothing.
    assert!(!downloads.goes_on(&told("x", "completed", 500, 500)));
    assert!(!downloads.goes_on(&json!(null)));
    let news = downloads.keep(&store, &ada.id).await;
    let shown: Vec<_> = news.items.iter().map(|item| (item.name.as_str(), item.state)).collect();
    assert_eq!(shown, [("b.txt", "under way"), ("a.txt", "kept"), ("c.txt", "stopped")]);
    assert_eq!(store.of(&ada.id).await.unwrap()[0].file.as_deref(), Some("a.txt"));
    assert!(!downloads.folder.path().join("a").exists());
    let again = downloads.keep(&store, &ada.id).await;
    assert_eq!(again.items.len(), 1, "{again:?}");
}

#[tokio::test]
async fn a_page_cannot_flood_the_folder() {
    let ((store, _folder), downloads) = (store(), Downloads::new(100).unwrap());
    let ada = Principal::named("ada");
    for turn in 0..FILES + 5 {
        assert_eq!(downloads.begins(&format!("{turn}"), "x"), turn < FILES);
    }
    assert!(!downloads.begins("../x", "x"));
    // Together they are too much, whatever each of them says.
    assert!(!downloads.goes_on(&told("0", "inProgress", 0, 60)));
    assert!(downloads.goes_on(&told("1", "inProgress", 0, 60)));
    assert!(downloads.goes_on(&told("2", "inProgress", 41, 0)));
    assert!(!downloads.goes_on(&told("0", "completed", 60, 60)));
    // What was stopped stays stopped.
    assert!(!downloads.goes_on(&told("1", "completed", 60, 60)));
    let news = downloads.keep(&store, &ada.id).await;
    assert_eq!(news.refused, 6);
    assert_eq!(news.items.iter().filter(|item| item.state == "too large").count(), 2, "{news:?}");
    // The file of the one that is said to be whole is not there: it is not told as kept.
    assert!(news.items.iter().all(|item| item.uri.is_none()), "{news:?}");
    assert!(store.of(&ada.id).await.unwrap().is_empty());
    assert_eq!(downloads.keep(&store, &ada.id).await.refused, 0);
}
