//! Servers that misbehave are contained, and named with what they did.

use std::sync::Arc;

use serde_json::{Value, json};
use toolgate_core::{Capabilities, Kind, ListKind, Outcome, Target};
use toolgate_testkit::{Expect as _, call, client_legacy, client_with, drive};
use toolgate_upstream::State;
use toolgate_wire::Version;

use crate::fake::TOOLS;
use crate::rig::{BEYOND, PATIENCE, Rig, alive, pass, text, with};
use crate::rogue::{FLOOD, GIGABYTE, PADDED, rogue};
use crate::web::Web;

/// Calls a tool of a server that misbehaves in it, and says how that ended and what was noted.
async fn misbehave(rig: &Rig, tool: &str) -> (Result<String, Kind>, Vec<&'static str>) {
    let params =
        json!({"name": format!("fake_{tool}"), "arguments": {"b": ""}, "_meta": {"progressToken": 1}});
    let target = Target::Tool(format!("fake_{tool}").parse().unwrap());
    let driven = rig.send(client_legacy(), target, params).await;
    let outcome = if let Outcome::Complete(raw) = &driven.outcome {
        Ok(text(&raw.to().unwrap()).to_owned())
    } else {
        Err(driven.failed().kind())
    };
    (outcome, rig.notes())
}

#[tokio::test]
async fn what_a_server_does_wrong_in_a_call_is_noted_and_harms_nobody() {
    #[track_caller]
    fn check(
        seen: (Result<String, Kind>, Vec<&'static str>),
        outcome: Result<&str, Kind>,
        note: Option<&str>,
    ) {
        assert_eq!(seen.0, outcome.map(str::to_owned));
        assert!(note.is_none_or(|note| seen.1.contains(&note)), "{note:?} is not among {:?}", seen.1);
    }
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        check(misbehave(&rig, "garbage").await, Ok("after garbage"), Some("sent what is no message"));
        check(misbehave(&rig, "wrong_id").await, Ok("after wrong ids"), Some("answered what was not asked"));
        check(misbehave(&rig, "twice").await, Ok("first"), None);
        check(misbehave(&rig, "big").await, Err(Kind::Upstream), Some("sent a message that is too large"));
        check(misbehave(&rig, "deep").await, Err(Kind::Upstream), Some("sent what is no message"));
        check(misbehave(&rig, "flood").await, Ok("after the flood"), None);
        // It is still the same process.
        rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None).await.complete();
        assert_eq!(rig.status().lost, 0);
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn an_error_passes_as_it_is() {
    let rig = Rig::fake("legacy");
    let error = rig.call(client_legacy(), "fake_fail", json!({"b": ""}), None).await.failed();
    assert_eq!(error.as_forwarded().unwrap().as_str(), r#"{"code":-32099,"message":"no luck","x-more":1.5}"#);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_that_does_not_start_says_why() {
    let rig = Rig::fake("legacy dies");
    assert_eq!(rig.names(ListKind::Tools).await, Vec::<String>::new());
    let status = rig.status();
    assert_eq!(
        (status.state, status.error.as_deref()),
        (State::Failed, Some("its program ended with exit code 3"))
    );
    assert!(status.stderr.iter().any(|line| line == "fake server is up"), "{:?}", status.stderr);
    rig.upstream.stop().await;

    // However much it says, its last words are there as soon as it is known that it ended.
    let talks =
        "i=0; while [ $i -lt 2000 ]; do echo \"line $i, and so on, and so on\"; i=$((i+1)); done >&2; exit 3";
    for _ in 0..5 {
        let ended =
            crate::rig::trial(json!({"command": "/bin/sh", "args": ["-c", talks], "era": "legacy"})).await;
        assert_eq!(ended.status.error.as_deref(), Some("its program ended with exit code 3"));
        let last = ended.status.stderr.last();
        assert!(last.is_some_and(|line| line.starts_with("line 1999,")), "{last:?}");
    }

    let missing = crate::rig::trial(json!({"command": "no-such-program"})).await;
    assert_eq!(missing.status.state, State::Failed);
    assert_eq!(
        missing.status.error.as_deref(),
        Some("there is no program `no-such-program` on the search path")
    );
}

#[tokio::test]
async fn a_server_that_talks_on_standard_output_is_understood_and_noted() {
    let rig = Rig::fake("legacy noisy");
    assert_eq!(rig.names(ListKind::Tools).await.len(), TOOLS);
    assert_eq!(rig.notes(), ["sent what is no message"]);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_list_without_end_ends() {
    let rig = Rig::fake("legacy endless-list");
    assert_eq!(rig.names(ListKind::Tools).await, Vec::<String>::new());
    assert_eq!(rig.notes(), ["never comes to the end of a list"]);
    assert_eq!(rig.names(ListKind::Prompts).await, ["fake_greet"], "the other lists are there");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn one_bad_server_delays_no_other() {
    let place = tempfile::tempdir().unwrap();
    let start = |name: &str, table: Value| {
        let config: toolgate_upstream::UpstreamConfig = serde_json::from_value(table).unwrap();
        let fill = |text: &str| Ok(toolgate_host::Secret::new(text.to_owned()));
        let plan = toolgate_upstream::Plan::new(name, &config, fill).unwrap();
        Arc::new(toolgate_upstream::Upstream::start(plan, crate::rig::surroundings(), None))
    };
    let slow = json!({"command": "/bin/sleep", "args": ["600"], "prefix": false, "startup_timeout": 600_000});
    let bad = start("bad", slow);
    let good = start("good", crate::rig::fake("legacy", place.path()));
    let hub = toolgate_testkit::builder([bad.clone(), good.clone()]).build().unwrap();
    // The call goes through although the other server has not said a word.
    let mut listing = toolgate_core::Source::listing(
        &*good,
        &toolgate_core::Scope { principal: toolgate_core::Principal::local().id.clone() },
    );
    listing.wait_for(|listing| !listing.tools.is_empty()).await.unwrap();
    let run = hub.start(call(client_legacy(), "good_echo", json!({"b": "x"})));
    drive(run, []).await.complete();
    assert_eq!(bad.status().state, State::Connecting);
    bad.stop().await;
    good.stop().await;
}

#[tokio::test]
async fn a_server_that_says_nothing_any_more_is_replaced() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        let echo = || rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None);
        let hang = || call(client_legacy(), "fake_hang", json!({"b": ""}));
        echo().await.complete();
        // One that only does not answer a call is left alone.
        for count in 1..=4 {
            let driven = rig.late(hang(), |rig| rig.count("hung") == count).await;
            assert_eq!(driven.failed().kind(), Kind::Timeout);
        }
        // Nor is one silence as many as calls waited through it.
        echo().await.complete();
        let side_by_side: Vec<_> = (0..4).map(|_| rig.hub.start(hang())).collect();
        rig.until("the server has all of them", |rig| rig.count("hung") == 8).await;
        pass(BEYOND).await;
        for run in side_by_side {
            assert_eq!(drive(run, []).await.failed().kind(), Kind::Timeout);
        }
        assert_eq!(rig.status().lost, 0);
        echo().await.complete();
        let (mut failures, mut rounds) = (0, 0);
        while rig.status().lost == 0 {
            rounds += 1;
            assert!(rounds < 100, "it is never replaced: {:?}", rig.status());
            stop_all(&rig);
            // One that was just told to stop may still answer, and another that has taken its place does.
            let Outcome::Failed(error) = silent(&rig).await.outcome else { continue };
            assert!(matches!(error.kind(), Kind::Timeout | Kind::ConnectionFailed), "{error}");
            failures += 1;
        }
        assert!(failures >= 3, "{failures} failures, {:?}", rig.status());
        assert!(rig.notes().contains(&"does not answer any more"));
        // One that failed often is left alone for a while, and calls fail at once.
        let limit = tokio::time::Instant::now() + PATIENCE;
        while !matches!(echo().await.outcome, Outcome::Complete(_)) {
            assert!(tokio::time::Instant::now() < limit, "{:?}", rig.status());
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        rig.upstream.stop().await;
    }
}

/// Stops all processes of a server, so that they say nothing any more.
fn stop_all(rig: &Rig) {
    // There may be two for a while: the one by which it was learned, and the caller's own.
    for pid in rig.status().processes {
        let pid = rustix::process::Pid::from_raw(pid.cast_signed()).unwrap();
        // It may be on its way out.
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).ok();
    }
}

/// Calls a server that says nothing, or is left alone for a while; where it has the call, the time for an answer passes.
async fn silent(rig: &Rig) -> toolgate_testkit::Driven {
    let run = rig.hub.start(call(client_legacy(), "fake_echo", json!({"b": ""})));
    let time = async {
        rig.until("the call is under way", |rig| rig.status().in_flight > 0).await;
        pass(BEYOND).await;
        std::future::pending().await
    };
    tokio::select! {
        driven = drive(run, []) => driven,
        never = time => never,
    }
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_left_alone_for_a_while() {
    for words in ["", "after a word"] {
        let rig = Rig::fake("legacy");
        let hang = || call(client_legacy(), "fake_hang", json!({"b": words}));
        for count in 1..=4 {
            let error = rig.late(hang(), |rig| rig.count("hung") == count).await.failed();
            assert_eq!(error.kind(), Kind::Timeout);
        }
        let last = rig.hub.start(hang());
        rig.until("the server has the call", |rig| rig.count("hung") == 5).await;
        pass(0).await;
        // The next call comes at the very moment this one fails.
        tokio::time::pause();
        tokio::time::advance(std::time::Duration::from_secs(BEYOND)).await;
        assert_eq!(drive(last, []).await.failed().kind(), Kind::Timeout);
        let error = drive(rig.hub.start(hang()), []).await.failed();
        tokio::time::resume();
        assert_eq!(error.kind(), Kind::ConnectionFailed);
        assert!(error.message().contains("5 times in a row"), "{error}");
        rig.upstream.stop().await;
    }
}

#[tokio::test]
async fn calls_that_are_late_side_by_side_keep_nobody_else_from_the_server() {
    for behaviour in ["legacy", "modern"] {
        let rig = Rig::fake(behaviour);
        rig.settled().await;
        let echo = || rig.call(client_legacy(), "fake_echo", json!({"b": ""}), None);
        let hang = || rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": ""})));
        let late: Vec<_> = (0..13).map(|_| hang()).collect();
        rig.until("the server has all of them", |rig| rig.count("hung") == 13).await;
        echo().await.complete();
        pass(BEYOND).await;
        for run in late {
            assert_eq!(drive(run, []).await.failed().kind(), Kind::Timeout, "{behaviour}");
        }
        echo().await.complete();
        rig.upstream.stop().await;
    }
}

/// A rogue server behind a hub.
fn rogue_rig(behaviour: &str, more: Value) -> Rig {
    let place = Arc::new(tempfile::tempdir().unwrap());
    Rig::of(with(rogue(behaviour, place.path()), more), place, None)
}

/// How a call of a rogue server ends.
async fn rogue_call(rig: &Rig, tool: &str) -> Result<String, (Kind, String)> {
    let driven = rig.call(client_legacy(), &format!("fake_{tool}"), json!({}), None).await;
    if let Outcome::Complete(raw) = &driven.outcome {
        return Ok(text(&raw.to().unwrap()).to_owned());
    }
    let error = driven.failed();
    Err((error.kind(), error.message().to_owned()))
}

/// The most memory this process ever had, in bytes.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Whether this process runs nothing but this test. If not it is run in one that does: what others need beside it would
/// be counted.
#[expect(clippy::disallowed_methods, reason = "the test needs a process of its own")]
fn is_alone(test: &str) -> bool {
    const ALONE: &str = "TOOLGATE_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let name = format!("hostile::{test}");
    let mut run = std::process::Command::new(std::env::current_exe().unwrap());
    let ended = run.args(["--exact", &name, "--test-threads", "1"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    false
}

#[tokio::test]
async fn a_line_of_a_gigabyte_is_passed_by_in_little_memory() {
    if !is_alone("a_line_of_a_gigabyte_is_passed_by_in_little_memory") {
        return;
    }
    let rig = rogue_rig("", json!({}));
    assert_eq!(rogue_call(&rig, "echo").await, Ok("echo".into()));
    let before = peak();
    let started = rig.count("started");
    let (kind, said) = rogue_call(&rig, "gigabyte").await.unwrap_err();
    assert_eq!(
        (kind, said.contains("a message of more than 16777216 bytes")),
        (Kind::Upstream, true),
        "{said}"
    );
    // The call ends as soon as that is known; the next answer comes only behind all of it.
    assert_eq!(rogue_call(&rig, "echo").await, Ok("echo".into()), "it is still the same process");
    let grown = peak().saturating_sub(before);
    let note = rig.status().notes.into_iter().find(|note| note.what == "sent a message that is too large");
    assert_eq!(note.map(|note| note.times), Some(1));
    // The most that is kept of it is a sixty-fourth.
    assert!(grown < GIGABYTE / 16, "memory grew by {grown} bytes");
    assert_eq!((rig.status().lost, rig.count("started")), (0, started));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn what_can_be_read_in_two_ways_or_in_none_fails_only_its_call() {
    let rig = rogue_rig("", json!({"timeout": 60_000}));
    for (tool, why) in [("twins", "duplicate"), ("latin", "UTF-8")] {
        let (kind, said) = rogue_call(&rig, tool).await.unwrap_err();
        assert_eq!(kind, Kind::Upstream, "{tool}: {said}");
        let note = rig.status().notes.into_iter().find(|note| note.what == "sent what is no message");
        let note = note.unwrap();
        assert!(note.detail.contains(why), "{tool}: {note:?}");
        assert_eq!(rogue_call(&rig, "echo").await, Ok("echo".into()));
    }
    assert_eq!(rig.status().lost, 0);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_slow_drip_is_no_answer() {
    let rig = rogue_rig("", json!({}));
    let drip = call(client_legacy(), "fake_drip", json!({}));
    let error = rig.late(drip, |rig| rig.count("dripping") == 1).await.failed();
    assert_eq!((error.kind(), error.message()), (Kind::Timeout, "`fake` did not answer within 60000 ms"));
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_flood_of_notices_does_not_make_us_ask_as_often() {
    let rig = rogue_rig("", json!({}));
    rig.settled().await;
    let before = rig.count("listed");
    assert_eq!(rogue_call(&rig, "shout").await, Ok("after the flood".into()));
    assert_eq!(rogue_call(&rig, "echo").await, Ok("echo".into()));
    let asked = rig.count("listed") - before;
    println!("{FLOOD} notices of changed lists made us list {asked} times");
    assert!(asked < FLOOD / 100, "listed {asked} times");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_server_whose_lists_never_stay_is_looked_at_ever_more_seldom() {
    let rig = rogue_rig("restless", json!({}));
    // The line by which it was learned is this caller's, who can be asked nothing.
    let client = client_with(Version::LATEST_LEGACY, Capabilities::default());
    let echo = async || rig.call(client.clone(), "fake_echo", json!({}), None).await.complete();
    let begun = tokio::time::Instant::now();
    rig.until("it is looked at again at once", |rig| rig.count("listed") >= 5).await;
    for _ in 0..50 {
        echo().await;
    }
    let (listed, limit) = (rig.count("listed"), 6 + begun.elapsed().as_secs());
    assert!(listed as u64 <= limit, "listed {listed} times, and not only {limit} times");
    for (seconds, times) in [(1, 6), (2, 7)] {
        pass(seconds).await;
        rig.until("it is looked at again", |rig| rig.count("listed") >= times).await;
    }
    let note = "says again and again that its lists changed";
    rig.until("that is noted", |rig| rig.notes().contains(&note)).await;
    // Its last word counts, though it was said while nobody listened.
    assert_eq!(rig.status().tools, 2);
    std::fs::write(rig.place.path().join("calm"), "").unwrap();
    pass(BEYOND).await;
    rig.until("what it has in the end is offered", |rig| rig.status().tools == 3).await;
    rig.upstream.stop().await;
}

#[tokio::test]
async fn endless_complaints_are_read_and_only_the_end_kept() {
    let rig = rogue_rig("", json!({}));
    assert_eq!(rogue_call(&rig, "complain").await, Ok("after complaints".into()));
    rig.until("the end is kept", |rig| rig.status().stderr.last().is_some_and(|line| line == "the end"))
        .await;
    let stderr = rig.status().stderr;
    assert!(stderr.contains(&format!("(a line of {} bytes)", 100 << 20)), "{stderr:?}");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn lists_larger_than_anybody_reads_are_cut() {
    for (behaviour, tools, note, pages) in [
        ("thousands", 20_000, "lists more than can be kept", 7),
        ("heavy", 2, "lists more than can be kept", 3),
        ("empty-pages", 0, "never comes to the end of a list", 1_000),
    ] {
        let rig = rogue_rig(behaviour, json!({}));
        rig.settled().await;
        assert_eq!((rig.status().tools, rig.count("listed")), (tools, pages), "{behaviour}");
        assert_eq!(rig.notes(), [note], "{behaviour}");
        assert_eq!(rig.status().state, State::Connected);
        rig.upstream.stop().await;
    }
    let rig = rogue_rig("million", json!({}));
    rig.settled().await;
    let status = rig.status();
    assert_eq!((status.state, status.tools), (State::Failed, 0));
    assert!(status.error.as_deref().unwrap().starts_with("cannot be listed: a message of "), "{status:?}");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn of_pages_of_a_list_nothing_is_kept_but_their_items() {
    if !is_alone("of_pages_of_a_list_nothing_is_kept_but_their_items") {
        return;
    }
    let rig = rogue_rig("padded-pages", json!({}));
    let before = peak();
    rig.settled().await;
    let grown = peak().saturating_sub(before);
    assert_eq!((rig.status().state, rig.count("listed")), (State::Connected, PADDED + 1));
    assert_eq!(rig.notes(), Vec::<&str>::new());
    // All pages together are more.
    assert!(grown < 60 << 20, "memory grew by {grown} bytes");
    rig.upstream.stop().await;
}

/// It answers once, then closes its standard output and lives on.
const DEAF: &str = r#"
while read -r line; do
  id="${line#*\"id\":}"; id="${id%%[,\}]*}"
  case "$line" in
    *'"method":"initialize"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"d","version":"1"}}}\n' "$id" ;;
    *'"method":"tools/list"'*)
      printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"deaf","inputSchema":{"type":"object"}}]}}\n' "$id" ;;
    *'"method":"tools/call"'*) exec 1>&-; sleep 600 ;;
  esac
done
"#;

#[tokio::test]
async fn a_program_that_closes_its_output_and_lives_on_is_ended() {
    let table = json!({"command": "/bin/sh", "args": ["-c", DEAF], "era": "legacy", "timeout": 60_000});
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    rig.until("it runs", |rig| rig.status().processes.len() == 1 && rig.status().tools == 1).await;
    let before = rig.status().processes;
    let error = rig.call(client_legacy(), "fake_deaf", json!({}), None).await.failed();
    assert_eq!(error.kind(), Kind::ConnectionFailed);
    assert!(error.message().contains("it closed its standard output"), "{error}");
    rig.until("it is ended", |_| before.iter().all(|process| !alive(*process))).await;
    assert_eq!(rig.status().lost, 1);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_started_ever_more_seldom() {
    let rig = rogue_rig("gone", json!({}));
    let begun = tokio::time::Instant::now();
    // Each wait is at least half of what it doubles to: 50, 100, 200, 400 ms.
    rig.until("it was started five times", |rig| rig.count("started") >= 5).await;
    assert!(begun.elapsed() >= std::time::Duration::from_millis(375), "{:?}", begun.elapsed());
    let said = "its program ended with exit code 3";
    rig.until("it says so", |rig| rig.status().error.as_deref() == Some(said)).await;
    assert_eq!(rig.status().processes.len(), 0);
    rig.upstream.stop().await;
}

#[tokio::test]
async fn streams_that_never_end_and_answers_of_others_fail_only_their_call() {
    let web = Web::start("legacy").await;
    let table = with(web.table(), json!({"timeout": 10_000}));
    let rig = Rig::of(table, Arc::new(tempfile::tempdir().unwrap()), None);
    rig.settled().await;
    // Another call waits all the while, and gets nothing of what comes on the streams of others.
    let hanging = rig.hub.start(call(client_legacy(), "fake_hang", json!({"b": "x"})));
    rig.until("it is under way", |rig| rig.status().in_flight == 1).await;
    for (how, kind, note) in [
        ("endless", Kind::Upstream, Some("sent a message that is too large")),
        ("drip", Kind::Timeout, None),
        ("gzip", Kind::Upstream, Some("sent what is no message")),
        ("anothers", Kind::ConnectionFailed, Some("answered what was not asked")),
    ] {
        let error = rig.call(client_legacy(), "fake_echo", json!({"b": how}), None).await.failed();
        assert_eq!(error.kind(), kind, "{how}: {error}");
        assert!(note.is_none_or(|note| rig.notes().contains(&note)), "{how}: {:?}", rig.notes());
        rig.call(client_legacy(), "fake_echo", json!({"b": "x"}), None).await.complete();
    }
    let waited = drive(hanging, []).await.failed();
    assert_eq!(waited.kind(), Kind::Timeout, "{waited}");
    rig.upstream.stop().await;
}

#[tokio::test]
async fn two_tools_of_one_name_are_listed_as_two_for_the_policy_and_as_one_for_callers() {
    let rig = Rig::fake("legacy doubled");
    rig.settled().await;
    let scope = toolgate_core::Scope { principal: toolgate_core::Principal::local().id.clone() };
    let listing = toolgate_core::Source::listing(&*rig.upstream, &scope).borrow().clone();
    let count = |name: &str| listing.tools.iter().filter(|tool| tool.name.as_str() == name).count();
    assert_eq!((count("fake_echo"), count("fake_ask")), (2, 1));
    assert!(rig.notes().contains(&"has two things of one name"));
    let names = rig.names(ListKind::Tools).await;
    assert_eq!(names.iter().filter(|name| *name == "fake_echo").count(), 1);
    rig.upstream.stop().await;
}
