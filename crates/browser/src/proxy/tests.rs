//! The proxy, tried with names and servers of this machine.

use std::io;

use tokio::io::AsyncReadExt as _;
use toolgate_core::HostPattern;
use toolgate_host::outbound::{LookingUp, Lookup};

use super::*;
use crate::config::reach;

/// Names, all of this machine.
#[derive(Debug)]
struct Names;

impl Lookup for Names {
    fn look_up(&self, name: String) -> LookingUp {
        Box::pin(async move {
            match name.as_str() {
                "nobody.example" => Err(io::ErrorKind::NotFound.into()),
                _ => Ok(vec![SocketAddr::from(([127, 0, 0, 1], 0))]),
            }
        })
    }
}

/// A server that says which request reached it.
async fn server(tasks: &Tasks) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tasks.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream = BufReader::new(stream);
            let Some(head) = Head::read(&mut stream).await.unwrap() else { continue };
            let said = String::from_utf8(head.answered()).unwrap().replace("\r\n", "|");
            let answer = format!(
                "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: {}\r\n\r\n{said}",
                said.len()
            );
            drop(stream.write_all(answer.as_bytes()).await);
            // It keeps the connection open, as it said; the proxy does not.
            let mut rest = Vec::new();
            drop(stream.read_to_end(&mut rest).await);
        }
    });
    port
}

async fn proxy(allowed: &[&str], narrow: Option<&[&str]>, tasks: &Tasks) -> Proxy {
    let domains = |texts: &[&str]| -> Vec<HostPattern> {
        texts.iter().map(|text| HostPattern(text.parse().unwrap())).collect()
    };
    let pinned = |texts: &[&str]| Pinned::new(reach(&domains(texts)), Arc::new(Names));
    let hosts =
        Hosts { all: Arc::new(pinned(allowed)), narrow: narrow.map(pinned), own: OwnPorts::default() };
    Proxy::start(hosts, tasks, CancellationToken::new()).await.unwrap()
}

/// Sends a text through, and reads all that comes back.
async fn ask(port: u16, text: String) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    // A tunnel stays open until we end it; the server here ends its side only then.
    let mut piece = [0; 4096];
    loop {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
        }
        if String::from_utf8_lossy(&answer).contains("Host:") {
            break;
        }
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn plain_requests_and_tunnels_reach_what_is_allowed_and_nothing_else() {
    async fn check(allowed: &[&str], narrow: Option<&[&str]>, host: &str, expect: &str) {
        let tasks = Tasks::new();
        let (port, proxy) = (server(&tasks).await, proxy(allowed, narrow, &tasks).await);
        let plain =
            ask(proxy.port, format!("GET http://{host}:{port}/x HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        let tunnel = format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n");
        let first = if expect == "200" { "GET / HTTP/1.1\r\nHost: inner\r\n\r\n" } else { "" };
        let tunnel = ask(proxy.port, format!("{tunnel}{first}")).await;
        let status = |text: &str| text.split(' ').nth(1).unwrap_or_default().to_owned();
        if expect == "200" {
            assert!(plain.starts_with("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n"), "{plain}");
            assert!(plain.contains("GET /x HTTP/1.1|Host: "), "{plain}");
            assert!(plain.contains("Connection: close") && !plain.contains("keep-alive"), "{plain}");
            assert!(tunnel.contains("GET / HTTP/1.1|Host: inner|"), "{tunnel}");
        } else {
            assert_eq!(
                (status(&plain), status(&tunnel)),
                (expect.into(), expect.into()),
                "{allowed:?} {host}"
            );
        }
        assert_eq!(proxy.refused(), if expect == "403" { 2 } else { 0 }, "{host}");
    }
    check(&["127.0.0.1"], None, "127.0.0.1", "200").await;
    check(&["localhost"], None, "localhost", "200").await;
    check(&["*", "localhost"], None, "localhost", "200").await;
    check(&[], None, "127.0.0.1", "403").await;
    check(&[], None, "localhost", "403").await;
    check(&[], None, "[::1]", "403").await;
    check(&[], None, "169.254.169.254", "403").await;
    check(&[], None, "a.example", "403").await;
    check(&["a.example"], None, "a.example", "403").await;
    check(&["b.example"], None, "a.example", "403").await;
    check(&["*"], None, "nobody.example", "502").await;
    check(&["127.0.0.1", "localhost"], Some(&["localhost"]), "localhost", "200").await;
    check(&["127.0.0.1", "localhost"], Some(&["localhost"]), "127.0.0.1", "403").await;
    check(&["localhost"], Some(&["127.0.0.1"]), "127.0.0.1", "403").await;
}

#[tokio::test]
async fn our_own_ports_are_not_reached_through_us() {
    let tasks = Tasks::new();
    let proxy = proxy(&["127.0.0.1", "0.0.0.0"], None, &tasks).await;
    for host in ["127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let own = format!("CONNECT {host}:{} HTTP/1.1\r\n\r\n", proxy.port);
        assert!(ask(proxy.port, own).await.starts_with("HTTP/1.1 403 "), "{host}");
    }
    assert_eq!(proxy.refused_since(0), ["127.0.0.1", "::ffff:127.0.0.1", "0.0.0.0"]);
    assert!(proxy.refused_since(3).is_empty());
}

#[tokio::test]
async fn what_is_no_request_for_a_proxy_is_refused() {
    let tasks = Tasks::new();
    let proxy = proxy(&["127.0.0.1"], None, &tasks).await;
    assert!(ask(proxy.port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n".into()).await.starts_with("HTTP/1.1 400 "));
    assert!(ask(proxy.port, "\u{16}\u{3}\u{1}\n\n".into()).await.starts_with("HTTP/1.1 400 "));
}
