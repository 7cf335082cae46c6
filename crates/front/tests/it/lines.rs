//! Standard input and output: made-up lines are answered as often as they should be, with JSON-RPC and nothing else.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate_wire::{Frame, Message, Raw, Response};

use crate::scene::{LONGEST, runtime, served};

/// How many lines have to come back for one.
fn answers(line: &[u8]) -> usize {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > LONGEST {
        return 1;
    }
    if line.trim_ascii().is_empty() {
        return 0;
    }
    let wants = |message: &Message| matches!(message, Message::Request(_));
    match toolgate_wire::parse(Bytes::copy_from_slice(line)) {
        Ok(Frame::One(message)) => usize::from(wants(&message)),
        Ok(Frame::Batch(batch)) if batch.len() > 100 => 1,
        Ok(Frame::Batch(batch)) => {
            usize::from(batch.iter().any(|message| message.as_ref().map_or(true, wants)))
        }
        Err(_) => 1,
    }
}

/// The ids of the answers on a line that came out; none on one with a notification. A number among them may be one
/// that no float holds, so they are read as text.
fn answered(line: &str) -> Option<Vec<String>> {
    serde_json::from_str::<serde::de::IgnoredAny>(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let id = |message: Message| match message {
        Message::Response(Response { id, outcome }) => {
            let has_code = |error: Raw| error.get("code").is_some_and(|code| code.to::<i32>().is_ok());
            assert!(outcome.err().is_none_or(has_code), "{line}");
            Some(id.map_or("null".to_owned(), |id| id.as_str().to_owned()))
        }
        Message::Notification(_) => None,
        Message::Request(_) => panic!("nobody can be asked here: {line}"),
    };
    match toolgate_wire::parse(line.to_owned().into()).unwrap_or_else(|refusal| panic!("{refusal}: {line}")) {
        Frame::One(message) => id(message).map(|id| vec![id]),
        Frame::Batch(batch) => Some(batch.into_iter().map(|message| id(message.unwrap()).unwrap()).collect()),
    }
}

/// Values that could stand anywhere in a message.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop_oneof![Just("2.0"), Just("echo"), Just("2026-07-28"), Just("2025-11-25"), Just("ref/prompt")]
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key(), inner), 0..4).prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

fn key() -> impl Strategy<Value = String> {
    let known = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "name",
        "uri",
        "arguments",
        "cursor",
        "level",
        "ref",
        "argument",
        "_meta",
        "progressToken",
        "requestId",
        "protocolVersion",
        "capabilities",
        "inputResponses",
        "requestState",
        "notifications",
        "taskIds",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
    ];
    prop_oneof![3 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => ".{0,6}"]
}

fn method() -> impl Strategy<Value = String> {
    let known = [
        "ping",
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "prompts/get",
        "completion/complete",
        "logging/setLevel",
        "server/discover",
        "tasks/get",
        "notifications/initialized",
        "notifications/roots/list_changed",
    ];
    prop_oneof![4 => proptest::sample::select(known.to_vec()).prop_map(String::from), 1 => ".{0,20}"]
}

/// A message that is nearly one: any part may be missing or wrong.
fn message() -> impl Strategy<Value = Value> {
    let object =
        vec((key(), json_value()), 0..5).prop_map(|pairs| Value::Object(pairs.into_iter().collect()));
    (
        prop::option::weighted(0.95, Just(json!("2.0"))),
        prop::option::weighted(0.8, prop_oneof![9 => any::<u16>().prop_map(Value::from), 1 => json_value()]),
        prop::option::weighted(0.95, method()),
        prop::option::weighted(0.8, prop_oneof![9 => object, 1 => json_value()]),
    )
        .prop_map(|(version, id, method, params)| {
            let parts =
                [("jsonrpc", version), ("id", id), ("method", method.map(Value::from)), ("params", params)];
            Value::Object(parts.into_iter().filter_map(|(key, part)| Some((key.to_owned(), part?))).collect())
        })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let text = message().prop_map(|message| message.to_string().into_bytes());
    let batch = vec(message(), 0..5).prop_map(|batch| Value::from(batch).to_string().into_bytes());
    let cut = (message(), any::<prop::sample::Index>()).prop_map(|(message, at)| {
        let mut text = message.to_string().into_bytes();
        text.truncate(at.index(text.len()));
        text
    });
    let flipped = (message(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(message, at, byte)| {
        let mut text = message.to_string().into_bytes();
        let place = at.index(text.len());
        text[place] = byte;
        text
    });
    let long = (LONGEST - 2..LONGEST + 3)
        .prop_map(|length| vec![b' '; length - 1].into_iter().chain([b'1']).collect());
    let any_line = prop_oneof![
        4 => text,
        1 => batch,
        1 => cut,
        2 => flipped,
        2 => vec(any::<u8>(), 0..80),
        1 => long,
        1 => json_value().prop_map(|value| value.to_string().into_bytes()),
    ];
    (any_line, any::<bool>()).prop_map(|(mut line, carriage)| {
        line.retain(|byte| *byte != b'\n');
        if carriage {
            line.push(b'\r');
        }
        line
    })
}

#[test]
fn made_up_lines_are_answered_exactly() {
    let runtime = runtime();
    proptest!(ProptestConfig::with_cases(400), |(lines in vec(line(), 1..12), piece in 1..200_usize)| {
        let last = br#"{"jsonrpc":"2.0","id":"the last","method":"ping"}"#.to_vec();
        let lines: Vec<Vec<u8>> = lines.into_iter().chain([last]).collect();
        let output = runtime.block_on(served(&lines.join(&b'\n'), piece));
        let output = String::from_utf8(output).unwrap();
        // A client that said `notifications/initialized` may be told things.
        let found: Vec<Vec<String>> = output.lines().filter_map(answered).collect();
        prop_assert!(found.contains(&vec!["\"the last\"".to_owned()]));
        // A batch after a handshake is refused: one answer, as before.
        let expected: usize = lines.iter().map(|line| answers(line)).sum();
        let shown: Vec<_> = lines.iter().map(|line| String::from_utf8_lossy(line)).collect();
        prop_assert_eq!(found.len(), expected, "{:#?}\n{:#?}", shown, found);
    });
}

#[test]
fn arguments_reach_the_source_as_they_were_written() {
    #[track_caller]
    fn check(arguments: &str) {
        let about = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
        for meta in ["", about] {
            let params = format!(r#"{{"name":"echo","arguments":{arguments},"_meta":{{{meta}}}}}"#);
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
            let output = runtime().block_on(served(line.as_bytes(), 64));
            let answer: Value = serde_json::from_slice(&output).unwrap();
            assert_eq!(answer["result"]["content"][0]["text"], *arguments);
        }
    }
    check("{}");
    check(r#"{"n":9007199254740993,"f":1.0,"e":1E+400,"z":-0}"#);
    check(r#"{"d":0.1000000000000000055511151231257827021181583404541015625}"#);
    check(r#"{"s":"\u00e9\ud83d\ude00\/","t":"é😀"}"#);
    check(r#"{ "spaces" : [ 1 , 2 ] }"#);
    check(r#"{"b":2,"a":1,"_meta":{"x":null}}"#);
    check(r#"{"lone":"\ud800"}"#);
}
