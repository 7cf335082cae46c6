//! Good, bad, huge, cut and binary lines: each is answered as often as it should be, and nothing else comes out.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::message::{call, initialize, notification, request};
use crate::process::{Place, Stdio, run};

/// What has to come back for a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Back {
    Nothing,
    Result(usize),
    Error(Option<usize>, i64),
    Batch(Vec<Back>),
}

use Back::{Batch, Error, Nothing, Result};

/// How a client may have opened, which decides what a batch is.
#[derive(Clone, Copy, PartialEq)]
enum Opening {
    Bare,
    Handshake,
}

const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
const METHOD: i64 = -32601;
const PARAMS: i64 = -32602;

/// Longer than the longest line.
const HUGE: usize = 17 << 20;

/// Bytes without a pattern, the same in every run.
fn noise(seed: usize, length: usize) -> Vec<u8> {
    let mut state = seed as u64 ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(|_| next()).map(|byte| if byte == b'\n' { b'?' } else { byte }).collect()
}

fn nested(depth: usize) -> String {
    format!("{}{}", "[".repeat(depth), "]".repeat(depth))
}

/// Lines of every kind, each with what has to come back; `id` is different each time.
fn lines(id: usize, opening: Opening) -> Vec<Sent> {
    [requests(id), no_messages(id), no_json(id), silent(), batches(id, opening)].concat()
}

/// A line, and what has to come back for it.
type Sent = (Vec<u8>, Back);

fn text(text: &str, back: Back) -> Sent {
    (text.as_bytes().to_vec(), back)
}

/// A request with something in its params.
fn within(id: usize, middle: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{{middle}}}}}"#)
}
/// Good ones, and good ones that fail.
fn requests(id: usize) -> Vec<Sent> {
    let ping = request(id, "ping", &json!({}));
    vec![
        text(&ping, Result(id)),
        text(&format!("{ping}\r"), Result(id)),
        text(&format!(" \t{ping}  "), Result(id)),
        text(&call(id, "test_echo", json!({"message": "Grüße\n\u{0}\u{2028}"})), Result(id)),
        text(&call(id, "test_simple_text", json!({})), Result(id)),
        text(&call(id, "test_echo", json!({"message": "x".repeat(70_000)})), Result(id)),
        text(&request(id, "tools/list", &json!({})), Result(id)),
        text(&within(id, &format!(r#""deep":{}"#, nested(126))), Result(id)),
        text(&call(id, "no_such_tool", json!({})), Error(Some(id), PARAMS)),
        text(&call(id, "test_panic", json!({})), Error(Some(id), -32603)),
        text(&request(id, "no/such/method", &json!({})), Error(Some(id), METHOD)),
        text(&request(id, "tools/call", &json!({"name": 5})), Error(Some(id), PARAMS)),
    ]
}

/// JSON that is no message, or could mean two things.
fn no_messages(id: usize) -> Vec<Sent> {
    vec![
        text("1", Error(None, INVALID)),
        text("null", Error(None, INVALID)),
        text("\"ping\"", Error(None, INVALID)),
        text("{}", Error(None, INVALID)),
        text("[]", Error(None, INVALID)),
        text(r#"{"jsonrpc":"1.0","method":"ping"}"#, Error(None, INVALID)),
        text(r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, Error(None, INVALID)),
        text(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, Error(None, INVALID)),
        text(&request(id, "ping", &json!([1])), Error(Some(id), INVALID)),
        text(&format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#), Error(Some(id), INVALID)),
        text(&within(id, r#""a":1,"a":2"#), Error(Some(id), INVALID)),
        text(&within(id, r#""a":1,"\u0061":2"#), Error(Some(id), INVALID)),
        text(&within(id, &format!(r#""deep":{}"#, nested(127))), Error(Some(id), INVALID)),
        text(&nested(2000), Error(None, INVALID)),
    ]
}

/// What is not JSON at all.
fn no_json(id: usize) -> Vec<Sent> {
    let ping = request(id, "ping", &json!({}));
    vec![
        text("hello", Error(None, PARSE)),
        text(&ping[..ping.len() - 1], Error(None, PARSE)),
        text(&ping[..ping.len() / 2], Error(None, PARSE)),
        text(&format!("{ping}{ping}"), Error(None, PARSE)),
        text(&format!("\u{feff}{ping}"), Error(None, PARSE)),
        text(&within(id, r#""a":01"#), Error(None, PARSE)),
        text(&within(id, "\"a\":\"\u{0}\""), Error(None, PARSE)),
        text("\u{0}\u{0}\u{0}", Error(None, PARSE)),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec(), Error(None, PARSE)),
        ([b"\xfe".to_vec(), noise(id, 300)].concat(), Error(None, PARSE)),
        ([b"{\"a\":\"".to_vec(), noise(id, 3), b"\xc3".to_vec()].concat(), Error(None, PARSE)),
    ]
}

/// What wants no answer.
fn silent() -> Vec<Sent> {
    vec![
        text("", Nothing),
        text("\r", Nothing),
        text("  \t ", Nothing),
        text(&notification("notifications/no_such", &json!({})), Nothing),
        text(&notification("notifications/no_such", &json!([1, 2])), Nothing),
        text(&notification("notifications/no_such", &json!("text")), Nothing),
        text(&notification("notifications/cancelled", &json!({"requestId": "nothing"})), Nothing),
        text(&notification("notifications/cancelled", &json!({"requestId": {}})), Nothing),
        text(&notification("ping", &json!({})), Nothing),
        text(&notification("tools/call", &json!({"name": "test_simple_text"})), Nothing),
        text(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, Nothing),
        text(r#"{"jsonrpc":"2.0","id":"toolgate-1","result":{}}"#, Nothing),
        text(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"what?"}}"#, Nothing),
    ]
}

/// Batches: after a handshake for a later version they are refused as a whole.
fn batches(id: usize, opening: Opening) -> Vec<Sent> {
    let ping = request(id, "ping", &json!({}));
    let told = notification("notifications/no_such", &json!({}));
    [
        (format!("[{ping}]"), Batch(vec![Result(id)])),
        (format!("[{ping},5]"), Batch(vec![Result(id), Error(None, INVALID)])),
        (format!("[{told}]"), Nothing),
    ]
    .map(|(line, back)| match opening {
        Opening::Bare => text(&line, back),
        Opening::Handshake => text(&line, Error(None, INVALID)),
    })
    .to_vec()
}

/// What a line of standard output says; anything but JSON-RPC fails the test.
#[track_caller]
fn back(line: &str) -> Back {
    let value: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let one = |value: &Value| {
        assert_eq!(value["jsonrpc"], "2.0", "{line}");
        assert!(value.get("method").is_none(), "nobody asked for {line}");
        let id = value["id"].as_u64().map(|id| usize::try_from(id).unwrap());
        assert!(id.is_some() || value["id"].is_null(), "an id that nobody sent: {line}");
        match (value.get("result"), value["error"]["code"].as_i64()) {
            (Some(_), None) => Result(id.unwrap()),
            (None, Some(code)) => Error(id, code),
            _ => panic!("neither result nor error: {line}"),
        }
    };
    let Some(answers) = value.as_array() else { return one(&value) };
    let mut answers: Vec<Back> = answers.iter().map(one).collect();
    answers.sort();
    Batch(answers)
}

/// How often each answer came.
type Counts = BTreeMap<Back, usize>;

fn counted(answers: impl IntoIterator<Item = Back>) -> Counts {
    let mut counts = Counts::new();
    for answer in answers.into_iter().filter(|answer| *answer != Nothing) {
        *counts.entry(answer).or_default() += 1;
    }
    counts
}

/// A line that is too long, one of ours or anything.
fn huge(id: usize) -> Sent {
    let line = match id % 2 {
        0 => call(id, "test_echo", json!({"message": "x".repeat(HUGE)})).into_bytes(),
        _ => noise(id, HUGE),
    };
    (line, Error(None, INVALID))
}

/// A thousand lines, two of them too long; no id twice.
fn thousand(opening: Opening) -> Vec<Sent> {
    let kinds = lines(0, opening).len();
    let line = |number: usize| match number {
        300 | 701 => huge(number),
        _ => lines(1000 + number, opening).swap_remove(number % kinds),
    };
    (0..1000).map(line).collect()
}

#[track_caller]
fn check_thousand(opening: Opening, arguments: &[&str]) {
    let mut stdio = Stdio::start_with(arguments);
    if opening == Opening::Handshake {
        stdio.ask(initialize("2025-11-25"));
    }
    let mut expected = Vec::new();
    for (line, back) in thousand(opening) {
        stdio.send(line);
        expected.push(back);
    }
    // What is still under way when the input ends is not waited for without end.
    let due = expected.iter().filter(|back| **back != Nothing).count();
    let mut said: Vec<String> = (0..due).map(|_| stdio.line()).collect();
    let (rest, code) = stdio.finish();
    said.extend(rest);
    let (found, expected) = (counted(said.iter().map(|line| back(line))), counted(expected));
    let wrong = |here: &Counts, there: &Counts| -> Counts {
        here.iter()
            .filter(|(back, count)| there.get(back) != Some(count))
            .map(|(b, c)| (b.clone(), *c))
            .collect()
    };
    assert_eq!(wrong(&found, &expected), wrong(&expected, &found));
    assert_eq!(code, Some(0));
}

#[test]
fn a_thousand_lines_of_every_kind_are_answered_exactly() {
    check_thousand(Opening::Bare, &[]);
}

#[test]
fn a_thousand_lines_are_answered_exactly_after_a_handshake_and_with_all_logs_on() {
    check_thousand(Opening::Handshake, &["--log-level", "debug"]);
}

#[test]
fn after_any_line_the_next_one_works() {
    let mut stdio = Stdio::start();
    let kinds = lines(1, Opening::Bare);
    for (place, (line, expected)) in kinds.into_iter().chain([huge(2), huge(3)]).enumerate() {
        let next = 5000 + place;
        stdio.send(&line);
        stdio.send(request(next, "ping", &json!({})));
        // The two may come in either order, and no third.
        let count = if expected == Nothing { 1 } else { 2 };
        let found = counted((0..count).map(|_| back(&stdio.line())));
        let line = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
        assert_eq!(found, counted([expected, Result(next)]), "{line}");
    }
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn an_input_that_ends_in_the_middle_of_a_line_is_answered() {
    let place = Place::new();
    let input = format!("{}\n{{\"jsonrpc\"", request(1, "ping", &json!({})));
    let ended = run(place.toolgate(&["serve"]), input.as_bytes());
    let found: Vec<Back> = ended.stdout.lines().map(back).collect();
    assert_eq!((found, ended.code), (vec![Result(1), Error(None, PARSE)], 0));
}

#[test]
fn an_empty_input_is_a_client_that_left() {
    let ended = run(Place::new().toolgate(&["serve"]), b"");
    assert_eq!((ended.code, ended.stdout.as_str()), (0, ""), "{}", ended.stderr);
}
