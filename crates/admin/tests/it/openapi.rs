//! The OpenAPI document: it is as it was, and the API is as it says.

use serde_json::{Value, json};

use crate::books::HASH;
use crate::stage::{Reply, Stage};

#[tokio::test]
async fn the_document_is_as_it_was() {
    let document = Stage::new().ask("GET", "/openapi.json").send().await.json();
    insta::assert_json_snapshot!(document);
}

/// What a route says it answers with this status.
fn schema_of(document: &Value, method: &str, path: &str, status: u16) -> Option<Value> {
    let operation = &document["paths"][path][method.to_lowercase()];
    let responses = &operation["responses"];
    let said = &responses[status.to_string()];
    let response = if said.is_null() { &document["components"]["responses"]["Problem"] } else { said };
    let content = response["content"].as_object()?;
    Some(content.values().next()?["schema"].clone())
}

#[track_caller]
fn conforms(document: &Value, method: &str, path: &str, reply: &Reply) {
    let Some(mut schema) = schema_of(document, method, path, reply.status) else {
        assert!(reply.body.is_empty(), "{method} {path}: {reply:?}");
        return;
    };
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let body = reply.json();
    let faults: Vec<String> = validator.iter_errors(&body).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{method} {path}: {faults:?}\n{body}");
}

#[tokio::test]
async fn every_answer_is_as_the_document_says() {
    let stage = Stage::new();
    let user = stage.admin().await;
    let document = stage.ask("GET", "/openapi.json").send().await.json();
    for (path, query) in [
        ("/setup", ""),
        ("/session", ""),
        ("/status", ""),
        ("/connections", ""),
        ("/runs", ""),
        ("/metrics", ""),
        ("/approvals", "?all=true"),
        ("/remembered", ""),
        ("/pins", ""),
        ("/pins/{source}/{tool}", ""),
        ("/scripts", ""),
        ("/scripts/{name}", ""),
        ("/tools", "?principal=ada"),
        ("/upstreams", ""),
        ("/upstreams/{name}", ""),
        ("/principals", ""),
        ("/tokens", ""),
        ("/secrets", ""),
        ("/audit", ""),
        ("/settings", ""),
        ("/accounts", ""),
        ("/approvals/{id}", ""),
    ] {
        let asked = path.replace("{source}", "one").replace("{name}", "one").replace("{id}", "none");
        let reply = stage.ask("GET", &(asked.replace("{tool}", "tool") + query)).by(&user).send().await;
        conforms(&document, "GET", path, &reply);
    }
    for (path, asked, body) in [
        ("/tokens", "/tokens", json!({"principal": "ada"})),
        ("/tokens", "/tokens", json!({})),
        ("/upstreams", "/upstreams", json!({"name": "new", "command": "x"})),
        ("/upstreams/{name}/restart", "/upstreams/none/restart", json!({})),
        ("/upstreams/{name}/enable", "/upstreams/one/enable", json!({})),
        ("/upstreams/{name}/sign-in", "/upstreams/one/sign-in", json!({})),
        ("/pins/{source}/{tool}/accept", "/pins/one/tool/accept", json!({"digest": "abc"})),
        ("/scripts/{name}/approve", "/scripts/one/approve", json!({"hash": HASH})),
        ("/scripts/{name}/reject", "/scripts/one/reject", json!({"hash": "none"})),
        ("/policy/explain", "/policy/explain", json!({"principal": "ada", "target": "echo"})),
        ("/settings/reload", "/settings/reload", json!({})),
        ("/accounts", "/accounts", json!({"account": "ada", "role": "viewer"})),
        ("/tools/{tool}/call", "/tools/echo/call", json!({"arguments": {}})),
    ] {
        let reply = stage.post(&user, asked, &body).await;
        conforms(&document, "POST", path, &reply);
    }
}

#[tokio::test]
async fn the_document_says_what_every_route_needs() {
    let document = Stage::new().ask("GET", "/openapi.json").send().await.json();
    let mut anyone = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let what = format!("{method} {path}");
            assert!(operation["summary"].as_str().unwrap().ends_with('.'), "{what}");
            let names = path.matches('{').count();
            let parameters = operation["parameters"]
                .as_array()
                .map_or(0, |all| all.iter().filter(|parameter| parameter["in"] == "path").count());
            assert_eq!(names, parameters, "{what}");
            if operation["x-role"].is_null() {
                anyone.push(what);
            }
        }
    }
    anyone.sort();
    assert_eq!(anyone, ["get /openapi.json", "get /setup", "post /session", "post /setup"]);
}
