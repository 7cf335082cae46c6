//! Tokens that we made: who is let in by them, and every way not to be.

use std::sync::Arc;
use std::time::Duration;

use toolgate_core::Store as _;
use toolgate_front::http::HttpConfig;
use toolgate_identity::{TokenState, Tokens};

use crate::scene::{SINGLE, Scene, caller, eventually};

fn strict() -> HttpConfig {
    HttpConfig { require_token: true, ..HttpConfig::default() }
}

#[tokio::test]
async fn a_token_stands_for_its_principal() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    let (bob, _) = scene.token("bob").await;
    assert_eq!(caller(&scene.whoami().bearer(alice.expose()).send().await), "alice");
    assert_eq!(caller(&scene.whoami().bearer(bob.expose()).send().await), "bob");
    assert_eq!((info.principal.as_str(), info.state), ("alice", TokenState::Active));
    assert!(alice.expose().starts_with(&format!("tg_{}_", info.id)));
}

#[tokio::test]
async fn every_wrong_token_is_refused_and_none_is_taken_for_the_local_user() {
    #[track_caller]
    fn check(case: &str, found: u16, challenge: Option<&str>) {
        assert_eq!(found, 401, "{case}");
        let challenge = challenge.unwrap();
        let expect = r#"Bearer error="invalid_token", error_description="the token is not valid""#;
        assert_eq!(challenge, expect, "{case}: nothing tells whether there is such a token");
    }
    for config in [strict(), HttpConfig::default(), HttpConfig { token: Some(SINGLE.into()), ..strict() }] {
        let scene = Scene::start(config).await;
        let (alice, info) = scene.token("alice").await;
        let (bob, _) = scene.token("bob").await;
        let (revoked, gone) = scene.token("carol").await;
        scene.tokens.revoke(&gone.id).await.unwrap();
        let alice = alice.expose();
        let secret = alice.rsplit_once(&format!("{}_", info.id)).unwrap().1;
        let others = bob.expose().splitn(3, '_').nth(2).unwrap();
        let cases = [
            ("no token of ours", "Bearer nonsense".to_owned()),
            ("wrong scheme", format!("Basic {alice}")),
            ("no scheme", alice.to_owned()),
            ("nothing", "Bearer ".to_owned()),
            ("wrong secret", format!("Bearer tg_{}_{}", info.id, "A".repeat(43))),
            ("no secret", format!("Bearer tg_{}_", info.id)),
            ("secret alone", format!("Bearer {secret}")),
            ("unknown id", format!("Bearer tg_aaaaaaaaaa_{secret}")),
            ("truncated", format!("Bearer {}", &alice[..alice.len() - 1])),
            ("too long", format!("Bearer {alice}A")),
            ("padded", format!("Bearer {alice}=")),
            ("other case", format!("Bearer {}", swapped(alice))),
            ("upper case id", format!("Bearer tg_{}_{secret}", info.id.to_uppercase())),
            ("another one's secret", format!("Bearer tg_{}_{others}", info.id)),
            ("revoked", format!("Bearer {}", revoked.expose())),
        ];
        for (case, value) in cases {
            let reply = scene.whoami().header("Authorization", value).send().await;
            check(case, reply.status, reply.header("www-authenticate"));
        }
        assert_eq!(caller(&scene.whoami().bearer(alice).send().await), "alice");
    }
}

/// The same letters, each in the other case.
fn swapped(text: &str) -> String {
    let (prefix, secret) = text.split_at(text.rfind('_').unwrap().min(13) + 1);
    let swap = |letter: char| match letter.is_lowercase() {
        true => letter.to_ascii_uppercase(),
        false => letter.to_ascii_lowercase(),
    };
    format!("{prefix}{}", secret.chars().map(swap).collect::<String>())
}

#[tokio::test]
async fn without_a_token_only_this_machine_is_let_in_and_only_where_none_is_demanded() {
    let open = Scene::start(HttpConfig::default()).await;
    assert_eq!(caller(&open.whoami().send().await), "local");
    // Tokens that exist do not shut out who sits at this machine.
    let (alice, _) = open.token("alice").await;
    assert_eq!(caller(&open.whoami().send().await), "local");
    assert_eq!(caller(&open.whoami().bearer(alice.expose()).send().await), "alice");
    for config in [strict(), HttpConfig { token: Some(SINGLE.into()), ..HttpConfig::default() }] {
        let scene = Scene::start(config).await;
        let refused = scene.whoami().send().await;
        assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
        for path in ["/api", "/metrics", "/sse", "/mcp"] {
            assert_eq!(scene.get(path).send().await.status, 401, "{path}");
        }
        assert_eq!(scene.get("/health").send().await.status, 200);
    }
}

#[tokio::test]
async fn a_token_counts_only_in_the_one_header() {
    let scene = Scene::start(strict()).await;
    let (alice, _) = scene.token("alice").await;
    let alice = alice.expose();
    for path in [format!("/api?access_token={alice}"), format!("/api?token={alice}"), format!("/api?{alice}")]
    {
        assert_eq!(scene.get(&path).send().await.status, 401, "{path}");
    }
    for name in ["Proxy-Authorization", "X-Authorization", "Cookie"] {
        assert_eq!(
            scene.get("/api").header(name, format!("Bearer {alice}")).send().await.status,
            401,
            "{name}"
        );
    }
    let twice = scene.get("/api").bearer(alice).bearer(alice).send().await;
    assert_eq!(twice.status, 400);
    assert!(twice.header("www-authenticate").unwrap().contains("invalid_request"), "{twice:?}");
    assert_eq!(scene.get("/api").bearer(alice).send().await.status, 200);
}

#[tokio::test]
async fn a_token_ends_when_its_time_is_over() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token_for("alice", Some(Duration::from_secs(3600))).await;
    scene.clock.advance(Duration::from_secs(3599));
    assert_eq!(scene.whoami().bearer(alice.expose()).send().await.status, 200);
    scene.clock.advance(Duration::from_secs(1));
    let refused = scene.whoami().bearer(alice.expose()).send().await;
    assert_eq!(refused.status, 401);
    assert!(refused.header("www-authenticate").unwrap().contains("not valid now"), "{refused:?}");
    let listed = scene.tokens.list().await.unwrap();
    assert_eq!((listed[0].id.as_str(), listed[0].state), (info.id.as_str(), TokenState::Expired));
}

#[tokio::test]
async fn a_revoked_token_is_refused_at_once_whoever_revoked_it() {
    let scene = Scene::start(strict()).await;
    let (here, info) = scene.token("alice").await;
    assert_eq!(scene.whoami().bearer(here.expose()).send().await.status, 200);
    let revoked = scene.tokens.revoke(&info.id).await.unwrap();
    assert_eq!(revoked.state, TokenState::Revoked);
    assert_eq!(scene.whoami().bearer(here.expose()).send().await.status, 401);

    // Another process has another handle on the same store.
    let (there, info) = scene.token("alice").await;
    assert_eq!(scene.whoami().bearer(there.expose()).send().await.status, 200);
    let other = Tokens::new(scene.store.clone(), scene.clock.clone());
    other.revoke(&info.id).await.unwrap();
    eventually("the token is refused", async || {
        scene.whoami().bearer(there.expose()).send().await.status == 401
    })
    .await;
    let unknown = scene.tokens.revoke("nosuchtok").await.unwrap_err();
    assert_eq!(unknown.to_string(), "there is no token `nosuchtok`");
}

#[tokio::test]
async fn a_token_made_by_another_process_is_known_soon() {
    let scene = Scene::start(strict()).await;
    let other = Tokens::new(scene.store.clone(), scene.clock.clone());
    let new = toolgate_identity::NewToken {
        principal: "dave".parse().unwrap(),
        roles: Vec::new(),
        expires_in: None,
        note: String::new(),
        created_by: "local".into(),
    };
    let (dave, _) = other.create(new).await.unwrap();
    eventually("the token is known", async || {
        scene.whoami().bearer(dave.expose()).send().await.status == 200
    })
    .await;
}

#[tokio::test]
async fn the_store_keeps_no_secret_and_knows_when_a_token_was_used() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    assert_eq!(scene.tokens.list().await.unwrap()[0].last_used_ms, None);
    assert_eq!(scene.whoami().bearer(alice.expose()).send().await.status, 200);
    assert_eq!(scene.tokens.list().await.unwrap()[0].last_used_ms, Some(scene.clock.unix_ms()));
    let kept = scene.store.get(toolgate_core::Collection::Tokens, &info.id).await.unwrap().unwrap().body;
    let secret = alice.expose().splitn(3, '_').nth(2).unwrap();
    assert!(!kept.contains(secret) && kept.contains("alice") && kept.contains("reader"), "{kept}");
    // What was used is told to the store at the end, at the latest.
    assert!(scene.tasks.shutdown(Duration::from_secs(10)).await);
    let later = Tokens::new(scene.store.clone(), scene.clock.clone());
    assert_eq!(later.list().await.unwrap()[0].last_used_ms, Some(scene.clock.unix_ms()));
    drop(scene.hub);
}

#[tokio::test]
async fn a_store_that_fails_lets_nobody_in_who_was_not() {
    let scene = Scene::start(strict()).await;
    let (alice, info) = scene.token("alice").await;
    scene.store.fail(true);
    assert!(scene.tokens.revoke(&info.id).await.is_err());
    // What is known stays known, and what is not stays unknown.
    assert_eq!(scene.whoami().bearer(alice.expose()).send().await.status, 200);
    assert_eq!(scene.whoami().bearer("tg_aaaaaaaaaa_b").send().await.status, 401);
    scene.store.fail(false);
    scene.tokens.revoke(&info.id).await.unwrap();
    assert_eq!(scene.whoami().bearer(alice.expose()).send().await.status, 401);
}

#[tokio::test]
async fn the_token_of_the_configuration_can_be_changed_while_it_runs() {
    let config =
        |token: Option<&str>| HttpConfig { token: token.map(str::to_owned), ..HttpConfig::default() };
    let scene = Scene::start(config(Some(SINGLE))).await;
    assert_eq!(caller(&scene.whoami().bearer(SINGLE).send().await), "token");
    scene.configure(&config(Some("tg_another_random_word")));
    assert_eq!(scene.whoami().bearer(SINGLE).send().await.status, 401);
    assert_eq!(caller(&scene.whoami().bearer("tg_another_random_word").send().await), "token");
    scene.configure(&config(None));
    assert_eq!(scene.whoami().bearer(SINGLE).send().await.status, 401);
    assert_eq!(caller(&scene.whoami().send().await), "local");
}

#[tokio::test]
async fn beyond_this_machine_there_has_to_be_a_way_to_be_known() {
    use toolgate_front::http::Server;
    use toolgate_host::{Clock, Tasks};
    use toolgate_identity::{Identity, IdentityConfig};
    use toolgate_testkit::{FakeSource, MemoryStore, hub};

    let scene = Scene::start(HttpConfig::default()).await;
    let config = HttpConfig { bind: "0.0.0.0".into(), port: 0, ..HttpConfig::default() };
    let behind = || hub([Arc::new(FakeSource::new("fake"))]);
    let refused =
        Server::bind(behind(), config.clone(), Arc::new(scene.identity.clone())).await.err().unwrap();
    assert!(refused.to_string().contains("no token is set"), "{refused}");
    let nobody = Tokens::new(Arc::new(MemoryStore::new()), Clock::system());
    let (config_of_nobody, tasks) = (IdentityConfig::default(), Tasks::new());
    let identity = Identity::start(Some(nobody), &config_of_nobody, Clock::system(), &tasks).await.unwrap();
    assert!(Server::bind(behind(), config.clone(), Arc::new(identity)).await.is_err());
    // A token that holds is a way; one that was revoked is none.
    let (_, info) = scene.token("alice").await;
    assert!(Server::bind(behind(), config.clone(), Arc::new(scene.identity.clone())).await.is_ok());
    scene.tokens.revoke(&info.id).await.unwrap();
    assert!(Server::bind(behind(), config, Arc::new(scene.identity.clone())).await.is_err());
}
