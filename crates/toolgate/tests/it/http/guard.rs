//! Who may speak to the server at all: hosts, origins, tokens.

use serde_json::json;

use crate::message::{call, request, text};
use crate::process::{Place, Server, run};
use crate::web::{Ask, Reply};

fn ping(server: &Server) -> Ask {
    server.post(request(1, "ping", &json!({}))).header("Content-Type", "application/json")
}

#[test]
fn only_names_of_this_machine_are_answered() {
    #[track_caller]
    fn check(server: &Server, host: &str, status: u16) {
        for ask in [
            ping(server),
            server.get("/api"),
            server.get("/health"),
            server.get("/sse"),
            server.delete("/mcp"),
        ] {
            let found = ask.header("Host", host).open().head.status;
            assert_eq!(found == 403, status == 403, "{host}: {found}");
        }
    }
    let server = Server::start();
    let port = server.address.port();
    for host in ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "localhost:1"] {
        check(&server, host, 200);
    }
    check(&server, &format!("127.0.0.1:{port}"), 200);
    for host in [
        "evil.example",
        "localhost.evil.example",
        "evil.example:3000",
        "127.0.0.1.nip.io",
        "169.254.169.254",
        "",
        "0.0.0.0",
        "[::1].evil.example",
        "localhost@evil.example",
    ] {
        check(&server, host, 403);
    }
    // Names can be added.
    let server = Server::configured("[http]\nallowed_hosts = [\"gate.example\"]\n");
    check(&server, "gate.example", 200);
    check(&server, "Gate.Example:8080", 200);
    check(&server, "evil.example", 403);
}

#[test]
fn pages_of_other_origins_are_refused() {
    #[track_caller]
    fn check(server: &Server, origin: &str, status: u16) {
        let reply = ping(server).header("Origin", origin).send();
        assert_eq!(reply.status, status, "{origin}");
        let opened = reply.header("access-control-allow-origin");
        assert_eq!(opened, (status == 200).then_some(origin));
    }
    let server = Server::start();
    let own = format!("http://{}", server.address);
    check(&server, &own, 200);
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://127.0.0.1:1",
        "file://",
        "",
        "https://evil.example/http://localhost",
    ] {
        check(&server, origin, 403);
    }
    let server = Server::configured("[http]\ncors_origins = [\"https://page.example\"]\n");
    check(&server, "https://page.example", 200);
    check(&server, "https://page.example.evil", 403);
    check(&server, "http://page.example", 403);
    let server = Server::configured("[http]\ncors_origins = [\"*\"]\n");
    check(&server, "https://anything.example", 200);
}

#[test]
fn pages_send_json_as_such() {
    // Anything else a page may send without asking its browser first.
    let server = Server::start();
    let own = format!("http://{}", server.address);
    for kind in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("multipart/form-data")]
    {
        let ask = server.post(request(1, "ping", &json!({}))).header("Origin", &own);
        let ask = kind.into_iter().fold(ask, |ask, kind| ask.header("Content-Type", kind));
        assert_eq!(ask.send().status, 415, "{kind:?}");
    }
    let ask = server.post(request(1, "ping", &json!({}))).header("Origin", &own);
    assert_eq!(ask.header("Content-Type", "application/json; charset=utf-8").send().status, 200);
}

#[test]
fn a_listed_page_may_ask_first() {
    let server = Server::configured("[http]\ncors_origins = [\"https://page.example\"]\n");
    let preflight = |origin: &str| -> Reply {
        let ask = Ask::new(server.address, "OPTIONS", "/mcp").header("Origin", origin);
        let wanted = "content-type, mcp-session-id, mcp-protocol-version, last-event-id";
        ask.header("Access-Control-Request-Method", "POST")
            .header("Access-Control-Request-Headers", wanted)
            .send()
    };
    let allowed = preflight("https://page.example");
    assert_eq!(allowed.status, 204);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://page.example"));
    assert_eq!(allowed.header("vary"), Some("Origin"));
    let methods = allowed.header("access-control-allow-methods").unwrap();
    assert!(["GET", "POST", "DELETE"].iter().all(|method| methods.contains(method)), "{methods}");
    let headers = allowed.header("access-control-allow-headers").unwrap().to_ascii_lowercase();
    for header in [
        "authorization",
        "content-type",
        "mcp-session-id",
        "mcp-protocol-version",
        "last-event-id",
        "mcp-method",
        "mcp-name",
    ] {
        assert!(headers.contains(header), "{headers}");
    }
    assert_eq!(preflight("https://evil.example").status, 403);
    let exposed = ping(&server).header("Origin", "https://page.example").send();
    assert!(exposed.header("access-control-expose-headers").unwrap().contains("Mcp-Session-Id"));
}

#[test]
fn a_token_is_demanded_where_it_is_set() {
    const TOKEN: &str = "a-long-random-word-1234";
    let server = Server::configured(&format!("[http]\ntoken = \"{TOKEN}\"\n"));
    let bearer = |ask: Ask, token: &str| ask.header("Authorization", format!("Bearer {token}"));
    for ask in [
        ping(&server),
        server.get("/api"),
        server.get("/metrics"),
        server.get("/sse"),
        server.get("/mcp"),
        server.delete("/mcp"),
    ] {
        let refused = ask.clone().send();
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
        for wrong in ["", "a-long-random-word-123", "A-LONG-RANDOM-WORD-1234", "a-long-random-word-12345"] {
            assert_eq!(bearer(ask.clone(), wrong).send().status, 401, "{wrong}");
        }
        assert_eq!(ask.clone().header("Authorization", TOKEN).send().status, 401);
        assert_eq!(ask.clone().header("Authorization", format!("Basic {TOKEN}")).send().status, 401);
        assert_ne!(bearer(ask, TOKEN).open().head.status, 401);
    }
    let called = bearer(server.post(call(1, "test_echo", json!({"message": "in"}))), TOKEN).send();
    assert_eq!(text(&called.json()), "in");
    // Those who only want to know whether it lives need none.
    assert_eq!(server.get("/health").send().status, 200);
    assert!(!server.log().contains(TOKEN));
}

#[test]
fn beyond_loopback_a_token_is_demanded_at_the_start() {
    #[track_caller]
    fn check(toml: &str, arguments: &[&str], says: &str) {
        let place = Place::configured(toml);
        let ended = run(place.toolgate(&[&["serve", "--http", "--port", "0"], arguments].concat()), b"");
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{ended:?}");
        assert!(ended.stderr.contains(says) && ended.stderr.contains("hint: "), "{ended:?}");
    }
    check("", &["--host", "0.0.0.0"], "no token is set");
    check("", &["--host", "::"], "no token is set");
    check("[http]\ntoken = \"short\"\n", &["--host", "0.0.0.0"], "fewer than 16 characters");
    check("[http]\ntoken = \"short\"\n", &[], "fewer than 16 characters");
    check("", &["--host", "not-an-address"], "no IP address");
}

#[test]
fn a_port_in_use_is_said_with_what_to_do() {
    let server = Server::start();
    let port = server.address.port().to_string();
    let ended = run(Place::new().toolgate(&["serve", "--http", "--port", &port]), b"");
    assert_eq!(ended.code, 2, "{ended:?}");
    assert!(
        ended.stderr.contains("is in use by another program") && ended.stderr.contains("--port"),
        "{ended:?}"
    );
}
