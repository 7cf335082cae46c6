//! Attempts to get in without a right token, or from where nobody should: each is refused, and nothing runs.

use serde_json::json;

use super::Desk;
use super::tokens::{create, status};
use crate::message::call;
use crate::process::until;
use crate::web::Ask;

/// An attempt: what it is, the path, the headers, and the status that refuses it.
type Attack = (&'static str, String, Vec<(&'static str, String)>, u16);

const INVALID: &str = r#"error_description="the token is not valid""#;

struct Tokens {
    alice: String,
    bob: String,
    expired: String,
    revoked: String,
}

impl Tokens {
    fn of(desk: &Desk) -> Self {
        let (expired, _) = create(desk, &["eve", "--expires", "1s"]);
        let (revoked, id) = create(desk, &["mallory"]);
        let (alice, _) = create(desk, &["alice"]);
        let (bob, _) = create(desk, &["bob"]);
        until("the tokens are known", || {
            [&revoked, &alice, &bob].iter().all(|token| status(desk, token) == 200)
        });
        assert_eq!(desk.command(&["token", "revoke", &id]).code, 0);
        until("a token is revoked", || status(desk, &revoked) == 401);
        until("a token has expired", || status(desk, &expired) == 401);
        Self { alice, bob, expired, revoked }
    }
}

fn bearer(token: &str) -> Vec<(&'static str, String)> {
    vec![("Authorization", format!("Bearer {token}"))]
}

fn attacks(tokens: &Tokens) -> Vec<Attack> {
    let Tokens { alice, bob, expired, revoked } = tokens;
    let other = bob.splitn(3, '_').nth(2).unwrap();
    let (id, own) = alice.split_at("tg_".len() + 10 + 1);
    assert!(id.ends_with('_'), "{id}");
    let swapped: String = own
        .chars()
        .map(|letter| {
            if letter.is_ascii_lowercase() {
                letter.to_ascii_uppercase()
            } else {
                letter.to_ascii_lowercase()
            }
        })
        .collect();
    let wrong = |what, token: &str| (what, "/mcp".to_owned(), bearer(token), 401);
    let headers = |what, headers: Vec<(&'static str, String)>, status| (what, "/mcp".into(), headers, status);
    let with = |name: &'static str, value: &str| {
        let mut all = bearer(alice);
        all.push((name, value.to_owned()));
        all
    };
    vec![
        headers("no token", vec![], 401),
        wrong("no secret", id),
        wrong("truncated", &alice[..alice.len() - 1]),
        wrong("longer", &format!("{alice}A")),
        wrong("twice in one", &format!("{alice}{alice}")),
        wrong("case of the secret", &format!("{id}{swapped}")),
        wrong("case of all", &alice.to_ascii_uppercase()),
        wrong("the secret of another", &format!("{id}{other}")),
        wrong("the secret alone", own),
        wrong("a wildcard", "tg_*_*"),
        wrong("quoted", &format!("\"{alice}\"")),
        wrong("two in one header", &format!("{alice}, Bearer {bob}")),
        wrong("expired", expired),
        wrong("revoked", revoked),
        headers("another scheme", vec![("Authorization", format!("Basic {alice}"))], 401),
        headers("no scheme", vec![("Authorization", alice.clone())], 401),
        headers("no space", vec![("Authorization", format!("Bearer{alice}"))], 401),
        headers("another header", vec![("Proxy-Authorization", format!("Bearer {alice}"))], 401),
        headers("a cookie", vec![("Cookie", format!("token={alice}; Authorization=Bearer {alice}"))], 401),
        headers("two headers", [bearer(alice), bearer(alice)].concat(), 400),
        headers("a wrong and a right one", [bearer("x"), bearer(alice)].concat(), 400),
        ("in the query", format!("/mcp?access_token={alice}&token={alice}"), vec![], 401),
        ("in the path", format!("/mcp/{alice}"), vec![], 401),
        headers("rebound name", with("Host", "evil.example"), 403),
        headers("rebound address", with("Host", "127.0.0.1.nip.io"), 403),
        headers("a foreign page", with("Origin", "http://evil.example"), 403),
        headers("a page of no origin", with("Origin", "null"), 403),
        headers("a page next door", with("Origin", "http://127.0.0.1:1"), 403),
    ]
}

#[test]
fn whoever_has_no_right_token_or_comes_from_a_foreign_page_is_refused() {
    let desk = Desk::start("[http]\nrequire_token = true\n");
    let tokens = Tokens::of(&desk);
    let write = |path: &str| call(1, "workspace_write", json!({"path": path, "content": "taken"}));
    let with = |ask: Ask, headers: &[(&str, String)]| {
        let ask = ask.header("Content-Type", "application/json");
        headers.iter().fold(ask, |ask, (name, value)| ask.header(name, value))
    };
    for (what, path, headers, expect) in attacks(&tokens) {
        let reply = with(desk.server.post(write("taken.txt")).path(&path), &headers).send();
        assert_eq!(reply.status, expect, "{what}: {}", reply.text());
        let challenge = reply.header("www-authenticate");
        assert_eq!(challenge.is_some_and(|told| told.starts_with("Bearer")), expect != 403, "{what}");
        let other = path.replace("/mcp", "/sse");
        if !path.starts_with("/mcp/") {
            let reply = with(desk.server.get(&other), &headers).open().head;
            assert_eq!(reply.status, expect, "{what}, at {other}");
        }
    }
    // One that was valid once is told from one that never was, and one that was taken back is not.
    for (token, told) in
        [(&tokens.expired, "the token is not valid now"), (&tokens.revoked, INVALID), (&"x".into(), INVALID)]
    {
        let reply = with(desk.server.post(write("taken.txt")), &bearer(token)).send();
        assert!(reply.header("www-authenticate").unwrap().contains(told), "{reply:?}");
    }
    assert!(!desk.home.join("w/taken.txt").exists());
    let calls = desk.command(&["audit", "export", "--target", "tool:*"]).stdout;
    assert_eq!(calls, "", "nothing came as far as a call");
    // The same with a right token is no attack.
    let own = ("Origin", format!("http://{}", desk.server.address));
    for (path, mut headers) in [("a.md", bearer(&tokens.alice)), ("b.md", bearer(&tokens.bob))] {
        headers.push(own.clone());
        assert_eq!(with(desk.server.post(write(path)), &headers).send().status, 200);
        assert_eq!(std::fs::read_to_string(desk.home.join("w").join(path)).unwrap(), "taken");
    }
}

#[test]
fn with_an_issuer_clients_are_told_where_tokens_come_from() {
    let desk = Desk::start(
        r#"
[http]
public_url = "https://gate.example"

[http.oauth]
issuer = "https://127.0.0.1:9"
jwks_url = "https://127.0.0.1:9/keys"
required_scopes = ["tools"]
"#,
    );
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string();
    let at = "https://gate.example/.well-known/oauth-protected-resource/mcp";
    let reply = desk.server.post(ping.clone()).send();
    assert_eq!(reply.status, 401);
    let expect = format!(r#"Bearer scope="tools", resource_metadata="{at}""#);
    assert_eq!(reply.header("www-authenticate"), Some(expect.as_str()));
    for path in ["", "/mcp"] {
        let metadata = desk.server.get(&format!("/.well-known/oauth-protected-resource{path}")).send();
        assert_eq!(metadata.status, 200);
        let metadata = metadata.json();
        assert_eq!(metadata["resource"], "https://gate.example/mcp", "{metadata}");
        assert_eq!(metadata["authorization_servers"], json!(["https://127.0.0.1:9"]), "{metadata}");
    }
    // `{"alg":"none"}`, `{"sub":"admin"}`, and no signature.
    let unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiJ9.";
    let reply = desk.server.post(ping).header("Authorization", format!("Bearer {unsigned}")).send();
    assert_eq!(reply.status, 401, "{}", reply.text());
    assert!(reply.header("www-authenticate").unwrap().contains(at));
    // Tokens of our own are taken besides.
    let (token, _) = create(&desk, &["alice"]);
    until("the token is known", || status(&desk, &token) == 200);
}
