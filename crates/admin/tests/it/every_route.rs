//! What holds for every route: who may use it, and from where.

use std::time::Duration;

use serde_json::{Value, json};
use toolgate_admin::Role;

use crate::stage::{Reply, Stage, User};

/// A route, as the OpenAPI document has it.
struct Operation {
    method: String,
    path: String,
    role: Option<Role>,
}

impl Operation {
    fn is_safe(&self) -> bool {
        self.method == "GET"
    }
}

async fn operations(stage: &Stage) -> Vec<Operation> {
    let document = stage.ask("GET", "/openapi.json").send().await.json();
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let role = operation["x-role"].as_str().map(|role| role.parse().unwrap());
            let parts: Vec<&str> =
                path.split('/').map(|part| if part.starts_with('{') { "one" } else { part }).collect();
            all.push(Operation { method: method.to_uppercase(), path: parts.join("/"), role });
        }
    }
    assert!(all.len() > 40, "{}", all.len());
    all
}

/// Asks as someone would, with a body that says nothing.
async fn ask(stage: &Stage, operation: &Operation, user: Option<&User>) -> Reply {
    let ask = stage.ask(&operation.method, &operation.path).json(&json!({})).csrf("0");
    let ask = match user {
        Some(user) => ask.by(user),
        None => ask,
    };
    ask.open().await.0
}

#[tokio::test]
async fn every_route_lets_in_who_has_its_role_and_nobody_else() {
    let stage = Stage::new();
    for operation in operations(&stage).await {
        for held in [None, Some(Role::Viewer), Some(Role::Approver), Some(Role::Admin)] {
            let user = match held {
                Some(role) => Some(stage.user(role).await),
                None => None,
            };
            let reply = ask(&stage, &operation, user.as_ref()).await;
            let what = format!("{} {} as {held:?}: {}", operation.method, operation.path, reply.text());
            let may = operation.role.is_none() || held >= operation.role;
            match (may, held) {
                (true, _) => assert!(![401, 403].contains(&reply.status) || is_own(&reply), "{what}"),
                (false, None) => assert_eq!((reply.status, reply.problem()), (401, "login".into()), "{what}"),
                (false, Some(_)) => {
                    assert_eq!((reply.status, reply.problem()), (403, "role".into()), "{what}")
                }
            }
            assert!(reply.status < 500, "{what}");
        }
    }
}

/// A refusal of the route itself.
fn is_own(reply: &Reply) -> bool {
    ["link"].contains(&reply.problem().as_str())
}

#[tokio::test]
async fn every_change_is_refused_without_what_only_the_page_knows() {
    let stage = Stage::new();
    for operation in operations(&stage).await.iter().filter(|operation| !operation.is_safe()) {
        let what = format!("{} {}", operation.method, operation.path);
        let user = stage.admin().await;
        let fresh = || stage.ask(&operation.method, &operation.path).json(&json!({})).by(&user);
        let reply = fresh().without("x-csrf-token").send().await;
        assert_eq!((reply.status, reply.problem()), (403, "csrf".into()), "{what}");
        if operation.role.is_some() {
            for wrong in ["0", &stage.admin().await.csrf] {
                let reply = fresh().csrf(wrong).send().await;
                assert_eq!((reply.status, reply.problem()), (403, "csrf".into()), "{what}");
            }
        }
        let reply = fresh().header("origin", "https://evil.example").send().await;
        assert_eq!((reply.status, reply.problem()), (403, "origin".into()), "{what}");
        let reply = fresh().header("sec-fetch-site", "cross-site").send().await;
        assert_eq!((reply.status, reply.problem()), (403, "origin".into()), "{what}");
        let reply = fresh().header("host", "evil.example").send().await;
        assert_eq!((reply.status, reply.problem()), (421, "host".into()), "{what}");
    }
}

#[tokio::test]
async fn every_route_is_refused_once_a_login_has_ended() {
    let stage = Stage::new();
    for operation in operations(&stage).await.iter().filter(|operation| operation.role.is_some()) {
        let what = format!("{} {}", operation.method, operation.path);
        let revoked = stage.admin().await;
        assert_eq!(stage.ask("DELETE", "/session").by(&revoked).send().await.status, 204);
        let reply = ask(&stage, operation, Some(&revoked)).await;
        assert_eq!((reply.status, reply.problem()), (401, "login".into()), "{what}");
        let expired = stage.admin().await;
        stage.clock.advance(Duration::from_secs(61 * 60));
        let reply = ask(&stage, operation, Some(&expired)).await;
        assert_eq!((reply.status, reply.problem()), (401, "login".into()), "{what}");
    }
}

#[tokio::test]
async fn every_answer_tells_browsers_to_be_strict() {
    let stage = Stage::new();
    let user = stage.admin().await;
    for path in ["/admin", "/admin/api/status", "/admin/api/nothing", "/admin/nothing"] {
        let reply = stage.ask("GET", "").at(path).by(&user).send().await;
        let policy = reply.header("content-security-policy");
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"), "{path}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(reply.header("referrer-policy"), "no-referrer", "{path}");
        assert_eq!(reply.header("access-control-allow-origin"), "", "{path}");
    }
    assert_eq!(stage.ask("GET", "/status").by(&user).send().await.header("cache-control"), "no-store");
}

#[tokio::test]
async fn what_is_not_there_is_told_as_such() {
    let stage = Stage::new();
    let user = stage.admin().await;
    for (method, path, status, word) in [
        ("GET", "/nothing", 404, "not-found"),
        ("GET", "", 404, "not-found"),
        ("GET", "/status/", 404, "not-found"),
        ("POST", "/status", 405, "method"),
        ("PATCH", "/tokens", 405, "method"),
        ("OPTIONS", "/tokens", 405, "method"),
        ("GET", "/upstreams/none", 404, "not-found"),
        ("DELETE", "/tokens/none", 404, "not-found"),
        ("GET", "/approvals/%00", 404, "not-found"),
    ] {
        let reply = stage.ask(method, path).by(&user).send().await;
        assert_eq!((reply.status, reply.problem().as_str()), (status, word), "{method} {path}");
    }
    let reply = stage.ask("PATCH", "/tokens").by(&user).send().await;
    assert_eq!(reply.header("allow"), "GET, POST");
    let body: Value = reply.json();
    assert_eq!(body["title"], "Method Not Allowed");
}
