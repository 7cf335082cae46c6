//! Bodies and queries that are not what they should be: each is refused with where it is wrong, and nothing happens.

use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn a_body_that_is_none_is_refused() {
    let stage = Stage::new();
    let user = stage.admin().await;
    let deep = "[".repeat(200);
    let large = format!("{{\"principal\": \"{}\"}}", "x".repeat(1024 * 1024));
    for (content_type, body, status) in [
        ("application/json", "", 400),
        ("application/json", "{", 400),
        ("application/json", "nonsense", 400),
        ("application/json", deep.as_str(), 400),
        ("application/json", r#"{"principal":"a","principal":"b"}"#, 400),
        ("application/json", "\"text\"", 400),
        ("application/json", large.as_str(), 413),
        ("text/plain", r#"{"principal":"a"}"#, 415),
        ("application/x-www-form-urlencoded", "principal=a", 415),
        ("", r#"{"principal":"a"}"#, 415),
    ] {
        let reply = stage.ask("POST", "/tokens").by(&user).body(content_type, body.to_owned()).send().await;
        let shown: String = body.chars().take(40).collect();
        assert_eq!(reply.status, status, "{content_type} {shown}: {}", reply.text());
        reply.problem();
    }
    let good = json!({"principal": "a"});
    let typed = "application/json; charset=utf-8";
    let reply = stage.ask("POST", "/tokens").by(&user).body(typed, good.to_string()).send().await;
    assert_eq!(reply.status, 201, "{}", reply.text());
}

#[tokio::test]
async fn what_is_wrong_with_a_field_stands_beside_its_name() {
    let stage = Stage::new();
    let user = stage.admin().await;
    for (path, body, field) in [
        ("/tokens", json!({"principal": 1}), "principal"),
        ("/tokens", json!({"principal": "a", "roles": ["b", 2]}), "roles[1]"),
        ("/tokens", json!({"principal": "a", "expires_in_seconds": 1}), "expires_in_seconds"),
        ("/tokens", json!({"principal": "a", "note": "x".repeat(501)}), "note"),
        ("/accounts", json!({"account": "A", "role": "viewer"}), "account"),
        ("/accounts", json!({"account": "a", "role": "king"}), "role"),
        ("/upstreams", json!({"name": "a"}), "command"),
        ("/upstreams", json!({"name": "a", "command": "x", "url": "https://y"}), "url"),
        ("/upstreams", json!({"name": "one", "command": "x"}), "name"),
        ("/upstreams", json!({"name": "a b", "command": "x"}), "name"),
        ("/upstreams", json!({"name": "x".repeat(33), "command": "x"}), "name"),
        ("/upstreams", json!({"name": "a", "command": " "}), "command"),
        ("/upstreams", json!({"name": "a", "url": ""}), "url"),
    ] {
        let reply = stage.post(&user, path, &body).await;
        assert_eq!(reply.status, 422, "{path} {body}: {}", reply.text());
        assert_eq!(reply.json()["fields"][0]["name"], field, "{}", reply.text());
    }
    // In words of people, not of types.
    for (body, says) in [
        (json!({"name": "a", "command": "x", "timeout": "abc"}), "has to be a whole number"),
        (json!({"name": "a", "command": "x", "args": "abc"}), "has to be a list"),
        (json!({"name": "a", "command": "x", "oauth": "abc"}), "has to be a boolean"),
        (json!({"name": 1, "command": "x"}), "has to be a string"),
    ] {
        let reply = stage.post(&user, "/upstreams", &body).await;
        assert_eq!(reply.json()["fields"][0]["detail"], says, "{}", reply.text());
    }
    let unknown = stage.post(&user, "/tokens", &json!({"principal": "a", "color": "red"})).await;
    assert!(unknown.text().contains("color"), "{}", unknown.text());
    let missing = stage.post(&user, "/tokens", &json!({})).await;
    assert_eq!((missing.status, missing.text().contains("principal")), (400, true), "{}", missing.text());
}

#[tokio::test]
async fn a_query_is_read_as_strictly_as_a_body() {
    let stage = Stage::new();
    let user = stage.admin().await;
    for (path, status) in [
        ("/audit", 200),
        ("/audit?limit=10&principal=a%20b&since_ms=1", 200),
        ("/audit?limit=0", 422),
        ("/audit?limit=1001", 422),
        ("/audit?limit=-1", 422),
        ("/audit?limit=ten", 422),
        ("/audit?limit=99999999999", 422),
        ("/audit?limit=1&limit=2", 422),
        ("/audit?color=red", 422),
        ("/approvals?all=true", 200),
        ("/approvals?all=yes", 422),
    ] {
        let reply = stage.ask("GET", path).by(&user).send().await;
        assert_eq!(reply.status, status, "{path}: {}", reply.text());
    }
}

#[tokio::test]
async fn the_record_is_taken_along_page_by_page() {
    let stage = Stage::new();
    let user = stage.admin().await;
    let reply = stage.ask("GET", "/audit/export").by(&user).send().await;
    assert_eq!(reply.header("content-type"), "application/x-ndjson");
    assert_eq!(reply.header("content-disposition"), "attachment; filename=\"toolgate-audit.jsonl\"");
    let lines: Vec<u64> = reply
        .text()
        .lines()
        .map(|line| {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            record["time_ms"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(lines, [3, 2, 1]);
    // One that breaks off does not look whole.
    let reply = stage.ask("GET", "/audit/export?target=x").by(&user).send().await;
    let text = reply.text();
    assert!(text.lines().last().unwrap().starts_with(r#"{"error":"the export broke off"#), "{text}");
}
