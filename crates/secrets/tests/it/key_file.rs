//! The key file: made once, for its owner only, whoever else makes it at the same time.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Barrier};

use toolgate_core::SharedStore;
use toolgate_host::{Clock, Secret};
use toolgate_secrets::{KEY_FILE, KeySource, SecretError, Secrets};
use toolgate_testkit::MemoryStore;

fn secrets(store: SharedStore, key: KeySource) -> Secrets {
    Secrets::new(store, key, Clock::system())
}

async fn set(secrets: &Secrets) -> Result<(), SecretError> {
    secrets.set(&"A".parse().unwrap(), &Secret::new("some value".into())).await
}

#[tokio::test]
async fn it_is_made_at_first_use_for_its_owner_only() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("data");
    let secrets = secrets(Arc::new(MemoryStore::new()), KeySource::in_data(&folder));
    assert!(secrets.load().await.unwrap().is_empty());
    assert!(secrets.list().await.unwrap().is_empty());
    assert!(!folder.exists(), "nothing is made before it is needed");
    set(&secrets).await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join(KEY_FILE))), (0o700, 0o600));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "nothing else is left");
    assert_eq!(secrets.load().await.unwrap().get("A").unwrap().expose(), "some value");
}

#[test]
fn of_many_that_make_it_at_once_one_wins() {
    for _ in 0..20 {
        let place = tempfile::tempdir().unwrap();
        let (key, gate) = (KeySource::in_data(place.path()), Barrier::new(8));
        let stores: Vec<SharedStore> = std::thread::scope(|scope| {
            let one = || {
                let store: SharedStore = Arc::new(MemoryStore::new());
                let secrets = secrets(store.clone(), key.clone());
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                gate.wait();
                runtime.block_on(set(&secrets)).unwrap();
                store
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for store in stores {
            let loaded = runtime.block_on(secrets(store, key.clone()).load()).unwrap();
            assert_eq!(loaded.get("A").unwrap().expose(), "some value");
        }
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1);
    }
}

#[tokio::test]
async fn one_that_is_no_key_or_open_to_others_is_refused() {
    let check = async |content: &str, mode: u32, expect: &str| {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join(KEY_FILE);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        let error = set(&secrets(Arc::new(MemoryStore::new()), KeySource::File(path))).await.unwrap_err();
        assert!(format!("{error}\n{}", error.hint()).contains(expect), "{error}");
        assert!(!format!("{error:?}").contains("deadbeef"));
    };
    check("deadbeef", 0o600, "does not hold a key").await;
    check("", 0o600, "does not hold a key").await;
    check(&"deadbeef".repeat(8), 0o640, "chmod 600").await;
    check(&"deadbeef".repeat(8), 0o604, "can be read by others").await;
}
