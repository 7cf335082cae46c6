//! Limits: what is too large, too many or too slow is refused, and others are served meanwhile.

use serde_json::json;

use crate::message::{call, post_modern, request, text};
use crate::process::{Server, until};
use crate::web::Ask;

#[test]
fn a_body_that_is_too_large_is_refused() {
    let server = Server::configured("[http]\nmax_body_bytes = 1000\n");
    let message = |length: usize| call(1, "test_echo", json!({"message": "x".repeat(length)}));
    let room = 1000 - message(0).len();
    assert_eq!(server.post(message(room)).send().status, 200);
    assert_eq!(server.post(message(room + 1)).send().status, 413);
    assert_eq!(server.post(message(10_000_000)).send().status, 413);
    // One that does not say how long it is, is counted.
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let mut connection =
        Ask::new(server.address, "POST", "/mcp").header("Transfer-Encoding", "chunked").sent();
    for _ in 0..11 {
        connection.write(chunk(&"x".repeat(100)).as_bytes());
    }
    assert_eq!(connection.head().head.status, 413);
    assert_eq!(server.post(request(1, "ping", &json!({}))).send().status, 200);
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = Server::start();
    let ping = || server.post(request(1, "ping", &json!({})));
    let large = ping().header("X-Large", "x".repeat(200_000)).open().head.status;
    assert!((400..500).contains(&large), "{large}");
    let many =
        (0..200).fold(ping(), |ask, number| ask.header(&format!("X-{number}"), "x")).open().head.status;
    assert!((400..500).contains(&many), "{many}");
    assert_eq!(ping().send().status, 200);
}

#[test]
fn more_connections_than_allowed_are_told_so() {
    let server = Server::configured("[http]\nmax_connections = 2\n");
    let listen = || {
        post_modern(&server, "subscriptions/listen", 1, json!({"notifications": {"toolsListChanged": true}}))
            .open()
    };
    let (mut one, two) = (listen(), listen());
    assert_eq!((one.head.status, two.head.status), (200, 200));
    let refused = server.get("/health").send();
    assert_eq!(refused.status, 503, "{}", refused.text());
    // Those that were there are not disturbed, and a place that is free again is given away.
    assert!(one.message().is_some());
    drop(two);
    until("there is room again", || server.get("/health").send().status == 200);
}

#[test]
fn a_client_that_sends_slowly_holds_up_nobody() {
    let server = Server::start();
    let body = call(1, "test_echo", json!({"message": "slow"}));
    let (begin, end) = body.split_at(body.len() / 2);
    let slow: Vec<_> =
        (0..50).map(|_| server.post(begin).header("Content-Length", body.len()).sent()).collect();
    let mut half_a_head: Vec<_> = (0..50).map(|_| server.post("").sent()).collect();
    half_a_head.iter_mut().for_each(|connection| connection.write(b"POST /mcp HT"));
    for id in 0..20 {
        let reply = server.post(call(id, "test_echo", json!({"message": "quick"}))).send();
        assert_eq!(text(&reply.json()), "quick");
    }
    for mut connection in slow {
        connection.write(end.as_bytes());
        assert_eq!(text(&connection.head().whole().json()), "slow");
    }
}

#[test]
fn a_client_that_sends_garbage_harms_nobody() {
    let server = Server::start();
    for garbage in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    ] {
        let mut connection = server.get("/health").sent();
        connection.write(garbage);
        drop(connection);
    }
    assert_eq!(server.post(request(1, "ping", &json!({}))).send().status, 200);
}

#[test]
fn a_large_answer_arrives_whole() {
    let server = Server::start();
    let big = || json!({"bytes": 8_000_000});
    let whole = server.post(call(1, "test_big", big())).send();
    assert_eq!(text(&whole.json()).len(), 8_000_000);
    let streamed =
        server.post(call(1, "test_big", big())).header("Accept", "text/event-stream").open().messages();
    assert_eq!(text(&streamed[0]).len(), 8_000_000);
}
