//! How calls, streams and the server come to their end.

use std::thread;

use serde_json::json;

use super::sessions::Client;
use crate::message::{post_modern, slow, text};
use crate::process::{Server, until};
use crate::web::Open;

fn modern_slow(server: &Server, seconds: f64) -> Open {
    let params =
        json!({"name": "test_slow", "arguments": {"seconds": seconds}, "_meta": {"progressToken": 1}});
    post_modern(server, "tools/call", 1, params).open()
}

#[test]
fn a_modern_client_that_leaves_cancels_its_call() {
    let server = Server::start();
    let mut stream = modern_slow(&server, 3000.0);
    assert_eq!(stream.message().unwrap()["method"], "notifications/progress");
    assert_eq!(server.metric("toolgate_calls_running"), 1);
    drop(stream);
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
    assert_eq!(server.metric("toolgate_calls_running"), 0);
}

#[test]
fn a_client_that_waits_for_json_and_leaves_cancels_its_call() {
    let server = Server::start();
    let connection = server.post(slow(1, 3000.0)).header("Accept", "application/json").sent();
    until("the call runs", || server.metric("toolgate_calls_running") == 1);
    drop(connection);
    until("the call is cancelled", || server.calls("tool", "cancelled") == 1);
}

#[test]
fn sigterm_lets_calls_finish_and_ends_streams() {
    let mut server = Server::start();
    // Long enough that the first still runs when the last does.
    let (mut modern, direct) = (modern_slow(&server, 6.0), server.post(slow(2, 6.0)).sent());
    modern.message().unwrap();
    let client = Client::begin(&server);
    let mut own = client.listen();
    let mut of_session = client.post(slow(3, 6.0));
    of_session.message().unwrap();
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let mut listening = post_modern(&server, "subscriptions/listen", 9, wanted).open();
    listening.message().unwrap();
    until("all run", || server.metric("toolgate_calls_running") == 3);
    drop(client);
    server.running.terminate();

    // Streams without an end of their own end at once, and in good order.
    assert_eq!(own.message(), None);
    let farewell = listening.messages();
    assert_eq!((farewell.len(), &farewell[0]["id"]), (1, &json!(9)));
    // What was begun is answered.
    assert_eq!(modern.messages().last().map(text), Some("Slept for 6 s"));
    assert_eq!(text(&direct.head().whole().json()), "Slept for 6 s");
    assert_eq!(of_session.messages().last().map(text), Some("Slept for 6 s"));
    assert_eq!(server.running.code(), Some(0));
}

#[test]
fn an_idle_server_ends_at_once() {
    let mut server = Server::start();
    // A connection that is kept alive must not hold it up.
    let idle = server.get("/health").open();
    server.running.terminate();
    assert_eq!(server.running.code(), Some(0));
    drop(idle);
    until("the log tells why it ended", || server.log().contains("asked to stop by SIGTERM"));
}

#[test]
fn many_clients_at_once_are_all_answered() {
    let server = Server::start();
    thread::scope(|scope| {
        for client in 0..16 {
            let server = &server;
            scope.spawn(move || {
                for number in 0..20 {
                    let message = format!("{client} {number}");
                    let echo = json!({"name": "test_echo", "arguments": {"message": message}});
                    let reply = post_modern(server, "tools/call", number, echo).send().json();
                    assert_eq!((text(&reply), &reply["id"]), (message.as_str(), &json!(number)));
                }
            });
        }
    });
    assert_eq!(server.calls("tool", "complete"), 320);
}
