//! What is kept, for whom and for how long.

use toolgate_core::Principal;

use super::*;

fn store(config: BrowserConfig) -> (Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (Store::new(folder.path().join("browser"), &config), folder)
}

#[tokio::test]
async fn what_one_caller_keeps_nobody_else_reads() {
    let (store, _folder) = store(BrowserConfig::default());
    let (ada, bob) = (Principal::named("ada").id.clone(), Principal::named("bob").id.clone());
    let kept = store.put(&ada, ("png", Some("home")), vec![1, 2, 3]).await.unwrap();
    assert_eq!((kept.tag.as_deref(), kept.mime, kept.bytes), (Some("home"), "image/png", 3));
    assert_eq!(store.of(&ada).await.unwrap(), std::slice::from_ref(&kept));
    assert!(store.of(&bob).await.unwrap().is_empty());
    let read: serde_json::Value = store.read(&ada, &kept.uri()).await.unwrap().to().unwrap();
    assert_eq!(read["contents"][0]["blob"], "AQID");
    assert_eq!(store.read(&bob, &kept.uri()).await.unwrap_err().kind(), Kind::ResourceNotFound);
    for uri in [
        "browser://captures/",
        "browser://captures/../x.png",
        "browser://captures/a%2fb.png",
        "x",
        "browser://captures/.png",
    ] {
        assert_eq!(store.read(&ada, uri).await.unwrap_err().kind(), Kind::ResourceNotFound, "{uri}");
    }
}

#[tokio::test]
async fn the_oldest_go_when_there_is_too_much() {
    let (store, _folder) = store(BrowserConfig { keep_megabytes: 1, ..BrowserConfig::default() });
    let ada = Principal::named("ada").id.clone();
    let mut names = Vec::new();
    for _ in 0..3 {
        names.push(store.put(&ada, ("pdf", None), vec![0; 400 << 10]).await.unwrap().name);
    }
    let left: Vec<String> = store.of(&ada).await.unwrap().into_iter().map(|capture| capture.name).collect();
    assert_eq!(left.len(), 2, "{left:?}");
    let large = store.put(&ada, ("pdf", None), vec![0; 2 << 20]).await.unwrap_err();
    assert_eq!(large.kind(), Kind::InvalidInput);
}

/// Puts so many files into the folder of a caller, the first taken now, each older than the one before.
fn fill(folder: &tempfile::TempDir, who: &PrincipalId, count: u64, bytes: &[u8]) {
    let place = folder.path().join("browser").join(place(who, "").unwrap().as_str());
    std::fs::create_dir_all(&place).unwrap();
    let now = Clock::system().unix_ms();
    for age in 0..count {
        std::fs::write(place.join(format!("{}-00.png", now - age)), bytes).unwrap();
    }
}

#[tokio::test]
async fn however_many_there_are_the_newest_stay() {
    let (store, folder) = store(BrowserConfig { keep_megabytes: 1, ..BrowserConfig::default() });
    let ada = Principal::named("ada").id.clone();
    fill(&folder, &ada, LISTED as u64 + 20, b"");
    let kept = store.put(&ada, ("png", None), vec![0; 300 << 10]).await.unwrap();
    let all = store.of(&ada).await.unwrap();
    assert_eq!((all.len(), all.contains(&kept)), (FILES, true));
    // The quota counts the new ones as well.
    for _ in 0..5 {
        store.put(&ada, ("png", None), vec![0; 300 << 10]).await.unwrap();
    }
    let total: u64 = store.of(&ada).await.unwrap().iter().map(|capture| capture.bytes).sum();
    assert_eq!(total, 3 * (300 << 10));
}

#[tokio::test]
async fn calls_at_once_may_remove_the_same_files() {
    let (store, folder) = store(BrowserConfig { keep_megabytes: 1, ..BrowserConfig::default() });
    let ada = Principal::named("ada").id.clone();
    fill(&folder, &ada, 500, &[0; 2 << 10]);
    let put = || store.put(&ada, ("png", None), vec![0; 400 << 10]);
    let (one, other, third) = tokio::join!(put(), put(), put());
    assert!(one.is_ok() && other.is_ok() && third.is_ok(), "{one:?} {other:?} {third:?}");
}

#[tokio::test]
async fn what_is_too_old_is_gone_for_all_callers() {
    let (store, folder) = store(BrowserConfig { keep_days: 1, ..BrowserConfig::default() });
    let ada = Principal::named("ada").id.clone();
    fill(&folder, &ada, 1, b"new");
    let (of, name) = (place(&ada, "").unwrap(), "1000-00.png");
    let old = folder.path().join("browser").join(of.as_str()).join(name);
    std::fs::write(&old, b"old").unwrap();
    std::fs::write(folder.path().join("browser/file"), b"no folder").unwrap();
    assert_eq!(store.of(&ada).await.unwrap().len(), 1);
    let read = store.read(&ada, &format!("{URI}{name}")).await.unwrap_err();
    assert_eq!(read.kind(), Kind::ResourceNotFound);
    store.sweep().await.unwrap();
    assert!(!old.exists());
    assert_eq!(store.of(&ada).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_listed_is_no_empty_one() {
    let (store, folder) = store(BrowserConfig::default());
    let ada = Principal::named("ada").id.clone();
    std::fs::create_dir_all(folder.path().join("browser")).unwrap();
    std::fs::write(folder.path().join("browser").join(place(&ada, "").unwrap().as_str()), b"").unwrap();
    assert_eq!(store.of(&ada).await.unwrap_err().kind(), Kind::Internal);
}

#[test]
fn names_say_what_is_kept() {
    assert_eq!(Capture::parse("12-ab-my-tag.webp", 5).unwrap().tag.as_deref(), Some("my-tag"));
    assert_eq!(Capture::parse("12-ab.png", 5).unwrap().tag, None);
    let download = Capture::parse("12-ab_my-file.CSV", 5).unwrap();
    assert_eq!((download.file.as_deref(), download.mime), (Some("my-file.CSV"), "text/csv"));
    assert_eq!(Capture::parse("12-ab_x", 5).unwrap().mime, "application/octet-stream");
    for name in ["", "12.png", "x-ab.png", "12-ab.exe", "12-ab"] {
        assert_eq!(Capture::parse(name, 5), None, "{name}");
    }
    for text in ["", "a b", "../x", &"x".repeat(41)] {
        assert!(tag(text).is_err(), "{text}");
    }
}
