//! Connections that end well, badly, or meanwhile, against a server of raw bytes.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolgate_host::Tasks;

use super::*;

/// A server that answers each request with the same bytes, on each connection as often as it likes.
struct Server {
    direct: Arc<Direct>,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    _tasks: Tasks,
}

impl Server {
    async fn start(answer: &'static str, answers_each: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: Url = format!("http://{}/mcp?key=1", listener.local_addr().unwrap()).parse().unwrap();
        let (connections, requests) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let tasks = Tasks::new();
        let (counted, seen, owner) = (connections.clone(), requests.clone(), tasks.clone());
        tasks.spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let seen = seen.clone();
                owner.spawn(async move {
                    for _ in 0..answers_each {
                        let Some(request) = read(&mut stream).await else { return };
                        seen.lock().unwrap().push(request);
                        stream.write_all(answer.as_bytes()).await.unwrap();
                    }
                    // The last one gets no answer, or that the connection ends.
                });
            }
        });
        Self { direct: Direct::to(&url).unwrap(), connections, requests, _tasks: tasks }
    }

    /// Posts a frame and reads the answer.
    async fn post(&self) -> Result<String, String> {
        let mut response =
            self.direct.post(HeaderMap::new(), Bytes::from_static(b"{}")).await.map_err(word)?;
        let mut whole = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| format!("cut: {}", root(&error)))? {
            whole.extend_from_slice(&piece);
        }
        Ok(String::from_utf8(whole).unwrap())
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

async fn read(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        let mut piece = [0; 1024];
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        request.extend_from_slice(&piece[..count]);
    }
    Some(String::from_utf8(request).unwrap())
}

fn word(fault: Fault) -> String {
    let not_sent = matches!(fault, Fault::NotSent(_));
    let gone = matches!(fault, Fault::Gone(_));
    if not_sent {
        "not sent".into()
    } else if gone {
        "gone".into()
    } else {
        fault.words()
    }
}

const WHOLE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const IN_PIECES: &str =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\nDone: yes\r\n\r\n";
const LAST: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
const TO_THE_END: &str = "HTTP/1.1 200 OK\r\n\r\nok";
const EMPTY: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn a_connection_is_used_again_whenever_it_can_be() {
    for (answer, each, expected, connections) in [
        (WHOLE, usize::MAX, "ok", 1),
        (IN_PIECES, usize::MAX, "ok", 1),
        (EMPTY, usize::MAX, "", 1),
        // Those that are closed, with a word on it or without one, are not.
        (LAST, 1, "ok", 3),
        (TO_THE_END, 1, "ok", 3),
    ] {
        let server = Server::start(answer, each).await;
        for _ in 0..3 {
            assert_eq!(server.post().await.as_deref(), Ok(expected), "{answer}");
        }
        assert_eq!(server.connections(), connections, "{answer}");
    }
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_no_call() {
    let server = Server::start(WHOLE, 1).await;
    for _ in 0..3 {
        assert_eq!(server.post().await.as_deref(), Ok("ok"));
        // Its end has to be here before it can be seen.
        let idle = server.direct.lock().pop();
        if let Some(mut kept) = idle {
            while kept.is_open() {
                tokio::task::yield_now().await;
            }
            server.direct.lock().push(kept);
        }
    }
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn connections_that_nobody_used_for_long_are_closed() {
    let server = Server::start(WHOLE, usize::MAX).await;
    assert_eq!(server.post().await.as_deref(), Ok("ok"));
    assert_eq!(server.direct.lock().len(), 1);
    tokio::time::pause();
    tokio::time::advance(IDLE).await;
    tokio::time::resume();
    assert_eq!(server.post().await.as_deref(), Ok("ok"));
    assert_eq!(server.connections(), 2);
}

#[tokio::test(start_paused = true)]
async fn idle_connections_are_closed_without_another_call() {
    let server = Server::start(WHOLE, usize::MAX).await;
    tokio::time::resume();
    assert_eq!(server.post().await.as_deref(), Ok("ok"));
    tokio::time::pause();
    tokio::select! {
        never = server.direct.tidy() => match never {},
        () = async { while !server.direct.lock().is_empty() { sleep(IDLE / 2).await } } => {}
    }
}

#[tokio::test]
async fn what_goes_wrong_tells_whether_the_server_may_have_seen_the_request() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok";
    let cut_in_pieces = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n";
    for (answer, expected) in [
        ("", "gone"),
        ("HTTP/1.1 200", "gone"),
        ("no answer of HTTP\r\n\r\n", "gone"),
        (cut, "cut: "),
        (cut_in_pieces, "cut: "),
    ] {
        let server = Server::start(answer, 1).await;
        let error = server.post().await.unwrap_err();
        assert!(error.starts_with(expected), "{answer}: {error}");
        assert!(server.direct.lock().is_empty(), "{answer}");
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url: Url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    drop(listener);
    let refused = Direct::to(&url).unwrap().post(HeaderMap::new(), Bytes::new()).await;
    assert_eq!(refused.err().map(word).as_deref(), Some("not sent"));
}

#[tokio::test]
async fn an_answer_that_is_not_read_to_its_end_takes_its_connection_along() {
    let server = Server::start(IN_PIECES, usize::MAX).await;
    let response = server.direct.post(HeaderMap::new(), Bytes::from_static(b"{}")).await.unwrap();
    drop(response);
    assert!(server.direct.lock().is_empty());
    assert_eq!(server.post().await.as_deref(), Ok("ok"));
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_request_says_what_and_for_whom_it_is() {
    let server = Server::start(WHOLE, usize::MAX).await;
    server.post().await.unwrap();
    let mut headers = HeaderMap::new();
    headers.insert(header::HOST, HeaderValue::from_static("elsewhere"));
    server.direct.post(headers, Bytes::from_static(b"{}")).await.unwrap();
    let requests = server.requests.lock().unwrap();
    assert!(requests[0].starts_with("POST /mcp?key=1 HTTP/1.1\r\n"), "{}", requests[0]);
    assert!(requests[0].contains("host: 127.0.0.1:"), "{}", requests[0]);
    assert!(requests[0].contains(&format!("user-agent: {USER_AGENT}\r\n")), "{}", requests[0]);
    assert!(requests[0].contains("content-length: 2\r\n"), "{}", requests[0]);
    assert!(
        requests[1].contains("host: elsewhere\r\n") && !requests[1].contains("127.0.0.1"),
        "{}",
        requests[1]
    );
}

#[test]
fn only_plain_addresses_are_reached_directly() {
    fn check(url: &str, expected: Option<(&str, u16, &str, &str)>) {
        let direct = Direct::to(&url.parse().unwrap());
        let found = direct.as_ref().map(|direct| {
            (&*direct.host, direct.port, direct.host_header.to_str().unwrap(), direct.target.path())
        });
        assert_eq!(found, expected, "{url}");
    }
    check("http://localhost:3000/mcp", Some(("localhost", 3000, "localhost:3000", "/mcp")));
    check("http://example.org", Some(("example.org", 80, "example.org", "/")));
    check("http://[::1]:8080/a%20b#part", Some(("::1", 8080, "[::1]:8080", "/a%20b")));
    check("https://example.org/mcp", None);
    check("http://me:secret@example.org/mcp", None);
    check("http://me@example.org/mcp", None);
}

#[tokio::test]
async fn a_server_that_is_silent_is_asked_for_a_sign_of_life() {
    let server = Server::start(WHOLE, 0).await;
    let stream = server.direct.dial().await.unwrap();
    let socket = SockRef::from(&stream);
    assert!(socket.keepalive().unwrap());
    assert_eq!(socket.tcp_keepalive_time().unwrap().as_secs(), 30);
    assert_eq!(socket.tcp_keepalive_interval().unwrap().as_secs(), 10);
    assert_eq!(socket.tcp_keepalive_retries().unwrap(), 3);
}
