//! JWTs of an issuer: who is let in by them, and every attack on them.

use std::time::Duration;

use aws_lc_rs::hmac;
use serde_json::{Value, json};
use toolgate_core::{Authenticated, Authenticator as _, JwtAlgorithm, OauthConfig};
use toolgate_front::http::HttpConfig;
use toolgate_host::Tasks;

use crate::issuer::Issuer;
use crate::keys::{Key, base64, signing_input};
use crate::scene::{NOON, SINGLE, Scene, caller, eventually};

const PUBLIC: &str = "https://gate.example";

/// A server that trusts an issuer.
struct Trusting {
    scene: Scene,
    issuer: Issuer,
}

fn config(issuer: &Issuer) -> HttpConfig {
    let roles = [("tools:admin".to_owned(), vec!["admin".to_owned()])].into();
    let oauth = OauthConfig {
        issuer: Some(issuer.url.clone()),
        required_scopes: vec!["tools".into()],
        roles,
        ..OauthConfig::default()
    };
    HttpConfig { oauth, public_url: Some(PUBLIC.into()), ..HttpConfig::default() }
}

impl Trusting {
    async fn start(keys: &[&Key]) -> Self {
        let issuer = Issuer::start(&Tasks::new(), keys).await;
        let scene = Scene::start(config(&issuer)).await;
        Self { scene, issuer }
    }

    /// Claims that are right in every way, but for what is changed.
    fn claims(&self, change: impl FnOnce(&mut Value)) -> Value {
        let now = NOON / 1000;
        let mut claims = json!({
            "iss": self.issuer.url,
            "sub": "alice",
            "aud": format!("{PUBLIC}/mcp"),
            "exp": now + 300,
            "nbf": now - 10,
            "iat": now - 10,
            "scope": "tools other",
        });
        change(&mut claims);
        claims
    }

    async fn status(&self, jwt: &str) -> u16 {
        self.scene.whoami().bearer(jwt).send().await.status
    }

    /// The name of Alice here.
    fn alice(&self) -> String {
        format!("{}/alice", self.issuer.url.strip_prefix("http://").unwrap())
    }
}

#[tokio::test]
async fn a_right_jwt_stands_for_its_subject_whatever_key_signed_it() {
    let keys = [Key::rsa("rsa"), Key::ec("ec"), Key::ed("ed")];
    let there = Trusting::start(&keys.each_ref()).await;
    for key in &keys {
        let jwt = key.jwt(&there.claims(|_| {}));
        for _ in 0..2 {
            assert_eq!(caller(&there.scene.whoami().bearer(&jwt).send().await), there.alice(), "{}", key.id);
        }
        let header = json!({"alg": key.algorithm(), "typ": "at+jwt", "kid": key.id});
        assert_eq!(there.status(&key.jwt_with(&header, &there.claims(|_| {}))).await, 200);
    }
    let many =
        there.claims(|claims| claims["aud"] = json!(["https://other.example", format!("{PUBLIC}/mcp")]));
    assert_eq!(there.status(&keys[0].jwt(&many)).await, 200);
    assert_eq!(there.issuer.asked("/keys"), 1, "keys are fetched once");
}

/// Each of these is refused, and told where to get a better one.
async fn check_refused(there: &Trusting, cases: impl IntoIterator<Item = (&str, String)>) {
    for (case, jwt) in cases {
        let reply = there.scene.whoami().bearer(&jwt).send().await;
        assert_eq!(reply.status, 401, "{case}: {reply:?}");
        let challenge = reply.header("www-authenticate").unwrap();
        assert!(challenge.starts_with(r#"Bearer error="invalid_token""#), "{case}: {challenge}");
        let metadata = format!(r#"resource_metadata="{PUBLIC}/.well-known/oauth-protected-resource/mcp""#);
        assert!(challenge.ends_with(&metadata), "{case}: {challenge}");
    }
}

#[tokio::test]
async fn every_forged_jwt_is_refused() {
    let (rsa, ec) = (Key::rsa("rsa"), Key::ec("ec"));
    let there = Trusting::start(&[&rsa, &ec]).await;
    let right = there.claims(|_| {});
    let jwt = rsa.jwt(&right);
    let (signed, signature) = jwt.rsplit_once('.').unwrap();
    let with = |header: Value| rsa.jwt_with(&header, &right);
    let longer = there.claims(|claims| claims["exp"] = json!(NOON));
    let longer = signing_input(&json!({"alg": "RS256", "kid": "rsa"}), &longer);
    let mallory = Key::rsa("rsa");
    let published = rsa.jwk()["n"].as_str().unwrap().to_owned();
    let cases = [
        ("no signature", format!("{signed}.")),
        ("two parts", signed.to_owned()),
        ("four parts", format!("{jwt}.{signature}")),
        ("truncated", jwt[..jwt.len() - 2].to_owned()),
        ("too long", format!("{jwt}{}", "A".repeat(20_000))),
        ("other claims under the same signature", format!("{longer}.{signature}")),
        ("alg none", unsigned("none", &right)),
        ("alg None", unsigned("None", &right)),
        ("alg none with a signature", with(json!({"alg": "none", "kid": "rsa"}))),
        ("HS256 with the public key", shared_secret(&rsa, &rsa.public_bytes(), &right)),
        ("HS256 with the published text", shared_secret(&rsa, published.as_bytes(), &right)),
        ("an algorithm that is not taken", with(json!({"alg": "RS512", "kid": "rsa"}))),
        ("the algorithm of another key", with(json!({"alg": "ES256", "kid": "rsa"}))),
        ("another key's id", with(json!({"alg": "RS256", "kid": "ec"}))),
        ("an unknown key's id", with(json!({"alg": "RS256", "kid": "unknown"}))),
        ("a key of somebody else", mallory.jwt(&right)),
        ("a key in its own header", mallory.jwt_with(&json!({"alg": "RS256", "jwk": mallory.jwk()}), &right)),
        ("an unknown critical header", with(json!({"alg": "RS256", "kid": "rsa", "crit": ["x"], "x": 1}))),
        ("a JWT of another kind", with(json!({"alg": "RS256", "kid": "rsa", "typ": "logout+jwt"}))),
    ];
    check_refused(&there, cases).await;
    assert_eq!(there.status(&jwt).await, 200, "and the right one is let in still");
    assert_eq!(there.status(&with(json!({"alg": "RS256"}))).await, 200, "also without the only key's id");
    // What was refused for its algorithm alone is right where that is configured.
    let mut config = config(&there.issuer);
    config.oauth.algorithms = vec![JwtAlgorithm::RS512];
    there.scene.configure(&config);
    assert_eq!(there.status(&with(json!({"alg": "RS512", "kid": "rsa"}))).await, 200);
    assert_eq!(there.status(&jwt).await, 401);
}

#[tokio::test]
async fn every_jwt_that_is_for_another_time_place_or_server_is_refused() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    let now = NOON / 1000;
    let with = |claim: &str, value: Value| key.jwt(&there.claims(|claims| claims[claim] = value));
    let without =
        |claim: &str| key.jwt(&there.claims(|claims| drop(claims.as_object_mut().unwrap().remove(claim))));
    let cases = [
        ("expired", with("exp", json!(now - 30))),
        ("not valid yet", with("nbf", json!(now + 31))),
        ("without an end", without("exp")),
        ("an end that is no number", with("exp", json!("never"))),
        ("a beginning that is no number", with("nbf", json!("now"))),
        ("another issuer", with("iss", json!("https://evil.example"))),
        ("an issuer that only begins like ours", with("iss", json!(format!("{}/", there.issuer.url)))),
        ("no issuer", without("iss")),
        ("several issuers", with("iss", json!([there.issuer.url]))),
        ("another audience", with("aud", json!("https://other.example/mcp"))),
        ("no audience", without("aud")),
        ("an audience that only begins like ours", with("aud", json!(format!("{PUBLIC}/mcp2")))),
        ("an audience of which ours begins like", with("aud", json!(PUBLIC))),
        ("the audience of a profile", with("aud", json!(format!("{PUBLIC}/p/lean/mcp")))),
        ("no subject", without("sub")),
        ("an empty subject", with("sub", json!(""))),
        ("a subject of several lines", with("sub", json!("alice\nroot"))),
        ("a subject that is no text", with("sub", json!(1))),
    ];
    check_refused(&there, cases).await;
    assert_eq!(there.status(&with("exp", json!(now - 29))).await, 200, "within the leeway");
    assert_eq!(there.status(&with("nbf", json!(now + 30))).await, 200, "within the leeway");
}

/// A JWT that nobody signed.
fn unsigned(algorithm: &str, claims: &Value) -> String {
    format!("{}.", signing_input(&json!({"alg": algorithm, "typ": "JWT"}), claims))
}

/// A JWT that was signed with something everyone knows.
fn shared_secret(key: &Key, secret: &[u8], claims: &Value) -> String {
    let signed = signing_input(&json!({"alg": "HS256", "typ": "JWT", "kid": key.id}), claims);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), signed.as_bytes());
    format!("{signed}.{}", base64(tag.as_ref()))
}

#[tokio::test]
async fn a_jwt_without_the_scopes_is_told_which_are_needed() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    for scope in [json!("other"), json!(""), Value::Null, json!("tools2 toolsx")] {
        let jwt = key.jwt(&there.claims(|claims| claims["scope"] = scope.clone()));
        let reply = there.scene.whoami().bearer(&jwt).send().await;
        let challenge = reply.header("www-authenticate").unwrap_or_default();
        assert_eq!(reply.status, 403, "{scope}");
        assert!(challenge.contains(r#"error="insufficient_scope""#), "{challenge}");
        assert!(challenge.contains(r#"scope="tools""#), "{challenge}");
    }
    let listed = there.claims(|claims| {
        claims["scope"] = Value::Null;
        claims["scp"] = json!(["tools"]);
    });
    assert_eq!(there.status(&key.jwt(&listed)).await, 200);
}

#[tokio::test]
async fn scopes_bring_the_roles_that_are_configured_for_them() {
    let key = Key::ed("ed");
    let there = Trusting::start(&[&key]).await;
    #[track_caller]
    fn check(there: &Trusting, jwt: &str, roles: &[&str]) {
        let Authenticated::Now(Ok(pass)) = there.scene.identity.authenticate(jwt, None) else {
            panic!("refused")
        };
        let found: Vec<&str> = pass.principal.roles.iter().map(|role| &**role).collect();
        assert_eq!(found, roles);
    }
    let jwt = key.jwt(&there.claims(|claims| claims["scope"] = json!("tools tools:admin")));
    assert_eq!(there.status(&jwt).await, 200);
    check(&there, &jwt, &["admin"]);
    check(&there, &key.jwt(&there.claims(|_| {})), &[]);
    check(&there, &key.jwt(&there.claims(|claims| claims["roles"] = json!(["tools:admin"]))), &["admin"]);
    check(&there, &key.jwt(&there.claims(|claims| claims["roles"] = json!(["admin"]))), &[]);
}

#[tokio::test]
async fn the_audience_of_a_profile_counts_at_that_profile_only() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    let jwt = key.jwt(&there.claims(|claims| claims["aud"] = json!(format!("{PUBLIC}/p/lean/mcp"))));
    let at = |path: &str| {
        let ping = json!({"jsonrpc": "2.0", "id": 1, "method": "ping"});
        crate::web::Ask::new(there.scene.address, "POST", path).body(&ping).bearer(&jwt)
    };
    assert_eq!(at("/p/lean/mcp").send().await.status, 200);
    assert_eq!(at("/p/other/mcp").send().await.status, 401);
    assert_eq!(at("/mcp").send().await.status, 401);
    assert_eq!(there.scene.get("/api").bearer(&jwt).send().await.status, 401);
}

#[tokio::test]
async fn a_jwt_is_refused_once_its_time_is_over_though_it_was_verified_before() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    let jwt = key.jwt(&there.claims(|_| {}));
    assert_eq!(there.status(&jwt).await, 200);
    there.scene.clock.advance(Duration::from_secs(329));
    assert_eq!(there.status(&jwt).await, 200, "within the leeway");
    there.scene.clock.advance(Duration::from_secs(1));
    assert_eq!(there.status(&jwt).await, 401);
}

#[tokio::test]
async fn new_keys_are_fetched_when_they_are_named_and_old_ones_are_forgotten() {
    let (old, new) = (Key::ec("old"), Key::ec("new"));
    let there = Trusting::start(&[&old]).await;
    let (by_old, by_new) = (old.jwt(&there.claims(|_| {})), new.jwt(&there.claims(|_| {})));
    assert_eq!(there.status(&by_old).await, 200);
    // Whoever names unknown keys makes us fetch them no more than once in a while.
    for _ in 0..5 {
        assert_eq!(there.status(&by_new).await, 401);
    }
    assert_eq!(there.issuer.asked("/keys"), 1);
    there.issuer.publish_keys(&[&old, &new]);
    assert_eq!(there.status(&by_new).await, 401, "fetched a moment ago");
    there.scene.clock.advance(Duration::from_secs(30));
    assert_eq!(there.status(&by_new).await, 200);
    assert_eq!(there.status(&by_old).await, 200, "both hold for a while");
    assert_eq!(there.issuer.asked("/keys"), 2);
    // A key that is withdrawn takes with it what it signed, verified before or not.
    there.issuer.publish_keys(&[&new]);
    there.scene.clock.advance(Duration::from_secs(30));
    let unknown = Key::ec("unknown").jwt(&there.claims(|_| {}));
    assert_eq!(there.status(&unknown).await, 401);
    assert_eq!(there.issuer.asked("/keys"), 3);
    assert_eq!(there.status(&by_old).await, 401);
    assert_eq!(there.status(&by_new).await, 200);
}

#[tokio::test]
async fn keys_that_cannot_be_fetched_anew_are_kept() {
    let (key, next) = (Key::ec("key"), Key::ec("next"));
    let there = Trusting::start(&[&key]).await;
    let jwt = key.jwt(&there.claims(|_| {}));
    assert_eq!(there.status(&jwt).await, 200);
    for broken in [None, Some(json!({"keys": "none"})), Some(json!([]))] {
        match &broken {
            None => there.issuer.withdraw("/keys"),
            Some(page) => there.issuer.publish("/keys", page),
        }
        there.scene.clock.advance(Duration::from_secs(30));
        assert_eq!(there.status(&next.jwt(&there.claims(|_| {}))).await, 503, "{broken:?}");
        assert_eq!(there.status(&jwt).await, 200, "{broken:?}");
    }
    there.issuer.publish_keys(&[&key, &next]);
    there.scene.clock.advance(Duration::from_secs(30));
    assert_eq!(there.status(&next.jwt(&there.claims(|_| {}))).await, 200);
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_lets_nobody_in() {
    let key = Key::ec("ec");
    let issuer = Issuer::start(&Tasks::new(), &[&key]).await;
    issuer.withdraw("/keys");
    let scene = Scene::start(config(&issuer)).await;
    let there = Trusting { scene, issuer };
    let jwt = key.jwt(&there.claims(|_| {}));
    let reply = there.scene.whoami().bearer(&jwt).send().await;
    assert_eq!((reply.status, reply.header("retry-after")), (503, Some("30")));
    assert_eq!(there.scene.whoami().send().await.status, 401, "nor is anyone taken for the local user");
    there.issuer.publish_keys(&[&key]);
    there.scene.clock.advance(Duration::from_secs(30));
    assert_eq!(there.status(&jwt).await, 200);
}

#[tokio::test]
async fn metadata_that_speak_for_another_issuer_are_not_believed() {
    let (key, evil) = (Key::ec("ec"), Key::ec("ec"));
    let issuer = Issuer::start(&Tasks::new(), &[&key]).await;
    issuer.publish("/evil", &json!({"keys": [evil.jwk()]}));
    let metadata = json!({"issuer": "https://evil.example", "jwks_uri": format!("{}/evil", issuer.url)});
    issuer.publish("/.well-known/oauth-authorization-server", &metadata);
    let scene = Scene::start(config(&issuer)).await;
    let there = Trusting { scene, issuer };
    assert_eq!(there.status(&evil.jwt(&there.claims(|_| {}))).await, 401);
    assert_eq!(there.status(&key.jwt(&there.claims(|_| {}))).await, 200);
    assert_eq!(there.issuer.asked("/evil"), 0);
}

#[tokio::test]
async fn many_who_come_at_once_wait_for_the_same_keys() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    let jwts: Vec<String> =
        (0..20).map(|number| key.jwt(&there.claims(|claims| claims["jti"] = json!(number)))).collect();
    let mut asked = Vec::new();
    for jwt in &jwts {
        let ask = there.scene.whoami().bearer(jwt);
        asked.push(there.scene.tasks.spawn(async move { ask.send().await.status }));
    }
    for asked in asked {
        assert_eq!(asked.await.unwrap(), 200);
    }
    assert_eq!(there.issuer.asked("/keys"), 1);
}

#[tokio::test]
async fn an_issuer_can_be_taken_away_while_it_runs() {
    let key = Key::ec("ec");
    let there = Trusting::start(&[&key]).await;
    let jwt = key.jwt(&there.claims(|_| {}));
    assert_eq!(there.status(&jwt).await, 200);
    let mut other = config(&there.issuer);
    other.oauth.audience = vec!["something else".into()];
    there.scene.configure(&other);
    eventually("the audience is another", async || there.status(&jwt).await == 401).await;
    let without = HttpConfig { token: Some(SINGLE.into()), ..HttpConfig::default() };
    there.scene.configure(&without);
    assert_eq!(there.status(&jwt).await, 401);
    assert_eq!(there.status(SINGLE).await, 200);
    there.scene.configure(&config(&there.issuer));
    assert_eq!(there.status(&jwt).await, 200);
    assert_eq!(there.status(SINGLE).await, 401);
}
