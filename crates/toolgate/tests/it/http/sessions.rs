//! Sessions of legacy clients: begun, used from several connections, kept apart, ended.

use serde_json::{Value, json};

use crate::message::{call, cancelled, initialize, notification, request, slow, text};
use crate::process::{Server, until};
use crate::web::Open;

/// A legacy client with a session.
pub(super) struct Client<'a> {
    pub(super) server: &'a Server,
    pub(super) id: String,
}

impl<'a> Client<'a> {
    pub(super) fn begin(server: &'a Server) -> Self {
        Self::begin_at(server, "2025-11-25")
    }

    pub(super) fn begin_at(server: &'a Server, version: &str) -> Self {
        let reply = server.post(initialize(version)).both().send();
        assert_eq!(reply.json()["result"]["protocolVersion"], version);
        let id = reply.header("mcp-session-id").expect("a session").to_owned();
        let this = Self { server, id };
        let told = this.post(notification("notifications/initialized", &json!({}))).whole();
        assert_eq!((told.status, told.body.len()), (202, 0));
        this
    }

    pub(super) fn post(&self, body: String) -> Open {
        self.server.post(body).both().session(&self.id).open()
    }

    /// The stream of what belongs to no request.
    pub(super) fn listen(&self) -> Open {
        let stream = self.server.get("/mcp").header("Accept", "text/event-stream").session(&self.id).open();
        assert_eq!(
            (stream.head.status, stream.head.header("content-type")),
            (200, Some("text/event-stream"))
        );
        stream
    }
}

#[test]
fn a_session_lives_from_initialize_to_delete() {
    let server = Server::start();
    let client = Client::begin(&server);
    assert!(client.id.bytes().all(|byte| (0x21..=0x7e).contains(&byte)));
    let listed = client.post(request(1, "tools/list", &json!({}))).whole();
    assert_eq!((listed.status, &listed.json()["id"]), (200, &json!(1)));

    let mut stream = client.listen();
    let called = client.post(call(2, "test_trigger_tool_change", json!({}))).whole();
    assert_eq!(called.status, 200);
    assert_eq!(stream.message().unwrap()["method"], "notifications/tools/list_changed");

    let ended = server.delete("/mcp").session(&client.id).send();
    assert_eq!(ended.status, 204);
    assert_eq!(stream.message(), None, "the stream ends with its session");
    for ask in [
        server.post(request(3, "tools/list", &json!({}))).both().session(&client.id),
        server.post(notification("notifications/initialized", &json!({}))).both().session(&client.id),
        server.get("/mcp").session(&client.id),
        server.delete("/mcp").session(&client.id),
    ] {
        assert_eq!(ask.send().status, 404);
    }
    assert_eq!(server.get("/health").send().json()["sessions"], 0);
}

#[test]
fn a_session_can_stand_in_the_path() {
    let server = Server::start();
    let client = Client::begin(&server);
    let path = format!("/mcp/{}", client.id);
    let reply = server.post(call(1, "test_echo", json!({"message": "by path"}))).both().path(&path).send();
    assert_eq!(text(&reply.json()), "by path");
    assert_eq!(server.get(&path).header("Accept", "text/event-stream").open().head.status, 200);
    assert_eq!(server.delete(&path).send().status, 204);
    assert_eq!(server.post(request(2, "ping", &json!({}))).path(&path).send().status, 404);
    assert_eq!(server.post(request(2, "ping", &json!({}))).path("/mcp/made-up").send().status, 404);
}

#[test]
fn without_sessions_nothing_is_remembered() {
    let server = Server::configured("[http]\nsessions = false\n");
    let reply = server.post(initialize("2025-11-25")).both().send();
    assert_eq!((reply.status, reply.header("mcp-session-id")), (200, None));
    // A server that keeps nothing promises no notifications.
    assert_eq!(reply.json()["result"]["capabilities"]["tools"], json!({}));
    let called = server.post(call(1, "test_echo", json!({"message": "x"}))).both().send();
    assert_eq!(text(&called.json()), "x");
    assert_eq!(server.get("/mcp").header("Accept", "text/event-stream").send().status, 405);
    assert_eq!(server.delete("/mcp").send().status, 405);
}

#[test]
fn a_question_goes_out_on_the_stream_of_its_call() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.post(call(1, "test_elicitation", json!({"message": "who?"})));
    let question = stream.message().unwrap();
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("who?"))
    );
    let content = json!({"username": "ada", "email": "ada@example.org"});
    let answer =
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": content}});
    // An answer to somebody else's question is taken, and changes nothing.
    let other = Client::begin(&server);
    assert_eq!(other.post(answer.to_string()).whole().status, 202);
    assert_eq!(client.post(answer.to_string()).whole().status, 202);
    let rest = stream.messages();
    assert_eq!((rest.len(), &rest[0]["id"]), (1, &json!(1)));
    assert!(text(&rest[0]).contains("ada@example.org"), "{rest:?}");
}

#[test]
fn sessions_do_not_see_each_others_streams() {
    let server = Server::start();
    let (one, two) = (Client::begin(&server), Client::begin(&server));
    assert_ne!(one.id, two.id);
    let (mut stream_one, mut stream_two) = (one.listen(), two.listen());
    let watched = json!({"uri": "test://watched-resource"});
    assert_eq!(one.post(request(1, "resources/subscribe", &watched)).whole().json()["result"], json!({}));
    one.post(call(2, "test_touch_resource", json!({}))).whole();
    // Both learn of the tools, only one watches the resource.
    one.post(call(3, "test_trigger_tool_change", json!({}))).whole();
    let mut told: Vec<Value> = (0..2).map(|_| stream_one.message().unwrap()["method"].take()).collect();
    told.sort_by_key(Value::to_string);
    assert_eq!(told, ["notifications/resources/updated", "notifications/tools/list_changed"]);
    assert_eq!(stream_two.message().unwrap()["method"], "notifications/tools/list_changed");

    // Progress of a call stays on its stream, and a foreign cancellation does nothing to it.
    let mut call_one = one.post(slow(9, 0.6));
    assert_eq!(call_one.message().unwrap()["params"]["progressToken"], "of 9");
    assert_eq!(two.post(cancelled(9)).whole().status, 202);
    assert_eq!(call_one.messages().last().map(text), Some("Slept for 0.6 s"));
    server.delete("/mcp").session(&two.id).send();
    assert_eq!(stream_two.message(), None);
    one.post(call(4, "test_trigger_tool_change", json!({}))).whole();
    assert_eq!(stream_one.message().unwrap()["method"], "notifications/tools/list_changed");
}

#[test]
fn a_cancelled_call_ends_its_stream_without_an_answer() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.post(slow(1, 3000.0));
    stream.message().unwrap();
    assert_eq!(client.post(cancelled(1)).whole().status, 202);
    assert!(stream.messages().iter().all(|message| message["method"] == "notifications/progress"));
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
}

#[test]
fn the_end_of_a_session_cancels_its_calls() {
    let server = Server::start();
    let client = Client::begin(&server);
    let mut stream = client.post(slow(1, 3000.0));
    stream.message().unwrap();
    assert_eq!(server.delete("/mcp").session(&client.id).send().status, 204);
    assert!(stream.messages().iter().all(|message| message["method"] == "notifications/progress"));
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
}

#[test]
fn there_are_no_more_sessions_than_allowed() {
    let server = Server::configured("[http]\nmax_sessions = 2\n");
    let (one, _two) = (Client::begin(&server), Client::begin(&server));
    assert_eq!(server.post(initialize("2025-11-25")).both().send().status, 503);
    server.delete("/mcp").session(&one.id).send();
    Client::begin(&server);
}
