//! What `message` promises, case by case.

use super::*;

fn show(message: &Message) -> String {
    let text = |raw: &Raw| raw.as_str().to_owned();
    let params = |params: &Option<Raw>| params.as_ref().map(text).unwrap_or("-".to_owned());
    match message {
        Message::Request(request) => {
            format!("request {} {} {}", request.id, request.method, params(&request.params))
        }
        Message::Notification(notification) => {
            format!("notification {} {}", notification.method, params(&notification.params))
        }
        Message::Response(response) => {
            let id = response.id.as_ref().map_or("-", Id::as_str);
            match &response.outcome {
                Ok(result) => format!("result {id} {}", text(result)),
                Err(error) => format!("error {id} {}", text(error)),
            }
        }
    }
}

fn show_refusal(refusal: &Refusal) -> String {
    let id = refusal.id.as_ref().map_or("-", Id::as_str);
    format!("{} {id} {refusal}", refusal.code)
}

#[track_caller]
fn check(text: &str, expect: &str) {
    let found = match parse(Bytes::copy_from_slice(text.as_bytes())) {
        Ok(Frame::One(message)) => show(&message),
        Ok(Frame::Batch(messages)) => {
            let shown: Vec<_> =
                messages.iter().map(|message| message.as_ref().map_or_else(show_refusal, show)).collect();
            shown.join(" | ")
        }
        Err(refusal) => show_refusal(&refusal),
    };
    assert_eq!(found, expect);
}

#[test]
fn messages_are_told_apart() {
    check(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "request 1 tools/list -");
    check(
        r#"{"method":"x/y","params":{"a":[ 1 ]},"jsonrpc":"2.0","id":"\u0078"}"#,
        r#"request "\u0078" x/y {"a":[ 1 ]}"#,
    );
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "notification notifications/initialized -",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "result 1 {}");
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null");
    check(r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, r#"error 1 {"code":1}"#);
    check(r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, "error - {}");
    check(r#"{"jsonrpc":"2.0","error":{}}"#, "error - {}");
    check(r#"{"jsonrpc":"2.0","method":"a","params":null}"#, "notification a -");
    check(r#"{"\u006asonrpc":"\u0032.0","meth\u006fd":"\u0061","other":1}"#, "notification a -");
}

#[test]
fn a_notification_is_never_refused_for_its_params() {
    check(r#"{"jsonrpc":"2.0","method":"a","params":[1]}"#, "notification a -");
    check(r#"{"jsonrpc":"2.0","method":"a","params":"text"}"#, "notification a -");
}

#[test]
fn ids_come_back_as_written() {
    for id in ["9007199254740993", r#""x""#, "-1", "1.0", "1e400", r#""\u00e9\ud83d\ude00""#, r#""\ud800""#] {
        check(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#), &format!("request {id} m -"));
    }
}

#[test]
fn what_is_not_json_has_the_code_of_a_parse_error() {
    check("", "-32700 - unexpected end of JSON at byte 0");
    check(r#"{"jsonrpc":"2.0","id":1,"#, "-32700 - unexpected end of JSON at byte 24");
    let refusal = parse(Bytes::from_static(b"{\"\xff\":1}")).unwrap_err();
    assert_eq!(show_refusal(&refusal), "-32700 - invalid UTF-8 at byte 2");
}

#[test]
fn json_that_is_no_message_is_refused_with_its_id() {
    check("1", "-32600 - a message must be an object");
    check("{}", r#"-32600 - `jsonrpc` must be "2.0""#);
    check(r#"{"id":1,"method":"m"}"#, r#"-32600 1 `jsonrpc` must be "2.0""#);
    check(r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, r#"-32600 1 `jsonrpc` must be "2.0""#);
    for id in ["null", "true", "{}", "[1]"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
        check(&text, "-32600 - `id` must be a string or a number");
    }
    check(r#"{"jsonrpc":"2.0","id":1}"#, "-32600 1 a message must have `method`, `result` or `error`");
    check(r#"{"jsonrpc":"2.0","id":1,"method":1}"#, "-32600 1 `method` must be a string");
    check(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":1}"#, "-32600 1 `params` must be an object");
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#,
        "-32600 1 `params` must be an object: MCP has no parameters by position",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#,
        "-32600 1 a response must not have both `result` and `error`",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"m","result":1}"#,
        "-32600 1 a message must not have `method` together with `result` or `error`",
    );
    check(r#"{"jsonrpc":"2.0","id":1,"error":"x"}"#, "-32600 1 `error` must be an object");
    check(r#"{"jsonrpc":"2.0","result":{}}"#, "-32600 - a response must have an `id`");
    check(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "-32600 - `id` must be a string or a number");
}

#[test]
fn json_that_could_mean_two_things_is_refused_with_its_id() {
    check(
        r#"{"jsonrpc":"2.0","method":"m","params":{"a":1,"a":2},"id":7}"#,
        "-32600 7 duplicate key at byte 46",
    );
    check(
        r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"\ud800":1}}"#,
        "-32600 7 lone surrogate in a key at byte 47",
    );
    check(r#"{"id":1,"id":2,"jsonrpc":"2.0","method":"m"}"#, "-32600 - duplicate key at byte 8");
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"a":{deep}}},"id":"x"}}"#);
    check(&text, "-32600 \"x\" nesting deeper than 128 at byte 170");
    check(&deep, "-32600 - nesting deeper than 128 at byte 128");
}

#[test]
fn members_of_a_batch_are_refused_one_by_one() {
    check("[]", "-32600 - a batch must not be empty");
    check(
        r#"[ {"jsonrpc":"2.0","id":1,"method":"a"}, 1, {"id":2}, {"jsonrpc":"2.0","method":"b"} ]"#,
        "request 1 a - | -32600 - a message must be an object | -32600 2 `jsonrpc` must be \"2.0\" | notification b -",
    );
    check("[[]]", "-32600 - a message must be an object");
}

#[test]
fn parts_are_slices_of_the_frame() {
    let text = Bytes::from_static(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#);
    let Ok(Frame::One(Message::Request(request))) = parse(text.clone()) else { panic!("a request") };
    assert_eq!(request.params.unwrap().as_bytes().as_ptr(), text[55..].as_ptr());
    assert!(matches!(request.method, Cow::Borrowed("tools/call")));
}
