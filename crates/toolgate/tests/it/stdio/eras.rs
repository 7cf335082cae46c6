//! Every version of the protocol on one process, with and without a handshake.

use serde_json::{Value, json};

use crate::message::{call, cancelled, initialize, modern, modern_call, notification, request, text};
use crate::process::Stdio;

#[test]
fn a_handshake_agrees_on_the_version_asked_for_or_on_the_latest() {
    #[track_caller]
    fn check(asked: &str, agreed: &str) {
        let mut stdio = Stdio::start();
        let answer = stdio.ask(initialize(asked));
        assert_eq!(answer["result"]["protocolVersion"], agreed);
        assert_eq!(answer["result"]["serverInfo"]["name"], "toolgate");
        assert_eq!(answer["result"]["capabilities"]["tools"], json!({"listChanged": true}));
        assert!(answer["result"]["instructions"].as_str().is_some_and(|text| !text.is_empty()));
        stdio.send(notification("notifications/initialized", &json!({})));
        let answer = stdio.ask(call(1, "test_echo", json!({"message": agreed})));
        assert_eq!(text(&answer), agreed);
        assert_eq!(stdio.finish(), (vec![], Some(0)));
    }
    check("2024-11-05", "2024-11-05");
    check("2025-03-26", "2025-03-26");
    check("2025-06-18", "2025-06-18");
    check("2025-11-25", "2025-11-25");
    check("1999-01-01", "2025-11-25");
    check("", "2025-11-25");
}

#[test]
fn a_legacy_client_is_told_of_changes_and_asked_by_requests() {
    let mut stdio = Stdio::start();
    stdio.ask(initialize("2025-11-25"));
    stdio.send(notification("notifications/initialized", &json!({})));

    stdio.send(call(1, "test_trigger_tool_change", json!({})));
    let mut told = [stdio.next(), stdio.next()];
    told.sort_by_key(|message| message["id"].is_null());
    assert_eq!(told[0]["id"], 1);
    assert_eq!(told[1], json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}));

    let question = stdio.ask(call(2, "test_elicitation", json!({"message": "who?"})));
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["message"], "who?");
    let content = json!({"username": "ada", "email": "ada@example.org"});
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": content}});
    let done = stdio.ask(answer.to_string());
    assert_eq!(done["id"], 2);
    assert!(text(&done).contains("ada@example.org"), "{done}");

    // An error is an answer too.
    let question = stdio.ask(call(3, "test_elicitation", json!({"message": "who?"})));
    let refusal =
        json!({"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "no screen"}});
    let done = stdio.ask(refusal.to_string());
    assert_eq!((&done["id"], &done["result"]["isError"]), (&json!(3), &json!(true)), "{done}");
}

#[test]
fn a_watched_resource_is_told_of_until_it_is_not_watched() {
    let mut stdio = Stdio::start();
    stdio.ask(initialize("2025-11-25"));
    stdio.send(notification("notifications/initialized", &json!({})));
    let watched = json!({"uri": "test://watched-resource"});
    assert_eq!(stdio.ask(request(1, "resources/subscribe", &watched))["result"], json!({}));
    stdio.send(call(2, "test_touch_resource", json!({})));
    let mut told = [stdio.next(), stdio.next()];
    told.sort_by_key(|message| message["id"].is_null());
    assert_eq!(told[1]["method"], "notifications/resources/updated");
    assert_eq!(told[1]["params"], watched);
    assert_eq!(stdio.ask(request(3, "resources/unsubscribe", &watched))["result"], json!({}));
    assert_eq!(stdio.ask(call(4, "test_touch_resource", json!({})))["id"], 4);
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn log_messages_come_from_the_level_that_was_set() {
    let mut stdio = Stdio::start();
    stdio.ask(initialize("2025-06-18"));
    stdio.send(call(1, "test_tool_with_logging", json!({})));
    let logged: Vec<Value> = (0..3).map(|_| stdio.next()["params"]["data"].take()).collect();
    assert_eq!(logged, ["Tool execution started", "Tool processing data", "Tool execution completed"]);
    assert_eq!(stdio.next()["id"], 1);
    assert_eq!(stdio.ask(request(2, "logging/setLevel", &json!({"level": "warning"})))["result"], json!({}));
    assert_eq!(stdio.ask(call(3, "test_tool_with_logging", json!({})))["id"], 3);
    assert_eq!(stdio.ask(request(4, "logging/setLevel", &json!({"level": "loud"})))["error"]["code"], -32602);
}

#[test]
fn a_modern_client_needs_no_handshake() {
    let mut stdio = Stdio::start();
    let found = stdio.ask(request(1, "server/discover", &modern(json!({}))));
    assert_eq!(found["result"]["resultType"], "complete");
    let versions = json!(["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"]);
    let mut supported = found["result"]["supportedVersions"].clone();
    supported.as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!(supported, versions);

    let called = stdio.ask(modern_call(2, "test_echo", json!({"message": "modern"})));
    assert_eq!((text(&called), &called["result"]["resultType"]), ("modern", &json!("complete")));
    assert_eq!(called["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");

    // Both eras at once, on one process.
    let called = stdio.ask(call(3, "test_echo", json!({"message": "legacy"})));
    assert_eq!(called["result"], json!({"content": [{"type": "text", "text": "legacy"}], "isError": false}));

    for legacy_only in ["initialize", "ping", "logging/setLevel"] {
        assert_eq!(stdio.ask(request(4, legacy_only, &modern(json!({}))))["error"]["code"], -32601);
    }
    let mut unknown = modern(json!({}));
    unknown["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let refused = stdio.ask(request(5, "tools/list", &unknown));
    assert_eq!(refused["error"]["code"], -32022);
    assert_eq!(refused["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn a_modern_client_listens_until_it_cancels() {
    let mut stdio = Stdio::start();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let acknowledged = stdio.ask(request(r#""listen:0""#, "subscriptions/listen", &modern(wanted.clone())));
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], wanted["notifications"]);

    stdio.send(modern_call(1, "test_trigger_tool_change", json!({})));
    let mut told = [stdio.next(), stdio.next()];
    told.sort_by_key(|message| message["id"].is_null());
    assert_eq!(told[0]["id"], 1);
    assert_eq!(told[1]["method"], "notifications/tools/list_changed");
    assert_eq!(told[1]["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "listen:0");

    stdio.send(cancelled("listen:0"));
    assert_eq!(stdio.ask(modern_call(2, "test_trigger_tool_change", json!({})))["id"], 2);
    assert_eq!(stdio.finish(), (vec![], Some(0)));
}

#[test]
fn a_listening_client_is_told_of_the_end() {
    let mut stdio = Stdio::start();
    let wanted = modern(json!({"notifications": {"toolsListChanged": true}}));
    stdio.ask(request(9, "subscriptions/listen", &wanted));
    let (said, code) = stdio.finish();
    assert_eq!((said.len(), code), (1, Some(0)), "{said:?}");
    let farewell: Value = serde_json::from_str(&said[0]).unwrap();
    assert_eq!((&farewell["id"], &farewell["result"]["resultType"]), (&json!(9), &json!("complete")));
}

#[test]
fn a_modern_client_answers_a_question_by_asking_again() {
    let mut stdio = Stdio::start();
    let tool = json!({"name": "test_input_required_result_elicitation", "arguments": {}});
    let first = stdio.ask(request(1, "tools/call", &modern(tool.clone())));
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let questions = first["result"]["inputRequests"].as_object().unwrap();
    let (key, question) = questions.iter().next().unwrap();
    assert_eq!(question["method"], "elicitation/create");

    let mut retry = tool;
    retry["inputResponses"] = json!({key: {"action": "accept", "content": {"name": "Ada"}}});
    if let Some(state) = first["result"].get("requestState") {
        retry["requestState"] = state.clone();
    }
    let done = stdio.ask(request(2, "tools/call", &modern(retry.clone())));
    assert_eq!((text(&done), &done["result"]["resultType"]), ("Hello, Ada!", &json!("complete")), "{done}");

    retry["requestState"] = json!("made up");
    let refused = stdio.ask(request(3, "tools/call", &modern(retry)));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
