//! Secrets are kept encrypted, and only under their own name and key.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolgate_core::{Collection, SharedStore, Write, Written};
use toolgate_host::{Clock, Secret};
use toolgate_secrets::{BadValue, KeySource, SecretError, SecretInfo, Secrets};
use toolgate_testkit::MemoryStore;

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn secret(value: &str) -> Secret {
    Secret::new(value.into())
}

fn given(store: &SharedStore, key: &str) -> Secrets {
    Secrets::new(store.clone(), KeySource::Given(secret(key)), Clock::system())
}

fn in_folder(store: &SharedStore, folder: &Path) -> Secrets {
    Secrets::new(store.clone(), KeySource::in_data(folder), Clock::system())
}

fn store() -> SharedStore {
    Arc::new(MemoryStore::new())
}

#[tokio::test]
async fn what_was_set_is_listed_without_its_value_and_loaded_with_it() {
    let clock = Clock::manual(1_000);
    let secrets = Secrets::new(store(), KeySource::Given(secret(KEY)), clock.clone());
    let (a, b) = ("A".parse().unwrap(), "B_2".parse().unwrap());
    secrets.set(&b, &secret("value of b")).await.unwrap();
    secrets.set(&a, &secret("value of a")).await.unwrap();
    clock.advance(Duration::from_secs(1));
    secrets.set(&b, &secret("new value of b")).await.unwrap();
    let info = |name: &str, updated_ms| SecretInfo { name: name.into(), created_ms: 1_000, updated_ms };
    assert_eq!(secrets.list().await.unwrap(), [info("A", 1_000), info("B_2", 2_000)]);
    let loaded = secrets.load().await.unwrap();
    let loaded: Vec<_> = loaded.iter().map(|(name, secret)| (name.as_str(), secret.expose())).collect();
    assert_eq!(loaded, [("A", "value of a"), ("B_2", "new value of b")]);
    assert!(secrets.remove(&a).await.unwrap());
    assert!(!secrets.remove(&a).await.unwrap());
    assert!(secrets.load().await.unwrap().get("A").is_none());
}

#[tokio::test]
async fn the_store_never_sees_a_value_and_no_two_bodies_are_alike() {
    let store = store();
    let secrets = given(&store, KEY);
    for name in ["A", "B"] {
        secrets.set(&name.parse().unwrap(), &secret("the-same-value")).await.unwrap();
    }
    let bodies: Vec<_> =
        store.list(Collection::Secrets).await.unwrap().into_iter().map(|document| document.body).collect();
    for body in &bodies {
        assert_eq!(crate::checker::leak(body.as_bytes(), "the-same-value"), None);
    }
    let sealed =
        |body: &String| serde_json::from_str::<serde_json::Value>(body).unwrap()["sealed"].to_string();
    assert_ne!(sealed(&bodies[0])[..20], sealed(&bodies[1])[..20]);
}

#[tokio::test]
async fn other_texts_are_kept_encrypted_and_open_only_in_their_place() {
    let store = store();
    let secrets = given(&store, KEY);
    let grants = Collection::Grants;
    secrets.keep_text(grants, "github/ann", &secret("short")).await.unwrap();
    secrets.keep_text(grants, "github/ann", &secret("the text of ann")).await.unwrap();
    secrets.keep_text(grants, "github", &secret("the shared text")).await.unwrap();
    let text = |id: &'static str| {
        let secrets = secrets.clone();
        async move { secrets.text(grants, id).await.map(|text| text.map(|text| text.expose().to_owned())) }
    };
    assert_eq!(text("github/ann").await.unwrap().as_deref(), Some("the text of ann"));
    assert_eq!(text("nobody").await.unwrap(), None);
    assert_eq!(secrets.texts(grants).await.unwrap().len(), 2);
    // Nothing of it is a secret that configuration could name.
    assert!(secrets.list().await.unwrap().is_empty());

    let documents = store.list(grants).await.unwrap();
    for document in &documents {
        assert_eq!(crate::checker::leak(document.body.as_bytes(), "text of ann"), None);
    }
    let ann = documents.iter().find(|document| document.id == "github/ann").unwrap();
    let moved = Write::Insert {
        collection: grants,
        id: "github/ben".into(),
        body: ann.body.clone(),
        expires_ms: None,
    };
    assert_eq!(store.write(vec![moved]).await.unwrap(), Written::Done);
    assert!(matches!(text("github/ben").await, Err(SecretError::WrongKey { .. })));
    assert!(matches!(
        given(&store, &KEY.replace('0', "1")).text(grants, "github").await,
        Err(SecretError::WrongKey { .. })
    ));
    assert!(secrets.remove_text(grants, "github").await.unwrap());
    assert!(!secrets.remove_text(grants, "github").await.unwrap());
    assert_eq!(text("github").await.unwrap(), None);
}

#[tokio::test]
async fn no_new_key_is_made_where_texts_under_another_are_kept() {
    let (store, folder) = (store(), tempfile::tempdir().unwrap());
    given(&store, KEY).keep_text(Collection::Grants, "github", &secret("text")).await.unwrap();
    let secrets = in_folder(&store, folder.path());
    let error = secrets.set(&"A".parse().unwrap(), &secret("long enough")).await.unwrap_err();
    assert!(matches!(error, SecretError::MissingKey { .. }), "{error}");
    let error = secrets.keep_text(Collection::Grants, "other", &secret("text")).await.unwrap_err();
    assert!(matches!(error, SecretError::MissingKey { .. }), "{error}");
    // What nobody can open may be replaced.
    secrets.keep_text(Collection::Grants, "github", &secret("new")).await.unwrap();
    assert_eq!(secrets.text(Collection::Grants, "github").await.unwrap().unwrap().expose(), "new");
}

#[tokio::test]
async fn values_that_cannot_be_secrets_are_refused_with_the_reason() {
    let secrets = given(&store(), KEY);
    let error = secrets.set(&"A".parse().unwrap(), &secret("1234567")).await.unwrap_err();
    assert!(matches!(error, SecretError::Value(BadValue::TooShort(7))));
    assert!(error.to_string().contains("too short") && error.hint().contains("at least 8"), "{error}");
    assert!(secrets.list().await.unwrap().is_empty());
}

#[track_caller]
fn check_error(error: &SecretError, says: &[&str]) {
    let text = format!("{error} / {} / {error:?}", error.hint());
    for part in says {
        assert!(text.contains(part), "`{part}` is not in `{text}`");
    }
    assert!(!text.contains("hidden value") && !text.contains(KEY), "{text}");
}

#[tokio::test]
async fn a_wrong_key_is_told_by_the_name_of_the_secret() {
    let store = store();
    let name = "API_KEY".parse().unwrap();
    given(&store, KEY).set(&name, &secret("hidden value")).await.unwrap();
    let other = given(&store, &"ff".repeat(32));
    check_error(&other.load().await.unwrap_err(), &["`API_KEY`", "`toolgate secret set API_KEY`"]);
    // As the hint says.
    other.set(&name, &secret("other value")).await.unwrap();
    assert_eq!(other.load().await.unwrap().get("API_KEY").unwrap().expose(), "other value");
    check_error(&given(&store, "short").load().await.unwrap_err(), &["32 bytes", "openssl"]);
}

#[tokio::test]
async fn a_missing_key_is_told_and_not_made_anew() {
    let (store, folder) = (store(), tempfile::tempdir().unwrap());
    let secrets = in_folder(&store, folder.path());
    secrets.set(&"A".parse().unwrap(), &secret("hidden value")).await.unwrap();
    std::fs::remove_file(folder.path().join("secret.key")).unwrap();
    check_error(&secrets.load().await.unwrap_err(), &["`A`", "secret.key", "toolgate secret remove A"]);
    let set = secrets.set(&"B".parse().unwrap(), &secret("hidden value")).await.unwrap_err();
    check_error(&set, &["`A`", "missing"]);
    assert!(!folder.path().join("secret.key").exists());
    // As the hint says.
    assert!(secrets.remove(&"A".parse().unwrap()).await.unwrap());
    secrets.set(&"B".parse().unwrap(), &secret("hidden value")).await.unwrap();
    assert_eq!(secrets.load().await.unwrap().get("B").unwrap().expose(), "hidden value");
}

#[tokio::test]
async fn a_value_moved_to_another_name_or_changed_does_not_open() {
    let store = store();
    let secrets = given(&store, KEY);
    secrets.set(&"A".parse().unwrap(), &secret("hidden value")).await.unwrap();
    let body = store.get(Collection::Secrets, "A").await.unwrap().unwrap().body;
    let put = async |id: &str, body: String| {
        let write = match store.get(Collection::Secrets, id).await.unwrap() {
            None => Write::Insert { collection: Collection::Secrets, id: id.into(), body, expires_ms: None },
            Some(there) => Write::Replace {
                collection: Collection::Secrets,
                id: id.into(),
                revision: there.revision,
                body,
                expires_ms: None,
            },
        };
        assert_eq!(store.write(vec![write]).await.unwrap(), Written::Done);
        secrets.load().await
    };
    check_error(&put("B", body.clone()).await.unwrap_err(), &["`B`"]);
    put("B", "{}".into()).await.unwrap_err();
    let mut value: serde_json::Value = serde_json::from_str(&body).unwrap();
    value["version"] = 2.into();
    check_error(&put("A", value.to_string()).await.unwrap_err(), &["`A`", "later version"]);
    for (from, to) in [("\"sealed\":\"", "\"sealed\":\"A"), ("\"sealed\":\"", "\"sealed\":\"????")] {
        check_error(&put("A", body.replace(from, to)).await.unwrap_err(), &["`A`"]);
    }
}

#[tokio::test]
async fn a_store_that_fails_is_an_error() {
    let memory = Arc::new(MemoryStore::new());
    let secrets = Secrets::new(memory.clone(), KeySource::Given(secret(KEY)), Clock::system());
    memory.fail(true);
    assert!(matches!(secrets.load().await, Err(SecretError::Store(_))));
    assert!(matches!(secrets.remove(&"A".parse().unwrap()).await, Err(SecretError::Store(_))));
}
