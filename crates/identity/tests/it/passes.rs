//! What was begun with a token ends with it, and belongs to nobody else.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_core::OauthConfig;
use toolgate_front::http::HttpConfig;
use toolgate_host::{Clock, Tasks};

use crate::issuer::Issuer;
use crate::keys::Key;
use crate::scene::{SINGLE, Scene, call, eventually};
use crate::web::{Ask, Open};

fn strict() -> HttpConfig {
    HttpConfig { require_token: true, ..HttpConfig::default() }
}

const PROTOCOL: &str = "MCP-Protocol-Version";
const VERSION: &str = "2025-11-25";

/// A request within a session.
fn within(ask: Ask, session: &str) -> Ask {
    ask.header("Mcp-Session-Id", session).header(PROTOCOL, VERSION)
}

/// The streams that a client can hold open, each with something that shows that it is.
async fn open_all(scene: &Scene, token: &str, session: &str) -> Vec<(&'static str, Open)> {
    let both = "application/json, text/event-stream";
    let get = within(scene.get("/mcp"), session).header("Accept", "text/event-stream").bearer(token);
    let waits = within(scene.post(&call("wait")), session).header("Accept", both).bearer(token);
    let alone = scene.post(&call("wait")).header("Accept", "text/event-stream").bearer(token);
    let sse = scene.get("/sse").bearer(token);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
    let listen = json!({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": params});
    let listen = scene.post(&listen).header("Accept", both).header(PROTOCOL, "2026-07-28");
    let listen = listen.header("Mcp-Method", "subscriptions/listen").bearer(token);
    let mut all = Vec::new();
    for (name, ask) in [
        ("the stream of a session", get),
        ("a call in a session", waits),
        ("a call alone", alone),
        ("HTTP+SSE", sse),
        ("a subscription", listen),
    ] {
        let open = ask.open().await;
        assert_eq!(open.status, 200, "{name}");
        all.push((name, open));
    }
    all
}

/// Each stream comes to its end.
async fn all_end(streams: Vec<(&'static str, Open)>) {
    for (name, mut open) in streams {
        let rest = open.rest().await;
        assert!(rest.ends_with("0\r\n\r\n"), "{name} is ended and not cut: {rest}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_was_begun_with_a_revoked_token_ends_and_nothing_else() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    let (bob, _) = scene.token("bob").await;
    let session = scene.begin_session(alice.expose()).await;
    let bobs = scene.begin_session(bob.expose()).await;
    let streams = open_all(&scene, alice.expose(), &session).await;
    let ask = scene.post(&call("wait")).bearer(alice.expose());
    let waiting = scene.tasks.spawn(async move { ask.send().await });
    eventually("all calls run", async || scene.hub.running().len() == 3).await;
    let mut kept = within(scene.get("/mcp"), &bobs).bearer(bob.expose()).open().await;

    scene.tokens.revoke(&info.id).await.unwrap();
    all_end(streams).await;
    assert_eq!(waiting.await.unwrap().status, 401);
    eventually("no call runs", async || scene.hub.running().is_empty()).await;

    // The session is gone, also for another token of the same principal.
    let (again, _) = scene.token("alice").await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    assert_eq!(within(scene.post(&ping), &session).bearer(again.expose()).send().await.status, 404);
    assert_eq!(within(scene.post(&ping), &bobs).bearer(bob.expose()).send().await.status, 200);
    let ended = Ask::new(scene.address, "DELETE", "/mcp").bearer(bob.expose());
    assert_eq!(within(ended, &bobs).send().await.status, 204);
    kept.rest().await;
}

/// A call that becomes a task, as the modern era has it.
fn work(scene: &Scene) -> Ask {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}},
    });
    let mut work = call("work");
    work["params"]["_meta"] = meta;
    let ask = scene.post(&work).header(PROTOCOL, "2026-07-28");
    ask.header("Mcp-Method", "tools/call").header("Mcp-Name", "work")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_end_with_the_token_that_began_them_and_no_others_do() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    let (bob, _) = scene.token("bob").await;
    let session = scene.begin_session(bob.expose()).await;
    let alices = scene.begin_session(alice.expose()).await;
    let mut as_task = call("wait");
    as_task["params"]["task"] = json!({});
    for (ask, bearer) in [
        (work(&scene), &alice),
        (scene.post(&as_task), &alice),
        (within(scene.post(&as_task), &alices), &alice),
        (work(&scene), &bob),
        (within(scene.post(&as_task), &session), &bob),
    ] {
        let reply = ask.bearer(bearer.expose()).send().await;
        assert!(reply.status == 200 && reply.body.contains("taskId"), "{reply:?}");
    }
    let mut sse = scene.get("/sse").bearer(alice.expose()).open().await;
    sse.until("data: ").await;
    let place = sse.until("\n").await.trim().to_owned();
    let message = Ask::new(scene.address, "POST", &place).body(&as_task).bearer(alice.expose());
    assert_eq!(message.send().await.status, 202);
    sse.until("taskId").await;
    assert_eq!(scene.hub.running().len(), 6);

    scene.tokens.revoke(&info.id).await.unwrap();
    eventually("her tasks have ended", async || scene.hub.running().len() == 2).await;
    assert!(scene.hub.running().iter().all(|run| run.principal.id.as_str() == "bob"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_ends_when_the_token_is_revoked_by_another_process() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    let session = scene.begin_session(alice.expose()).await;
    let streams = open_all(&scene, alice.expose(), &session).await;
    let other = toolgate_identity::Tokens::new(scene.store.clone(), scene.clock.clone());
    other.revoke(&info.id).await.unwrap();
    all_end(streams).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_end_when_the_time_of_their_token_is_over() {
    let scene = Scene::on(Clock::system(), strict()).await;
    let (alice, _) = scene.token_for("alice", Some(Duration::from_secs(10))).await;
    let session = scene.begin_session(alice.expose()).await;
    let streams = open_all(&scene, alice.expose(), &session).await;
    all_end(streams).await;
    assert_eq!(scene.whoami().bearer(alice.expose()).send().await.status, 401);
}

#[tokio::test]
async fn a_session_ends_with_the_token_that_began_it_though_another_holds() {
    let scene = Scene::start(strict()).await;
    let (short, _) = scene.token_for("alice", Some(Duration::from_secs(60))).await;
    let (long, _) = scene.token("alice").await;
    let session = scene.begin_session(short.expose()).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let ask = within(scene.post(&ping), &session).bearer(long.expose());
    assert_eq!(ask.send().await.status, 200, "the same principal goes on with either");
    scene.clock.advance(Duration::from_secs(60));
    assert_eq!(ask.send().await.status, 404);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_end_when_the_configuration_does_not_know_their_client_any_more() {
    let config =
        |token: Option<&str>| HttpConfig { token: token.map(str::to_owned), ..HttpConfig::default() };
    let scene = Scene::start(config(Some(SINGLE))).await;
    let session = scene.begin_session(SINGLE).await;
    let streams = open_all(&scene, SINGLE, &session).await;
    scene.configure(&config(None));
    all_end(streams).await;
    // Whoever came in without a token is turned out once one is demanded.
    let mut local = scene.get("/sse").open().await;
    assert_eq!(local.status, 200);
    scene.configure(&strict());
    local.rest().await;
    let mut local = scene.get("/sse").open().await;
    assert_eq!(local.status, 401);
    local.rest().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_belongs_to_its_principal() {
    let scene = Scene::start(HttpConfig::default()).await;
    let (alice, _) = scene.token("alice").await;
    let (mallory, _) = scene.token("mallory").await;
    let session = scene.begin_session(alice.expose()).await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let by_path = Ask::new(scene.address, "POST", &format!("/mcp/{session}")).body(&ping);
    let delete = Ask::new(scene.address, "DELETE", "/mcp");
    let asks = [
        ("a request", within(scene.post(&ping), &session)),
        ("a request by path", by_path),
        (
            "an answer",
            within(scene.post(&json!({"jsonrpc": "2.0", "id": "toolgate-1", "result": {}})), &session),
        ),
        ("a notification", within(scene.post(&cancelled()), &session)),
        ("a batch", within(scene.post(&json!([ping])), &session)),
        ("the stream", within(scene.get("/mcp"), &session)),
        ("what was missed", within(scene.get("/mcp"), &session).header("Last-Event-ID", "1-0")),
        ("its end", within(delete, &session)),
    ];
    for (case, ask) in &asks {
        assert_eq!(ask.clone().bearer(mallory.expose()).send().await.status, 404, "{case}, by another");
        assert_eq!(ask.send().await.status, 404, "{case}, by the local user");
    }
    assert_eq!(within(scene.post(&ping), &session).bearer(alice.expose()).send().await.status, 200);

    // So does a connection of the old transport.
    let mut sse = scene.get("/sse").bearer(alice.expose()).open().await;
    sse.until("data: ").await;
    let place = sse.until("\n").await.trim().to_owned();
    let message = Ask::new(scene.address, "POST", &place).body(&ping);
    assert_eq!(message.clone().bearer(mallory.expose()).send().await.status, 404);
    assert_eq!(message.send().await.status, 404);
    assert_eq!(message.bearer(alice.expose()).send().await.status, 202);
}

fn cancelled() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_outlives_a_jwt_for_the_same_principal_and_its_streams_do_not() {
    let key = Key::ec("ec");
    let issuer = Issuer::start(&Tasks::new(), &[&key]).await;
    let oauth = OauthConfig { issuer: Some(issuer.url.clone()), leeway_seconds: 0, ..OauthConfig::default() };
    let public_url = Some("https://gate.example".to_owned());
    let clock = Clock::system();
    let scene = Scene::on(clock.clone(), HttpConfig { oauth, public_url, ..HttpConfig::default() }).await;
    let jwt = |subject: &str, seconds: u64| {
        let exp = clock.unix_ms() / 1000 + seconds;
        let aud = "https://gate.example/mcp";
        key.jwt(&json!({"iss": issuer.url, "aud": aud, "sub": subject, "exp": exp}))
    };
    let short = jwt("alice", 4);
    let session = scene.begin_session(&short).await;
    let mut stream = within(scene.get("/mcp"), &session).bearer(&short).open().await;
    assert_eq!(stream.status, 200);
    stream.rest().await;
    let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
    let on = |jwt: &str| within(scene.post(&ping), &session).bearer(jwt);
    assert_eq!(on(&short).send().await.status, 401);
    assert_eq!(on(&jwt("mallory", 300)).send().await.status, 404);
    assert_eq!(on(&jwt("alice", 300)).send().await.status, 200);
}
