//! What the server tells of where tokens come from, and what it refuses to be configured with.

use serde_json::json;
use toolgate_core::OauthConfig;
use toolgate_front::http::HttpConfig;
use toolgate_host::{Clock, Secret, Tasks};
use toolgate_identity::{Identity, IdentityConfig};

use crate::issuer::Issuer;
use crate::scene::Scene;

#[tokio::test]
async fn clients_find_out_where_to_get_a_token() {
    let issuer = Issuer::start(&Tasks::new(), &[]).await;
    let oauth = OauthConfig {
        issuer: Some(issuer.url.clone()),
        required_scopes: vec!["tools".into()],
        roles: [("tools:admin".to_owned(), vec!["admin".to_owned()])].into(),
        ..OauthConfig::default()
    };
    let public_url = Some("https://gate.example/".to_owned());
    let scene = Scene::start(HttpConfig { oauth, public_url, ..HttpConfig::default() }).await;
    for (path, resource) in [
        ("", "https://gate.example/mcp"),
        ("/mcp", "https://gate.example/mcp"),
        ("/p/lean/mcp", "https://gate.example/p/lean/mcp"),
    ] {
        let reply = scene.get(&format!("/.well-known/oauth-protected-resource{path}")).send().await;
        let expect = json!({
            "resource": resource,
            "authorization_servers": [issuer.url],
            "scopes_supported": ["tools", "tools:admin"],
            "bearer_methods_supported": ["header"],
            "resource_name": "test",
        });
        assert_eq!((reply.status, reply.json()), (200, expect), "{path}");
    }
    for path in ["x", "/x", "/p/mcp", "/p//mcp", "/p/a%22b/mcp", "/p/a/b/mcp"] {
        let reply = scene.get(&format!("/.well-known/oauth-protected-resource{path}")).send().await;
        assert_eq!(reply.status, 401, "{path}");
    }
    let reply = scene.whoami().send().await;
    let challenge = reply.header("www-authenticate").unwrap();
    let at = "https://gate.example/.well-known/oauth-protected-resource/mcp";
    assert_eq!(challenge, format!(r#"Bearer scope="tools", resource_metadata="{at}""#));
    // Through a proxy the server is addressed by its public name.
    let named = scene.get("/.well-known/oauth-protected-resource").header("Host", "gate.example");
    assert_eq!(named.send().await.status, 200);
    let other = scene.get("/.well-known/oauth-protected-resource").header("Host", "evil.example");
    assert_eq!(other.send().await.status, 403);
}

#[tokio::test]
async fn without_an_issuer_there_is_no_metadata() {
    let scene = Scene::start(HttpConfig::default()).await;
    assert_eq!(scene.get("/.well-known/oauth-protected-resource").send().await.status, 404);
    let strict = Scene::start(HttpConfig { require_token: true, ..HttpConfig::default() }).await;
    assert_eq!(strict.get("/.well-known/oauth-protected-resource/mcp").send().await.status, 401);
}

#[tokio::test]
async fn a_configuration_that_would_let_in_anyone_is_refused() {
    async fn check(says: &str, change: impl FnOnce(&mut IdentityConfig)) {
        let oauth = OauthConfig { issuer: Some("https://login.example".into()), ..OauthConfig::default() };
        let public_url = Some("https://gate.example".to_owned());
        let mut config = IdentityConfig { token: None, public_url, oauth };
        change(&mut config);
        let tasks = Tasks::new();
        let error = Identity::start(None, &config, Clock::system(), &tasks).await.err();
        let error = error.unwrap_or_else(|| panic!("not refused: {says}")).to_string();
        assert!(error.contains(says) && error.contains("\nhint: "), "{error}");
    }
    check("fewer than 16", |config| config.token = Some(Secret::new("short".into()))).await;
    check("no address with `https`", |config| config.oauth.issuer = Some("http://login.example".into()))
        .await;
    check("no address with `https`", |config| config.oauth.issuer = Some("login.example".into())).await;
    check("no address with `https`", |config| config.oauth.jwks_url = Some("http://10.0.0.1/k".into())).await;
    check("`http.public_url` is not", |config| config.public_url = None).await;
    check("without a path", |config| config.public_url = Some("https://gate.example/tools".into())).await;
    check("is empty", |config| config.oauth.algorithms.clear()).await;
    check("is empty", |config| config.oauth.principal_claim.clear()).await;
    check("no scope", |config| config.oauth.required_scopes = vec!["a\"b".into()]).await;
    check("no name for a role", |config| {
        config.oauth.roles = [("x".to_owned(), vec!["*".to_owned()])].into();
    })
    .await;
}
