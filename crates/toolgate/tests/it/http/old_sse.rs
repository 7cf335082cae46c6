//! The transport of 2024-11-05: a stream of events, and messages posted beside it.

use serde_json::{Value, json};

use crate::message::{call, cancelled, initialize, notification, request, slow, text};
use crate::process::{Server, until};
use crate::web::Open;

struct Client<'a> {
    server: &'a Server,
    stream: Open,
    place: String,
}

impl<'a> Client<'a> {
    fn connect(server: &'a Server) -> Self {
        let mut stream = server.get("/sse").header("Accept", "text/event-stream").open();
        assert_eq!(
            (stream.head.status, stream.head.header("content-type")),
            (200, Some("text/event-stream"))
        );
        let hello = stream.event().unwrap();
        assert_eq!(hello.event.as_deref(), Some("endpoint"));
        let place = String::from_utf8(hello.data.to_vec()).unwrap();
        assert!(place.starts_with("/messages?sessionId="), "{place}");
        Self { server, stream, place }
    }

    fn send(&self, body: String) {
        let reply =
            self.server.post(body).path(&self.place).header("Content-Type", "application/json").send();
        assert_eq!((reply.status, reply.body.len()), (202, 0));
    }

    fn next(&mut self) -> Value {
        self.stream.message().unwrap()
    }
}

#[test]
fn a_client_of_2024_works_end_to_end() {
    let server = Server::start();
    let mut client = Client::connect(&server);
    client.send(initialize("2024-11-05"));
    assert_eq!(client.next()["result"]["protocolVersion"], "2024-11-05");
    client.send(notification("notifications/initialized", &json!({})));
    client.send(request(1, "tools/list", &json!({})));
    assert!(!client.next()["result"]["tools"].as_array().unwrap().is_empty());
    client.send(call(2, "test_echo", json!({"message": "old"})));
    assert_eq!(text(&client.next()), "old");

    client.send(call(3, "test_elicitation", json!({"message": "who?"})));
    let question = client.next();
    assert_eq!(question["method"], "elicitation/create");
    let content = json!({"username": "ada", "email": "ada@example.org"});
    client.send(
        json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": content}})
            .to_string(),
    );
    assert!(text(&client.next()).contains("ada@example.org"));

    client.send("{broken".into());
    assert_eq!(client.next()["error"]["code"], -32700);
    client.send(call(4, "test_trigger_tool_change", json!({})));
    let mut told = [client.next(), client.next()];
    told.sort_by_key(|message| message["id"].is_null());
    assert_eq!((&told[0]["id"], &told[1]["method"]), (&json!(4), &json!("notifications/tools/list_changed")));

    client.send(slow(5, 3000.0));
    assert_eq!(client.next()["method"], "notifications/progress");
    client.send(cancelled(5));
    client.send(request(6, "ping", &json!({})));
    loop {
        let message = client.next();
        if message["id"] == 6 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
    }
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
}

#[test]
fn clients_are_kept_apart_and_forgotten_when_they_leave() {
    let server = Server::start();
    let (mut one, two) = (Client::connect(&server), Client::connect(&server));
    assert_ne!(one.place, two.place);
    two.send(slow(1, 3000.0));
    one.send(request(1, "ping", &json!({})));
    assert_eq!(one.next(), json!({"jsonrpc": "2.0", "id": 1, "result": {}}));
    until("the call runs", || server.metric("toolgate_calls_running") == 1);
    let place = two.place.clone();
    drop(two);
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
    let post = |path: &str| server.post(request(2, "ping", &json!({}))).path(path).send().status;
    until("the client is forgotten", || post(&place) == 404);
    for path in ["/messages", "/messages?sessionId=", "/messages?sessionId=made-up", "/messages?other=1"] {
        assert_eq!(post(path), 404, "{path}");
    }
}

#[test]
fn sigterm_lets_a_call_finish_and_ends_the_stream() {
    let mut server = Server::start();
    let mut client = Client::connect(&server);
    client.send(slow(1, 1.0));
    assert_eq!(client.next()["method"], "notifications/progress");
    let Client { stream, .. } = client;
    server.running.terminate();
    assert_eq!(stream.messages().last().map(text), Some("Slept for 1 s"));
    assert_eq!(server.running.code(), Some(0));
}
