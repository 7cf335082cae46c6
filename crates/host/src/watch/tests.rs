//! What `watch` promises, case by case.

use tempfile::TempDir;
use tokio::time::timeout;

use super::*;

const QUIET: Duration = Duration::from_millis(40);

/// How long is waited for anything, on a machine that does much else.
const LONG: Duration = Duration::from_secs(120);

struct Scene {
    place: TempDir,
    root: Root,
    tasks: Tasks,
}

impl Scene {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let root = Root::open(place.path()).unwrap();
        Self { place, root, tasks: Tasks::new() }
    }

    async fn notified(&self) -> Watch {
        self.root.watch(&self.tasks, QUIET).await.unwrap()
    }

    async fn polled(&self) -> Watch {
        let interval = Duration::from_millis(20);
        self.root.poll(&self.tasks, QUIET, interval, Arc::default()).await.unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.place.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

/// Waits until all these paths, and none with `never` in it, have been told.
async fn told(watch: &mut Watch, paths: &[&str], never: &str) {
    let mut missing: BTreeSet<_> = paths.iter().copied().collect();
    while !missing.is_empty() {
        let next = timeout(LONG, watch.next()).await;
        let Ok(Some(Changes::Paths(told))) = next else { panic!("{next:?}, still missing {missing:?}") };
        for path in told {
            assert!(!path.as_str().contains(never), "{path}");
            missing.remove(path.as_str());
        }
    }
}

/// Lets what came before be told to its end: this file comes after it. On a busy machine the events of one change may
/// come in two parts.
async fn settle(scene: &Scene, watch: &mut Watch, mark: &str) {
    scene.write(mark, "");
    told(watch, &[mark], "nothing of this name").await;
}

#[tokio::test]
async fn changes_are_told_also_in_folders_made_later_but_not_in_skipped_ones() {
    let scene = Scene::new();
    scene.write("old/a.md", "1");
    scene.write("node_modules/x/package.json", "1");
    let mut watch = scene.notified().await;
    scene.write("node_modules/x/package.json", "2");
    scene.write("old/a.md", "2");
    scene.write("new/deep/b.md", "1");
    told(&mut watch, &["old/a.md", "new/deep/b.md"], "node_modules").await;
    settle(&scene, &mut watch, "mark1").await;
    scene.write("new/deep/b.md", "2");
    told(&mut watch, &["new/deep/b.md"], "old").await;
    std::fs::rename(scene.place.path().join("new"), scene.place.path().join("moved")).unwrap();
    told(&mut watch, &["new", "moved/deep/b.md"], "old").await;
    settle(&scene, &mut watch, "mark2").await;
    scene.write("moved/deep/b.md", "3");
    told(&mut watch, &["moved/deep/b.md"], "new").await;
}

#[tokio::test]
async fn our_own_writes_are_told_without_their_temporary_names() {
    let scene = Scene::new();
    let mut watch = scene.notified().await;
    let path = RelPath::parse("a.md", "").unwrap();
    let options = crate::files::WriteOptions {
        create_dirs: false,
        mode: Default::default(),
        max_bytes: 100,
        protected: |_| false,
    };
    scene.root.write(&path, b"text".to_vec(), options).await.unwrap();
    told(&mut watch, &["a.md"], crate::files::TEMP_PREFIX).await;
}

#[tokio::test]
async fn polling_tells_files_that_were_made_changed_and_removed() {
    let scene = Scene::new();
    scene.write("changed", "1");
    scene.write("removed", "1");
    scene.write("same", "1");
    let mut watch = scene.polled().await;
    scene.write("changed", "22");
    scene.write("made/x", "1");
    std::fs::remove_file(scene.place.path().join("removed")).unwrap();
    told(&mut watch, &["changed", "made/x", "removed"], "same").await;
}

#[tokio::test]
async fn more_changes_than_can_be_named_are_many() {
    let pending = Pending::default();
    for n in 0..2_000 {
        pending.add(RelPath::parse(&n.to_string(), "").unwrap());
    }
    assert_eq!(pending.take(), Some(Changes::Many));
    assert_eq!(pending.take(), None);
}

#[tokio::test]
async fn a_watch_ends_with_its_owner_and_its_task_ends_with_it() {
    let scene = Scene::new();
    let dropped = scene.notified().await;
    assert_eq!(scene.tasks.len(), 1);
    drop(dropped);
    timeout(LONG, async {
        while !scene.tasks.is_empty() {
            sleep(Duration::from_millis(2)).await;
        }
    })
    .await
    .unwrap();
    let mut watch = scene.notified().await;
    assert!(scene.tasks.shutdown(LONG).await);
    assert_eq!(watch.next().await, None);
}

#[tokio::test]
async fn what_changed_so_far_can_be_taken_without_waiting() {
    let scene = Scene::new();
    let watch = scene.notified().await;
    assert!(watch.is_prompt());
    assert_eq!(watch.so_far(), None);
    scene.write("a.md", "1");
    let limit = Instant::now() + LONG;
    let mut taken = None;
    while taken.is_none() && Instant::now() < limit {
        taken = watch.so_far();
        sleep(Duration::from_millis(2)).await;
    }
    assert_eq!(taken, Some(Changes::Paths([RelPath::parse("a.md", "").unwrap()].into())));
    let polled = scene.polled().await;
    while polled.is_prompt() && Instant::now() < limit {
        sleep(Duration::from_millis(2)).await;
    }
    assert!(!polled.is_prompt());
}
