//! How a process on standard input and output begins and ends, and what happens to calls under way.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::message::{call, cancelled, initialize, modern, request, slow, text};
use crate::process::{Place, Stdio, run, until};

#[test]
fn a_line_from_echo_is_answered_without_a_handshake() {
    let place = Place::new();
    let line = call(1, "test_echo", json!({"message": "hello"}));
    let ended = run(place.toolgate(&["serve", "--fixtures"]), line.as_bytes());
    let expected =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}"#;
    assert_eq!((ended.stdout.as_str(), ended.code), (&*format!("{expected}\n"), 0));
}

#[test]
fn what_of_the_program_only_its_start_needed_is_given_back() {
    let mut stdio = Stdio::start();
    stdio.ask(request(1, "ping", &json!({})));
    // A start touches more than half of it.
    until("a quarter of the program is held", || {
        let (size, held) = held_of_program(stdio.running.id());
        held * 4 < size
    });
    assert_eq!(stdio.ask(request(2, "ping", &json!({})))["id"], 2);
}

/// How large the mapping of a process's program is that runs, and how much of it is in memory, in kB.
fn held_of_program(process: u32) -> (u64, u64) {
    let program = fs::read_link(format!("/proc/{process}/exe")).unwrap();
    let maps = fs::read_to_string(format!("/proc/{process}/smaps")).unwrap();
    let mut lines = maps.lines();
    lines.find(|line| line.contains(" r-xp ") && line.ends_with(program.to_str().unwrap())).unwrap();
    let mut number = |name: &str| {
        let line = lines.find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    (number("Size:"), number("Rss:"))
}

#[test]
fn the_old_name_of_serve_works() {
    let place = Place::new();
    let ended = run(place.toolgate(&["--mcp"]), request(1, "ping", &json!({})).as_bytes());
    assert_eq!((ended.stdout.trim_end(), ended.code), (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 0));
}

#[test]
fn a_call_that_ends_soon_is_answered_after_the_end_of_input() {
    let mut stdio = Stdio::start();
    stdio.send(call(1, "test_slow", json!({"seconds": 0.3})));
    let (said, code) = stdio.finish();
    assert_eq!((said.len(), code), (1, Some(0)), "{said:?}");
    assert!(said[0].contains("Slept for 0.3 s"), "{said:?}");
}

#[test]
fn a_call_that_takes_long_is_cancelled_after_the_end_of_input() {
    let mut stdio = Stdio::start();
    stdio.send(call(1, "test_slow", json!({"seconds": 3000})));
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn sigterm_in_the_middle_of_a_call_ends_the_process_cleanly() {
    let mut stdio = Stdio::start();
    let progress = stdio.ask(slow(1, 3000.0));
    assert_eq!(progress["method"], "notifications/progress");
    stdio.running.terminate();
    let (said, code) = stdio.end();
    assert_eq!(code, Some(0));
    assert!(said.iter().all(|line| line.contains("notifications/progress")), "{said:?}");
}

#[test]
fn sigterm_lets_a_call_that_ends_soon_answer() {
    let mut stdio = Stdio::start();
    stdio.ask(slow(1, 0.5));
    stdio.running.terminate();
    let (said, code) = stdio.end();
    assert_eq!(code, Some(0));
    assert!(said.last().is_some_and(|line| line.contains("Slept for 0.5 s")), "{said:?}");
}

#[test]
fn a_client_that_reads_no_more_ends_the_process() {
    let place = Place::new();
    let (mut running, mut input, output) = Stdio::start_unread(&place);
    drop(output);
    // The first answer finds the pipe closed; the input stays open, and more may come meanwhile.
    for id in 0..10 {
        drop(writeln!(input, "{}", request(id, "ping", &json!({}))));
    }
    assert_eq!(running.code(), Some(0));
}

#[test]
fn a_client_that_reads_late_loses_no_answer() {
    let place = Place::new();
    let (mut running, mut input, output) = Stdio::start_unread(&place);
    for id in 0..200 {
        writeln!(input, "{}", call(id, "test_big", json!({"bytes": 10_000}))).unwrap();
    }
    drop(input);
    // Far more than fits into the pipe is answered by now, and the input has ended.
    thread::sleep(Duration::from_millis(300));
    let mut ids: Vec<u64> = BufReader::new(output)
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap()["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.iter().copied().eq(0..200), "{} answers: {ids:?}", ids.len());
    assert_eq!(running.code(), Some(0));
}

#[test]
fn a_client_that_never_reads_cannot_keep_the_process_from_stopping() {
    let place = Place::new();
    let (mut running, mut input, mut output) = Stdio::start_unread(&place);
    for id in 0..100 {
        writeln!(input, "{}", call(id, "test_big", json!({"bytes": 10_000}))).unwrap();
    }
    // It runs, and has far more to say than fits into the pipe.
    output.read_exact(&mut [0; 1000]).unwrap();
    running.terminate();
    assert_eq!(running.code(), Some(0));
}

#[test]
fn two_requests_with_one_id_are_never_confused() {
    #[track_caller]
    fn check(first: String, second: String) {
        let mut stdio = Stdio::start();
        assert_eq!(stdio.ask(first)["method"], "notifications/progress");
        stdio.send(second);
        // Only then does the input end: after that, not everything is waited for.
        let lines = std::iter::repeat_with(|| stdio.line()).filter(|line| line.contains("\"id\":"));
        let answers: Vec<String> = lines.take(2).collect();
        assert_eq!(stdio.finish(), (vec![], Some(0)), "{answers:?}");
        // The second is refused while the first runs, which is then answered as if nothing had happened.
        assert!(answers[0].contains("\"id\":7,\"error\":{\"code\":-32602"), "{answers:?}");
        assert!(answers[1].contains("\"id\":7,\"result\"") && answers[1].contains("Slept"), "{answers:?}");
    }
    let modern_slow = || {
        let about = json!({"progressToken": 1});
        let params = json!({"name": "test_slow", "arguments": {"seconds": 4}, "_meta": about});
        request(7, "tools/call", &modern(params))
    };
    thread::scope(|scope| {
        scope.spawn(|| check(slow(7, 4.0), call(7, "test_echo", json!({"message": "x"}))));
        scope.spawn(|| check(slow(7, 4.0), call("7", "test_slow", json!({"seconds": 1}))));
        check(modern_slow(), modern_slow());
    });
}

#[test]
fn a_cancelled_call_is_not_answered_and_the_next_one_is() {
    let mut stdio = Stdio::start();
    stdio.ask(initialize("2025-11-25"));
    stdio.send(slow(1, 3000.0));
    assert_eq!(stdio.next()["method"], "notifications/progress");
    stdio.send(cancelled(1));
    stdio.send(call(2, "test_echo", json!({"message": "next"})));
    let answer = loop {
        let message = stdio.next();
        if message["id"] == 2 {
            break message;
        }
        assert_eq!(message["method"], "notifications/progress");
    };
    assert_eq!(text(&answer), "next");
    // The call is over: nothing holds up the end of the process, and nothing is said of it.
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn many_calls_at_once_are_all_answered() {
    let mut stdio = Stdio::start();
    for id in 0..200 {
        stdio.send(call(id, "test_slow", json!({"seconds": 0.3})));
    }
    let mut ids: Vec<u64> = (0..200).map(|_| stdio.next()["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..200));
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}
