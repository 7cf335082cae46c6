//! The owner of tasks.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolgate_host::{TaskFailed, Tasks};

const GRACE: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(20);

#[tokio::test]
async fn a_task_runs_to_its_end_and_its_value_arrives() {
    let tasks = Tasks::new();
    assert_eq!(tasks.spawn(async { 7 }).await.unwrap(), 7);
    assert!(tasks.shutdown(GRACE).await);
    assert!(tasks.is_empty());
}

#[tokio::test]
async fn shutdown_tells_tasks_to_stop_and_waits_for_them() {
    let tasks = Tasks::new();
    let stop = tasks.stopping();
    let task = tasks.spawn(async move {
        stop.cancelled().await;
        tokio::time::sleep(SHORT).await;
        "tidied up"
    });
    assert_eq!(tasks.len(), 1);
    assert!(tasks.shutdown(GRACE).await);
    assert_eq!(task.await.unwrap(), "tidied up");
}

#[tokio::test]
async fn a_task_that_does_not_stop_is_aborted() {
    let tasks = Tasks::new();
    let task = tasks.spawn(pending::<()>());
    assert!(!tasks.shutdown(SHORT).await);
    assert!(tasks.is_empty());
    assert!(task.await.unwrap_err().is_cancelled());
    let late = tasks.spawn(pending::<()>());
    assert!(late.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn stopping_a_child_leaves_its_parent_alone_but_not_the_reverse() {
    let parent = Tasks::new();
    let (first, second) = (parent.child(), parent.child());
    let wait = |stop: CancellationToken| async move { stop.cancelled().await };
    for owner in [&parent, &first, &second] {
        owner.spawn(wait(owner.stopping()));
    }
    assert_eq!((parent.len(), first.len(), second.len()), (3, 1, 1));
    assert!(first.shutdown(GRACE).await);
    assert_eq!((parent.len(), first.len(), second.len()), (2, 0, 1));
    let stubborn = second.spawn(pending::<()>());
    assert!(!parent.shutdown(SHORT).await);
    assert_eq!((parent.len(), second.len()), (0, 0));
    assert!(stubborn.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_stop_token_that_someone_cancels_stops_nobody_else() {
    let tasks = Tasks::new();
    tasks.stopping().cancel();
    assert!(!tasks.stopping().is_cancelled());
}

#[tokio::test]
async fn a_panic_is_logged_and_harms_no_other_task() {
    let log = tempfile::NamedTempFile::new().unwrap();
    let writer = Arc::new(log.reopen().unwrap());
    let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let tasks = Tasks::new();
    let other = tasks.spawn(async {
        tokio::time::sleep(SHORT).await;
        "fine"
    });
    let number = 42;
    let failed = tasks.spawn(async move { panic!("broken by {number}") });
    assert!(failed.await.unwrap_err().is_panic());
    assert_eq!(other.await.unwrap(), "fine");
    let text = std::fs::read_to_string(log.path()).unwrap();
    assert!(text.contains("ERROR") && text.contains("broken by 42"), "{text}");
    assert!(tasks.shutdown(GRACE).await);
}

#[tokio::test]
async fn blocking_work_is_waited_for_and_its_panic_is_an_error() {
    let tasks = Tasks::new();
    assert_eq!(tasks.blocking(|| 7).await.unwrap(), 7);
    let failed = tasks.blocking(|| panic!("no")).await;
    assert!(matches!(failed, Err::<(), _>(TaskFailed::Panicked(message)) if message == "no"));
    let owner = tasks.clone();
    let abandoned = tasks.spawn(async move { owner.blocking(|| std::thread::sleep(SHORT * 2)).await });
    tokio::time::sleep(SHORT / 2).await;
    abandoned.abort();
    assert!(tasks.shutdown(GRACE).await);
}
