//! Scripts over the API: looked at, decided on by hash, and changed.

use serde_json::{Value, json};
use toolgate_admin::Role;
use toolgate_testkit::FakeFilter;

use crate::books::HASH;
use crate::stage::{Reply, Stage, User};

async fn put(stage: &Stage, user: &User, name: &str, body: &Value) -> Reply {
    stage.ask("PUT", &format!("/scripts/{name}")).by(user).json(body).send().await
}

#[tokio::test]
async fn whoever_decides_names_what_was_seen_and_is_named() {
    let stage = Stage::new();
    let user = stage.user(Role::Approver).await;
    let looked = stage.get(&user, "/scripts/one").await;
    assert_eq!((&looked["info"]["hash"], &looked["whole"]), (&json!(HASH), &json!(true)));
    assert_eq!(looked["diff"], "-result = 1\n+result = 'sesame'\n");
    let approved = stage.post(&user, "/scripts/one/approve", &json!({"hash": HASH})).await.json();
    assert_eq!(
        (&approved["state"], &approved["remark"]),
        (&json!("approved"), &json!("approver0 on the admin page"))
    );
    let no = json!({"hash": HASH, "reason": "too bold"});
    let rejected = stage.post(&user, "/scripts/one/reject", &no).await.json();
    assert_eq!(rejected["remark"], "approver0 on the admin page: Some(\"too bold\")");
    let unsaid = stage.post(&user, "/scripts/one/reject", &json!({"hash": HASH, "reason": " "})).await.json();
    assert_eq!(unsaid["remark"], "approver0 on the admin page: None");
}

#[tokio::test]
async fn what_is_not_what_was_seen_is_neither_decided_on_nor_changed() {
    let stage = Stage::new();
    let user = stage.admin().await;
    let other = HASH.replace('e', "f");
    for path in ["/scripts/one/approve", "/scripts/one/reject"] {
        let reply = stage.post(&user, path, &json!({"hash": other})).await;
        assert_eq!((reply.status, reply.problem().as_str()), (409, "conflict"), "{path}");
        for (body, field) in [
            (json!({"hash": "sha256:12"}), "hash"),
            (json!({"hash": HASH.to_uppercase()}), "hash"),
            (json!({"hash": HASH, "reason": 1}), "reason"),
        ] {
            let reply = stage.post(&user, path, &body).await;
            assert!([400, 422].contains(&reply.status), "{path} {body}: {}", reply.text());
            assert!(reply.text().contains(field), "{path} {body}: {}", reply.text());
        }
    }
    let long = json!({"hash": HASH, "reason": "x".repeat(1001)});
    assert_eq!(stage.post(&user, "/scripts/one/reject", &long).await.status, 422);
    let reply = put(&stage, &user, "one", &json!({"source": "result = 2", "seen": other})).await;
    assert_eq!((reply.status, reply.problem().as_str()), (409, "conflict"));
    let reply = put(&stage, &user, "one", &json!({"source": "result = 2", "seen": "x"})).await;
    assert_eq!((reply.status, &reply.json()["fields"][0]["name"]), (422, &json!("seen")));
    let reply = put(&stage, &user, "one", &json!({"source": "result = 2", "seen": HASH})).await;
    assert_eq!((reply.status, &reply.json()["state"]), (200, &json!("pending")));
    assert_eq!(stage.ask("GET", "/scripts/none").by(&user).send().await.status, 404);
}

/// Whoever saved what they were shown would put the mark in the secret's place.
#[tokio::test]
async fn a_text_that_is_not_shown_as_it_is_cannot_be_changed_here() {
    let stage = Stage::with(|hub| hub.filter(Box::new(FakeFilter::new("sesame", "[REDACTED:ONE]"))));
    let user = stage.admin().await;
    let looked = stage.get(&user, "/scripts/one").await;
    assert_eq!((&looked["source"], &looked["whole"]), (&json!("result = '[REDACTED:ONE]'\n"), &json!(false)));
    let reply = put(&stage, &user, "one", &json!({"source": looked["source"], "seen": HASH})).await;
    assert_eq!((reply.status, reply.problem().as_str()), (409, "conflict"));
    assert!(reply.text().contains("a secret stands in it"), "{}", reply.text());
}
