//! An authorization server for tests, and the door of a server that trusts it: it behaves as it is told, and
//! remembers what it was asked.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use toolgate_host::{Clock, Tasks};
use url::Url;

use crate::web::wire::{Asked, Reply, serve, whole};
use crate::web::{Door, Web};

/// What is asked of it, by path: the form, the query, or the JSON.
pub(crate) type Form = HashMap<String, String>;

/// The secret of a client, and where it may be answered.
type Known = (Option<String>, Vec<String>);

/// An authorization server.
#[derive(Clone)]
pub(crate) struct Realm(Arc<State>);

pub(crate) struct State {
    pub(crate) issuer: String,
    pub(crate) clock: Clock,
    /// How it behaves: words.
    behaviour: Mutex<String>,
    /// What it says of itself beside the usual, or instead.
    pub(crate) metadata: Mutex<Value>,
    /// Whom servers behind its door name instead of it.
    named: Mutex<Vec<String>>,
    /// How many seconds a token lasts; 0 for no end.
    pub(crate) lasts: AtomicU64,
    pub(crate) token_path: Mutex<String>,
    number: AtomicUsize,
    clients: Mutex<HashMap<String, Known>>,
    codes: Mutex<HashMap<String, Form>>,
    access: Mutex<HashMap<String, Given>>,
    refresh: Mutex<HashMap<String, Given>>,
    asked: Mutex<Vec<(String, Form)>>,
    tunnels: Mutex<Vec<String>>,
    /// How many wait for a token until the word is given to one of them.
    pub(crate) waiting: AtomicUsize,
    pub(crate) go: Notify,
    /// The tokens by which lists were asked for, where each gets its own.
    pub(crate) listed: Mutex<Vec<String>>,
    /// The `Authorization` headers that the server behind the door was sent.
    pub(crate) seen: Mutex<Vec<Option<String>>>,
}

#[derive(Clone)]
struct Given {
    client: String,
    scope: String,
    until_ms: Option<u64>,
}

impl std::ops::Deref for Realm {
    type Target = State;
    fn deref(&self) -> &State {
        &self.0
    }
}

impl Realm {
    pub(crate) async fn start(behaviour: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let realm = Self(Arc::new(State {
            issuer: format!("http://{}", listener.local_addr().unwrap()),
            clock: Clock::manual(1_700_000_000_000),
            behaviour: Mutex::new(behaviour.to_owned()),
            metadata: Mutex::new(json!({})),
            named: Mutex::default(),
            lasts: AtomicU64::new(3600),
            token_path: Mutex::new("/token".into()),
            number: AtomicUsize::new(0),
            clients: Mutex::default(),
            codes: Mutex::default(),
            access: Mutex::default(),
            refresh: Mutex::default(),
            asked: Mutex::default(),
            tunnels: Mutex::default(),
            waiting: AtomicUsize::new(0),
            go: Notify::new(),
            listed: Mutex::default(),
            seen: Mutex::default(),
        }));
        let (tasks, state) = (Tasks::new(), realm.clone());
        tasks.clone().spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let state = state.clone();
                tasks.spawn(serve(stream, move |asked| {
                    let state = state.clone();
                    async move {
                        if state.is("slow-token") && asked.path == "/token" {
                            state.waiting.fetch_add(1, Ordering::SeqCst);
                            state.go.notified().await;
                        }
                        state.answer(&asked)
                    }
                }));
            }
        });
        realm
    }

    pub(crate) fn behave(&self, behaviour: &str) {
        behaviour.clone_into(&mut self.behaviour.lock().unwrap());
    }

    /// From now on servers behind its door name these, and not it.
    pub(crate) fn name(&self, issuers: &[&Self]) {
        *self.named.lock().unwrap() = issuers.iter().map(|realm| realm.issuer.clone()).collect();
    }

    fn is(&self, word: &str) -> bool {
        self.behaviour.lock().unwrap().split(' ').any(|other| other == word)
    }

    /// A server that lets in whom this one knows.
    pub(crate) async fn web(&self, behaviour: &str) -> Web {
        self.web_at(behaviour, "127.0.0.1:0").await
    }

    /// The same at an address that another had before.
    pub(crate) async fn web_at(&self, behaviour: &str, address: &str) -> Web {
        let listener = TcpListener::bind(address).await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        Web::serve(listener, behaviour, Some(self.door(base)))
    }

    /// The same for one that is known by another address.
    pub(crate) async fn web_as(&self, behaviour: &str, base: &str) -> Web {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        Web::serve(listener, behaviour, Some(self.door(base.to_owned())))
    }

    fn door(&self, base: String) -> Door {
        let realm = self.clone();
        Box::new(move |asked| {
            if asked.path.starts_with("/.well-known/oauth-protected-resource") {
                return Some(realm.describe(&base, &asked.path));
            }
            realm.let_in(&base, asked)
        })
    }

    fn describe(&self, base: &str, path: &str) -> Reply {
        if self.is("undescribed") || !path.ends_with("/mcp") {
            return whole(404, "text/plain", "no");
        }
        let resource =
            if self.is("other-resource") { "http://127.0.0.1:1/mcp".into() } else { format!("{base}/mcp") };
        if self.is("huge") {
            return whole(
                200,
                "application/json",
                format!("{{\"resource\":\"{resource}\",\"x\":\"{}\"}}", "x".repeat(2 << 20)),
            );
        }
        let mut named = self.named.lock().unwrap().clone();
        if named.is_empty() {
            named.push(self.issuer.clone());
        }
        let said =
            json!({"resource": resource, "authorization_servers": named, "scopes_supported": ["described"]});
        whole(200, "application/json", said.to_string())
    }

    /// None for a request that is let in.
    fn let_in(&self, base: &str, asked: &Asked) -> Option<Reply> {
        let header = asked.headers.get("authorization").cloned();
        self.seen.lock().unwrap().push(header.clone());
        let token = header.as_deref().and_then(|header| header.strip_prefix("Bearer ")).unwrap_or_default();
        let given = self.access.lock().unwrap().get(token).cloned();
        let counts = given.filter(|given| given.until_ms.is_none_or(|until| until > self.clock.unix_ms()));
        let base = if self.is("kept-elsewhere") { &self.issuer } else { base };
        let described = format!("resource_metadata=\"{base}/.well-known/oauth-protected-resource/mcp\"");
        let Some(given) = counts.filter(|_| !self.is("closed")) else {
            let scope = if self.is("scoped") { ", scope=\"basic\"" } else { "" };
            let challenge = format!("Bearer {described}{scope}");
            return Some(whole(401, "text/plain", "who?").with("WWW-Authenticate", challenge));
        };
        if self.is("personal") && asked.body.windows(12).any(|piece| piece == b"\"tools/list\"") {
            return Some(self.list(token, asked));
        }
        let wants_more = asked.body.windows(8).any(|piece| piece == b"\"golden\"")
            && (self.is("insatiable") || !given.scope.split(' ').any(|word| word == "golden"));
        if self.is("step-up") && wants_more {
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"golden\", {described}");
            return Some(whole(403, "text/plain", "more").with("WWW-Authenticate", challenge));
        }
        if self.is("leads-away") && asked.body.windows(8).any(|piece| piece == b"\"golden\"") {
            return Some(whole(307, "text/plain", "").with("Location", format!("{}/elsewhere", self.issuer)));
        }
        None
    }

    /// A list of tools for whom it gave this token: one that all have, and one that only they have.
    fn list(&self, token: &str, asked: &Asked) -> Reply {
        self.listed.lock().unwrap().push(token.to_owned());
        let asked: Value = serde_json::from_slice(&asked.body).unwrap();
        let tools = ["change".to_owned(), token.replace('-', "_")]
            .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"tools": tools, "resultType": "complete"}});
        whole(200, "application/json", answer.to_string())
    }

    /// Where it was asked to lead to, as a proxy is; it leads nowhere.
    pub(crate) fn tunnels(&self) -> Vec<String> {
        self.tunnels.lock().unwrap().clone()
    }

    fn answer(&self, asked: &Asked) -> Reply {
        if asked.method == "CONNECT" {
            self.tunnels.lock().unwrap().push(asked.path.clone());
            return whole(502, "text/plain", "no");
        }
        let url = Url::parse(&self.issuer).unwrap().join(&asked.path).unwrap();
        let path = url.path().to_owned();
        let pairs = if asked.method == "POST" {
            url::form_urlencoded::parse(&asked.body).into_owned().collect()
        } else {
            url.query_pairs().into_owned().collect::<Form>()
        };
        let mut form: Form = pairs;
        if let Some(header) = asked.headers.get("authorization") {
            form.insert("authorization".into(), header.clone());
        }
        if path == "/register" {
            let body: Value = serde_json::from_slice(&asked.body).unwrap();
            form = body
                .as_object()
                .unwrap()
                .iter()
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect();
            self.note(&path, &form);
            return self.register(&body);
        }
        self.note(&path, &form);
        let token_path = self.token_path.lock().unwrap().clone();
        match path.as_str() {
            "/.well-known/oauth-authorization-server" if self.is("description-leads-away") => {
                let away = format!("{}{path}", self.named.lock().unwrap().last().unwrap());
                whole(302, "text/plain", "").with("Location", away)
            }
            "/.well-known/oauth-authorization-server" if !self.is("openid") => self.metadata(),
            "/.well-known/openid-configuration" if self.is("openid") => self.metadata(),
            "/authorize" => self.authorize(&form),
            "/revoke" => self.revoke(&form),
            path if path == token_path => self.token(&form),
            _ => whole(404, "text/plain", "no"),
        }
    }

    fn note(&self, path: &str, form: &Form) {
        self.asked.lock().unwrap().push((path.to_owned(), form.clone()));
    }

    /// What was asked at a path, in order.
    pub(crate) fn asked(&self, path: &str) -> Vec<Form> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(at, _)| at == path).map(|(_, form)| form.clone()).collect()
    }

    /// What was asked for tokens by this kind of grant.
    pub(crate) fn grants(&self, kind: &str) -> Vec<Form> {
        let asked = self.asked.lock().unwrap();
        let of_kind =
            asked.iter().filter(|(_, form)| form.get("grant_type").is_some_and(|grant| grant == kind));
        of_kind.map(|(_, form)| form.clone()).collect()
    }

    fn metadata(&self) -> Reply {
        let at = |path: &str| format!("{}{path}", self.issuer);
        let mut said = json!({
            "issuer": self.issuer,
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at(&self.token_path.lock().unwrap()),
            "registration_endpoint": at("/register"),
            "revocation_endpoint": at("/revoke"),
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
        });
        for (key, value) in self.metadata.lock().unwrap().as_object().unwrap() {
            said[key] = value.clone();
        }
        whole(200, "application/json", said.to_string())
    }

    /// Makes a client known.
    pub(crate) fn know(&self, id: &str, secret: Option<&str>) {
        self.clients.lock().unwrap().insert(id.into(), (secret.map(Into::into), Vec::new()));
    }

    fn register(&self, body: &Value) -> Reply {
        let id = format!("client-{}", self.number.fetch_add(1, Ordering::SeqCst));
        let redirects = body["redirect_uris"].as_array().unwrap().iter();
        let redirects = redirects.map(|uri| uri.as_str().unwrap().to_owned()).collect();
        let secret = (body["token_endpoint_auth_method"] != "none").then(|| "made".to_owned());
        self.clients.lock().unwrap().insert(id.clone(), (secret.clone(), redirects));
        let mut said =
            json!({"client_id": id, "token_endpoint_auth_method": body["token_endpoint_auth_method"]});
        if let Some(secret) = secret {
            said["client_secret"] = secret.into();
        }
        whole(201, "application/json", said.to_string())
    }

    /// A person who agrees to everything at once.
    fn authorize(&self, form: &Form) -> Reply {
        let redirect = form["redirect_uri"].clone();
        let known = self.clients.lock().unwrap().get(&form["client_id"]).cloned();
        let known = known.or_else(|| form["client_id"].starts_with("https://").then(|| (None, Vec::new())));
        let Some((_, redirects)) = known else { return whole(400, "text/plain", "unknown client") };
        if !redirects.is_empty() && !redirects.contains(&redirect) {
            return whole(400, "text/plain", "wrong redirect");
        }
        let code = format!("code-{}", self.number.fetch_add(1, Ordering::SeqCst));
        let mut back = Url::parse(&redirect).unwrap();
        let issuer = if self.is("wrong-iss") { "http://127.0.0.1:1".into() } else { self.issuer.clone() };
        if self.is("says-no") {
            back.query_pairs_mut().append_pair("error", "access_denied");
        } else {
            back.query_pairs_mut().append_pair("code", &code);
        }
        back.query_pairs_mut().append_pair("state", &form["state"]);
        if !self.is("no-iss") {
            back.query_pairs_mut().append_pair("iss", &issuer);
        }
        self.codes.lock().unwrap().insert(code, form.clone());
        whole(302, "text/plain", "").with("Location", back.as_str())
    }

    fn token(&self, form: &Form) -> Reply {
        let refuse = |error: &str| whole(400, "application/json", json!({"error": error}).to_string());
        if self.is("token-leads-away") {
            return whole(307, "text/plain", "").with("Location", format!("{}/elsewhere", self.issuer));
        }
        if self.is("token-down") {
            return whole(503, "text/plain", "down");
        }
        let Some(client) = self.client(form) else { return refuse("invalid_client") };
        match form["grant_type"].as_str() {
            "authorization_code" => {
                let Some(asked) = self.codes.lock().unwrap().remove(&form["code"]) else {
                    return refuse("invalid_grant");
                };
                let shown = URL_SAFE_NO_PAD.encode(Sha256::digest(form["code_verifier"].as_bytes()));
                let same = |key: &str| asked[key] == form[key];
                if shown != asked["code_challenge"]
                    || asked["client_id"] != client
                    || !same("redirect_uri")
                    || !same("resource")
                {
                    return refuse("invalid_grant");
                }
                self.give(&client, asked.get("scope").map_or("", String::as_str), true)
            }
            "refresh_token" => {
                let given = self.refresh.lock().unwrap().remove(&form["refresh_token"]);
                match given.filter(|given| given.client == client) {
                    Some(given) => self.give(&client, &given.scope, true),
                    None => refuse("invalid_grant"),
                }
            }
            "client_credentials" => {
                let scope = form.get("scope").map_or("", String::as_str);
                let has_golden = scope.split(' ').any(|word| word == "golden");
                match has_golden {
                    true if self.is("stingy") => refuse("invalid_scope"),
                    true if self.is("sly") => self.give(&client, scope.replace("golden", "").trim(), false),
                    _ => self.give(&client, scope, false),
                }
            }
            _ => refuse("unsupported_grant_type"),
        }
    }

    /// Whose request it is, if they prove it.
    fn client(&self, form: &Form) -> Option<String> {
        let (id, secret) = match form.get("authorization").and_then(|header| header.strip_prefix("Basic ")) {
            Some(basic) => {
                let text = String::from_utf8(STANDARD.decode(basic).unwrap()).unwrap();
                let (id, secret) = text.split_once(':').unwrap();
                (id.to_owned(), Some(secret.to_owned()))
            }
            None => (form["client_id"].clone(), form.get("client_secret").cloned()),
        };
        let known = self.clients.lock().unwrap().get(&id).cloned();
        match known {
            Some((expect, _)) => (expect == secret).then_some(id),
            None => id.starts_with("https://").then_some(id),
        }
    }

    fn give(&self, client: &str, scope: &str, refresh: bool) -> Reply {
        let number = self.number.fetch_add(1, Ordering::SeqCst);
        let lasts = self.lasts.load(Ordering::SeqCst);
        let until_ms = (lasts > 0).then(|| self.clock.unix_ms() + lasts * 1000);
        let given = Given { client: client.into(), scope: scope.into(), until_ms };
        let mut said = json!({"access_token": format!("access-{number}"), "token_type": "Bearer"});
        if self.is("odd-token") {
            said["token_type"] = "mac".into();
        }
        if lasts > 0 {
            said["expires_in"] = lasts.into();
        }
        if !scope.is_empty() {
            said["scope"] = scope.into();
        }
        self.access.lock().unwrap().insert(format!("access-{number}"), given.clone());
        if refresh && !self.is("no-refresh") {
            said["refresh_token"] = format!("refresh-{number}").into();
            self.refresh.lock().unwrap().insert(format!("refresh-{number}"), given);
        }
        whole(200, "application/json", said.to_string())
    }

    fn revoke(&self, form: &Form) -> Reply {
        self.access.lock().unwrap().remove(&form["token"]);
        self.refresh.lock().unwrap().remove(&form["token"]);
        whole(200, "text/plain", "")
    }

    /// How many tokens there are by which others could be had.
    pub(crate) fn renewable(&self) -> usize {
        self.refresh.lock().unwrap().len()
    }

    /// Forgets what lets clients in, and with `all` what renews it.
    pub(crate) fn forget(&self, all: bool) {
        self.access.lock().unwrap().clear();
        if all {
            self.refresh.lock().unwrap().clear();
        }
    }

    pub(crate) fn later(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
    }

    /// The last header that the server was sent.
    pub(crate) fn last_seen(&self) -> Option<String> {
        self.seen.lock().unwrap().last().cloned().flatten()
    }
}
