//! Processes that are killed, and what they had been told was kept. The processes are this test binary, started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolgate_core::{AuditQuery, AuditRow, Collection, Store, Written};
use toolgate_host::{Clock, Tasks};
use toolgate_store::{Options, open};

use crate::stage::{BOTH, Kind, Stage, insert, insert_until, place};

const URL: &str = "TOOLGATE_STORE_TEST_URL";
const FOLDER: &str = "TOOLGATE_STORE_TEST_FOLDER";
const ROUND: &str = "TOOLGATE_STORE_TEST_ROUND";
const ROUNDS: u32 = 12;
const WRITERS: u32 = 4;

#[expect(clippy::disallowed_methods, reason = "how this test tells its own child what to do")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Starts one test of this binary in a process of its own, after the shell ran `setting`.
#[expect(clippy::disallowed_methods, reason = "the test needs another process")]
fn start(test: &str, stage: &Stage, round: u32, setting: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("{setting}; exec \"$0\" \"$@\"")])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--test-threads", "1", "--nocapture"])
        .env(URL, &stage.url)
        .env(FOLDER, stage.folder.path())
        .env(ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Says what was acknowledged, at once and in one piece.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("kept {line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

fn record(writer: &str, sequence: i64) -> AuditRow {
    let [principal, target, outcome] = ["p", "tool:t", "complete"].map(String::from);
    let line = format!("{writer} {sequence}");
    AuditRow { writer: writer.into(), sequence, time_ms: 1, principal, target, outcome, line }
}

/// The part of the child, which writes until it is killed; there is nothing to do in the parent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child_writes_for_ever() {
    let Some(url) = variable(URL) else { return };
    let (folder, round) = (variable(FOLDER).unwrap(), variable(ROUND).unwrap());
    let tasks = Tasks::new();
    let options = Options { clock: Clock::system(), ..Options::default() };
    let store = open(place(&url, Path::new(&folder)), &tasks, options);
    let writing: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, name) = (store.clone(), format!("{round}.{writer}"));
            tasks.spawn(async move {
                for n in 1.. {
                    // Two documents at once, and a record.
                    let id = format!("{name}.{n}");
                    let pair = vec![insert(&id, &id), insert(&format!("{id}+"), &id)];
                    assert_eq!(store.write(pair).await.unwrap(), Written::Done);
                    store.append_audit(vec![record(&name, n)]).await.unwrap();
                    say(&id);
                }
            })
        })
        .collect();
    for task in writing {
        task.await.unwrap();
    }
}

/// Lets a child write for a moment, kills it, and gives what it was told was kept.
fn killed_child(stage: &Stage, round: u32) -> Vec<String> {
    let mut child = start("crash::child_writes_for_ever", stage, round, ":");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Under way at least; then at another moment of its work each time.
    let first = lines.by_ref().map(|line| line.unwrap()).find(|line| line.contains("kept "));
    std::thread::sleep(Duration::from_micros(u64::from(round * 7919 % 13) * 3_000));
    child.kill().unwrap();
    child.wait().unwrap();
    let rest = lines.map_while(Result::ok);
    let kept = first.into_iter().chain(rest).filter_map(|line| {
        let (_, id) = line.split_once("kept ")?;
        Some(id.to_owned())
    });
    kept.collect()
}

#[tokio::test]
async fn what_was_acknowledged_outlasts_a_kill() {
    for kind in BOTH {
        let stage = Stage::on(kind);
        let mut kept: Vec<String> = Vec::new();
        for round in 0..ROUNDS {
            kept.extend(killed_child(&stage, round));
            let store = stage.handle();
            let documents = store.list(Collection::State).await.unwrap();
            let ids: Vec<&str> = documents.iter().map(|document| document.id.as_str()).collect();
            let query = AuditQuery { limit: u32::MAX, ..AuditQuery::default() };
            let records = store.find_audit(&query).await.unwrap();
            for id in &kept {
                assert!(ids.contains(&id.as_str()), "{kind:?}, round {round}: `{id}` was lost");
                let (writer, sequence) = id.rsplit_once('.').unwrap();
                let is_it = |row: &&AuditRow| row.writer == writer && row.sequence.to_string() == sequence;
                assert!(records.iter().any(|row| is_it(&row)), "{kind:?}: the record `{id}` was lost");
            }
            for id in ids.iter().filter(|id| !id.ends_with('+')) {
                assert!(ids.contains(&format!("{id}+").as_str()), "{kind:?}: half of `{id}` was kept");
            }
            assert_eq!(ids.len() % 2, 0, "{kind:?}: a half was kept");
        }
        assert!(kept.len() >= ROUNDS as usize, "{kind:?}: only {} writes", kept.len());
        println!("{kind:?}: {} writes were acknowledged, and are there", kept.len());
    }
}

/// The part of the child, which may write no more than some kilobytes to any file.
#[tokio::test]
async fn child_runs_out_of_space() {
    let Some(url) = variable(URL) else { return };
    let tasks = Tasks::new();
    let store = open(place(&url, Path::new(&variable(FOLDER).unwrap())), &tasks, Options::default());
    let body = "x".repeat(20_000);
    for n in 0..1000 {
        match store.write(vec![insert_until(&n.to_string(), &body, None)]).await {
            Ok(written) => assert_eq!(written, Written::Done),
            Err(error) => {
                assert!(error.to_string().contains("disk is full or failing"), "{error}");
                assert!(error.next_step().unwrap().contains("free some space"), "{error:?}");
                // What was there before can still be read.
                say(&store.list(Collection::State).await.unwrap().len().to_string());
                return;
            }
        }
    }
    panic!("the limit on file sizes had no effect");
}

#[tokio::test]
async fn without_space_it_is_told_and_what_was_kept_stays() {
    let stage = Stage::on(Kind::Sqlite);
    // The shell's limit on file sizes stands for a full disk; the signal that comes with it is ignored.
    let child = start("crash::child_runs_out_of_space", &stage, 0, "trap '' XFSZ; ulimit -f 400");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{said}");
    let count: usize = said.split("kept ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let store = stage.handle();
    assert!(count > 0);
    assert_eq!(store.list(Collection::State).await.unwrap().len(), count);
    assert_eq!(store.write(vec![insert("more", "")]).await.unwrap(), Written::Done);
}
